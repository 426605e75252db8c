"""STS 2016 (Agirre et al. 2016), the test sub-sets, as distributed or in SentEval's layout: see sts_years.

Of the pairs handed out, those that were not judged are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.published import Expected
from encheck.datasets.reader import BadRows, Row
from encheck.datasets.sts_years import read_year

LICENCE = "annotations CC BY-SA where stated; texts as in the readme files"
CITATION = "Agirre et al. 2016: SemEval-2016 Task 1: Semantic Textual Similarity. SemEval"
FOLDERS = ("sts2016-english-with-gs-v1.0", "STS16-en-test")
FILES = "sts2016-english-with-gs-v1.0 or STS16-en-test, or a folder that holds one of them"
HUB = Hub("mteb/sts16-sts", "4d8694f8f0e0100860b497b999b3dbed754a0513", score="score", expected={"test": (1_186, {})})
EXPECTED: Expected = {
    "STS.input.answer-answer.txt": (254, {"1": 90, "0": 164}),
    "STS.input.headlines.txt": (249, {"1": 82, "0": 167}),
    "STS.input.plagiarism.txt": (230, {"1": 77, "0": 153}),
    "STS.input.postediting.txt": (244, {"1": 82, "0": 162}),
    "STS.input.question-question.txt": (209, {"1": 49, "0": 160}),
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs of each sub-set in file order."""
    return read_year(path, bad, year="sts16", folders=FOLDERS, expected=EXPECTED)

"""STS 2015 (Agirre et al. 2015), the test sub-sets, as distributed or in SentEval's layout: see sts_years.

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
CITATION = "Agirre et al. 2015: SemEval-2015 Task 2: Semantic Textual Similarity. SemEval"
FOLDERS = ("test_evaluation_task2a", "STS15-en-test")
FILES = "test_evaluation_task2a or STS15-en-test, or a folder that holds one of them"
HUB = Hub("mteb/sts15-sts", "ae752c7c21bf194d8b67fd573edf7ae58183cbe3", score="score", expected={"test": (3_000, {})})
EXPECTED: Expected = {
    "STS.input.answers-forums.txt": (375, {"1": 15, "0": 360}),
    "STS.input.answers-students.txt": (750, {"1": 228, "0": 522}),
    "STS.input.belief.txt": (375, {"1": 31, "0": 344}),
    "STS.input.headlines.txt": (750, {"1": 197, "0": 553}),
    "STS.input.images.txt": (750, {"1": 210, "0": 540}),
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs of each sub-set in file order."""
    return read_year(path, bad, year="sts15", folders=FOLDERS, expected=EXPECTED)

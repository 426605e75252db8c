"""STS 2014 (Agirre et al. 2014), the test sub-sets, as distributed or in SentEval's layout: see sts_years."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.published import Expected
from encheck.datasets.reader import BadRows, Row
from encheck.datasets.sts_years import read_year

LICENCE = "annotations CC BY-SA where stated; texts as in the readme files"
CITATION = "Agirre et al. 2014: SemEval-2014 Task 10: Multilingual Semantic Textual Similarity. SemEval"
FOLDERS = ("sts-en-test-gs-2014", "STS14-en-test")
FILES = "sts-en-test-gs-2014 or STS14-en-test, or a folder that holds one of them"
HUB = Hub("mteb/sts14-sts", "6031580fec1f6af667f0bd2da0a551cf4f0b2375", score="score", expected={"test": (3_750, {})})
EXPECTED: Expected = {
    "STS.input.OnWN.txt": (750, {"1": 309, "0": 441}),
    "STS.input.deft-forum.txt": (450, {"1": 103, "0": 347}),
    "STS.input.deft-news.txt": (300, {"1": 79, "0": 221}),
    "STS.input.headlines.txt": (750, {"1": 187, "0": 563}),
    "STS.input.images.txt": (750, {"1": 192, "0": 558}),
    "STS.input.tweet-news.txt": (750, {"1": 240, "0": 510}),
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs of each sub-set in file order."""
    return read_year(path, bad, year="sts14", folders=FOLDERS, expected=EXPECTED)

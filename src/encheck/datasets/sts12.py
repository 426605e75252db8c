"""STS 2012 (Agirre et al. 2012), the test sub-sets, as distributed or in SentEval's layout: see sts_years."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.published import Expected
from encheck.datasets.reader import BadRows, Row
from encheck.datasets.sts_years import read_year

LICENCE = "annotations CC BY-SA where stated; texts as in the readme files"
CITATION = "Agirre et al. 2012: SemEval-2012 Task 6: A Pilot on Semantic Textual Similarity. *SEM"
FOLDERS = ("test-gold", "STS12-en-test")
FILES = "test-gold or STS12-en-test, or a folder that holds one of them"
HUB = Hub(
    "mteb/sts12-sts",
    "a0d554a64d88156834ff5ae9920b964011b16384",
    score="score",
    expected={"train": (2_234, {}), "test": (3_108, {})},
)
EXPECTED: Expected = {
    "STS.input.MSRpar.txt": (750, {"1": 169, "0": 581}),
    "STS.input.MSRvid.txt": (750, {"1": 150, "0": 600}),
    "STS.input.SMTeuroparl.txt": (459, {"1": 416, "0": 43}),
    "STS.input.surprise.OnWN.txt": (750, {"1": 445, "0": 305}),
    "STS.input.surprise.SMTnews.txt": (399, {"1": 318, "0": 81}),
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs of each sub-set in file order."""
    return read_year(path, bad, year="sts12", folders=FOLDERS, expected=EXPECTED)

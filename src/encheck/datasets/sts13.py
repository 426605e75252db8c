"""STS 2013 (Agirre et al. 2013), the test sub-sets, as distributed or in SentEval's layout: see sts_years.

The sub-set SMT is left out: its text may not be passed on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.published import Expected
from encheck.datasets.reader import BadRows, Row
from encheck.datasets.sts_years import read_year

LICENCE = "annotations CC BY-SA where stated; texts as in the readme files"
CITATION = "Agirre et al. 2013: *SEM 2013 shared task: Semantic Textual Similarity. *SEM"
FOLDERS = ("test-gs", "STS13-en-test")
FILES = "test-gs or STS13-en-test, or a folder that holds one of them"
HUB = Hub("mteb/sts13-sts", "7e90230a92c190f1bf69ae9002b8cea547a64cca", score="score", expected={"test": (1_500, {})})
EXPECTED: Expected = {
    "STS.input.FNWN.txt": (189, {"1": 1, "0": 188}),
    "STS.input.OnWN.txt": (561, {"1": 163, "0": 398}),
    "STS.input.headlines.txt": (750, {"1": 162, "0": 588}),
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs of each sub-set in file order."""
    return read_year(path, bad, year="sts13", folders=FOLDERS, expected=EXPECTED)

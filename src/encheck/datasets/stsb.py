"""STS benchmark (Cer et al. 2017), as distributed: files called .csv, but separated by tabs and without quoting.

`score` is from 0 to 5; the label is 1 for scores of at least 4 (Peinelt et al. 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    find_split_files,
    make_checked_rows,
    parse_score,
    read_tab_rows,
    yield_and_check_counts,
)

LICENCE = "scores CC BY-SA 4.0; each source text has its own (LICENSE.txt)"
CITATION = "Cer et al. 2017: SemEval-2017 Task 1: Semantic Textual Similarity. SemEval"
FILES = "sts-train.csv, sts-dev.csv and / or sts-test.csv"
HUB = Hub(
    "mteb/stsbenchmark-sts",
    "b0fddb56ed78048fa8b90373c8a3cfc37b684831",
    score="score",
    expected={
        "train": (5_749, {"1": 1_406, "0": 4_343}),
        "validation": (1_500, {"1": 264, "0": 1_236}),
        "test": (1_379, {"1": 338, "0": 1_041}),
    },
)
EXPECTED: Expected = {
    "sts-train.csv": (5_749, {"1": 1_406, "0": 4_343}),
    "sts-dev.csv": (1_500, {"1": 264, "0": 1_236}),
    "sts-test.csv": (1_379, {"1": 338, "0": 1_041}),
}
SPLITS = {"sts-train.csv": "train", "sts-dev.csv": "validation", "sts-test.csv": "test"}


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order.

    Fields: genre, file, year, id, score, sentence 1, sentence 2, and on some rows two source notes.
    """
    for file, split in find_split_files(path, SPLITS, data_set="stsb"):

        def make_row(fields: list[str], split: str = split) -> PairRow:
            score = parse_score(fields[4], 0, 5)
            return PairRow(fields[5], fields[6], int(score >= 4), split, score=score)

        rows = make_checked_rows(file, read_tab_rows(file, columns=(7, 9), bad=bad), make_row, bad=bad)
        yield from yield_and_check_counts(file, rows, EXPECTED, bad)

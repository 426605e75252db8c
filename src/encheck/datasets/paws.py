"""PAWS-Wiki, labeled final (Zhang et al. 2019), as distributed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    BadRows,
    Expected,
    PairRow,
    find_split_files,
    make_pair_rows,
    read_tab_rows,
    yield_and_check_counts,
)

LICENCE = "free for any purpose; acknowledge Google LLC as the source"
CITATION = "Zhang, Baldridge and He 2019: PAWS: Paraphrase Adversaries from Word Scrambling. NAACL"
NEGATIVES = "made hard by hand and by machine: words swapped, or sentences translated there and back"
FILES = "train.tsv, dev.tsv and / or test.tsv of PAWS-Wiki labeled final"
HUB = Hub(
    "google-research-datasets/paws",
    "161ece9501cf0a11f3e48bd356eaa82de46d6a09",
    config="labeled_final",
    label="label",
    expected={
        "train": (49_401, {}),
        "validation": (8_000, {"1": 3_539, "0": 4_461}),
        "test": (8_000, {"1": 3_536, "0": 4_464}),
    },
)
EXPECTED: Expected = {
    "train.tsv": (49_401, {}),
    "dev.tsv": (8_000, {"1": 3_539, "0": 4_461}),
    "test.tsv": (8_000, {"1": 3_536, "0": 4_464}),
}
SPLITS = {"train.tsv": "train", "dev.tsv": "validation", "test.tsv": "test"}
HEADER = ("id", "sentence1", "sentence2", "label")


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. Columns: id, sentence1, sentence2, label; tabs, no quoting."""
    for file, split in find_split_files(path, SPLITS, data_set="paws"):
        rows = ((n, (f[1], f[2], f[3], None)) for n, f in read_tab_rows(file, columns=4, header=HEADER, bad=bad))
        yield from yield_and_check_counts(file, make_pair_rows(file, rows, split=split, bad=bad), EXPECTED, bad)

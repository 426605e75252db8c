"""Quora Question Pairs: the split of Wang et al. 2017, or a full file with a header (CSV or TSV), as distributed."""

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
    read_columns,
    read_first_line,
    read_header,
    read_tab_rows,
    yield_and_check_counts,
)
from encheck.errors import DataError

LICENCE = "Quora terms of service"
CITATION = "Wang, Hamza and Florian 2017: Bilateral Multi-Perspective Matching for Natural Language Sentences. IJCAI"
FILES = "train.tsv, dev.tsv, test.tsv of Wang et al., quora_duplicate_questions.tsv or the Kaggle train.csv"
HUB = Hub(
    "nyu-mll/glue",
    "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
    config="qqp",
    first="question1",
    second="question2",
    label="label",
    expected={
        "train": (363_846, {"1": 134_378, "0": 229_468}),
        "validation": (40_430, {"1": 14_885, "0": 25_545}),
    },  # GLUE's own split, not that of Wang et al.; its test labels are not published
)
EXPECTED: Expected = {
    "train.tsv": (384_348, {}),
    "dev.tsv": (10_000, {"1": 5_000, "0": 5_000}),
    "test.tsv": (10_000, {"1": 5_000, "0": 5_000}),
}
SPLITS = {"train.tsv": "train", "dev.tsv": "validation", "test.tsv": "test"}
COLUMNS = ("question1", "question2", "is_duplicate")
FULL = {"quora_duplicate_questions.tsv": "train", "train.csv": "train"}


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order, from either layout."""
    for file, split in find_split_files(path, SPLITS | FULL, data_set="qqp"):
        start = read_first_line(file)
        delimiter = "\t" if "\t" in start else ","
        yield from (
            _read_full_file(file, split or "train", delimiter, bad)
            if "question1" in start
            else _read_wang_split(file, split, bad)
        )


def _read_wang_split(file: Path, split: str, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs of a split file. Columns: label, question 1, question 2, pair id; no header, no quoting."""
    first = read_first_line(file).split("\t")
    if len(first) > 1 and not any(map(str.isdecimal, first)):
        raise DataError(
            f"{file}:1: begins with {', '.join(first):.60}, but should begin with label, question 1, "
            f"question 2 and pair id, or a header that has {', '.join(COLUMNS)}; expected {FILES}"
        )
    rows = ((n, (f[1], f[2], f[0], None)) for n, f in read_tab_rows(file, columns=4, bad=bad))
    return yield_and_check_counts(file, make_pair_rows(file, rows, split=split, bad=bad), EXPECTED, bad)


def _read_full_file(file: Path, split: str, delimiter: str, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs of a full file, which has named columns and standard quoting. A quoted question can hold line
    breaks.
    """
    missing = set(COLUMNS) - set(read_header(file, delimiter=delimiter))
    if missing:
        raise DataError(f"{file}:1: the header lacks {', '.join(sorted(missing))}; expected {FILES}")
    columns = read_columns(file, COLUMNS, delimiter=delimiter, bad=bad)
    rows = ((n, (first, second, label, None)) for n, (first, second, label) in columns)
    return make_pair_rows(file, rows, split=split, bad=bad)

"""Microsoft Research Paraphrase Corpus (Dolan and Brockett 2005), as distributed.

The validation part is the last 500 training rows, as in Peinelt et al. 2019. `mrpc@glue` uses GLUE's validation part
instead: the 408 pairs in its dev_ids.tsv, as in RISE and in "Predicate-Argument Based Bi-Encoder ...".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from encheck.datasets.hub import Hub
from encheck.datasets.reader import (
    LOG,
    BadRows,
    Expected,
    PairRow,
    SplitReaders,
    find_split_files,
    make_pair_rows,
    read_tab_rows,
    yield_and_check_counts,
)
from encheck.errors import DataError

LICENCE = "Microsoft Shared Source License (comes with the corpus)"
CITATION = "Dolan and Brockett 2005: Automatically Constructing a Corpus of Sentential Paraphrases. IWP"
FILES = "msr_paraphrase_train.txt and / or msr_paraphrase_test.txt (mrpc@glue: with GLUE's dev_ids.tsv)"
HUB = Hub(
    "nyu-mll/glue",
    "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
    config="mrpc",
    label="label",
    expected={
        "train": (3_668, {"1": 2_474, "0": 1_194}),
        "validation": (408, {"1": 279, "0": 129}),
        "test": (1_725, {"1": 1_147, "0": 578}),
    },
)
EXPECTED: Expected = {
    "msr_paraphrase_train.txt": (4_076, {"1": 2_753, "0": 1_323}),
    "msr_paraphrase_test.txt": (1_725, {"1": 1_147, "0": 578}),
}
SPLITS = {"msr_paraphrase_train.txt": "train", "msr_paraphrase_test.txt": "test"}
HEADER = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
VALIDATION_ROWS = 500


DEV_IDS = "dev_ids.tsv"
GLUE_ROWS = 408
Numbered = Sequence[tuple[int, list[str]]]


def read(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the pairs in file order. Columns: Quality, #1 ID, #2 ID, #1 String, #2 String; tabs, no quoting."""
    for file, split in find_split_files(path, SPLITS, data_set="mrpc"):
        rows = [*read_tab_rows(file, columns=5, header=HEADER, bad=bad)]
        cut = max(0, len(rows) - VALIDATION_ROWS) if split == "train" else len(rows)
        yield from _make_pairs(file, {split: rows[:cut], "validation": rows[cut:]}, bad)


def read_with_glue_validation(path: Path, bad: BadRows) -> Iterator[PairRow]:
    """Yield the same pairs with GLUE's validation part: the pairs in dev_ids.tsv.

    GLUE's download script puts that file into MRPC's folder. Each line has the two ids of a pair, separated by a tab.
    Raise DataError if the file is missing or names other pairs.
    """
    for file, split in find_split_files(path, SPLITS, data_set="mrpc"):
        rows = [*read_tab_rows(file, columns=5, header=HEADER, bad=bad)]
        if split != "train":
            yield from _make_pairs(file, {split: rows}, bad)
            continue
        chosen = _read_dev_ids(file.with_name(DEV_IDS), rows)
        parts = {"train": [row for row in rows if (row[1][1], row[1][2]) not in chosen]}
        yield from _make_pairs(
            file, parts | {"validation": [row for row in rows if (row[1][1], row[1][2]) in chosen]}, bad
        )


READINGS: SplitReaders = {"glue": read_with_glue_validation}


def _make_pairs(file: Path, parts: Mapping[str, Numbered], bad: BadRows) -> Iterator[PairRow]:
    """Yield the rows of each part, and compare the counts of the whole file with the published ones."""
    pairs = (
        row
        for split, rows in parts.items()
        for row in make_pair_rows(file, ((n, (f[3], f[4], f[0], None)) for n, f in rows), split=split, bad=bad)
    )
    return yield_and_check_counts(file, pairs, EXPECTED, bad)


def _read_dev_ids(file: Path, rows: Numbered) -> set[tuple[str, str]]:
    if not file.exists():
        raise DataError(
            f"mrpc@glue: {file} does not exist. It lists the {GLUE_ROWS} pairs of GLUE's validation part, two ids per "
            "line; GLUE's script download_glue_data.py fetches it. --data mrpc:PATH takes the last 500 rows instead"
        )
    ids = {(first, second) for _, (first, second) in read_tab_rows(file, columns=2, bad=BadRows(remedy="Get it again"))}
    if missing := len(ids - {(fields[1], fields[2]) for _, fields in rows}):
        raise DataError(
            f"{file} names {missing} of {len(ids)} pairs that the training file lacks: is it from another corpus?"
        )
    if len(ids) != GLUE_ROWS:
        LOG.warning("%s names %d pairs, but GLUE's validation part has %d", file, len(ids), GLUE_ROWS)
    return ids

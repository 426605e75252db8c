"""Triplets as sentence-transformers writes them: anchor, positive, negative (negative_1, ...), one triplet per row.

FlagEmbedding's rows have query, pos and neg, the latter two as lists.

If the rows name a property, each triplet is a contest: its anchor should be nearer to the positive. Otherwise the
anchors are queries that search for their positives among all positives and negatives of the file.
"""

from __future__ import annotations

from pathlib import Path

from encheck.datasets.collection import Collection
from encheck.datasets.contrast import contest_dataset, distinct_contests
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import BadRows
from encheck.datasets.retrieval import collection_of_rows, triplet_rows
from encheck.errors import DataError

LICENCE = "yours"
FILES = (
    "a .json, .jsonl, .csv, .tsv or .parquet file with columns anchor, positive, negative (negative_1, ...), or query, "
    "pos, neg (and cluster, property)"
)


def collection(path: Path, bad: BadRows) -> Collection:
    """The collection of the file's anchors; DataError if a column is missing."""
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"triplets: {path} {state}; expected {FILES}")
    return collection_of_rows(path, bad, needs_negatives=True)


def contrasts(name: str, path: Path, bad: BadRows, *, given: str, sample: int | None, seed: int) -> Dataset:
    """The triplets of a file whose rows have properties; see `contrast.contrasts`."""
    rows = distinct_contests(path, triplet_rows(path, bad, given))
    return contest_dataset(name, rows, licence=LICENCE, skipped=bad.skipped, sample=sample, seed=seed)

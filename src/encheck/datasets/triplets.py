"""Triplets as sentence-transformers writes them: anchor, positive, negative (negative_1, ...), one triplet per row.

In FlagEmbedding's format, the columns are query, pos and neg, and the latter two hold lists.

If the rows name a property, each triplet is a contest: its anchor should be nearer to the positive than to the
negative. Otherwise the anchors are queries, each searching for its positives among all positives and negatives of the
file.
"""

from __future__ import annotations

from pathlib import Path

from encheck.datasets.collection import Collection
from encheck.datasets.contrast import dataset_from_property_rows, drop_repeated_property_rows
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import BadRows
from encheck.datasets.retrieval import read_judged_rows, read_triplet_rows
from encheck.errors import DataError

LICENCE = "yours"
FILES = (
    "a .json, .jsonl, .csv, .tsv or .parquet file with columns anchor, positive, negative (negative_1, ...), or query, "
    "pos, neg (and cluster, property)"
)


def collection(path: Path, bad: BadRows) -> Collection:
    """Return the file's anchors as queries and all other texts as documents. Raise DataError if a column is missing."""
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"triplets: {path} {state}; expected {FILES}")
    return read_judged_rows(path, bad, needs_negatives=True)


def contrasts(name: str, path: Path, bad: BadRows, *, property_of_all: str, sample: int | None, seed: int) -> Dataset:
    """Return the triplets of a file whose rows have properties. The arguments are those of `contrast.contrasts`."""
    rows = drop_repeated_property_rows(path, read_triplet_rows(path, bad, property_of_all))
    return dataset_from_property_rows(name, rows, licence=LICENCE, skipped=bad.skipped, sample=sample, seed=seed)

"""Your own contrasts: each row has two queries and two documents, each document right for one query.

It is the layout of NevIR (Weller et al. 2024), as its data card describes it: q1 is answered by doc1, q2 by doc2.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from encheck.datasets.contests import COLUMN, Contest, dataset_of, distinct, property_of
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import BadRows, checked_text, is_missing, refuse_misspelt, said_of_unread
from encheck.datasets.records import records
from encheck.errors import DataError

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a .json, .jsonl, .csv, .tsv or .parquet file with columns q1, q2, doc1, doc2 (and cluster, property)"
COLUMNS = ("q1", "q2", "doc1", "doc2")


def contrasts(name: str, path: Path, bad: BadRows, *, given: str, sample: int | None, seed: int) -> Dataset:
    """The contrasts of a file, of each property at most `sample` clusters; DataError says what is wrong with it.

    `given` is the property of all rows; if it is "", the column `property` names that of each, where there is one.
    """
    rows = distinct(path, _rows(path, bad, given))
    return dataset_of(name, rows, licence=LICENCE, skipped=bad.skipped, sample=sample, seed=seed)


def is_of_contrasts(names: Sequence[str]) -> bool:
    """Whether these are the columns of contrasts.

    >>> is_of_contrasts(["id", "q1", "q2", "doc1", "doc2"]), is_of_contrasts(["q1", "q2"])
    (True, False)
    """
    return set(COLUMNS) <= set(names)


def _rows(path: Path, bad: BadRows, given: str) -> Iterator[Contest]:
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"contrast: {path} {state}; expected {FILES}")
    columns, rows = records(path, bad)
    if missing := [name for name in COLUMNS if name not in columns]:
        raise DataError(f"{path}:1: no column {' and no '.join(missing)} (columns: {', '.join(columns) or 'none'})")
    chosen = {name: name if name in columns else None for name in (*COLUMNS, "cluster", COLUMN)}
    refuse_misspelt(path, columns, {name: (name,) for name in chosen}, chosen)
    for said in said_of_unread(path, columns, chosen):
        log.warning("%s", said)
    for line, row in rows:
        try:
            yield _contest(row, property_of(row, columns, given))
        except ValueError as error:
            bad(path, line, str(error))


def _contest(fields: Mapping[str, Any], property: str) -> Contest:  # noqa: A002 - the word for it
    """A row; ValueError if a text is missing, or where its two queries or documents are the same."""
    q1, q2, doc1, doc2 = (checked_text(name, fields.get(name)) for name in COLUMNS)
    for (name, one), (other, two) in ((("q1", q1), ("q2", q2)), (("doc1", doc1), ("doc2", doc2))):
        if one == two:
            raise ValueError(f"{name} and {other} are the same text: there is no contrast")
    cluster = fields.get("cluster")
    return Contest((q1, q2, doc1, doc2), "" if is_missing(cluster) else str(cluster), property)

"""Your own contrasts: each row has two queries and two documents, each document right for one query.

It is the layout of NevIR (Weller et al. 2024), as its data card describes it: q1 is answered by doc1, q2 by doc2.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encheck.datasets.clusters import sample_clusters
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import BadRows, checked_text, is_missing, refuse_misspelt, said_of_unread
from encheck.datasets.records import records
from encheck.errors import DataError
from encheck.ids import ItemId
from encheck.statistics.clusters import components
from encheck.types import Contrast, content_hash

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a .json, .jsonl, .csv, .tsv or .parquet file with columns q1, q2, doc1, doc2 (and cluster)"
COLUMNS = ("q1", "q2", "doc1", "doc2")


class Row(NamedTuple):
    """Two queries, the document that is right for each, and the cluster where the data name one."""

    queries: tuple[str, str]
    documents: tuple[str, str]
    cluster: str

    @property
    def halves(self) -> frozenset[tuple[str, str]]:
        """The same for a row and for one whose halves stand the other way round."""
        return frozenset(zip(self.queries, self.documents, strict=True))


def contrasts(name: str, path: Path, bad: BadRows, *, sample: int | None, seed: int) -> Dataset:
    """The contrasts of a file, at most `sample` clusters of them; DataError says what is wrong with it."""
    rows = _distinct(path, _rows(path, bad))
    clusters = clusters_of(rows)
    wanted = set(clusters) if sample is None else sample_clusters(clusters, sample, seed=seed)
    kept = tuple(_contrast(name, row, c) for row, c in zip(rows, clusters, strict=True) if c in wanted)
    return Dataset(
        name, (), (), LICENCE, len(rows), skipped=tuple(bad.skipped), sampled=len(kept) < len(rows),
        universe=tuple(sorted(wanted)), contrasts=kept,
    )  # fmt: skip


def is_of_contrasts(names: Sequence[str]) -> bool:
    """Whether these are the columns of contrasts.

    >>> is_of_contrasts(["id", "q1", "q2", "doc1", "doc2"]), is_of_contrasts(["q1", "q2"])
    (True, False)
    """
    return set(COLUMNS) <= set(names)


def clusters_of(rows: Sequence[Row]) -> list[str]:
    """The cluster of each row: what the data name, else the component of rows that share a query or a document.

    A component is named by the hash of its first text in alphabetical order, so that no order of rows matters.
    """
    places: dict[str, int] = {}
    ends = [places.setdefault(text, len(places)) for row in rows for text in (*row.queries, *row.documents)]
    edges = np.array(ends, np.int64).reshape(-1, len(COLUMNS))
    starts = np.repeat(edges[:, 0], len(COLUMNS))
    roots = components(starts, edges.ravel())[:: len(COLUMNS)]
    first: dict[int, str] = {}
    for root, row in zip(roots, rows, strict=True):
        first[root] = min(first.get(root, row.queries[0]), *row.queries, *row.documents)
    return [row.cluster or content_hash(first[root]) for root, row in zip(roots, rows, strict=True)]


def _rows(path: Path, bad: BadRows) -> Iterator[Row]:
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"contrast: {path} {state}; expected {FILES}")
    columns, rows = records(path, bad)
    if missing := [name for name in COLUMNS if name not in columns]:
        raise DataError(f"{path}:1: no column {' and no '.join(missing)} (columns: {', '.join(columns) or 'none'})")
    chosen = {name: name if name in columns else None for name in (*COLUMNS, "cluster")}
    refuse_misspelt(path, columns, {name: (name,) for name in chosen}, chosen)
    for said in said_of_unread(path, columns, chosen):
        log.warning("%s", said)
    for line, row in rows:
        try:
            yield _row(row)
        except ValueError as error:
            bad(path, line, str(error))


def _row(fields: Mapping[str, Any]) -> Row:
    """A row; ValueError if a text is missing, or where its two queries or documents are the same."""
    q1, q2, doc1, doc2 = (checked_text(name, fields.get(name)) for name in COLUMNS)
    for (name, one), (other, two) in ((("q1", q1), ("q2", q2)), (("doc1", doc1), ("doc2", doc2))):
        if one == two:
            raise ValueError(f"{name} and {other} are the same text: there is no contrast")
    cluster = fields.get("cluster")
    return Row((q1, q2), (doc1, doc2), "" if is_missing(cluster) else str(cluster))


def _distinct(path: Path, rows: Iterator[Row]) -> list[Row]:
    """The rows, of those that say the same the first; DataError if there is none."""
    kept: dict[frozenset[tuple[str, str]], Row] = {}
    count = 0
    for row in rows:
        count += 1
        kept.setdefault(row.halves, row)
    if not kept:
        raise DataError(f"contrast: {path} has no valid row; expected {FILES}")
    if again := count - len(kept):
        log.warning("%s: %d of %d rows repeat an earlier contrast, and are left out", path.name, again, count)
    return list(kept.values())


def _contrast(name: str, row: Row, cluster: str) -> Contrast:
    item = ItemId.of(name, content_hash(*row.queries, *row.documents), "contrast", 1, "data", 0)
    return Contrast(item, row.queries, row.documents, cluster)

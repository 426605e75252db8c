"""Your own contrasts. Each row has two queries and two documents, and each document answers one of the queries.

The layout is that of NevIR (Weller et al. 2024), as its data card describes it: doc1 answers q1, and doc2 answers q2.
This module also has the rows and properties that triplets use.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from encheck.datasets.clusters import sample_clusters
from encheck.datasets.dataset import Dataset
from encheck.datasets.reader import (
    BadRows,
    check_text,
    field_text,
    is_missing,
    read_table,
    refuse_misspelt_columns,
    unread_columns_message,
)
from encheck.errors import DataError
from encheck.ids import PROPERTY_NAME, PROPERTY_RULE, ItemId
from encheck.scoring.crossed import Contrast
from encheck.scoring.triplets import Triplet
from encheck.statistics.clusters import component_list
from encheck.types import content_hash

log = logging.getLogger("encheck")
PROPERTY_COLUMN = "property"
PROPERTY_DATA_SETS = ("triplets", "contrast")  # the data sets with such rows
LICENCE = "yours"
FILES = "a .json, .jsonl, .csv, .tsv or .parquet file with columns q1, q2, doc1, doc2 (and cluster, property)"
COLUMNS = ("q1", "q2", "doc1", "doc2")


class PropertyRow(NamedTuple):
    """A row's texts, its cluster if the data name one, and its property ("" if it has none)."""

    texts: tuple[str, ...]
    cluster: str = ""
    property: str = ""


def read_property_names(path: Path) -> tuple[str, ...]:
    """Return the distinct values of a file's column `property`, in file order, or () without such a column.

    Raise DataError for a row without a property, or for a name that -m cannot select.
    """
    columns, rows = read_table(path, BadRows(skip=True))
    if PROPERTY_COLUMN not in columns:
        return ()
    names: dict[str, None] = {}
    for line, row in rows:
        try:
            names[parse_property_name(row.get(PROPERTY_COLUMN))] = None
        except ValueError as error:
            raise DataError(f"{path}:{line}: {error}") from error
    return tuple(names)


def parse_property_name(value: object) -> str:
    """Return the name of a property. Raise ValueError unless it is a plain word that -m can select.

    >>> parse_property_name(" hedging ")
    'hedging'
    """
    if is_missing(value):
        raise ValueError("the property is missing: name one in every row, or leave out the column")
    name = value.strip() if isinstance(value, str) else ""
    if not PROPERTY_NAME.fullmatch(name):
        raise ValueError(f"the property is {value!r:.60}, but should be {PROPERTY_RULE}")
    return name


def property_of_row(row: Mapping[str, Any], columns: Sequence[str], property_of_all: str) -> str:
    """Return `property_of_all` or, if that is "", the row's own property. Raise ValueError for an invalid name."""
    return property_of_all or (parse_property_name(row.get(PROPERTY_COLUMN)) if PROPERTY_COLUMN in columns else "")


def assign_property_row_clusters(rows: Sequence[PropertyRow]) -> list[str]:
    """Return the name of each row's cluster: the one in the data, otherwise one for all rows that share texts.

    Such a cluster is named by the hash of its first text in alphabetical order, so the order of rows does not matter.
    """
    places: dict[str, int] = {}
    width = len(rows[0].texts)
    ends = [places.setdefault(text, len(places)) for row in rows for text in row.texts]
    edges = np.array(ends, np.int64).reshape(-1, width)
    roots = component_list(np.repeat(edges[:, 0], width), edges.ravel())[::width]
    first: dict[int, str] = {}
    for root, row in zip(roots, rows, strict=True):
        first[root] = min(first.get(root, row.texts[0]), *row.texts)
    return [row.cluster or content_hash(first[root]) for root, row in zip(roots, rows, strict=True)]


def dataset_from_property_rows(
    name: str, rows: Sequence[PropertyRow], *, licence: str, skipped: Sequence[str], sample: int | None, seed: int
) -> Dataset:
    """Make a data set of triplets or contrasts, with at most `sample` clusters per property."""
    clusters: dict[str, list[str]] = {}
    both = list(zip(rows, assign_property_row_clusters(rows), strict=True))
    for row, cluster in both:
        clusters.setdefault(row.property, []).append(cluster)
    wanted = {
        of: set(some) if sample is None else sample_clusters(some, sample, seed=seed) for of, some in clusters.items()
    }
    seen: Counter[str] = Counter()  # a row may appear under several properties
    items_by_property: dict[str, list[Triplet | Contrast]] = {}
    for row, cluster in both:
        if cluster not in wanted[row.property]:
            continue
        key, is_triplet = content_hash(*row.texts), len(row.texts) == 3
        item = ItemId.of(name, key, "triplet" if is_triplet else "contrast", 1, "data", seen[key])
        seen[key] += 1
        first, second, *others = row.texts
        items_by_property.setdefault(row.property, []).append(
            Triplet(item, first, second, others[0], cluster)
            if is_triplet
            else Contrast(item, (first, second), (others[0], others[1]), cluster)
        )
    without = tuple(one for one in items_by_property.pop("", ()) if isinstance(one, Contrast))
    return Dataset(
        name, (), (), licence, len(rows), skipped=tuple(skipped), sampled=seen.total() < len(rows),
        universe=tuple(sorted(set().union(*wanted.values()))), contrasts=without,
        properties={of: tuple(some) for of, some in items_by_property.items()},
    )  # fmt: skip


def drop_repeated_property_rows(path: Path, rows: Iterable[PropertyRow]) -> list[PropertyRow]:
    """Return the distinct rows, and log how many repeats were left out. Raise DataError if there are no rows.

    A contrast whose queries and documents are exchanged is a repeat.
    """
    distinct: dict[object, PropertyRow] = {}
    count = 0
    for row in rows:
        count += 1
        halves = frozenset(zip(row.texts[:2], row.texts[2:], strict=True)) if len(row.texts) == 4 else row.texts
        distinct.setdefault((row.property, halves), row)
    if not distinct:
        raise DataError(f"{path} has no valid row")
    if again := count - len(distinct):
        log.warning("%s: %d of %d rows repeat an earlier one, and are left out", path.name, again, count)
    return list(distinct.values())


def contrasts(name: str, path: Path, bad: BadRows, *, property_of_all: str, sample: int | None, seed: int) -> Dataset:
    """Return the contrasts of a file, with at most `sample` clusters per property. DataError explains a fault in the
    file.

    `property_of_all` is the property of all rows. If it is "", each row's property is in the column `property`, if the
    file has one.
    """
    rows = drop_repeated_property_rows(path, _read_contrast_rows(path, bad, property_of_all))
    return dataset_from_property_rows(name, rows, licence=LICENCE, skipped=bad.skipped, sample=sample, seed=seed)


def are_contrast_columns(names: Sequence[str]) -> bool:
    """Return whether a table with these columns holds contrasts.

    >>> are_contrast_columns(["id", "q1", "q2", "doc1", "doc2"]), are_contrast_columns(["q1", "q2"])
    (True, False)
    """
    return set(COLUMNS) <= set(names)


def _read_contrast_rows(path: Path, bad: BadRows, property_of_all: str) -> Iterator[PropertyRow]:
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"contrast: {path} {state}; expected {FILES}")
    columns, rows = read_table(path, bad)
    if missing := [name for name in COLUMNS if name not in columns]:
        raise DataError(f"{path}:1: no column {' and no '.join(missing)} (columns: {', '.join(columns) or 'none'})")
    chosen = {name: name if name in columns else None for name in (*COLUMNS, "cluster", PROPERTY_COLUMN)}
    refuse_misspelt_columns(path, columns, {name: (name,) for name in chosen}, chosen)
    for message in unread_columns_message(path, columns, chosen):
        log.warning("%s", message)
    for line, row in rows:
        try:
            of_property = property_of_row(row, columns, property_of_all)
            q1, q2, doc1, doc2 = (check_text(name, row.get(name)) for name in COLUMNS)
            for (name, one), (other, two) in ((("q1", q1), ("q2", q2)), (("doc1", doc1), ("doc2", doc2))):
                if one == two:
                    raise ValueError(f"{name} and {other} are the same text, so there is no contrast")
            yield PropertyRow((q1, q2, doc1, doc2), field_text(row.get("cluster")), of_property)
        except ValueError as error:
            bad(path, line, str(error))

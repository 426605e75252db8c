"""The user's own labelled pairs: CSV, TSV, JSON Lines or Parquet with named columns.

`first` and `second` hold the texts, `label` 1 for the same meaning and 0 for another; `cluster` (optional) names
what rows have in common. The names that public data sets use for these columns are understood too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from encheck.datasets.contrast import is_of_contrasts
from encheck.datasets.query_rows import is_of_queries
from encheck.datasets.reader import BadRows, Row, json_rows, pair_rows
from encheck.datasets.records import Format, Named, delimited, parquet, records
from encheck.errors import DataError, unknown

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = "a .csv, .tsv, .jsonl or .parquet file with columns first, second, label (and cluster)"
NAMES = {
    "first": ("first", "sentence1", "sentence_1", "text1", "question1", "sentence_a", "anchor", "premise"),
    "second": ("second", "sentence2", "sentence_2", "text2", "question2", "sentence_b", "candidate", "hypothesis"),
    "label": ("label", "is_duplicate", "paraphrase", "labels", "gold"),
    "cluster": ("cluster", "topic", "thread", "url", "group"),
}


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs in file order; DataError where a column is missing, with the columns that are there."""
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise DataError(f"pairs: {path} {state}; expected {FILES}")
    if path.suffix.lower() not in FORMATS:
        raise DataError(f"pairs: {unknown('file ending', path.suffix, FORMATS)}")
    columns, rows = FORMATS[path.suffix.lower()](path, bad)
    if not columns:
        raise DataError(f"pairs: {path} holds no row; expected {FILES}")
    chosen = {role: _column(path, role, columns) for role in NAMES}
    found = pair_rows(path, ((n, _fields(row, chosen)) for n, row in rows), split="", bad=bad)
    return _repeats_told(path, found)


def taken_for(path: Path) -> str:
    """The data set that this file is of instead: one with queries and documents, which are no pairs of sentences."""
    ending = path.suffix.lower()
    if not path.is_file() or ending not in FORMATS:
        return ""
    columns, _ = records(path, BadRows(skip=True))
    if is_of_contrasts(columns):
        return "contrast"
    return "retrieval" if is_of_queries(columns) else ""


def _repeats_told(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows as they are, and at the end how many of them stood there before."""
    known: set[tuple[str, str]] = set()
    count = 0
    for row in rows:
        count += 1
        known.add((row.first, row.second))
        yield row
    if again := count - len(known):
        log.warning("%s: %d of %d rows repeat an earlier pair word for word, and each counts", path.name, again, count)


def _column(path: Path, role: str, columns: list[str]) -> str | None:
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(column.strip().lower(), []).append(column)
    found = [alike[name] for name in NAMES[role] if name in alike]
    if not found and role != "cluster":
        others = f"understood as {role!r}: {', '.join(NAMES[role])}"
        raise DataError(
            f"{path}:1: no column {role!r} (columns: {', '.join(columns) or 'none'}; {others}){_hint(columns)}"
        )
    if found and len(found[0]) > 1:
        called = " and ".join(map(repr, dict.fromkeys(found[0])))
        raise DataError(f"{path}:1: two columns are called {called}: rename the one that is not meant")
    return found[0][0] if found else None


def _hint(columns: list[str]) -> str:
    one = columns[0] if len(columns) == 1 else ""
    other = max(",;|\t", key=one.count)
    return f". Is {other!r} the delimiter? A .csv is divided by commas, a .tsv by tabs" if other in one else ""


def _fields(row: Mapping[str, Any], chosen: dict[str, str | None]) -> tuple[object, object, object, str | None]:
    first, second, label, cluster = (row.get(column) if column else None for column in chosen.values())
    return first, second, label, _cluster(cluster)


def _cluster(value: object) -> str | None:
    """The name of a row's cluster; None where it is missing: blank, NaN or an empty list, as tables are saved."""
    is_missing = value is None or value != value or value in ([], {}) or not str(value).strip()
    return None if is_missing else str(value)


def _jsonl(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    rows = list(json_rows(path, bad))
    return sorted({key for _, row in rows for key in row}), iter(rows)


FORMATS: dict[str, Format] = {
    ".csv": delimited(","),
    ".tsv": delimited("\t"),
    ".jsonl": _jsonl,
    ".parquet": parquet,
}

"""The user's own labelled pairs: CSV, TSV, JSON Lines or Parquet with named columns.

`first` and `second` hold the texts, `label` 1 for the same meaning and 0 for another, `score` how alike they are in any
range: more is more alike. Label or score is enough. `cluster` (optional) names what rows have in common. The names that
public data sets use for these columns are understood too.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from encheck.datasets import pairs_in_columns
from encheck.datasets.contrast import is_of_contrasts
from encheck.datasets.pair_columns import NAMES, NEEDED, columns_of, row_of, said_of_repeats, said_of_scores
from encheck.datasets.pairs_in_columns import HeldPairs
from encheck.datasets.query_rows import is_of_queries
from encheck.datasets.reader import BadRows, Row, is_missing, json_rows, said_of_unread
from encheck.datasets.records import (
    Format,
    Named,
    delimited,
    json_table,
    parquet,
    parquet_files,
    records,
    unread_format,
)
from encheck.errors import DataError

log = logging.getLogger("encheck")
LICENCE = "yours"
FILES = (
    "a .csv, .tsv, .json, .jsonl or .parquet file, or a folder of Parquet files, with columns first, second, label or "
    "score (and cluster)"
)


def read(path: Path, bad: BadRows) -> Iterator[Row]:
    """Pairs in file order; DataError if a column is missing, with the columns that are there."""
    if path.is_dir():
        for file in _files_of(path):
            yield from read(file, bad)
        return
    if not path.is_file():
        if ":/" in str(path):
            raise DataError(f"pairs: {path} is no file. Remedy, if it is a URL, which an engine reads: --engine=local")
        raise DataError(f"pairs: {path} does not exist; expected {FILES}")
    if path.suffix.lower() not in FORMATS:
        raise unread_format(path, FORMATS)
    columns, rows = FORMATS[path.suffix.lower()](path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = columns_of(path, columns)
    for said in said_of_unread(path, columns, chosen.values()):
        log.warning("%s", said)
    yield from _scores_told(path, _repeats_told(path, _made(path, rows, chosen, bad)))


def hold(path: Path, bad: BadRows) -> HeldPairs:
    """The pairs that `read` gives, in columns: in a fraction of its time and memory. DataError as for `read`."""
    if not (parquet_files(path) if path.is_dir() else path.is_file() and path.suffix.lower() in FORMATS):
        list(read(path, bad))
    return pairs_in_columns.hold(path, bad, lambda: read(path, replace(bad, skipped=[])))


def production(path: Path, bad: BadRows) -> Iterator[tuple[Row, dict[str, str]]]:
    """Pairs as they came in production, each with the values of the columns that have no role (its slices).

    A label may be missing, of some pairs or of all: nobody looked at them. DataError as for `read`.
    """
    if path.is_dir():
        for file in _files_of(path):
            yield from production(file, bad)
        return
    columns, rows = records(path, bad)
    if not columns:
        raise DataError(f"pairs: {path} has no rows; expected {FILES}")
    chosen = columns_of(path, columns, needed=NEEDED)
    more = [column for column in columns if column not in chosen.values()]
    for line, row in rows:
        fields = {role: row.get(column) if column else None for role, column in chosen.items()}
        labelled = chosen | ({"label": None} if is_missing(fields["label"]) else {}) | {"score": None}
        try:
            made = row_of(fields, labelled)
        except ValueError as error:
            bad(path, line, str(error))
        else:
            yield made, {name: str(row[name]) for name in more if not is_missing(row.get(name))}


def _files_of(folder: Path) -> list[Path]:
    """The Parquet files of a folder; DataError if there is none."""
    if not (files := parquet_files(folder)):
        raise DataError(f"pairs: {folder} holds no Parquet file; expected {FILES}")
    return files


def is_of_pairs(names: Sequence[str]) -> bool:
    """Whether these are the columns of pairs of sentences.

    >>> is_of_pairs(["sentence1", "sentence2", "score"]), is_of_pairs(["text", "score"])
    (True, False)
    """
    has = {role: not {*known}.isdisjoint(names) for role, known in NAMES.items()}
    return "label" in names or (has["first"] and has["second"] and has["score"])


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
    for line in said_of_repeats(path, count - len(known), count):
        log.warning("%s", line)


def _scores_told(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows as they are, and at the end the range of their scores."""
    low, high, count = math.inf, -math.inf, 0
    for row in rows:
        if row.score is not None:
            low, high, count = min(low, row.score), max(high, row.score), count + 1
        yield row
    for line in said_of_scores(path, count, low, high):
        log.warning("%s", line)


def _made(path: Path, rows: Named, chosen: Mapping[str, str | None], bad: BadRows) -> Iterator[Row]:
    for line, row in rows:
        try:
            yield row_of({role: row.get(column) if column else None for role, column in chosen.items()}, chosen)
        except ValueError as error:
            bad(path, line, str(error))


def _jsonl(path: Path, bad: BadRows) -> tuple[list[str], Named]:
    rows = list(json_rows(path, bad))
    return sorted({key for _, row in rows for key in row}), iter(rows)


FORMATS: dict[str, Format] = {
    ".csv": delimited(","),
    ".tsv": delimited("\t"),
    ".json": json_table,
    ".jsonl": _jsonl,
    ".parquet": parquet,
}

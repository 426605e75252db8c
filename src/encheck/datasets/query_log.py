"""A log of queries: one a line, or a table with a column `query`. Repeated queries weigh more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.datasets.collection import CollectionQuery
from encheck.datasets.reader import BadRows, checked_text, is_missing, lines_of, refuse_misspelt
from encheck.datasets.records import FORMATS, ending_of, records, unread_format
from encheck.errors import DataError
from encheck.types import content_hash

TEXT_ENDINGS = (".txt", ".log")
MOST = 10**12


@dataclass(frozen=True, slots=True)
class _Asked:
    text: str
    count: int
    cluster: str


def query_log(path: Path, bad: BadRows) -> tuple[CollectionQuery, ...]:
    """The different queries of a log in the order of their first appearance, with how often each was asked.

    A query is its own cluster where no column `cluster` names one. DataError if the log holds no query.
    """
    if not path.is_file():
        state = "is a folder, but should be a file" if path.is_dir() else "does not exist"
        raise DataError(f"--queries={path} {state}: {_expected()}")
    found: dict[str, _Asked] = {}
    for line, one in _rows(path, bad):
        known = found.setdefault(one.text, one)
        if known is not one:
            if known.cluster != one.cluster:
                bad(
                    path,
                    line,
                    f"the query was in cluster {known.cluster!r:.60} before, but here it is in {one.cluster!r:.60}",
                )
                continue
            found[one.text] = _Asked(one.text, known.count + one.count, one.cluster)
    if not found:
        raise DataError(f"--queries={path} has no queries: {_expected()}")
    return tuple(
        CollectionQuery(content_hash(one.text), one.text, {}, cluster=one.cluster or content_hash("query", one.text),
                        weight=one.count)
        for one in found.values()
    )  # fmt: skip


def _expected() -> str:
    return f"one query a line (.txt), or a table with a column `query` ({', '.join(FORMATS)})"


def _rows(path: Path, bad: BadRows) -> Iterator[tuple[int, _Asked]]:
    ending = ending_of(path)
    if ending in TEXT_ENDINGS:
        lines = ((number, line.strip()) for number, line in enumerate(lines_of(path), 1))
        return ((number, _Asked(" ".join(line.split()), 1, "")) for number, line in lines if line)
    if ending not in FORMATS:
        raise unread_format(path, (*TEXT_ENDINGS, *FORMATS))
    return _of_table(path, bad)


def _of_table(path: Path, bad: BadRows) -> Iterator[tuple[int, _Asked]]:
    columns, rows = records(path, bad)
    if columns and "query" not in columns:
        raise DataError(f"{path}:1: no column query (columns: {', '.join(columns)})")
    chosen = {name: name if name in columns else None for name in ("query", "count", "cluster")}
    refuse_misspelt(path, columns, {name: (name,) for name in chosen}, chosen)
    for number, row in rows:
        try:
            text = " ".join(checked_text("query", row.get("query")).split())
            cluster = row.get("cluster")
            named = "" if is_missing(cluster) else str(cluster).strip()
            yield number, _Asked(text, count_of(row.get("count")), named)
        except ValueError as error:
            bad(path, number, str(error))


def count_of(value: Any) -> int:
    """How often a query was asked, 1 where nothing says so; ValueError for what is no whole number above 0.

    >>> count_of("12"), count_of(None)
    (12, 1)
    """
    if is_missing(value):
        return 1
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 1 <= number <= MOST or not number.is_integer():
        raise ValueError(f"the count is {value!r:.60}, but should be a whole number, 1 or more")
    return int(number)

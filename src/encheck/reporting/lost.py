"""Queries that a candidate lost: what came first before, and what comes first now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.gating.lost import LostQuery

SHOWN = 160  # characters of a text
UNKNOWN = "not kept: the baseline is older, or of other documents"


def as_dicts(
    lost: Sequence[LostQuery],
    items: Mapping[str, Mapping[str, Sequence[Any]]],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> list[dict[str, str]]:
    """Query, first answer before and first answer now of each, in one line; `documents` are by case, then row."""
    texts = {
        name: text for columns in items.values() for name, text in zip(columns["item"], columns["source"], strict=True)
    }
    return [
        {"query": in_a_line(texts[one.item])}
        | {side: _text(documents.get(one.case, {}), row) for side, row in (("before", one.before), ("now", one.now))}
        for one in lost
        if one.item in texts
    ]


def _text(documents: Mapping[int, tuple[str, str]], row: int | None) -> str:
    return UNKNOWN if row is None or row not in documents else in_a_line(documents[row][1])


def in_a_line(text: str) -> str:
    """The text on one line, cut where it is long.

    >>> in_a_line("a  b" + chr(10) + "c")
    'a b c'
    """
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}..."


def lines(row: Mapping[str, Any]) -> Iterator[str]:
    """The lost queries of a row of a gate, three lines each."""
    for one in row.get("lost_queries", ()):
        yield f"lost in {row['row']}: {one['query']}"
        yield f"  first before: {one['before']}"
        yield f"  first now:    {one['now']}"

"""The gate on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from encheck.reporting import lost
from encheck.reporting.gate.rows import HEAD, cells, folded, weighed_rows, with_lost_queries
from encheck.reporting.gate.words import explained, part, title, undecided
from encheck.reporting.text import table


def lines(gate: Mapping[str, Any]) -> Iterator[str]:
    """The gate on the terminal."""
    for against in gate["against"]:
        yield f"gate against {against['baseline']}{part(against)}: {title(against)}"
        if shown := weighed_rows(against):
            yield from table([HEAD, *(cells(row) for row in shown)])
        yield from (f"  - {text}" for text in explained(against, commands=False))
        yield from (f"  {text}" for row in with_lost_queries(against) for text in _evidence(row))
        yield from (f"  - {text}: see summary.md or the page" for text in folded(against))
    yield from undecided(gate)
    yield ""


def _evidence(row: Mapping[str, Any]) -> Iterator[str]:
    """What the loss of a row means to users of the model, and what it lost."""
    if row.get("means") and row["outcome"] == "block":
        yield f"{row['row']}: {row['means']}"
    yield from lost.example_lines(row)
    yield from lost.lines(row)

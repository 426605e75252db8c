"""What a counter of negative words gets of groups that have to be right in both directions, and what is left beyond it.

A model that only notices that a word such as *not* came or went is as good as the counter, and no better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.metrics import both_directions, both_directions_beyond_negative_words
from encheck.statistics.figures import Figure
from encheck.surface import NEGATIVE_WORDS

Row = Mapping[str, Any]
BOTH, BEYOND = ((one.name, one.calibrated.name) for one in (both_directions, both_directions_beyond_negative_words))


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """A line for each model and check whose groups the counter reads."""
    yield from said(results["checks"])


def said(rows: Sequence[Row]) -> list[str]:
    """The same of some rows; nothing where the counter says nothing of their items."""
    beyond = {_case(row): row for row in rows if row["metric"] in BEYOND and row["value"] is not None}
    return [_says(row, counter, beyond.get(_case(row))) for row in rows if (counter := _counter(row))]


def _counter(row: Row) -> Row | None:
    found: Row | None = row["surface"].get(NEGATIVE_WORDS) if row["metric"] in BOTH else None
    return found if found and found["value"] is not None and row["value"] is not None else None


def _case(row: Row) -> tuple[str, ...]:
    return row["check"], row["model"], row["data"], str(row["level"])


def _says(row: Row, counter: Row, beyond: Row | None) -> str:
    model = row["model"]
    start = (
        f"{row['property']} on {row['data']}: {model} is right in both directions in {_share(row)} of the groups, and "
        f"a counter of negative words in {_share(counter)}"
    )
    if beyond is None:
        return start
    return (
        f"{start}. Of the {beyond['n']:,} where the counter is not, {model} is in {_share(beyond)}; guessing gets 25%"
    )


def _share(row: Row) -> str:
    return Figure(row["value"], row["low"], row["high"]).says

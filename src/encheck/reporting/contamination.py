"""What results.json, the terminal, summary.md and the pages say of contamination."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from encheck.gating.contamination import Contamination


def as_dicts(found: Iterable[Contamination]) -> list[dict[str, Any]]:
    """The `contamination` of results.json; a figure that could not be computed is None."""
    return [{k: None if v != v else v for k, v in asdict(row).items()} | {"says": row.says} for row in found]


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each row, as `as_dicts` has them, with the two gains behind it."""
    for row in rows:
        gains = ((row["written_gain"], row["written"]), (row["fresh_gain"], row["fresh"]))
        told = ", ".join(f"{round(100 * gain, 1) + 0.0:+.1f} on {data}" for gain, data in gains)
        yield f"{row['says']} ({told}; mean of {row['checks']} checks; decides nothing)"

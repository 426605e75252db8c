"""Rivals that read no meaning, and are right in both directions more often than guessing.

A model that does no better may go by what the rival reads: words that deny, or where the texts begin to differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.metrics import both_directions
from encheck.statistics.figures import Figure
from encheck.surface import RIVALS

Row = Mapping[str, Any]


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each of these results in both directions whose best rival is above chance and not below the model."""
    for row in rows:
        if row["metric"] not in (both_directions.name, both_directions.calibrated.name) or row["value"] is None:
            continue
        rivals = [(name, one) for name, one in row["surface"].items() if name in RIVALS and one["value"] is not None]
        name, best = max(rivals, key=lambda rival: float(rival[1]["value"]), default=("", None))
        if best and best["low"] > both_directions.chance and best["high"] > row["low"]:
            model, rival = (Figure(one["value"], one["low"], one["high"]).says for one in (row, best))
            yield (
                f"{row['property']} on {row['data']}: {row['model']} is right in both directions in {model} of the "
                f"groups, and {name}, which reads no meaning, in {rival}; guessing gets {both_directions.chance:.0%}"
            )

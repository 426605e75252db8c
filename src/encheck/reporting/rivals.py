"""Rivals that read no meaning, and are right in both directions more often than guessing.

A model that does no better may go by what the rival reads: words that deny, or where the texts begin to differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from encheck.metrics import both_directions
from encheck.run_file import Result
from encheck.statistics.bootstrap import Figure
from encheck.surface import RIVALS


def lines(rows: Sequence[Result]) -> Iterator[str]:
    """A line for each of these results in both directions whose best rival is above chance and not below the model."""
    for row in rows:
        if row.metric not in (both_directions.name, both_directions.calibrated.name) or row.value is None:
            continue
        rivals = [(name, one) for name, one in row.surface.items() if name in RIVALS and one.value is not None]
        name, best = max(rivals, key=lambda rival: rival[1].numbers[0], default=("", None))
        if best is None:
            continue
        model, rival, chance = Figure(*row.numbers), Figure(*best.numbers), both_directions.chance or 0.0
        if rival.low > chance and rival.high > model.low:
            yield (
                f"{row.property} on {row.data}: {row.model} is right in both directions in {model.says} of the "
                f"groups, and {name}, which reads no meaning, in {rival.says}; guessing gets {chance:.0%}"
            )

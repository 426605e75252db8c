"""Differences from the reference as one picture a model: where each property's interval lies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from encheck.comparing.comparison import ModelComparison, Said

WIDTH, LEFT, RIGHT, ROW, TOP = 360, 112, 348, 19, 22  # pixels
STEP = 0.1  # of the axis


@dataclass(frozen=True, slots=True)
class ForestBar:
    """One property: the ends of the interval and the difference in pixels, and all of it in words."""

    label: str
    low: float
    high: float
    at: float
    said: Said
    words: str


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """One model's bars; `ticks` are (pixels, label)."""

    model: str
    bars: Sequence[ForestBar]
    ticks: Sequence[tuple[float, str]]

    @property
    def height(self) -> int:
        """In pixels."""
        return TOP + ROW * len(self.bars) + 4


def panels(found: ModelComparison) -> list[ForestPanel]:
    """One for each model but the reference that has a paired difference, all on the same scale."""
    changes = [c.change for line in found.matrix for c in line.cells if c and c.change]
    if not changes:
        return []
    most = max(max(abs(one.low), abs(one.high)) for one in changes)
    limit = max(math.ceil(most / STEP - 1e-9), 1) * STEP
    several = len({line.data for line in found.matrix}) > 1
    ticks = [(_at(value, limit), f"{value:+.1f}" if value else "0") for value in (-limit, 0.0, limit)]
    made = []
    for place, model in enumerate(found.models[1:], 1):
        bars = []
        for line in found.matrix:
            cell = line.cells[place]
            if cell is None or cell.change is None:
                continue
            one, label = cell.change, f"{line.property}, {line.data}" if several else line.property
            ends = f"{one.difference:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
            low, high, at = (_at(value, limit) for value in (one.low, one.high, one.difference))
            bars.append(ForestBar(label, low, high, at, cell.said, f"{model.name}, {label}: {ends}, {cell.said}"))
        if bars:
            made.append(ForestPanel(model.name, bars, ticks))
    return made


def _at(value: float, limit: float) -> float:
    return round(LEFT + (value + limit) / (2 * limit) * (RIGHT - LEFT), 1)

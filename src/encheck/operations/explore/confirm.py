"""The confirmation: its size is fixed, then its items are drawn, then they are scored; one item a cluster.

So the items of a row are independent, and the interval of their failure rate is Clopper and Pearson's, corrected for
all rows that were planned (Bonferroni): with 95% probability all of them hold at once, however the rows were found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from encheck.metrics.pairs import worth
from encheck.operations.explore.asking import Meter
from encheck.operations.explore.cells import CONFIRMATION, Cell
from encheck.operations.explore.material import Item
from encheck.operations.explore.parts import drawn
from encheck.operations.explore.search import Standing
from encheck.statistics.bounds import ALPHA, interval_of_share, upper_of_share
from encheck.surface import SHARED, SURFACE

SIZES = (200, 150, 120, 100, 80, 60, 45, 30, 20, CONFIRMATION)  # clusters a row
UNBROKEN = 0.05
CHANCE = 0.5
BROKEN, HOLDS, UNSAID = "breaks", "unbroken", "not enough frames to say"


@dataclass(frozen=True)
class Planned:
    """A row before it is scored: a construction with what the search knew of it, and one item of each cluster."""

    cell: Cell
    searched: Standing
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Row:
    """A confirmed row: on the items of how many clusters the model errs, with the simultaneous 95% interval.

    `upper` is the bound in one direction, of the same error for all rows together: what "unbroken" is said by.
    `surface` is the surface scorer that errs least on the same items, a tie being half an error; `margin` is the
    median.
    """

    cell: Cell
    searched: Standing
    failed: int
    n: int
    low: float
    high: float
    upper: float
    surface: str
    surface_rate: float
    margin: float
    items: tuple[Item, ...]
    margins: tuple[float, ...]

    @property
    def rate(self) -> float:
        """The share of clusters on which the model errs."""
        return self.failed / self.n

    @property
    def verdict(self) -> str:
        """Whether it is shown to fail in more than 5% of clusters, or in fewer, or neither."""
        if self.low > UNBROKEN:
            return BROKEN
        return HOLDS if self.upper < UNBROKEN else UNSAID

    @property
    def example(self) -> Item | None:
        """The failure of the median margin, None if there is none."""
        lost = sorted((m, i) for i, m in enumerate(self.margins) if m <= 0)
        return self.items[lost[len(lost) // 2][1]] if lost else None


def planned(
    rows: Sequence[tuple[Cell, Standing]], items: Sequence[Item], meter: Meter, *, seed: int
) -> tuple[list[Planned], list[Cell]]:
    """The rows with their items, as many clusters a row as the budget has room for; and the cells without room.

    Those without values come first, and are planned whatever they cost. No score of these items is known here.
    """
    wholes = sum(not cell.values for cell, _ in rows)
    for count in range(len(rows), wholes - 1, -1):
        found = _fitting(rows[:count], items, meter, seed)
        if found:
            return found, [cell for cell, _ in rows[count:]]
    smallest = [_drawn(cell, known, items, SIZES[-1], seed) for cell, known in rows[:wholes]]
    return smallest, [cell for cell, _ in rows[wholes:]]


def _fitting(
    rows: Sequence[tuple[Cell, Standing]], items: Sequence[Item], meter: Meter, seed: int
) -> list[Planned] | None:
    for size in SIZES:
        found = [_drawn(cell, known, items, size, seed) for cell, known in rows]
        if meter.new([item for row in found for item in row.items]) <= meter.left:
            return found
    return None


def _drawn(cell: Cell, known: Standing, items: Sequence[Item], size: int, seed: int) -> Planned:
    """One item of each of at most `size` clusters, both drawn by hash."""
    by_cluster: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if cell.holds(item):
            by_cluster[item.cluster].append(item)
    names = sorted(by_cluster, key=lambda name: drawn(seed, "confirm", name))[:size]
    one = (min(by_cluster[name], key=lambda item: drawn(seed, "item", *item.own_texts)) for name in names)
    return Planned(cell, known, tuple(one))


def confirmed(rows: Sequence[Planned], meter: Meter) -> Iterator[Row]:
    """The rows, one after the other; each interval counts all that were planned."""
    for row in rows:
        yield measured(row, meter.margins(row.items), of=len(rows))


def measured(row: Planned, margins: Sequence[float], *, of: int) -> Row:
    """A row with its figures."""
    failed, n = sum(margin <= 0 for margin in margins), len(margins)
    low, high = interval_of_share(failed, n, alpha=ALPHA / of)
    rates = surface_rates(row.items)
    best = min(rates, key=lambda name: rates[name])
    return Row(
        row.cell, row.searched, failed, n, low, high, upper_of_share(failed, n, alpha=ALPHA / of), best, rates[best],
        float(np.median(margins)), row.items, tuple(margins),
    )  # fmt: skip


def surface_rates(items: Sequence[Item]) -> Mapping[str, float]:
    """The failure rate on these items of each surface scorer that goes by what two texts share."""
    sources, near, far = ([getattr(item.triplet, side) for item in items] for side in ("source", "near", "far"))
    scorers = {name: SURFACE[name] for name in SHARED}
    return {
        name: float(1 - worth(score(sources, near) - score(sources, far)).mean()) for name, score in scorers.items()
    }

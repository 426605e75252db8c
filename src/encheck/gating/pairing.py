"""What a gate compares: the per-item figure of each case, from two models' scores on the same items.

What gates is the metric that a check declares: win rates and calibrated margins do; raw similarities, raw margins and
AUC never do, since they rise when a model is damaged. `capabilities` pools the cases into gate rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.gating.declared import chance_of, gating
from encheck.gating.endpoints import endpoint_of
from encheck.gating.types import TOLERANCE, Budget
from encheck.metrics import Metric
from encheck.scoring.documents import Answers
from encheck.scoring.frame import DEV_SPLIT, GATE_SPLIT, VALIDATION, CaseScores
from encheck.scoring.scores import Scale

__all__ = [
    "DEV_SPLIT",
    "GATE_SPLIT",
    "TOLERANCE",
    "VALIDATION",
    "CaseScores",
    "Compared",
    "alike",
    "compare",
    "shared",
]  # fmt: skip
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One case under both models: what each item says of the metric that gates it.

    `before` and `after` have a row for each value of `old` and `new`: of a chain, that of its first member. `chance` is
    what guessing gets, None if that is not known. `budget` is the part of the gate's alpha that tests it. Where
    entries are chains, `moved` has of each the member whose margin fell most. Of crossed groups, `sides` has the
    surface direction of each entry, 1 or 2. `aside` has the baseline on items that are tested nowhere, by which a gate
    tells whether it sees the case; None where nobody asks.
    """

    before: CaseScores
    after: CaseScores
    scales: tuple[Scale, Scale]
    metric: Metric[...]
    old: Floats
    new: Floats
    alike: bool
    chance: float | None = None
    budget: Budget = "behaviour"
    moved: tuple[CaseScores, CaseScores] | None = None
    sides: NDArray[np.intp] | None = None
    aside: Compared | None = None

    @property
    def shown(self) -> tuple[CaseScores, CaseScores]:
        """Both tables with the row of each entry that people are shown."""
        return self.moved or (self.before, self.after)

    def of(self, positions: NDArray[np.intp]) -> Compared:
        """A selection of the entries."""
        moved = self.moved and (self.moved[0].of(positions), self.moved[1].of(positions))
        sides = None if self.sides is None else self.sides[positions]
        return replace(
            self, before=self.before.of(positions), after=self.after.of(positions), old=self.old[positions],
            new=self.new[positions], moved=moved, sides=sides,
        )  # fmt: skip

    def slice(self, positions: NDArray[np.intp]) -> Compared:
        """Some of the queries of a primary endpoint, as a hypothesis of their own."""
        return replace(self.of(positions), budget="slices")

    def on_side(self, side: int) -> Compared:
        """The entries of one surface direction of crossed groups, and of those that are tested nowhere."""
        assert self.sides is not None
        found = self.of(np.flatnonzero(self.sides == side))
        return replace(found, aside=self.aside.on_side(side)) if self.aside else found

    def flips(self, sign: int) -> list[str]:
        """Ids of the items that were won and are lost (-1), or the other way round (1)."""
        moved = np.flatnonzero(np.sign(self.new - self.old) == sign)
        return [self.before.items[i] for i in moved] if self.metric.kind == "rate" else []

    @property
    def kind(self) -> str:
        """Which figures are pooled: rates, and means; with a delta of its own, one by one."""
        return self.metric.kind if self.metric.delta is None else self.metric.name

    @property
    def pulls(self) -> tuple[float, float]:
        """How far the mean moves with the reference under each model, in units of its scale; nothing if all is alike.

        A mean similarity m has (m - reference) / (identity - reference): the reference is above and below. The gap of
        two classes, and what a change of order makes, have it below alone.
        """
        if self.alike or self.metric.references is None:
            return 0.0, 0.0
        above = self.metric.references(self.before)
        return float(self.old.mean()) - above, float(self.new.mean()) - above


def compare(
    before: CaseScores, after: CaseScores, scales: tuple[Scale, Scale], *, primary: str | None = None
) -> Compared | None:
    """The gating metric of a case under both models, on the same items; None if the case is reported only.

    An item whose scores agree within the noise tolerance has not changed. `primary` names the endpoint of a search with
    labels (`endpoints`), None for the one that its labels ask for.
    """
    endpoint = endpoint_of(before, primary)
    metric = endpoint or gating(before)[0]
    if metric is None or metric.values is None:
        return None
    same = _entries(metric, before, alike(before, after))
    old, new = metric.values(before, scales[0]), metric.values(after, scales[1])
    new = np.where(same, old, new)
    if metric.contrast:
        old, new = metric.contrast(before, old), metric.contrast(after, new)
    heads, chance = (metric.heads(before), metric.heads(after)), chance_of(before, metric)
    budget: Budget = "primary" if endpoint else "behaviour"
    moved = _most_moved(before, after, scales) if metric.unit == "chain" else None
    sides = _sides(before) if metric.sides else None
    return Compared(heads[0], heads[1], scales, metric, old, new, bool(same.all()), chance, budget, moved, sides)


def _sides(table: CaseScores) -> NDArray[np.intp]:
    """The surface direction of each row of crossed groups, which is its place in its group."""
    found = np.zeros(len(table.items), np.intp)
    for group in table.chains:
        found[group] = np.arange(1, len(group) + 1)
    return found


def _most_moved(before: CaseScores, after: CaseScores, scales: tuple[Scale, Scale]) -> tuple[CaseScores, CaseScores]:
    """Of each chain the row whose margin fell most."""
    fell = np.nan_to_num(after.margins(scales[1]) - before.margins(scales[0]))
    rows = np.array([chain[int(np.argmin(fell[chain]))] for chain in before.chains], np.intp)
    return before.of(rows), after.of(rows)


def _entries(metric: Metric[...], table: CaseScores, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether all rows behind an entry of the metric's values are so."""
    return rows if metric.unit == "item" else np.array([bool(rows[chain].all()) for chain in table.chains])


def shared(first: CaseScores, other: CaseScores) -> tuple[CaseScores, CaseScores]:
    """Both tables on the items (id, texts, people's score) that they have in common, in the order of the first."""
    mine, theirs = (
        list(zip(one.items, one.texts, one.gold or [None] * len(one.items), strict=True)) for one in (first, other)
    )
    at = {item: i for i, item in enumerate(theirs)}
    pairs = [(i, at[item]) for i, item in enumerate(mine) if item in at]
    ours, others = np.array(pairs, np.intp).reshape(-1, 2).T
    return first.of(ours), other.of(others)


def alike(before: CaseScores, after: CaseScores) -> NDArray[np.bool_]:
    """Items whose scores agree within the noise of batch sizes and threads; of searches, whose ranks do; shape [n]."""
    if before.answers and after.answers:
        both = ([Answers.of(text).judged for text in table.answers] for table in (before, after))
        return np.array([old == new for old, new in zip(*both, strict=True)], bool)
    near = np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE)
    far = np.isnan(before.far) | np.isclose(before.far, after.far, rtol=0, atol=TOLERANCE)
    return np.asarray(near & far)

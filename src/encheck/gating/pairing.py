"""What a gate compares: the per-item figure of each gate row, from two models' scores on the same items.

A gate row is a property x data x level: the items of its checks, pooled. What gates is the metric that a check
declares: win rates and calibrated margins do; raw similarities, raw margins and AUC never do, since they rise when a
model is damaged. A figure below its chance rises too; it is a row of its own, `.../at-chance`, that can block and is no
evidence for passing. Where that leaves a part too small to gate, `.../whole` has all of it (see `rows`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.gating.declared import chance_of, declared_of, gating
from encheck.gating.endpoints import endpoint_of
from encheck.gating.types import BUDGETS, DEFAULT, Budget, Paired, Rule
from encheck.ids import GateRowId
from encheck.metrics import Metric
from encheck.metrics.health import room
from encheck.scoring.answers import Answers
from encheck.scoring.scores import Scale
from encheck.scoring.table import DEV_SPLIT, GATE_SPLIT, VALIDATION, Table
from encheck.statistics import paired as stats

__all__ = [
    "DEV_SPLIT", "GATE_SPLIT", "TOLERANCE", "VALIDATION", "Compared", "Table", "alike", "calibration_error",
    "compare", "pooled", "rows", "shared",
]  # fmt: skip
Floats = NDArray[np.float64]
TOLERANCE = 1e-5  # a score of the same checkpoint at other batch sizes and thread counts differs by less
AT_CHANCE = {"rate": "at-chance", "mean": "gap-at-chance"}
STRAIGHT = {"at-chance": "rate", "gap-at-chance": "mean"}  # the kind that these are without
WHOLE = "whole"


@dataclass(frozen=True)
class Compared:
    """One case under both models: what each item says of the metric that gates it.

    `before` and `after` have a row for each value of `old` and `new`: of a chain, that of its first member. `chance` is
    what guessing gets, None where that is not known. `budget` is the part of the gate's alpha that tests it. Where
    entries are chains, `moved` has of each the member whose margin fell most.
    """

    before: Table
    after: Table
    scales: tuple[Scale, Scale]
    metric: Metric[...]
    old: Floats
    new: Floats
    alike: bool
    chance: float | None = None
    budget: Budget = "behaviour"
    moved: tuple[Table, Table] | None = None

    @property
    def shown(self) -> tuple[Table, Table]:
        """Both tables with the row of each entry that people are shown."""
        return self.moved or (self.before, self.after)

    def slice(self, positions: NDArray[np.intp]) -> Compared:
        """Some of the queries of a primary endpoint, as a hypothesis of their own."""
        return replace(
            self, before=self.before.of(positions), after=self.after.of(positions), old=self.old[positions],
            new=self.new[positions], budget="slices",
        )  # fmt: skip

    def flips(self, sign: int) -> list[str]:
        """Ids of the items that were won and are lost (-1), or the other way round (1)."""
        moved = np.flatnonzero(np.sign(self.new - self.old) == sign)
        return [self.before.items[i] for i in moved] if self.metric.kind == "rate" else []

    @property
    def is_below_chance(self) -> bool:
        """Whether the baseline's figure is below chance: fewer wins than guessing gets, or the other class nearer."""
        return self.chance is not None and float(self.old.mean()) < self.chance

    @property
    def kind(self) -> str:
        """Which figures are pooled: rates, means, those below chance; with a delta of its own, one by one."""
        if self.is_below_chance:
            return AT_CHANCE[self.metric.kind]
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


def compare(before: Table, after: Table, scales: tuple[Scale, Scale], *, primary: str | None = None) -> Compared | None:
    """The gating metric of a case under both models, on the same items; None where the case is reported only.

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
    moved = _most_moved(before, after) if metric.unit == "chain" else None
    return Compared(heads[0], heads[1], scales, metric, old, new, bool(same.all()), chance, budget, moved)


def _most_moved(before: Table, after: Table) -> tuple[Table, Table]:
    """Of each chain or crossed group the row whose margin fell most."""
    fell = np.nan_to_num(after.margins - before.margins)
    rows = np.array([chain[int(np.argmin(fell[chain]))] for chain in before.chains], np.intp)
    return before.of(rows), after.of(rows)


def _entries(metric: Metric[...], table: Table, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether all rows behind an entry of the metric's values are so."""
    return rows if metric.unit == "item" else np.array([bool(rows[chain].all()) for chain in table.chains])


def rows(found: Sequence[Compared], rule: Rule = DEFAULT) -> dict[str, list[Compared]]:
    """The cases of one property, data set and level with figures of one kind, by the name of their gate row.

    Checks in which the baseline is below chance are a row of their own. Where that leaves either part too
    small to gate, but not both together, `.../whole` stands for it: all checks of the two, so that no loss goes unseen.
    It can block and is no evidence; a part that is large enough stays beside it.
    """
    grouped: dict[tuple[GateRowId, str], list[Compared]] = {}
    for one in found:
        grouped.setdefault((one.before.gate_row, one.kind), []).append(one)
    several = Counter(name for name, kind in grouped if kind not in AT_CHANCE.values())
    named: dict[str, list[Compared]] = {}
    for (name, kind), some in grouped.items():
        straight = STRAIGHT.get(kind, kind)
        label = name.part(straight) if several[name] > 1 else name
        both = [one for way in (straight, *_below_chance(straight)) for one in grouped.get((name, way), ())]
        if len(both) > len(some) and not _enough(some, rule) and _enough(both, rule):
            named[label.part(WHOLE)] = both
        else:
            named[name.part(kind) if kind in STRAIGHT else label] = some
    return named


def _below_chance(straight: str) -> list[str]:
    return [kind for kind, other in STRAIGHT.items() if other == straight]


def _enough(some: Sequence[Compared], rule: Rule) -> bool:
    clusters = {label for one in some for label in one.before.clusters}
    return sum(len(one.old) for one in some) >= rule.min_items and len(clusters) >= rule.min_clusters


def shared(first: Table, other: Table) -> tuple[Table, Table]:
    """Both tables on the items (id and texts) that they have in common, in the order of the first."""
    at = {pair: i for i, pair in enumerate(zip(other.items, other.texts, strict=True))}
    pairs = [(i, at[p]) for i, p in enumerate(zip(first.items, first.texts, strict=True)) if p in at]
    mine, theirs = np.array(pairs, np.intp).reshape(-1, 2).T
    return first.of(mine), other.of(theirs)


def alike(before: Table, after: Table) -> NDArray[np.bool_]:
    """Items whose scores agree within the noise of batch sizes and threads; of searches, whose ranks do; shape [n]."""
    if before.answers and after.answers:
        both = ([Answers.of(text).judged for text in table.answers] for table in (before, after))
        return np.array([old == new for old, new in zip(*both, strict=True)], bool)
    near = np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE)
    far = np.isnan(before.far) | np.isclose(before.far, after.far, rtol=0, atol=TOLERANCE)
    return np.asarray(near & far)


def pooled(
    found: Sequence[Compared], rule: Rule = DEFAULT, slices: Mapping[str, list[Compared]] | None = None
) -> list[Paired]:
    """One `Paired` a row, primary endpoints first and `slices` of them last; `rule` says how many items gate."""
    codes = {name: i for i, name in enumerate(sorted({c for one in found for c in one.before.clusters}))}
    pools = {one.before.data: one for one in found if one.metric is room}
    every = [*rows(found, rule).items(), *(slices or {}).items()]
    return [
        _pooled(name, some, codes, calibration_error(some, pools.get(some[0].before.data)))
        for name, some in sorted(every, key=lambda entry: BUDGETS.index(entry[1][0].budget))
    ]


def _pooled(name: str, some: Sequence[Compared], codes: Mapping[str, int], error: float) -> Paired:
    first = some[0]
    clusters = [codes[label] for one in some for label in one.before.clusters]
    old, new = (np.concatenate([getattr(one, side) for one in some]) for side in ("old", "new"))
    family, metric = declared_of(first.before).family, first.metric
    same, below = all(one.alike for one in some), {one.is_below_chance for one in some}
    guessed = _chance(some), len(below) > 1
    codes_of = np.array(clusters, np.intp)
    endpoint = "" if first.budget == "behaviour" else metric.label
    return Paired(name, family, metric.kind, old, new, codes_of, metric.delta, error, same, *guessed,
                  declared_of(first.before).proxy, first.budget, endpoint)  # fmt: skip


def _chance(some: Sequence[Compared]) -> float | None:
    """What guessing gets over all their items; None where that is not known of all."""
    known = [(one.chance, len(one.old)) for one in some if one.chance is not None]
    if len(known) < len(some):
        return None
    return sum(chance * n for chance, n in known) / sum(n for _, n in known)


def calibration_error(some: Sequence[Compared], pool: Compared | None = None) -> float:
    """What the finite pool of random pairs adds to the standard error of the change of these cases (delta method).

    Both models have the same pairs. Where they are seen (`pool`, the case of their room), the error is that of the
    paired difference, over their clusters. Elsewhere the models' errors add up as if they were independent, which is
    too much for two that agree on which pairs are nearer.
    """
    share = np.array([len(one.old) for one in some]) / sum(len(one.old) for one in some)
    old, new = share @ np.array([one.pulls for one in some])
    if not old and not new:
        return 0.0  # also where there is no scale
    before, after = some[0].scales
    clusters = np.unique(pool.before.clusters, return_inverse=True)[1] if pool else np.zeros(0, np.intp)
    count = len(np.unique(clusters))
    if pool is None or count < DEFAULT.min_clusters or not before.pairs == after.pairs > 0:
        return float(np.hypot(before.error(old), after.error(new)))
    moved = new * after.similarity(pool.after.near) - old * before.similarity(pool.before.near)
    error = stats.clustered_error(stats.influence(moved, clusters, count))
    return error * float(np.sqrt(len(moved) / before.pairs))  # a gate sees a part of the pool that calibrates

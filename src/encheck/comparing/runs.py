"""Runs side by side: paired differences on the items that they share, with intervals over clusters, and what flipped.

Reported, never judged: the gate (gate.py) is what decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from encheck.gating.balance import parts, win_rates
from encheck.gating.pairing import CHAINS, HEALTH, Table, alike, values
from encheck.gating.pairing import WHOLE_SETS as WHOLE
from encheck.gating.weighing import Side
from encheck.ids import ItemId
from encheck.scoring.scores import DECIMALS, Scale
from encheck.scoring.splits import TEST
from encheck.statistics.bootstrap import Resampler, interval
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]
FIGURES = {"triplet": "win", "turned": "symmetry", "labelled": "gap"}
WORDS = {
    "win": "share won", "chain": "share on top", "symmetry": "change when turned, negative", "gap": "calibrated gap",
    "similarity": "calibrated similarity", "room": "room", "spread": "unsteadiness, negative",
    "hubs": "unevenness, negative",
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """One case under two models, on the `n` items that both scored.

    `before` and `after` are the figure (its name in WORDS) under the first and the other model, `difference` their
    difference with its 95% interval over `clusters`. `lost` and `gained` are ids of items that flipped.
    """

    case: str
    claim: str
    check: str
    data: str
    level: str
    figure: str
    n: int
    clusters: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    lost: tuple[str, ...]
    gained: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves zero out, and rests on clusters enough to be one."""
        return not self.is_small and (self.low > 0 or self.high < 0)

    @property
    def is_small(self) -> bool:
        """Whether there are too few clusters to tell, as for a verdict."""
        return self.clusters < MIN_CLUSTERS


def compare_sides(
    first: Side, other: Side, *, seed: int = 0, epsilons: Mapping[str, float] = MappingProxyType({})
) -> list[Difference]:
    """A `Difference` for every case of which both sides scored the same items, at least two of them.

    An item is won by more than the `epsilons` of its case. What only has a figure of the whole set is left out.
    """
    found = []
    for case, table in first.tables.items():
        if case in other.tables and table.check not in WHOLE:
            before, after = shared(table, other.tables[case])
            if len(before.items) > 1:
                scales = (first.scales[table.data], other.scales[table.data])
                found.append(_difference(before, after, scales, epsilons.get(case, 0.0), seed))
    return found


def shared(first: Table, other: Table) -> tuple[Table, Table]:
    """Both tables on the items (id and texts) that they have in common, in the order of the first."""
    at = {pair: i for i, pair in enumerate(zip(other.items, other.texts, strict=True))}
    pairs = [(i, at[p]) for i, p in enumerate(zip(first.items, first.texts, strict=True)) if p in at]
    mine, theirs = np.array(pairs, np.intp).reshape(-1, 2).T
    return first.of(mine), other.of(theirs)


def in_common(several: Sequence[Mapping[str, Table]]) -> list[dict[str, Table]]:
    """Each model's tables, cut down to the cases and items (id and texts) that all the models have."""
    cases = [case for case in several[0] if all(case in tables for tables in several)]
    found: list[dict[str, Table]] = [{} for _ in several]
    for case in cases:
        pairs = [list(zip(tables[case].items, tables[case].texts, strict=True)) for tables in several]
        common = set(pairs[0]).intersection(*pairs[1:])
        for cut, tables, own in zip(found, several, pairs, strict=True):
            cut[case] = tables[case].of(np.array([i for i, pair in enumerate(own) if pair in common], np.intp))
    return found


def figure_values(table: Table, scale: Scale, *, epsilon: float = 0.0) -> tuple[str, Floats]:
    """The figure that tells of a case, and its value of each item; shape [n], larger is better but for similarities."""
    if table.check == "health" and table.claim in HEALTH:
        return HEALTH[table.claim], values(HEALTH[table.claim], table, scale)
    if table.kind == "pair":
        return "similarity", np.asarray(scale.similarity(table.near))
    figure = FIGURES[table.kind]
    if figure == "win" and epsilon:
        return figure, ((table.near - table.far).round(DECIMALS) / scale.unit > epsilon).astype(float)
    return figure, values(figure, table, scale)


def _difference(before: Table, after: Table, scales: tuple[Scale, Scale], epsilon: float, seed: int) -> Difference:
    if before.check in CHAINS:
        figure, (ids, clusters, old), (_, _, new) = "chain", *map(_chains, (before, after))
        same = old == new
    else:
        (figure, old), (_, new) = (
            figure_values(table, scale, epsilon=epsilon) for table, scale in zip((before, after), scales, strict=True)
        )
        ids, clusters, same = before.items, before.clusters, alike(before, after)
        if figure == "gap":  # what one item says of it depends on the others of its label
            same = np.full(len(same), same.all())
    moved = np.where(same, 0.0, new - old)
    resampler = Resampler(clusters, seed=seed)
    sums = resampler.totals(np.column_stack([moved, np.ones(len(moved))]))
    low, high = interval(sums[:, 0] / sums[:, 1])
    flips = [tuple(ids[i] for i in np.flatnonzero(moved == sign)) if figure == "win" else () for sign in (-1, 1)]
    return Difference(
        before.case, before.claim, before.check, before.data, before.level, figure, len(moved), resampler.clusters,
        float(old.mean()), float(new.mean()), float(moved.mean()), float(low), float(high), *flips,
    )  # fmt: skip


def _chains(table: Table) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
    """Ids, clusters, and what the paraphrase's place is worth: 1 on top, a share of 1 among equals, else 0.

    Of the part that the check measures: the test part where the data have one.
    """
    test = np.flatnonzero([split in TEST for split in table.splits])
    table = table.of(test) if len(test) else table
    margins = (table.near - table.far).round(DECIMALS)
    chains: dict[str, list[int]] = {}
    for i, item in enumerate(table.items):
        chains.setdefault(str(ItemId(item).chain), []).append(i)
    worth = [0.0 if (margins[at] < 0).any() else 1 / (1 + int((margins[at] == 0).sum())) for at in chains.values()]
    return tuple(chains), tuple(table.clusters[at[0]] for at in chains.values()), np.array(worth)


def behaviour(tables: Mapping[str, Table]) -> float | None:
    """The behavioural score: mean win rate of the checks that ask for sensitivity to meaning and order."""
    return parts(win_rates(tables)).get("sensitivity")


def names_of(models: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each (run, model): the model, with its run where two share it.

    >>> names_of([("a", "m"), ("b", "m"), ("b", "n")])
    ['m (a)', 'm (b)', 'n']
    """
    labels = [model for _, model in models]
    return [model if labels.count(model) == 1 else f"{model} ({run})" for run, model in models]

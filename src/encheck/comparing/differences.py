"""Paired differences of two models on the items that they share, of every case and of one row.

Reported, never judged: the gate is what decides.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.models import ComparedModel
from encheck.gating.decision import delta_of, has_headroom
from encheck.gating.pairing import (
    RANKS,
    ModelScores,
    chance_of,
    common_items,
    declared_of,
    itemwise_metric,
    unchanged_items,
)
from encheck.gating.types import DEFAULT, Paired
from encheck.ids import ItemId
from encheck.metrics import Metric, adjusted_rate, margin_rate, named
from encheck.run_file import Result
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.scoring.splits import TEST
from encheck.scoring.triplets import Triplet, surface_differences
from encheck.statistics.balancing import balancing_weights, effective
from encheck.statistics.hypothesis_tests import t_cdf
from encheck.statistics.sharing import Sharing, interval_of_mean, numbered, sharing_of
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CaseDifference:
    """One case under two models, on the `n` items that both scored.

    `before` and `after` are the metric `figure` under the first and the other model, `difference` their
    difference with its 95% interval over `clusters`. `lost` and `gained` are ids of items that flipped. `beats_chance`
    says whether the other model is shown to beat guessing: if not, a rise is no evidence.
    """

    case: str
    check: str
    property: str
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
    beats_chance: bool = True

    @builtins.property
    def is_clear(self) -> bool:
        """Whether the interval leaves zero out, rests on clusters enough to be one, and is evidence of anything."""
        return self._leaves_zero_out and not self.is_no_evidence

    @builtins.property
    def is_no_evidence(self) -> bool:
        """Whether the figure rose for certain, but not to where the model beats guessing: damage does that too."""
        return self._leaves_zero_out and self.low > 0 and not self.beats_chance

    @builtins.property
    def _leaves_zero_out(self) -> bool:
        return not self.is_small and (self.low > 0 or self.high < 0)

    @builtins.property
    def is_small(self) -> bool:
        """Whether there are too few clusters to tell, as for a verdict."""
        return self.clusters < MIN_CLUSTERS


def flips_count(d: CaseDifference) -> bool:
    """Whether the items of a case are won or lost, one by one."""
    metric = named(d.figure)
    return metric.kind == "rate" and metric.unit == "item"


def case_differences(
    first: ModelScores, other: ModelScores, *, epsilons: Mapping[str, float] = MappingProxyType({})
) -> list[CaseDifference]:
    """A `Difference` for every case of which both sides scored the same items, at least two of them.

    An item is won by more than the `epsilons` of its case. What only has a figure of the whole set is left out.
    """
    found = []
    for case, table in first.tables.items():
        metric = itemwise_metric(table)
        has_scale = metric is None or not metric.references or table.data in first.scales.keys() & other.scales.keys()
        if case in other.tables and metric and has_scale:
            before, after = map(measured_items, common_items(table, other.tables[case]))
            if len(before.items) > 1:
                scales = (first.scales.get(table.data, RANKS), other.scales.get(table.data, RANKS))
                found.append(_difference(metric, before, after, scales, epsilons.get(case, 0.0)))
    return found


def in_common(several: Sequence[Mapping[str, CaseScores]]) -> list[dict[str, CaseScores]]:
    """Each model's tables, cut down to the cases and items (id and texts) that all the models have."""
    cases = [case for case in several[0] if all(case in tables for tables in several)]
    found: list[dict[str, CaseScores]] = [{} for _ in several]
    for case in cases:
        pairs = [list(zip(tables[case].items, tables[case].texts, strict=True)) for tables in several]
        common = set(pairs[0]).intersection(*pairs[1:])
        for cut, tables, own in zip(found, several, pairs, strict=True):
            cut[case] = tables[case].of(np.array([i for i, pair in enumerate(own) if pair in common], np.intp))
    return found


def metric_values(metric: Metric[...], table: CaseScores, scale: Scale, *, epsilon: float = 0.0) -> Floats:
    """What each item says of a metric; shape [n]. With an `epsilon` an item is won by more than that."""
    if epsilon and metric.values and metric.kind == "rate":
        return metric.values(table, scale, epsilon=epsilon)
    return metric.per_item(table, scale)


def _difference(
    metric: Metric[...], before: CaseScores, after: CaseScores, scales: tuple[Scale, Scale], epsilon: float
) -> CaseDifference:
    old, new = (
        metric_values(metric, table, scale, epsilon=epsilon)
        for table, scale in zip((before, after), scales, strict=True)
    )
    same = unchanged(metric, before, after, old == new)
    heads = metric.heads(before)
    moved = np.where(same, 0.0, new - old)
    sharing = sharing_of(numbered(heads.things))
    ends = sharing.change_interval(moved) if metric.kind == "rate" else interval_of_mean(sharing.errors(moved))
    low, high = (0.0 if same.all() else end[0] for end in ends)
    is_won = metric.kind == "rate" and metric.unit == "item"
    lost, gained = (tuple(heads.items[i] for i in np.flatnonzero(moved == sign)) if is_won else () for sign in (-1, 1))
    return CaseDifference(
        before.case, before.check, before.property, before.data, before.level, metric.name, len(moved),
        counted_clusters(sharing), float(old.mean()), float(new.mean()), float(moved.mean()), float(low), float(high),
        lost, gained, beats_chance(heads, metric, old, new),
    )  # fmt: skip


def counted_clusters(sharing: Sharing) -> int:
    """How many clusters the items are worth; too few to tell where their interval is withheld."""
    return min(sharing.independent, MIN_CLUSTERS - 1) if sharing.withheld else sharing.independent


def beats_chance(heads: CaseScores, metric: Metric[...], before: Floats, after: Floats) -> bool:
    """Whether a model with the values `after` [n] is shown to beat guessing, by the gate's rule for headroom.

    `heads` has a row for each value. Where guessing gets no known figure, a rate has to be above 0.
    """
    one = Paired(
        heads.case, declared_of(heads).family, "rate" if metric.kind == "rate" else "mean", before, after,
        numbered(heads.things),
        delta=metric.delta, chance=chance_of(heads, metric),
    )  # fmt: skip
    return has_headroom(replace(one, baseline=after), delta_of(one, DEFAULT))


def unchanged(
    metric: Metric[...], before: CaseScores, after: CaseScores, equal: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Items that have not changed; all or none where what one says of a metric depends on other items."""
    if metric.unit == "chain":
        return equal
    same = unchanged_items(before, after)
    return np.full(len(same), same.all()) if metric.contrast else same


def measured_items(table: CaseScores) -> CaseScores:
    """The part that the check measures: the test part alone, where it declares so and the data have one."""
    test = np.flatnonzero([split in TEST for split in table.splits])
    return table.of(test) if len(test) and declared_of(table).part == "test" else table


@dataclass(frozen=True, slots=True)
class PairedChange:
    """A figure under two models on the same `n` items of `clusters` clusters, with the 95% interval of the difference.

    `p` is two-sided, of no difference at all: 1 where no item changed, or where there are too few clusters to tell.
    `beats_chance` says whether the other model is shown to beat guessing, by the gate's rule: if not, a rise is no
    evidence, since damage raises what is below chance.
    """

    n: int
    clusters: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    beats_chance: bool = True


def paired_change(
    row: Result, first: ComparedModel, other: ComparedModel, *, epsilon: float = 0.0
) -> PairedChange | None:
    """How `other` differs from `first` in the figure of a row of results.json.

    Of an adjusted rate the differences of the items are weighed as the rate weighs the items: the weights come from the
    texts, so both models have the same. None where fewer than two items are shared, or no item has a part in it.
    """
    case = row.case.of_any_model
    metric = named(row.metric or "")
    is_adjusted = metric.base == adjusted_rate.name
    metric = margin_rate if is_adjusted else metric
    if metric.values is None or not all(case in model.side.tables for model in (first, other)):
        return None
    before, after = map(measured_items, common_items(first.side.tables[case], other.side.tables[case]))
    if len(before.items) < 2:
        return None
    heads = metric.heads(before)
    weights = _weights(heads, first, row) if is_adjusted else np.ones(len(heads.items))
    if not np.isfinite(weights).all():
        return None
    old, new = (_values(metric, table, model, epsilon) for table, model in ((before, first), (after, other)))
    same = unchanged(metric, before, after, old == new)
    moved = np.where(same, 0.0, new - old)
    found = _change(old, moved, weights, heads, is_rate=metric.kind == "rate", is_adjusted=is_adjusted)
    if same.all():
        found = replace(found, low=0.0, high=0.0)
    ends = ((old, found.before), (old + moved, found.after))
    weighted = [mean + weights / weights.mean() * (values - mean) for values, mean in ends]
    return replace(found, beats_chance=beats_chance(heads, metric, *weighted))


def _values(metric: Metric[...], table: CaseScores, model: ComparedModel, epsilon: float) -> Floats:
    return metric_values(metric, table, model.side.scales.get(table.data, RANKS), epsilon=epsilon)


def _weights(table: CaseScores, model: ComparedModel, row: Result) -> Floats:
    """The weights of the adjusted rate over these items; shape [n], NaN where none balance the surface."""
    columns = model.items[str(replace(row.case, model=model.label))]
    at = {item: i for i, item in enumerate(columns["item"])}
    triplets = [
        Triplet(ItemId(item), columns["source"][at[item]], columns["near"][at[item]], columns["far"][at[item]], "")
        for item in table.items
    ]
    return balancing_weights(surface_differences(triplets))


def _change(
    old: Floats, moved: Floats, weights: Floats, heads: CaseScores, *, is_rate: bool, is_adjusted: bool
) -> PairedChange:
    """The change, by what the items share; of weighted items by what each adds to the weighted mean."""
    sharing = sharing_of(numbered(heads.things))
    before, difference = (float(weights @ values / weights.sum()) for values in (old, moved))
    found = sharing.errors(difference + weights / weights.mean() * (moved - difference))
    ends = sharing.change_interval(moved) if is_rate and not is_adjusted else interval_of_mean(found)
    low, high = (float(end[0]) for end in ends)
    clusters = counted_clusters(sharing)
    if is_adjusted:
        codes = np.unique(heads.clusters, return_inverse=True)[1].reshape(-1)
        clusters = min(clusters, math.floor(effective(weights, codes) + 1e-9))
    p = _p(difference, float(found.error[0]), found.free, clusters)
    return PairedChange(len(moved), clusters, before, before + difference, difference, low, high, p)


def _p(difference: float, error: float, free: float, clusters: int) -> float:
    """Two-sided p of no difference, by Student's t."""
    if clusters < MIN_CLUSTERS or not difference:
        return 1.0
    return float(2 * t_cdf(-abs(difference) / error, free)) if error else 0.0

"""Pair two models on the items that they share, and compute their difference in each case.

The differences are only reported. The gate alone turns differences into a verdict.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from encheck.gating.pairing import NO_CALIBRATION, ModelScores, common_items, metric_for_item_comparison
from encheck.gating.reference import (
    beats_chance,
    effective_clusters,
    metric_values,
    select_measured_items,
    unchanged_values,
)
from encheck.metrics import Metric, find_metric
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics.sharing import cached_sharing, mean_interval, number_units
from encheck.verdict import MIN_CLUSTERS


@dataclass(frozen=True)
class CaseDifference:
    """A case under two models, on the `n` items that both models scored.

    `before` and `after` are the value of `figure` under the first and the other model. `difference` is after - before,
    with its 95% interval over `clusters`. `lost` and `gained` are the ids of items that the other model no longer wins,
    or newly wins. `beats_chance` says whether the other model is shown to beat guessing; without that, a rise is no
    evidence.
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
        """Whether the interval excludes zero, rests on enough clusters, and counts as evidence."""
        return self._leaves_zero_out and not self.is_no_evidence

    @builtins.property
    def is_no_evidence(self) -> bool:
        """Whether the figure certainly rose although the model does not beat guessing. Damage can also raise such a
        figure.
        """
        return self._leaves_zero_out and self.low > 0 and not self.beats_chance

    @builtins.property
    def _leaves_zero_out(self) -> bool:
        return not self.is_small and (self.low > 0 or self.high < 0)

    @builtins.property
    def is_small(self) -> bool:
        """Whether the case has too few clusters for a verdict."""
        return self.clusters < MIN_CLUSTERS


def has_item_flips(d: CaseDifference) -> bool:
    """Return whether the case judges each item as won or lost."""
    metric = find_metric(d.figure)
    return metric.kind == "rate" and metric.unit == "item"


def case_differences(
    first: ModelScores, other: ModelScores, *, epsilons: Mapping[str, float] = MappingProxyType({})
) -> list[CaseDifference]:
    """Return a `CaseDifference` for every case in which both models scored at least two of the same items.

    A model wins an item if its margin exceeds the case's value in `epsilons`. Cases whose only figure is computed from
    the whole data set are left out.
    """
    found = []
    for case, table in first.tables.items():
        metric = metric_for_item_comparison(table)
        has_scale = metric is None or not metric.references or table.data in first.scales.keys() & other.scales.keys()
        if case in other.tables and metric and has_scale:
            before, after = map(select_measured_items, common_items(table, other.tables[case]))
            if len(before.items) > 1:
                scales = (first.scales.get(table.data, NO_CALIBRATION), other.scales.get(table.data, NO_CALIBRATION))
                found.append(_case_difference(metric, before, after, scales, epsilons.get(case, 0.0)))
    return found


def common_tables(several: Sequence[Mapping[str, CaseScores]]) -> list[dict[str, CaseScores]]:
    """Return each model's tables, cut to the cases and items (id and texts) that all models have."""
    cases = [case for case in several[0] if all(case in tables for tables in several)]
    found: list[dict[str, CaseScores]] = [{} for _ in several]
    for case in cases:
        pairs = [list(zip(tables[case].items, tables[case].texts, strict=True)) for tables in several]
        common = set(pairs[0]).intersection(*pairs[1:])
        for cut, tables, own in zip(found, several, pairs, strict=True):
            cut[case] = tables[case].select(np.array([i for i, pair in enumerate(own) if pair in common], np.intp))
    return found


def _case_difference(
    metric: Metric[...], before: CaseScores, after: CaseScores, scales: tuple[Scale, Scale], epsilon: float
) -> CaseDifference:
    old, new = (
        metric_values(metric, table, scale, epsilon=epsilon)
        for table, scale in zip((before, after), scales, strict=True)
    )
    same = unchanged_values(metric, before, after, old == new)
    heads = metric.value_rows(before)
    moved = np.where(same, 0.0, new - old)
    sharing = cached_sharing(number_units(heads.shared_units))
    ends = sharing.change_interval(moved) if metric.kind == "rate" else mean_interval(sharing.estimate_errors(moved))
    low, high = (0.0 if same.all() else end[0] for end in ends)
    is_won = metric.kind == "rate" and metric.unit == "item"
    lost, gained = (tuple(heads.items[i] for i in np.flatnonzero(moved == sign)) if is_won else () for sign in (-1, 1))
    return CaseDifference(
        before.case, before.check, before.property, before.data, before.level, metric.name, len(moved),
        effective_clusters(sharing), float(old.mean()), float(new.mean()), float(moved.mean()), float(low), float(high),
        lost, gained, beats_chance(heads, metric, old, new),
    )  # fmt: skip

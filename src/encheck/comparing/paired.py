"""The figure of one row under two models, on the items that both scored, and how certain the difference is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.models import Model
from encheck.comparing.runs import beats_chance, measured, metric_values, unchanged
from encheck.gating.baseline import case_of
from encheck.gating.endpoints import RANKS
from encheck.gating.pairing import shared
from encheck.ids import CaseId, ItemId
from encheck.metrics import Metric, adjusted_rate, margin_rate, named
from encheck.scoring.differences import differences
from encheck.scoring.table import Table
from encheck.statistics.balancing import balancing_weights, effective
from encheck.statistics.bootstrap import Resampler, interval
from encheck.statistics.paired import t_cdf
from encheck.types import Triplet
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Change:
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


def change(row: Mapping[str, Any], first: Model, other: Model, *, epsilon: float = 0.0, seed: int = 0) -> Change | None:
    """How `other` differs from `first` in the figure of a row of results.json.

    Of an adjusted rate the differences of the items are weighed as the rate weighs the items: the weights come from the
    texts, so both models have the same. None where fewer than two items are shared, or no item has a part in it.
    """
    case = case_of(row)
    is_adjusted = named(row["metric"]).base == adjusted_rate.name
    metric = margin_rate if is_adjusted else named(row["metric"])
    if metric.values is None or not all(case in model.side.tables for model in (first, other)):
        return None
    before, after = map(measured, shared(first.side.tables[case], other.side.tables[case]))
    if len(before.items) < 2:
        return None
    heads = metric.heads(before)
    weights = _weights(heads, first, row) if is_adjusted else np.ones(len(heads.items))
    if not np.isfinite(weights).all():
        return None
    old, new = (_values(metric, table, model, epsilon) for table, model in ((before, first), (after, other)))
    moved = np.where(unchanged(metric, before, after, old == new), 0.0, new - old)
    found = _change(old, moved, weights, Resampler(heads.clusters, seed=seed), is_adjusted=is_adjusted)
    ends = ((old, found.before), (old + moved, found.after))
    weighted = [mean + weights / weights.mean() * (values - mean) for values, mean in ends]
    return replace(found, beats_chance=beats_chance(heads, metric, *weighted))


def _values(metric: Metric[...], table: Table, model: Model, epsilon: float) -> Floats:
    return metric_values(metric, table, model.side.scales.get(table.data, RANKS), epsilon=epsilon)


def _weights(table: Table, model: Model, row: Mapping[str, Any]) -> Floats:
    """The weights of the adjusted rate over these items; shape [n], NaN where none balance the surface."""
    columns = model.items[str(CaseId(row["check"], model.label, row["data"], str(row["level"])))]
    at = {item: i for i, item in enumerate(columns["item"])}
    triplets = [
        Triplet(ItemId(item), columns["source"][at[item]], columns["near"][at[item]], columns["far"][at[item]], "")
        for item in table.items
    ]
    return balancing_weights(differences(triplets))


def _change(old: Floats, moved: Floats, weights: Floats, resampler: Resampler, *, is_adjusted: bool) -> Change:
    sums = resampler.totals(np.column_stack([weights * moved, weights]))
    replicates = sums[:, 0] / sums[:, 1]
    low, high = map(float, interval(replicates))
    before, difference = (float(weights @ values / weights.sum()) for values in (old, moved))
    clusters = resampler.clusters
    if is_adjusted:
        clusters = min(clusters, math.floor(effective(weights, resampler.columns) + 1e-9))
    p = _p(difference, float(np.nanstd(replicates)), clusters)
    return Change(len(moved), clusters, before, before + difference, difference, low, high, p)


def _p(difference: float, error: float, clusters: int) -> float:
    """Two-sided p of no difference, by Student's t with the bootstrap's standard error."""
    if clusters < MIN_CLUSTERS or not difference:
        return 1.0
    return float(2 * t_cdf(-abs(difference) / error, clusters - 1)) if error else 0.0

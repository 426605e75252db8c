"""The figure of one row under two models, on the items that both scored, and how certain the difference is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.models import Model
from encheck.comparing.runs import beats_chance, clusters_told, measured, metric_values, unchanged
from encheck.gating.endpoints import RANKS
from encheck.gating.pairing import shared
from encheck.ids import ItemId
from encheck.metrics import Metric, adjusted_rate, margin_rate, named
from encheck.run_file import Result
from encheck.scoring.frame import CaseScores
from encheck.scoring.triplets import Triplet, surface_differences
from encheck.statistics.balancing import balancing_weights, effective
from encheck.statistics.paired import t_cdf
from encheck.statistics.sharing import interval_of_mean, numbered, sharing_of
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


def change(row: Result, first: Model, other: Model, *, epsilon: float = 0.0) -> Change | None:
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
    before, after = map(measured, shared(first.side.tables[case], other.side.tables[case]))
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


def _values(metric: Metric[...], table: CaseScores, model: Model, epsilon: float) -> Floats:
    return metric_values(metric, table, model.side.scales.get(table.data, RANKS), epsilon=epsilon)


def _weights(table: CaseScores, model: Model, row: Result) -> Floats:
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
) -> Change:
    """The change, by what the items share; of weighted items by what each adds to the weighted mean."""
    sharing = sharing_of(numbered(heads.things))
    before, difference = (float(weights @ values / weights.sum()) for values in (old, moved))
    found = sharing.errors(difference + weights / weights.mean() * (moved - difference))
    ends = sharing.change_interval(moved) if is_rate and not is_adjusted else interval_of_mean(found)
    low, high = (float(end[0]) for end in ends)
    clusters = clusters_told(sharing)
    if is_adjusted:
        codes = np.unique(heads.clusters, return_inverse=True)[1].reshape(-1)
        clusters = min(clusters, math.floor(effective(weights, codes) + 1e-9))
    p = _p(difference, float(found.error[0]), found.free, clusters)
    return Change(len(moved), clusters, before, before + difference, difference, low, high, p)


def _p(difference: float, error: float, free: float, clusters: int) -> float:
    """Two-sided p of no difference, by Student's t."""
    if clusters < MIN_CLUSTERS or not difference:
        return 1.0
    return float(2 * t_cdf(-abs(difference) / error, free)) if error else 0.0

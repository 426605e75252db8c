"""Estimate the rate of triplets that a model would win if the surface favoured neither text.

One of two edits of a sentence may keep more of its words, their order or its length. Then a scorer that uses only the
surface wins or loses by the construction of the texts, whatever the edits mean. The adjusted rate weights the triplets
so that every surface difference is symmetric about zero (`statistics.balancing`). Under these weights, a scorer that
uses only these differences wins one half. The weights do not balance negations and the position of the change. So rival
scorers that use these are shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import estimate_from_replicates, metric, safe_ratio
from encheck.metrics.pairs import margin_wins
from encheck.scoring.scores import MarginScores
from encheck.scoring.triplets import EDIT_DISTANCE_COLUMN, SURFACE_DIFFERENCES, surface_differences
from encheck.statistics.balancing import balancing_weights, effective_clusters, remaining_imbalance, weighted_imbalance
from encheck.statistics.bootstrap import widen_share_interval
from encheck.surface import UNBALANCED_SCORERS
from encheck.types import Estimate

Floats = NDArray[np.float64]
MIN_SIDE = 20  # fewest clusters on the smaller side of a difference
SOME = 0.1  # a difference in at least this share of items has to have both signs
UNBALANCED = 0.1  # of a standardised difference; the common limit for balance (Austin 2009, Stat. Med. 28)
HALF = 0.5  # the rate of the surface alone under the weights
STRATA = {1: "kept", -1: "changed", 0: "tie"}


@dataclass(frozen=True)
class Stratum:
    """The triplets whose surface, by token edit distance, favours the kept text, the changed text, or neither.

    `weight` is the stratum's share in the adjusted rate; NaN if there is no adjusted rate.
    """

    name: str
    rate: float
    n: int
    clusters: int
    weight: float


@metric(chance=0.5, label="adjusted share won", whole="its weights are those of a whole set")
def adjusted_rate(scores: MarginScores, *, epsilon: float = 0.0) -> Estimate:
    """Return the share won under weights that balance every surface difference about zero; a tie counts as one half.

    The interval resamples clusters with fixed weights, and is widened by the remaining imbalance. `clusters` is the
    effective number of clusters under the weights (Kish). The params have the strata. There is no estimate if a
    difference has fewer than 20 clusters on its smaller side, or if no weights balance it; then `missing` has the
    reason.
    """
    wins, found = margin_wins(scores.margins, epsilon), surface_differences(scores.items)
    missing = one_sided_message(found, scores)
    weights = balancing_weights(found) if not missing else np.full(len(wins), math.nan)
    missing = missing or imbalance_message(found, weights)
    params = {"epsilon": epsilon}
    for s in rates_by_stratum(scores, wins, found, weights):
        named = {what: float(getattr(s, what)) for what in ("rate", "n", "clusters", "weight")}
        params |= {f"{s.name}_{what}": value for what, value in named.items() if not math.isnan(value)}
    if missing:
        n, clusters = len(wins), scores.resampler.clusters
        return Estimate("adjusted_rate", math.nan, math.nan, math.nan, n, clusters, params=params, missing=missing)
    estimate = _weighted_rate(scores, wins, weights, slack=remaining_imbalance(found, weights))
    beside = {name: one for name, one in scores.surface.items() if name in UNBALANCED_SCORERS}
    rivals = {
        name: _weighted_rate(one, margin_wins(one.margins, epsilon), weights, slack=0.0) for name, one in beside.items()
    }
    return replace(estimate, params={**params, "meaning": meaning_in_words(estimate, rivals)})


def meaning_in_words(estimate: Estimate, rivals: Mapping[str, Estimate] = MappingProxyType({})) -> str:
    """Return in words whether the adjusted rate shows that the model detects meaning.

    It does if the whole interval is above one half and above each rival. `rivals` are rates, under the same weights, of
    scorers that use features that the weights do not balance. A rival counts if its own interval is above one half; the
    best of these is named.
    """
    if estimate.missing:
        return f"undecided, {estimate.missing}"
    if estimate.low <= HALF:
        return "reversed" if estimate.high < HALF else "not separable from the surface"
    rates = {name: rival.value for name, rival in rivals.items() if rival.low > HALF and rival.value >= estimate.low}
    best = max(rates, key=rates.__getitem__, default=None)
    return f"not separable from {best}, which has {rates[best]:.2f}" if best else "detected"


def _weighted_rate(scores: MarginScores, wins: Floats, weights: Floats, *, slack: float) -> Estimate:
    """Return the weighted rate; its interval is widened by the remaining imbalance."""
    value = float(weights @ wins / weights.sum())
    totals = scores.resampler.replicate_totals(np.column_stack([weights * (wins - value), weights]))
    estimate = estimate_from_replicates("adjusted_rate", scores, value, safe_ratio(totals[:, 0], totals[:, 1]) + value)
    clusters = min(math.floor(effective_clusters(weights, scores.resampler.columns) + 1e-9), scores.resampler.clusters)
    low, high = widen_share_interval(value, estimate.low, estimate.high, n=clusters, clusters=clusters)
    return replace(estimate, low=max(low - slack, 0.0), high=min(high + slack, 1.0), clusters=clusters)


def one_sided_message(surface_differences: Floats, scores: MarginScores) -> str:
    """Return a message on a difference with too few clusters on its smaller side; empty if none has too few."""
    for name, column in zip(SURFACE_DIFFERENCES, surface_differences.T, strict=True):
        kept, changed = (scores.resampler.select(np.flatnonzero(side)).clusters for side in (column > 0, column < 0))
        if (column != 0).mean() >= SOME and min(kept, changed) < MIN_SIDE:
            return (
                f"the surface is too one-sided: {name} favours the kept text in {kept} clusters and the changed text "
                f"in {changed}, but should favour each in at least {MIN_SIDE}"
            )
    return ""


def imbalance_message(surface_differences: Floats, weights: Floats) -> str:
    """Return a message on a difference that the weights do not balance; empty if all are balanced or there are no
    weights.
    """
    left = weighted_imbalance(surface_differences, weights)
    worst = int(np.argmax(np.nan_to_num(left)))
    if not left[worst] > UNBALANCED:
        return ""
    return (
        f"the surface is too one-sided: no weights balance {SURFACE_DIFFERENCES[worst]} (the remaining imbalance is "
        f"{left[worst]:.2f} of its size, but should be at most {UNBALANCED:g})"
    )


def rates_by_stratum(
    scores: MarginScores, wins: Floats, surface_differences: Floats, weights: Floats
) -> Iterator[Stratum]:
    """Yield the rate of each stratum that has triplets."""
    sides = np.sign(surface_differences[:, EDIT_DISTANCE_COLUMN])
    for side, name in STRATA.items():
        chosen = np.flatnonzero(sides == side)
        if len(chosen):
            clusters = scores.resampler.select(chosen).clusters
            share = float(weights[chosen].sum() / weights.sum())
            yield Stratum(name, float(wins[chosen].mean()), len(chosen), clusters, share)

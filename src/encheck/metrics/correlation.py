"""Spearman or Pearson correlation of scores with graded similarity.

Papers report SemEval's STS tasks in three ways: one correlation over all pairs ("all"), the mean of the correlations of
the sets ("mean"), and that mean with each set weighted by its number of pairs ("weighted mean"). The three differ by
several points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import estimate_from_replicates, metric, near_scores
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import PairScores
from encheck.statistics.bootstrap import MANY_ITEMS, Resampler
from encheck.types import Estimate

Floats = NDArray[np.float64]
Weights = NDArray[np.float32]
WHOLE = "a correlation has no value per item"
Correlate = Callable[[Floats, Floats, Weights], Floats]


def spearman_pseudo_values(table: CaseScores, scores: Floats) -> Floats:
    """Return each graded pair's pseudo-value of Spearman's correlation of `scores` with human scores; shape [n].

    A pseudo-value is the correlation plus n times the pair's influence on the correlation (the infinitesimal
    jackknife). So the mean of the values is the correlation, and the error of the mean is the error of the correlation.
    If all scores are equal, the values are 0.
    """
    gold = np.array(table.gold, float)
    value = float(weighted_spearman(scores, gold, np.ones((1, len(scores)), np.float32))[0])
    if np.isnan(value):
        return np.zeros(len(scores))
    return value + len(scores) * _spearman_influence(centred_ranks(scores), centred_ranks(gold))


@metric(
    values=near_scores, contrast=spearman_pseudo_values, chance=0.0, label="Spearman",
    reported="a correlation is of all pairs together: it decides with --for similarity",
)  # fmt: skip
def spearman(scores: PairScores) -> Estimate:
    """Return the correlation of the ranks; ties have their mean rank. It is NaN if scores or gold do not vary."""
    return _correlation_of_all("spearman", scores, weighted_spearman)


@metric(chance=0.0, label="Pearson", whole=WHOLE)
def pearson(scores: PairScores) -> Estimate:
    """Return the linear correlation. It depends on the shape of the score's scale, so it gives no verdict."""
    return _correlation_of_all("pearson", scores, weighted_pearson)


@metric(chance=0.0, label="mean Spearman", whole=WHOLE)
def mean_spearman(scores: PairScores) -> Estimate:
    """Return the unweighted mean of the sets' Spearman correlations. The split of a pair names its set."""
    return _mean_over_sets("mean_spearman", scores, weighted_spearman)


@metric(chance=0.0, label="mean Pearson", whole=WHOLE)
def mean_pearson(scores: PairScores) -> Estimate:
    """Return the unweighted mean of the sets' Pearson correlations."""
    return _mean_over_sets("mean_pearson", scores, weighted_pearson)


@metric(chance=0.0, label="weighted mean Spearman", whole=WHOLE)
def weighted_mean_spearman(scores: PairScores) -> Estimate:
    """Return the mean of the sets' Spearman correlations, weighted by their numbers of pairs: SentEval's "wmean"."""
    return _mean_over_sets("weighted_mean_spearman", scores, weighted_spearman, by_size=True)


@metric(chance=0.0, label="weighted mean Pearson", whole=WHOLE)
def weighted_mean_pearson(scores: PairScores) -> Estimate:
    """Return the mean of the sets' Pearson correlations, weighted by numbers of pairs: SemEval's "weighted mean"."""
    return _mean_over_sets("weighted_mean_pearson", scores, weighted_pearson, by_size=True)


def scores_by_set(scores: PairScores) -> dict[str, PairScores]:
    """Return the scores of each set, in the order of their names."""
    names = scores.splits
    return {name: scores.select(np.flatnonzero(names == name)) for name in sorted(set(names))}


def figures_by_set(scores: PairScores) -> Iterator[Estimate]:
    """Yield both correlations of each set, if there are several sets. The name of the set follows the metric's name."""
    result = scores_by_set(scores)
    for name, part in result.items() if len(result) > 1 else ():
        for estimate in (spearman(part), pearson(part)):
            yield replace(estimate, metric=f"{estimate.metric}_{name}")


def _correlation_of_all(name: str, scores: PairScores, correlate: Correlate) -> Estimate:
    value, replicates = _correlate_with_replicates(scores, correlate)
    return estimate_from_replicates(name, scores, value, replicates)


def _mean_over_sets(name: str, scores: PairScores, correlate: Correlate, *, by_size: bool = False) -> Estimate:
    parts = scores_by_set(scores)
    result = [_correlate_with_replicates(part, correlate) for part in parts.values()]
    shortest = min(len(replicates) for _, replicates in result)
    sizes = [len(part.values) if by_size else 1 for part in parts.values()]
    replicates = np.average([replicates[:shortest] for _, replicates in result], axis=0, weights=sizes)
    estimate = estimate_from_replicates(
        name, scores, float(np.average([value for value, _ in result], weights=sizes)), replicates
    )
    return replace(estimate, params={"sets": len(parts)})


def _correlate_with_replicates(scores: PairScores, correlate: Correlate) -> tuple[float, Floats]:
    gold, once = scores.gold, np.ones((1, len(scores.values)), np.float32)
    value = float(correlate(scores.values, gold, once)[0])
    return value, _replicates(scores.values, gold, scores.resampler, correlate)


def _replicates(values: Floats, gold: Floats, resampler: Resampler, correlate: Correlate) -> Floats:
    if len(values) > MANY_ITEMS:
        first, second = (centred_ranks(side) if correlate is weighted_spearman else side for side in (values, gold))
        influence = _spearman_influence if correlate is weighted_spearman else _pearson_influence
        value = float(correlate(values, gold, np.ones((1, len(values)), np.float32))[0])
        moved: Floats = value + resampler.replicate_totals(influence(first, second)[:, None])[:, 0]
        return moved
    return np.concatenate([correlate(values, gold, weights) for weights in resampler.item_weights()])


def centred_ranks(values: Floats) -> Floats:
    """Return the mean rank of each value minus the mean of all ranks, shape [n]."""
    result: Floats = _centre_weighted_ranks(values, np.ones((1, len(values)), np.float32))[0]
    return result


def _pearson_influence(first: Floats, second: Floats) -> Floats:
    """Return how much Pearson's correlation changes when an item is drawn once more: its influence function / n."""
    x, y = first - first.mean(), second - second.mean()
    both, one, other = (x * y).sum(), (x * x).sum(), (y * y).sum()
    root = np.sqrt(one * other)
    with np.errstate(invalid="ignore", divide="ignore"):
        moves: Floats = x * y / root - both / root * (x * x / one + y * y / other) / 2
    return moves


def _spearman_influence(first: Floats, second: Floats) -> Floats:
    """Return how much Spearman's correlation changes when an item is drawn once more, from centred ranks.

    A repeated item also moves the ranks of all items above it.
    """
    both, one, other = (first * second).sum(), (first * first).sum(), (second * second).sum()
    root = np.sqrt(one * other)
    moved = first * second + _weight_of_higher_values(first, second) + _weight_of_higher_values(second, first)
    squares = [
        (side * side + 2 * _weight_of_higher_values(side, side), whole)
        for side, whole in ((first, one), (second, other))
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        moves: Floats = moved / root - both / root * sum(square / whole for square, whole in squares) / 2
    return moves


def _weight_of_higher_values(values: Floats, weights: Floats) -> Floats:
    """Return for each item the sum of the `weights` above it, plus half of the weights tied with it; shape [n]."""
    order = np.argsort(values, kind="stable")
    is_new = np.r_[True, np.diff(values[order]) != 0]
    sums = np.add.reduceat(weights[order], np.flatnonzero(is_new))
    result = np.empty(len(values))
    result[order] = (sums.sum() - np.cumsum(sums) + sums / 2)[np.cumsum(is_new) - 1]
    return result


def weighted_pearson(first: Floats, second: Floats, weights: Weights) -> Floats:
    """Return the correlation of `first` and `second` [n] with each row of `weights` [replicates, n]; shape
    [replicates].
    """
    return _correlation(_centre_by_weighted_mean(first, weights), _centre_by_weighted_mean(second, weights), weights)


def weighted_spearman(first: Floats, second: Floats, weights: Weights) -> Floats:
    """Return Spearman's correlation of `first` and `second` [n] in samples that hold item i `weights[r, i]` times.

    The shape is [replicates]. A bootstrap replicate equals scipy's result on its sample, including ties.
    """
    return _correlation(_centre_weighted_ranks(first, weights), _centre_weighted_ranks(second, weights), weights)


def _centre_by_weighted_mean(values: Floats, weights: Weights) -> Floats:
    about = values - values.mean()  # avoids rounding in sums
    total = weights.sum(axis=1, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred: Floats = about - ((weights @ about) / total)[:, None]
    return centred


def _centre_weighted_ranks(values: Floats, weights: Weights) -> Floats:
    """Return the mean rank of each item minus the mean of all ranks; shape [replicates, n]."""
    order = np.argsort(values, kind="stable")
    is_new = np.r_[True, np.diff(values[order]) != 0]
    step = np.empty(len(values), np.intp)
    step[order] = np.cumsum(is_new) - 1
    weight = np.add.reduceat(weights[:, order].astype(np.float64), np.flatnonzero(is_new), axis=1)
    middle = np.cumsum(weight, axis=1) - weight / 2
    ranks: Floats = (middle - weight.sum(axis=1, keepdims=True) / 2)[:, step]
    return ranks


def _correlation(first: Floats, second: Floats, weights: Weights) -> Floats:
    """Return the correlation of two centred arrays under each row of `weights`; NaN if one of the two does not vary.

    Rounding residue of a constant does not count as variation.
    """
    both = (first * second * weights).sum(axis=1)
    squares = [(side * side * weights).sum(axis=1) for side in (first, second)]
    varies = np.minimum(*squares) > 1e-18 * weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = np.where(varies, both / np.sqrt(squares[0] * squares[1]), np.nan)
    return result

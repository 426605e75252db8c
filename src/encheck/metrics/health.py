"""Figures of the checks on retrieval, health and contracts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.pairs import figure, margin_rate
from encheck.scoring.scores import MarginScores, PairScores
from encheck.statistics.bootstrap import interval
from encheck.types import Estimate

Floats = NDArray[np.float64]
ENOUGH = 1e-6  # of the way from unrelated to identical text


def recall_at_1(scores: MarginScores) -> Estimate:
    """Share of queries whose own text is nearer than every other one; a tie is no find."""
    found = margin_rate(scores)
    lexical = replace(found.lexical, metric="recall_at_1", curve=(), params={}) if found.lexical else None
    return replace(found, metric="recall_at_1", curve=(), params={}, lexical=lexical)


@figure
def room(scores: PairScores) -> Estimate:
    """How far identical text is from random pairs, on the scorer's own scale: identity less their mean similarity."""
    return _mean("room", scores, scores.scale.identity - scores.values)


@figure
def steadiness(scores: PairScores) -> Estimate:
    """1 less the standard deviation of random pairs on the calibrated scale: wide noise hides what is near."""
    values = scores.scale.similarity(scores.values)
    columns = np.column_stack([values, values**2, np.ones_like(values)])
    first, second, n = scores.resampler.totals(columns).T
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = 1 - np.sqrt(np.maximum(second / n - (first / n) ** 2, 0))
    return _estimate("steadiness", scores, 1 - float(values.std()), replicates)


@figure
def evenness(scores: PairScores) -> Estimate:
    """1 less the Robin Hood index of the k-occurrence (Feldbauer et al. 2018, section 2): 1 where no text is a hub."""
    return _mean("evenness", scores, 1 - np.abs(scores.values / max(float(scores.values.mean()), 1e-9) - 1) / 2)


@figure
def hubness(scores: PairScores) -> Estimate:
    """Skewness of the k-occurrence (Radovanovic et al. 2010, equation 1): 0 where no text is in too many answers."""
    centred = scores.values - scores.values.mean()
    table = np.column_stack([np.ones_like(centred), centred, centred**2, centred**3])
    value = _skewness(table.sum(axis=0, keepdims=True))[0]
    return _estimate("hubness", scores, float(value), _skewness(scores.resampler.totals(table)))


def _skewness(t: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square, cube = (t[:, i] / t[:, 0] for i in (1, 2, 3))
        variance = square - mean**2
        result: Floats = (cube - 3 * mean * square + 2 * mean**3) / np.where(variance > 1e-12, variance, np.nan) ** 1.5
    return result


def unseen(scores: PairScores) -> Estimate:
    """Share of the texts that no query has among its ten nearest (antihubs, Radovanovic et al. 2010, section 5)."""
    return _mean("unseen", scores, (scores.values == 0).astype(float))


def kept(scores: PairScores) -> Estimate:
    """Share of the items where the contract holds. No interval: what a contract excludes must not happen once."""
    return _whole("contract_kept", scores, scores.values)


def ends_seen(scores: PairScores) -> Estimate:
    """Share of texts that the scorer tells from themselves less their last words."""
    with np.errstate(invalid="ignore"):
        seen = (scores.scale.identity - scores.values) / scores.scale.unit > ENOUGH
    return _whole("ends_seen", scores, seen.astype(float))


def _whole(metric: str, scores: PairScores, held: Floats) -> Estimate:
    value = float(held.mean())
    return Estimate(metric, value, value, value, len(held), scores.resampler.clusters)


def _mean(metric: str, scores: PairScores, values: Floats) -> Estimate:
    totals = scores.resampler.totals(np.column_stack([values, np.ones_like(values)]))
    with np.errstate(invalid="ignore", divide="ignore"):
        return _estimate(metric, scores, float(values.mean()), totals[:, 0] / totals[:, 1])


def _estimate(metric: str, scores: PairScores, value: float, replicates: Floats) -> Estimate:
    low, high = interval(replicates)
    return Estimate(metric, value, float(low), float(high), len(scores.values), scores.resampler.clusters)

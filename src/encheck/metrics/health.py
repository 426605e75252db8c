"""Metrics of the checks on retrieval, health and contracts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import (
    estimate_from_replicates,
    estimate_share,
    metric,
    near_scores,
    no_references,
    safe_ratio,
    with_surface_figures,
)
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import MarginScores, PairScores, RepeatedScores, Scale
from encheck.types import Estimate

Floats = NDArray[np.float64]
SMALLEST_CHANGE = 1e-6  # on the scale from 0 (unrelated texts) to 1 (identical texts)
CONTRACT = "it holds, or it blocks"


def _room_of_each_pair(table: CaseScores, scale: Scale) -> Floats:
    """Return how far each random pair's score is below that of identical text, in units of that score (1 for a cosine).

    If the mean of random pairs is further from 0, this mean is the unit, so a logit's room is between 0 and 2. For a
    distance the mean is always the unit, so its room is always 1.
    """
    unit = max(abs(scale.identity), abs(scale.reference)) or float("nan")
    return np.asarray((scale.identity - table.near) / unit)


def _negated_distances_from_mean(table: CaseScores, scale: Scale) -> Floats:
    """Return the negative distance of each random pair from the mean of all random pairs, on the calibrated scale."""
    return -np.abs(table.near - scale.reference) / scale.unit


def _evenness_of_each_text(table: CaseScores, _scale: Scale) -> Floats:
    """Return how close each text's number of answers is to the mean number. The mean over texts is the evenness."""
    return _evenness(table.near)


def _evenness(counts: Floats) -> Floats:
    return 1 - np.abs(counts / max(float(counts.mean()), 1e-9) - 1) / 2


def _mark_own_text_nearest(table: CaseScores, scale: Scale) -> Floats:
    return (table.margins(scale) > 0).astype(float)


def _mark_texts_whose_end_counts(table: CaseScores, scale: Scale) -> Floats:
    return _mark_difference_from_identical(table.near, scale)


def _mark_difference_from_identical(values: Floats, scale: Scale) -> Floats:
    """Return 1 if a text and the same text without its end do not score as identical."""
    identity, unit = (scale.identity, scale.unit) if np.isfinite(scale.identity) else (1.0, 1.0)
    with np.errstate(invalid="ignore"):
        return ((identity - values) / unit > SMALLEST_CHANGE).astype(float)


@metric(values=_mark_own_text_nearest, kind="rate", label="share won")
def recall_at_1(scores: MarginScores) -> Estimate:
    """Return the share of queries to which their own text is nearer than every other text.

    A tie counts as not found, since a model that guesses finds next to nothing here.
    """
    finds = (scores.margins > 0).astype(float)
    return estimate_share("recall_at_1", scores.resampler, finds)


@metric(values=_room_of_each_pair, delta=0.1, label="room")
def room(scores: PairScores) -> Estimate:
    """Return the score of identical text minus the mean similarity of random pairs, on the scorer's own scale."""
    return _mean_estimate("room", scores, scores.scale.identity - scores.values)


@metric(values=_negated_distances_from_mean, delta=0.05, label="unsteadiness, negative", references=no_references)
def steadiness(scores: PairScores) -> Estimate:
    """Return 1 minus the standard deviation of random pairs on the calibrated scale. Wide noise hides near texts."""
    values = scores.scale.calibrate(scores.values)
    columns = np.column_stack([values, values**2, np.ones_like(values)])
    first, second, n = scores.resampler.replicate_totals(columns).T
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = 1 - np.sqrt(np.maximum(second / n - (first / n) ** 2, 0))
    return estimate_from_replicates("steadiness", scores, 1 - float(values.std()), replicates)


OF_THE_SPACE = (room, steadiness)  # describe a model's own vector space, which differs between families


@metric(values=_evenness_of_each_text, delta=0.05, label="evenness")
def evenness(scores: PairScores) -> Estimate:
    """Return 1 minus the Robin Hood index of the k-occurrence (Feldbauer et al. 2018, section 2); 1 without hubs."""
    return _mean_estimate("evenness", scores, _evenness(scores.values))


@with_surface_figures
def hubness(scores: PairScores) -> Estimate:
    """Return the skewness of the k-occurrence (Radovanovic et al. 2010, equation 1); 0 without hubs."""
    centred = scores.values - scores.values.mean()
    table = np.column_stack([np.ones_like(centred), centred, centred**2, centred**3])
    value = _skewness(table.sum(axis=0, keepdims=True))[0]
    return estimate_from_replicates(
        "hubness", scores, float(value), _skewness(scores.resampler.replicate_totals(table))
    )


def _skewness(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square, cube = (totals[:, i] / totals[:, 0] for i in (1, 2, 3))
        variance = square - mean**2
        result: Floats = (cube - 3 * mean * square + 2 * mean**3) / np.where(variance > 1e-12, variance, np.nan) ** 1.5
    return result


def antihub_share(scores: PairScores) -> Estimate:
    """Return the share of texts outside every query's ten nearest (antihubs, Radovanovic et al. 2010, section 5)."""
    return _mean_estimate("unseen", scores, (scores.values == 0).astype(float))


@metric(values=near_scores, kind="rate", label="share kept", reported=CONTRACT, surface=())
def contract_kept(scores: RepeatedScores) -> Estimate:
    """Return the share of the items for which the contract holds.

    It has no interval, since a contract allows no exception.
    """
    return _contract_share(
        "contract_kept", scores, scores.values, _cause_of_changed_answers(scores.values, scores.repeated)
    )


@metric(values=_mark_texts_whose_end_counts, kind="rate", label="share seen", reported=CONTRACT, surface=())
def ends_seen(scores: PairScores) -> Estimate:
    """Return the share of texts whose score changes when their last words are cut."""
    seen = _mark_difference_from_identical(scores.values, scores.scale)
    unseen = int((seen == 0).sum())
    return _contract_share(
        "ends_seen", scores, seen, f"{unseen} of {len(seen)} texts score the same without their last words"
    )


def _cause_of_changed_answers(values: Floats, repeated: Floats | None) -> str:
    """Return why an answer changes: by chance if one batch gives two answers, otherwise by the other texts in the
    batch.
    """
    changed = f"{int((values < 1).sum())} of {len(values)} texts get another answer"
    if repeated is not None and (repeated < 1).any():
        return f"{changed} the second time, even in the same batch: the model is not deterministic (is dropout on?)"
    return (
        f"{changed} in a batch with other texts, but the same one when that batch is repeated: padding affects the "
        "model (its tokenizer may pad on the left), or quantization is dynamic"
    )


def _contract_share(metric: str, scores: PairScores, held: Floats, cause: str) -> Estimate:
    """Return the share of items, and the cause if the share is below 1."""
    value = float(held.mean())
    params = {"cause": cause} if value < 1 else {}
    return Estimate(metric, value, value, value, len(held), scores.resampler.clusters, params=params)


def _mean_estimate(name: str, scores: PairScores, values: Floats) -> Estimate:
    totals = scores.resampler.replicate_totals(np.column_stack([values, np.ones_like(values)]))
    return estimate_from_replicates(name, scores, float(values.mean()), safe_ratio(totals[:, 0], totals[:, 1]))

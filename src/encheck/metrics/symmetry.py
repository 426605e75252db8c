"""Metrics of whether a prediction stays the same when the two sentences of a pair are swapped."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import estimate_from_replicates, metric, no_references, safe_ratio, with_surface_figures
from encheck.metrics.thresholds import accuracy_objective, best_threshold, has_both_labels
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import BothOrdersScores, Scale
from encheck.statistics.bootstrap import percentile_interval, widen_share_interval
from encheck.types import Estimate

Floats = NDArray[np.float64]
ROUNDING = 1e-6  # tolerance for a symmetric model on a GPU in different batches
ONE_SIDED = 0.05
_CHUNK = 1_000_000


@dataclass(frozen=True)
class DecisionThresholds:
    """The cut at or above which a score means "paraphrase", for each pair, shape [n]; NaN for a pair without a cut.

    `by` names the source of the cuts.
    """

    cuts: Floats
    by: str
    folds: int = 0

    @property
    def estimate_params(self) -> dict[str, float | str]:
        """The params of the estimate: the mean cut, the number of folds (0: one cut for all), and the cuts' source."""
        there = self.cuts[~np.isnan(self.cuts)]
        cut = {"threshold": float(there.mean())} if len(there) else {}
        return {**cut, "folds": float(self.folds), "decided_by": self.by}


def choose_decision_thresholds(scores: BothOrdersScores, *, threshold: float | None = None) -> DecisionThresholds:
    """Return the cuts of the model's own decision: the user's `threshold`, or else the argmax of the model's trained
    head.

    For a model without a head, the cut is the best threshold on the validation part. Without such a part with both
    labels, it is the best threshold on the other folds, so never on the pair itself.
    """
    n = len(scores.labels)
    if threshold is not None:
        return DecisionThresholds(np.full(n, threshold), "the threshold given")
    if scores.head_threshold is not None:
        return DecisionThresholds(np.full(n, scores.head_threshold), "the model's head")
    if scores.tuning is not None:
        cut = decision_threshold(scores.tuning.values, scores.tuning.labels)
        return DecisionThresholds(np.full(n, np.nan if cut is None else cut), "the validation part")
    fold, cuts = scores.folds_of(np.arange(n)), np.full(n, np.nan)
    for k in np.unique(fold):
        others = fold != k
        if has_both_labels(scores.labels[others]):
            result = decision_threshold(scores.forward[others], scores.labels[others])
            cuts[fold == k] = np.nan if result is None else result
    return DecisionThresholds(cuts, "the other folds", len(np.unique(fold)))


@with_surface_figures
def flip_rate(scores: BothOrdersScores, *, threshold: float | None = None) -> Estimate:
    """Return the share of measured pairs whose prediction changes when the two sentences are exchanged.

    "Predicate-Argument Based Bi-Encoder for Paraphrase Identification", sections 1 and 3: 2.66 to 8.46% for
    cross-encoders (Chen et al. 2020), 2.78 to 9.16% for SBERT with the head (u, v, |u-v|), both by the head's argmax on
    the test part. A pair is predicted to be a paraphrase if its score reaches its cut (`choose_decision_thresholds`).
    The params name the source of the cut. Scores that are equal to within 1e-6 do not flip a prediction. The rate is
    NaN if a pair has no cut, since the scores do not vary or the other pairs lack a label.
    """
    result = choose_decision_thresholds(scores, threshold=threshold)
    differ = (scores.forward >= result.cuts) != (scores.backward >= result.cuts)
    flips = np.where(np.isnan(result.cuts), np.nan, differ & (scores.asymmetry > ROUNDING))
    totals = scores.resampler.replicate_totals_of_columns([flips, np.broadcast_to(1.0, len(flips))])
    low, high = map(float, percentile_interval(safe_ratio(totals[:, 0], totals[:, 1])))
    n, clusters, value = len(flips), scores.resampler.clusters, float(flips.mean())
    if (scores.asymmetry > ROUNDING).any():  # otherwise it is symmetric by construction
        low, high = widen_share_interval(value, low, high, n=n, clusters=clusters)
    return Estimate("flip_rate", value, low, high, n, clusters, params={**result.estimate_params})


@metric(label="consistency", whole="its threshold is of a whole set")
def consistency(scores: BothOrdersScores, *, threshold: float | None = None) -> Estimate:
    """Return 1 - flip_rate, the share of unchanged predictions. A verdict has a minimum for it."""
    flips = flip_rate(replace(scores, surface={}), threshold=threshold)
    return replace(flips, metric="consistency", value=1 - flips.value, low=1 - flips.high, high=1 - flips.low)


@with_surface_figures
def largest_asymmetry(scores: BothOrdersScores) -> Estimate:
    """Return the largest |s(a, b) - s(b, a)| of any pair. No replicate can exceed it, so its interval ends there."""
    # The largest value among the drawn clusters, in each replicate; NaN if none of theirs was drawn.
    top = np.full(scores.resampler.weights.shape[1], -np.inf)
    np.maximum.at(top, scores.resampler.columns, scores.asymmetry)
    order = scores.resampler.clusters_of_items[np.argsort(-top[scores.resampler.clusters_of_items], kind="stable")]
    step = max(1, _CHUNK // len(order))
    result = []
    for start in range(0, len(scores.resampler.weights), step):
        drawn = scores.resampler.weights[start : start + step, order] > 0
        result.append(np.where(drawn.any(axis=1), top[order][drawn.argmax(axis=1)], np.nan))
    replicates = np.concatenate(result)
    return estimate_from_replicates("largest_asymmetry", scores, float(scores.asymmetry.max()), replicates)


def _negative_changes(table: CaseScores, scale: Scale) -> Floats:
    return -np.abs(table.margins(scale)) / scale.unit


@metric(values=_negative_changes, label="change when turned, negative", references=no_references)
def symmetry(scores: BothOrdersScores) -> Estimate:
    """Return the negative mean change of the score when the two sentences are exchanged: 0 for a symmetric scorer.

    A gate uses this metric, since unlike `consistency` it needs no threshold and has a value for each pair.
    """
    values = -scores.asymmetry
    totals = scores.resampler.replicate_totals_of_columns([values, np.broadcast_to(1.0, len(values))])
    return estimate_from_replicates("symmetry", scores, float(values.mean()), safe_ratio(totals[:, 0], totals[:, 1]))


def decision_threshold(values: Floats, labels: NDArray[np.int8]) -> float | None:
    """Return the threshold of highest accuracy for "1 where the value is at least it".

    If that threshold gives 95% of the pairs the same prediction, as on PAWS-Wiki, it would hide the effect of the
    order. Then return the threshold that predicts as many paraphrases as the labels have. Return None if all values are
    equal.

    >>> decision_threshold(np.array([0.1, 0.2, 0.6, 0.7]), np.array([0, 0, 1, 1], np.int8))
    0.4
    """
    if values.min() == values.max():
        return None
    best = best_threshold(values, labels, objective=accuracy_objective)
    if ONE_SIDED <= (values >= best).mean() <= 1 - ONE_SIDED:
        return best
    distinct = np.unique(values)
    cuts = (distinct[1:] + distinct[:-1]) / 2
    above = 1 - np.searchsorted(np.sort(values), cuts) / len(values)
    return float(cuts[np.argmin(np.abs(above - labels.mean()))])

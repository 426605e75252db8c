"""Thresholds that turn scores into predictions, chosen on a validation part or, without one, by folds of clusters.

A threshold is never chosen on the measured pairs, since the best threshold of a test set makes results look too good.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.splits import FOLDS, assign_folds
from encheck.statistics.clusters import slice_in_chunks

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
Objective = Callable[[Floats, Floats, float, float], Floats]


def f1_objective(hits: Floats, alarms: Floats, positives: float, negatives: float) -> Floats:  # noqa: ARG001
    """Return the F1 of the positive class from the counts of true positives (hits) and false positives (alarms)."""
    return 2 * hits / (hits + alarms + positives)


def accuracy_objective(hits: Floats, alarms: Floats, positives: float, negatives: float) -> Floats:
    """Return the share of right predictions."""
    return (hits + negatives - alarms) / (positives + negatives)


def balanced_accuracy_objective(hits: Floats, alarms: Floats, positives: float, negatives: float) -> Floats:
    """Return the mean of the shares of right predictions among the positives and among the negatives."""
    return (hits / positives + (negatives - alarms) / negatives) / 2


@dataclass(frozen=True)
class ThresholdPredictions:
    """Predictions (1 or 0, shape [n]) of the measured pairs, with the mean threshold and the number of folds.

    `folds` is 0 if one threshold was chosen on a validation part. The predictions of a fold, and all figures of them,
    are NaN if the other folds lack a label.
    """

    predicted: Floats
    threshold: float
    folds: int

    @property
    def has_all_predictions(self) -> bool:
        """Whether every pair has a prediction."""
        return not np.isnan(self.threshold)

    @property
    def estimate_params(self) -> dict[str, float | str]:
        """The params of an estimate: the threshold, if any, and the number of folds."""
        return {"threshold": self.threshold, "folds": self.folds} if self.has_all_predictions else {"folds": self.folds}


def best_threshold(values: Floats, labels: NDArray[np.int8], *, objective: Objective = f1_objective) -> float:
    """Return the threshold with the highest objective for "1 where the value is at least it", the highest of several.

    Candidates are the midpoints between distinct neighbouring values, and the lowest value (everything is positive).

    >>> best_threshold(np.array([0.1, 0.25, 0.75, 0.9]), np.array([0, 0, 1, 1], np.int8))
    0.5
    """
    positive, negative = (np.sort(values[side]) for side in (labels == 1, labels != 1))
    totals, best, found = (float(len(positive)), float(len(negative))), -math.inf, float(values.max())
    candidates = (np.array([found]), *(positive[::-1][some] for some in slice_in_chunks(len(positive))))
    for cuts in candidates:  # below the first one, a cut right below negative pairs alone only adds alarms
        hits, alarms = (len(side) - np.searchsorted(side, cuts).astype(float) for side in (positive, negative))
        reached = objective(hits, alarms, *totals)
        at = int(np.argmax(reached))
        if reached[at] > best:
            best, found = float(reached[at]), float(cuts[at])
    below = [float(side[at - 1]) for side in (positive, negative) if (at := int(np.searchsorted(side, found)))]
    return (found + max(below, default=found)) / 2


def rise_threshold(values: Floats, labels: NDArray[np.int8], *, objective: Objective = f1_objective) -> float:
    """Return the threshold as RISE's authors choose it (COLING 2022), for "1 where the value is above it".

    Candidates are the midpoints between neighbouring values; of equally good ones the highest is taken. So neither
    "everything is positive" nor "nothing is" can be chosen, and equal values can be told apart, which makes the figure
    of the validation part too good. Use it to compare with the paper, and `best_threshold` to decide.

    >>> rise_threshold(np.array([0.1, 0.25, 0.75, 0.9]), np.array([0, 0, 1, 1], np.int8))
    0.5
    """
    order = np.argsort(-values, kind="stable")
    ordered, positive = values[order], labels[order] == 1
    hits, alarms = np.cumsum(positive)[:-1].astype(float), np.cumsum(~positive)[:-1].astype(float)
    if not hits.size or not (result := objective(hits, alarms, float(positive.sum()), float((~positive).sum()))).any():
        return -1.0 if objective is accuracy_objective else 0.0
    best = int(np.argmax(result))
    return float((ordered[best] + ordered[best + 1]) / 2)


def predict_by_validation(
    values: Floats,
    labels: NDArray[np.int8],
    validation: Positions,
    measured: Positions,
    *,
    objective: Objective = f1_objective,
) -> ThresholdPredictions:
    """Return predictions of the measured pairs at the best threshold of the validation pairs."""
    threshold = best_threshold(values[validation], labels[validation], objective=objective)
    return ThresholdPredictions((values[measured] >= threshold).astype(float), threshold, 0)


def predict_by_cluster_folds(
    values: Floats,
    labels: NDArray[np.int8],
    clusters: Sequence[str],
    *,
    folds: int = FOLDS,
    objective: Objective = f1_objective,
) -> ThresholdPredictions:
    """Return predictions of each fold's pairs at the best threshold of the other folds. A cluster stays in one fold."""
    return predict_by_folds(values, labels, assign_folds(clusters, folds=folds), objective=objective)


def predict_by_folds(
    values: Floats, labels: NDArray[np.int8], fold: Positions, *, objective: Objective = f1_objective
) -> ThresholdPredictions:
    """Return predictions of each fold's pairs at the best threshold of the other folds; `fold`, shape [n], numbers
    them.
    """
    predicted, thresholds = np.full(len(values), np.nan), []
    for k in np.unique(fold):
        inside = fold == k
        others = labels[~inside]
        thresholds.append(
            best_threshold(values[~inside], others, objective=objective) if has_both_labels(others) else np.nan
        )
        if not np.isnan(thresholds[-1]):
            predicted[inside] = values[inside] >= thresholds[-1]
    return ThresholdPredictions(predicted, float(np.mean(thresholds)), len(thresholds))


def has_both_labels(labels: NDArray[np.int8]) -> bool:
    """Return whether the labels are only 1 and 0, and both occur."""
    return bool(np.unique(labels).tolist() == [0, 1])

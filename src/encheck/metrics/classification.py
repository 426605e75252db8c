"""Accuracy of classifications: paraphrases by a threshold, and downstream tasks by a linear classifier.

A threshold is never chosen on the pairs that it is measured on. There are two thresholds, as in RISE (COLING 2022):
accuracy uses the threshold with the best accuracy, and F1 the threshold with the best F1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics import thresholds
from encheck.metrics.metric import estimate_from_replicates, estimate_share, metric, near_scores
from encheck.metrics.thresholds import (
    Objective,
    ThresholdPredictions,
    has_both_labels,
    predict_by_folds,
    predict_by_validation,
)
from encheck.scoring.classified import ClassifiedScores
from encheck.scoring.scores import PairScores
from encheck.scoring.splits import VALIDATION, test_positions
from encheck.types import Estimate

Floats = NDArray[np.float64]
THRESHOLD = "its threshold is of a whole set"


def predict_labels(
    scores: PairScores, measured: NDArray[np.intp], *, objective: Objective = thresholds.f1_objective
) -> ThresholdPredictions:
    """Return predictions of the measured pairs at the best threshold of the validation part, or of other folds."""
    if len(measured) < len(scores.items):
        validation = np.flatnonzero([split in VALIDATION for split in scores.splits])
        if has_both_labels(scores.labels[validation]):
            return predict_by_validation(scores.values, scores.labels, validation, measured, objective=objective)
    fold = scores.folds_of(measured)
    return predict_by_folds(scores.values[measured], scores.labels[measured], fold, objective=objective)


@metric(label="accuracy", whole=THRESHOLD)
def accuracy(scores: PairScores) -> Estimate:
    """Return the share of right predictions on the test part, at the validation part's most accurate threshold."""
    return _estimate_on_test_part("accuracy", scores, thresholds.accuracy_objective)


@metric(label="F1", whole=THRESHOLD)
def f1(scores: PairScores) -> Estimate:
    """Return the F1 of the paraphrases on the test part, at the validation part's threshold with the best F1."""
    return _estimate_on_test_part("f1", scores, thresholds.f1_objective)


def head_figures(scores: PairScores) -> list[Estimate]:
    """Return accuracy and F1 of a trained head's own prediction, its argmax ("Predicate-Argument Based Bi-Encoder
    ...").

    The list is empty for a model without a head of two classes. No threshold is chosen.
    """
    if scores.head_threshold is None:
        return []
    measured = test_positions(scores.splits)
    said = (scores.values[measured] >= scores.head_threshold).astype(float)
    chosen = ThresholdPredictions(said, scores.head_threshold, 0)
    names = {"head_accuracy": thresholds.accuracy_objective, "head_f1": thresholds.f1_objective}
    return [_estimate_of_predictions(name, scores, measured, chosen, objective) for name, objective in names.items()]


def _estimate_on_test_part(name: str, scores: PairScores, objective: Objective) -> Estimate:
    measured = test_positions(scores.splits)
    return _estimate_of_predictions(
        name, scores, measured, predict_labels(scores, measured, objective=objective), objective
    )


def _estimate_of_predictions(
    name: str, scores: PairScores, measured: NDArray[np.intp], chosen: ThresholdPredictions, objective: Objective
) -> Estimate:
    part = scores.select(measured)

    def columns() -> Iterator[Floats]:
        positive = part.labels == 1
        for side in (positive, ~positive):
            yield np.where(side, chosen.predicted, 0.0)
        for side in (positive, ~positive):
            yield side.astype(float)

    value = float(_objective_by_replicate(objective, np.array([[column.sum() for column in columns()]]))[0])
    replicates = _objective_by_replicate(objective, part.resampler.replicate_totals_of_columns(columns()))
    return replace(estimate_from_replicates(name, part, value, replicates), params=chosen.estimate_params)


def _objective_by_replicate(objective: Objective, counts: Floats) -> Floats:
    """Return the objective of each replicate. The columns of `counts` are hits, alarms, positives and negatives."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = objective(counts[:, 0], counts[:, 1], counts[:, 2], counts[:, 3])  # type: ignore[arg-type]
    return result


@metric(values=near_scores, kind="rate", label="accuracy")
def task_accuracy(scores: ClassifiedScores) -> Estimate:
    """Return the share of the measured texts that are classified correctly.

    The interval resamples the measured texts, with the classifiers fixed. With folds, the share is that of all texts.
    The toolkit uses the mean of the folds' shares, which differs by less than a hundredth of a point. The params
    describe the classifiers, and count the texts with a near-duplicate among the training texts.
    """
    estimate = estimate_share("task_accuracy", scores.resampler, scores.values)
    if scores.predictions is None:
        return replace(estimate, params={})
    params: dict[str, float | str] = {
        "penalty_c": Counter(scores.predictions.penalties).most_common(1)[0][0],
        "held_out_accuracy": scores.predictions.held_out,
        "near_duplicates": int(scores.has_near_duplicate.sum()),
    }
    params |= {"not_converged": scores.predictions.open_fits} if scores.predictions.open_fits else {}
    return replace(estimate, params=params)


@metric(whole="it is of a part of the task")
def new_texts_accuracy(scores: ClassifiedScores) -> Estimate:
    """Return the accuracy on the texts without a near-duplicate among the training texts; NaN if there are none."""
    new = np.flatnonzero(~scores.has_near_duplicate)
    if not len(new):
        nothing, nan = "each text has a near-duplicate among the training texts", float("nan")
        return Estimate("new_texts_accuracy", nan, nan, nan, 0, 0, missing=nothing)
    part = replace(scores, surface={}).select(new)
    return estimate_share("new_texts_accuracy", part.resampler, part.values)

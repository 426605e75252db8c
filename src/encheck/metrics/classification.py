"""Paraphrase or not, by a threshold that was not chosen on the pairs it is measured on (RISE, COLING 2022).

As in that paper, there are two thresholds: accuracy uses the one with the best accuracy, F1 the one with the best F1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics import thresholds
from encheck.metrics.metric import estimated, metric
from encheck.metrics.thresholds import Objective, ThresholdPredictions, has_both, in_folds, on_validation
from encheck.scoring.scores import PairScores
from encheck.scoring.splits import VALIDATION, measured_positions
from encheck.types import Estimate

Floats = NDArray[np.float64]
THRESHOLD = "its threshold is of a whole set"


def predictions(
    scores: PairScores, measured: NDArray[np.intp], *, objective: Objective = thresholds.f1
) -> ThresholdPredictions:
    """Predictions of the measured pairs at the threshold that is best on the validation part, else on other folds."""
    if len(measured) < len(scores.items):
        validation = np.flatnonzero([split in VALIDATION for split in scores.splits])
        if has_both(scores.labels[validation]):
            return on_validation(scores.values, scores.labels, validation, measured, objective=objective)
    fold = scores.folds(measured)
    return in_folds(scores.values[measured], scores.labels[measured], fold, objective=objective)


@metric(label="accuracy", whole=THRESHOLD)
def accuracy(scores: PairScores) -> Estimate:
    """Share of right predictions on the test part, at the threshold of the best accuracy on validation."""
    return _measured("accuracy", scores, thresholds.accuracy)


@metric(label="F1", whole=THRESHOLD)
def f1(scores: PairScores) -> Estimate:
    """F1 of the paraphrases on the test part, at the threshold of the best F1 on validation."""
    return _measured("f1", scores, thresholds.f1)


def by_head(scores: PairScores) -> list[Estimate]:
    """Accuracy and F1 of a trained head's own prediction, its argmax ("Predicate-Argument Based Bi-Encoder ...").

    Empty for a model without a head of two classes. No threshold is chosen.
    """
    if scores.decision is None:
        return []
    measured = measured_positions(scores.splits)
    said = (scores.values[measured] >= scores.decision).astype(float)
    chosen = ThresholdPredictions(said, scores.decision, 0)
    names = {"head_accuracy": thresholds.accuracy, "head_f1": thresholds.f1}
    return [_predicted(name, scores, measured, chosen, objective) for name, objective in names.items()]


def _measured(name: str, scores: PairScores, objective: Objective) -> Estimate:
    measured = measured_positions(scores.splits)
    return _predicted(name, scores, measured, predictions(scores, measured, objective=objective), objective)


def _predicted(
    name: str, scores: PairScores, measured: NDArray[np.intp], chosen: ThresholdPredictions, objective: Objective
) -> Estimate:
    part = scores.of(measured)

    def columns() -> Iterator[Floats]:
        positive = part.labels == 1
        for side in (positive, ~positive):
            yield np.where(side, chosen.predicted, 0.0)
        for side in (positive, ~positive):
            yield side.astype(float)

    value = float(_rule(objective, np.array([[column.sum() for column in columns()]]))[0])
    replicates = _rule(objective, part.resampler.totals_of(columns()))
    return replace(estimated(name, part, value, replicates), params=chosen.params)


def _rule(objective: Objective, counts: Floats) -> Floats:
    """The objective, replicate by replicate: hits, alarms, positives, negatives in columns."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = objective(counts[:, 0], counts[:, 1], counts[:, 2], counts[:, 3])  # type: ignore[arg-type]
    return result

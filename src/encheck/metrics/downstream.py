"""Figures of the downstream tasks: a linear classifier on a model's vectors (Conneau and Kiela 2018)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import estimate_share, metric, near_scores
from encheck.scoring.classified import ClassifiedScores
from encheck.types import Estimate

Floats = NDArray[np.float64]


@metric(values=near_scores, kind="rate", label="accuracy")
def task_accuracy(scores: ClassifiedScores) -> Estimate:
    """Share of the measured texts that are classified correctly.

    The interval resamples the measured texts, with the classifiers fixed. With folds it is the share of all texts; the
    toolkit takes the mean of the folds' shares, which differs by less than a hundredth of a point. The params describe
    the classifiers, and count the texts with a near-duplicate among the training texts.
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
    """Accuracy on the texts without a near-duplicate among the training texts; NaN if there are none."""
    new = np.flatnonzero(~scores.has_near_duplicate)
    if not len(new):
        nothing, nan = "each text has a near-duplicate among the training texts", float("nan")
        return Estimate("new_texts_accuracy", nan, nan, nan, 0, 0, missing=nothing)
    part = replace(scores, surface={}).select(new)
    return estimate_share("new_texts_accuracy", part.resampler, part.values)

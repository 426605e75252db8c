"""Figures of the downstream tasks: what a linear classifier makes of a model's vectors (Conneau and Kiela 2018)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import metric, near_of, share_of
from encheck.scoring.classified import ClassifiedScores
from encheck.types import Estimate

Floats = NDArray[np.float64]


@metric(values=near_of, kind="rate", label="accuracy")
def task_accuracy(scores: ClassifiedScores) -> Estimate:
    """Share of the measured texts that get their own class.

    The interval resamples the measured texts; what the classifiers learned stays the same. In folds it is the share of
    all texts, where the toolkit takes the mean of the folds' shares: they differ by less than a hundredth of a point.
    The params say what the classifiers were, and how many texts have a near-duplicate among those learned from.
    """
    estimate = share_of("task_accuracy", scores.resampler, scores.values)
    if scores.told is None:
        return replace(estimate, params={})
    params: dict[str, float | str] = {
        "penalty_c": Counter(scores.told.penalties).most_common(1)[0][0],
        "held_out_accuracy": scores.told.held_out,
        "near_duplicates": int(scores.seen.sum()),
    }
    params |= {"not_converged": scores.told.open_fits} if scores.told.open_fits else {}
    return replace(estimate, params=params)


@metric(whole="it is of a part of the task")
def new_texts_accuracy(scores: ClassifiedScores) -> Estimate:
    """The same of the texts that no near-duplicate was learned from; NaN where there is none."""
    new = np.flatnonzero(~scores.seen)
    if not len(new):
        nothing, nan = "each text has a near-duplicate that was learned from", float("nan")
        return Estimate("new_texts_accuracy", nan, nan, nan, 0, 0, missing=nothing)
    part = replace(scores, surface={}).of(new)
    return share_of("new_texts_accuracy", part.resampler, part.values)

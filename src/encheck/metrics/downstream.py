"""Figures of the downstream tasks: what a linear classifier makes of a model's vectors (Conneau and Kiela 2018)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import metric, share_of
from encheck.scoring.classified import ClassifiedScores
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.types import Estimate

Floats = NDArray[np.float64]


def _right(table: CaseScores, _scale: Scale) -> Floats:
    return table.near


@metric(values=_right, kind="rate", label="accuracy")
def task_accuracy(scores: ClassifiedScores) -> Estimate:
    """Share of the measured texts that get their own class.

    The interval resamples the measured texts; what the classifiers learned stays the same. In folds it is the share of
    all texts, where the toolkit takes the mean of the folds' shares: they differ by less than a hundredth of a point.
    """
    return replace(_share("task_accuracy", scores), params=_params(scores))


@metric(whole="it is of a part of the task")
def new_texts_accuracy(scores: ClassifiedScores) -> Estimate:
    """The same of the texts that no near-duplicate was learned from; NaN where there is none."""
    new = np.flatnonzero(~scores.seen)
    if not len(new):
        nothing, nan = "each text has a near-duplicate that was learned from", float("nan")
        return Estimate("new_texts_accuracy", nan, nan, nan, 0, 0, missing=nothing)
    return _share("new_texts_accuracy", replace(scores, surface={}).of(new))


def _share(name: str, scores: ClassifiedScores) -> Estimate:
    return share_of(name, scores.resampler, scores.values)


def _params(scores: ClassifiedScores) -> dict[str, float | str]:
    """What the classifiers were, and how many texts have a near-duplicate among those that were learned from."""
    if scores.told is None:
        return {}
    chosen = Counter(scores.told.penalties).most_common(1)[0][0]
    params: dict[str, float | str] = {
        "penalty_c": chosen, "held_out_accuracy": scores.told.held_out, "near_duplicates": int(scores.seen.sum()),
    }  # fmt: skip
    return params | ({"not_converged": scores.told.open_fits} if scores.told.open_fits else {})

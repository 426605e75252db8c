"""The endpoint of a gate for pairs (a cache, a filter of duplicates): the positives accepted within a budget.

For each model the threshold is chosen on the negatives alone, by the rule of `statistics/false_accepts.py`. What is
compared is then which positives each model accepts at its own threshold, pair by pair.

Which negatives were labelled moves the thresholds, and these move the hits. With few negatives this is a large part of
the error: of two models that are equally good, with 1,000 negatives and a budget of 2%, an interval that takes the
thresholds as given calls one better in 20% of samples (`tests/gating/test_pairs_endpoint.py`). So that part is
estimated by the delta method, and `interval` holds it: where one negative more moves a threshold, hits move by as many
positives as lie there for each negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from encheck.errors import DataError
from encheck.statistics.bounds import units_needed
from encheck.statistics.false_accepts import (
    OF_USE,
    Negatives,
    Promise,
    promise,
    step_of,
    strictest_of_use,
)
from encheck.statistics.sharing import LEVEL, Sharing

Floats = NDArray[np.float64]
Answer = Literal["compare", "no", "cannot tell"]
BOUND, LIKELY = 1.96, 0.84  # normal quantiles of 97.5% and 80%


@dataclass(frozen=True, eq=False)
class PairsSide:
    """One model on the labelled pairs: its threshold, and which positives it accepts there (0 or 1, shape [p]).

    Without a threshold that keeps the budget it accepts none.
    """

    promise: Promise
    hits: Floats

    @property
    def threshold(self) -> float | None:
        """The lowest threshold that keeps the budget; None if none is shown to."""
        return self.promise.threshold


@dataclass(frozen=True, eq=False)
class PairsEndpoint:
    """Both models on the same pairs. `positives` says which pairs `hits` are of, shape [p].

    `answer` is "compare" if the new model has a threshold: the endpoint is then the mean of `differences`. Otherwise
    it is what the gate says, whatever the old model does, and `reason` says why. `sharing` is that of the positives,
    `threshold_variance` what the choice of both thresholds adds to the variance of the mean.
    """

    old: PairsSide
    new: PairsSide
    positives: NDArray[np.intp]
    sharing: Sharing
    threshold_variance: float
    answer: Answer
    reason: str

    @property
    def differences(self) -> Floats:
        """Hits of the new model less those of the old one, -1, 0 or 1; shape [p]."""
        return self.new.hits - self.old.hits

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """The interval of the mean difference, with the choice of the thresholds; -1 to 1 if it is withheld."""
        mean, reach = (
            float(self.differences.mean()),
            NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(self.threshold_variance),
        )
        low, high = (float(end[0]) for end in self.sharing.change_interval(self.differences, level=level))
        return max(mean - math.hypot(mean - low, reach), -1.0), min(mean + math.hypot(high - mean, reach), 1.0)

    def labels_needed(self, margin: float, *, alpha: float, fewest: int) -> str:
        """How many labels would decide in 80% of cases, were the change what it seems; `fewest` positives always.

        A threshold takes negatives first. Then the error falls with the root of the labels of both kinds.
        """
        promised, positives = self.new.promise, len(self.positives)
        if self.answer != "compare":
            more = f"about {promised.needed:,}" if promised.needed else f"{units_needed(0, promised.budget):,} or more"
            return f"{more} independent negatives would decide whether it has a threshold"
        if self.sharing.withheld:
            return "positives that share less would decide"
        change = float(self.differences.mean())
        low, high = self.interval()
        error = (high - low) / (2 * BOUND)
        to_block = -change / (NormalDist().inv_cdf(1 - alpha / 2) + LIKELY)
        to_pass = min((margin + change) / (BOUND + LIKELY), (margin / 2 + change) / LIKELY)
        times = max((error / max(to_block, to_pass)) ** 2, fewest / positives, 1.0)
        return (
            f"about {math.ceil(times * positives):,} positives and {math.ceil(times * promised.negatives):,} negatives "
            f"would decide"
        )


def pairs_endpoint(
    old: ArrayLike, new: ArrayLike, *, labels: ArrayLike, things: ArrayLike, budget: float
) -> PairsEndpoint:
    """What two models accept of labelled pairs within a budget of false accepts.

    Args:
        old: the scores of the model in use; shape [n].
        new: those of the candidate, of the same pairs; shape [n].
        labels: 1 for a pair that may be accepted, 0 for one that may not; shape [n].
        things: what each pair shares with others, as in `Sharing.of`; shape [n] or [n, k].
        budget: the share of negatives that may be accepted, between 0 and 1.

    Raises:
        DataError: one of the labels is missing. Nothing can be chosen, or nothing counted.
    """
    is_positive, shared = np.asarray(labels) == 1, np.asarray(things, np.intp)
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    if not len(positives) or not len(negatives):
        lacking = 0 if len(positives) else 1
        raise DataError(f"no pair has label {lacking}, but a gate for pairs needs both. Remedy: label some pairs")
    among = Sharing.of(shared[negatives])
    depends_on = among.shared_with(np.ones((len(negatives), 1))).ravel().astype(np.intp)
    sides, moves = [], []
    for scores in (np.asarray(old, float), np.asarray(new, float)):
        step = step_of(scores[negatives])  # of all scores, positives would choose along
        strictest = strictest_of_use(scores, scores[positives], step=step)
        made = promise(Negatives(scores[negatives], depends_on), budget=budget, strictest=strictest, step=step)
        accepted = np.zeros(len(positives)) if made.threshold is None else scores[positives] >= made.threshold
        sides.append(PairsSide(made, accepted.astype(float)))
        moves.append(_moves(scores[positives], scores[negatives], made))
    variance = float(among.errors(moves[1] - moves[0]).variance[0])
    answer, reason = _answer(sides[1].promise, sides[0].promise)
    return PairsEndpoint(sides[0], sides[1], positives, Sharing.of(shared[positives]), variance, answer, reason)


def _moves(positives: Floats, negatives: Floats, made: Promise) -> Floats:
    """By how much each negative moves the hit rate through the threshold, times their number; shape [q].

    The slope is that between the thresholds which two standard errors more and fewer negatives would have given.
    """
    if made.threshold is None:
        return np.zeros(len(negatives))
    accepted = negatives >= made.threshold
    count = int(accepted.sum())
    reach = math.ceil(2 * math.sqrt((count + 1) * len(negatives) / max(made.effective, 1)))
    falling = np.sort(negatives)[::-1]
    few, many = max(count - reach, 0), min(count + reach, len(negatives) - 1)
    low, high = falling[many], falling[few]
    hits = float(((positives >= low) & (positives < high)).mean())
    alarms = float(((negatives >= low) & (negatives < high)).mean())
    slope = hits / alarms if alarms else 0.0
    return np.where(accepted, slope, 0.0)


def _answer(new: Promise, old: Promise) -> tuple[Answer, str]:
    """Whether the two can be compared, and what to say; that none exists is asked before negatives are counted."""
    budget = f"{100 * new.budget:g}%"
    if new.outcome == "broken":
        why = (
            f"no threshold of the candidate keeps {budget}: at {new.strictest:g}, the strictest that {OF_USE}, false "
            f"accepts are {100 * (new.lower or 0):.1f}% or more with 95% confidence"
        )
        if old.outcome == "broken":
            return "cannot tell", f"{why}. No threshold of the model in use keeps it either"
        return "no", why
    if new.outcome == "undecided":
        least = units_needed(0, new.budget)
        return "cannot tell", (
            f"no threshold of the candidate is shown to keep {budget}, which takes {least:,} independent negatives "
            f"without one false accept: there are {new.negatives:,}, which tell as much as {new.effective:,}"
        )
    if old.threshold is None:
        return "compare", f"the model in use has no threshold that is shown to keep {budget}, so it has no hits"
    return "compare", ""

"""Find the lowest threshold whose rate of false accepts stays within a budget, with 95% confidence.

A pair is accepted if its score is at least the threshold. The *rate of false accepts* at a threshold is the share of
the negatives that the threshold accepts. Each distinct pair counts once.

Negatives that share a text, or a cluster that the data name, are not independent. n negatives, of which the i-th
depends on a_i (itself included), are worth at least n^2 / sum a_i independent ones: their rate has the
variance p (1 - p) sum a_i / n^2 if all dependent negatives agree, and less otherwise. If clusters are disjoint, this is
Kish's (1965) effective number, (sum m)^2 / sum m^2. Clopper and Pearson's (1934) bound of the rate is taken at that
number. The bound is exact for independent negatives. Otherwise it is an approximation, which
`lab/benchmarks/threshold.py` tests. The approximation fails if negatives that many others depend on also score higher:
then the n are worth about n k / sum b_i, where each of the k accepted depends on b_i of them. The sample shows this
only roughly, and often lacks the large cluster that breaks a promise. So one more large cluster is counted as accepted.
A promise is *uneven* if the negatives are then worth at least a sixth fewer, and so few would not show the budget.
This, too, is an approximation, which the benchmark tests.

Theorem. Let p(c) be a p-value of "the rate at c is above the budget" that rises with the scores, as the bound here
does. Test from the highest threshold down, and stop at the first that is not rejected. Then the rate at the last one
that was rejected is above the budget with probability alpha at most, however many thresholds were tried: the rate falls
with the threshold, so a search that ends at a threshold above the budget has rejected the highest of these, one true
hypothesis (fixed-sequence testing: Maurer, Hothorn and Lehmacher 1995; Bauer 1991, Stat. Med. 10). If the thresholds
above the budget have no highest one, the events "rejected at c" grow as c rises towards their supremum, each of
probability alpha at most, and so is their union. The theorem also covers thresholds that are chosen from the data,
since it covers all real numbers.

*No* threshold keeps a budget if the lower bound of the rate at the strictest useful threshold is above the budget,
since the rate is at least as high at every lower threshold. The bounds do not depend on the budget, and the lower one
is never above the upper one. So a threshold that keeps a budget keeps every larger one, and if no threshold can keep a
budget, none can keep a smaller one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.hypothesis_tests import share_upper_bound, units_needed_at

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Outcome = Literal["kept", "broken", "undecided"]
MIN_ACCEPTED = 30  # a threshold that accepts fewer pairs, and fewer than half of the positives, is useless
LARGE, UNEVEN_FROM = 0.25, 1.2  # large clusters hold that share of the budget; so many times fewer is uneven
UNEVEN = " unless the negatives of large clusters or popular texts score higher"
OF_USE = f"accepts {MIN_ACCEPTED} pairs or half of the positives"
DIGITS = 4
ROUNDING = 1e-9  # of a number of negatives


@dataclass(frozen=True)
class Negatives:
    """Distinct pairs that should not be accepted.

    `scores` has their scores, and `depends_on` the number of negatives that each depends on, itself included; shape
    [n]. `among` takes some of them, as a mask of shape [n], and returns on how many of these each depends; shape [m].
    """

    scores: Floats
    depends_on: Codes
    among: Callable[[NDArray[np.bool_]], NDArray[Any]]

    @classmethod
    def of_clusters(cls, scores: Floats, clusters: Codes) -> Negatives:
        """Return negatives that depend on all others in their cluster; `clusters` has the code of each cluster, shape
        [n].
        """
        return cls(scores, np.bincount(clusters)[clusters], lambda some: np.bincount(clusters[some])[clusters[some]])

    @property
    def effective_negatives(self) -> int:
        """The number of independent negatives that carry the same information, rounded down."""
        return len(self.scores) ** 2 // int(self.depends_on.sum())

    def is_uneven(self, threshold: float, budget: float) -> bool:
        """Return whether they do not show the budget if they are worth what the accepted ones and one more large
        cluster show.

        That cluster is as large as those that hold the share `LARGE` of the budget.
        """
        n, largest = len(self.scores), int(np.quantile(self.depends_on, 1 - LARGE * budget, method="higher"))
        accepted = self.scores >= threshold
        count, together = int(accepted.sum()), int(self.among(accepted).sum()) if accepted.any() else 0
        near = n * (count + largest) // (together + largest**2)
        is_less = near * UNEVEN_FROM < self.effective_negatives
        return is_less and share_upper_bound(near * count / n, near) > budget


def threshold_step(scores: Floats) -> float:
    """Return the distance between offered thresholds, which gives the range of the scores four digits.

    >>> threshold_step(np.array([0.1, 0.9])), threshold_step(np.array([10.0, 300.0]))
    (0.0001, 0.1)
    """
    spread = float(scores.max() - scores.min()) if len(scores) else 0.0
    return float(10.0 ** (math.floor(math.log10(spread)) - DIGITS + 1)) if spread > 0 else 10.0**-DIGITS


def next_threshold_above(score: float, step: float) -> float:
    """Return the lowest threshold on the grid that is above a score.

    >>> next_threshold_above(0.7123, 0.0001), next_threshold_above(0.71234, 0.0001)
    (0.7124, 0.7124)
    """
    digits = _decimal_places(step)
    found = round((math.floor(score / step) + 1) * step, digits)
    return found if found > score else round(found + step, digits)


def _decimal_places(power_of_ten: float) -> int:
    return max(0, -math.floor(math.log10(power_of_ten) + 0.5))


def decimals_of_threshold(threshold: float, scores: Floats, *, digits: int = DIGITS) -> int:
    """Return the number of decimals to which a threshold is rounded.

    They give the range of the scores so many digits, or more if the rounded threshold would accept other scores.

    >>> [decimals_of_threshold(0.61372, np.array([0.2, score]), digits=3) for score in (0.5, 0.6139)]
    [3, 4]
    """
    decimals = max(_decimal_places(threshold_step(scores)) + digits - DIGITS, 0)
    while (scores >= round(threshold, decimals)).sum() != (scores >= threshold).sum():
        decimals += 1
    return decimals


def strictest_useful_threshold(counted: Floats, positives: Floats, *, step: float) -> float | None:
    """Return the highest threshold on the grid that accepts 30 of the scores `counted`, or half of the positives'
    scores.

    Return None if there are fewer scores and no positives. Without the second condition, data with few positives would
    only have thresholds that also accept negatives.

    >>> strictest_useful_threshold(np.arange(100) / 100, np.array([0.2, 0.95]), step=0.0001)
    0.95
    """
    wanted = ((counted, MIN_ACCEPTED), (positives, -(-len(positives) // 2)))
    ends = [float(np.sort(scores)[-n]) for scores, n in wanted if 0 < n <= len(scores)]
    if not ends:
        return None
    return highest_threshold_reached(max(ends), step)


def highest_threshold_reached(score: float, step: float) -> float:
    """Return the highest threshold on the grid that a score reaches.

    >>> highest_threshold_reached(0.71239, 0.0001)
    0.7123
    """
    return round(math.floor(score / step + ROUNDING) * step, _decimal_places(step))


def upper_rate_bound(accepted: int, negatives: Negatives) -> float:
    """Return the upper 95% bound of the rate if `accepted` of these negatives are accepted.

    >>> round(upper_rate_bound(0, Negatives.of_clusters(np.zeros(598), np.arange(598) // 2)), 4)
    0.01
    """
    effective = negatives.effective_negatives
    return share_upper_bound(effective * accepted / len(negatives.scores), effective)


def lower_rate_bound_at_threshold(negatives: Negatives, threshold: float) -> float:
    """Return the lower 95% bound of the rate at one threshold. Only whole effective negatives count as accepted."""
    effective = negatives.effective_negatives
    hits = math.floor(effective * float((negatives.scores >= threshold).mean()) + ROUNDING)
    return 1 - share_upper_bound(effective - hits, effective)


def max_accepted_negatives(negatives: Negatives, budget: float) -> int:
    """Return the largest number of these negatives that may be accepted within the bound; -1 if even 0 is too many."""
    return bisect_right(range(len(negatives.scores)), budget, key=lambda count: upper_rate_bound(count, negatives)) - 1


def lowest_threshold(negatives: Negatives, *, budget: float, step: float = 10.0**-DIGITS) -> float | None:
    """Return the lowest threshold that is shown to keep the budget.

    Return None if not even a threshold that accepts no negative is shown to keep it. The threshold is never below
    `threshold_without_confidence`, since the bound is never below the rate in the sample.

    >>> lowest_threshold(Negatives.of_clusters(np.linspace(0, 1, 473), np.arange(473)), budget=0.01)
    0.9979
    """
    allowed = max_accepted_negatives(negatives, budget)
    return None if allowed < 0 else _threshold_accepting(negatives, allowed, step)


def threshold_without_confidence(negatives: Negatives, *, budget: float, step: float = 10.0**-DIGITS) -> float:
    """Return the lowest threshold whose rate in the sample itself is within the budget, as a plain search finds it.

    It breaks the promise about every second time, and is shown for comparison.
    """
    return _threshold_accepting(negatives, math.floor(budget * len(negatives.scores) + ROUNDING), step)


def _threshold_accepting(negatives: Negatives, count: int, step: float) -> float:
    """Return the lowest threshold that accepts at most `count` negatives; `count` is less than their number."""
    return next_threshold_above(float(np.sort(negatives.scores)[-1 - min(count, len(negatives.scores) - 1)]), step)


@dataclass(frozen=True)
class ThresholdPromise:
    """Whether a threshold keeps the budget.

    If the outcome is `kept`, `threshold` keeps it. If it is `broken`, no useful threshold keeps it: at `strictest`, the
    highest of these, the rate's lower 95% bound, `lower`, is above the budget. If it is `undecided`, these `negatives`
    can show neither. They are worth `effective` independent negatives, but fewer if a kept promise `is_uneven`. At the
    share of negatives that `strictest` accepts, about `needed` independent negatives would show that it keeps the
    budget; None if that share is above the budget. Up to `allowed` negatives may be accepted within the bound, -1 if
    none may.
    """

    budget: float
    outcome: Outcome
    threshold: float | None
    strictest: float | None
    lower: float | None
    negatives: int
    effective: int
    is_uneven: bool
    allowed: int
    needed: int | None


def judge_budget(negatives: Negatives, *, budget: float, strictest: float | None, step: float) -> ThresholdPromise:
    """Return the promise that these negatives allow. `strictest` is the highest useful threshold, None if there is
    none.

    A lowest threshold above `strictest` does not count.
    """
    counts = len(negatives.scores), negatives.effective_negatives
    allowed, needed = max_accepted_negatives(negatives, budget), units_needed_at(0.0, budget)
    if strictest is None:
        return ThresholdPromise(budget, "undecided", None, None, None, *counts, False, allowed, needed)
    lower = lower_rate_bound_at_threshold(negatives, strictest)
    found = lowest_threshold(negatives, budget=budget, step=step)
    outcome: Outcome = "broken" if lower > budget else "undecided"
    if found is not None and found <= strictest:
        outcome = "kept"
    needed = units_needed_at(float((negatives.scores >= strictest).mean()), budget)
    threshold = found if outcome == "kept" else None
    is_uneven = threshold is not None and negatives.is_uneven(threshold, budget)
    return ThresholdPromise(budget, outcome, threshold, strictest, lower, *counts, is_uneven, allowed, needed)

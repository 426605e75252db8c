"""The lowest cut-off whose rate of false accepts stays within a budget, with 95% confidence.

A pair is accepted where its score is the cut-off or more. The *rate of false accepts* at a cut-off is the mean over
clusters of the share of their negatives that it accepts.

Theorem. Let p(c) be a p-value of "the rate at c is above the budget" that rises where scores rise, as both bounds here
do. Test from the highest cut-off down, and stop at the first that is not rejected. Then the rate at the last one that
was rejected is above the budget with probability alpha at most, however many cut-offs were tried: the rate falls with
the cut-off, so whoever ends at one that is above the budget has rejected the highest of these, one true hypothesis
(fixed-sequence testing: Maurer, Hothorn and Lehmacher 1995; Bauer 1991, Stat. Med. 10). Where the cut-offs above the
budget have no highest one, the events "rejected at c" grow as c rises towards their supremum, each of probability alpha
at most, and so is their union. Cut-offs that are read off the data are covered too, since all real numbers are.

Both bounds take one number a cluster, so clusters may be of any size, and their items as alike as they like.

That *no* cut-off keeps a budget is certain where the lower bound of the rate at the strictest cut-off that is of use
lies above it: at every lower cut-off the rate is higher. Neither bound knows the budget, and the lower one is never
above the upper one. So what keeps a budget keeps every larger one, and what cannot keep one cannot keep a smaller one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.bounds import (
    ALPHA,
    lower_of_mean,
    lower_of_share,
    most_hits,
    units_needed_at,
    upper_of_share,
    wealth,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Bound = Literal["clopper-pearson", "betting"]
BOUNDS: tuple[Bound, ...] = ("clopper-pearson", "betting")
Outcome = Literal["kept", "broken", "undecided"]
MIN_ACCEPTED = 30  # pairs: a cut-off that accepts fewer, and fewer than half of the positives, is of no use
OF_USE = f"accepts {MIN_ACCEPTED} pairs or half of the positives"
DIGITS = 4


@dataclass(frozen=True)
class Negatives:
    """Pairs that should not be accepted: `scores` and the codes of their `clusters`, shape [n].

    `ranks`, shape [n], are random: the negative with the lowest one stands for its cluster.
    """

    scores: Floats
    clusters: Codes
    ranks: Floats

    @property
    def drawn(self) -> Floats:
        """The score of one random negative of each cluster; shape [clusters]."""
        order = np.lexsort((self.ranks, self.clusters))
        first = np.unique(self.clusters[order], return_index=True)[1]
        found: Floats = self.scores[order][first]
        return found

    def rates(self, accepted: NDArray[np.bool_]) -> Floats:
        """The share of each cluster's negatives that are accepted; shape [clusters]."""
        _, codes = np.unique(self.clusters, return_inverse=True)
        found: Floats = np.bincount(codes, accepted) / np.bincount(codes)
        return found


def step_of(scores: Floats) -> float:
    """The distance of cut-offs that are offered: four digits of the range of the scores.

    >>> step_of(np.array([0.1, 0.9])), step_of(np.array([10.0, 300.0]))
    (0.0001, 0.1)
    """
    spread = float(scores.max() - scores.min()) if len(scores) else 0.0
    return float(10.0 ** (math.floor(math.log10(spread)) - DIGITS + 1)) if spread > 0 else 10.0**-DIGITS


def above(score: float, step: float) -> float:
    """The lowest cut-off on the grid that a score does not reach.

    >>> above(0.7123, 0.0001), above(0.71234, 0.0001)
    (0.7124, 0.7124)
    """
    digits = max(0, -math.floor(math.log10(step) + 0.5))
    found = round((math.floor(score / step) + 1) * step, digits)
    return found if found > score else round(found + step, digits)


def lowest_cutoff(
    negatives: Negatives, *, budget: float, step: float = 10.0**-DIGITS, bound: Bound = BOUNDS[0]
) -> float | None:
    """The lowest cut-off that is shown to keep the budget; None if none is, not even one that accepts no negative.

    >>> scores = np.linspace(0, 1, 473)
    >>> lowest_cutoff(Negatives(scores, np.arange(473), scores), budget=0.01)
    0.9979
    """
    not_to_accept = _clopper_pearson(negatives, budget) if bound == "clopper-pearson" else _betting(negatives, budget)
    return None if not_to_accept is None else above(not_to_accept, step)


def _clopper_pearson(negatives: Negatives, budget: float) -> float | None:
    """The highest score that may not be accepted, by an exact test on one negative a cluster."""
    scores = np.sort(negatives.drawn)[::-1]
    allowed = most_hits(len(scores), budget)
    return float(scores[min(allowed, len(scores) - 1)]) if allowed >= 0 else None


def _betting(negatives: Negatives, budget: float) -> float | None:
    """The same by a bet on all negatives: the lowest score that may be the highest one not accepted."""
    scores = np.unique(negatives.scores)[::-1]
    low, high = -1, len(scores)  # rejected at `low`, where -1 is nothing; not rejected at `high`
    while low + 1 < high:
        middle = (low + high) // 2
        is_shown = wealth(negatives.rates(negatives.scores > scores[middle]), budget) >= 1 / ALPHA
        low, high = (middle, high) if is_shown else (low, middle)
    return float(scores[low]) if low >= 0 else None


def naive_cutoff(negatives: Negatives, *, budget: float, step: float = 10.0**-DIGITS) -> float:
    """The lowest cut-off whose rate in the sample itself is within the budget: what a plain search gives.

    It breaks the promise about every second time. It stands beside for comparison.
    """
    sizes = np.bincount(negatives.clusters)
    order = np.argsort(-negatives.scores, kind="stable")
    scores = negatives.scores[order]
    weights = 1 / sizes[negatives.clusters][order] / (sizes > 0).sum()
    total = np.cumsum(weights)
    first = int(np.searchsorted(total, budget + 1e-12, side="right"))
    return above(float(scores[min(first, len(scores) - 1)]), step)


def lower_bound_at(negatives: Negatives, cutoff: float, bound: Bound = BOUNDS[0]) -> float:
    """The lower 95% bound of the rate at one cut-off."""
    if bound == "clopper-pearson":
        drawn = negatives.drawn
        return lower_of_share(int((drawn >= cutoff).sum()), len(drawn))
    return lower_of_mean(negatives.rates(negatives.scores >= cutoff))


def bound_at(negatives: Negatives, cutoff: float) -> float:
    """The upper 95% bound of the rate at one cut-off, by Clopper and Pearson on one negative a cluster."""
    drawn = negatives.drawn
    return upper_of_share(int((drawn >= cutoff).sum()), len(drawn))


@dataclass(frozen=True)
class Promise:
    """Whether a cut-off keeps the budget.

    `kept`: `cutoff` does. `broken`: none that is of use does, for the rate at `strictest`, the highest of these, has a
    lower 95% bound, `lower`, above the budget. `undecided`: neither can be shown with `clusters` of negatives; with the
    share of them that `strictest` accepts, about `needed` would show that it keeps the budget, None where that share is
    above it. `allowed` false accepts among one negative a cluster are within the bound, -1 where not even none is.
    """

    budget: float
    bound: Bound
    outcome: Outcome
    cutoff: float | None
    strictest: float | None
    lower: float | None
    clusters: int
    allowed: int
    needed: int | None


def promise(
    negatives: Negatives, *, budget: float, strictest: float | None, step: float, bound: Bound = BOUNDS[0]
) -> Promise:
    """The promise that these negatives allow; `strictest` is the highest cut-off that is of use, None if none is.

    A lowest cut-off above it is none.
    """
    drawn = negatives.drawn
    allowed, needed = most_hits(len(drawn), budget), units_needed_at(0.0, budget)
    if strictest is None:
        return Promise(budget, bound, "undecided", None, None, None, len(drawn), allowed, needed)
    lower = lower_bound_at(negatives, strictest, bound)
    found = lowest_cutoff(negatives, budget=budget, step=step, bound=bound)
    outcome: Outcome = "broken" if lower > budget else "undecided"
    if found is not None and found <= strictest:
        outcome = "kept"
    needed = units_needed_at(float((drawn >= strictest).mean()), budget)
    cutoff = found if outcome == "kept" else None
    return Promise(budget, bound, outcome, cutoff, strictest, lower, len(drawn), allowed, needed)

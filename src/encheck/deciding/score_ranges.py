"""The score ranges of two models, and how a threshold in use moves.

A threshold is mapped by what it lets through: as many queries have a first answer at the new threshold or above as had
one at the old. The interval comes from one bootstrap over clusters of queries in which both models' shares are drawn
together and the threshold is chosen anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.sides import Answered, Asked, Side
from encheck.similarity import SIMILARITIES
from encheck.statistics.bootstrap import interval
from encheck.statistics.figures import Figure, Log

Floats = NDArray[np.float64]
PERCENTILES = (5, 25, 50, 75, 95)
RANDOM_PAIRS = 2_000
FEWEST_ACCEPTED = 30


@dataclass(frozen=True, slots=True)
class Range:
    """Percentiles (5, 25, 50, 75, 95) of scores of first answers, and of random pairs of a query and a document."""

    first: tuple[float, ...]
    random: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """A threshold in use: the share of queries that it answered, what it answers with the new model, and the new one.

    Shares are by how often each query was asked. `threshold` is None if `refused` says why.
    """

    old: float
    answered: Figure
    now: Figure
    threshold: Figure | None
    refused: str = ""

    @property
    def says(self) -> str:
        """In words."""
        moved = f"threshold {self.old:g} answered {self.answered.says} of queries, answers {self.now.says} now"
        if self.threshold is None:
            return f"{moved}; {self.refused}"
        one = self.threshold
        return f"{moved}; as many at {one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def ranged(side: Side, found: Answered, asked: Asked, *, seed: int) -> Range:
    """Where a model's scores lie."""
    assert side.queries is not None
    rng = np.random.default_rng(seed)
    rows, columns = (rng.integers(0, size, RANDOM_PAIRS) for size in (len(asked.queries), len(asked.documents)))
    scores = SIMILARITIES[side.similarity](side.queries[rows], side.documents[columns])
    return Range(_percentiles(firsts(found)), _percentiles(np.nan_to_num(scores)))


def firsts(found: Answered) -> Floats:
    """The score of each query's first answer; shape [n]."""
    return np.array([scores[0] for scores in found.scores], np.float64)


def _percentiles(scores: Floats) -> tuple[float, ...]:
    return tuple(float(one) for one in np.percentile(scores, PERCENTILES))


def mapped(before: Floats, after: Floats, threshold: float, log: Log) -> Mapped:
    """The new model's threshold at which as many first answers pass; scores of shape [n] each.

    Refused where fewer than 30 queries pass the old one, or all do.
    """
    passed = before >= threshold
    answered, now = log.mean(passed.astype(float)), log.mean((after >= threshold).astype(float))
    count = int(passed.sum())
    if count < FEWEST_ACCEPTED:
        why = f"{count} queries pass it, too few to map it by ({FEWEST_ACCEPTED} are needed)"
        return Mapped(threshold, answered, now, None, why)
    if count == len(before):
        return Mapped(threshold, answered, now, None, "all queries pass it, so no new threshold follows")
    order = np.argsort(-after, kind="stable")
    value = _chosen(log.weights[None, :], passed, after, order)[0]
    drawn = [_chosen(some * log.weights, passed, after, order) for some in log.resampler.item_weights()]
    low, high = interval(np.concatenate(drawn))
    return Mapped(threshold, answered, now, Figure(float(value), float(low), float(high)))


def _chosen(weights: Floats, passed: NDArray[np.bool_], after: Floats, order: NDArray[np.intp]) -> Floats:
    """In each replicate, the score at which the weight that passed is reached, half way to the next; `weights` [r, n].

    At a score itself, rounding would decide whether that query passes.
    """
    target = weights[:, passed].sum(axis=1)
    reached = np.cumsum(weights[:, order], axis=1) >= target[:, None] - 1e-9
    last, scores = reached.argmax(axis=1), after[order]
    found: Floats = (scores[last] + scores[np.minimum(last + 1, len(scores) - 1)]) / 2
    return found

"""Find the threshold of a new model that matches the old model's threshold.

In each replicate of one bootstrap over clusters, both models see the same pairs, and the new threshold is chosen anew.
So the interval of the threshold, and of what it does, holds the noise of the choice too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.operations.threshold.rates import BASES, Base, Part, Point, Population, precision
from encheck.statistics.bootstrap import interval
from encheck.statistics.false_accepts import MIN_ACCEPTED
from encheck.statistics.figures import Figure

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
REPLICATES = 2_000
WEIGHTS_AT_ONCE = 2_000_000
ROUNDING = 1e-9  # of sums of weights
NAMED = {"hits": "hits", "false_accepts": "false accepts", "recall": "recall"}
COUNTED = {"hits": "pairs", "false_accepts": "negatives", "recall": "positives"}


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of each rate, new less old; None of the one that stays, and of what the data cannot say."""

    hits: Figure | None = None
    false_accepts: Figure | None = None
    recall: Figure | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """The new model's threshold for the same `way`; `accepted` of what is counted had the old model accepted.

    `point` is what the threshold does; its intervals hold the noise of the choice. Where `refused` says why, there is
    no threshold.
    """

    way: Base
    accepted: int
    threshold: Figure | None = None
    point: Point | None = None
    change: Change = Change()
    refused: str = ""


def matched(
    population: Population, old: Floats, old_threshold: float, new: Floats, way: Base, *, least: int = MIN_ACCEPTED
) -> Match:
    """The threshold of `new` at which the share that `way` counts is that of `old` at its threshold.

    It lies half way between two scores: at one of them, the pairs between the two would be lost or won by chance.
    Refused where the old threshold accepts fewer than `least` of what is counted, or where the data lack the label.
    """
    if not population.has(way):
        return Match(way, 0, refused=f"no pair is labelled as {COUNTED[way][:-1]}")
    accepted = int((old[population.items(way)] >= old_threshold).sum())
    if accepted < least:
        few = f"the old threshold accepts {accepted} {COUNTED[way]}, but {least} are needed to choose by"
        return Match(way, accepted, refused=few)
    both = _Both(population, old, old_threshold, new, way)
    values = both.chosen(np.ones((1, population.clusters), np.float32))
    rows = max(1, WEIGHTS_AT_ONCE // len(population.pairs.first))
    slices = [population.weights[:REPLICATES][k : k + rows] for k in range(0, REPLICATES, rows)]
    drawn = np.concatenate([both.chosen(some) for some in slices if len(some)])
    threshold, *rates = (_rate(float(value), drawn[:, k]) for k, value in enumerate(values[0]))
    does = dict(zip(both.names, rates, strict=False))
    change = {base: rates[len(does) + k] for k, base in enumerate(both.bases) if base != way}
    hits = int((new[population.items("hits")] >= threshold.value).sum())
    point = Point(threshold.value, hits, does["hits"], *map(does.get, ("false_accepts", "recall", "precision")))
    return Match(way, accepted, threshold, point, Change(**change))


def _rate(value: float, replicates: Floats) -> Figure:
    low, high = interval(replicates)
    return Figure(value, float(low), float(high))


@dataclass(frozen=True)
class _Both:
    """Two models on the same pairs."""

    population: Population
    old: Floats
    old_threshold: float
    new: Floats
    way: Base

    @property
    def bases(self) -> list[Base]:
        """What the data can say."""
        return [base for base in BASES if self.population.has(base)]

    @property
    def names(self) -> list[str]:
        """What the new threshold does."""
        return [*self.bases, *(["precision"] if self.population.positives is not None else [])]

    def chosen(self, weights: NDArray[np.float32]) -> Floats:
        """In each replicate the new threshold, what it does (as `names`), its changes (as `bases`); shape [r, k]."""
        thresholds = self._thresholds(weights)
        shares = {base: self._shares(base, weights, thresholds) for base in self.bases}
        does = [new for new, _ in shares.values()]
        if (positives := self.population.positives) is not None:
            does.append(precision(shares["recall"][0], shares["false_accepts"][0], positives))
        return np.stack([thresholds, *does, *(new - old for new, old in shares.values())], axis=1)

    def _thresholds(self, weights: NDArray[np.float32]) -> Floats:
        """Half way from the last score that is accepted to the first one that is not; shape [r]."""
        items, drawn = self.population.items(self.way), self._item_weights(self.way, weights)
        target = drawn @ (self.old[items] >= self.old_threshold)
        order = np.argsort(-self.new[items], kind="stable")
        scores, total = self.new[items][order], np.cumsum(drawn[:, order], axis=1)
        last = (total >= target[:, None] - ROUNDING).argmax(axis=1)
        after = total > total[np.arange(len(total)), last][:, None] + ROUNDING
        following = np.where(after.any(axis=1), after.argmax(axis=1), last)
        found: Floats = np.where(np.isfinite(target), (scores[last] + scores[following]) / 2, np.nan)
        return found

    def _shares(self, base: Base, weights: NDArray[np.float32], thresholds: Floats) -> tuple[Floats, Floats]:
        """What the new model accepts at each replicate's threshold, and the old one at its own; shape [r]."""
        items, drawn = self.population.items(base), self._item_weights(base, weights)
        order = np.argsort(-self.new[items], kind="stable")
        counts = np.searchsorted(-self.new[items][order], -thresholds, side="right")
        total = np.concatenate([np.zeros((len(drawn), 1)), np.cumsum(drawn[:, order], axis=1)], axis=1)
        return total[np.arange(len(drawn)), counts], drawn @ (self.old >= self.old_threshold)[items]

    def _item_weights(self, base: Base, weights: NDArray[np.float32]) -> Floats:
        """The weight of each item in each replicate, of all together 1 (NaN if none is drawn); shape [r, m]."""
        parts = self.population.parts(base)
        return np.concatenate([_weighed(self.population.pairs.codes, part, weights) for part in parts], axis=1)


def _weighed(codes: Codes, part: Part, weights: NDArray[np.float32]) -> Floats:
    drawn = weights[:, codes[part.items]].astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = drawn * (part.share / drawn.sum(axis=1, keepdims=True))
    return found

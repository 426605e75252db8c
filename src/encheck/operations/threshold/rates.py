"""What thresholds accept: hits, false accepts, recall and precision, with one bootstrap over clusters for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError, UsageError
from encheck.operations.threshold.pairs import NEGATIVE, POSITIVE, UNKNOWN, Pairs
from encheck.statistics.bootstrap import bootstrap_weights, interval, widened
from encheck.statistics.false_accepts import Negatives, strictest_of_use
from encheck.statistics.figures import Figure

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Base = Literal["hits", "false_accepts", "recall"]
BASES: tuple[Base, ...] = ("hits", "false_accepts", "recall")


@dataclass(frozen=True, slots=True)
class Point:
    """What one threshold does; `accepted` pairs of those that hits are counted on. None: the data cannot say."""

    threshold: float
    accepted: int
    hits: Figure
    false_accepts: Figure | None
    recall: Figure | None
    precision: Figure | None


@dataclass(frozen=True, slots=True)
class Part:
    """Items that make up `share` of a base; shape [m]."""

    items: Codes
    share: float = 1.0


def _part(items: Codes, share: float = 1.0) -> tuple[Part, ...]:
    return (Part(items, share),) if len(items) else ()


class Population:
    """Pairs as a sample of production.

    False accepts and recall are shares of the distinct pairs with label 0 and label 1. Hits are the share of pairs that
    are accepted: of those without a label where there are some, since these are as they came, else of all; with
    `positives`, the share of production's pairs that are positive, hits are recall and false accepts weighed by it.
    """

    def __init__(self, pairs: Pairs, *, positives: float | None = None, seed: int = 0) -> None:
        self.pairs, self.positives, self.seed = pairs, positives, seed
        self.clusters = int(pairs.codes.max()) + 1
        if self.clusters < 2:
            raise DataError(
                f"{pairs.name}: all {len(pairs.first):,} pairs are one cluster, so no interval can be computed. "
                "Remedy: pairs of more topics, or a column `cluster` that tells them apart"
            )
        labelled = {label: pairs.distinct(label) for label in (NEGATIVE, POSITIVE)}
        if positives is not None and not all(map(len, labelled.values())):
            raise UsageError("--positives weighs pairs with label 1 and label 0, but the data do not have both")
        self._parts = {
            "false_accepts": _part(labelled[NEGATIVE]),
            "recall": _part(labelled[POSITIVE]),
            "hits": self._hits(labelled),
        }

    def _hits(self, labelled: Mapping[int, Codes]) -> tuple[Part, ...]:
        unknown = self.pairs.of(UNKNOWN)
        if len(unknown) or self.positives is None:
            return _part(unknown if len(unknown) else np.arange(len(self.pairs.first)))
        return (*_part(labelled[POSITIVE], self.positives), *_part(labelled[NEGATIVE], 1 - self.positives))

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """How often each cluster is drawn in each replicate; shape [replicates, clusters]."""
        return bootstrap_weights(self.clusters, self.seed)

    def parts(self, base: Base) -> tuple[Part, ...]:
        """The items that a figure is counted on; none where the data lack the label."""
        return self._parts[base]

    def items(self, base: Base) -> Codes:
        """The same as one array."""
        return np.concatenate([part.items for part in self._parts[base]])

    def has(self, base: Base) -> bool:
        """Whether the data can say this."""
        return bool(self._parts[base])

    def negatives(self, scores: Floats) -> Negatives:
        """What a promise rests on; DataError if no pair has label 0."""
        if not self.has("false_accepts"):
            raise DataError(
                f"{self.pairs.name}: no pair has label 0. A false accept is a pair with label 0 that is accepted. "
                "Remedy: label some pairs of production that mean different things"
            )
        items = self.items("false_accepts")
        return Negatives(scores[items], self.pairs.depends_on(items))

    def strictest(self, scores: Floats, *, step: float) -> float | None:
        """The highest threshold that is of use (`strictest_of_use`) for the pairs that hits are counted on."""
        positives = self.items("recall") if self.has("recall") else np.zeros(0, np.intp)
        return strictest_of_use(scores[self.items("hits")], scores[positives], step=step)

    def points(self, scores: Floats, thresholds: Sequence[float]) -> list[Point]:
        """What each of these thresholds does."""
        cuts = np.asarray(thresholds, float)
        both = {base: self._shares(base, scores, cuts) for base in BASES if self.has(base)}
        rates = {base: self._rates(base, *both[base]) for base in both}
        precisions = self._precisions(both, rates) if self.positives is not None else [None] * len(cuts)
        accepted = (scores[self.items("hits")][:, None] >= cuts).sum(axis=0)
        none: list[Figure | None] = [None] * len(cuts)
        return [
            Point(float(cut), int(count), hits, false, recall, exact)
            for cut, count, hits, false, recall, exact in zip(
                cuts, accepted, rates["hits"], rates.get("false_accepts", none), rates.get("recall", none), precisions,
                strict=True,
            )
        ]  # fmt: skip

    def _shares(self, base: Base, scores: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """The share that each threshold accepts, shape [k], and in each replicate, shape [replicates, k]."""
        value, replicates = np.zeros(len(cuts)), np.zeros((len(self.weights), len(cuts)))
        for part in self.parts(base):
            codes = self.pairs.codes[part.items]
            table = np.zeros((self.clusters, len(cuts) + 1))
            columns = [(scores[part.items] >= cut).astype(float) for cut in cuts]
            for k, column in enumerate([*columns, np.ones(len(codes))]):
                table[:, k] = np.bincount(codes, column, minlength=self.clusters)
            drawn = (self.weights @ table.astype(np.float32)).astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                value += part.share * table[:, :-1].sum(axis=0) / table[:, -1].sum()
                replicates += part.share * drawn[:, :-1] / drawn[:, -1:]
        return value, replicates

    def _rates(self, base: Base, values: Floats, replicates: Floats) -> list[Figure]:
        items = self.items(base)
        n, sizes = len(items), np.bincount(self.pairs.codes[items])
        clusters = n**2 // int((sizes**2).sum())  # so many of equal size tell as much (Kish 1965)
        low, high = interval(replicates)
        found = []
        for value, a, b in zip(values.tolist(), low.tolist(), high.tolist(), strict=True):
            found.append(Figure(value, *widened(value, a, b, n=n, clusters=clusters)))
        return found

    def _precisions(
        self, both: Mapping[Base, tuple[Floats, Floats]], rates: Mapping[Base, list[Figure]]
    ) -> list[Figure | None]:
        """By Bayes' rule; where few negatives are accepted, no surer than false accepts themselves are."""
        assert self.positives is not None
        value, drawn = (
            precision(both["recall"][i], both["false_accepts"][i], self.positives) for i in (0, 1)
        )  # fmt: skip
        low, high = interval(drawn)
        found: list[Figure | None] = []
        for k, one in enumerate(value.tolist()):
            ends = [
                precision(np.array(rates["recall"][k].value), np.array(end), self.positives).item()
                for end in (rates["false_accepts"][k].high, rates["false_accepts"][k].low)
            ]
            is_there = np.isfinite(one)
            found.append(
                Figure(one, float(np.fmin(low[k], ends[0])), float(np.fmax(high[k], ends[1]))) if is_there else None
            )
        return found


def precision(recall: Floats, false_accepts: Floats, positives: float) -> Floats:
    """The share of accepted pairs that are positive, by Bayes' rule, where `positives` of all are.

    >>> precision(np.array([0.8]), np.array([0.01]), 0.05).round(3).tolist()
    [0.808]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = positives * recall / (positives * recall + (1 - positives) * false_accepts)
    return found

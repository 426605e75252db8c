"""The similarities that a check works on: of one model, calibrated on demand, with word overlap beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.bootstrap import Resampler
from encheck.types import Chain, SentencePair

Floats = NDArray[np.float64]
DECIMALS = 6  # of a difference of two similarities that are more than rounding in fp32


@dataclass(frozen=True)
class Scale:
    """What calibrates a scorer: its mean over random cross-topic pairs is 0, identical text is 1.

    `pairs` is the number of random pairs behind `reference`, `spread` their standard deviation.
    """

    reference: float
    identity: float = 1.0
    pairs: int = 0
    spread: float = 0.0

    def error(self, mean: float) -> float:
        """What the finite pool adds to the standard error of what moves with the reference by `mean` (delta method)."""
        return abs(mean) * self.spread / self.unit / float(np.sqrt(self.pairs)) if self.pairs else 0.0

    def similarity(self, values: Floats) -> Floats:
        """(x - reference) / (identity - reference). A scorer that gives both the same value has no scale: NaN."""
        return (values - self.reference) / self.unit

    def margin(self, values: Floats) -> Floats:
        """x / (identity - reference): differences lose the offset."""
        return values / self.unit

    @property
    def unit(self) -> float:
        """How far identical text is from unrelated text; NaN where the scorer cannot tell them apart."""
        unit = self.identity - self.reference
        return unit if unit > 1e-9 else float("nan")


@dataclass(frozen=True)
class PairScores:
    """Similarity of each pair, shape [n], with labels (1 paraphrase, 0 none) where the check compares two sorts.

    `items` are the pairs themselves, for what depends on their texts, splits or graded scores. `decision` is where a
    trained head of two classes says yes, None for a model without one.
    """

    values: Floats
    labels: NDArray[np.int8]
    resampler: Resampler
    scale: Scale
    lexical: PairScores | None = None
    suffix: str = ""
    items: tuple[SentencePair, ...] = ()
    decision: float | None = None

    def of(self, chosen: NDArray[np.intp]) -> PairScores:
        """A selection of the pairs; the replicates stay the same."""
        return replace(
            self,
            values=self.values[chosen],
            labels=self.labels[chosen],
            resampler=self.resampler.of(chosen),
            lexical=self.lexical.of(chosen) if self.lexical else None,
            items=tuple(self.items[i] for i in chosen) if self.items else (),
        )

    def clusters_of(self, *labels: int) -> int:
        """Number of clusters that hold a pair with this label; of several labels, of the one that has fewest."""
        return min(self.resampler.of(np.flatnonzero(self.labels == label)).clusters for label in labels)

    @property
    def calibrated(self) -> PairScores:
        """The same on the scale where 0 is a random pair and 1 is identical text."""
        lexical = self.lexical.calibrated if self.lexical else None
        return replace(self, values=self.scale.similarity(self.values), lexical=lexical, suffix="_calibrated")


@dataclass(frozen=True)
class MarginScores:
    """Similarity of the source with the near and with the far text of each triplet, shape [n] each.

    `found` holds the far texts where a search found them, and the items do not name them. `unit` is what the
    similarities were divided by.
    """

    near: Floats
    far: Floats
    resampler: Resampler
    scale: Scale
    lexical: MarginScores | None = None
    suffix: str = ""
    found: tuple[str, ...] = ()
    unit: float = 1.0

    @property
    def margins(self) -> Floats:
        """Sim(source, near) - Sim(source, far), shape [n]; what differs by no more than fp32 rounds is a tie."""
        return ((self.near - self.far) * self.unit).round(DECIMALS) / self.unit

    @property
    def calibrated(self) -> MarginScores:
        """The same on the scale where 0 is a random pair and 1 is identical text."""
        return replace(
            self,
            near=self.scale.similarity(self.near),
            far=self.scale.similarity(self.far),
            unit=self.scale.unit,
            lexical=self.lexical.calibrated if self.lexical else None,
            suffix="_calibrated",
        )


@dataclass(frozen=True)
class TurnedScores:
    """Similarity of each labelled pair in both orders, shape [n] each; `validation` marks that split's pairs."""

    forward: Floats
    backward: Floats
    labels: NDArray[np.int8]
    validation: NDArray[np.bool_]
    resampler: Resampler
    scale: Scale
    lexical: TurnedScores | None = None
    suffix: str = ""

    @property
    def asymmetry(self) -> Floats:
        """|s(a, b) - s(b, a)|, shape [n]."""
        return np.abs(self.forward - self.backward)

    @property
    def calibrated(self) -> TurnedScores:
        """The same on the scale where 0 is a random pair and 1 is identical text."""
        forward, backward = self.scale.similarity(self.forward), self.scale.similarity(self.backward)
        lexical = self.lexical.calibrated if self.lexical else None
        return replace(self, forward=forward, backward=backward, lexical=lexical, suffix="_calibrated")


@dataclass(frozen=True)
class ChainScores:
    """Similarity of the paraphrase and then of each member of each chain, shape [n, 1 + members].

    Ties are equal (see `tied`); NaN where a chain is shorter than the longest. `decision` as of pairs.
    """

    values: Floats
    items: tuple[Chain, ...]
    resampler: Resampler
    scale: Scale
    lexical: ChainScores | None = None
    suffix: str = ""
    decision: float | None = None

    def of(self, chosen: NDArray[np.intp]) -> ChainScores:
        """A selection of the chains; the replicates stay the same."""
        lexical = self.lexical.of(chosen) if self.lexical else None
        items, resampler = tuple(self.items[i] for i in chosen), self.resampler.of(chosen)
        return replace(self, values=self.values[chosen], items=items, resampler=resampler, lexical=lexical)

    @property
    def losses(self) -> Floats:
        """By how much the best member beats the paraphrase (negative: the paraphrase is on top); shape [n]."""
        return np.asarray(np.nanmax(self.values[:, 1:], axis=1) - self.values[:, 0])


def tied(values: Floats) -> Floats:
    """The scores with those in a row made equal that differ by no more than fp32 rounds; shape [n, k], NaN stays.

    >>> tied(np.array([[0.3, 0.1 + 2e-7, np.nan, 0.1], [0.5, 0.4, 0.3, 0.2]])).tolist()
    [[0.3, 0.1, nan, 0.1], [0.5, 0.4, 0.3, 0.2]]
    """
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    apart = np.diff(ranked, axis=1, prepend=-np.inf).round(DECIMALS) != 0  # NaN, at the end, is apart from all
    first = np.maximum.accumulate(np.where(apart, np.arange(values.shape[1]), 0), axis=1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(ranked, first, axis=1), axis=1)
    return result


Scores = PairScores | MarginScores | TurnedScores | ChainScores


def worst(scores: Scores) -> Sequence[int]:
    """Positions of the items from the most wrong to the least.

    The smallest margin comes first, or the least expected similarity, or the order that matters most.
    """
    if isinstance(scores, MarginScores):
        return list(np.argsort(scores.margins, kind="stable"))
    if isinstance(scores, TurnedScores):
        return list(np.argsort(-scores.asymmetry, kind="stable"))
    if isinstance(scores, ChainScores):
        return list(np.argsort(-scores.losses, kind="stable"))
    centre = scores.values - np.nanmean(scores.values)
    wrong = np.where(scores.labels == 0, -centre, centre)
    return list(np.argsort(wrong, kind="stable"))

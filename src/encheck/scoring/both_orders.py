"""Scores of pairs in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import CaseId, ItemId
from encheck.scoring.frame import ItemFrame, TextColumns, edits_json
from encheck.scoring.item import ExampleLine, Item, Kind
from encheck.scoring.measure import TextScorer
from encheck.scoring.pairs import ScoredPairs, TuningScores
from encheck.scoring.scale import Floats, Scale
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler

BOTH_ORDERS = Kind("both_orders", "turned", lambda: BothOrdersScores, compares="texts")


@dataclass(frozen=True, slots=True)
class BothOrders(Item):
    """A labelled pair that is scored in both orders."""

    kind: ClassVar[Kind] = BOTH_ORDERS
    id: ItemId
    first: str
    second: str
    label: int
    cluster: str
    split: str = ""
    shares: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: the pair in its order, then reversed."""
        return ((self.first, self.second), (self.second, self.first))


@dataclass(frozen=True)
class BothOrdersScores(ScoredPairs):
    """Similarity of each measured pair in both orders, shape [n] each.

    `decision` is the threshold of a trained two-class head, None for a model without one; `learned` are the scores to
    choose a threshold on, None if the data have no validation part with both labels.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (WORD_OVERLAP,)
    searches: ClassVar[bool] = False
    calibrates: ClassVar[bool] = True
    forward: Floats
    backward: Floats
    labels: NDArray[np.int8]
    resampler: Resampler
    scale: Scale
    surface: Mapping[str, Self] = field(default_factory=dict)
    suffix: str = ""
    items: Sequence[BothOrders] = ()
    decision: float | None = None
    learned: TuningScores | None = None

    @classmethod
    def measured(cls, items: Sequence[Any], by: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """The scores of these pairs, in their order and reversed."""
        pairs: tuple[BothOrders, ...] = tuple(items)
        first, second = [p.first for p in pairs], [p.second for p in pairs]
        labels = np.array([p.label for p in pairs], np.int8)
        both = by.pairs(first, second), by.pairs(second, first)
        return cls(*both, labels, resampler, scale, items=pairs, decision=by.decision)

    def of(self, chosen: NDArray[np.intp]) -> Self:
        """Select some of the pairs; the replicates stay the same."""
        return replace(
            self,
            forward=self.forward[chosen],
            backward=self.backward[chosen],
            labels=self.labels[chosen],
            resampler=self.resampler.of(chosen),
            surface={name: beside.of(chosen) for name, beside in self.surface.items()},
            items=self.select(chosen),
        )

    @property
    def asymmetry(self) -> Floats:
        """|s(a, b) - s(b, a)|, shape [n]."""
        return np.abs(self.forward - self.backward)

    @property
    def calibrated(self) -> Self:
        """The same on the scale where 0 is a random pair and 1 is identical text."""
        forward, backward = self.scale.similarity(self.forward), self.scale.similarity(self.backward)
        surface = {name: beside.calibrated for name, beside in self.surface.items()}
        learned = self.learned and self.learned.on(self.scale)
        decision = None if self.decision is None else float(self.scale.similarity(np.array(self.decision)))
        return replace(
            self, forward=forward, backward=backward, surface=surface, suffix="_calibrated", decision=decision,
            learned=learned,
        )  # fmt: skip

    def worst(self) -> list[int]:
        """Positions of the pairs, largest effect of the order first."""
        return self.smallest(-self.asymmetry)

    def frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """The pairs as rows of the item file; the far score is that of the reversed pair, without a text."""
        pairs: Sequence[BothOrders] = items
        seconds, none = tuple(p.second for p in pairs), (edits_json(()),) * len(pairs)
        overlap = self.surface.get(WORD_OVERLAP)
        near = TextColumns(seconds, self.forward, overlap.forward if overlap else None, none)
        far = TextColumns((), self.backward, overlap.backward if overlap else None)
        return ItemFrame.of_items(
            BOTH_ORDERS, case, pairs,
            sources=tuple(p.first for p in pairs), near=near, far=far, labels=tuple(p.label for p in pairs),
        )  # fmt: skip

    def example(self, item: Any, position: int) -> list[ExampleLine]:
        """The pair as a failure message shows it."""
        forward, backward = float(self.forward[position]), float(self.backward[position])
        return [ExampleLine("first  ", item.first, forward), ExampleLine("turned ", item.second, backward)]

"""Score pairs in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import ItemId
from encheck.scoring.item import ExampleLine, Item, ItemFrame, Kind, TextColumns, TextScorer, edits_json
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
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: the pair in its order, then reversed."""
        return ((self.first, self.second), (self.second, self.first))


@dataclass(frozen=True)
class BothOrdersScores(ScoredPairs[BothOrders]):
    """The similarity of each measured pair in both orders, shape [n] each.

    `head_threshold` is the threshold of a trained two-class head; None for a model without one. `tuning` are the scores
    to choose a threshold on; None if the data have no validation part with both labels.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (WORD_OVERLAP,)
    forward: Floats
    backward: Floats
    labels: NDArray[np.int8]
    resampler: Resampler
    scale: Scale
    items: Sequence[BothOrders] = ()
    head_threshold: float | None = None
    tuning: TuningScores | None = None

    @classmethod
    def score_items(cls, items: Sequence[BothOrders], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these pairs in their own order and reversed."""
        first, second = [p.first for p in items], [p.second for p in items]
        labels = np.array([p.label for p in items], np.int8)
        both = scorer.score_pairs(first, second), scorer.score_pairs(second, first)
        return cls(*both, labels, resampler, scale, items=tuple(items), head_threshold=scorer.head_threshold)

    def select(self, chosen: NDArray[np.intp]) -> Self:
        """Select some of the pairs; the replicates stay the same."""
        return replace(
            self,
            forward=self.forward[chosen],
            backward=self.backward[chosen],
            labels=self.labels[chosen],
            resampler=self.resampler.select(chosen),
            surface={name: beside.select(chosen) for name, beside in self.surface.items()},
            items=self.select_items(chosen),
        )

    @property
    def asymmetry(self) -> Floats:
        """|s(a, b) - s(b, a)|, shape [n]."""
        return np.abs(self.forward - self.backward)

    @property
    def calibrated(self) -> Self:
        """The same scores on the scale where 0 is a random pair and 1 is identical text."""
        forward, backward = self.scale.calibrate(self.forward), self.scale.calibrate(self.backward)
        surface = {name: beside.calibrated for name, beside in self.surface.items()}
        learned = self.tuning and self.tuning.calibrate(self.scale)
        decision = None if self.head_threshold is None else float(self.scale.calibrate(np.array(self.head_threshold)))
        return replace(
            self, forward=forward, backward=backward, surface=surface, suffix="_calibrated", head_threshold=decision,
            tuning=learned,
        )  # fmt: skip

    def positions_worst_first(self) -> list[int]:
        """Return the positions of the pairs, sorted by the effect of the order, the largest first."""
        return self.ascending_positions(-self.asymmetry)

    def to_item_frame(self, case: str, items: Sequence[BothOrders]) -> ItemFrame:
        """Return the pairs as rows of the item file. The far score is that of the reversed pair and has no text."""
        seconds, none = tuple(p.second for p in items), (edits_json(()),) * len(items)
        overlap = self.surface.get(WORD_OVERLAP)
        near = TextColumns(seconds, self.forward, overlap.forward if overlap else None, none)
        far = TextColumns((), self.backward, overlap.backward if overlap else None)
        frame = ItemFrame.from_items(BOTH_ORDERS, case, items, (p.first for p in items), near, far)
        return replace(frame, labels=tuple(p.label for p in items))

    def example_lines(self, item: BothOrders, position: int) -> list[ExampleLine]:
        """Return the lines that show the pair in a failure message."""
        forward, backward = float(self.forward[position]), float(self.backward[position])
        return [ExampleLine("first  ", item.first, forward), ExampleLine("turned ", item.second, backward)]

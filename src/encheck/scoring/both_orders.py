"""Score pairs in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import CaseId, ItemId
from encheck.scoring.frame import ItemFrame, TextColumns, edits_json
from encheck.scoring.item import ExampleLine, Item, Kind
from encheck.scoring.pairs import ScoredPairs, TuningScores
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.text_scorers import TextScorer
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
class BothOrdersScores(ScoredPairs):
    """The similarity of each measured pair in both orders, shape [n] each.

    `head_threshold` is the threshold of a trained two-class head; None for a model without one. `tuning` are the scores
    to choose a threshold on; None if the data have no validation part with both labels.
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
    head_threshold: float | None = None
    tuning: TuningScores | None = None

    @classmethod
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these pairs in their own order and reversed."""
        pairs: tuple[BothOrders, ...] = tuple(items)
        first, second = [p.first for p in pairs], [p.second for p in pairs]
        labels = np.array([p.label for p in pairs], np.int8)
        both = scorer.score_pairs(first, second), scorer.score_pairs(second, first)
        return cls(*both, labels, resampler, scale, items=pairs, head_threshold=scorer.head_threshold)

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

    def to_item_frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """Return the pairs as rows of the item file. The far score is that of the reversed pair and has no text."""
        pairs: Sequence[BothOrders] = items
        seconds, none = tuple(p.second for p in pairs), (edits_json(()),) * len(pairs)
        overlap = self.surface.get(WORD_OVERLAP)
        near = TextColumns(seconds, self.forward, overlap.forward if overlap else None, none)
        far = TextColumns((), self.backward, overlap.backward if overlap else None)
        return ItemFrame.from_items(
            BOTH_ORDERS, case, pairs,
            sources=tuple(p.first for p in pairs), near=near, far=far, labels=tuple(p.label for p in pairs),
        )  # fmt: skip

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
        """Return the lines that show the pair in a failure message."""
        forward, backward = float(self.forward[position]), float(self.backward[position])
        return [ExampleLine("first  ", item.first, forward), ExampleLine("turned ", item.second, backward)]

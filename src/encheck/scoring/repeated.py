"""Scores of texts that are encoded twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId, ItemId
from encheck.scoring.frame import ItemFrame, TextColumns, edits_json
from encheck.scoring.item import ExampleLine, Item, Kind, pair_lines
from encheck.scoring.measure import TextScorer
from encheck.scoring.pairs import PairScores
from encheck.scoring.scale import Floats, Scale
from encheck.statistics.bootstrap import Resampler

REPEATED = Kind("repeated", "pair", lambda: RepeatedScores, is_sampled=False)


@dataclass(frozen=True, slots=True)
class Repeated(Item):
    """A text that is encoded a second time, in a different batch."""

    kind: ClassVar[Kind] = REPEATED
    id: ItemId
    text: str
    cluster: str
    split: str = ""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The text with itself."""
        return ((self.text, self.text),)

    @property
    def repeated_texts(self) -> tuple[str, ...]:
        """The text."""
        return (self.text,)


@dataclass(frozen=True)
class RepeatedScores(PairScores):
    """1 for each text with the same vector, or score with itself, in a different batch; shape [n]. Labels are 1.

    `repeated` is 1 if repeating that batch gave the same again.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = ()
    repeated: Floats | None = None

    @classmethod
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Measure whether these texts get the same vectors again."""
        values, repeated = scorer.score_repeats([i.text for i in items])
        return cls(values, np.ones(len(items), np.int8), resampler, scale, repeated=repeated)

    def to_item_frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """The texts as rows of the item file, each compared with itself."""
        texts = tuple(i.text for i in items)
        near = TextColumns(texts, self.values, edits=(edits_json(()),) * len(texts))
        return ItemFrame.from_items(REPEATED, case, items, sources=texts, near=near)

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
        """The text compared with itself."""
        return pair_lines("same", float(self.values[position]), item.text, item.text, ())

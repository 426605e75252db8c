"""Score triplets: the near text against the far text, and which of the two the surface favours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from encheck.ids import ItemId
from encheck.language.lexicon.load import load_lexicon
from encheck.scoring.item import (
    ExampleLine,
    Item,
    ItemFrame,
    Kind,
    Scores,
    TextColumns,
    TextScorer,
    edits_json,
    triplet_lines,
)
from encheck.scoring.scale import Floats, Scale
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler
from encheck.surface import SHARED, SURFACE, tokens
from encheck.types import Edit

TRIPLET = Kind(
    "triplet", "triplet", lambda: TripletScores, noun="comparisons", compares="texts", stands_alone=True, shrinks=True
)


@dataclass(frozen=True, slots=True)
class Triplet(Item):
    """A source, a text that should be near it, and a text that should be farther away.

    `near_why` and `far_why` are the certificates of generated texts.
    """

    kind: ClassVar[Kind] = TRIPLET
    id: ItemId
    source: str
    near: str
    far: str
    cluster: str
    near_edits: tuple[Edit, ...] = ()
    far_edits: tuple[Edit, ...] = ()
    split: str = ""
    near_why: str = ""
    far_why: str = ""
    shares: tuple[str, ...] = ()
    construction: str = ""

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: the near pair, then the far pair."""
        return ((self.source, self.near), (self.source, self.far))


@dataclass(frozen=True)
class MarginScores(Scores):
    """The similarity of each item's source with its near and with its far text, shape [n] each.

    `items` are triplets, for metrics that depend on their texts. Without `has_curve`, a rate has only one epsilon.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (*SURFACE, "tf-idf")
    near: Floats
    far: Floats
    resampler: Resampler
    scale: Scale
    items: tuple[Triplet, ...] = ()
    has_curve: bool = True

    @property
    def margins(self) -> Floats:
        """Sim(source, near) - Sim(source, far), shape [n]; 0 for a tie."""
        return (Scale(0.0) if self.suffix else self.scale).margins(self.near, self.far)

    @property
    def untied_share(self) -> float:
        """The share of triplets whose two texts have different scores."""
        return float((self.margins != 0).mean())

    @property
    def calibrated(self) -> Self:
        """The same scores on the scale where 0 is a random pair and 1 is identical text."""
        return replace(
            self,
            near=self.scale.calibrate(self.near),
            far=self.scale.calibrate(self.far),
            surface={name: beside.calibrated for name, beside in self.surface.items()},
            suffix="_calibrated",
        )

    def positions_worst_first(self) -> list[int]:
        """Return the positions of the items, the smallest margin first."""
        return [int(i) for i in np.argsort(self.margins, kind="stable")]


@dataclass(frozen=True)
class TripletScores(MarginScores):
    """The scores of triplets."""

    @classmethod
    def score_items(cls, items: Sequence[Triplet], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these triplets."""
        sources = [t.source for t in items]
        near, far = (scorer.score_pairs(sources, texts) for texts in ([t.near for t in items], [t.far for t in items]))
        return cls(near, far, resampler, scale, items=tuple(items))

    def to_item_frame(self, case: str, items: Sequence[Triplet]) -> ItemFrame:
        """Return the triplets as rows of the item file."""
        overlap = self.surface.get(WORD_OVERLAP)
        near = TextColumns(
            tuple(t.near for t in items), self.near, overlap.near if overlap else None,
            tuple(edits_json(t.near_edits) for t in items), tuple(t.near_why or None for t in items),
        )  # fmt: skip
        far = TextColumns(
            tuple(t.far for t in items), self.far, overlap.far if overlap else None,
            tuple(edits_json(t.far_edits) for t in items), tuple(t.far_why or None for t in items),
        )  # fmt: skip
        return ItemFrame.from_items(TRIPLET, case, items, (t.source for t in items), near, far)

    def example_lines(self, item: Triplet, position: int) -> list[ExampleLine]:
        """Return the lines that show the triplet in a failure message."""
        near, far = float(self.near[position]), float(self.far[position])
        return triplet_lines(item.source, (near, item.near, item.near_edits), (far, item.far, item.far_edits))


DIFFERENCE_SCORERS = ("edit-distance", *(name for name in SHARED if name != "edit-distance"))
SURFACE_DIFFERENCES = (*DIFFERENCE_SCORERS, "length", "word frequency")
EDIT_DISTANCE_COLUMN = 0  # the column of the token edit distance, which defines strata


def surface_differences(items: Sequence[Triplet]) -> Floats:
    """Return how much the surface favours the near text over the far text, with a column for each of NAMES; shape [n,
    6].

    A value is positive if a surface scorer finds the near text nearer to the source, if the length of the near text is
    nearer to that of the source, or if its words are more frequent. Swapping near and far reverses every sign.
    """
    return _surface_differences(tuple((t.source, t.near, t.far) for t in items)).copy()


@lru_cache(maxsize=64)
def _surface_differences(texts: tuple[tuple[str, str, str], ...]) -> Floats:
    sources, near, far = ([some[k] for some in texts] for k in range(3))
    found = [score(sources, near) - score(sources, far) for score in map(SURFACE.__getitem__, DIFFERENCE_SCORERS)]
    length = [abs(len(b) - len(s)) / max(len(s), 1) - abs(len(a) - len(s)) / max(len(s), 1) for s, a, b in texts]
    frequency = [_mean_frequency(a) - _mean_frequency(b) for _, a, b in texts]
    return np.column_stack([*found, length, frequency]).round(9)


def nearer_by_edit_distance(source: str, near: str, far: str) -> int:
    """Return 1 if the near text has the smaller token edit distance from the source, -1 if the far text has, otherwise
    0.

    A distance is divided by the number of tokens of the longer text, as in the scorer `edit-distance`.

    >>> nearer_by_edit_distance("the dog bit the man", "the man was bitten by the dog", "the man bit the dog")
    -1
    """
    to_near, to_far = (float(SURFACE["edit-distance"]([source], [text])[0]) for text in (near, far))
    return int(np.sign(round(to_near - to_far, 9)))


def _mean_frequency(text: str) -> float:
    return float(np.mean([_word_frequency(word) for word in tokens(text)] or [0.0]))


@lru_cache(maxsize=50_000)
def _word_frequency(word: str) -> float:
    return load_lexicon().word_frequency(word)

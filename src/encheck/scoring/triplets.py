"""Scores of triplets: the near text against the far one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId, ItemId
from encheck.scoring.example import Line, near_and_far
from encheck.scoring.frame import Frame, Side, edits_json
from encheck.scoring.item import Item, Kind
from encheck.scoring.measure import Measure
from encheck.scoring.scale import Floats, Scale
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler
from encheck.surface import SURFACE
from encheck.types import Edit

TRIPLET = Kind(
    "triplet", "triplet", lambda: MarginScores, noun="comparisons", compares="texts", stands_alone=True, shrinks=True
)


@dataclass(frozen=True, slots=True)
class Triplet(Item):
    """A source, a text that should be near to it and a text that should be farther.

    `near_why` and `far_why` are the certificates of those that were generated.
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
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a model has to score: the near pair, then the far pair."""
        return ((self.source, self.near), (self.source, self.far))


@dataclass(frozen=True)
class MarginScores:
    """Similarity of the source with the near and with the far text of each triplet, shape [n] each.

    `items` are the triplets, for what depends on their texts. Without `has_curve` a rate is of one epsilon alone.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (*SURFACE, "tf-idf")
    searches: ClassVar[bool] = False
    calibrates: ClassVar[bool] = True
    near: Floats
    far: Floats
    resampler: Resampler
    scale: Scale
    surface: Mapping[str, Self] = field(default_factory=dict)
    suffix: str = ""
    items: tuple[Triplet, ...] = ()
    has_curve: bool = True

    @classmethod
    def measured(cls, items: Sequence[Any], by: Measure, resampler: Resampler, scale: Scale) -> Self:
        """The scores of these triplets."""
        triplets: Sequence[Triplet] = items
        sources = [t.source for t in triplets]
        near, far = (by.pairs(sources, texts) for texts in ([t.near for t in triplets], [t.far for t in triplets]))
        return cls(near, far, resampler, scale, items=tuple(triplets))

    @property
    def margins(self) -> Floats:
        """Sim(source, near) - Sim(source, far), shape [n]; 0 where they are a tie."""
        return (Scale(0.0) if self.suffix else self.scale).apart(self.near, self.far)

    @property
    def told_apart(self) -> float:
        """The share of the triplets whose two texts do not score the same."""
        return float((self.margins != 0).mean())

    @property
    def calibrated(self) -> Self:
        """The same on the scale where 0 is a random pair and 1 is identical text."""
        return replace(
            self,
            near=self.scale.similarity(self.near),
            far=self.scale.similarity(self.far),
            surface={name: beside.calibrated for name, beside in self.surface.items()},
            suffix="_calibrated",
        )

    def worst(self) -> list[int]:
        """Positions of the items, the smallest margin first."""
        return [int(i) for i in np.argsort(self.margins, kind="stable")]

    def frame(self, case: CaseId, items: Sequence[Any]) -> Frame:
        """The triplets as rows of the item file."""
        triplets: Sequence[Triplet] = items
        overlap = self.surface.get(WORD_OVERLAP)
        near = Side(
            tuple(t.near for t in triplets), self.near, overlap.near if overlap else None,
            tuple(edits_json(t.near_edits) for t in triplets), tuple(t.near_why or None for t in triplets),
        )  # fmt: skip
        far = Side(
            tuple(t.far for t in triplets), self.far, overlap.far if overlap else None,
            tuple(edits_json(t.far_edits) for t in triplets), tuple(t.far_why or None for t in triplets),
        )  # fmt: skip
        return Frame.of_items(TRIPLET, case, triplets, sources=tuple(t.source for t in triplets), near=near, far=far)

    def example(self, item: Any, position: int) -> list[Line]:
        """The triplet as a failure message shows it."""
        near, far = float(self.near[position]), float(self.far[position])
        return near_and_far(item.source, (near, item.near, item.near_edits), (far, item.far, item.far_edits))

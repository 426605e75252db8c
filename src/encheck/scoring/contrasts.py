"""Scores of contrasts: two queries and two documents, each of which is right for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId
from encheck.scoring.crossed import CrossedScores
from encheck.scoring.example import Line
from encheck.scoring.frame import SIDES, Frame
from encheck.scoring.margins import MarginScores
from encheck.scoring.measure import Measure
from encheck.scoring.scale import Scale
from encheck.statistics.bootstrap import Resampler
from encheck.types import Contrast, Triplet


@dataclass(frozen=True)
class ContrastScores(CrossedScores):
    """The scores of each contrast's queries with the right and with the wrong document, as sides of a crossed group."""

    calibrates: ClassVar[bool] = False

    @classmethod
    def measured(cls, items: Sequence[Any], by: Measure, resampler: Resampler, scale: Scale) -> Self:
        """The scores of these contrasts, queries and documents in their roles."""
        contrasts: Sequence[Contrast] = items
        triplets = [triplet for one in contrasts for triplet in one.triplets]
        queries = [t.source for t in triplets]
        near, far = (by.asked(queries, texts) for texts in ([t.near for t in triplets], [t.far for t in triplets]))
        twice = resampler.of(np.repeat(np.arange(len(contrasts)), SIDES))
        return cls(MarginScores(near, far, twice, scale, items=tuple(triplets)), resampler, scale)

    def frame(self, case: CaseId, items: Sequence[Any]) -> Frame:
        """A row a query, the two of a contrast one after the other; `step` is the number of the query."""
        return replace(super().frame(case, items), kind="contrast", roles=("query", "document"))

    def example(self, item: Any, position: int) -> list[Line]:
        """Both queries, each with the right and the wrong document."""
        contrast: Contrast = item
        return [line for row in enumerate(contrast.triplets, SIDES * position) for line in self._side(*row)]

    def _side(self, row: int, triplet: Triplet) -> Iterator[Line]:
        yield Line("query", triplet.source)
        yield Line("right", triplet.near, float(self.sides.near[row]))
        yield Line("wrong", triplet.far, float(self.sides.far[row]))

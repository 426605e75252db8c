"""Scores of searches: what each query finds, and how often each text is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId
from encheck.scoring.example import Line, beside, near_and_far
from encheck.scoring.frame import Frame, Side, edits_json
from encheck.scoring.margins import MarginScores
from encheck.scoring.measure import Measure
from encheck.scoring.pairs import PairScores
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.search import search
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler
from encheck.types import Query


@dataclass(frozen=True)
class SearchScores(MarginScores):
    """Similarity of each query with its own text and with the best other one, shape [n] each; `found` are these."""

    surface_scorers: ClassVar[tuple[str, ...]] = (WORD_OVERLAP,)
    searches: ClassVar[bool] = True
    found: tuple[str, ...] = ()

    @classmethod
    def measured(cls, items: Sequence[Any], by: Measure, resampler: Resampler, scale: Scale) -> Self:
        """The best answers to these queries."""
        found = search(items, by.grid)
        return cls(found.near, found.best, resampler, scale, found=found.texts)

    def frame(self, case: CaseId, items: Sequence[Any]) -> Frame:
        """The queries as rows of the item file; the far text is the one that was found."""
        overlap = self.surface.get(WORD_OVERLAP)
        near = _near(items, self.near, overlap.near if overlap else None)
        no_edits = (edits_json(()),) * len(items)
        far = Side(self.found, self.far, overlap.far if overlap else None, no_edits)
        return Frame.of_items("search", case, items, sources=tuple(q.source for q in items), near=near, far=far)

    def example(self, item: Any, position: int) -> list[Line]:
        """The query, its own text and the one that was found."""
        near, far = float(self.near[position]), float(self.far[position])
        return near_and_far(item.source, (near, item.near, item.near_edits), (far, self.found[position], ()))


@dataclass(frozen=True)
class OccurrenceScores(PairScores):
    """How many queries have each query's own text among their ten nearest (k-occurrence), shape [n]; labels are 1."""

    searches: ClassVar[bool] = True

    @classmethod
    def measured(cls, items: Sequence[Any], by: Measure, resampler: Resampler, scale: Scale) -> Self:
        """The k-occurrence of the texts of these queries."""
        return cls(search(items, by.grid).occurrences, np.ones(len(items), np.int8), resampler, scale)

    def frame(self, case: CaseId, items: Sequence[Any]) -> Frame:
        """The queries as rows of the item file; the score is a number of answers."""
        near = _near(items, self.values, self._overlap)
        return Frame.of_items("occurrence", case, items, sources=tuple(q.source for q in items), near=near)

    def example(self, item: Any, position: int) -> list[Line]:
        """The text that is counted, above its query."""
        return beside("same", float(self.values[position]), item.source, item.near, item.near_edits)


def _near(queries: Sequence[Query], scores: Floats, overlap: Floats | None) -> Side:
    return Side(tuple(q.near for q in queries), scores, overlap, tuple(edits_json(q.near_edits) for q in queries))

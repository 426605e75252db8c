"""Scores of contrasts: two queries and two documents, each of which is right for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId, ItemId
from encheck.scoring.crossed import CrossedScores
from encheck.scoring.frame import SIDES, ItemFrame
from encheck.scoring.item import ExampleLine, Item, Kind
from encheck.scoring.measure import TextScorer
from encheck.scoring.scale import Scale
from encheck.scoring.triplets import MarginScores, Triplet
from encheck.statistics.bootstrap import Resampler

CONTRAST = Kind(
    "contrast", "triplet", lambda: ContrastScores, noun="pairs", sides=SIDES, is_question=True, stands_alone=True
)


@dataclass(frozen=True, slots=True)
class Contrast(Item):
    """Two queries and two documents: the first document is right for the first query, the second for the second.

    The queries are encoded as queries, the documents as documents.
    """

    kind: ClassVar[Kind] = CONTRAST
    id: ItemId
    queries: tuple[str, str]
    documents: tuple[str, str]
    cluster: str
    split: str = ""

    @property
    def triplets(self) -> tuple[Triplet, Triplet]:
        """Each query with its own document (near) and the other document (far), numbered 1 and 2."""
        (first, second), (own, other) = self.queries, self.documents
        return (
            Triplet(ItemId(self.id).of_step(1), first, own, other, self.cluster, split=self.split),
            Triplet(ItemId(self.id).of_step(2), second, other, own, self.cluster, split=self.split),
        )

    @property
    def query_document_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score for a model that scores pairs: each query with its own document, then with the other."""
        return tuple(pair for triplet in self.triplets for pair in triplet.pairs)

    @property
    def queries_and_documents(self) -> tuple[Iterable[str], Iterable[str]]:
        """Both queries, and both documents."""
        return self.queries, self.documents


@dataclass(frozen=True)
class ContrastScores(CrossedScores):
    """The scores of each contrast's queries with the right and with the wrong document, as sides of a crossed group."""

    calibrates: ClassVar[bool] = False

    @classmethod
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """The scores of these contrasts, with queries and documents in their roles."""
        contrasts: Sequence[Contrast] = items
        triplets = [triplet for one in contrasts for triplet in one.triplets]
        queries = [t.source for t in triplets]
        near, far = (
            scorer.score_documents(queries, texts) for texts in ([t.near for t in triplets], [t.far for t in triplets])
        )
        twice = resampler.select(np.repeat(np.arange(len(contrasts)), SIDES))
        return cls(MarginScores(near, far, twice, scale, items=tuple(triplets)), resampler, scale)

    def to_item_frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """One row per query, the two of a contrast in sequence; `step` is the number of the query."""
        return replace(super().to_item_frame(case, items), kind=CONTRAST, roles=("query", "document"))

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
        """Both queries, each with the right and the wrong document."""
        contrast: Contrast = item
        lines = []
        for row, triplet in enumerate(contrast.triplets, SIDES * position):
            lines += [
                ExampleLine("query", triplet.source),
                ExampleLine("right", triplet.near, float(self.sides.near[row])),
                ExampleLine("wrong", triplet.far, float(self.sides.far[row])),
            ]
        return lines

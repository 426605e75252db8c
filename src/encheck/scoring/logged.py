"""Answers to queries of a log, which have no labels: answers are stored, not judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId, ItemId
from encheck.scoring.documents import STORED_ANSWERS, Answers, Documents, SearchingQuery
from encheck.scoring.frame import ItemFrame, TextColumns, edits_json
from encheck.scoring.item import ExampleLine, Kind, pair_lines
from encheck.scoring.measure import TextScorer
from encheck.scoring.pairs import PairScores
from encheck.scoring.ranked import BM25
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.vector_search import IndexRecall
from encheck.statistics.bootstrap import Resampler

LOGGED = Kind(
    "logged", "pair", lambda: LoggedScores, answer="near", compares="answers", is_sampled=False, is_question=True
)


@dataclass(frozen=True, slots=True)
class LoggedQuery(SearchingQuery):
    """A query of a log that occurs `weight` times, without judgements; it searches documents.

    The query is encoded as a query, the documents as documents.
    """

    kind: ClassVar[Kind] = LOGGED
    id: ItemId
    source: str
    documents: Documents = field(repr=False)
    weight: int
    cluster: str
    split: str = ""
    own: int | None = field(default=None, init=False)
    right: tuple[tuple[int, int], ...] = field(default=(), init=False)


@dataclass(frozen=True)
class LoggedScores(PairScores):
    """The score of each query's first answer, shape [n]; `answers` has the rows of the first ten, `found` the first.

    `first_stage` is the recall of an approximate search, None for an exact one.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (BM25,)
    calibrates: ClassVar[bool] = False
    answers: tuple[Answers, ...] = ()
    found: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    first_stage: IndexRecall | None = None

    @classmethod
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """The answers to these queries; documents that count as the same have the row of the first."""
        queries: Sequence[LoggedQuery] = items
        answers, best, found = [], [], []
        for q, (rows, values) in zip(queries, scorer.rank_documents(queries, STORED_ANSWERS), strict=True):
            first = rows[:STORED_ANSWERS].tolist()
            same = q.documents.same
            counted = dict.fromkeys(same[row] for row in first) if same else first
            answers.append(Answers((), first=tuple(counted)))
            best.append(float(values[0]))
            found.append(q.documents.texts[first[0]])
        scores: Floats = np.array(best)
        return cls(
            scores, np.ones(len(best), np.int8), resampler, scale, answers=tuple(answers), found=tuple(found),
            weights=tuple(q.weight for q in queries),
        )  # fmt: skip

    def to_item_frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """The queries as rows of the item file; the near text is the first answer."""
        queries: Sequence[LoggedQuery] = items
        near = TextColumns(self.found, self.values, edits=(edits_json(()),) * len(items))
        return ItemFrame.from_items(
            LOGGED, case, queries, sources=tuple(q.source for q in queries), near=near,
            answers=tuple(map(str, self.answers)), weights=self.weights, roles=("query", "document"),
        )  # fmt: skip

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
        """The query and its first answer."""
        return pair_lines("first answer", float(self.values[position]), item.source, self.found[position], ())

"""Score searches: the answer to each query, and how often each text is an answer.

Queries that search documents have right answers, and the best wrong answer. Queries of a log have no judgements, so
their answers are stored but not judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import ItemId
from encheck.scoring.documents import NOT_FOUND, STORED_ANSWERS, Answers, Documents, RankedRows
from encheck.scoring.item import (
    ExampleLine,
    Item,
    ItemFrame,
    Kind,
    SearchingQuery,
    TextColumns,
    TextScorer,
    edits_json,
    pair_lines,
    triplet_lines,
)
from encheck.scoring.pairs import PairScores
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.text_scorers import Grid
from encheck.scoring.triplets import MarginScores
from encheck.scoring.vector_search import IndexRecall
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler
from encheck.types import Edit

NEIGHBOURS = 10
_ROWS = 128
SEARCH = Kind(
    "search", "triplet", lambda: SearchScores, noun="searches", answer="far", is_sampled=False, is_question=True
)
OCCURRENCE = Kind("occurrence", "pair", lambda: OccurrenceScores, is_sampled=False)


@dataclass(frozen=True, slots=True)
class Query(Item):
    """A source that searches for the text `near` among all texts of its check's items. `others` are wrong texts.

    With `counts`, the figure of the item is the number of queries that have `near` among their answers.
    """

    id: ItemId
    source: str
    near: str
    others: tuple[str, ...]
    cluster: str
    near_edits: tuple[Edit, ...] = ()
    split: str = ""
    counts: bool = False
    shares: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The kind of an item that measures its answer, or that counts answers."""
        return OCCURRENCE if self.counts else SEARCH

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """Pairs that together contain all texts of the query."""
        return ((self.source, self.near), *((self.source, text) for text in self.others))


@dataclass(frozen=True)
class SearchResult:
    """The results of a search for each query, shape [n].

    `near` is the similarity of its own text, `best` that of the best other text, and `texts` has that other text.
    `occurrences` counts the queries that have each query's own text among their ten nearest (Radovanovic et al. 2010,
    JMLR 11, N_10).
    """

    near: Floats
    best: Floats
    texts: tuple[str, ...]
    occurrences: Floats


def search_texts(queries: Sequence[Query], grid: Grid) -> SearchResult:
    """Search for the text of each query among the sources, the texts and the other texts of all queries.

    The query's own source does not count as another text, nor do right answers to the same source.
    """
    pool = sorted({t for q in queries for t in (q.source, q.near, *q.others)})  # ties: fixed order
    at = {text: i for i, text in enumerate(pool)}
    right: dict[str, set[int]] = {}
    for q in queries:
        right.setdefault(q.source, {at[q.source]}).add(at[q.near])
    wanted = np.array(sorted({at[q.near] for q in queries}), np.intp)
    counts = np.zeros(len(pool))
    near, best, texts = [], [], []
    for start in range(0, len(queries), _ROWS):
        some = queries[start : start + _ROWS]
        for q, row in zip(some, grid([q.source for q in some], pool), strict=True):
            near.append(row[at[q.near]])
            candidates = wanted[wanted != at[q.source]]
            counts[candidates[np.argsort(-row[candidates], kind="stable")[:NEIGHBOURS]]] += 1
            row[list(right[q.source])] = -np.inf
            best.append(row.max())
            texts.append(pool[int(row.argmax())])
    occurrences = np.array([counts[at[q.near]] for q in queries])
    return SearchResult(np.array(near), np.array(best), tuple(texts), occurrences)


@dataclass(frozen=True)
class SearchScores(MarginScores):
    """The similarity of each query with its own text and with the best other text, shape [n] each.

    `found` has the best other texts.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (WORD_OVERLAP,)
    searches: ClassVar[bool] = True
    found: tuple[str, ...] = ()

    @classmethod
    def score_items(cls, items: Sequence[Query], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the similarities of these queries with their own text and with the best other text."""
        found = search_texts(items, scorer.score_grid)
        return cls(found.near, found.best, resampler, scale, found=found.texts)

    def to_item_frame(self, case: str, items: Sequence[Query]) -> ItemFrame:
        """Return the queries as rows of the item file. The far text is the best other text."""
        overlap = self.surface.get(WORD_OVERLAP)
        near = _near_columns(items, self.near, overlap.near if overlap else None)
        no_edits = (edits_json(()),) * len(items)
        far = TextColumns(self.found, self.far, overlap.far if overlap else None, no_edits)
        return ItemFrame.from_items(SEARCH, case, items, (q.source for q in items), near, far)

    def example_lines(self, item: Query, position: int) -> list[ExampleLine]:
        """Return lines for the query, its own text and the best other text."""
        near, far = float(self.near[position]), float(self.far[position])
        return triplet_lines(item.source, (near, item.near, item.near_edits), (far, self.found[position], ()))


@dataclass(frozen=True)
class OccurrenceScores(PairScores):
    """The number of queries with each query's own text among their ten nearest (k-occurrence), shape [n]. All labels
    are 1.
    """

    searches: ClassVar[bool] = True

    @classmethod
    def score_items(cls, items: Sequence[Query], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the k-occurrence of the texts of these queries."""
        return cls(search_texts(items, scorer.score_grid).occurrences, np.ones(len(items), np.int8), resampler, scale)

    def to_item_frame(self, case: str, items: Sequence[Query]) -> ItemFrame:
        """Return the queries as rows of the item file. The score is a number of answers."""
        near = _near_columns(items, self.values, self._overlap)
        return ItemFrame.from_items(OCCURRENCE, case, items, (q.source for q in items), near)

    def example_lines(self, item: Query, position: int) -> list[ExampleLine]:
        """Return lines for the counted text, and below it the query."""
        return pair_lines("same", float(self.values[position]), item.source, item.near, item.near_edits)


def _near_columns(queries: Sequence[Query], scores: Floats, overlap: Floats | None) -> TextColumns:
    return TextColumns(
        tuple(q.near for q in queries), scores, overlap, tuple(edits_json(q.near_edits) for q in queries)
    )


DEPTH = 1_000  # answers per query, as in BEIR and MTEB
BM25 = "bm25"


RANKED = Kind(
    "ranked",
    "triplet",
    lambda: RankedScores,
    noun="queries",
    answer="far",
    compares="answers",
    is_sampled=False,
    is_question=True,
)


@dataclass(frozen=True, slots=True)
class RankedQuery(SearchingQuery):
    """A query with the rows and grades of its right documents, the best first.

    `negatives` are rows of documents that the data give as hard negatives. `slices` are the data's further columns for
    the query. `own` is the row of the document that equals the query; the query's search leaves it out. `shares` are
    hashes of the right documents and of the data's cluster. `wrong` are the rows of all documents that were judged
    wrong; None if the judgements name only right documents, so that all others count as wrong. The query is encoded as
    a query, the documents as documents.
    """

    kind: ClassVar[Kind] = RANKED
    id: ItemId
    source: str
    documents: Documents = field(repr=False)
    right: tuple[tuple[int, int], ...]
    negatives: tuple[int, ...]
    cluster: str
    split: str = ""
    slices: tuple[tuple[str, str], ...] = ()
    own: int | None = None
    shares: tuple[str, ...] = ()
    wrong: tuple[int, ...] | None = None

    @property
    def near(self) -> str:
        """The text of the first right document."""
        return self.documents.texts[self.right[0][0]]

    @property
    def query_document_pairs(self) -> tuple[tuple[str, str], ...]:
        """The query with each right document, then with each hard negative."""
        rows = [*(row for row, _ in self.right), *self.negatives]
        return tuple((self.source, self.documents.texts[row]) for row in rows)


@dataclass(frozen=True)
class RankedScores(MarginScores):
    """The answers to each query. `near` is the score of its first right document, `far` that of the best other
    document.

    The first right document is the one with the highest grade; on a tie, the one with the last id. `found` has the
    texts of the best other documents. `first_stage` is the recall of an approximate search; None for an exact search.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (BM25,)
    calibrates: ClassVar[bool] = False
    answers: tuple[Answers, ...] = ()
    found: tuple[str, ...] = ()
    first_stage: IndexRecall | None = None

    @classmethod
    def score_items(cls, items: Sequence[RankedQuery], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the answers to these queries."""
        judged = list(_score_judged_documents(items, scorer))
        answers, near, far, found = [], [], [], []
        for q, (right, wrong), (rows, values) in zip(items, judged, scorer.rank_documents(items, DEPTH), strict=True):
            rank = {row: place for place, row in enumerate(rows.tolist(), 1)}
            duels = right[:, None] - wrong[None, :]
            ranks = tuple((rank.get(row, NOT_FOUND), grade) for row, grade in q.right)
            known = {row for row, _ in q.right}.union(q.wrong or ())
            is_unjudged = q.wrong is not None and int(rows[0]) not in known
            won = int((duels > scale.tie).sum())
            answers.append(Answers(ranks, won, duels.size, tuple(rows[:STORED_ANSWERS].tolist()), is_unjudged))
            rights = {row for row, _ in q.right}
            other = next(place for place, row in enumerate(rows.tolist()) if row not in rights)
            near.append(float(right[0]))
            far.append(float(values[other]))
            found.append(q.documents.texts[int(rows[other])])
        return cls(np.array(near), np.array(far), resampler, scale, found=tuple(found), answers=tuple(answers))

    def to_item_frame(self, case: str, items: Sequence[RankedQuery]) -> ItemFrame:
        """Return the queries as rows of the item file. The far text is the best answer that is not right."""
        no_edits = (edits_json(()),) * len(items)
        near = TextColumns(tuple(q.near for q in items), self.near, edits=no_edits)
        far = TextColumns(self.found, self.far, edits=no_edits)
        slices = tuple(json.dumps(dict(q.slices), ensure_ascii=False) if q.slices else "" for q in items)
        return replace(
            ItemFrame.from_items(RANKED, case, items, (q.source for q in items), near, far),
            slices=slices if any(slices) else (), answers=tuple(map(str, self.answers)), roles=("query", "document"),
        )  # fmt: skip

    def example_lines(self, item: RankedQuery, position: int) -> list[ExampleLine]:
        """Return lines for the query, its first right document and the best other document."""
        near, far = float(self.near[position]), float(self.far[position])
        return triplet_lines(item.source, (near, item.near, ()), (far, self.found[position], ()))


def _score_judged_documents(queries: Sequence[RankedQuery], scorer: TextScorer) -> Iterator[tuple[Floats, Floats]]:
    """Yield (scores of the right documents, scores of the hard negatives) for each query."""
    pairs = [pair for q in queries for pair in q.query_document_pairs]
    scores = scorer.score_documents([query for query, _ in pairs], [document for _, document in pairs])
    at = 0
    for q in queries:
        middle, end = at + len(q.right), at + len(q.right) + len(q.negatives)
        yield scores[at:middle], scores[middle:end]
        at = end


def rerank(rows: NDArray[np.intp], values: Floats) -> RankedRows:
    """Return the candidates in the order of their new scores, and on a tie in the order of their rows."""
    order = np.lexsort((rows, -values))
    return rows[order], values[order]


LOGGED = Kind(
    "logged", "pair", lambda: LoggedScores, answer="near", compares="answers", is_sampled=False, is_question=True
)


@dataclass(frozen=True, slots=True)
class LoggedQuery(SearchingQuery):
    """A query of a log that occurs `weight` times. It has no judgements, and searches documents.

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
    """The score of each query's first answer, shape [n].

    `answers` has the rows of the first ten answers, `found` the text of the first. `first_stage` is the recall of an
    approximate search; None for an exact search.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (BM25,)
    calibrates: ClassVar[bool] = False
    answers: tuple[Answers, ...] = ()
    found: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    first_stage: IndexRecall | None = None

    @classmethod
    def score_items(cls, items: Sequence[LoggedQuery], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the answers to these queries. Documents that count as the same all have the row of the first."""
        answers, best, found = [], [], []
        for q, (rows, values) in zip(items, scorer.rank_documents(items, STORED_ANSWERS), strict=True):
            first = rows[:STORED_ANSWERS].tolist()
            same = q.documents.same
            counted = dict.fromkeys(same[row] for row in first) if same else first
            answers.append(Answers((), first=tuple(counted)))
            best.append(float(values[0]))
            found.append(q.documents.texts[first[0]])
        scores: Floats = np.array(best)
        return cls(
            scores, np.ones(len(best), np.int8), resampler, scale, answers=tuple(answers), found=tuple(found),
            weights=tuple(q.weight for q in items),
        )  # fmt: skip

    def to_item_frame(self, case: str, items: Sequence[LoggedQuery]) -> ItemFrame:
        """Return the queries as rows of the item file. The near text is the first answer."""
        near = TextColumns(self.found, self.values, edits=(edits_json(()),) * len(items))
        return replace(
            ItemFrame.from_items(LOGGED, case, items, (q.source for q in items), near),
            answers=tuple(map(str, self.answers)), weights=self.weights, roles=("query", "document"),
        )  # fmt: skip

    def example_lines(self, item: LoggedQuery, position: int) -> list[ExampleLine]:
        """Return lines for the query and its first answer."""
        return pair_lines("first answer", float(self.values[position]), item.source, self.found[position], ())

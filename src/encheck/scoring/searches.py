"""Score searches: the answer to each query, and how often each text is an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from encheck.ids import CaseId, ItemId
from encheck.scoring.frame import ItemFrame, TextColumns, edits_json
from encheck.scoring.item import ExampleLine, Item, Kind, pair_lines, triplet_lines
from encheck.scoring.pairs import PairScores
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.text_scorers import Grid, TextScorer
from encheck.scoring.triplets import MarginScores
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
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the similarities of these queries with their own text and with the best other text."""
        found = search_texts(items, scorer.score_grid)
        return cls(found.near, found.best, resampler, scale, found=found.texts)

    def to_item_frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """Return the queries as rows of the item file. The far text is the best other text."""
        overlap = self.surface.get(WORD_OVERLAP)
        near = _near_columns(items, self.near, overlap.near if overlap else None)
        no_edits = (edits_json(()),) * len(items)
        far = TextColumns(self.found, self.far, overlap.far if overlap else None, no_edits)
        return ItemFrame.from_items(SEARCH, case, items, sources=tuple(q.source for q in items), near=near, far=far)

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
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
    def score_items(cls, items: Sequence[Any], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the k-occurrence of the texts of these queries."""
        return cls(search_texts(items, scorer.score_grid).occurrences, np.ones(len(items), np.int8), resampler, scale)

    def to_item_frame(self, case: CaseId, items: Sequence[Any]) -> ItemFrame:
        """Return the queries as rows of the item file. The score is a number of answers."""
        near = _near_columns(items, self.values, self._overlap)
        return ItemFrame.from_items(OCCURRENCE, case, items, sources=tuple(q.source for q in items), near=near)

    def example_lines(self, item: Any, position: int) -> list[ExampleLine]:
        """Return lines for the counted text, and below it the query."""
        return pair_lines("same", float(self.values[position]), item.source, item.near, item.near_edits)


def _near_columns(queries: Sequence[Query], scores: Floats, overlap: Floats | None) -> TextColumns:
    return TextColumns(
        tuple(q.near for q in queries), scores, overlap, tuple(edits_json(q.near_edits) for q in queries)
    )

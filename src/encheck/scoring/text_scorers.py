"""Scorers of texts: the interface of models and surface scorers, and BM25, which searches all documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.documents import Documents, RankedRows
from encheck.scoring.item import SearchingQuery
from encheck.scoring.scale import Floats
from encheck.scoring.vector_search import (
    count_including_own,
    drop_own_documents,
    merge_top_rows,
    with_ties_in_row_order,
)
from encheck.similarity import SIMILARITIES, WORD_OVERLAP, cosine, word_set, words
from encheck.surface import K1, SURFACE, WEIGHTED, B, Frequencies

Grid = Callable[[Sequence[str], Sequence[str]], Floats]


def vector_similarity_grid(vectors: NDArray[np.float32], rows: Mapping[str, int], similarity: str) -> Grid:
    """Return the similarities of encoded texts, shape [n, m]. Cosines are one matrix product in fp64."""

    def grid(first: Sequence[str], second: Sequence[str]) -> Floats:
        a, b = (vectors[[rows[t] for t in texts]] for texts in (first, second))
        if SIMILARITIES[similarity] is cosine:
            return _unit_rows(a) @ _unit_rows(b).T
        return np.array([SIMILARITIES[similarity](np.broadcast_to(one, b.shape), b) for one in a])

    return grid


def _unit_rows(vectors: NDArray[np.float32]) -> Floats:
    wide = vectors.astype(np.float64)
    norms: Floats = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-60)
    return norms


def word_overlap_grid(first: Sequence[str], second: Sequence[str]) -> Floats:
    """Return the Jaccard overlap of word sets, shape [n, m].

    >>> word_overlap_grid(["a red car"], ["a blue car", "snow"]).tolist()
    [[0.5, 0.0]]
    """
    from scipy.sparse import csr_matrix

    known: dict[str, int] = {}
    sides = [[[known.setdefault(w, len(known)) for w in word_set(text)] for text in texts] for texts in (first, second)]
    tables = []
    for side in sides:
        ends = np.cumsum([0, *map(len, side)])
        columns = np.array([w for words in side for w in words], np.intp)
        tables.append(csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(side), max(len(known), 1))))
    shared = (tables[0] @ tables[1].T).toarray()
    sizes = [np.array([len(words) for words in side], float) for side in sides]
    union = sizes[0][:, None] + sizes[1][None, :] - shared
    result: Floats = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
    return result


NO_ROWS = (np.zeros(0, np.intp), np.zeros(0))


class LexicalIndex:
    """A word index of some documents by bm25s (Lù 2024, arXiv 2407.03618), with Lucene's weights."""

    def __init__(self, documents: Documents) -> None:
        import bm25s

        self.count = len(documents.texts)
        self._at = {name: row for row, name in enumerate(documents.texts)}
        tokens = [words(text) for text in documents.texts]
        self._index = bm25s.BM25(k1=K1, b=B, method="lucene") if any(tokens) else None
        if self._index is not None:
            self._index.index(tokens, show_progress=False)

    def score_all_documents(self, query: str) -> Floats:
        """Return the score of every document, shape [documents]; 0 for documents that share no word with it."""
        known = [word for word in words(query) if self._index is not None and word in self._index.vocab_dict]
        if self._index is None or not known:
            return np.zeros(self.count)
        found: Floats = self._index.get_scores(known).astype(np.float64)
        return found

    def score_pairs(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """Return the score of each query with the indexed document at the same position, shape [n]."""
        by_query: dict[str, Floats] = {}
        found = []
        for query, document in zip(queries, documents, strict=True):
            if query not in by_query:
                by_query = {query: self.score_all_documents(query)}
            found.append(by_query[query][self._at[document]])
        return np.array(found)

    def rank_documents(self, queries: Sequence[str], count: int) -> Iterator[RankedRows]:
        """Yield (rows, scores) of the `count` best documents of each query, the best first.

        Documents with equal scores are in the order of their rows.
        """
        return (
            with_ties_in_row_order(*merge_top_rows(NO_ROWS, self.score_all_documents(query), 0, count=count))
            for query in queries
        )


@dataclass(frozen=True)
class SurfaceScorer:
    """A surface scorer by its name. It compares words or characters.

    A scorer that weights words needs `frequencies`; the scorer that searches documents needs `index`.
    """

    name: str = WORD_OVERLAP
    frequencies: Frequencies | None = None
    index: LexicalIndex | None = None
    head_threshold: float | None = None

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """Return the similarity of each pair, shape [n]."""
        if self.name in SURFACE:
            return SURFACE[self.name](first, second)
        assert self.frequencies is not None
        return WEIGHTED[self.name](first, second, self.frequencies)

    def score_grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """Return the similarity of each query and document, shape [n, m]."""
        if self.name == WORD_OVERLAP:
            return word_overlap_grid(queries, documents)
        return np.array([self.score_pairs([query] * len(documents), documents) for query in queries])

    def score_repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Always 1: surface scores are reproducible."""
        return np.ones(len(texts)), np.ones(len(texts))

    def rank_documents(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:
        """Return (rows, scores) of the best documents of each query."""
        assert self.index is not None
        own, wanted = [q.own for q in queries], max(count, 1 + max(len(q.right) for q in queries))
        answers = self.index.rank_documents([q.source for q in queries], count_including_own(wanted, own))
        return drop_own_documents(answers, own, count=wanted)

    def score_documents(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """Return the score of each document for the query at the same position, shape [n]."""
        return (
            self.score_pairs(queries, documents) if self.index is None else self.index.score_pairs(queries, documents)
        )

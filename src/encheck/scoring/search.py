"""Searching: each query's own text among all others.

It also counts the queries that each text turns up for: a text that many find is a hub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.similarity import SIMILARITIES, cosine, word_set
from encheck.types import Query

Floats = NDArray[np.float64]
Grid = Callable[[Sequence[str], Sequence[str]], Floats]
NEIGHBOURS = 10
_ROWS = 128


@dataclass(frozen=True)
class Found:
    """What a search gave for each query, shape [n]: similarity of its own text, of the best other one, and that one.

    `occurrences` says of each query's own text among how many queries' ten nearest texts it is (Radovanovic et al.
    2010, JMLR 11, N_10).
    """

    near: Floats
    best: Floats
    texts: tuple[str, ...]
    occurrences: Floats


def search(queries: Sequence[Query], grid: Grid) -> Found:
    """Look for the text of each query among the sources, the texts and the other texts of all of them.

    Neither the query's own source nor any right answer to the same source counts as another text.
    """
    pool = sorted({t for q in queries for t in (q.source, q.near, *q.others)})  # ties don't hang on the data's order
    at = {text: i for i, text in enumerate(pool)}
    right: dict[str, set[int]] = {}
    for q in queries:
        right.setdefault(q.source, {at[q.source]}).add(at[q.near])
    wanted = np.array(sorted({at[q.near] for q in queries}), np.intp)
    counts = np.zeros(len(pool))
    near, best, texts = [], [], []
    for some, scores in _blocks(queries, pool, grid):
        for q, row in zip(some, scores, strict=True):
            near.append(row[at[q.near]])
            candidates = wanted[wanted != at[q.source]]
            counts[candidates[np.argsort(-row[candidates], kind="stable")[:NEIGHBOURS]]] += 1
            row[list(right[q.source])] = -np.inf
            best.append(row.max())
            texts.append(pool[int(row.argmax())])
    occurrences = np.array([counts[at[q.near]] for q in queries])
    return Found(np.array(near), np.array(best), tuple(texts), occurrences)


def _blocks(queries: Sequence[Query], pool: Sequence[str], grid: Grid) -> Iterator[tuple[Sequence[Query], Floats]]:
    for start in range(0, len(queries), _ROWS):
        some = queries[start : start + _ROWS]
        yield some, grid([q.source for q in some], pool)


def vector_grid(vectors: NDArray[np.float32], rows: Mapping[str, int], similarity: str) -> Grid:
    """Similarities of encoded texts, shape [n, m]; cosines as one matrix product in fp64."""

    def grid(first: Sequence[str], second: Sequence[str]) -> Floats:
        a, b = (vectors[[rows[t] for t in texts]] for texts in (first, second))
        if SIMILARITIES[similarity] is cosine:
            return _directions(a) @ _directions(b).T
        return np.array([SIMILARITIES[similarity](np.broadcast_to(one, b.shape), b) for one in a])

    return grid


def _directions(vectors: NDArray[np.float32]) -> Floats:
    wide = vectors.astype(np.float64)
    norms: Floats = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-60)
    return norms


def overlap_grid(first: Sequence[str], second: Sequence[str]) -> Floats:
    """Jaccard overlap of word sets, shape [n, m].

    >>> overlap_grid(["a red car"], ["a blue car", "snow"]).tolist()
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

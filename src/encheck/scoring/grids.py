"""The similarity of each of some texts with each of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from encheck.similarity import SIMILARITIES, cosine, word_set

Floats = NDArray[np.float64]
Grid = Callable[[Sequence[str], Sequence[str]], Floats]


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

"""Exact search: the documents nearest to each query, in blocks of documents, which may lie in a memory map.

Documents with the same score stand in the order of their rows. Who wants the order of trec_eval sorts the rows by id,
the last first: trec_eval breaks ties so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Row = NDArray[np.floating]
Found = tuple[NDArray[np.intp], NDArray[np.float64]]
FP32 = 1e-6  # of the largest score, or of 1: what fp32 rounds
SCORES_AT_ONCE = 1 << 25  # a block has so many scores, four bytes each


def nearest(queries: Vectors, documents: Vectors, *, similarity: str, count: int) -> Iterator[Found]:
    """(rows, scores) of the `count` nearest documents of each query, the nearest first; fewer where there are fewer.

    `queries` [n, d] and `documents` [m, d] are fp32; `similarity` is one of `SIMILARITIES`, larger is nearer. What
    differs by no more than fp32 rounds is a tie.
    """
    grid = grid_of(similarity, queries)
    best: list[Found] = [(np.zeros(0, np.intp), np.zeros(0))] * len(queries)
    step = max(1, SCORES_AT_ONCE // max(len(queries), 1))
    for start in range(0, len(documents), step):
        block = np.ascontiguousarray(documents[start : start + step], np.float32)
        best = [merged(one, row, start, count=count) for one, row in zip(best, grid(block), strict=True)]
    return (settled(*one) for one in best)


def merged(best: Found, scores: Row, start: int, *, count: int) -> Found:
    """The `count` best of those known and of a further block, whose first row is `start`."""
    rows, values = best
    full = len(rows) == count
    new = np.flatnonzero(scores > values[-1]) if full else np.arange(len(scores))
    new = new[_of_best(scores[new], count)]
    rows, values = np.concatenate([rows, start + new]), np.concatenate([values, scores[new].astype(np.float64)])
    order = np.argsort(-values, kind="stable")[:count]  # those known come first, as their rows do
    return rows[order], values[order]


def _of_best(scores: Row, count: int) -> NDArray[np.intp]:
    """Which are the `count` best, in their order; of equals the first."""
    if len(scores) <= count:
        return np.arange(len(scores))
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, equal = np.flatnonzero(scores > last), np.flatnonzero(scores == last)
    return np.sort(np.concatenate([above, equal[: count - len(above)]]))


def settled(rows: NDArray[np.intp], values: NDArray[np.float64]) -> Found:
    """The same with what is a tie in fp32 in the order of its rows."""
    step = rounding(values)
    order = np.lexsort((rows, -np.round(values / step)))
    return rows[order], values[order]


def without_own(answers: Iterable[Found], own: Sequence[int | None], *, count: int) -> Iterator[Found]:
    """The first `count` answers to each query, less the document that is the query itself, where one is.

    So a search that is to have `count` answers asks for `wider(count, own)`.
    """
    for (rows, values), mine in zip(answers, own, strict=True):
        others = rows != (-1 if mine is None else mine)
        yield rows[others][:count], values[others][:count]


def wider(count: int, own: Sequence[int | None]) -> int:
    """One more where a query stands among the documents."""
    return count + any(one is not None for one in own)


def rounding(values: NDArray[np.float64]) -> float:
    """How far apart two of these scores may lie and still be a tie in fp32."""
    return float(FP32 * max(1.0, float(np.abs(values).max(initial=0))))


def grid_of(similarity: str, queries: Vectors) -> Callable[[Vectors], Row]:
    """What scores a block of documents [block, d] for queries [n, d]: a function that gives shape [n, block]."""
    if similarity == "cosine":
        directions = directions_of(queries)
        return lambda block: directions @ directions_of(block).T
    if similarity == "dot":
        return lambda block: queries @ block.T
    from scipy.spatial.distance import cdist

    name = {"euclidean": "euclidean", "manhattan": "cityblock"}[similarity]
    return lambda block: -cdist(queries, block, name)


def directions_of(vectors: Vectors) -> Vectors:
    """The vectors [n, d] at length 1; a vector of zeros stays one."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    found: Vectors = (vectors / np.maximum(norms, 1e-60)[:, None]).astype(np.float32)
    return found

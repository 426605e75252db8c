"""Similarities of vectors or of words, computed in fp32 or better."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Values = NDArray[np.float64]
Similarity = Callable[[Vectors, Vectors], Values]

ROUNDING = 1e-3  # bf16 in a different batch moves a vector by less; dropout left on, by more
WORD_OVERLAP = "jaccard"
WORD = re.compile(r"\w+(?:['’]\w+)*")


def cosine(first: Vectors, second: Vectors) -> Values:
    """Return the cosine of each row of `first` [n, d] with the same row of `second` [n, d]; shape [n].

    Rows of zeros have no direction: their cosine is NaN. All other rows have a finite cosine at any length.
    """
    first, second = _scale_rows(first), _scale_rows(second)
    with np.errstate(invalid="ignore", divide="ignore"):
        norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        return np.asarray(np.clip(np.einsum("ij,ij->i", first, second) / norms, -1, 1), np.float64)


def _scale_rows(vectors: Vectors) -> Vectors:
    """Multiply each row by a power of two, so that its largest number is near 1.

    So squares stay within fp32's range, and no digit is lost.
    """
    _, exponents = np.frexp(np.abs(vectors).max(axis=1, initial=0))
    powers = np.ldexp(np.float32(1), np.clip(-exponents, -126, 126))
    return np.asarray(vectors * powers[:, None], vectors.dtype)


def vector_distance(first: Vectors, second: Vectors) -> Values:
    """Return the distance of each row from the same row of `second` [n, d]; shape [n].

    For rows of equal length, the distance is 1 - cosine.

    >>> first, second = np.array([[1, 0], [1, 0]], np.float32), np.array([[1, 0], [0, 1]], np.float32)
    >>> vector_distance(first, second).round(6).tolist()
    [0.0, 1.0]
    """
    a, b = first.astype(np.float64), second.astype(np.float64)
    size = np.maximum(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    return np.asarray((np.linalg.norm(a - b, axis=1) / np.maximum(size, 1e-12)) ** 2 / 2, np.float64)


def equal_up_to_rounding(first: Vectors, second: Vectors) -> Values:
    """Return 1 for each row of `first` that equals the same row of `second` up to rounding, otherwise 0; shape [n]."""
    return (vector_distance(first, second) <= ROUNDING).astype(np.float64)


def dot(first: Vectors, second: Vectors) -> Values:
    """Return the inner product of each pair of rows, shape [n]. It is computed in fp64, so any finite fp32 rows are
    safe.
    """
    return np.asarray(np.einsum("ij,ij->i", first, second, dtype=np.float64), np.float64)


def euclidean(first: Vectors, second: Vectors) -> Values:
    """Return the negative Euclidean distance of each pair of rows, shape [n], in fp64; larger is nearer."""
    return np.asarray(-np.linalg.norm(np.subtract(first, second, dtype=np.float64), axis=1), np.float64)


def manhattan(first: Vectors, second: Vectors) -> Values:
    """Return the negative Manhattan distance of each pair of rows, shape [n], in fp64; larger is nearer."""
    return np.asarray(-np.abs(np.subtract(first, second, dtype=np.float64)).sum(axis=1), np.float64)


SIMILARITIES: dict[str, Similarity] = {"cosine": cosine, "dot": dot, "euclidean": euclidean, "manhattan": manhattan}


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text, without punctuation.

    >>> words("Don't panic, Ann!")
    ["don't", 'panic', 'ann']
    """
    return WORD.findall(text.lower())


@lru_cache(maxsize=200_000)
def word_set(text: str) -> frozenset[str]:
    """Return the distinct lower-cased words of a text."""
    return frozenset(words(text))


def jaccard(first: Sequence[str], second: Sequence[str]) -> Values:
    """Return the share of distinct lower-cased words that the two texts of each pair have in common; shape [n].

    Two texts without words count as equal (1).

    >>> jaccard(["a red car"], ["a blue car"]).tolist()
    [0.5]
    """
    return np.array(
        [_set_overlap(word_set(a), word_set(b)) for a, b in zip(first, second, strict=True)], dtype=np.float64
    )


def jaccard_uncached(first: Sequence[str], second: Sequence[str]) -> Values:
    """Return `jaccard` without caching the words of the texts."""
    sets = ((frozenset(words(a)), frozenset(words(b))) for a, b in zip(first, second, strict=True))
    return np.array([_set_overlap(a, b) for a, b in sets], dtype=np.float64)


def _set_overlap(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 1.0

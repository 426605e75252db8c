"""Vectors in IEEE half precision: 16 bits a number, 11 of them significant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
CLOSE = 2.0**-11  # half precision rounds a number of ordinary size by at most this part of it
ROWS_AT_ONCE = 4_096


def halves(vectors: Floats) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
    """The vectors in half precision, shape [n, d], and which of them stay close to what they were, shape [n].

    A vector stays close if it moves by at most `CLOSE`, one part in 2,048, of its length. A vector does not if it holds
    a number beyond 65,504, if nearly all of it is below 0.00006, or if it is not finite.

    >>> halves(np.array([[0.1, 1], [0.1, 70_000]], np.float32))[1].tolist()
    [True, False]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.asarray(vectors, np.float32).astype("<f2")
        blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(rounded), ROWS_AT_ONCE)]
        close = [_squares(vectors[at] - rounded[at]) <= CLOSE**2 * _squares(vectors[at]) for at in blocks]
    return rounded, np.concatenate(close) if close else np.zeros(0, bool)


def rounded_to_half(vectors: Floats) -> Floats:
    """The vectors after half precision and back, shape [n, d]; those that would not stay close are as they were."""
    rounded, close = halves(vectors)
    found = rounded.astype(np.float32)
    found[~close] = vectors[~close]
    return found


def _squares(vectors: Floats) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64), np.float64)

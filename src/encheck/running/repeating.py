"""Encoding a few texts again, in other company: is the model deterministic?

What was found is kept in the store beside the vectors, under a fingerprint of its own: a warm run loads no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import Encoder, Model, PairScorer, batches_of, check_scores
from encheck.store import Kind, Store, text_key

ROUNDING = 1e-3  # bf16 in another batch differs by less; dropout left on, by more
Lock = Callable[[], AbstractContextManager[object]]


def again(
    model: Model, texts: Sequence[str], *, fingerprint: str, store: Store, kind: Kind, name: str, lock: Lock
) -> NDArray[np.float32]:
    """The vectors (or self-scores, shape [n, 1]) of the texts, computed a second time from the last to the first."""
    keys = [text_key(t) for t in texts]
    arrays, there = store.get(kind, fingerprint, keys)
    if there.all():
        return arrays
    with lock():
        computed = _compute(model, texts)
    store.put(kind, fingerprint, keys, computed, name=f"{name}, again")
    return computed


def _compute(model: Model, texts: Sequence[str]) -> NDArray[np.float32]:
    turned = list(texts)[::-1]
    if isinstance(model, Encoder):
        batches = list(batches_of(model, turned))
        vectors = np.zeros((len(texts), batches[0][1].shape[1]), np.float32)
        for positions, some in batches:
            vectors[positions] = some
        return vectors[::-1]
    assert isinstance(model, PairScorer)
    pairs = [(t, t) for t in turned]
    return check_scores(model.score_pairs(turned, turned), pairs)[::-1, None].astype(np.float32)


def same(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
    """1 for each row that is the same in both to within rounding, else 0; shape [n]."""
    size = np.maximum(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    apart = np.linalg.norm(first.astype(float) - second, axis=1)
    held: NDArray[np.float64] = (apart <= np.sqrt(2 * ROUNDING) * np.maximum(size, 1e-12)).astype(np.float64)
    return held

"""Encode a few texts again, in another batch: is the model deterministic?

What was found is kept in the store beside the vectors, under a fingerprint of its own: a warm run loads no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import Encoder, Model, PairScorer, Verified, batches_of, check_scores
from encheck.running.looking import looking
from encheck.running.roles import Role, key_of
from encheck.similarity import ROUNDING, moved
from encheck.store import Kind, Store, text_key
from encheck.system.lock import Locks


def again(
    model: Model,
    texts: Sequence[str],
    *,
    fingerprint: str,
    store: Store,
    kind: Kind,
    name: str,
    locks: Locks,
    role: Role | None = None,
) -> NDArray[np.float32]:
    """The vectors (or self-scores, shape [n, 1]) of the texts, computed a second time from the last to the first."""
    keys = list(map(text_key if role is None else key_of(model, role), texts))
    with looking(partial(store.get, kind, fingerprint, keys), locks(model)) as (arrays, there):
        if there.all():
            return arrays
        computed = store.as_kept(kind, _compute(model, texts, role))
        if isinstance(model, Verified):
            model.verify_fingerprint()
        store.put(kind, fingerprint, keys, computed, name=f"{name}, again")
    return computed


def _compute(model: Model, texts: Sequence[str], role: Role | None) -> NDArray[np.float32]:
    turned = list(texts)[::-1]
    if isinstance(model, Encoder):
        batches = list(batches_of(model, turned, role=role))
        vectors = np.zeros((len(texts), batches[0][1].shape[1]), np.float32)
        for positions, some in batches:
            vectors[positions] = some
        return vectors[::-1]
    assert isinstance(model, PairScorer)
    pairs = [(t, t) for t in turned]
    return check_scores(model.score_pairs(turned, turned), pairs)[::-1, None].astype(np.float32)


def same(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
    """1 for each row that is the same in both to within rounding, else 0; shape [n]."""
    return (moved(first, second) <= ROUNDING).astype(np.float64)

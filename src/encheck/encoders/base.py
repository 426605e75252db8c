"""What a model under test has to do.

A `PairScorer` scores pairs; that is all most checks need. An `Encoder` gives a vector for each text, and its
pairs are scored by its similarity function. Both name themselves by a fingerprint of their content, which must
not need the model to be loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from encheck.errors import EncoderError

Batch = tuple[NDArray[np.intp], NDArray[np.float32]]


class Model(Protocol):
    """What encoders and pair scorers share."""

    def fingerprint(self) -> str:
        """Name the content of this model: weights, tokenizer, pooling, prompt, dtype, maximum length."""
        ...


@runtime_checkable
class PairScorer(Model, Protocol):
    """A model that scores pairs of texts."""

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Similarity of each pair, shape [n], larger is nearer."""
        ...


@runtime_checkable
class Encoder(Model, Protocol):
    """A model that gives a vector for each text; `similarity` is cosine, dot, euclidean or manhattan."""

    similarity: str

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Vectors of the texts, shape [n, d], in their order."""
        ...


@runtime_checkable
class BatchEncoder(Encoder, Protocol):
    """An encoder that hands over what it has done batch by batch, so that an interrupted run keeps it."""

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:
        """(positions, vectors) of some texts at a time, until all are done."""
        ...


def batches_of(encoder: Encoder, texts: Sequence[str], *, size: int = 512) -> Iterator[Batch]:
    """The encoder's own batches, or plain slices of the texts; each checked before it is handed on."""
    if isinstance(encoder, BatchEncoder):
        source = encoder.batches(texts)
    else:
        starts = range(0, len(texts), size)
        source = ((np.arange(s, min(s + size, len(texts))), encoder.encode(texts[s : s + size])) for s in starts)
    width: int | None = None
    for positions, vectors in source:
        checked = check_vectors(vectors, [texts[i] for i in positions], width=width)
        width = checked.shape[1]
        yield positions, checked


def check_vectors(vectors: object, texts: Sequence[str], *, width: int | None = None) -> NDArray[np.float32]:
    """The vectors in fp32, or EncoderError: wrong shape, not finite, or all zero for a text with words."""
    array = np.asarray(vectors)
    if array.ndim != 2 or len(array) != len(texts) or (width is not None and array.shape[1] != width):
        expected = f"({len(texts)}, {width or 'dimension'})"
        raise EncoderError(f"encode() gave shape {array.shape} for {len(texts)} texts, but should give {expected}")
    if not np.issubdtype(array.dtype, np.number):
        raise EncoderError(f"encode() gave {array.dtype} values, but should give floating point")
    array = array.astype(np.float32)
    _refuse(~np.isfinite(array).all(axis=1), texts, "holds NaN or infinity")
    _refuse(~array.any(axis=1) & np.array([bool(t.strip()) for t in texts], bool), texts, "is all zeros")
    return array


def _refuse(bad: NDArray[np.bool_], texts: Sequence[str], what: str) -> None:
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise EncoderError(
            f"the vector of {int(bad.sum())} of {len(texts)} texts {what}; the first is {texts[where]!r}"
        )


def check_scores(scores: object, count: int) -> NDArray[np.float64]:
    """The pair scores in fp64, or EncoderError: wrong shape or not finite."""
    array = np.asarray(scores, dtype=np.float64)
    if array.shape != (count,):
        raise EncoderError(f"score_pairs() gave shape {array.shape} for {count} pairs, but should give ({count},)")
    if not np.isfinite(array).all():
        raise EncoderError(f"{int((~np.isfinite(array)).sum())} of {count} pair scores are NaN or infinite")
    return array


Loader = Callable[[], Model]

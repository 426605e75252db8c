"""What a model under test has to do.

A `PairScorer` scores pairs; that is all most checks need. An `Encoder` gives a vector for each text, and its
pairs are scored by its similarity function. Both name themselves by a fingerprint of their content, which must
not need the model to be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from encheck.errors import EncoderError
from encheck.store import Store

ROW_A_TEXT = "Remedy: return an array with a row of finite numbers for each text"
TRAINED = "Remedy: use a complete checkpoint, from before its training diverged or collapsed"
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
class ParsingEncoder(Encoder, Protocol):
    """An encoder that may read parses of its texts."""

    def keep_parses_in(self, store: Store) -> None:
        """Look for parses in this store, and keep there what was parsed."""
        ...


@runtime_checkable
class HeadedEncoder(Encoder, Protocol):
    """An encoder with a trained head over two vectors: its pairs are scored by the head, not by `similarity`."""

    def score_vectors(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
        """Score of each pair of rows of two arrays [n, d], shape [n], larger is nearer."""
        ...


@runtime_checkable
class BatchEncoder(Encoder, Protocol):
    """An encoder that hands over what it has done batch by batch, so that an interrupted run keeps it."""

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:
        """(positions, vectors) of some texts at a time, until all are done."""
        ...


@runtime_checkable
class FittedModel(Model, Protocol):
    """A model, encoder or pair scorer, that learns from the run's own texts; its fingerprint depends on them.

    One with an attribute `ready` that is true computes before it has learned, too, under the fingerprint of then: it is
    tried out before the run, as a model that learns nothing is. One with an attribute `learns` that is false scores the
    same whatever it was given.
    """

    def fit(self, texts: Sequence[str]) -> None:
        """Take note of all texts of the run, in any order; learning can wait for the first score."""
        ...


@runtime_checkable
class PartialEncoder(Encoder, Protocol):
    """An encoder that has vectors of some texts and computes none. Checks that need others are skipped."""

    def lacks(self, texts: Sequence[str], *, role: str | None = None) -> list[str]:
        """Those of the texts that have no vector in this role."""
        ...


@runtime_checkable
class VerifiedModel(Model, Protocol):
    """A model that others can change while a run goes on, such as one behind an address.

    The run asks it before it keeps what came: about once a second, and at the end.
    """

    def verify_fingerprint(self) -> None:
        """Return where this is still the model that the fingerprint names; else EncoderError."""
        ...


def devices_of(model: object) -> tuple[str, ...]:
    """Where a model computes, by its own `devices`: cpu, cuda:0, mps; none for one on another machine.

    A model that does not say computes on the CPU.
    """
    return tuple(getattr(model, "devices", ("cpu",)))


def batches_of(encoder: Encoder, texts: Sequence[str], *, role: str | None = None, size: int = 512) -> Iterator[Batch]:
    """The encoder's own batches, or plain slices of the texts; each checked before it is handed on.

    Without a role the encoder is asked without one: one of people's own may know none.
    """
    role_argument = {} if role is None else {"role": role}
    if isinstance(encoder, BatchEncoder):
        source = encoder.batches(texts, **role_argument)
    else:
        starts = range(0, len(texts), size)
        source = (
            (np.arange(s, min(s + size, len(texts))), encoder.encode(texts[s : s + size], **role_argument))
            for s in starts
        )
    width: int | None = None
    left = np.ones(len(texts), bool)
    for positions, vectors in source:
        some = [texts[i] for i in positions]
        with _named(encoder):
            checked = check_vectors(vectors, some, width=width)
            _refuse(~left[positions], some, "came twice from batches()")
        left[positions], width = False, checked.shape[1]
        yield positions, checked
    with _named(encoder):
        _refuse(left, texts, "never came from batches()")


@contextmanager
def _named(encoder: Encoder) -> Iterator[None]:
    """Says which encoder gave what is no vector: where it lies, as the adapters here know, or its class."""
    try:
        yield
    except EncoderError as error:
        if isinstance(place := getattr(encoder, "place", None), str):
            raise EncoderError(f"{place}: {error}. {TRAINED}") from error
        raise EncoderError(f"{type(encoder).__module__}:{type(encoder).__qualname__}: {error}. {ROW_A_TEXT}") from error


def check_vectors(vectors: object, texts: Sequence[str], *, width: int | None = None) -> NDArray[np.float32]:
    """The vectors in fp32, or EncoderError: wrong shape, not finite, or all zero for a text with words."""
    first = f"; the first text is {texts[0]!r}" if texts else ""
    array = _numbers(vectors, "encode()", first)
    if array.ndim != 2 or len(array) != len(texts) or (width is not None and array.shape[1] != width):
        expected = f"({len(texts)}, {width or 'dimension'})"
        raise EncoderError(f"encode() gave shape {array.shape}, but should give {expected}{first}")
    with np.errstate(over="ignore"):
        single: NDArray[np.float32] = array.astype(np.float32)
    _refuse(np.logical_not(np.isfinite(single).all(axis=1)), texts, "holds NaN or infinity")
    _refuse(~single.any(axis=1) & np.array([bool(t.strip()) for t in texts], bool), texts, "is all zeros")
    return single


def _refuse(bad: NDArray[np.bool_], texts: Sequence[str], what: str) -> None:
    if bad.any():
        first = texts[int(np.flatnonzero(bad)[0])]
        raise EncoderError(f"the vector of {bad.sum()} of {len(texts)} texts {what}; the first is {first!r}")


def check_scores(scores: object, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """The pair scores in fp64, or EncoderError: wrong shape or not finite."""
    first = f"; the first pair is {pairs[0]}" if pairs else ""
    array = _numbers(scores, "score_pairs()", first)
    if array.shape != (len(pairs),):
        raise EncoderError(f"score_pairs() gave shape {array.shape}, but should give ({len(pairs)},){first}")
    if (bad := ~np.isfinite(array)).any():
        worst = pairs[int(np.flatnonzero(bad)[0])]
        raise EncoderError(f"{bad.sum()} of {len(pairs)} pair scores are NaN or infinite; the first is of {worst}")
    return array.astype(np.float64)


def _numbers(values: object, method: str, first: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise EncoderError(f"{method} did not give an array of numbers ({error}){first}") from error
    if array.dtype.kind not in "fiu":
        raise EncoderError(f"{method} gave values of type {array.dtype}, but should give floating point{first}")
    return array

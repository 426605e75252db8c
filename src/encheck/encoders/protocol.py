"""The protocols of models under test.

A `PairScorer` scores pairs, which is all that most checks need. An `Encoder` returns a vector for each text, and its
pairs are scored by its similarity function. Both identify themselves by a fingerprint of their content, which must not
require loading the model.
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
    """The common part of encoders and pair scorers."""

    def fingerprint(self) -> str:
        """Return a text that identifies this model's content: weights, tokenizer, pooling, prompt, dtype, maximum
        length.
        """
        ...


@runtime_checkable
class PairScorer(Model, Protocol):
    """A model that scores pairs of texts."""

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return similarity of each pair, shape [n], larger is nearer."""
        ...


@runtime_checkable
class Encoder(Model, Protocol):
    """A model that returns a vector for each text; `similarity` is cosine, dot, euclidean or manhattan."""

    similarity: str

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Return vectors of the texts, shape [n, d], in their order."""
        ...


@runtime_checkable
class ParsingEncoder(Encoder, Protocol):
    """An encoder that may use parses of its texts."""

    def keep_parses_in(self, store: Store) -> None:
        """Read parses from this store, and write new ones to it."""
        ...


@runtime_checkable
class HeadedEncoder(Encoder, Protocol):
    """An encoder with a trained head over two vectors: the head, not `similarity`, scores its pairs."""

    def score_vectors(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return score of each pair of rows of two arrays [n, d], shape [n], larger is nearer."""
        ...


@runtime_checkable
class BatchEncoder(Encoder, Protocol):
    """An encoder that returns its results batch by batch, so that an interrupted run keeps them."""

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:
        """Yield (positions, vectors) of some texts at a time, until all are done."""
        ...


@runtime_checkable
class FittedModel(Model, Protocol):
    """A model, encoder or pair scorer, that learns from the run's own texts; its fingerprint depends on them.

    With a true attribute `ready`, the model also computes before it has learned, under its fingerprint at that time; it
    is tested before the run, like a model that learns nothing. With a false attribute `learns`, its scores do not
    depend on the texts.
    """

    def fit(self, texts: Sequence[str]) -> None:
        """Take all texts of the run, in any order; learning can wait for the first score."""
        ...


@runtime_checkable
class PartialEncoder(Encoder, Protocol):
    """An encoder that has vectors for some texts and computes none. Checks that need other vectors are skipped."""

    def lacks(self, texts: Sequence[str], *, role: str | None = None) -> list[str]:
        """Return the texts without a vector in this role."""
        ...


@runtime_checkable
class VerifiedModel(Model, Protocol):
    """A model that can change during a run, such as one behind an address.

    The run verifies it before it stores results: about once a second, and at the end.
    """

    def verify_fingerprint(self) -> None:
        """Return if this is still the model of the fingerprint; raise EncoderError if not."""
        ...


def model_devices(model: object) -> tuple[str, ...]:
    """Return the devices of a model, from its own `devices`: cpu, cuda:0, mps, or () for a model on a remote machine.

    A model without that attribute computes on the CPU.
    """
    return tuple(getattr(model, "devices", ("cpu",)))


def checked_batches(
    encoder: Encoder, texts: Sequence[str], *, role: str | None = None, size: int = 512
) -> Iterator[Batch]:
    """Yield the encoder's own batches, or plain slices of the texts; each is checked before it is returned.

    Without a role, `encode` is called without the argument, which a user's own encoder may not have.
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
        with _name_encoder_in_errors(encoder):
            checked = check_vectors(vectors, some, width=width)
            _raise_for_vectors(~left[positions], some, "was returned twice by batches()")
        left[positions], width = False, checked.shape[1]
        yield positions, checked
    with _name_encoder_in_errors(encoder):
        _raise_for_vectors(left, texts, "was never returned by batches()")


@contextmanager
def _name_encoder_in_errors(encoder: Encoder) -> Iterator[None]:
    """Name the encoder in errors about its vectors: by its place if it is an adapter of encheck, else by its class."""
    try:
        yield
    except EncoderError as error:
        if isinstance(place := getattr(encoder, "place", None), str):
            raise EncoderError(f"{place}: {error}. {TRAINED}") from error
        raise EncoderError(f"{type(encoder).__module__}:{type(encoder).__qualname__}: {error}. {ROW_A_TEXT}") from error


def check_vectors(vectors: object, texts: Sequence[str], *, width: int | None = None) -> NDArray[np.float32]:
    """Return the vectors in fp32. Raise EncoderError for a wrong shape, NaN or infinity, or zeros for a text with
    words.
    """
    first = f"; the first text is {texts[0]!r}" if texts else ""
    array = _as_numeric_array(vectors, "encode()", first)
    if array.ndim != 2 or len(array) != len(texts) or (width is not None and array.shape[1] != width):
        expected = f"({len(texts)}, {width or 'dimension'})"
        raise EncoderError(f"encode() returned shape {array.shape}, but should return {expected}{first}")
    with np.errstate(over="ignore"):
        single: NDArray[np.float32] = array.astype(np.float32)
    _raise_for_vectors(np.logical_not(np.isfinite(single).all(axis=1)), texts, "contains NaN or infinity")
    _raise_for_vectors(~single.any(axis=1) & np.array([bool(t.strip()) for t in texts], bool), texts, "is all zeros")
    return single


def _raise_for_vectors(bad: NDArray[np.bool_], texts: Sequence[str], what: str) -> None:
    if bad.any():
        first = texts[int(np.flatnonzero(bad)[0])]
        raise EncoderError(f"the vector of {bad.sum()} of {len(texts)} texts {what}; the first is {first!r}")


def check_scores(scores: object, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Return the pair scores in fp64. Raise EncoderError for a wrong shape or values that are not finite."""
    first = f"; the first pair is {pairs[0]}" if pairs else ""
    array = _as_numeric_array(scores, "score_pairs()", first)
    if array.shape != (len(pairs),):
        raise EncoderError(f"score_pairs() returned shape {array.shape}, but should return ({len(pairs)},){first}")
    if (bad := ~np.isfinite(array)).any():
        worst = pairs[int(np.flatnonzero(bad)[0])]
        raise EncoderError(f"{bad.sum()} of {len(pairs)} pair scores are NaN or infinite; the first is of {worst}")
    return array.astype(np.float64)


def _as_numeric_array(values: object, method: str, first: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise EncoderError(f"{method} did not return an array of numbers ({error}){first}") from error
    if array.dtype.kind not in "fiu":
        raise EncoderError(f"{method} returned values of type {array.dtype}, but should return floating point{first}")
    return array

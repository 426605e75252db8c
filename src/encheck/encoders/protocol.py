"""Define the protocols of models under test.

Most checks need only a `PairScorer`, which scores pairs. An `Encoder` returns a vector for each text, and its
similarity function scores pairs. Both identify themselves by a fingerprint of their content, which they must compute
without loading the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from encheck.errors import EncoderError
from encheck.store import Store

ROW_A_TEXT = "Remedy: return an array with a row of finite numbers, not all zero, for each text"
TRAINED = "Remedy: use a complete checkpoint, from before its training diverged or collapsed"
Batch = tuple[NDArray[np.intp], NDArray[np.float32]]


class Model(Protocol):
    """A model under test: what encoders and pair scorers have in common."""

    def fingerprint(self) -> str:
        """Return text that identifies the model's content: weights, tokenizer, pooling, prompt, dtype, maximum
        length.
        """
        ...


@runtime_checkable
class PairScorer(Model, Protocol):
    """A model that scores pairs of texts."""

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the similarity of each pair, shape [n]. Larger is nearer."""
        ...


@runtime_checkable
class Encoder(Model, Protocol):
    """A model that returns a vector for each text; `similarity` is cosine, dot, euclidean or manhattan."""

    similarity: str

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Return the vectors of the texts in their order, shape [n, d]."""
        ...


@runtime_checkable
class ParsingEncoder(Encoder, Protocol):
    """An encoder that may use parses of its texts."""

    def keep_parses_in(self, store: Store) -> None:
        """Read parses from this store and write new ones to it."""
        ...


@runtime_checkable
class HeadedEncoder(Encoder, Protocol):
    """An encoder with a trained head that scores two vectors. The head replaces `similarity`."""

    def score_vectors(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the score of each pair of rows of two arrays [n, d], shape [n]. Larger is nearer."""
        ...


@runtime_checkable
class BatchEncoder(Encoder, Protocol):
    """An encoder that returns vectors batch by batch, so that an interrupted run keeps the finished batches."""

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:
        """Yield (positions, vectors) of some texts at a time, until all texts are done."""
        ...


@runtime_checkable
class FittedModel(Model, Protocol):
    """An encoder or pair scorer that learns from the run's own texts. Its fingerprint depends on them.

    If its attribute `ready` is true, it can also compute before it has learned, and has a fingerprint of its own then.
    encheck tests it before the run, like a model that learns nothing. If its attribute `learns` is false, its scores do
    not depend on the texts.
    """

    def fit(self, texts: Sequence[str]) -> None:
        """Take all texts of the run, in any order. The model may put off learning until the first score."""
        ...


@runtime_checkable
class PartialEncoder(Encoder, Protocol):
    """An encoder that has vectors for some texts and cannot compute others.

    Checks that need other vectors are skipped.
    """

    def texts_without_vector(self, texts: Sequence[str], *, role: str | None = None) -> list[str]:
        """Return the texts without a vector in this role."""
        ...


@runtime_checkable
class VerifiedModel(Model, Protocol):
    """A model that can change during a run, such as a model on a server.

    The run verifies it before it stores results: about once a second, and at the end.
    """

    def verify_fingerprint(self) -> None:
        """Raise EncoderError if the model no longer matches its fingerprint."""
        ...


def model_devices(model: object) -> tuple[str, ...]:
    """Return the devices in the model's attribute `devices`: cpu, cuda:0, mps. Empty for a model on a remote machine.

    A model without that attribute computes on the CPU.
    """
    return tuple(getattr(model, "devices", ("cpu",)))


def checked_batches(
    encoder: Encoder, texts: Sequence[str], *, role: str | None = None, batch_size: int = 512
) -> Iterator[Batch]:
    """Yield the encoder's own batches, or slices of the texts if it has none. Each batch is checked first.

    Without a role, `encode` is called without that argument, because a user's own encoder may not accept it.
    """
    role_argument = {} if role is None else {"role": role}
    if isinstance(encoder, BatchEncoder):
        source = encoder.batches(texts, **role_argument)
    else:
        starts = range(0, len(texts), batch_size)
        source = (
            (np.arange(s, min(s + batch_size, len(texts))), encoder.encode(texts[s : s + batch_size], **role_argument))
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
    """Name the encoder in errors about its vectors, by the place of an adapter or by the class of any other encoder."""
    try:
        yield
    except EncoderError as error:
        if isinstance(place := getattr(encoder, "place", None), str):
            raise EncoderError(f"{place}: {error}. {TRAINED}") from error
        raise EncoderError(f"{type(encoder).__module__}:{type(encoder).__qualname__}: {error}. {ROW_A_TEXT}") from error


def check_vectors(vectors: object, texts: Sequence[str], *, width: int | None = None) -> NDArray[np.float32]:
    """Return the vectors, float32.

    Raise EncoderError for a wrong shape, NaN or infinity, and for a zero vector of a text that has words.
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
    """Return the pair scores, float64. Raise EncoderError for a wrong shape or values that are not finite."""
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

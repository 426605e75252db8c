"""A model's current output for a canary's texts: several calls in different batches, never from the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.canary_texts import LONG, NOTHING, texts
from encheck.encoders.batching import padding
from encheck.encoders.protocol import Encoder, Fitted, Model, PairScorer
from encheck.errors import EncheckError, EncoderError, UsageError

Vectors = NDArray[np.float32]
Call = Callable[[Sequence[str]], Vectors]
Sizes = Sequence[tuple[int, bool]]
# Texts a batch, and whether the call has the long texts too, which are most of the work.
SAVING: Sizes = ((200, True), (64, True), (24, True), (8, True), (3, True))
CHECKING: Sizes = ((64, True), (8, False))
PARTNERS = (1, 7, 31)  # a scorer of pairs scores each text with those so many rows further on


def called(model: Model, sizes: Sizes, *, role: str | None = None) -> Vectors:
    """The vectors of every text from each call, shape [calls, texts, d].

    NaN if the model refuses an empty text, and for long texts in a call without them. Each call has batches of its
    own size, in an order of its own. EncoderError if the model fails.
    """
    call = _call_of(model, role)
    with _long_on_purpose(), padding():
        answered, short = _answered(call), np.array([one.kind not in LONG for one in texts()])
        return np.stack(
            [
                _one_call(call, np.flatnonzero(answered & (short | whole)), size, np.random.default_rng(i))
                for i, (size, whole) in enumerate(sizes)
            ]
        )


@contextmanager
def _long_on_purpose() -> Iterator[None]:
    """Nobody is warned at each batch that some of these texts are longer than the model reads."""
    log = logging.getLogger("encheck")

    def is_news(record: logging.LogRecord) -> bool:
        return "are longer than" not in str(record.msg)

    log.addFilter(is_news)
    try:
        yield
    finally:
        log.removeFilter(is_news)


def _call_of(model: Model, role: str | None) -> Call:
    every = [one.text for one in texts()]
    if isinstance(model, Fitted):
        model.fit(every)
    if isinstance(model, Encoder):
        asked = {} if role is None else {"role": role}
        return _guarded(lambda some: _checked(model.encode(list(some), **asked), some))
    if not isinstance(model, PairScorer):
        raise UsageError(f"{type(model).__name__} neither gives vectors nor scores pairs, so it cannot have a canary")
    partners = {one: [every[(i + step) % len(every)] for step in PARTNERS] for i, one in enumerate(every)}

    def scored(some: Sequence[str]) -> Vectors:
        pairs = [(one, other) for one in some for other in partners[one]]
        scores = model.score_pairs(*map(list, zip(*pairs, strict=True)))
        return _checked(np.asarray(scores).reshape(len(some), -1), some)

    return _guarded(scored)


def _guarded(call: Call) -> Call:
    """Whatever a model of people's own raises is an EncoderError."""

    def asked(some: Sequence[str]) -> Vectors:
        try:
            return call(some)
        except EncheckError:
            raise
        except Exception as error:
            raise EncoderError(
                f"it fails at {len(some)} texts, the first of them {some[0][:60]!r}: {error!r}"
            ) from error

    return asked


def _answered(call: Call) -> NDArray[np.bool_]:
    """Whether the model takes each text: servers may refuse empty ones. Where it fails at others, the calls say so."""
    found = np.ones(len(texts()), bool)
    rows = [i for i, one in enumerate(texts()) if one.kind == NOTHING]
    if not _takes(call, rows):
        found[rows] = [_takes(call, [i]) for i in rows]
    return found


def _takes(call: Call, rows: Sequence[int]) -> bool:
    try:
        call([texts()[i].text for i in rows])
    except EncoderError:
        return False
    return True


def _one_call(call: Call, rows: NDArray[np.intp], size: int, random: np.random.Generator) -> Vectors:
    order = random.permutation(rows)
    parts = [order[start : start + size] for start in range(0, len(order), size)]
    made = [call([texts()[i].text for i in part]) for part in parts]
    if len(widths := {vectors.shape[1] for vectors in made}) > 1:
        raise EncoderError(f"the model gave vectors of {sorted(widths)} dimensions in one call: two models answer")
    found = np.full((len(texts()), made[0].shape[1]), np.nan, np.float32)
    found[order] = np.concatenate(made)
    return found


def _checked(given: object, some: Sequence[str]) -> Vectors:
    """The vectors, or EncoderError: another shape than a row a text, or NaN or infinity."""
    vectors = np.asarray(given, np.float32)
    if vectors.ndim != 2 or len(vectors) != len(some):
        raise EncoderError(f"the model gave shape {vectors.shape} for {len(some)} texts, but should give a row a text")
    if not (good := np.isfinite(vectors).all(axis=1)).all():
        first = some[int(np.flatnonzero(~good)[0])]
        raise EncoderError(
            f"the model gave NaN or infinity for {(~good).sum()} of {len(some)} texts; the first is {first[:80]!r}"
        )
    return vectors

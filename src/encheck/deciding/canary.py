"""Is the model behind this name still the one that an index was made with: `save` once, `check` as often as you like.

Both call the model. What the store keeps is not asked: it holds what the model gave before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.canary_calls import CHECKING, SAVING, Sizes, Vectors, called
from encheck.deciding.canary_file import Canary, read, write
from encheck.deciding.canary_rule import Answer, decide, noise_of
from encheck.encoders.local import LocalEncoder
from encheck.encoders.protocol import Encoder, Model, PairScorer
from encheck.encoders.stored import StoredVectors
from encheck.errors import EncheckError, EncoderError, UsageError
from encheck.options import Settings
from encheck.running.service import EncoderService

ROLES = ("query", "document")
LOUD = 0.2  # as a share of their length: calls that differ by so much have no model in common
Ask = Callable[[Sizes, str | None], Vectors]


@dataclass(frozen=True, slots=True)
class Source:
    """Where vectors come from: `ask(sizes, role)` gives those of every call, shape [calls, texts, d].

    `kind` is vector or pair; `dtype` is None if the model does not say. `is_local`: it is made of files.
    """

    label: str
    kind: str
    fingerprint: str
    dtype: str | None
    ask: Ask
    is_local: bool = False


def named(settings: Settings) -> Source:
    """The one model that these settings name; ModelError if it cannot be had."""
    subject = EncoderService.open(settings).subject
    return _source(subject.model, subject.label, subject.fingerprint)


def given(model: object) -> Source:
    """A model or function given as an object; UsageError if it is neither."""
    if isinstance(model, Encoder | PairScorer):
        return _source(model, type(model).__name__, model.fingerprint())
    if callable(model):
        label = getattr(model, "__qualname__", type(model).__name__)
        return Source(label, "vector", "", None, partial(_asked, _Function(model), label))
    raise UsageError(
        f"{type(model).__name__} is not a model: it should be a name, a path, a model of load_model, or a function "
        f"from "
        "texts to vectors"
    )


def _source(model: Model, label: str, fingerprint: str) -> Source:
    said = getattr(model, "dtype", None)
    kind = "vector" if isinstance(model, Encoder) else "pair"
    dtype = said if isinstance(said, str) else None
    return Source(label, kind, fingerprint, dtype, partial(_asked, model, label), isinstance(model, LocalEncoder))


def _asked(model: Model, label: str, sizes: Sizes, role: str | None) -> Vectors:
    once = isinstance(model, StoredVectors)  # it computes nothing: each call would give the same
    try:
        return called(model, sizes[:1] if once else sizes, role=role)
    except EncoderError as error:
        raise EncoderError(f"{label}: {error}") from error


class _Function:
    """A function from texts to vectors, as an encoder."""

    similarity = "cosine"

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def fingerprint(self) -> str:
        """None: a function may do anything."""
        return ""

    def encode(self, some: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """What the function gives; UsageError if it should encode in a role, of which it knows nothing."""
        if role is not None:
            raise UsageError(
                f"a function knows no roles: leave role={role!r} out, and put the prompt into the function"
            )
        return np.asarray(self.function(list(some)), np.float32)


def save(source: Source, path: Path, *, role: str | None = None) -> Canary:
    """Call a model five times in other batches and write what it gave.

    EncoderError, UsageError: the model fails; the file cannot be written.
    """
    if role not in (None, *ROLES):
        raise UsageError(f"--role is {role}, but should be query or document")
    calls = source.ask(SAVING, role)
    vectors, noise = noise_of(calls)
    _refuse_loud(noise)
    canary = Canary(
        *(source.label, source.kind, role, source.fingerprint, source.dtype),
        *(
            vectors,
            noise,
            tuple(size for size, _ in SAVING[: len(calls)]),
            datetime.now(UTC).date().isoformat(),
            version("encheck"),
        ),
    )
    write(path, canary)
    return canary


def check(source: Source, path: Path) -> tuple[Canary, Answer]:
    """Hold what a model gives now against a canary; the same errors as `save`."""
    canary = read(path)
    if source.kind != canary.kind:
        words = {"vector": "gives vectors", "pair": "scores pairs"}
        raise UsageError(
            f"{path} is the canary of a model that {words[canary.kind]}, but this one {words[source.kind]}"
        )
    answer = decide(canary, source.ask(CHECKING, canary.role))
    return canary, replace(answer, notes=(*answer.notes, *_known(canary, source, answer)))


def _known(canary: Canary, source: Source, answer: Answer) -> Iterator[str]:
    """What the model says of itself, beside its vectors."""
    if canary.dtype and source.dtype and canary.dtype != source.dtype:
        yield f"its weights are in {source.dtype}, and were in {canary.dtype}"
    if answer.outcome != "same" and source.is_local and source.fingerprint == canary.fingerprint:
        yield "its files and settings match the canary, so the software or the machine was changed"


def _refuse_loud(noise: NDArray[np.float64]) -> None:
    if (median := float(np.nanmedian(noise))) > LOUD:
        raise EncheckError(
            f"the calls differ by {median:.0%} of a vector's length (the median text): several models answer, or one "
            f"whose output is random. Remedy: serve one model, in evaluation mode"
        )

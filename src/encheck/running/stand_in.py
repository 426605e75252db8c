"""What takes the place of a model where a run is tried out: numbers of the same shape, at no cost."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import Encoder, Partial
from encheck.running.subject import Encoded, Subject
from encheck.store import Kind, Store, text_key

WIDTH = 1_024  # of the vectors of a model that was not asked: as those of most large encoders
ROWS = 4_096


def stand_in(subject: Subject, width: int | None) -> Subject:
    """The subject with another model, of vectors of this width, in its place; stored vectors stand for themselves."""
    if isinstance(subject.model, Partial):
        return replace(subject, state=Encoded())
    if not isinstance(subject.model, Encoder):
        return replace(subject, model=PairsStandIn(), owner="", state=Encoded())
    return replace(subject, model=StandIn(subject.model.similarity, width or WIDTH), owner="", state=Encoded())


class StandIn:
    """An encoder whose vectors are random, and the same for the same text."""

    def __init__(self, similarity: str, width: int) -> None:
        self.similarity, self.width = similarity, width

    def fingerprint(self) -> str:
        """Name the width."""
        return f"stand-in:{self.width}"

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:  # noqa: ARG002
        """Shape [n, width]."""
        return _random(self.width)[_numbers(texts) % ROWS]


class PairsStandIn:
    """A pair scorer whose scores are random, and the same for the same pair."""

    def fingerprint(self) -> str:
        """Name what it is."""
        return "stand-in"

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Scores from 0 to 1, shape [n]."""
        found: NDArray[np.float64] = (_numbers(first) ^ _numbers(second)) / 2**32
        return found


class Scratch(Store):
    """A store of its own, which also reads the parses and tags of another one and never writes to that."""

    def __init__(self, path: Path, below: Store) -> None:
        super().__init__(path)
        self._below = below

    def blobs(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The bytes of the keys that either store has."""
        return self._below.blobs(kind, fingerprint, keys) | super().blobs(kind, fingerprint, keys)


def _numbers(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.fromiter((zlib.crc32(text_key(text)) for text in texts), np.int64, len(texts))


@lru_cache(maxsize=2)
def _random(width: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((ROWS, width), np.float32)

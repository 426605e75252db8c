"""A sentence-transformers checkpoint with a trained head over the vectors of two texts.

It scores a pair by the head's probability, and decides by the head's argmax. Its vectors are the encoder's, and
searches and other comparisons of vectors use them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, ModelError
from encheck.types import Json
from encheck_papers.pair_head import (
    FOLDER,
    SBERT,
    Head,
    has_head,
    head_files,
    read_head,
    read_state_head,
    state_file,
)
from encheck_papers.spanned import SpanEncoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from encheck.encoders.model_config import Device

NONE = "none"
OPTIONS = ("features", "positive")


def open_checkpoint(
    source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]
) -> SpanEncoder:
    """The encoder of a folder, with its head if it has one; `head: none` leaves it out, `head: FILE` replaces it.

    ModelError for options of a head if there is none.
    """
    asked = config.options.get("head")
    if asked != NONE and (asked is not None or has_head(source)):
        return PairHeadEncoder(source, config, device=device, file_hash=file_hash)
    if given := sorted(set(OPTIONS) & set(config.options)):
        raise ModelError(
            f"{given[0]} belongs to a head over pairs, and {source} has none. Remedy: name its file: "
            "--model-arg head=FILE"
        )
    return SpanEncoder(source, config, device=device, file_hash=file_hash)


class PairHeadEncoder(SpanEncoder):
    """A checkpoint with a head; `positive` is the class that means "the same": by default the last of two."""

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        asked = config.options.get("head")
        self._state = None if asked is None else state_file(source, str(asked))
        self.head = self._read()
        self.positive = self._positive()

    def _read(self) -> Head:
        """The head's weights; ModelError if they do not fit."""
        named = self.config.options.get("features")
        if self._state is not None:
            features = [part.strip() for part in str(named).split(",")] if named else SBERT
            return read_state_head(self._state, features=features)
        if named:
            raise ModelError(f"features is for a head that head names; {self.source / FOLDER} says its own")
        return read_head(self.source)

    def _positive(self) -> int:
        """The class that means "the same"; ModelError if it is unknown."""
        asked = str(self.config.options.get("positive", 1 if self.head.classes == 2 else ""))
        if asked.isdecimal() and int(asked) < self.head.classes:
            return int(asked)
        raise ModelError(
            f"the head of {self.source} has {self.head.classes} classes, and positive is {asked or 'not said'}. "
            f"Remedy: the number of the class that means the same: --model-arg positive=0 to {self.head.classes - 1}"
        )

    @property
    def decision(self) -> float | None:
        """The score from which the head's argmax is yes. None if it has more than two classes."""
        return 0.5 if self.head.classes == 2 else None

    def score_vectors(self, first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability that the texts of these vectors [n, d] mean the same; shape [n]."""
        return self.head.probabilities(first, second)[:, self.positive]

    def fingerprint_files(self) -> Mapping[str, Path]:
        """The checkpoint's files, and those of its head."""
        return {
            **super().fingerprint_files(),
            **(head_files(self.source) if self._state is None else {"head": self._state}),
        }

    def fingerprint_settings(self) -> list[str]:
        """Adds the options of the head."""
        return [
            *super().fingerprint_settings(),
            *(f"{k} {v}" for k, v in sorted(self.config.options.items()) if k in OPTIONS),
        ]

    def about(self) -> dict[str, Json]:
        """Adds the parts that the head reads."""
        return super().about() | {"head": f"probability of class {self.positive}, by ({', '.join(self.head.features)})"}

    def _load(self, device: str) -> SentenceTransformer:
        model = super()._load(device)
        found = self.output_dimension or model.get_embedding_dimension()
        if found is not None and found != self.head.dimension:
            raise EncoderError(f"{self.source}: {self.head.mismatch(found)}")
        return model

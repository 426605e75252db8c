"""What all adapters have in common: prompts by role, the order of texts, and a look at every vector."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.failing import cannot, named
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Batch
from encheck.errors import EncoderError
from encheck.types import content_hash

log = logging.getLogger("encheck")
T = TypeVar("T")
PROBE = "The harbour lay quiet under the first snow of the year."
SAME_ROLE = {"document": ("passage", "corpus"), "passage": ("document", "corpus")}  # as sentence-transformers has them


class TextEncoder(ABC):
    """From `compute`, which an adapter brings, to an encoder."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        self.similarity: str = config.similarity or "cosine"
        self.prompt: str = config.prompt or ""
        self.prompts: dict[str, str] = dict(config.prompts)
        self.truncated = 0

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the model is, for messages: a path or an address."""

    @abstractmethod
    def compute(self, texts: list[str], prompt: str) -> Iterator[Batch]:
        """(positions, vectors) of texts of which none holds a lone surrogate."""

    @property
    def maximum_length(self) -> int | None:
        """The most tokens of a text that are read, as the files and the entry say; None where nothing does."""
        return None

    @property
    def tokenizer_file(self) -> Path | None:
        """The tokenizer.json that makes its tokens; None where it has none."""
        return None

    @property
    def is_normalised(self) -> bool | None:
        """Whether vectors are brought to length 1; None where nothing says so."""
        return None

    def about(self) -> dict[str, Any]:
        """How the model is used here, for the report: what holds, not what was asked for."""
        return {"prompt": self.prompt} | ({"prompts": self.prompts} if self.prompts else {})

    def prompt_for(self, role: str | None) -> str:
        """What stands before a text in this role; the model's only prompt where the role has none of its own."""
        return of_role(self.prompts, role, self.prompt)

    def compute_in_role(self, texts: list[str], role: str | None) -> Iterator[Batch]:
        """As `compute`, with the prompt of the role."""
        return self.compute(texts, self.prompt_for(role))

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> NDArray[np.float32]:
        """Vectors of the texts, shape [n, d], fp32, in their order."""
        done = list(self.batches(texts, role=role))
        out = np.empty((len(texts), done[0][1].shape[1] if done else 0), np.float32)
        for positions, vectors in done:
            out[positions] = vectors
        return out

    def batches(self, texts: Sequence[str], *, role: str | None = None) -> Iterator[Batch]:
        """(positions, vectors) batch by batch; EncoderError names the model where that goes wrong."""
        if not texts:
            return
        with named(lambda error: EncoderError(cannot("encode these texts", self.place, error))):
            for positions, vectors in self.compute_in_role(whole(texts), role):
                good = np.isfinite(vectors).all(axis=1)
                if not good.all():
                    raise EncoderError(self._no_number(texts[int(positions[~good][0])]))
                self._check_width(vectors.shape[1])
                yield positions, vectors

    def _check_width(self, width: int) -> None:
        """EncoderError if vectors of this width were to be cut to more dimensions than they have."""
        asked = self.config.truncate_dim
        if asked and asked > width:
            raise EncoderError(
                f"truncate_dim is {asked}, but {self.place} gives vectors of {width} dimensions: there is nothing to "
                f"cut. Remedy: truncate_dim of {width} or less"
            )

    def _no_number(self, text: str) -> str:
        dtype = getattr(self, "dtype", "float32")
        narrow = "" if dtype == "float32" else f"; {dtype} can be too narrow for it: try --dtype=float32"
        return (
            f"{self.place} gives vectors that hold NaN or infinity, first for {text[:80]!r}. Remedy: take a checkpoint "
            f"from before its training diverged{narrow}"
        )

    def note_cut(self, cut: int, total: int, limit: int) -> None:
        """Count the texts that lost their end; say so where they are more than one in a hundred."""
        self.truncated += cut
        if cut > total / 100:
            log.warning(
                "%d of %d texts are longer than %d tokens, the maximum: the rest is truncated", cut, total, limit
            )


def of_role(by_role: Mapping[str, T], role: str | None, otherwise: T) -> T:
    """What a mapping has for this role, or for another name of it.

    >>> of_role({"passage": "passage: "}, "document", ""), of_role({"passage": "passage: "}, "query", "")
    ('passage: ', '')
    """
    names = () if role is None else (role, *SAME_ROLE.get(role, ()))
    return next((by_role[name] for name in names if name in by_role), otherwise)


def coarse(vector: NDArray[np.float32]) -> str:
    """A vector, shape [d], in sixteen coarse steps: another model has others, noise in the last digits has not.

    >>> v = np.arange(8, dtype=np.float32)
    >>> coarse(v) == coarse(v * 1.000001) == coarse(v * np.float32(1e25)), coarse(v) == coarse(v[::-1])
    (True, False)
    """
    directions = np.random.default_rng(0).standard_normal((16, len(vector)))
    wide = vector.astype(np.float64)
    length = max(float(np.linalg.norm(wide)), 1e-60)
    steps = np.round(directions @ wide / length / 0.1).astype(int)
    return content_hash(str(len(vector)), *map(str, steps))


def whole(texts: Sequence[str]) -> list[str]:
    """The texts, with U+FFFD for each half of a surrogate pair, which no tokenizer takes; a warning says so.

    >>> whole(["fine"])
    ['fine']
    """
    fixed = [t if t.isascii() else t.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for t in texts]
    if changed := sum(a != b for a, b in zip(texts, fixed, strict=True)):
        log.warning("%d of %d texts hold half of a surrogate pair: it is read as U+FFFD", changed, len(texts))
    return fixed

"""What pair scorers have in common: fingerprint, distinct pairs, one direction or the mean of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.failing import cannot, named
from encheck.encoders.files import hashes
from encheck.encoders.hub import commit_of
from encheck.encoders.model_config import ModelConfig
from encheck.encoders.text import whole
from encheck.errors import EncoderError
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device

Floats = NDArray[np.float64]
Pair = tuple[str, str]
PAIRS_AT_ONCE = 1_024


class PairModel(ABC):
    """From `compute`, which an adapter brings, to a pair scorer. `engine` is its name and number: see LocalEncoder."""

    engine: ClassVar[str]

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        self.source, self.config, self.device, self._file_hash = source, config, device, file_hash
        self.direction: str = config.options.get("direction", "forward")

    @abstractmethod
    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """The score of each of these distinct pairs, shape [n]."""

    def content(self) -> Mapping[str, Path]:
        """The files that make the scores, under names that do not depend on where they lie."""
        return {}

    def how(self) -> list[str]:
        """What else changes scores."""
        return []

    @cached_property
    def _fingerprint(self) -> str:
        content = hashes(self.content(), self._file_hash)
        return f"{self.engine.rpartition('-')[0]}:{content_hash(self.engine, self.direction, *self.how(), *content)}"

    def fingerprint(self) -> str:
        """From the content of the files and how they are used; a copied folder has the same one."""
        return self._fingerprint

    @property
    def devices(self) -> list[str]:
        """Where it computes: the CPU, where the adapter does not say otherwise."""
        return ["cpu"]

    @property
    def place(self) -> str:
        """The folder or file; the kind of model where it has none."""
        return str(self.source) if self.source.name else self.engine.rpartition("-")[0]

    def changed(self) -> None:
        """Forget the fingerprint: what it depends on is another now."""
        self.__dict__.pop("_fingerprint", None)

    def about(self) -> dict[str, Any]:
        """How the model is used here, for the report."""
        commit = commit_of(self.source)
        return {"direction": self.direction} | ({"revision": commit} if commit else {})

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """The score of each pair, shape [n], larger is nearer; equal pairs are computed once."""
        pairs = list(zip(whole(first), whole(second), strict=True))
        turned = [(b, a) for a, b in pairs] if self.direction == "both" else []
        distinct = list(dict.fromkeys([*pairs, *turned]))
        slices = [distinct[i : i + PAIRS_AT_ONCE] for i in range(0, len(distinct), PAIRS_AT_ONCE)]
        found = {pair: value for some in slices for pair, value in zip(some, self._checked(some), strict=True)}
        there, back = (np.array([found[p] for p in some], float) for some in (pairs, turned))
        return (there + back) / 2 if turned else there

    def _checked(self, pairs: Sequence[Pair]) -> Floats:
        with named(lambda error: EncoderError(cannot("score these pairs", self.place, error))):
            scores = self.compute(pairs)
        if not np.isfinite(scores).all():
            worst = pairs[int(np.flatnonzero(~np.isfinite(scores))[0])]
            raise EncoderError(
                f"{self.source} gives scores that are NaN or infinite, first for {worst}. "
                "Remedy: take a checkpoint from before its training diverged"
            )
        return scores

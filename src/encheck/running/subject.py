"""A model under test in a run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.model_config import ModelConfig
from encheck.encoders.protocol import Encoder, Model
from encheck.errors import EncoderError
from encheck.store import Kind

Pair = tuple[str, str]


@dataclass
class Subject:
    """A model under test, with the vectors or pair scores of this run once they are there.

    `owner` goes before its fingerprint: two classes of people's own may have chosen the same one.
    """

    label: str
    config: ModelConfig
    model: Model
    owner: str = ""
    error: EncoderError | None = None
    encoded: int = 0
    seconds: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    scored: dict[Pair, float] = field(default_factory=dict)
    again: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """What the store keeps for this model."""
        return "vector" if isinstance(self.model, Encoder) else "pair"

    @property
    def fingerprint(self) -> str:
        """What the store and the results know this model by."""
        own = self.model.fingerprint()
        return f"{self.owner}/{own}" if self.owner else own

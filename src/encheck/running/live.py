"""A model under test in hand: similarities and vectors one call at a time, through the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import Encoder, Fitted, Model
from encheck.errors import UsageError
from encheck.running.roles import Role
from encheck.running.scorer import similarity_of
from encheck.running.service import Encoding
from encheck.running.subject import Encoded, Subject
from encheck.store import Store
from encheck.system.progress import Progress


class Live:
    """What the fixture `encoder` gives to tests: a model whose texts are encoded once, whoever asks.

    UsageError for a model that learns from the texts of a run: here there is no run to learn from.
    """

    def __init__(self, subject: Subject, store: Store) -> None:
        self.subject, self.store = subject, store
        if isinstance(self.model, Fitted) and not getattr(self.model, "ready", False):
            raise UsageError(
                f"the fixture `encoder` cannot be {self.label!r}: it learns from the texts of a run, and tests of your "
                "own have none. Remedy: name another model with --encheck-model"
            )

    def __repr__(self) -> str:
        return f"<encoder {self.label!r}>"

    @property
    def label(self) -> str:
        """The name of the model in messages."""
        return self.subject.label

    @property
    def model(self) -> Model:
        """The model itself, which reads no store: for `encheck.relations`."""
        return self.subject.model

    def similarity(self, first: str, second: str) -> float:
        """How near two texts are, by the model's own similarity: larger is nearer.

        EncoderError where the model fails.
        """
        return float(self.similarities([first], [second])[0])

    def similarities(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """The similarity of each pair, shape [n]; what the store lacks is encoded in one call."""
        encoded = self._through_store(list(zip(first, second, strict=True)))
        return np.asarray(similarity_of(encoded)(first, second), np.float64)

    def encode(self, texts: Sequence[str], *, role: Role | None = None) -> NDArray[np.float32]:
        """Vectors of the texts, shape [n, d], in their order; UsageError for a model that scores pairs."""
        if not isinstance(self.model, Encoder):
            raise UsageError(f"{self.label} scores pairs and gives no vectors: use similarity()")
        if role is None:
            encoded = self._through_store([(text, text) for text in texts])
            return encoded.state.vectors[[encoded.state.rows[text] for text in texts]]
        distinct = list(dict.fromkeys(texts))
        return self._through_store([], roles={role: distinct}).state.roles[role].of(texts)

    def _through_store(self, pairs: list[tuple[str, str]], *, roles: Any = None) -> Subject:
        subject = replace(self.subject, state=Encoded())
        encoding = Encoding({self.label: subject}, self.store)
        asked = {self.label: roles} if roles else None
        encoding.encode({self.label: pairs}, roles=asked, progress=Progress(quiet=True), fit=False)
        if subject.error:
            raise subject.error
        return subject

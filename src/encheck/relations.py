"""Relations that a model should satisfy for all texts. Each function measures how far a model violates one relation.

All functions except `margin` call the model itself (`encoder.model` of the fixture), without the store. The test sets
the limit: `assert order_drift(model, texts) < 1e-5`. The functions do not need hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import Encoder, PairScorer

Vectors = NDArray[np.float32]


class SimilarityScorer(Protocol):
    """The interface that `margin` needs, which the fixture `encoder` has."""

    def similarities(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """Return the similarity of each pair; shape [n]."""
        ...


class TextTriple(Protocol):
    """The three texts that `margin` compares, as in a `MinimalPair`."""

    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def kept(self) -> str: ...  # noqa: D102
    @property
    def changed(self) -> str: ...  # noqa: D102


def margin(encoder: SimilarityScorer, pair: TextTriple) -> float:
    """Return Sim(source, kept) - Sim(source, changed); a value below 0 is an error of the model."""
    kept, changed = encoder.similarities([pair.source] * 2, [pair.kept, pair.changed])
    return float(kept - changed)


def repeat_drift(model: Encoder, texts: Sequence[str]) -> float:
    """Return the largest change of a coordinate when the same texts are encoded again (determinism)."""
    return _largest_difference(model.encode(texts), model.encode(texts))


def order_drift(model: Encoder, texts: Sequence[str]) -> float:
    """Return the largest change of a coordinate when the texts are encoded in reverse order (batching)."""
    return _largest_difference(model.encode(texts), model.encode(list(texts)[::-1])[::-1])


def batch_drift(model: Encoder, texts: Sequence[str]) -> float:
    """Return the largest change of a coordinate when each text is encoded alone (batching and padding)."""
    if not texts:
        return 0.0
    return _largest_difference(model.encode(texts), np.concatenate([model.encode([text]) for text in texts]))


def text_drift(model: Encoder, first: str, second: str) -> float:
    """Return the largest difference of a coordinate between the vectors of two texts that differ in case or spacing."""
    one, other = model.encode([first, second])
    return _largest_difference(one, other)


def prompt_drift(model: Encoder, text: str, *, role: str, prompt: str) -> float:
    """Return the largest difference of a coordinate between a text in its role and the same text after the prompt.

    The model must not have a prompt for texts without a role.
    """
    return _largest_difference(model.encode([text], role=role), model.encode([f"{prompt}{text}"]))


def swap_drift(model: PairScorer, first: Sequence[str], second: Sequence[str]) -> float:
    """Return the largest change of a score when the two texts of a pair are swapped (symmetry)."""
    return _largest_difference(model.score_pairs(first, second), model.score_pairs(second, first))


def pairs_drift(model: PairScorer, first: Sequence[str], second: Sequence[str]) -> float:
    """Return the largest change of a score when each pair is scored alone (batching and padding)."""
    alone = [model.score_pairs([a], [b]) for a, b in zip(first, second, strict=True)]
    return _largest_difference(model.score_pairs(first, second), np.concatenate(alone)) if alone else 0.0


def _largest_difference(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """Return the largest absolute difference; infinity if shapes differ or a value is not finite."""
    if first.shape != second.shape:
        return float("inf")
    apart = np.abs(first.astype(np.float64) - second.astype(np.float64)).max(initial=0.0)
    return float(apart) if np.isfinite(apart) else float("inf")

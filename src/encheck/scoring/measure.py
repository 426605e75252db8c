"""What compares texts, as scores ask it: a model, or word overlap in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from encheck.scoring.scale import Floats
from encheck.scoring.search import overlap_grid
from encheck.similarity import jaccard


class Measure(Protocol):
    """A scorer whose texts are encoded."""

    @property
    def decision(self) -> float | None:
        """Where a trained head of two classes says yes; None for a scorer without one."""
        ...

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """The similarity of each pair, shape [n]."""
        ...

    def grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """The similarity of each query and document, shape [n, m]; NothingToMeasure where only pairs are scored."""
        ...

    def repeats(self, texts: Sequence[str]) -> Floats:
        """1 for each text that got the same vector, or score with itself, a second time; else 0; shape [n]."""
        ...


class WordOverlap:
    """Jaccard overlap of word sets, which needs no understanding."""

    decision = None

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """The overlap of each pair, shape [n]."""
        return jaccard(first, second)

    def grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """The overlap of each query and document, shape [n, m]."""
        return overlap_grid(queries, documents)

    def repeats(self, texts: Sequence[str]) -> Floats:
        """Words stay the same."""
        return np.ones(len(texts))

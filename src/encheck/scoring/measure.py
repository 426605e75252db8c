"""What compares texts: a model, or a surface scorer in its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from encheck.scoring.documents import SearchingQuery
from encheck.scoring.grids import overlap_grid
from encheck.scoring.lexical import Lexical
from encheck.scoring.nearest import Found, wider, without_own
from encheck.scoring.scale import Floats
from encheck.similarity import WORD_OVERLAP
from encheck.surface import SURFACE, WEIGHTED, Frequencies


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

    def repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """1 for each text that got the same vector, or score with itself, in another batch, and when that batch was
        repeated; else 0; shape [n] each.
        """
        ...

    def ranked(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[Found]:
        """(rows, scores) of the best documents of each query, at least `count` where there are as many, best first.

        A query's own document is left out.
        """
        ...

    def asked(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """The score of each document for the query at its place, shape [n]."""
        ...


@dataclass(frozen=True)
class SurfaceScorer:
    """A surface scorer by its name: it compares words or characters, which needs no understanding.

    `frequencies` are for those that weigh words, `index` for the one that searches documents.
    """

    name: str = WORD_OVERLAP
    frequencies: Frequencies | None = None
    index: Lexical | None = None
    decision: float | None = None

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        """The similarity of each pair, shape [n]."""
        if self.name in SURFACE:
            return SURFACE[self.name](first, second)
        assert self.frequencies is not None
        return WEIGHTED[self.name](first, second, self.frequencies)

    def grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """The similarity of each query and document, shape [n, m]."""
        if self.name == WORD_OVERLAP:
            return overlap_grid(queries, documents)
        return np.array([self.pairs([query] * len(documents), documents) for query in queries])

    def repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Texts stay the same."""
        return np.ones(len(texts)), np.ones(len(texts))

    def ranked(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[Found]:
        """(rows, scores) of the best documents of each query."""
        assert self.index is not None
        own, wanted = [q.own for q in queries], max(count, 1 + max(len(q.right) for q in queries))
        answers = self.index.ranked([q.source for q in queries], wider(wanted, own))
        return without_own(answers, own, count=wanted)

    def asked(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        """The score of each document for the query at its place, shape [n]."""
        return self.pairs(queries, documents) if self.index is None else self.index.pairs(queries, documents)

"""Word overlap as models of their own: what a model should beat before it is said to know meaning.

Jaccard of word sets; cosine of TF-IDF vectors; BM25 of one text as query on the other, each way, against what the query
gets of itself. Words are lower-cased; document frequencies are counted in the run's own texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from encheck.encoders.model_config import ModelConfig
from encheck.encoders.pairs.model import Floats, Pair, PairModel
from encheck.similarity import jaccard, words
from encheck.types import content_hash

if TYPE_CHECKING:
    from encheck.encoders.load import Device

K1, B = 1.5, 0.75  # as in Robertson and Zaragoza 2009


class LexicalScorer(PairModel):
    """Scores pairs by their shared words; `weighting` is jaccard, tf-idf or bm25."""

    engine = "lexical-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.weighting: str = config.options.get("weighting", "jaccard")
        self._corpus: tuple[str, ...] = ()

    def fit(self, texts: Sequence[str]) -> None:
        """Count document frequencies in these texts."""
        if self.weighting != "jaccard":
            self._corpus = tuple(sorted(set(texts)))
            self.__dict__.pop("_counts", None)
            self.changed()

    def how(self) -> list[str]:
        """The weighting, and the texts that were counted."""
        return [self.weighting, *([content_hash(*self._corpus)] if self._corpus else [])]

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """Pair by pair."""
        if self.weighting == "jaccard":
            return jaccard(*zip(*pairs, strict=True))
        score = self._cosine if self.weighting == "tf-idf" else self._both_ways
        return np.array([score(Counter(words(a)), Counter(words(b))) for a, b in pairs], float)

    @cached_property
    def _counts(self) -> tuple[Counter[str], int, float]:
        """Texts with each word, number of texts, words a text."""
        bags = [words(text) for text in self._corpus]
        found = Counter(word for bag in bags for word in set(bag))
        return found, len(bags), sum(map(len, bags)) / max(len(bags), 1) or 1.0

    def _idf(self, word: str) -> float:
        frequency, texts, _ = self._counts
        if self.weighting == "tf-idf":
            return float(np.log((1 + texts) / (1 + frequency[word])) + 1)  # as scikit-learn
        return float(np.log(1 + (texts - frequency[word] + 0.5) / (frequency[word] + 0.5)))

    def _cosine(self, first: Mapping[str, int], second: Mapping[str, int]) -> float:
        a, b = ({word: count * self._idf(word) for word, count in bag.items()} for bag in (first, second))
        norms = [float(np.sqrt(sum(x * x for x in bag.values()))) for bag in (a, b)]
        if not all(norms):
            return float(not any(norms))
        return sum(x * b.get(word, 0.0) for word, x in a.items()) / (norms[0] * norms[1])

    def _both_ways(self, first: Mapping[str, int], second: Mapping[str, int]) -> float:
        if not first or not second:
            return float(not first and not second)
        ways = [self._bm25(q, d) / self._bm25(q, q) for q, d in ((first, second), (second, first))]
        return sum(ways) / 2

    def _bm25(self, query: Mapping[str, int], document: Mapping[str, int]) -> float:
        norm = K1 * (1 - B + B * sum(document.values()) / self._counts[2])
        shared = ((self._idf(word) * n, document[word]) for word, n in query.items() if word in document)
        return sum(weight * count * (K1 + 1) / (count + norm) for weight, count in shared)

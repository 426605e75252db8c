"""BERTScore over any encoder's token vectors (Zhang et al. 2020): IDF-weighted F1 of greedy matches.

As bert_score computes a single pair, without padding in the maxima. Special tokens have weight 0, but other tokens may
match them. IDF is log((N + 1) / (df + 1)) over the named texts, so a pair has the same score in every run; scores are
not rescaled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.load import load
from encheck.encoders.base import Floats, Pair, PairModel, replace_half_surrogates
from encheck.encoders.model_config import ModelConfig
from encheck.types import Json, content_hash
from encheck_papers.token_states import States, TokenEncoder

if TYPE_CHECKING:
    from encheck.encoders.model_config import Device

Matrix = NDArray[np.float32] | NDArray[np.float64]


def greedy(first: Matrix, second: Matrix, weights: Sequence[Matrix]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two sets of unit vectors [n, d], [m, d], where `weights` are [n] and [m].

    Precision: the mean over `first` of the best cosine in `second`; recall the other way round. Values are 0 if all
    weights of a side are 0; F1 also if both others are 0.

    >>> greedy(np.eye(2), np.eye(2)[:1], [np.ones(2), np.ones(1)])
    (0.5, 1.0, 0.6666666666666666)
    """
    if not (len(first) and len(second)):
        return 0.0, 0.0, 0.0
    cosines = np.asarray(first, np.float64) @ np.asarray(second, np.float64).T
    sides = [_mean(cosines.max(axis=1), weights[0]), _mean(cosines.max(axis=0), weights[1])]
    precision, recall = sides
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def _mean(values: Matrix, weights: Matrix) -> float:
    total = float(np.sum(weights))
    return float(np.dot(values, weights)) / total if total else 0.0


class TokenScorer(PairModel):
    """A pair scorer over the token vectors of a transformers checkpoint."""

    libraries = TokenEncoder.libraries

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.layer: int = config.options.get("layer", -1)
        plain = ModelConfig(
            config.label, name=config.name, prompt=config.prompt, max_length=config.max_length, dtype=config.dtype,
            options={"layers": [self.layer]}, pooling="layers",
        )  # fmt: skip
        self.encoder = TokenEncoder(source, plain, device=device, file_hash=file_hash)

    @cached_property
    def devices(self) -> list[str]:
        """The devices of the token vectors."""
        return self.encoder.devices

    def fingerprint_files(self) -> Mapping[str, Path]:
        """Every file of the folder that affects vectors."""
        return self.encoder.fingerprint_files()

    def fingerprint_settings(self) -> list[str]:
        """The encoder's settings, with its prompt."""
        return [*self.encoder.fingerprint_settings(), self.encoder.prompt]

    def about(self) -> dict[str, Json]:
        """Adds the layer and the prompt."""
        return super().about() | {"layer": self.layer, "prompt": self.encoder.prompt}

    def states(self, pairs: Sequence[Pair], *, unit: bool) -> dict[str, States]:
        """The states of every text of these pairs."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        return dict(zip(texts, self.encoder.states(texts, layer=self.layer, unit=unit), strict=True))


class BertScore(TokenScorer):
    """F1 of the tokens, weighted by IDF in the data that `idf` names, as in `--data`; without it, equal weights."""

    engine = "bertscore-2"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.idf: str = config.options.get("idf", "")

    @cached_property
    def corpus(self) -> tuple[str, ...]:
        """The texts in which tokens are counted, each once: both sides of the named data's pairs, or its texts."""
        if not self.idf:
            return ()
        data = load(self.idf, sample=None)
        sides = {text for pair in data.pairs for text in (pair.first, pair.second)}
        return tuple(sorted(set(replace_half_surrogates(list(sides or {group.source for group in data.groups})))))

    def fingerprint_settings(self) -> list[str]:
        """Adds the texts that are counted."""
        return [*super().fingerprint_settings(), f"idf {content_hash(*self.corpus)}" if self.idf else "no idf"]

    def about(self) -> dict[str, Json]:
        """Adds the weights."""
        weights = f"IDF over {len(self.corpus):,} texts of {self.idf}" if self.idf else "all equal"
        return super().about() | {"weights": weights}

    @cached_property
    def _frequency(self) -> Counter[int]:
        """The number of texts with each token."""
        how = {"truncation": True, "max_length": self.encoder.limit}
        rows = self.encoder.tokenizer(list(self.corpus), **how)["input_ids"]
        return Counter(token for row in rows for token in set(row))

    def weights(self, states: States) -> Floats:
        """The weight of each token, shape [t]."""
        idf = np.ones(len(states.ids))
        if self.idf:
            count = len(self.corpus)
            idf = np.log((count + 1) / np.array([self._frequency[int(i)] + 1 for i in states.ids], float))
        return np.where(states.special, 0.0, idf)

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """F1 of each pair."""
        states = self.states(pairs, unit=True)
        weights = {text: self.weights(found) for text, found in states.items()}
        scores = [greedy(states[a].vectors, states[b].vectors, (weights[a], weights[b]))[2] for a, b in pairs]
        return np.array(scores, float)

"""Scores of aligned predicate-argument spans (Peng et al. 2022, as used by Peng, Weir and Weeds 2023: SimCSE+PAS).

A span is a predicate with one of its arguments, in the order of the sentence; its vector is the mean of its tokens'.
The score is the F1 of both directions, as BERTScore's. `matching` says how spans are aligned: "greedy", with the
nearest span of the other sentence, which several spans may share; "one-to-one", by the assignment with the largest sum,
where a span without a partner counts as 0. Peng, Weir and Weeds 2023 (section 5) only say "the aggregated score over
predicate-argument alignments", so `about` names the matching behind a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.base import Floats, Pair
from encheck.encoders.model_config import ModelConfig
from encheck.language.parse import Parse
from encheck.language.pipeline.pipeline import Pipeline
from encheck.types import Json
from encheck_papers.bertscore import TokenScorer, greedy
from encheck_papers.frames import frames_of, spans_of
from encheck_papers.token_states import States

if TYPE_CHECKING:
    from encheck.encoders.model_config import Device


def span_vectors(parse: Parse, states: States) -> NDArray[np.float32]:
    """Unit vectors of the spans, shape [s, d]: means over the pieces of their words, without truncated pieces."""
    starts, ends = np.array(parse.starts), np.array(parse.ends)
    pieces = np.flatnonzero(~states.special & (states.spans[:, 1] > states.spans[:, 0]))
    word = np.searchsorted(ends, states.spans[pieces, 0], side="right")  # the word in which a piece begins
    inside = word < len(starts)
    pieces, word = pieces[inside], word[inside]
    found = []
    for span in spans_of(list(frames_of(parse)), length=len(parse)):
        rows = states.vectors[pieces[np.isin(word, span)]]
        if len(rows):
            mean = rows.mean(axis=0)
            found.append(mean / max(float(np.linalg.norm(mean)), 1e-12))
    return np.array(found, np.float32).reshape(-1, states.vectors.shape[1])


def one_to_one(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """F1 of unit vectors [n, d] and [m, d], each aligned with at most one other, so that the sum of cosines is largest.

    >>> one_to_one(np.eye(2)[[0, 0]], np.eye(2)[:1])
    0.6666666666666666
    """
    from scipy.optimize import linear_sum_assignment

    if not (len(first) and len(second)):
        return 0.0
    cosines = np.asarray(first, np.float64) @ np.asarray(second, np.float64).T
    rows, columns = linear_sum_assignment(cosines, maximize=True)
    return float(2 * cosines[rows, columns].sum() / (len(first) + len(second)))


class AlignmentScorer(TokenScorer):
    """Alignment of predicate-argument spans; the parse comes from the bundled pipeline, or from `spacy_model`."""

    engine = "alignment-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.matching: str = config.options.get("matching", "greedy")
        self.pipeline = Pipeline(config.options.get("spacy_model"), file_hash=file_hash)

    def fingerprint_settings(self) -> list[str]:
        """Adds the pipeline that parses the sentences, and the matching."""
        return [*super().fingerprint_settings(), self.pipeline.fingerprint, self.matching]

    def about(self) -> dict[str, Json]:
        """Adds the pipeline and the matching."""
        spans = f"predicates and arguments, parsed by {self.pipeline.label}"
        return super().about() | {"spans": spans, "matching": self.matching}

    def compute(self, pairs: Sequence[Pair]) -> Floats:
        """F1 over spans of each pair."""
        states = self.states(pairs, unit=False)
        parses = zip(states, self.pipeline.parse(states), strict=True)
        vectors = {text: span_vectors(parse, states[text]) for text, parse in parses}
        if self.matching == "one-to-one":
            return np.array([one_to_one(vectors[a], vectors[b]) for a, b in pairs], float)
        ones = {text: np.ones(len(found)) for text, found in vectors.items()}
        return np.array([greedy(vectors[a], vectors[b], (ones[a], ones[b]))[2] for a, b in pairs], float)

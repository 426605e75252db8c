"""Scores of aligned predicate-argument spans (Peng et al. 2022, as used by Peng, Weir and Weeds 2023: SimCSE+PAS).

A span is a predicate with one of its arguments, in the order of the sentence; its vector is the mean of its tokens'.
The score is the F1 of both directions, as BERTScore's. `matching` says what a span is set beside: "greedy", the nearest
span of the other sentence, whichever others chose it; "one-to-one", its partner in the assignment of the largest sum,
where a span without a partner counts 0. Peng, Weir and Weeds 2023 (section 5) say "the aggregated score over
predicate-argument alignments" and no more, so `about` names the one that a figure is of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.model_config import ModelConfig
from encheck.encoders.pairs.bertscore import TokenScorer, greedy
from encheck.encoders.pairs.model import Floats, Pair
from encheck.encoders.pairs.token_states import States
from encheck.language.edits.conditions import base_of
from encheck.language.parse import Parse
from encheck.language.pipeline.load import Pipeline

if TYPE_CHECKING:
    from encheck.encoders.load import Device

ARGUMENTS = frozenset("nsubj obj iobj obl dobj dative attr prep agent ccomp xcomp advcl advmod oprd".split())
Frame = Sequence[str]  # a label a token: B-V, I-V, B-ARG0 ... O
Spans = list[list[int]]


def spans_of(frames: Sequence[Frame], *, length: int) -> Spans:
    """Token positions of every predicate with each of its arguments; of all tokens where there is no predicate.

    >>> spans_of([["B-ARG0", "B-V", "B-ARG1"]], length=3)
    [[0, 1], [1, 2]]
    """
    found = [span for frame in frames for span in _spans(frame)]
    return found or [list(range(length))]


def _spans(frame: Frame) -> Iterator[list[int]]:
    chunks: list[tuple[str, list[int]]] = []
    for i, label in enumerate(frame):
        kind, _, role = label.partition("-")
        if kind == "I" and chunks and chunks[-1][0] == role and chunks[-1][1][-1] == i - 1:
            chunks[-1][1].append(i)
        elif role:
            chunks.append((role, [i]))
    predicate = [i for role, tokens in chunks if role == "V" for i in tokens]
    arguments = [tokens for role, tokens in chunks if role != "V"]
    if predicate:
        yield from (sorted(predicate + tokens) for tokens in arguments)
        if not arguments:
            yield predicate


def frames_of(parse: Parse) -> Iterator[Frame]:
    """A frame for every verb, and for every noun or adjective with a form of "be", as the parse has them."""
    for at in range(len(parse)):
        copula = parse.child(at, "cop")
        is_verb = parse.tags[at].startswith("VB") and base_of(parse.deps[at]) not in ("aux", "auxpass", "cop")
        if not is_verb and copula is None:
            continue
        labels = ["O"] * len(parse)
        for i in parse.children[at]:
            if base_of(parse.deps[i]) in ARGUMENTS:
                _put(labels, parse.subtree(i), f"ARG{i}")
        _put(labels, [i for i in (copula, at, parse.child(at, "compound", "prt")) if i is not None], "V")
        yield labels


def _put(labels: list[str], tokens: Sequence[int], role: str) -> None:
    for n, i in enumerate(sorted(tokens)):
        labels[i] = f"{'I' if n and i - 1 in tokens else 'B'}-{role}"


def span_vectors(parse: Parse, states: States) -> NDArray[np.float32]:
    """Unit vectors of the spans, shape [s, d]: means over the pieces of their words; what was cut off is left out."""
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
    """F1 of unit vectors [n, d] and [m, d], each set beside one other at most, so that the cosines sum highest.

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
    """Alignment of predicate-argument spans; the parse is of the bundled pipeline, or of `spacy_model`."""

    engine = "alignment-1"

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:
        super().__init__(source, config, device=device, file_hash=file_hash)
        self.matching: str = config.options.get("matching", "greedy")
        self.pipeline = Pipeline(config.options.get("spacy_model"), file_hash=file_hash)

    def how(self) -> list[str]:
        """With the pipeline that reads the sentences, and the matching."""
        return [*super().how(), self.pipeline.fingerprint, self.matching]

    def about(self) -> dict[str, Any]:
        """With the pipeline and the matching."""
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

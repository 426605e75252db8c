"""Score labelled pairs and texts that are encoded twice, and classify pairs by difficulty.

Difficulty is defined as in Peinelt et al. 2019 (section 4, Table 3). A pair is obvious if word overlap reveals its
label: positive with low divergence (Po), negative with high (No). It is non-obvious if overlap misleads: positive with
high divergence (Pn), negative with low (Nn).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.errors import NothingToMeasure, UsageError
from encheck.ids import ItemId
from encheck.language.divergence import jensen_shannon_divergence, tokenise
from encheck.scoring.item import (
    ExampleLine,
    Item,
    ItemFrame,
    Kind,
    Scores,
    TextColumns,
    TextScorer,
    edits_json,
    pair_lines,
)
from encheck.scoring.scale import Floats, Scale
from encheck.scoring.splits import TEST, VALIDATION, assign_folds
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler
from encheck.types import Edit

Scope = str | float  # "split", "dataset" or a divergence
CELLS = ("Po", "Pn", "No", "Nn")
DECIMALS = 12  # a pair at the median must stay there on every machine, despite rounding


@dataclass(frozen=True)
class Difficulty:
    """The cell of each pair (a position in CELLS, shape [n]), its divergence, and the cut of each split.

    `scope` says how the cut was chosen. `empty` counts pairs with a side without tokens.
    """

    cells: NDArray[np.int8]
    divergence: NDArray[np.float64]
    medians: dict[str, float]
    scope: Scope = "split"
    empty: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """The number of pairs in each cell, as in Table 5."""
        found = np.bincount(self.cells, minlength=len(CELLS)).tolist()
        return dict(zip(CELLS, found, strict=True))

    def select(self, chosen: NDArray[np.intp]) -> Difficulty:
        """Select some of the pairs; medians are not computed again."""
        return Difficulty(self.cells[chosen], self.divergence[chosen], self.medians, self.scope, self.empty)


def classify_difficulty(pairs: Sequence[SentencePair], *, scope: Scope = "split") -> Difficulty:
    """Return the cells of labelled pairs by the divergence of their words.

    If `scope` is "split", the cut is the median of each split, as in the authors' code and for Table 5. If it is
    "dataset", the cut is the median of all pairs, as in the authors' text. A number is the cut itself. Raise UsageError
    if a pair has no label 0 or 1.

    >>> from encheck.scoring.pairs import SentencePair
    >>> pair = SentencePair("1", "a red car", "a blue car", 1, "c")
    >>> classify_difficulty([pair], scope=0.3).counts
    {'Po': 0, 'Pn': 1, 'No': 0, 'Nn': 0}
    """
    found = jensen_shannon_divergence([p.first for p in pairs], [p.second for p in pairs])
    empty = sum(not (tokenise(p.first) and tokenise(p.second)) for p in pairs)
    for pair in pairs:
        if pair.label not in (0, 1):
            raise UsageError(f"{pair.id} has the label {pair.label}, but difficulty needs a label of 0 or 1")
    return classify_by_divergence(
        found, np.array([pair.label for pair in pairs], np.int8), [p.split for p in pairs], scope=scope, empty=empty
    )


def classify_by_divergence(
    divergence: NDArray[np.float64],
    labels: NDArray[np.int8],
    splits: Sequence[str] | NDArray[np.object_] | None = None,
    *,
    scope: Scope = "split",
    empty: int = 0,
) -> Difficulty:
    """Return the cells of pairs with known divergence; all arrays have shape [n]. Divergence at the median counts as
    low.

    Without `splits`, all pairs form one split.
    """
    rounded = divergence.round(DECIMALS)
    names, which = [""], np.broadcast_to(0, len(rounded))
    if splits is not None:
        found, which = np.unique(np.asarray(splits, dtype=object).astype(str), return_inverse=True)
        names = found.tolist()
    if scope == "split":
        cuts = {
            name: _rounded_median(rounded if len(names) == 1 else rounded[which == i]) for i, name in enumerate(names)
        }
    else:
        if isinstance(scope, str) and scope != "dataset":
            raise UsageError(
                f"the median scope is {scope!r}, but should be 'split', 'dataset' or a divergence from 0 to 1"
            )
        cut = _rounded_median(rounded) if scope == "dataset" and len(rounded) else scope
        cuts = {name: float(cut) for name in names}
    high = (rounded > np.array([cuts[name] for name in names] or [0.0])[which]).astype(np.int8)
    return Difficulty(np.where(labels == 1, high, 3 - high), rounded, cuts, scope, empty)


def _rounded_median(values: NDArray[np.float64]) -> float:
    return round(float(np.median(values)), DECIMALS)


LABELS = {1: "same", 0: "other"}
NO_RANDOM_PAIRS = "no two sentences without a shared content word to calibrate with"


PAIR = Kind("pair", "pair", lambda: SentencePairScores, noun="pairs", compares="texts")
LABELLED = Kind("labelled", "labelled", lambda: SentencePairScores, noun="pairs", compares="texts")


@dataclass(frozen=True, slots=True)
class SentencePair(Item):
    """Two sentences and their label: 1 for a paraphrase, 0 for no paraphrase, None for an unlabelled pair.

    `score` is the graded similarity in the data's own range, if any; `key` is the data's own name for the pair, if any:
    in ranking data "question id/candidate id". `second_cluster` is the cluster of the second sentence if it differs, as
    in a random pair. `why` is the certificate of a generated second sentence. `shares` is as for `Group`.
    """

    id: ItemId
    first: str
    second: str
    label: int | None
    cluster: str
    split: str = ""
    edits: tuple[Edit, ...] = ()
    score: float | None = None
    key: str = ""
    second_cluster: str = ""
    why: str = ""
    shares: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The kind of a labelled, graded or unlabelled pair."""
        return PAIR if self.label is None else LABELLED

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: this one."""
        return ((self.first, self.second),)


def tuning_pairs(pairs: Sequence[SentencePair]) -> tuple[SentencePair, ...]:
    """Return the labelled pairs for choosing thresholds: the validation part, if a different part is measured."""
    if not any(p.split in TEST for p in pairs):
        return ()
    return tuple(p for p in pairs if p.split in VALIDATION and p.label is not None)


PairT = TypeVar("PairT", bound=Item)


class ScoredPairs(Scores, Generic[PairT]):
    """Properties of the scored `items` that metrics use. Pairs outside memory override them with their columns."""

    items: Sequence[PairT]

    @property
    def data(self) -> str:
        """The name of the pairs' data."""
        return ItemId(self.items[0].id).data if self.items else "the data"

    @property
    def splits(self) -> NDArray[np.object_]:
        """The split of each pair, shape [n]."""
        return np.array([pair.split for pair in self.items], dtype=object)

    def folds_of(self, chosen: NDArray[np.intp]) -> NDArray[np.signedinteger]:
        """Return the fold of each chosen pair, shape [chosen]. A cluster stays in one fold."""
        return assign_folds([self.items[i].cluster for i in chosen])

    def select_items(self, chosen: NDArray[np.intp]) -> Sequence[PairT]:
        """Select some of the items; empty if the scores have no items."""
        return tuple(self.items[i] for i in chosen) if self.items else ()

    def ascending_positions(self, values: Floats) -> list[int]:
        """Return positions of the values, the smallest first."""
        return [int(i) for i in np.argsort(values, kind="stable")]


@dataclass(frozen=True)
class PairScores(ScoredPairs[SentencePair]):
    """A score of each item, shape [n], with labels (1 paraphrase, 0 not) if the check compares the two.

    `items` are the pairs, for metrics that depend on texts, splits or graded scores. `head_threshold` is the threshold
    of a trained two-class head; None for a model without one.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = (WORD_OVERLAP,)
    values: Floats
    labels: NDArray[np.int8]
    resampler: Resampler
    scale: Scale
    items: Sequence[SentencePair] = ()
    head_threshold: float | None = None

    @property
    def keys(self) -> Sequence[str]:
        """The data's own name for each pair."""
        return [pair.key for pair in self.items]

    def classify_difficulty(self, scope: Scope) -> Difficulty:
        """Return the difficulty cell of each labelled pair."""
        return classify_difficulty(self.items, scope=scope)

    def select(self, chosen: NDArray[np.intp]) -> Self:
        """Select some of the pairs; the replicates stay the same."""
        if len(chosen) == len(self.values) and (np.diff(chosen) == 1).all():
            return self
        return replace(
            self,
            values=self.values[chosen],
            labels=self.labels[chosen],
            resampler=self.resampler.select(chosen),
            surface={name: beside.select(chosen) for name, beside in self.surface.items()},
            items=self.select_items(chosen),
        )

    @property
    def gold(self) -> Floats:
        """The graded similarity of each pair, shape [n]. Raises UsageError if a pair has no score."""
        graded = [pair.score for pair in self.items]
        if len(graded) != len(self.values) or None in graded:
            raise UsageError(
                f"{graded.count(None)} of {len(self.values)} pairs have no score, which a correlation needs"
            )
        return np.array(graded, float)

    def clusters_of(self, *labels: int) -> int:
        """Return the number of clusters with a pair of this label, or for several labels the smallest number."""
        return min(self.resampler.clusters_among(self.labels == label) for label in labels)

    @property
    def calibrated(self) -> Self:
        """The same scores on the scale where 0 is a random pair and 1 is identical text.

        Raises NothingToMeasure if the data have no random pairs.
        """
        if np.isnan(self.scale.reference):
            raise NothingToMeasure(f"{self.data} has {NO_RANDOM_PAIRS}")
        surface = {name: beside.calibrated for name, beside in self.surface.items()}
        return replace(self, values=self.scale.calibrate(self.values), surface=surface, suffix="_calibrated")

    def positions_worst_first(self) -> list[int]:
        """Return the positions of the pairs, the pair with the most unexpected similarity first."""
        centre = self.values - np.nanmean(self.values)
        wrong = np.where(self.labels == 0, -centre, centre)
        return self.ascending_positions(wrong)

    @property
    def _overlap(self) -> Floats | None:
        found = self.surface.get(WORD_OVERLAP)
        return found.values if found else None


@dataclass(frozen=True)
class SentencePairScores(PairScores):
    """The similarities of sentence pairs."""

    @classmethod
    def score_items(cls, items: Sequence[SentencePair], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these pairs. An unlabelled pair counts as a paraphrase."""
        values = scorer.score_pairs([p.first for p in items], [p.second for p in items])
        labels = np.array([1 if p.label is None else p.label for p in items], np.int8)
        return cls(values, labels, resampler, scale, items=tuple(items), head_threshold=scorer.head_threshold)

    def to_item_frame(self, case: str, items: Sequence[SentencePair]) -> ItemFrame:
        """Return the pairs as rows of the item file. Their kind is `labelled` if all of them have a label."""
        near = TextColumns(
            tuple(p.second for p in items), self.values, self._overlap, tuple(edits_json(p.edits) for p in items),
            tuple(p.why or None for p in items),
        )  # fmt: skip
        kind, gold = PAIR if any(p.label is None for p in items) else LABELLED, tuple(p.score for p in items)
        return replace(
            ItemFrame.from_items(kind, case, items, (p.first for p in items), near),
            labels=tuple(p.label for p in items), gold=() if {*gold} == {None} else gold,
            keys=tuple(p.key or None for p in items),
        )  # fmt: skip

    def example_lines(self, item: SentencePair, position: int) -> list[ExampleLine]:
        """Return the lines that show the pair in a failure message."""
        name = LABELS.get(int(self.labels[position]), "")
        return pair_lines(name, float(self.values[position]), item.first, item.second, item.edits)


@dataclass(frozen=True)
class TuningScores:
    """The scores of the validation part's labelled pairs, with their labels (1 paraphrase, 0 not); shape [n] each."""

    values: Floats
    labels: NDArray[np.int8]

    @classmethod
    def score_pairs(cls, pairs: Sequence[SentencePair], scorer: TextScorer) -> TuningScores | None:
        """Return the scores of these pairs; None unless both labels occur, since choosing a threshold needs both."""
        labels = np.array([p.label for p in pairs], float)
        if {0, 1} - set(labels.tolist()):
            return None
        return cls(scorer.score_pairs([p.first for p in pairs], [p.second for p in pairs]), labels.astype(np.int8))

    def calibrate(self, scale: Scale) -> TuningScores:
        """Return the same scores on the scale where 0 is a random pair and 1 is identical text."""
        return TuningScores(scale.calibrate(self.values), self.labels)


REPEATED = Kind("repeated", "pair", lambda: RepeatedScores, is_sampled=False)


@dataclass(frozen=True, slots=True)
class Repeated(Item):
    """A text that is encoded a second time, in a different batch."""

    kind: ClassVar[Kind] = REPEATED
    id: ItemId
    text: str
    cluster: str
    split: str = ""

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The text with itself."""
        return ((self.text, self.text),)

    @property
    def texts_to_encode_again(self) -> tuple[str, ...]:
        """The text."""
        return (self.text,)


@dataclass(frozen=True)
class RepeatedScores(PairScores):
    """1 for each text that gets the same vector, or score with itself, in a different batch, otherwise 0; shape [n].

    All labels are 1. `repeated` is 1 for each text that gets the same result when that batch is repeated.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = ()
    repeated: Floats | None = None

    @classmethod
    def score_items(cls, items: Sequence[Repeated], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Measure whether these texts get the same vectors again."""
        values, repeated = scorer.score_repeats([i.text for i in items])
        return cls(values, np.ones(len(items), np.int8), resampler, scale, repeated=repeated)

    def to_item_frame(self, case: str, items: Sequence[Repeated]) -> ItemFrame:
        """Return the texts as rows of the item file. Each text is compared with itself."""
        texts = tuple(i.text for i in items)
        near = TextColumns(texts, self.values, edits=(edits_json(()),) * len(texts))
        return ItemFrame.from_items(REPEATED, case, items, texts, near)

    def example_lines(self, item: Repeated, position: int) -> list[ExampleLine]:
        """Return the text compared with itself."""
        return pair_lines("same", float(self.values[position]), item.text, item.text, ())


SHORTENED = Kind(PAIR.name, "pair", lambda: ShortenedScores, noun=PAIR.noun, compares="texts")


@dataclass(frozen=True, slots=True)
class Shortened(SentencePair):
    """A text, paired with the same text without its end."""

    kind: ClassVar[Kind] = SHORTENED  # a pair in all files

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """The pairs to score: the two texts, and the text with itself."""
        return ((self.first, self.second), (self.first, self.first))


@dataclass(frozen=True)
class ShortenedScores(SentencePairScores):
    """The scale's score of identical text, minus what a text's score with itself loses without its end; shape [n].

    By the dot product, and for many models that score pairs, a text's score with itself differs from text to text.
    Without a scale, identical text scores 1, and the loss is a share of the text's score with itself.
    """

    @classmethod
    def score_items(cls, items: Sequence[SentencePair], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:
        """Return the scores of these texts."""
        whole = [text.first for text in items]
        own = scorer.score_pairs(whole, whole)
        lost = own - scorer.score_pairs(whole, [text.second for text in items])
        values = scale.identity - lost if np.isfinite(scale.identity) else 1 - lost / np.abs(own)
        labels = np.ones(len(items), np.int8)
        return cls(values, labels, resampler, scale, items=tuple(items), head_threshold=scorer.head_threshold)

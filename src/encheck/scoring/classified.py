"""Score texts that a linear classifier assigns to classes, trained on the vectors of other texts (SentEval)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import ItemId
from encheck.scoring.item import ExampleLine, Item, ItemFrame, Kind, TextColumns, TextScorer, edits_json, pair_lines
from encheck.scoring.pairs import PairScores
from encheck.scoring.scale import Floats, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.statistics.regression import (
    ClassifiedTexts,
    Features,
    classify_by_development_part,
    classify_by_nested_folds,
    classify_by_training_folds,
)
from encheck.surface import SHARED, SURFACE, tokens

NO_SCALE = Scale(0.0)
INNER_OF_SURFACE = 3  # folds to choose a surface classifier's penalty: ten would take longer than the model
BAG_OF_WORDS, OVERLAPS, MAJORITY = "bag-of-words", "word-overlap", "majority-class"


CLASSIFIED = Kind("classified", "pair", lambda: ClassifiedScores, is_sampled=False, is_learned=True)


@dataclass(frozen=True, slots=True)
class Classified(Item):
    """A text, or a pair of texts, with the class that people gave it.

    `second` is "" for a single text. Texts that share most of their words form one cluster.
    """

    kind: ClassVar[Kind] = CLASSIFIED
    id: ItemId
    first: str
    second: str
    label: str
    cluster: str
    split: str = ""

    @property
    def pairs_to_score(self) -> tuple[tuple[str, str], ...]:
        """A pair that contains its texts."""
        return ((self.first, self.second or self.first),)


@dataclass(frozen=True)
class ClassifiedScores(PairScores):
    """1 for each text that was assigned its own class, otherwise 0; shape [n].

    `predictions` has the assigned classes; None without training. `names` has all classes. `has_near_duplicate` marks
    the texts with a near-duplicate among the training texts.
    """

    surface_scorers: ClassVar[tuple[str, ...]] = ()
    calibrates: ClassVar[bool] = False
    predictions: ClassifiedTexts | None = None
    names: tuple[str, ...] = ()
    has_near_duplicate: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))

    @classmethod
    def score_items(cls, items: Sequence[Classified], scorer: TextScorer, resampler: Resampler, scale: Scale) -> Self:  # noqa: ARG003
        """Return the texts without a classification, to list them."""
        nothing, ones = np.zeros(len(items)), np.ones(len(items), np.int8)
        return cls(nothing, ones, resampler, scale, has_near_duplicate=nothing.astype(bool))

    @classmethod
    def train(
        cls,
        items: Sequence[Classified],
        others: Sequence[Classified],
        features: Callable[[Sequence[Classified]], Features],
        resampler: Resampler,
        *,
        inner: int | None = None,
    ) -> Self:
        """Return the texts, classified by training on the `others`, or in folds if there are no others."""
        every = [*items, *others]
        names, codes = np.unique([one.label for one in every], return_inverse=True)
        told = _classify_texts(items, others, features(every), codes, inner)
        right = (told.classes == codes[: len(items)]).astype(float)
        return cls(
            right, np.ones(len(items), np.int8), resampler, NO_SCALE, predictions=told, names=tuple(map(str, names)),
            has_near_duplicate=_mark_near_duplicates(items, others, told),
        )  # fmt: skip

    def select(self, chosen: NDArray[np.intp]) -> Self:
        """Select some of the texts; the replicates and the training stay the same."""
        told = self.predictions and replace(
            self.predictions, classes=self.predictions.classes[chosen], folds=self.predictions.folds[chosen]
        )
        return replace(super().select(chosen), has_near_duplicate=self.has_near_duplicate[chosen], predictions=told)

    def predicted_class(self, position: int) -> str:
        """Return the class that was assigned to a text; empty if there is none."""
        return self.names[self.predictions.classes[position]] if self.predictions else ""

    def to_item_frame(self, case: str, items: Sequence[Classified]) -> ItemFrame:
        """Return the texts as rows of the item file. The near text is the second text of a pair, or a single text
        itself.
        """
        why = tuple(f"class {one.label}, sorted as {self.predicted_class(i)}" for i, one in enumerate(items))
        second, edits = tuple(t.second or t.first for t in items), (edits_json(()),) * len(items)
        near = TextColumns(second, self.values, edits=edits, why=why)
        return ItemFrame.from_items(CLASSIFIED, case, items, (t.first for t in items), near)

    def example_lines(self, item: Classified, position: int) -> list[ExampleLine]:
        """Return a line with the text, its assigned class and its own class."""
        name = f"{item.label}, sorted as {self.predicted_class(position)}"
        return pair_lines(name, float(self.values[position]), item.first, item.second or item.first, ())


def _classify_texts(
    items: Sequence[Classified], others: Sequence[Classified], x: Features, codes: NDArray[np.intp], inner: int | None
) -> ClassifiedTexts:
    """Classify by nested folds, a development part, or folds of the training part, depending on the task's splits."""
    if not others:
        return classify_by_nested_folds(x, codes, inner=inner)
    is_development = np.array([one.split == "validation" for one in others])
    train, development = (len(items) + np.flatnonzero(some) for some in (~is_development, is_development))
    learned, test = (x[train], codes[train]), x[: len(items)]
    if len(development):
        return classify_by_development_part(learned, (x[development], codes[development]), test)
    return classify_by_training_folds(learned, test, inner=inner)


def _mark_near_duplicates(
    items: Sequence[Classified], others: Sequence[Classified], predictions: ClassifiedTexts
) -> NDArray[np.bool_]:
    """Return a mask of the texts whose classifier was trained on a text of the same cluster (a near-duplicate)."""
    if others:
        known = {one.cluster for one in others}
        return np.array([one.cluster in known for one in items])
    folds: dict[str, set[int]] = {}
    for one, fold in zip(items, predictions.folds.tolist(), strict=True):
        folds.setdefault(one.cluster, set()).add(fold)
    return np.array([len(folds[one.cluster]) > 1 for one in items])


def score_surface_classifiers(
    items: Sequence[Classified], others: Sequence[Classified], resampler: Resampler
) -> dict[str, ClassifiedScores]:
    """Return the scores of surface classifiers: of words or of a pair's overlap, and of the largest class."""
    is_pair = any(one.second for one in items)
    name, features = (OVERLAPS, surface_similarity_features) if is_pair else (BAG_OF_WORDS, bag_of_words_matrix)
    learned = ClassifiedScores.train(items, others, features, resampler, inner=INNER_OF_SURFACE)
    counts = np.unique([one.label for one in (others or items)], return_counts=True)
    largest = counts[0][int(np.argmax(counts[1]))]
    all_largest = np.array([float(one.label == largest) for one in items])
    return {name: learned, MAJORITY: replace(learned, values=all_largest, predictions=None)}


def bag_of_words_matrix(texts: Sequence[Classified]) -> Features:
    """Return the words of each text, as a sparse matrix of shape [n, words]."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer=tokens, binary=True, dtype=np.float32).fit_transform([one.first for one in texts])


def surface_similarity_features(texts: Sequence[Classified]) -> Floats:
    """Return the surface similarities of each pair, shape [n, scorers]."""
    first, second = [one.first for one in texts], [one.second for one in texts]
    return np.column_stack([score(first, second) for score in map(SURFACE.__getitem__, SHARED)])


def classifier_inputs(first: NDArray[np.float32], second: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Return the classifier's input: the vector of a text, shape [n, d], or |a - b| and a * b of a pair, [n, 2d]."""
    return first if second is None else np.hstack([np.abs(first - second), first * second])

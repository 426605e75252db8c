"""Scores of a run's items: each kind of item measures itself by a model, and by surface scorers beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder, HeadedEncoder
from encheck.errors import EncoderError, NothingToMeasure
from encheck.running.first_stage import FirstStages, checked, fewest_of
from encheck.running.subject import Pair, Subject
from encheck.scoring.classified import Classified, ClassifiedScores, classifier_inputs, surface_classifiers
from encheck.scoring.contrasts import Contrast
from encheck.scoring.documents import Documents, SearchingQuery
from encheck.scoring.item import Item, Items, WholeItems
from encheck.scoring.measure import LexicalIndex, SurfaceScorer, TextScorer, vector_grid
from encheck.scoring.pairs import NO_RANDOM_PAIRS, SentencePair, TuningScores
from encheck.scoring.ranked import sort_by_score
from encheck.scoring.scores import (
    BothOrdersScores,
    ChainScores,
    CrossedScores,
    Floats,
    MarginScores,
    PairScores,
    Scale,
    Scores,
)
from encheck.scoring.vector_search import IndexSize, InvertedLists, RankedRows, count_with_own, nearest, without_own
from encheck.similarity import SIMILARITIES, WORD_OVERLAP, Vectors, same
from encheck.statistics.bootstrap import Resampler
from encheck.surface import POLARITY, WEIGHTED, Frequencies

log = logging.getLogger("encheck")
Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
IDENTITY_PAIRS = 200
FIRST_STAGE = 100  # documents that BM25 hands to a model that scores pairs
UNCALIBRATED = Scale(0.0)
NO_SCALE = Scale(float("nan"), float("nan"))  # of data without two sentences to calibrate with
FEWEST_TOLD_APART = 0.25  # of the items of a check: where words that deny hardly differ, their count wins half by ties


class Scorer:
    """Hands out scores under the models of a run, of texts that are encoded; draws and calibrates once a data set.

    Without `calibrates` the models' scores have no calibrated scale.
    """

    def __init__(
        self,
        subjects: Mapping[str, Subject],
        data: Mapping[str, Dataset],
        *,
        seed: int,
        index: IndexSize | None = None,
        calibrates: bool = True,
    ) -> None:
        self.subjects, self.data, self.seed, self.calibrates = subjects, data, seed, calibrates
        self._first_stages = FirstStages(index, seed) if index else None
        self._resamplers: dict[tuple[object, ...], Resampler] = {}
        self._scales: dict[tuple[str, str], Scale] = {}
        self._surface_scales: dict[tuple[str, str], Scale] = {}
        self._frequencies: dict[str, Frequencies] = {}
        self._references: dict[str, tuple[SentencePair, ...]] = {}
        self._indexes: dict[Documents, LexicalIndex] = {}
        self._surface_classes: dict[int, tuple[Items, dict[str, ClassifiedScores]]] = {}  # by the items' identity

    def scores(self, model: str, data: str, items: Items) -> Scores:
        """The scores of these items under this model, with those of the surface scorers that say anything of them.

        NothingToMeasure where the items are searched and the model scores pairs, or where nothing calibrates.
        """
        if items.whole:
            return self._of_whole(model, data, items.whole)
        kind, by = items.kept[0].kind.scores(), _Measured(self.subjects[model])
        if issubclass(kind, ClassifiedScores):
            return self._sorted(model, items)
        resampler = self._resampler(data, items.kept)
        if kind.searches:
            by.refuse_to_search()
        if not kind.calibrates:
            return self._in_roles(kind, model, data, items, resampler)
        scale = self._scale(self._scales, model, data, by, kind) if self.calibrates else UNCALIBRATED
        found = _with_tuning(kind.measured(items.kept, by, resampler, scale), items, by)
        return replace(found, surface=self._surface(kind, data, items, resampler))  # type: ignore[arg-type]

    def unmeasured(self, items: Items) -> Scores:
        """Scores of these items by word overlap alone, to list the items: no figure is computed from them."""
        alone = Resampler([""] * len(items.kept))
        kind: type[Scores] = items.kept[0].kind.scores()
        return kind.measured(items.kept, SurfaceScorer(WORD_OVERLAP), alone, UNCALIBRATED)

    def beside(self, subjects: Mapping[str, Subject]) -> Scorer:
        """A scorer of other models, with the same draws and the same random pairs."""
        other = Scorer(subjects, self.data, seed=self.seed, calibrates=self.calibrates)
        other._first_stages = self._first_stages
        other._resamplers, other._references = self._resamplers, self._references
        other._surface_scales, other._frequencies = self._surface_scales, self._frequencies
        other._indexes = self._indexes
        return other

    def plain(self, model: str, data: str, items: Items) -> Scores:
        """The scores of these items without surface scorers; NothingToMeasure of searches, and of contrasts."""
        kind, by = items.kept[0].kind.scores(), _Measured(self.subjects[model])
        if kind.searches or not kind.calibrates:
            raise NothingToMeasure(f"{model} is compared without searches")
        scale = self._scale(self._scales, model, data, by, kind)
        return _with_tuning(kind.measured(items.kept, by, self._resampler(data, items.kept), scale), items, by)

    def _of_whole(self, model: str, data: str, whole: WholeItems) -> Scores:
        """The scores of items that are not in memory, which they bring themselves, with word overlap beside them."""
        subject, rival = self.subjects[model], SurfaceScorer(WORD_OVERLAP)
        whole.refuse(subject)
        by, kind = _Measured(subject), whole.kind.scores()
        scale = self._scale(self._scales, model, data, by, kind)
        found = whole.measured(by, scale, model=subject.fingerprint, seed=self.seed)
        scale = self._scale(self._surface_scales, WORD_OVERLAP, data, rival, kind)
        beside = whole.measured(rival, scale, model=None, seed=self.seed)
        scores: Scores = replace(found, surface={WORD_OVERLAP: beside})
        return scores

    def _sorted(self, model: str, items: Items) -> Scores:
        """The texts sorted by a classifier of the model's vectors, with the classifiers of the surface beside it.

        They are drawn by the clusters of their own task. NothingToMeasure where the model gives no vectors.
        """
        _refuse_without_vectors(self.subjects[model])
        texts, others = (tuple(i for i in some if isinstance(i, Classified)) for some in (items.kept, items.tuning))
        if id(items) not in self._surface_classes:
            resampler = Resampler([one.cluster for one in texts], seed=self.seed)
            self._surface_classes[id(items)] = items, surface_classifiers(texts, others, resampler)
        surface = self._surface_classes[id(items)][1]
        resampler = next(iter(surface.values())).resampler
        found = ClassifiedScores.learned(texts, others, partial(_features, self.subjects[model]), resampler)
        return replace(found, surface=surface)

    def _in_roles(self, kind: type[Scores], model: str, data: str, items: Items, resampler: Resampler) -> Scores:
        """The scores of queries and documents, with those of the surface scorers; they are of no common scale."""
        index = self._index(items.kept) if isinstance(items.kept[0], SearchingQuery) else None

        def measured(by: TextScorer) -> Scores:
            return kind.measured(items.kept, by, resampler, UNCALIBRATED)

        rivals = {name: self._rival(name, data, index) for name in kind.surface_scorers}
        surface = {name: found for name, by in rivals.items() if _says_something(name, found := measured(by))}
        lists = self._lists(model, items.kept)
        found = replace(measured(_Measured(self.subjects[model], index, lists)), surface=surface)  # type: ignore[arg-type]
        return checked(found, items.kept, self.subjects[model], lists, data=data) if lists else found

    def _lists(self, model: str, items: Sequence[Item]) -> InvertedLists | None:
        """The index that these queries search; None for exact searches, and for a model that scores pairs."""
        subject = self.subjects[model]
        if not self._first_stages or not isinstance(items[0], SearchingQuery) or not isinstance(subject.model, Encoder):
            return None
        return self._first_stages.over(subject, items[0].documents)

    def _rival(self, name: str, data: str, index: LexicalIndex | None = None) -> SurfaceScorer:
        """A surface scorer; of one that weighs words, with the counts of this data or the index that has them."""
        return SurfaceScorer(name, self._counted(data) if name in WEIGHTED and index is None else None, index)

    def scale(self, model: str, data: str) -> Scale | None:
        """The calibration of a model on a data set, once something was measured there."""
        return self._scales.get((model, data))

    def reference(self, data: str) -> tuple[SentencePair, ...]:
        """The random pairs that calibrate on this data; of the user's own triplets also where all share a word."""
        if data not in self._references:
            whole = self.data[data]
            found = whole.reference(seed=self.seed)
            if not found and whole.properties and (found := whole.reference(seed=self.seed, apart=False)):
                log.warning("%s: any two anchors share a content word, so pairs that do calibrate", data)
            self._references[data] = found
        return self._references[data]

    def identical(self, data: str) -> list[str]:
        """Texts whose pair with themselves calibrates on this data."""
        return [pair.first for pair in self.reference(data)[:IDENTITY_PAIRS]]

    def candidates(self, items: Sequence[Item]) -> list[Pair]:
        """What a model that scores pairs has to score of searches: the first stage, and what is judged."""
        queries = [item for item in items if isinstance(item, SearchingQuery)]
        if not queries:
            return [pair for item in items for pair in item.judged]
        first = _first_stage(queries, self._index(queries))
        return [
            pair
            for q, rows in zip(queries, first, strict=True)
            for pair in (*((q.source, q.documents.texts[row]) for row in rows.tolist()), *q.judged)
        ]

    def _index(self, items: Sequence[Item]) -> LexicalIndex:
        """BM25 over the documents that these queries search."""
        first = items[0]
        assert isinstance(first, SearchingQuery)
        if first.documents not in self._indexes:
            self._indexes[first.documents] = LexicalIndex(first.documents)
        return self._indexes[first.documents]

    def _resampler(self, data: str, items: Sequence[Item]) -> Resampler:
        clusters = tuple(item.cluster for item in items)
        others = tuple(item.other if isinstance(item, SentencePair) else "" for item in items)
        shares = tuple(item.shares for item in items)
        if (data, clusters, others, shares) not in self._resamplers:
            universe = self.data[data].universe
            made = Resampler(clusters, universe=universe, seed=self.seed, others=others, shares=shares)
            self._resamplers[data, clusters, others, shares] = made
        return self._resamplers[data, clusters, others, shares]

    def _surface(self, kind: type[Scores], data: str, items: Items, resampler: Resampler) -> dict[str, Scores]:
        """The same items' scores by each surface scorer that stands beside this kind of items."""
        found: dict[str, Scores] = {}
        for name in kind.surface_scorers:
            by = self._rival(name, data)
            scale = self._scale(self._surface_scales, name, data, by, kind)
            one = _with_tuning(kind.measured(items.kept, by, resampler, scale), items, by)
            if name != WORD_OVERLAP and isinstance(one, MarginScores):
                one = replace(one, has_curve=False)  # a curve costs more than all else
            if _says_something(name, one):
                found[name] = one
        return found

    def _counted(self, data: str) -> Frequencies:
        """In how many of this data's sentences each word is."""
        if data not in self._frequencies:
            found = self.data[data]
            texts = [(p.first, p.second) for p in found.pairs] + [(g.source, g.paraphrase) for g in found.groups]
            own = [one for some in (found.contrasts, *found.properties.values()) for one in some]
            written = [
                (*one.queries, *one.documents) if isinstance(one, Contrast) else (one.source, one.near, one.far)
                for one in own
            ]
            self._frequencies[data] = Frequencies.of(text for some in [*texts, *written] for text in some)
        return self._frequencies[data]

    def _scale(
        self, known: dict[tuple[str, str], Scale], label: str, data: str, by: TextScorer, kind: type[Scores]
    ) -> Scale:
        """The calibration of a scorer on a data set. Pairs are measured without one too, as they are ranked."""
        if (label, data) not in known:
            pairs = self.reference(data)
            if not pairs and kind is PairScores:
                return NO_SCALE
            if not pairs:
                raise NothingToMeasure(f"{data} has {NO_RANDOM_PAIRS}")
            texts = self.identical(data)
            apart = by.pairs([p.first for p in pairs], [p.second for p in pairs])
            identity = float(by.pairs(texts, texts).mean())
            known[label, data] = Scale(float(apart.mean()), identity, len(pairs), float(apart.std()))
        return known[label, data]


def _says_something(name: str, scores: Scores) -> bool:
    """Whether a surface scorer stands beside these items: one that counts, where it tells enough of them apart."""
    if name not in POLARITY or not isinstance(scores, MarginScores | CrossedScores):
        return True
    return scores.told_apart >= FEWEST_TOLD_APART


def _first_stage(queries: Sequence[SearchingQuery], index: LexicalIndex) -> list[NDArray[np.intp]]:
    """The rows that BM25 ranks first for each query: `FIRST_STAGE`, or what no right document can fill."""
    count, own = max(FIRST_STAGE, 1 + max(len(q.right) for q in queries)), [q.own for q in queries]
    answers = index.ranked([q.source for q in queries], count_with_own(count, own))
    return [rows for rows, _ in without_own(answers, own, count=count)]


def _with_tuning(scores: Scores, items: Items, by: TextScorer) -> Scores:
    """The scores with those of the pairs that a threshold is chosen on, where the items name some."""
    if items.tuning and isinstance(scores, BothOrdersScores | ChainScores):
        pairs = [pair for pair in items.tuning if isinstance(pair, SentencePair)]
        return replace(scores, learned=TuningScores.of(pairs, by))
    return scores


@dataclass(frozen=True)
class _Measured:
    """A model of the run as scores ask it; one that scores pairs reranks what `index` puts first in a search.

    An encoder searches all documents, or what `lists` finds of them.
    """

    subject: Subject
    index: LexicalIndex | None = None
    lists: InvertedLists | None = None

    @property
    def decision(self) -> float | None:
        found: float | None = getattr(self.subject.model, "decision", None)
        return found

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        return similarity_of(self.subject)(first, second)

    def grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        self.refuse_to_search()
        similarity = getattr(self.subject.model, "similarity", "")
        return vector_grid(self.subject.vectors, self.subject.rows, similarity)(queries, documents)

    def refuse_to_search(self) -> None:
        """NothingToMeasure where the model scores pairs."""
        label = self.subject.label
        if not isinstance(self.subject.model, Encoder):
            raise NothingToMeasure(f"{label} scores pairs and gives no vectors: a search would score all pairs")

    def repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        subject = self.subject
        if isinstance(subject.model, Encoder):
            first = subject.vectors[[subject.rows[t] for t in texts]]
        else:
            first = np.array([[subject.scored[t, t]] for t in texts], np.float32)
        again, once_more = (np.array([found[t] for t in texts]) for found in subject.again)
        return same(first, again), same(again, once_more)

    def ranked(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:
        assert self.index is not None
        texts = [q.source for q in queries]
        if not isinstance(self.subject.model, Encoder):
            for q, rows in zip(queries, _first_stage(queries, self.index), strict=True):
                documents = [q.documents.texts[row] for row in rows.tolist()]
                yield sort_by_score(rows, self.asked([q.source] * len(rows), documents))
            return
        first, second = self.subject.roles["query"], self.subject.roles["document"]
        own, fewest = [q.own for q in queries], fewest_of(queries)
        most = max(count, fewest)
        if self.lists:
            wanted = {"count": count_with_own(most, own), "fewest": count_with_own(fewest, own)}
            yield from without_own(self.lists.nearest(first.of(texts), **wanted), own, count=most)
            return
        vectors, similarity = second.of(queries[0].documents.texts), self.subject.model.similarity
        answers = nearest(first.of(texts), vectors, similarity=similarity, count=count_with_own(most, own))
        yield from without_own(answers, own, count=most)

    def asked(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        if not isinstance(self.subject.model, Encoder):
            return np.array([self.subject.scored[p] for p in zip(queries, documents, strict=True)])
        first, second = self.subject.roles["query"], self.subject.roles["document"]
        found = SIMILARITIES[self.subject.model.similarity](first.of(queries), second.of(documents))
        return np.nan_to_num(found)  # vectors of zeros have no cosine, and are found last


def _refuse_without_vectors(subject: Subject) -> None:
    if not isinstance(subject.model, Encoder):
        raise NothingToMeasure(f"{subject.label} scores pairs and gives no vectors: a classifier learns from vectors")


def _features(subject: Subject, texts: Sequence[Classified]) -> NDArray[np.float32]:
    """What a classifier sees of these texts; shape [n, d], of pairs [n, 2d]."""
    first = subject.vectors[[subject.rows[one.first] for one in texts]]
    second = subject.vectors[[subject.rows[one.second] for one in texts]] if texts[0].second else None
    found = classifier_inputs(first, second)
    if (bad := np.flatnonzero(~np.isfinite(found).all(axis=1))).size:
        raise EncoderError(
            f"{subject.label}: the vectors of {bad.size} of {len(texts)} texts are not numbers, first that of "
            f"{texts[bad[0]].first!r:.80}"
        )
    return found


def comparing(model: Encoder) -> tuple[str, Callable[[Vectors, Vectors], Floats]]:
    """What an encoder compares two texts by: its trained head where it has one, else its similarity; and its name."""
    if isinstance(model, HeadedEncoder):
        return "head's probability", model.score_vectors
    return model.similarity, SIMILARITIES[model.similarity]


def similarity_of(subject: Subject) -> Similarity:
    """The function that scores pairs which were encoded."""
    if not isinstance(subject.model, Encoder):
        return lambda first, second: np.array([subject.scored[p] for p in zip(first, second, strict=True)])
    name, similarity = comparing(subject.model)

    def score(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        a, b = ([subject.rows[t] for t in texts] for texts in (first, second))
        values = similarity(subject.vectors[a], subject.vectors[b])
        if (bad := np.flatnonzero(~np.isfinite(values))).size:
            raise EncoderError(
                f"{subject.label}: the {name} of {bad.size} of {len(values)} pairs is not a number, first of "
                f"{(first[bad[0]], second[bad[0]])}. Remedy: vectors that are not all zeros, blank texts' too"
            )
        return values

    return score

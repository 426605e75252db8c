"""Scores of a run's items, by a model and by surface scorers; each kind of item measures itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.encoders.protocol import Encoder, HeadedEncoder
from encheck.errors import EncoderError, NothingToMeasure
from encheck.metrics.search import DELTA, first_stage
from encheck.running.subject import Pair, Subject
from encheck.scoring.classified import Classified, ClassifiedScores, classifier_inputs, surface_classifiers
from encheck.scoring.documents import KEPT, Documents, SearchingQuery
from encheck.scoring.item import Item, Items, Kind, WholeItems
from encheck.scoring.measure import LexicalIndex, SurfaceScorer, TextScorer, vector_grid
from encheck.scoring.pairs import NO_RANDOM_PAIRS, SentencePair, TuningScores
from encheck.scoring.ranked import DEPTH, sort_by_score
from encheck.scoring.repeated import REPEATED
from encheck.scoring.scores import (
    Floats,
    LoggedScores,
    RankedScores,
    Scale,
    Scores,
)
from encheck.scoring.vector_search import (
    SAMPLE,
    FirstStage,
    IndexSize,
    InvertedLists,
    RankedRows,
    compare_with_exact,
    count_with_own,
    nearest,
    sample_queries,
    without_own,
)
from encheck.similarity import SIMILARITIES, WORD_OVERLAP, Vectors, equal_up_to_rounding
from encheck.statistics.bootstrap import Resampler
from encheck.surface import POLARITY, WEIGHTED, Frequencies
from encheck.types import Estimate

log = logging.getLogger("encheck")
S = TypeVar("S", bound=Scores)
ENOUGH = 1 - DELTA  # a loss that matters to the gate should not happen here


class FirstStages:
    """The indexes of a run, each over the documents of one model. The last one is kept, since checks share it."""

    def __init__(self, size: IndexSize, seed: int) -> None:
        self.size, self.seed = size, seed
        self._last: tuple[Subject, Documents, InvertedLists] | None = None

    def over(self, subject: Subject, documents: Documents) -> InvertedLists:
        """The index over these documents, as the model encodes them."""
        if self._last is None or self._last[0] is not subject or self._last[1] is not documents:
            assert isinstance(subject.model, Encoder)
            self._last = None  # before the next one is made
            vectors = subject.roles["document"].of(documents.texts)
            made = InvertedLists(vectors, similarity=subject.model.similarity, size=self.size, seed=self.seed)
            self._last = subject, documents, made
        return self._last[2]


def count_of_answers(queries: Sequence[SearchingQuery]) -> int:
    """How many answers each query needs: those that are kept, and one more than it has right documents."""
    return max(KEPT, 1 + max(len(q.right) for q in queries))


def with_first_stage(scores: S, items: Sequence[Item], subject: Subject, lists: InvertedLists, *, data: str) -> S:
    """The scores, with the answers that the index missed on a sample of their queries, which are also logged."""
    queries = [item for item in items if isinstance(item, SearchingQuery)]
    asked = [queries[place] for place in sample_queries(queries)]
    fewest, depth = count_of_answers(asked), DEPTH if isinstance(scores, RankedScores) else KEPT
    right = [frozenset(row for row, _ in q.right) for q in asked]
    vectors = subject.roles["query"].of([q.source for q in asked])
    own = [q.own for q in asked]
    stage = compare_with_exact(lists, vectors, right, count=max(depth, fewest), fewest=fewest, own=own)
    found: S = replace(scores, first_stage=stage)  # type: ignore[call-arg]
    assert isinstance(found, RankedScores | LoggedScores)
    log.warning("%s searched %s with an index: %s", subject.label, data, first_stage_note(stage, first_stage(found)[0]))
    return found


def first_stage_note(stage: FirstStage, found: Estimate) -> str:
    """What the index found, what that means for the figures, and what to do if it is too little."""
    size = stage.size
    line = (
        f"{size.probes:,} of {size.lists:,} lists of {stage.documents:,} documents. It found {found.value:.2%} "
        f"[{found.low:.2%}, {found.high:.2%}] of the 10 nearest documents of {found.n} queries that were also searched "
        f"exactly. {_judged(stage)}"
    )
    if found.low >= ENOUGH:
        return line
    if found.n < SAMPLE and found.value >= ENOUGH:
        return f"{line} So few queries cannot show {ENOUGH:.0%}. Remedy: --search-index=exact, which is quick for them"
    return f"{line} This is not surely {ENOUGH:.0%}. Remedy: --search-index=faiss:nprobe={2 * size.probes}"


def _judged(stage: FirstStage) -> str:
    """What became of the right documents."""
    if not stage.right + stage.raised:
        return "What it missed is no answer."
    line = f"Of {stage.right} right documents among the first 10 exact answers, it lost {stage.lost}"
    if stage.raised:
        line += f"; {stage.raised} rank higher than they should, since it missed a nearer document"
        return f"{line}. So figures may be off in either direction."
    return f"{line}, which count as not found. So figures are lower bounds." if stage.lost else f"{line}."


log = logging.getLogger("encheck")
Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
IDENTITY_PAIRS = 200
FIRST_STAGE = 100  # documents that BM25 hands to a model that scores pairs
ANSWERS = "answers"  # what thresholds cut of items that search documents
UNCALIBRATED = Scale(0.0)
NO_SCALE = Scale(float("nan"), float("nan"))  # for data without two sentences to calibrate with
FEWEST_TOLD_APART = 0.25  # of a check's items; a count of negations that hardly differ wins half by ties


class Scorer:
    """Gives the scores of encoded texts under the models of a run; draws and calibrates once per data set.

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
        """The scores of these items under this model, with those of the surface scorers that apply to them.

        NothingToMeasure if the items are searched and the model scores pairs, or if no calibration is possible.
        """
        if items.whole:
            return self._of_whole(model, data, items.whole)
        kind = items.kept[0].kind
        if kind.is_learned:
            return self._sorted(model, items)
        measured, by, resampler = kind.scores(), _scorer_of(self.subjects[model]), self._resampler(data, items.kept)
        if measured.searches:
            _require_vectors(self.subjects[model], "a search would score all pairs")
        if not measured.calibrates:
            return self._in_roles(kind, model, data, items, resampler)
        scale = self._scale(self._scales, model, data, by, kind) if self.calibrates else UNCALIBRATED
        found = _with_tuning(measured.measured(items.kept, by, resampler, scale), items, by)
        surface: dict[str, Scores] = {}
        for name in measured.surface_scorers:
            rival = SurfaceScorer(name, self._counted(data) if name in WEIGHTED else None)
            scale = self._scale(self._surface_scales, name, data, rival, kind)
            beside = _with_tuning(measured.measured(items.kept, rival, resampler, scale), items, rival)
            if name != WORD_OVERLAP and getattr(beside, "has_curve", False):
                beside = replace(beside, has_curve=False)  # type: ignore[arg-type]  # a curve costs most
            if _says_something(name, beside):
                surface[name] = beside
        return replace(found, surface=surface)  # type: ignore[arg-type]

    def unmeasured(self, items: Items) -> Scores:
        """Scores of these items by word overlap, only to list the items; no figure uses them."""
        alone = Resampler([""] * len(items.kept))
        scores: type[Scores] = items.kept[0].kind.scores()
        return scores.measured(items.kept, SurfaceScorer(WORD_OVERLAP), alone, UNCALIBRATED)

    def beside(self, subjects: Mapping[str, Subject]) -> Scorer:
        """A scorer for other models, with the same draws and random pairs."""
        other = Scorer(subjects, self.data, seed=self.seed, calibrates=self.calibrates)
        other._first_stages = self._first_stages
        other._resamplers, other._references = self._resamplers, self._references
        other._surface_scales, other._frequencies = self._surface_scales, self._frequencies
        other._indexes = self._indexes
        return other

    def plain(self, model: str, data: str, items: Items) -> Scores:
        """The scores of these items without surface scorers; NothingToMeasure for searches and contrasts."""
        kind, by = items.kept[0].kind, _scorer_of(self.subjects[model])
        measured = kind.scores()
        if measured.searches or not measured.calibrates:
            raise NothingToMeasure(f"{model} is compared without searches")
        scale = self._scale(self._scales, model, data, by, kind)
        return _with_tuning(measured.measured(items.kept, by, self._resampler(data, items.kept), scale), items, by)

    def _of_whole(self, model: str, data: str, whole: WholeItems) -> Scores:
        """The scores that come with items outside memory, and their word overlap."""
        subject, rival = self.subjects[model], SurfaceScorer(WORD_OVERLAP)
        whole.refuse(subject)
        by = _scorer_of(subject)
        scale = self._scale(self._scales, model, data, by, whole.kind)
        found = whole.measured(by, scale, model=subject.fingerprint, seed=self.seed)
        scale = self._scale(self._surface_scales, WORD_OVERLAP, data, rival, whole.kind)
        beside = whole.measured(rival, scale, model=None, seed=self.seed)
        scores: Scores = replace(found, surface={WORD_OVERLAP: beside})
        return scores

    def _sorted(self, model: str, items: Items) -> Scores:
        """The texts as classified from the model's vectors, and by surface classifiers.

        They are drawn by the clusters of their own task. NothingToMeasure if the model gives no vectors.
        """
        _require_vectors(self.subjects[model], "a classifier learns from vectors")
        texts, others = cast(Sequence[Classified], items.kept), cast(Sequence[Classified], items.tuning)
        if id(items) not in self._surface_classes:
            resampler = Resampler([one.cluster for one in texts], seed=self.seed)
            self._surface_classes[id(items)] = items, surface_classifiers(texts, others, resampler)
        surface = self._surface_classes[id(items)][1]
        resampler = next(iter(surface.values())).resampler
        found = ClassifiedScores.learned(texts, others, partial(_features, self.subjects[model]), resampler)
        return replace(found, surface=surface)

    def _in_roles(self, kind: Kind, model: str, data: str, items: Items, resampler: Resampler) -> Scores:
        """The scores of queries and documents, with those of the surface scorers; their scales differ.

        An encoder searches with an index if the run has one.
        """
        subject, scores = self.subjects[model], kind.scores()
        index = self._index(_queries(items.kept)) if kind.compares == ANSWERS else None
        surface: dict[str, Scores] = {}
        for name in scores.surface_scorers:
            rival = SurfaceScorer(name, self._counted(data) if name in WEIGHTED and index is None else None, index)
            beside = scores.measured(items.kept, rival, resampler, UNCALIBRATED)
            if _says_something(name, beside):
                surface[name] = beside
        lists = None
        if self._first_stages and index and subject.kind == "vector":
            lists = self._first_stages.over(subject, _queries(items.kept)[0].documents)
        found = scores.measured(items.kept, _scorer_of(subject, index, lists), resampler, UNCALIBRATED)
        found = replace(found, surface=surface)
        return with_first_stage(found, items.kept, subject, lists, data=data) if lists else found  # type: ignore[no-any-return]

    def scale(self, model: str, data: str) -> Scale | None:
        """The calibration of a model on a data set, once something was measured there."""
        return self._scales.get((model, data))

    def reference(self, data: str) -> tuple[SentencePair, ...]:
        """The random pairs that calibrate on this data; for the user's own triplets, even if all share a word."""
        if data not in self._references:
            whole = self.data[data]
            found = whole.reference(seed=self.seed)
            if not found and whole.properties and (found := whole.reference(seed=self.seed, apart=False)):
                log.warning("%s: any two anchors share a content word, so pairs that do calibrate", data)
            self._references[data] = found
        return self._references[data]

    def identical(self, data: str) -> list[str]:
        """Texts that, paired with themselves, calibrate scores on this data."""
        return [pair.first for pair in self.reference(data)[:IDENTITY_PAIRS]]

    def candidates(self, items: Sequence[Item]) -> list[Pair]:
        """The pairs in searches that a pair-scoring model has to score: the first stage and judged documents."""
        if items[0].kind.compares != ANSWERS:
            return [pair for item in items for pair in item.judged]
        queries = _queries(items)
        first = _first_stage(queries, self._index(queries))
        return [
            pair
            for q, rows in zip(queries, first, strict=True)
            for pair in (*((q.source, q.documents.texts[row]) for row in rows.tolist()), *q.judged)
        ]

    def _index(self, queries: Sequence[SearchingQuery]) -> LexicalIndex:
        """BM25 over the documents that these queries search."""
        documents = queries[0].documents
        if documents not in self._indexes:
            self._indexes[documents] = LexicalIndex(documents)
        return self._indexes[documents]

    def _resampler(self, data: str, items: Sequence[Item]) -> Resampler:
        clusters = tuple(item.cluster for item in items)
        others = tuple(item.other for item in items)
        shares = tuple(item.shares for item in items)
        if (data, clusters, others, shares) not in self._resamplers:
            universe = (*self.data[data].universe, *clusters)  # the contracts of a first look use all data
            made = Resampler(clusters, universe=universe, seed=self.seed, others=others, shares=shares)
            self._resamplers[data, clusters, others, shares] = made
        return self._resamplers[data, clusters, others, shares]

    def _counted(self, data: str) -> Frequencies:
        """The number of this data's sentences that contain each word."""
        if data not in self._frequencies:
            dataset = self.data[data]
            texts = [(p.first, p.second) for p in dataset.pairs] + [(g.source, g.paraphrase) for g in dataset.groups]
            own: Iterable[Item] = (one for some in (dataset.contrasts, *dataset.properties.values()) for one in some)
            written = [tuple(dict.fromkeys(chain(*one.pairs, *one.in_roles))) for one in own]
            self._frequencies[data] = Frequencies.of(text for some in [*texts, *written] for text in some)
        return self._frequencies[data]

    def _scale(self, known: dict[tuple[str, str], Scale], label: str, data: str, by: TextScorer, kind: Kind) -> Scale:
        """The calibration of a scorer on a data set.

        Ranked pairs need no calibration, nor does the check whether a text gets the same vector twice.
        """
        if (label, data) not in known:
            pairs = self.reference(data)
            ranked = kind.weighed_as in ("pair", "labelled") and kind.compares == "texts"
            if not pairs and (ranked or kind is REPEATED):
                return NO_SCALE
            if not pairs:
                raise NothingToMeasure(f"{data} has {NO_RANDOM_PAIRS}")
            texts = self.identical(data)
            apart = by.pairs([p.first for p in pairs], [p.second for p in pairs])
            identity = float(by.pairs(texts, texts).mean())
            known[label, data] = Scale(float(apart.mean()), identity, len(pairs), float(apart.std()))
        return known[label, data]


def _queries(items: Sequence[Item]) -> Sequence[SearchingQuery]:
    """Items whose answers are searched documents."""
    return cast(Sequence[SearchingQuery], items)


def _require_vectors(subject: Subject, why: str) -> None:
    """NothingToMeasure for a model that scores pairs."""
    if not isinstance(subject.model, Encoder):
        raise NothingToMeasure(f"{subject.label} scores pairs and gives no vectors: {why}")


def _says_something(name: str, scores: Scores) -> bool:
    """Whether a surface scorer is shown for these items; one that counts has to tell enough of them apart."""
    return name not in POLARITY or getattr(scores, "told_apart", 1.0) >= FEWEST_TOLD_APART


def _first_stage(queries: Sequence[SearchingQuery], index: LexicalIndex) -> list[NDArray[np.intp]]:
    """The rows that BM25 ranks first for each query: `FIRST_STAGE`, or what no right document can fill."""
    count, own = max(FIRST_STAGE, 1 + max(len(q.right) for q in queries)), [q.own for q in queries]
    answers = index.ranked([q.source for q in queries], count_with_own(count, own))
    return [rows for rows, _ in without_own(answers, own, count=count)]


def _with_tuning(scores: Scores, items: Items, by: TextScorer) -> Scores:
    """The scores with those of the pairs that a threshold is chosen on, where the items name some and the scores do."""
    if not items.tuning or not hasattr(scores, "learned"):
        return scores
    pairs = cast(Sequence[SentencePair], items.tuning)
    return replace(scores, learned=TuningScores.of(pairs, by))  # type: ignore[arg-type]


@dataclass(frozen=True)
class _ModelScorer:
    """A model of the run, in the form that scores call."""

    subject: Subject

    @property
    def decision(self) -> float | None:
        cut: float | None = getattr(self.subject.model, "decision", None)
        return cut

    def pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        return similarity_of(self.subject)(first, second)


@dataclass(frozen=True)
class _EncoderScorer(_ModelScorer):
    """An encoder that searches all documents, or those in `lists`."""

    model: Encoder
    lists: InvertedLists | None = None

    def grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        return vector_grid(self.subject.vectors, self.subject.rows, self.model.similarity)(queries, documents)

    def repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        first = self.subject.vectors[[self.subject.rows[text] for text in texts]]
        again, once_more = (np.array([vectors[text] for text in texts]) for vectors in self.subject.again)
        return _kept(first, again), _kept(again, once_more)

    def ranked(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:
        first, second = self.subject.roles["query"].of([q.source for q in queries]), self.subject.roles["document"]
        own, fewest = [q.own for q in queries], count_of_answers(queries)
        most = max(count, fewest)
        if self.lists:
            answers = self.lists.nearest(first, count=count_with_own(most, own), fewest=count_with_own(fewest, own))
        else:
            vectors, similarity = second.of(queries[0].documents.texts), self.model.similarity
            answers = nearest(first, vectors, similarity=similarity, count=count_with_own(most, own))
        yield from without_own(answers, own, count=most)

    def asked(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        first, second = self.subject.roles["query"], self.subject.roles["document"]
        scores = SIMILARITIES[self.model.similarity](first.of(queries), second.of(documents))
        return np.nan_to_num(scores)  # zero vectors have no cosine, and rank last


@dataclass(frozen=True)
class _PairScorer(_ModelScorer):
    """A model that scores pairs, and reranks the first answers of `index` in a search."""

    index: LexicalIndex | None = None

    def grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:  # noqa: ARG002
        _require_vectors(self.subject, "a search would score all pairs")
        raise AssertionError

    def repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        first = np.array([[self.subject.scored[text, text]] for text in texts], np.float32)
        again, once_more = (np.array([scores[text] for text in texts]) for scores in self.subject.again)
        return equal_up_to_rounding(first, again), equal_up_to_rounding(again, once_more)

    def ranked(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:  # noqa: ARG002
        assert self.index is not None
        for q, rows in zip(queries, _first_stage(queries, self.index), strict=True):
            documents = [q.documents.texts[row] for row in rows.tolist()]
            yield sort_by_score(rows, self.pairs([q.source] * len(rows), documents))

    def asked(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        return self.pairs(queries, documents)


def _scorer_of(
    subject: Subject, index: LexicalIndex | None = None, lists: InvertedLists | None = None
) -> _EncoderScorer | _PairScorer:
    """A model under test, in the form that scores call."""
    model = subject.model
    return _EncoderScorer(subject, model, lists) if isinstance(model, Encoder) else _PairScorer(subject, index)


def _kept(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
    """1 for each text that got the same vector twice; shapes [n, d] -> [n].

    A vector that moves by half the distance between different texts is not the same, however small that distance, since
    a single vector with noise looks like this.
    """
    apart = float(np.median(np.linalg.norm(first - np.roll(first, 1, axis=0), axis=1)))
    moved = np.linalg.norm(second - first, axis=1)
    return equal_up_to_rounding(first, second) * (moved <= apart / 2 if apart else np.ones(len(first)))


def _features(subject: Subject, texts: Sequence[Classified]) -> NDArray[np.float32]:
    """The features of these texts for a classifier; shape [n, d], for pairs [n, 2d]."""
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
    """How an encoder compares two texts (by its trained head if it has one, else by its similarity), with a name."""
    if isinstance(model, HeadedEncoder):
        return "head's probability", model.score_vectors
    return model.similarity, SIMILARITIES[model.similarity]


def similarity_of(subject: Subject) -> Similarity:
    """The function that scores encoded pairs."""
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

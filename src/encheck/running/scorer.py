"""Scores of a run's items, by a model and by surface scorers. Each kind of item has its own measurement."""

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
from encheck.metrics.search import DELTA, index_recall_figures
from encheck.running.model_under_test import ModelUnderTest, Pair
from encheck.scoring.classified import Classified, ClassifiedScores, classifier_inputs, score_surface_classifiers
from encheck.scoring.documents import STORED_ANSWERS, Documents, RankedRows
from encheck.scoring.item import Item, Items, ItemsScoredInParts, Kind, SearchingQuery, TextScorer
from encheck.scoring.pairs import NO_RANDOM_PAIRS, REPEATED, SentencePair, TuningScores
from encheck.scoring.scores import (
    BothOrdersScores,
    ChainScores,
    Floats,
    LoggedScores,
    MarginScores,
    RankedScores,
    Scale,
    Scores,
)
from encheck.scoring.searches import DEPTH, rerank
from encheck.scoring.text_scorers import LexicalIndex, SurfaceScorer, vector_similarity_grid
from encheck.scoring.vector_search import (
    SAMPLE,
    IndexRecall,
    InvertedLists,
    ListCounts,
    compare_with_exact,
    count_including_own,
    drop_own_documents,
    sample_queries,
    search_exactly,
)
from encheck.similarity import SIMILARITIES, WORD_OVERLAP, Vectors, equal_up_to_rounding
from encheck.statistics.bootstrap import Resampler
from encheck.surface import POLARITY, WEIGHTED, Frequencies
from encheck.types import Estimate

log = logging.getLogger("encheck")
S = TypeVar("S", bound=Scores)
ENOUGH = 1 - DELTA  # a loss that matters to the gate should not happen here


class DocumentIndexes:
    """The indexes of a run, each over the documents of one model. Only the last index is cached, because checks share
    it.
    """

    def __init__(self, size: ListCounts, seed: int) -> None:
        self.size, self.seed = size, seed
        self._last: tuple[ModelUnderTest, Documents, InvertedLists] | None = None

    def index_over(self, subject: ModelUnderTest, documents: Documents) -> InvertedLists:
        """Return the index over these documents, as the model encodes them."""
        if self._last is None or self._last[0] is not subject or self._last[1] is not documents:
            assert isinstance(subject.model, Encoder)
            self._last = None  # before the next one is made
            vectors = subject.roles["document"].vectors_of(documents.texts)
            made = InvertedLists(vectors, similarity=subject.model.similarity, size=self.size, seed=self.seed)
            self._last = subject, documents, made
        return self._last[2]


def answers_needed(queries: Sequence[SearchingQuery]) -> int:
    """Return how many answers each query needs: those that are stored, and one more than it has right documents."""
    return max(STORED_ANSWERS, 1 + max(len(q.right) for q in queries))


def add_index_recall(
    scores: S, items: Sequence[Item], subject: ModelUnderTest, lists: InvertedLists, *, data: str
) -> S:
    """Return the scores with the answers that the index missed on a sample of their queries, and log them."""
    queries = [item for item in items if isinstance(item, SearchingQuery)]
    asked = [queries[place] for place in sample_queries(queries)]
    fewest, depth = answers_needed(asked), DEPTH if isinstance(scores, RankedScores) else STORED_ANSWERS
    right = [frozenset(row for row, _ in q.right) for q in asked]
    vectors = subject.roles["query"].vectors_of([q.source for q in asked])
    own = [q.own for q in asked]
    stage = compare_with_exact(lists, vectors, right, count=max(depth, fewest), fewest=fewest, own=own)
    found: S = replace(scores, first_stage=stage)  # type: ignore[call-arg]
    assert isinstance(found, RankedScores | LoggedScores)
    log.warning(
        "%s searched %s with an index: %s",
        subject.label,
        data,
        index_recall_note(stage, index_recall_figures(found)[0]),
    )
    return found


def index_recall_note(stage: IndexRecall, estimate: Estimate) -> str:
    """Return a note on what the index found, what that means for the figures, and what to do if it is too little."""
    size = stage.size
    lost = "What it missed is no answer."
    if stage.right + stage.raised:
        lost = f"Of {stage.right} right documents among the first 10 exact answers, it lost {stage.lost}"
        if stage.raised:
            lost += f"; {stage.raised} rank higher than they should, since it missed a nearer document"
            lost += ". So figures may be off in either direction."
        else:
            lost += ", which count as not found. So figures are lower bounds." if stage.lost else "."
    line = (
        f"{size.probes:,} of {size.lists:,} lists of {stage.documents:,} documents. It found {estimate.value:.2%} "
        f"[{estimate.low:.2%}, {estimate.high:.2%}] of the 10 nearest documents of {estimate.n} queries that were also "
        f"searched exactly. {lost}"
    )
    if estimate.low >= ENOUGH:
        return line
    if estimate.n < SAMPLE and estimate.value >= ENOUGH:
        return f"{line} So few queries cannot show {ENOUGH:.0%}. Remedy: --search-index=exact, which is quick for them"
    return f"{line} This does not show {ENOUGH:.0%}. Remedy: --search-index=faiss:nprobe={2 * size.probes}"


log = logging.getLogger("encheck")
Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
IDENTITY_PAIRS = 200
FIRST_STAGE = 100  # documents that BM25 hands to a model that scores pairs
ANSWERS = "answers"  # what thresholds cut of items that search documents
UNCALIBRATED = Scale(0.0)
NO_SCALE = Scale(float("nan"), float("nan"))  # for data without two sentences to calibrate with
FEWEST_TOLD_APART = 0.25  # of a check's items; a count of negations that hardly differ wins half by ties


class Scorer:
    """Computes the scores of encoded texts under the models of a run. Draws pairs and calibrates once per data set.

    Without `calibrates` the models' scores have no calibrated scale.
    """

    def __init__(
        self,
        subjects: Mapping[str, ModelUnderTest],
        data: Mapping[str, Dataset],
        *,
        seed: int,
        index: ListCounts | None = None,
        calibrates: bool = True,
    ) -> None:
        self.subjects, self.data, self.seed, self.calibrates = subjects, data, seed, calibrates
        self._first_stages = DocumentIndexes(index, seed) if index else None
        self._resamplers: dict[tuple[object, ...], Resampler] = {}
        self._scales: dict[tuple[str, str], Scale] = {}
        self._surface_scales: dict[tuple[str, str], Scale] = {}
        self._frequencies: dict[str, Frequencies] = {}
        self._references: dict[str, tuple[SentencePair, ...]] = {}
        self._indexes: dict[Documents, LexicalIndex] = {}
        self._surface_classes: dict[int, tuple[Items, dict[str, ClassifiedScores]]] = {}  # by the items' identity

    def scores(self, model: str, data: str, items: Items) -> Scores:
        """Return the scores of these items under this model, with those of the surface scorers that apply to them.

        Raise NothingToMeasure if the items are searched and the model scores pairs, or if no calibration is possible.
        """
        if items.whole:
            return self._score_whole(model, data, items.whole)
        kind = items.included[0].kind
        if kind.is_learned:
            return self._score_classified(model, items)
        measured, scorer, resampler = (
            kind.scores(),
            _scorer_of(self.subjects[model]),
            self._resampler(data, items.included),
        )
        if measured.searches:
            _require_vectors(self.subjects[model], "a search would score all pairs")
        if not measured.calibrates:
            return self._score_in_roles(kind, model, data, items, resampler)
        scale = self._calibrate(self._scales, model, data, scorer, kind) if self.calibrates else UNCALIBRATED
        found = _add_tuning_scores(measured.score_items(items.included, scorer, resampler, scale), items, scorer)
        surface: dict[str, Scores] = {}
        for name in measured.surface_scorers:
            rival = SurfaceScorer(name, self._word_frequencies(data) if name in WEIGHTED else None)
            scale = self._calibrate(self._surface_scales, name, data, rival, kind)
            beside = _add_tuning_scores(measured.score_items(items.included, rival, resampler, scale), items, rival)
            if name != WORD_OVERLAP and isinstance(beside, MarginScores):
                beside = replace(beside, has_curve=False)  # a curve costs most
            if _is_shown(name, beside):
                surface[name] = beside
        return replace(found, surface=surface)

    def list_with_placeholder_scores(self, items: Items) -> Scores:
        """Return scores of these items by word overlap, only to list the items. No figure uses the scores."""
        alone = Resampler([""] * len(items.included))
        scores: type[Scores] = items.included[0].kind.scores()
        return scores.score_items(items.included, SurfaceScorer(WORD_OVERLAP), alone, UNCALIBRATED)

    def for_models(self, subjects: Mapping[str, ModelUnderTest]) -> Scorer:
        """Return a scorer for other models, with the same draws and random pairs."""
        other = Scorer(subjects, self.data, seed=self.seed, calibrates=self.calibrates)
        other._first_stages = self._first_stages
        other._resamplers, other._references = self._resamplers, self._references
        other._surface_scales, other._frequencies = self._surface_scales, self._frequencies
        other._indexes = self._indexes
        return other

    def score_without_surface(self, model: str, data: str, items: Items) -> Scores:
        """Return the scores of these items without surface scorers.

        Raise NothingToMeasure for searches and contrasts.
        """
        kind, scorer = items.included[0].kind, _scorer_of(self.subjects[model])
        measured = kind.scores()
        if measured.searches or not measured.calibrates:
            raise NothingToMeasure(f"{model} is compared without searches")
        scale = self._calibrate(self._scales, model, data, scorer, kind)
        return _add_tuning_scores(
            measured.score_items(items.included, scorer, self._resampler(data, items.included), scale), items, scorer
        )

    def _score_whole(self, model: str, data: str, whole: ItemsScoredInParts) -> Scores:
        """Return the scores that come with items outside memory, and their word overlap."""
        subject, rival = self.subjects[model], SurfaceScorer(WORD_OVERLAP)
        whole.refuse_unscorable_model(subject)
        scorer = _scorer_of(subject)
        scale = self._calibrate(self._scales, model, data, scorer, whole.kind)
        found = whole.score_items(scorer, scale, model=subject.fingerprint, seed=self.seed)
        scale = self._calibrate(self._surface_scales, WORD_OVERLAP, data, rival, whole.kind)
        beside = whole.score_items(rival, scale, model=None, seed=self.seed)
        scores: Scores = replace(found, surface={WORD_OVERLAP: beside})
        return scores

    def _score_classified(self, model: str, items: Items) -> Scores:
        """Return the texts as classified from the model's vectors, and by surface classifiers.

        The bootstrap draws the clusters of the classification task. Raise NothingToMeasure if the model gives no
        vectors.
        """
        _require_vectors(self.subjects[model], "a classifier learns from vectors")
        texts, others = cast(Sequence[Classified], items.included), cast(Sequence[Classified], items.tuning)
        if id(items) not in self._surface_classes:
            resampler = Resampler([one.cluster for one in texts], seed=self.seed)
            self._surface_classes[id(items)] = items, score_surface_classifiers(texts, others, resampler)
        surface = self._surface_classes[id(items)][1]
        resampler = next(iter(surface.values())).resampler
        found = ClassifiedScores.train(texts, others, partial(_classifier_features, self.subjects[model]), resampler)
        return replace(found, surface=surface)

    def _score_in_roles(self, kind: Kind, model: str, data: str, items: Items, resampler: Resampler) -> Scores:
        """Return the scores of queries and documents, with those of the surface scorers. Their scales differ.

        An encoder searches with an index if the run has one.
        """
        subject, scores = self.subjects[model], kind.scores()
        index = self._lexical_index(_as_searching_queries(items.included)) if kind.compares == ANSWERS else None
        surface: dict[str, Scores] = {}
        for name in scores.surface_scorers:
            rival = SurfaceScorer(
                name, self._word_frequencies(data) if name in WEIGHTED and index is None else None, index
            )
            beside = scores.score_items(items.included, rival, resampler, UNCALIBRATED)
            if _is_shown(name, beside):
                surface[name] = beside
        lists = None
        if self._first_stages and index and subject.kind == "vector":
            lists = self._first_stages.index_over(subject, _as_searching_queries(items.included)[0].documents)
        found = scores.score_items(items.included, _scorer_of(subject, index, lists), resampler, UNCALIBRATED)
        found = replace(found, surface=surface)
        return add_index_recall(found, items.included, subject, lists, data=data) if lists else found

    def scale(self, model: str, data: str) -> Scale | None:
        """Return the calibration of a model on a data set, once something was measured there."""
        return self._scales.get((model, data))

    def random_pairs(self, data: str) -> tuple[SentencePair, ...]:
        """Return the random pairs that calibrate scores on this data. Their texts share no content word.

        If all anchors of the user's own triplets share a word, the pairs do too.
        """
        if data not in self._references:
            whole = self.data[data]
            found = whole.draw_random_pairs(seed=self.seed)
            if (
                not found
                and whole.properties
                and (found := whole.draw_random_pairs(seed=self.seed, no_shared_word=False))
            ):
                log.warning("%s: any two anchors share a content word, so the random pairs share one too", data)
            self._references[data] = found
        return self._references[data]

    def texts_for_identity(self, data: str) -> list[str]:
        """Return texts that, paired with themselves, calibrate scores on this data."""
        return [pair.first for pair in self.random_pairs(data)[:IDENTITY_PAIRS]]

    def candidate_and_judged_pairs(self, items: Sequence[Item]) -> list[Pair]:
        """Return the pairs that a pair-scoring model has to score in searches: those of the first stage and judged
        documents.
        """
        if items[0].kind.compares != ANSWERS:
            return [pair for item in items for pair in item.query_document_pairs]
        queries = _as_searching_queries(items)
        first = _bm25_candidates(queries, self._lexical_index(queries))
        return [
            pair
            for q, rows in zip(queries, first, strict=True)
            for pair in (*((q.source, q.documents.texts[row]) for row in rows.tolist()), *q.query_document_pairs)
        ]

    def _lexical_index(self, queries: Sequence[SearchingQuery]) -> LexicalIndex:
        """Return a BM25 index of the documents that these queries search."""
        documents = queries[0].documents
        if documents not in self._indexes:
            self._indexes[documents] = LexicalIndex(documents)
        return self._indexes[documents]

    def _resampler(self, data: str, items: Sequence[Item]) -> Resampler:
        clusters = tuple(item.cluster for item in items)
        others = tuple(item.second_cluster for item in items)
        shares = tuple(item.shares for item in items)
        if (data, clusters, others, shares) not in self._resamplers:
            universe = (*self.data[data].universe, *clusters)  # the contracts of a first look use all data
            made = Resampler(clusters, universe=universe, seed=self.seed, others=others, shares=shares)
            self._resamplers[data, clusters, others, shares] = made
        return self._resamplers[data, clusters, others, shares]

    def _word_frequencies(self, data: str) -> Frequencies:
        """Return the number of this data's sentences that contain each word."""
        if data not in self._frequencies:
            dataset = self.data[data]
            texts = [(p.first, p.second) for p in dataset.pairs] + [(g.source, g.paraphrase) for g in dataset.groups]
            own: Iterable[Item] = (one for some in (dataset.contrasts, *dataset.properties.values()) for one in some)
            written = [tuple(dict.fromkeys(chain(*one.pairs_to_score, *one.queries_and_documents))) for one in own]
            self._frequencies[data] = Frequencies.of(text for some in [*texts, *written] for text in some)
        return self._frequencies[data]

    def _calibrate(
        self, known: dict[tuple[str, str], Scale], label: str, data: str, scorer: TextScorer, kind: Kind
    ) -> Scale:
        """Return the calibration of a scorer on a data set.

        Ranked pairs need no calibration, nor does the check whether a text gets the same vector twice.
        """
        if (label, data) not in known:
            pairs = self.random_pairs(data)
            ranked = kind.score_form in ("pair", "labelled") and kind.compares == "texts"
            if not pairs and (ranked or kind is REPEATED):
                return NO_SCALE
            if not pairs:
                raise NothingToMeasure(f"{data} has {NO_RANDOM_PAIRS}")
            texts = self.texts_for_identity(data)
            apart = scorer.score_pairs([p.first for p in pairs], [p.second for p in pairs])
            identity = float(scorer.score_pairs(texts, texts).mean())
            known[label, data] = Scale(float(apart.mean()), identity, len(pairs), float(apart.std()))
        return known[label, data]


def _as_searching_queries(items: Sequence[Item]) -> Sequence[SearchingQuery]:
    """Return the items as queries. Their answers are searched documents."""
    return cast(Sequence[SearchingQuery], items)


def _require_vectors(subject: ModelUnderTest, why: str) -> None:
    """Raise NothingToMeasure for a model that scores pairs."""
    if not isinstance(subject.model, Encoder):
        raise NothingToMeasure(f"{subject.label} scores pairs and gives no vectors: {why}")


def _is_shown(name: str, scores: Scores) -> bool:
    """Return whether a surface scorer is shown for these items.

    A scorer that counts something is shown only if it gives the items enough distinct scores.
    """
    return name not in POLARITY or getattr(scores, "untied_share", 1.0) >= FEWEST_TOLD_APART


def _bm25_candidates(queries: Sequence[SearchingQuery], index: LexicalIndex) -> list[NDArray[np.intp]]:
    """Return the rows that BM25 ranks first for each query.

    These are `FIRST_STAGE` rows or, if that is more, one row more than a query has right documents.
    """
    count, own = max(FIRST_STAGE, 1 + max(len(q.right) for q in queries)), [q.own for q in queries]
    answers = index.rank_documents([q.source for q in queries], count_including_own(count, own))
    return [rows for rows, _ in drop_own_documents(answers, own, count=count)]


def _add_tuning_scores(scores: Scores, items: Items, scorer: TextScorer) -> Scores:
    """Return the scores, with those of the pairs on which a threshold is chosen.

    Return them unchanged if the items name no such pairs or the scores cannot have them.
    """
    if not items.tuning or not isinstance(scores, ChainScores | BothOrdersScores):
        return scores
    pairs = cast(Sequence[SentencePair], items.tuning)
    return replace(scores, tuning=TuningScores.score_pairs(pairs, scorer))


@dataclass(frozen=True)
class _ModelScorer:
    """A model of the run, in the form that scores call."""

    subject: ModelUnderTest

    @property
    def head_threshold(self) -> float | None:
        cut: float | None = getattr(self.subject.model, "decision", None)
        return cut

    def score_pairs(self, first: Sequence[str], second: Sequence[str]) -> Floats:
        return pair_similarity_function(self.subject)(first, second)


@dataclass(frozen=True)
class _EncoderScorer(_ModelScorer):
    """An encoder that searches all documents, or those in `lists`."""

    model: Encoder
    lists: InvertedLists | None = None

    def score_grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        return vector_similarity_grid(self.subject.vectors, self.subject.rows, self.model.similarity)(
            queries, documents
        )

    def score_repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        first = self.subject.vectors[[self.subject.rows[text] for text in texts]]
        again, once_more = (np.array([vectors[text] for text in texts]) for vectors in self.subject.again)
        return _same_vectors(first, again), _same_vectors(again, once_more)

    def rank_documents(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:
        first, second = (
            self.subject.roles["query"].vectors_of([q.source for q in queries]),
            self.subject.roles["document"],
        )
        own, fewest = [q.own for q in queries], answers_needed(queries)
        most = max(count, fewest)
        if self.lists:
            answers = self.lists.search(
                first, count=count_including_own(most, own), fewest=count_including_own(fewest, own)
            )
        else:
            vectors, similarity = second.vectors_of(queries[0].documents.texts), self.model.similarity
            answers = search_exactly(first, vectors, similarity=similarity, count=count_including_own(most, own))
        yield from drop_own_documents(answers, own, count=most)

    def score_documents(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        first, second = self.subject.roles["query"], self.subject.roles["document"]
        scores = SIMILARITIES[self.model.similarity](first.vectors_of(queries), second.vectors_of(documents))
        return np.nan_to_num(scores)  # zero vectors have no cosine, and rank last


@dataclass(frozen=True)
class _PairScorer(_ModelScorer):
    """A model that scores pairs. In a search, it reranks the first answers of `index`."""

    index: LexicalIndex | None = None

    def score_grid(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:  # noqa: ARG002
        _require_vectors(self.subject, "a search would score all pairs")
        raise AssertionError

    def score_repeats(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        first = np.array([[self.subject.scored[text, text]] for text in texts], np.float32)
        again, once_more = (np.array([scores[text] for text in texts]) for scores in self.subject.again)
        return equal_up_to_rounding(first, again), equal_up_to_rounding(again, once_more)

    def rank_documents(self, queries: Sequence[SearchingQuery], count: int) -> Iterable[RankedRows]:  # noqa: ARG002
        assert self.index is not None
        for q, rows in zip(queries, _bm25_candidates(queries, self.index), strict=True):
            documents = [q.documents.texts[row] for row in rows.tolist()]
            yield rerank(rows, self.score_pairs([q.source] * len(rows), documents))

    def score_documents(self, queries: Sequence[str], documents: Sequence[str]) -> Floats:
        return self.score_pairs(queries, documents)


def _scorer_of(
    subject: ModelUnderTest, index: LexicalIndex | None = None, lists: InvertedLists | None = None
) -> _EncoderScorer | _PairScorer:
    """Return a model under test, in the form that scores call."""
    model = subject.model
    return _EncoderScorer(subject, model, lists) if isinstance(model, Encoder) else _PairScorer(subject, index)


def _same_vectors(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return 1 for each text that got the same vector twice, else 0; shapes [n, d] -> [n].

    A vector that moves by half the distance between different texts is not the same, however small that distance is. A
    single vector with noise looks like this.
    """
    apart = float(np.median(np.linalg.norm(first - np.roll(first, 1, axis=0), axis=1)))
    moved = np.linalg.norm(second - first, axis=1)
    return equal_up_to_rounding(first, second) * (moved <= apart / 2 if apart else np.ones(len(first)))


def _classifier_features(subject: ModelUnderTest, texts: Sequence[Classified]) -> NDArray[np.float32]:
    """Return the features of these texts for a classifier; shape [n, d], for pairs [n, 2d]."""
    first = subject.vectors[[subject.rows[one.first] for one in texts]]
    second = subject.vectors[[subject.rows[one.second] for one in texts]] if texts[0].second else None
    found = classifier_inputs(first, second)
    if (bad := np.flatnonzero(~np.isfinite(found).all(axis=1))).size:
        raise EncoderError(
            f"{subject.label}: the vectors of {bad.size} of {len(texts)} texts are not numbers, first that of "
            f"{texts[bad[0]].first!r:.80}"
        )
    return found


def comparison_function(model: Encoder) -> tuple[str, Callable[[Vectors, Vectors], Floats]]:
    """Return the name and the function by which an encoder compares two texts.

    The function is the encoder's trained head, or its similarity if it has no head.
    """
    if isinstance(model, HeadedEncoder):
        return "head's probability", model.score_vectors
    return model.similarity, SIMILARITIES[model.similarity]


def pair_similarity_function(subject: ModelUnderTest) -> Similarity:
    """Return the function that scores encoded pairs."""
    if not isinstance(subject.model, Encoder):
        return lambda first, second: np.array([subject.scored[p] for p in zip(first, second, strict=True)])
    name, similarity = comparison_function(subject.model)

    def score(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        a, b = ([subject.rows[t] for t in texts] for texts in (first, second))
        values = similarity(subject.vectors[a], subject.vectors[b])
        if (bad := np.flatnonzero(~np.isfinite(values))).size:
            raise EncoderError(
                f"{subject.label}: the {name} of {bad.size} of {len(values)} pairs is not a number, first of "
                f"{(first[bad[0]], second[bad[0]])}. Remedy: vectors that are not all zeros, also for blank texts"
            )
        return values

    return score

"""`encheck threshold`: at which threshold may a model be used, and which one matches the old model's?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import PartialEncoder
from encheck.encoders.stored_index import StoredVectors
from encheck.errors import DataError, EncoderError, UsageError
from encheck.operations.threshold.cascade import (
    Behaviour,
    Cascade,
    ProbePair,
    accepted_by_kind,
    evaluate_cascade,
    probe_pairs,
    split_clusters,
)
from encheck.operations.threshold.rates import (
    NEGATIVE,
    POSITIVE,
    RATE_NAMES,
    RATES,
    RIVALS,
    UNKNOWN,
    MatchedThreshold,
    Pairs,
    Population,
    RateName,
    ThresholdRates,
    load_pairs,
    match_threshold,
    surface_pair_scores,
)
from encheck.options import Settings
from encheck.reporting.view import full_name
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.resources import open_store, resolve_models
from encheck.running.service import EncoderService
from encheck.statistics.bootstrap import Figure, auc_with_replicates, percentile_interval
from encheck.statistics.false_accepts import MIN_ACCEPTED, OF_USE, ThresholdPromise, judge_budget, threshold_step
from encheck.store import Store
from encheck.system.terminal import Progress

Floats = NDArray[np.float64]
ThresholdOutcome = Literal["kept", "broken", "undecided", "no promise asked"]
BUDGET = 0.01
STEPS = 40
MIN_SLICE_CLUSTERS, MOST_SLICES = 20, 12
EXAMPLES, IN_THE_WAY = 5, 3
ExitCode = Literal[0, 1, 10]
EXIT_CODES: dict[ThresholdOutcome, ExitCode] = {"kept": 0, "no promise asked": 0, "broken": 1, "undecided": 10}


@dataclass(frozen=True)
class ThresholdRequest:
    """The request to `encheck threshold`.

    `models` are the new model, then the old one if `old_threshold` is not None, then the verifier if `verifies`. At
    most `sample` clusters of the data are used; None means all. If `budget` is None, no promise is requested.
    `positives` is the share of pairs that are positive in production.
    """

    models: tuple[str, ...]
    data: tuple[str, ...]
    model_args: tuple[str, ...]
    sample: int | None
    seed: int
    skip_bad_rows: bool
    budget: float | None = BUDGET
    old_threshold: float | None = None
    way: RateName = "hits"
    own: float | None = None
    positives: float | None = None
    verifies: bool = False

    def __post_init__(self) -> None:
        """Raise UsageError if a number is NaN or out of range."""
        for name, share in (("max-false-accepts", self.budget), ("positives", self.positives)):
            if share is not None and not 0 < share < 1:
                raise UsageError(f"--{name} is {share:g}, but should be a share between 0 and 1: 0.01 is 1%")
        if self.old_threshold is not None and not math.isfinite(self.old_threshold):
            raise UsageError(f"the threshold of the baseline is {self.old_threshold}, but should be a number")


@dataclass(frozen=True, slots=True)
class PairCounts:
    """The numbers of pairs by label, and of their clusters. `repeated` counts repeats of a pair with the same label."""

    name: str
    pairs: int
    clusters: int
    positives: int
    negatives: int
    unlabelled: int
    negative_clusters: int
    repeated: int
    hard: str
    skipped: int
    left_out: int


@dataclass(frozen=True, slots=True)
class SurfaceRates:
    """The false accepts of a scorer that understands nothing, at the model's recall (or hits).

    `kept` has the rates of the scorer's own lowest threshold within the budget, None if it has none.
    """

    name: str
    false_accepts: Figure | None
    kept: ThresholdRates | None
    curve: tuple[ThresholdRates, ...]


@dataclass(frozen=True, slots=True)
class SliceRates:
    """The rates of the pairs that have one value of a further column, at the threshold `at`."""

    name: str
    clusters: int
    negatives: int
    point: ThresholdRates


@dataclass(frozen=True, slots=True)
class NegativePair:
    """A negative pair and its score."""

    first: str
    second: str
    score: float


@dataclass(frozen=True)
class ThresholdReport:
    """The result of `encheck threshold`, as in threshold.json. Shares are from 0 to 1, or None if the data cannot show
    them.

    `outcome` is the outcome of the promise; without a promise, it is "undecided" if the old threshold could not be
    matched. `exit_code` is 0 for yes, 1 if the promise cannot be kept, 10 if undecided. With a `cascade` (a verifier
    behind the model) the outcome is that of both together. `full_name` includes the model's own name.

    Slices, rivals and behaviours are shown at the threshold `at`; `why` says which threshold that is. Rates have 95%
    intervals over clusters; a promise has its own bound. `examples` are negatives that this threshold accepts. If no
    threshold keeps the budget, `in_the_way` has the highest-scoring negatives. `auc` is the probability that a positive
    scores above a negative; it is None unless the data have both. `unsaid` lists unanswered questions with reasons.
    """

    schema_version: Literal[1] = field(default=1, kw_only=True)
    outcome: ThresholdOutcome
    exit_code: ExitCode
    model: str
    full_name: str
    baseline: str
    data: PairCounts
    asked: ThresholdRequest
    promise: ThresholdPromise | None
    kept: ThresholdRates | None
    strictest: ThresholdRates | None
    own: ThresholdRates | None
    old: ThresholdRates | None
    same_number: ThresholdRates | None
    matches: tuple[MatchedThreshold, ...]
    at: float
    why: str
    sweep: tuple[ThresholdRates, ...]
    rivals: tuple[SurfaceRates, ...]
    slices: tuple[SliceRates, ...]
    behaviours: tuple[Behaviour, ...]
    examples: tuple[NegativePair, ...]
    auc: Figure | None
    in_the_way: tuple[NegativePair, ...]
    cascade: Cascade | None
    unsaid: tuple[str, ...]

    @property
    def chosen(self) -> MatchedThreshold | None:
        """The match that was requested."""
        return next((one for one in self.matches if one.way == self.asked.way), None)


@dataclass(frozen=True)
class _ModelScores:
    """The scores of one model for the pairs, and for the probes if it can score them."""

    subject: ModelUnderTest
    scores: Floats
    probes: Floats | None


def choose_threshold(
    request: ThresholdRequest, settings: Settings, *, progress: Progress | None = None
) -> ThresholdReport:
    """Answer the request with the configured models.

    Raise UsageError, DataError or EncoderError if that is impossible.
    """
    pairs = load_pairs(request.data[0], sample=request.sample, seed=request.seed, skip_bad_rows=request.skip_bad_rows)
    store = open_store(settings)
    subjects: list[ModelUnderTest] = []
    try:
        subjects += resolve_models(settings, store).values()
        kept = _keep_pairs_with_vectors(pairs, subjects, skip=request.skip_bad_rows)
        return _make_report(request, pairs, kept, subjects, store, progress or Progress())
    finally:
        if store.bytes_on_disk() > store.limit:
            store.delete_least_recently_used(keep=[one.store_fingerprint for one in subjects])
        store.close()


def _keep_pairs_with_vectors(pairs: Pairs, subjects: Sequence[ModelUnderTest], *, skip: bool) -> Pairs:
    """Return the pairs for whose texts all models have vectors.

    Raise EncoderError if a pair lacks a vector and `skip` is not set.
    """
    texts = list(dict.fromkeys((*pairs.first, *pairs.second)))
    lacking: set[str] = set()
    for subject in subjects:
        if isinstance(subject.model, StoredVectors) and (missing := subject.model.texts_without_vector(texts)):
            if not skip:
                raise EncoderError(
                    f"{subject.model.place} has no vector of {len(missing)} of {len(texts)} texts, the first "
                    f"{missing[0][:80]!r}. Remedy: add them, or pass --skip-bad-rows to leave their pairs out"
                )
            lacking |= set(missing)
    kept = [i for i, pair in enumerate(pairs.texts) if lacking.isdisjoint(pair)]
    if not kept:
        raise DataError(f"{pairs.name}: no pair has vectors of both texts")
    return pairs if len(kept) == len(pairs.first) else pairs.select(kept)


def _make_report(
    request: ThresholdRequest,
    loaded: Pairs,
    pairs: Pairs,
    subjects: Sequence[ModelUnderTest],
    store: Store,
    progress: Progress,
) -> ThresholdReport:
    population = Population(pairs, positives=request.positives, seed=request.seed)
    if request.budget is not None:
        population.negatives(np.zeros(len(pairs.first)))  # raises before anything is encoded
    if request.verifies:
        split_clusters(pairs)
    found = probe_pairs(request.seed)
    texts = [(one.first, one.second) for one in found]
    scored = subjects[:-1] if request.verifies else subjects
    new, *others = [_score_model(subject, pairs, texts, store, progress) for subject in scored]
    old = others[0] if others else None
    step = threshold_step(new.scores)
    strictest = population.strictest_threshold(new.scores, step=step)
    made = _make_promise(request, population, new.scores, strictest, step)
    matches = []
    if old is not None and request.old_threshold is not None:
        matches = [match_threshold(population, old.scores, request.old_threshold, new.scores, way) for way in RATES]
    at, why = _choose_shown_threshold(request, made, matches, strictest)
    unsaid = list(_unanswered_questions(request, pairs, new, old, matches))
    slices, few = _slice_rates(request, population, new.scores, at)

    def point(threshold: float | None, scores: Floats = new.scores) -> ThresholdRates | None:
        return None if threshold is None else population.rates_at(scores, [threshold])[0]

    both = None
    if request.verifies:
        both = _evaluate_model_with_verifier(
            request, pairs, new, found, EncoderService(subjects[-1], store, progress=progress)
        )
    refused = any(one.refused for one in matches if one.way == request.way)
    outcome: ThresholdOutcome = "undecided" if refused else "no promise asked"
    if promised := both or made:
        outcome = promised.outcome
    counts = {label: len(pairs.of(label)) for label in (POSITIVE, NEGATIVE, UNKNOWN)}
    repeated = sum(counts[label] - len(pairs.distinct(label)) for label in (POSITIVE, NEGATIVE))
    pair_counts = PairCounts(
        pairs.name, len(pairs.first), len(set(pairs.clusters)), counts[POSITIVE], counts[NEGATIVE], counts[UNKNOWN],
        pairs.clusters_of(NEGATIVE), repeated, pairs.hard, len(pairs.skipped), len(loaded.first) - len(pairs.first),
    )  # fmt: skip
    return ThresholdReport(
        outcome=outcome, exit_code=EXIT_CODES[outcome],
        model=new.subject.label, full_name=full_name(new.subject.config),
        baseline=old.subject.label if old else "",
        data=pair_counts, asked=request, promise=made, kept=point(made.threshold if made else None),
        strictest=point(strictest),
        own=point(request.own), old=point(request.old_threshold, old.scores) if old else None,
        same_number=point(request.old_threshold) if old else None,
        matches=tuple(matches), at=at, why=why,
        sweep=tuple(population.rates_at(new.scores, _threshold_grid(new.scores))),
        rivals=tuple(_surface_rates(request, population, new.scores, at)), slices=slices,
        behaviours=tuple(accepted_by_kind(found, new.probes, at, seed=request.seed)) if new.probes is not None else (),
        examples=_highest_negatives(pairs, new.scores, at, EXAMPLES), auc=_auc_figure(population, new.scores),
        in_the_way=_highest_negatives(pairs, new.scores, -math.inf, IN_THE_WAY)
        if made and made.outcome == "broken" else (),
        cascade=both, unsaid=(*unsaid, *few),
    )  # fmt: skip


def _score_model(
    subject: ModelUnderTest, pairs: Pairs, texts: list[tuple[str, str]], store: Store, progress: Progress
) -> _ModelScores:
    """Return a model's scores. Stored vectors cover only the pairs, not the probes."""
    service = EncoderService(subject, store, progress=progress)
    if isinstance(subject.model, StoredVectors):
        return _ModelScores(subject, service.similarities(pairs.first, pairs.second), None)
    score = service.similarity_function([*pairs.texts, *texts])
    return _ModelScores(subject, score(pairs.first, pairs.second), score([a for a, _ in texts], [b for _, b in texts]))


def _evaluate_model_with_verifier(
    request: ThresholdRequest,
    pairs: Pairs,
    new: _ModelScores,
    pairs_of_probes: list[ProbePair],
    verifier: EncoderService,
) -> Cascade:
    """Return the results of the new model with the verifier behind it, and the pairs that get through both."""
    assert request.budget is not None

    def verify(items: NDArray[np.intp]) -> Floats:
        return verifier.similarities([pairs.first[i] for i in items], [pairs.second[i] for i in items])

    both = evaluate_cascade(
        pairs,
        new.scores,
        verify,
        verifier=verifier.label,
        budget=request.budget,
        positives=request.positives,
        seed=request.seed,
    )
    if new.probes is None or isinstance(verifier.model, PartialEncoder):
        return both
    passed = np.flatnonzero(new.probes >= both.thresholds.first)
    scores = np.full(len(pairs_of_probes), np.nan)
    scores[passed] = verifier.similarities(
        [pairs_of_probes[i].first for i in passed], [pairs_of_probes[i].second for i in passed]
    )
    joined = both.thresholds.join_scores(new.probes, scores)
    return replace(
        both, behaviours=tuple(accepted_by_kind(pairs_of_probes, joined, both.thresholds.second, seed=request.seed))
    )


def _make_promise(
    request: ThresholdRequest, population: Population, scores: Floats, strictest: float | None, step: float
) -> ThresholdPromise | None:
    if request.budget is None:
        return None
    negatives = population.negatives(scores)
    return judge_budget(negatives, budget=request.budget, strictest=strictest, step=step)


def _choose_shown_threshold(
    request: ThresholdRequest,
    made: ThresholdPromise | None,
    matches: Sequence[MatchedThreshold],
    strictest: float | None,
) -> tuple[float, str]:
    """Return the threshold at which slices, rivals and behaviours are shown, and its description."""
    if made and made.threshold is not None:
        return made.threshold, f"keeping {100 * made.budget:g}%"
    match = next((one for one in matches if one.way == request.way and one.threshold), None)
    if match and match.threshold:
        return match.threshold.value, f"matched {RATE_NAMES[request.way]}"
    if request.own is not None:
        return request.own, "your threshold"
    if request.old_threshold is not None:
        return request.old_threshold, "the old value"
    if strictest is not None:
        return strictest, f"the strictest that {OF_USE}"
    raise DataError(
        f"no pair has label 1 and fewer than {MIN_ACCEPTED} have no label, so no threshold can be useful. Remedy: add "
        "production pairs without a label, or pairs with label 1"
    )


def _threshold_grid(scores: Floats) -> list[float]:
    """Rounded thresholds, from one that accepts nearly everything up to the highest score."""
    low, high = (float(np.quantile(scores, q)) for q in (0.005, 1.0))
    raw = max((high - low) / STEPS, 1e-9)
    unit = 10.0 ** math.floor(math.log10(raw))
    apart = next(unit * k for k in (1, 2, 5, 10) if unit * k >= raw)
    digits = max(0, -math.floor(math.log10(apart) + 1e-9))
    first = math.floor(low / apart)
    return [round(k * apart, digits) for k in range(first, math.ceil(high / apart) + 1)]


def _surface_rates(
    request: ThresholdRequest, population: Population, scores: Floats, at: float
) -> Iterator[SurfaceRates]:
    """Yield the rates of word overlap and tf-idf on the same pairs, at the model's recall or hits.

    Where equal scores allow no such threshold, false accepts are interpolated between the two nearest ones.
    """
    way: RateName = "recall" if population.has_items_for_rate("recall") else "hits"
    for name, theirs in surface_pair_scores(population.pairs).items():
        step, false = threshold_step(theirs), None
        own, wanted = theirs[population.items(way)], int((scores[population.items(way)] >= at).sum())
        if wanted and population.has_items_for_rate("false_accepts"):
            last = np.sort(own)[-wanted]  # the highest score that so many reach
            most, fewest = (own >= last).sum(), (own > last).sum()
            share = (wanted - fewest) / (most - fewest)
            cut = (last + max(own[own < last], default=last)) / 2
            points = population.rates_at(theirs, [cut, np.nextafter(last, np.inf)])
            ends = [astuple(point.false_accepts) for point in points if point.false_accepts]
            false = Figure(*(float(share * a + (1 - share) * b) for a, b in zip(*ends, strict=True)))
        strictest = population.strictest_threshold(theirs, step=step)
        made = _make_promise(request, population, theirs, strictest, step)
        kept = population.rates_at(theirs, [made.threshold])[0] if made and made.threshold is not None else None
        yield SurfaceRates(RIVALS[name], false, kept, tuple(population.rates_at(theirs, _threshold_grid(theirs))))


def _slice_rates(
    request: ThresholdRequest, population: Population, scores: Floats, at: float
) -> tuple[tuple[SliceRates, ...], list[str]]:
    """Return the rates of the values of further columns, and notes on values with too few clusters of negatives."""
    pairs, found, few = population.pairs, list[SliceRates](), 0
    unfit = list[str]()
    for column, values in pairs.slices.items():
        counts = Counter(value for value in values if value)
        if not 1 < len(counts) <= len(values) // 2:  # neither a single value nor a column of ids makes slices
            unfit.append(f"{column} ({len(counts):,} value{'s' * (len(counts) != 1)})")
            continue
        for value in sorted(counts):
            items = [i for i, other in enumerate(values) if other == value]
            mine = pairs.select(items)
            clusters = mine.independent(mine.distinct(NEGATIVE)) if mine.by_texts else mine.clusters_of(NEGATIVE)
            if clusters < MIN_SLICE_CLUSTERS:
                few += 1
                continue
            labelled = {POSITIVE, NEGATIVE} <= set(mine.labels.tolist())
            own = Population(mine, positives=request.positives if labelled else None, seed=population.seed)
            point = own.rates_at(scores[items], [at])[0]
            found.append(SliceRates(f"{column}={value}", clusters, len(mine.of(NEGATIVE)), point))
    found.sort(key=lambda one: -one.clusters)
    left = f"{few} slices have fewer than {MIN_SLICE_CLUSTERS} clusters of negatives and are left out"
    more = f"{len(found) - MOST_SLICES} further slices are left out: those with the most clusters are shown"
    none = f"columns without slices (a column needs at least two values with two pairs each): {', '.join(unfit)}"
    said = ((left, few), (more, len(found) > MOST_SLICES), (none, unfit))
    return tuple(found[:MOST_SLICES]), [text for text, is_so in said if is_so]


def _unanswered_questions(
    request: ThresholdRequest,
    pairs: Pairs,
    new: _ModelScores,
    old: _ModelScores | None,
    matches: Sequence[MatchedThreshold],
) -> Iterator[str]:
    labels = set(pairs.labels.tolist())
    if NEGATIVE not in labels:
        yield "no pair has label 0, so false accepts cannot be measured"
    if POSITIVE not in labels:
        yield "no pair has label 1, so recall cannot be measured"
    elif request.positives is None:
        yield "precision needs the share of pairs that are positive in production: --positives 0.05"
    yield from (f"same {RATE_NAMES[one.way]}: {one.refused}" for one in matches if one.refused)
    if new.probes is None:
        yield f"{new.subject.label} is a file of vectors without the probes, so its behaviour is unknown"
    elif old is not None and old.probes is None:
        yield (
            f"{old.subject.label} is a file of vectors without the probes: the behaviour shown is that of "
            f"{new.subject.label}"
        )


def _auc_figure(population: Population, scores: Floats) -> Figure | None:
    """Return the AUC of the scores, with its interval."""
    labelled = np.flatnonzero(population.pairs.labels != UNKNOWN)
    is_positive = population.pairs.labels[labelled] == POSITIVE
    if is_positive.all() or not is_positive.any():
        return None
    value, replicates = auc_with_replicates(scores[labelled], is_positive, population.draws.select(labelled))
    return Figure(value, *map(float, percentile_interval(replicates)))


def _highest_negatives(pairs: Pairs, scores: Floats, at: float, max_pairs: int) -> tuple[NegativePair, ...]:
    """Return the accepted negatives with the highest scores, one per cluster; without named clusters, no two share a
    text.
    """
    items = pairs.of(NEGATIVE)
    chosen: list[int] = []
    used: set[str] = set()
    for i in items[np.argsort(-scores[items], kind="stable")].tolist():
        if len(chosen) == max_pairs or scores[i] < at:
            break
        things = {pairs.first[i], pairs.second[i]} if pairs.by_texts else {pairs.clusters[i]}
        if used.isdisjoint(things):
            chosen.append(i)
            used |= things
    return tuple(NegativePair(pairs.first[i], pairs.second[i], float(scores[i])) for i in chosen)

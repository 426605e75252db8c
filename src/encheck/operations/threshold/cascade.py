"""A verifier behind a model: it scores the pairs that pass the model's threshold, and both have to accept.

Thresholds look too good on the pairs on which they were chosen. So the clusters are halved by the hashes of their
names: both thresholds are chosen on one half and judged on the other.

On the first half, several thresholds of the model are tried. For each of them, the verifier gets the lowest threshold
that keeps the budget by the rule of `statistics/false_accepts.py`. Among the pairs of thresholds whose recall (without
positives: hits) is within a point of the best, the pair with the model's strictest threshold is chosen, because the
last positives cost the most verifier calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.load import load
from encheck.errors import DataError
from encheck.operations.threshold.rates import NEGATIVE, Pairs, Population, ThresholdRates
from encheck.scoring.splits import assign_folds
from encheck.statistics.bootstrap import Figure, Resampler, percentile_interval, widen_share_interval
from encheck.statistics.false_accepts import (
    MIN_ACCEPTED,
    Outcome,
    highest_threshold_reached,
    lower_rate_bound_at_threshold,
    lowest_threshold,
    threshold_step,
    threshold_without_confidence,
    upper_rate_bound,
)
from encheck.types import keeps_meaning

Floats = NDArray[np.float64]
OTHER_RELATIONS = ("_mirror", "_control")  # further texts of the crossed groups
UNRELATED, UNRELATED_PAIRS = "unrelated", 500
KIND_NAMES = {
    "antonym": "antonyms", "number": "other numbers", "negation": "negations", "role_reversal": "reversed roles",
    "comparative": "turned comparisons", "binding": "swapped attributes", "temporal": "other order of events",
    "entity": "other names", "modality": "other modality", "quantifier": "other quantifiers",
    "hard_negative": "same words, other claim", "control": "another plausible word", "paraphrase": "paraphrases",
    "synonym": "synonyms", "reorder": "reordered sentences", "rewrite": "free rewrites",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProbePair:
    """Two texts of the probes. `kind` is the relation of the second text to the first."""

    kind: str
    first: str
    second: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The number of probes of one kind that a threshold accepts. It should accept them if the meaning is `kept`."""

    kind: str
    name: str
    kept: bool
    accepted: Figure
    n: int
    clusters: int


def probe_pairs(seed: int = 0) -> list[ProbePair]:
    """Return pairs of the fixed embedded probes, by kind, and random pairs without a shared content word."""
    data = load("probes", quick=True)
    found = dict.fromkeys(
        ProbePair(variant.relation, group.source, variant.text, group.cluster)
        for group in data.groups
        for variant in group.variants
        if not variant.relation.endswith((*OTHER_RELATIONS, "_kept"))
    )
    pairs = data.draw_random_pairs(seed=seed, count=UNRELATED_PAIRS)
    return [*found, *(ProbePair(UNRELATED, one.first, one.second, one.cluster) for one in pairs)]


def accepted_by_kind(
    pairs_of_probes: list[ProbePair], scores: Floats, threshold: float, *, seed: int = 0
) -> list[Behaviour]:
    """Return the accepted share of each kind: first the kinds that change the meaning, in descending order."""
    resampler = Resampler([one.cluster for one in pairs_of_probes], seed=seed)
    kinds = np.array([one.kind for one in pairs_of_probes])
    some = []
    for kind in dict.fromkeys(kinds.tolist()):
        items = np.flatnonzero(kinds == kind)
        mine, values = resampler.select(items), (scores[items] >= threshold).astype(float)
        totals = mine.replicate_totals(np.column_stack([values, np.ones(len(items))]))
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = percentile_interval(totals[:, 0] / totals[:, 1])
        share = float(values.mean())
        ends = widen_share_interval(share, float(low), float(high), n=len(items), clusters=mine.clusters)
        name = KIND_NAMES.get(kind, kind.replace("_", " "))
        some.append(Behaviour(kind, name, keeps_meaning(kind), Figure(share, *ends), len(items), mine.clusters))
    return sorted(some, key=lambda one: (one.kept, one.kind == UNRELATED, -one.accepted.value))


Codes = NDArray[np.intp]
RECALLS = np.arange(100, 49, -1) / 100  # recalls of the model alone to try
AS_GOOD = 0.01  # difference in recall that does not matter


@dataclass(frozen=True)
class Thresholds:
    """Two thresholds: a pair is accepted if the model's score reaches `first` and the verifier's score reaches
    `second`.

    `below` is lower than all thresholds of the verifier.
    """

    first: float
    second: float
    below: float

    def join_scores(self, model: Floats, verifier: Floats) -> Floats:
        """Return one score per pair to compare with `second`: the verifier's score if the model accepts the pair; shape
        [n].
        """
        return np.where(model >= self.first, verifier, self.below)


@dataclass(frozen=True)
class Cascade:
    """The results of a model with a verifier, on the half of the pairs that was not used to choose thresholds.

    `thresholds` were chosen on `chosen_on` negatives and judged on `judged_on` negatives. `calls` is the share of pairs
    that the verifier has to score. The rate of false accepts is `upper` or less with 95% confidence. `outcome` is
    "kept" if `upper` is within the budget and the cascade accepts 30 pairs, of pairs that are not all negatives, or
    half of the positives. It is "broken" if even the strictest threshold of the verifier that accepts so many is
    certainly above the budget. A "kept" budget `is_uneven` like a `ThresholdPromise`. `behaviours` show what gets
    through.
    """

    verifier: str
    thresholds: Thresholds
    outcome: Outcome
    is_uneven: bool
    does: ThresholdRates
    calls: Figure
    upper: float
    chosen_on: int
    judged_on: int
    behaviours: tuple[Behaviour, ...] = ()


def split_clusters(pairs: Pairs) -> tuple[Codes, Codes]:
    """Return the pairs on which thresholds are chosen, and the pairs on which they are judged.

    Raise DataError if there are no negatives.
    """
    fold = assign_folds(pairs.clusters, folds=2)
    chosen, judged = (np.flatnonzero(fold == k) for k in (0, 1))
    if any(not (pairs.labels[part] == NEGATIVE).any() for part in (chosen, judged)):
        raise DataError(
            f"{pairs.name}: --verify chooses thresholds on half of the clusters and judges them on the other half, but "
            "one half has no pair with label 0. Remedy: label pairs of more clusters"
        )
    return chosen, judged


def evaluate_cascade(
    pairs: Pairs,
    model: Floats,
    verify: Callable[[Codes], Floats],
    *,
    verifier: str,
    budget: float,
    positives: float | None = None,
    seed: int = 0,
) -> Cascade:
    """Choose both thresholds on one half of the pairs, and judge them on the other.

    Args:
        pairs: the pairs, of both labels.
        model: the model's scores; shape [n].
        verify: function from positions of pairs to the verifier's scores of these pairs.
        verifier: the verifier's name.
        budget: the share of negatives that may be accepted.
        positives: the share of pairs that are positive in production, if known.
        seed: seed of the bootstrap.

    Raises:
        DataError: a half of the clusters has no negatives, or is one cluster.
    """
    parts = split_clusters(pairs)
    chosen, judged = (
        Population(
            pairs.select(part.tolist()),
            positives=positives if ({0, 1} <= set(pairs.labels[part].tolist())) else None,
            seed=seed,
        )
        for part in parts
    )
    firsts = _candidate_thresholds(chosen, model[parts[0]], budget)
    asked = np.flatnonzero(model >= firsts[0])
    scores = np.full(len(model), np.nan)
    scores[asked] = verify(asked)
    step = threshold_step(scores[asked])
    thresholds = _choose_thresholds(chosen, model[parts[0]], scores[parts[0]], firsts, budget=budget, step=step)

    both = thresholds.join_scores(model[parts[1]], scores[parts[1]])
    (does,) = judged.rates_at(both, [thresholds.second])
    (passed,) = judged.rates_at(model[parts[1]], [thresholds.first])
    negatives = judged.negatives(both)
    upper = upper_rate_bound(int((negatives.scores >= thresholds.second).sum()), negatives)
    strictest = judged.strictest_threshold(both, step=step)
    is_of_use = strictest is not None and (
        does.accepted >= MIN_ACCEPTED or (does.recall is not None and does.recall.value >= 0.5)
    )
    outcome: Outcome = "undecided"
    if is_of_use and upper <= budget:
        outcome = "kept"
    elif (
        strictest is not None
        and strictest > thresholds.below
        and lower_rate_bound_at_threshold(negatives, strictest) > budget
    ):
        outcome = "broken"
    chosen_on, judged_on = (len(population.items("false_accepts")) for population in (chosen, judged))
    is_uneven = outcome == "kept" and negatives.is_uneven(thresholds.second, budget)
    return Cascade(verifier, thresholds, outcome, is_uneven, does, passed.hits, upper, chosen_on, judged_on)


def _candidate_thresholds(population: Population, model: Floats, budget: float) -> list[float]:
    """Return thresholds of the model, ascending: those for `RECALLS` (without positives: hits), and that for the
    budget.
    """
    items, step = (
        population.items("recall" if population.has_items_for_rate("recall") else "hits"),
        threshold_step(model),
    )
    ends = {
        highest_threshold_reached(float(one), step) for one in np.quantile(model[items], 1 - RECALLS, method="lower")
    }
    alone = lowest_threshold(population.negatives(model), budget=budget, step=step)
    return sorted(ends | ({alone} if alone is not None and alone <= max(ends) else set()))


def _choose_thresholds(
    population: Population, model: Floats, verifier: Floats, firsts: list[float], *, budget: float, step: float
) -> Thresholds:
    items = population.items("recall" if population.has_items_for_rate("recall") else "hits")
    options: list[tuple[float, Thresholds]] = []
    lowest, negatives = float(np.nanmin(verifier)), population.negatives(verifier)
    below = lowest - max(float(np.nanmax(verifier)) - lowest, 1.0)
    for first in firsts:
        both = np.where(model >= first, verifier, below)
        negatives = replace(negatives, scores=both[population.items("false_accepts")])
        second = lowest_threshold(negatives, budget=budget, step=step)
        if second is None:  # too few to show the budget: accept no negative of this half
            second = threshold_without_confidence(negatives, budget=0, step=step)
        second = max(
            second, highest_threshold_reached(lowest, step)
        )  # the budget may allow all pairs that the verifier sees
        options.append((float((both[items] >= second).mean()), Thresholds(first, second, below)))
    best = max(recall for recall, _ in options)
    return next(one for recall, one in reversed(options) if recall >= best - AS_GOOD)

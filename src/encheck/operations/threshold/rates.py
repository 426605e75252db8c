"""The pairs on which a threshold is chosen, the rates of thresholds, and the threshold that matches an old model's.

All rates share one bootstrap. In each replicate both models have the same pairs with the same weights, and the new
threshold is chosen again. So the intervals of a matched threshold, and of its rates, include the noise of the choice.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import assign_clusters, hash_shared_sentences, hash_word_bag, sample_clusters
from encheck.datasets.load import guess_data_set, is_plain_path, known_data_sets, load
from encheck.datasets.pairs import PAIR_FORMATS, read_production_pairs
from encheck.datasets.reader import BadRows, PairRow
from encheck.errors import DataError, UsageError
from encheck.scoring.splits import TEST
from encheck.statistics.bootstrap import MANY_ITEMS, Figure, Resampler, percentile_interval, widen_share_interval
from encheck.statistics.false_accepts import (
    MIN_ACCEPTED,
    Negatives,
    decimals_of_threshold,
    strictest_useful_threshold,
)
from encheck.statistics.sharing import LEAST_FREEDOM
from encheck.surface import SURFACE, WEIGHTED, Frequencies
from encheck.system.files import expand_home
from encheck.types import content_hash

log = logging.getLogger("encheck")
Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
NEGATIVE, POSITIVE, UNKNOWN = 0, 1, -1
OWN_PAIRS = "pairs:"
UNLABELLED_CLUSTER = "without a label"  # suffix of the names of clusters of unlabelled pairs
RIVALS = {"jaccard": "word overlap", "tf-idf": "tf-idf"}


@dataclass(frozen=True)
class Pairs:
    """Pairs in order: `first` and `second` [n], `labels` [n] (1, 0, or -1 without a label), `clusters` [n].

    `slices` has the values of further columns, "" if a pair has none. `hard` says how the negatives were made, if they
    were made to be hard. `skipped` are rows that were left out. `by_texts` is true if the data name no clusters; then
    pairs that share texts form a cluster.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: NDArray[np.int8]
    clusters: tuple[str, ...]
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hard: str = ""
    skipped: tuple[str, ...] = ()
    by_texts: bool = False

    @cached_property
    def codes(self) -> Codes:
        """The number of each pair's cluster, from 0; shape [n]."""
        found: Codes = np.unique(np.array(self.clusters, dtype=str), return_inverse=True)[1].astype(np.intp)
        return found

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Both texts of each pair."""
        return list(zip(self.first, self.second, strict=True))

    def of(self, label: int) -> Codes:
        """Return the positions of the pairs with this label; shape [m]."""
        return np.flatnonzero(self.labels == label)

    def clusters_of(self, label: int) -> int:
        """Return the number of clusters that have a pair with this label."""
        return len(np.unique(self.codes[self.of(label)]))

    def independent(self, items: Codes) -> int:
        """Return how many independent pairs these distinct pairs are worth (Kish 1965)."""
        return len(items) ** 2 // max(int(self.depends_on(items).sum()), 1)

    def distinct(self, label: int) -> Codes:
        """Return the positions of the distinct pairs with this label; shape [m].

        A repeated pair counts in the first of its clusters by name.
        """
        items, texts = self.of(label), self.texts
        ordered = sorted(items.tolist(), key=self.codes.__getitem__)
        first: dict[frozenset[str], int] = {}
        for i in ordered:
            first.setdefault(frozenset(texts[i]), i)
        return np.array(sorted(first.values()), np.intp)

    def depends_on(self, items: Codes) -> Codes:
        """Return, for each of these distinct pairs, on how many of them it depends, itself included; shape [m].

        Pairs depend on each other if they share a text, or the same words in another order. With named clusters, they
        depend on each other if they share a cluster.
        """
        if not self.by_texts:
            codes = self.codes[items]
            return np.asarray(np.bincount(codes)[codes], np.intp)
        ends = np.array(
            [[hash_word_bag(self.first[i]), hash_word_bag(self.second[i])] for i in items.tolist()], np.int64
        )
        texts = np.sort(np.unique(ends, return_inverse=True)[1].reshape(-1, 2), axis=1)
        _, both, repeats = np.unique(texts, axis=0, return_inverse=True, return_counts=True)
        is_one = texts[:, 0] == texts[:, 1]
        pairs_of = np.bincount(np.concatenate([texts[:, 0], texts[~is_one, 1]]))
        found: Codes = pairs_of[texts[:, 0]] + np.where(is_one, 0, pairs_of[texts[:, 1]] - repeats[both.ravel()])
        return found

    def select(self, kept: Sequence[int]) -> Pairs:
        """Return only the pairs at these positions."""
        first, second, clusters = (tuple(c[i] for i in kept) for c in (self.first, self.second, self.clusters))
        slices = {name: tuple(values[i] for i in kept) for name, values in self.slices.items()}
        return replace(
            self, first=first, second=second, labels=self.labels[list(kept)], clusters=clusters, slices=slices
        )


def load_pairs(spec: str, *, sample: int | None = None, seed: int = 0, skip_bad_rows: bool = False) -> Pairs:
    """Return the pairs of `--data`. In `pairs:FILE`, labels may be missing, and further columns become slices.

    For other data, return the part that is measured. Raise DataError if these have no pairs of sentences.
    """
    own = _pairs_path(spec)
    found = _load_own_pairs(spec, own, BadRows(skip=skip_bad_rows)) if own else _load_data_set_pairs(spec, sample, seed)
    if not found.first:
        left_out = f" ({len(found.skipped)} rows were left out, the first: {found.skipped[0]})" if found.skipped else ""
        raise DataError(f"--data={spec} has no pairs of two texts{left_out}. Remedy: use pairs:FILE, mrpc, qqp, ...")
    if sample is None or len(set(found.clusters)) <= sample:
        return found
    chosen = sample_clusters(found.clusters, sample, seed=seed)
    return found.select([i for i, cluster in enumerate(found.clusters) if cluster in chosen])


def _pairs_path(spec: str) -> str:
    """Return the path of pairs in a specification, with or without its kind; "" for other data."""
    if spec.startswith(OWN_PAIRS):
        return spec.removeprefix(OWN_PAIRS)
    path = expand_home(spec)
    is_folder = is_plain_path(spec) and path.is_dir() and guess_data_set(path, has_log=False) == "pairs"
    if is_folder or (is_plain_path(spec) and path.suffix.lower() in PAIR_FORMATS):
        log.warning("--data=%s was read as --data=%s%s", spec, OWN_PAIRS, spec)
        return spec
    return ""


def _load_own_pairs(spec: str, name: str, bad: BadRows) -> Pairs:
    path = expand_home(name)
    if not path.exists():
        raise DataError(f"--data={spec}: {path} does not exist")
    made = list(read_production_pairs(Path(path), bad))
    rows = [row for row, _ in made]
    labels = [UNKNOWN if row.label is None else row.label for row in rows]
    columns = Counter(name for _, values in made for name in values)
    slices = {name: tuple(values.get(name, "") for _, values in made) for name in sorted(columns)}
    # The cluster of each row. Clusters by shared texts keep labelled and unlabelled rows apart.
    found = [""] * len(rows)
    for is_labelled in (True, False):
        places = [i for i, row in enumerate(rows) if (row.label is not None) is is_labelled]
        for i, cluster in zip(places, assign_clusters([rows[i] for i in places]), strict=True):
            found[i] = cluster if is_labelled or rows[i].cluster else f"{cluster} {UNLABELLED_CLUSTER}"
    return Pairs(
        path.stem, tuple(row.first for row in rows), tuple(row.second for row in rows), np.array(labels, np.int8),
        tuple(found), slices, skipped=tuple(bad.skipped), by_texts=all(row.cluster is None for row in rows),
    )  # fmt: skip


def _load_data_set_pairs(spec: str, sample: int | None, seed: int) -> Pairs:
    data = load(spec, sample=sample, seed=seed)
    module = known_data_sets().get(spec.partition(":")[0].partition("@")[0])
    has_test = any(pair.split in TEST for pair in data.pairs)
    kept = [pair for pair in data.pairs if not has_test or pair.split in TEST]
    labels = np.array([UNKNOWN if pair.label is None else pair.label for pair in kept], np.int8)
    named_by_texts = {content_hash(text) for pair in data.pairs for text in (pair.first, pair.second)}
    return Pairs(
        data.name, tuple(p.first for p in kept), tuple(p.second for p in kept), labels, tuple(p.cluster for p in kept),
        hard=getattr(module, "NEGATIVES", ""), skipped=data.skipped,
        by_texts=all(p.cluster in named_by_texts for p in kept),
    )  # fmt: skip


def surface_pair_scores(pairs: Pairs) -> dict[str, Floats]:
    """Return the scores of word overlap, and of tf-idf fitted on these texts, by the scorer's name."""
    counted = Frequencies.of((*pairs.first, *pairs.second))
    both = (pairs.first, pairs.second)
    return {name: WEIGHTED[name](*both, counted) if name in WEIGHTED else SURFACE[name](*both) for name in RIVALS}


RateName = Literal["hits", "false_accepts", "recall"]
RATES: tuple[RateName, ...] = ("hits", "false_accepts", "recall")


@dataclass(frozen=True, slots=True)
class ThresholdRates:
    """The rates of one threshold; a rate is None if the data lack its pairs.

    `accepted` counts the accepted pairs among those on which hits are counted.
    """

    threshold: float
    accepted: int
    hits: Figure
    false_accepts: Figure | None
    recall: Figure | None
    precision: Figure | None


@dataclass(frozen=True, slots=True)
class WeightedItems:
    """Items that together have the weight `share` in a rate; shape [m]."""

    items: Codes
    share: float = 1.0


def _weighted_items(items: Codes, share: float = 1.0) -> tuple[WeightedItems, ...]:
    return (WeightedItems(items, share),) if len(items) else ()


class Population:
    """The pairs as a sample of production.

    False accepts and recall are the accepted shares of the distinct pairs with label 0 and label 1. Hits are the
    accepted share of the unlabelled pairs, because these were not selected, or of all pairs if there are no unlabelled
    ones. With `positives`, the share of pairs that are positive in production, hits are recall and false accepts
    weighted by it. `parts` has the items on which each rate is counted, none if the data lack the label.
    `independent` has the number of independent items that they are worth (Kish 1965).
    """

    def __init__(self, pairs: Pairs, *, positives: float | None = None, seed: int = 0) -> None:
        self.pairs, self.positives, self.seed = pairs, positives, seed
        labelled = {label: pairs.distinct(label) for label in (NEGATIVE, POSITIVE)}
        if positives is not None and not all(map(len, labelled.values())):
            raise UsageError("--positives needs pairs with label 1 and with label 0, but the data lack one of them")
        unknown = pairs.of(UNKNOWN)
        if positives is not None and not len(unknown):
            hits = (
                *_weighted_items(labelled[POSITIVE], positives),
                *_weighted_items(labelled[NEGATIVE], 1 - positives),
            )
        else:
            hits = _weighted_items(unknown if len(unknown) else np.arange(len(pairs.first)))
        self.parts = {
            "false_accepts": _weighted_items(labelled[NEGATIVE]),
            "recall": _weighted_items(labelled[POSITIVE]),
            "hits": hits,
        }
        counted = {rate: self.items(rate) for rate in RATES if self.has_items_for_rate(rate)}
        self.independent = {rate: pairs.independent(some) for rate, some in counted.items()}
        if not pairs.codes.any() and min(self.independent.values()) < LEAST_FREEDOM:
            raise DataError(
                f"{pairs.name}: all {len(pairs.first):,} pairs belong to one cluster, so no interval can be computed. "
                "Remedy: add pairs on other topics, or a `cluster` column that separates these"
            )

    @cached_property
    def draws(self) -> Resampler:
        """The bootstrap replicates of the pairs.

        Named clusters are drawn. Otherwise pairs vary together if they share a text: chains of such pairs may connect
        nearly all of them, so that draws of whole chains say nothing.
        """
        both = zip(self.pairs.first, self.pairs.second, strict=True)
        rows = [PairRow(first, second, None) for first, second in both] if self.pairs.by_texts else []
        return Resampler(self.pairs.clusters, seed=self.seed, shares=hash_shared_sentences(rows))

    def items(self, rate: RateName) -> Codes:
        """Return the items on which a rate is counted, as one array."""
        return np.concatenate([part.items for part in self.parts[rate]])

    def has_items_for_rate(self, rate: RateName) -> bool:
        """Return whether the data have items for this rate."""
        return bool(self.parts[rate])

    def negatives(self, scores: Floats) -> Negatives:
        """Return the negatives for a promise. Raise DataError if no pair has label 0."""
        if not self.has_items_for_rate("false_accepts"):
            raise DataError(
                f"{self.pairs.name}: no pair has label 0. A false accept is a pair with label 0 that is accepted. "
                "Remedy: label some production pairs that differ in meaning"
            )
        items = self.items("false_accepts")
        among = self.pairs.depends_on
        return Negatives(scores[items], among(items), lambda some: among(items[some]))

    def strictest_threshold(self, scores: Floats, *, step: float) -> float | None:
        """Return the highest useful threshold (`strictest_useful_threshold`) for the pairs that hits are counted on.

        Return None if these are all negatives.
        """
        if (self.pairs.labels == NEGATIVE).all():
            return None
        positives = self.items("recall") if self.has_items_for_rate("recall") else np.zeros(0, np.intp)
        return strictest_useful_threshold(scores[self.items("hits")], scores[positives], step=step)

    def rates_at(self, scores: Floats, thresholds: Sequence[float]) -> list[ThresholdRates]:
        """Return the rates of each of these thresholds."""
        cuts = np.asarray(thresholds, float)
        both = {base: self._shares(base, scores, cuts) for base in RATES if self.has_items_for_rate(base)}
        accepted = (scores[self.items("hits")][:, None] >= cuts).sum(axis=0)
        return self.rates_of_shares(cuts, accepted, both)

    def rates_of_shares(
        self, cuts: Floats, accepted: Codes, shares: Mapping[RateName, tuple[Floats, Floats]]
    ) -> list[ThresholdRates]:
        """Return the rates of each of k thresholds.

        `shares` has the accepted share by rate: in the sample, shape [k], and by replicate, [replicates, k].
        """
        rates = self._rate_figures(shares)
        precisions = self._precision_figures(shares, rates) if self.positives is not None else [None] * len(cuts)
        none: list[Figure | None] = [None] * len(cuts)
        return [
            ThresholdRates(float(cut), int(count), hits, false, recall, exact)
            for cut, count, hits, false, recall, exact in zip(
                cuts, accepted, rates["hits"], rates.get("false_accepts", none), rates.get("recall", none), precisions,
                strict=True,
            )
        ]  # fmt: skip

    def _shares(self, rate: RateName, scores: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Return the share that each threshold accepts in the sample, shape [k], and by replicate, [replicates, k]."""
        value, replicates = np.zeros(len(cuts)), np.zeros((len(self.draws.weights), len(cuts)))
        for part in self.parts[rate]:
            codes = self.draws.columns[part.items]
            table = np.zeros((self.draws.weights.shape[1], len(cuts) + 1))
            columns = [(scores[part.items] >= cut).astype(float) for cut in cuts]
            for k, column in enumerate([*columns, np.ones(len(codes))]):
                table[:, k] = np.bincount(codes, column, minlength=len(table))
            drawn = (self.draws.weights @ table.astype(np.float32)).astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                value += part.share * table[:, :-1].sum(axis=0) / table[:, -1].sum()
                replicates += part.share * np.clip(drawn[:, :-1] / drawn[:, -1:], 0, 1)
        return value, replicates

    def _rate_figures(self, shares: Mapping[RateName, tuple[Floats, Floats]]) -> dict[RateName, list[Figure]]:
        found = {}
        for rate, (values, replicates) in shares.items():
            items, clusters = self.items(rate), self.independent[rate]
            # Percentiles are too narrow if a few clusters or texts have most items, or if whole chains of pairs that
            # share texts are drawn.
            chained = self.pairs.by_texts and (self.draws.is_grouped or len(self.pairs.first) > MANY_ITEMS)
            narrow = chained or (not self.draws.is_grouped and self.draws.select(items).sharing.why_no_interval)
            ends = zip(values.tolist(), *(end.tolist() for end in percentile_interval(replicates)), strict=True)
            found[rate] = [
                Figure(value, *widen_share_interval(value, low, high, n=0 if narrow else len(items), clusters=clusters))
                for value, low, high in ends
            ]
        if len(self.parts["hits"]) == 2:  # no narrower than recall and false accepts together
            weights = [part.share for part in self.parts["hits"]]
            for k, hits in enumerate(found["hits"]):
                parts = list(zip(weights, (found["recall"][k], found["false_accepts"][k]), strict=True))
                below = math.hypot(*(share * (one.value - one.low) for share, one in parts))
                above = math.hypot(*(share * (one.high - one.value) for share, one in parts))
                found["hits"][k] = Figure(
                    hits.value, min(hits.low, hits.value - below), max(hits.high, hits.value + above)
                )
        return found

    def _precision_figures(
        self, both: Mapping[RateName, tuple[Floats, Floats]], rates: Mapping[RateName, list[Figure]]
    ) -> list[Figure | None]:
        """Return precision by Bayes' rule. With few accepted negatives, its interval is as wide as that of false
        accepts.
        """
        assert self.positives is not None
        value, drawn = (
            precision(both["recall"][i], both["false_accepts"][i], self.positives) for i in (0, 1)
        )  # fmt: skip
        low, high = percentile_interval(drawn)
        found: list[Figure | None] = []
        for k, one in enumerate(value.tolist()):
            ends = [
                precision(np.array(rates["recall"][k].value), np.array(end), self.positives).item()
                for end in (rates["false_accepts"][k].high, rates["false_accepts"][k].low)
            ]
            is_there = np.isfinite(one)
            found.append(
                Figure(one, float(np.fmin(low[k], ends[0])), float(np.fmax(high[k], ends[1]))) if is_there else None
            )
        return found


def precision(recall: Floats, false_accepts: Floats, positives: float) -> Floats:
    """Return the share of accepted pairs that are positive, by Bayes' rule.

    `positives` is the share of positives among all pairs.

    >>> precision(np.array([0.8]), np.array([0.01]), 0.05).round(3).tolist()
    [0.808]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = positives * recall / (positives * recall + (1 - positives) * false_accepts)
    return found


REPLICATES = 2_000
WEIGHTS_AT_ONCE = 2_000_000
WEIGHT_ROUNDING = 1e-9  # rounding error of sums of weights
RATE_DIGITS = 12  # decimals of rates, which are such sums
RATE_NAMES = {"hits": "hits", "false_accepts": "false accepts", "recall": "recall"}
COUNTED_NAMES = {"hits": "pairs", "false_accepts": "negatives", "recall": "positives"}


@dataclass(frozen=True, slots=True)
class RateChanges:
    """The change of each rate, new minus old; None for the matched rate and for rates whose pairs the data lack."""

    hits: Figure | None = None
    false_accepts: Figure | None = None
    recall: Figure | None = None


@dataclass(frozen=True, slots=True)
class MatchedThreshold:
    """The new model's threshold with the same rate (`way`), or the nearest one that equal scores allow.

    `accepted` is the number of counted pairs the old model accepts. `point` has the rates of the threshold; their
    intervals include the noise of the choice. `refused` is the reason why there is no threshold, or "".
    """

    way: RateName
    accepted: int
    threshold: Figure | None = None
    point: ThresholdRates | None = None
    change: RateChanges = RateChanges()
    refused: str = ""


def match_threshold(
    population: Population, old: Floats, old_threshold: float, new: Floats, way: RateName, *, least: int = MIN_ACCEPTED
) -> MatchedThreshold:
    """Return the threshold of `new` at which the rate `way` equals that of `old` at its threshold, or is nearest to it.

    The threshold lies halfway between two scores, because exactly at a score, pairs with nearly that score would be
    lost or won by chance. It and its interval are rounded as far as its accepted pairs allow.
    The match is refused if the old threshold accepts fewer than `least` of the counted pairs, or if the data lack the
    label.
    """
    if not population.has_items_for_rate(way):
        return MatchedThreshold(way, 0, refused=f"no pair is labelled as {COUNTED_NAMES[way][:-1]}")
    accepted = int((old[population.items(way)] >= old_threshold).sum())
    if accepted < least:
        few = f"the old threshold accepts {accepted} {COUNTED_NAMES[way]}, but {least} are needed to choose a new one"
        return MatchedThreshold(way, accepted, refused=few)
    both = _PairedScores(population, old, old_threshold, new, way)
    values = both.match_in_replicates(np.ones((1, population.draws.weights.shape[1]), np.float32))
    rows = max(1, WEIGHTS_AT_ONCE // len(population.pairs.first))
    slices = [population.draws.weights[:REPLICATES][k : k + rows] for k in range(0, REPLICATES, rows)]
    drawn = np.concatenate([both.match_in_replicates(some) for some in slices if len(some)])
    figures = [Figure(*map(float, ends)) for ends in zip(values[0], *percentile_interval(drawn), strict=True)]
    decimals = decimals_of_threshold(figures[0].value, new)
    threshold = Figure(*(round(end, decimals) for end in (figures[0].value, figures[0].low, figures[0].high)))
    shares = {base: (values[0, k : k + 1], drawn[:, k : k + 1]) for k, base in enumerate(both.bases, 1)}
    changes = {base: figures[k] for k, base in enumerate(both.bases, 1 + len(both.bases)) if base != way}
    hits = (new[population.items("hits")] >= threshold.value).sum()
    (point,) = population.rates_of_shares(np.array([threshold.value]), np.array([hits]), shares)
    return MatchedThreshold(way, accepted, threshold, point, RateChanges(**changes))


@dataclass(frozen=True)
class _PairedScores:
    """Two models on the same pairs."""

    population: Population
    old: Floats
    old_threshold: float
    new: Floats
    way: RateName

    @property
    def bases(self) -> list[RateName]:
        """The rates that the data have items for."""
        return [base for base in RATES if self.population.has_items_for_rate(base)]

    def match_in_replicates(self, weights: NDArray[np.float32]) -> Floats:
        """Return the new threshold, its rates and their changes (both as `bases`) in each replicate; shape [r, k]."""
        # Halfway from the last accepted score to the first one that is not; shape [r].
        items, drawn = self.population.items(self.way), self._item_weights(self.way, weights)
        target = drawn @ (self.old[items] >= self.old_threshold)
        order = np.argsort(-self.new[items], kind="stable")
        scores, total = self.new[items][order], np.cumsum(drawn[:, order], axis=1)
        ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # the last of equal scores
        scores, total = scores[ends], total[:, ends]
        last = np.abs(total - target[:, None]).round(RATE_DIGITS).argmin(axis=1)
        after = total > total[np.arange(len(total)), last][:, None] + WEIGHT_ROUNDING
        after &= np.arange(len(scores)) > last[:, None]  # weights may be negative
        following = np.where(after.any(axis=1), after.argmax(axis=1), last)
        found: Floats = np.where(np.isfinite(target), (scores[last] + scores[following]) / 2, np.nan)
        thresholds = found
        shares = {base: self._shares(base, weights, thresholds) for base in self.bases}
        rates = [*(new for new, _ in shares.values()), *(new - old for new, old in shares.values())]
        return np.column_stack([thresholds, *np.round(rates, RATE_DIGITS)])

    def _shares(self, rate: RateName, weights: NDArray[np.float32], thresholds: Floats) -> tuple[Floats, Floats]:
        """Return the shares that the new model accepts at each replicate's threshold; shape [r].

        Also return the shares that the old model accepts at its own threshold; shape [r].
        """
        items, drawn = self.population.items(rate), self._item_weights(rate, weights)
        order = np.argsort(-self.new[items], kind="stable")
        counts = np.searchsorted(-self.new[items][order], -thresholds, side="right")
        total = np.concatenate([np.zeros((len(drawn), 1)), np.cumsum(drawn[:, order], axis=1)], axis=1)
        shares = total[np.arange(len(drawn)), counts], drawn @ (self.old >= self.old_threshold)[items]
        return np.clip(shares[0], 0, 1), np.clip(shares[1], 0, 1)

    def _item_weights(self, rate: RateName, weights: NDArray[np.float32]) -> Floats:
        """Return the weight of each item in each replicate, summing to 1 (NaN if none is drawn); shape [r, m]."""
        parts = self.population.parts[rate]
        return np.concatenate([_item_weights(self.population.draws.columns, part, weights) for part in parts], axis=1)


def _item_weights(columns: NDArray[np.signedinteger], part: WeightedItems, weights: NDArray[np.float32]) -> Floats:
    drawn = weights[:, columns[part.items]].astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = drawn * (part.share / drawn.sum(axis=1, keepdims=True))
    return found

"""Measure whether two sets of text look alike: overlap within pairs, repetition, vocabulary and length, at equal sizes.

BLEU follows Papineni et al. 2002: corpus-wide and without smoothing. Distinct-N follows Li et al. 2016. Self-BLEU
follows Zhu et al. 2018, with their smoothing (method 1 of Chen and Cherry 2014). The Zipf coefficient follows Holtzman
et al. 2020, over the 5,000 most frequent tokens. Tokens are lower-cased runs of word characters or of punctuation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.dataset import Dataset
from encheck.errors import DataError
from encheck.reporting.text import table
from encheck.system.imports import import_nltk
from encheck.types import content_hash

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Tokens = tuple[str, ...]
ORDERS, DISTINCT_ORDERS = 4, 3
ZIPF_TYPES = 5_000
SMOOTHED = 0.1  # of a match, if a text shares no n-gram of an order with the others
FOLDS = 40  # of the jackknife
FEWEST_CLUSTERS = 20
LEVEL = 0.05
DEFAULT_TEXTS = 2_000
IN_PERCENT = ("BLEU", "Jaccard", "Distinct", "Self-BLEU")


@dataclass(frozen=True, slots=True)
class TextMeasure:
    """A figure of both sets. `low` and `high` are the 95% interval of the difference, first minus second.

    `differs` says whether the difference is certain at 5% for all measures together (Bonferroni).
    """

    name: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    differs: bool


@dataclass(frozen=True, slots=True)
class TextShift:
    """A comparison of two sets of text: the numbers of texts, tokens and pairs that were measured per set, and the
    measures.
    """

    first: str
    second: str
    texts: int
    tokens: int
    pairs: int
    measures: tuple[TextMeasure, ...]


class SampledText(NamedTuple):
    """A text or a pair of texts, with its cluster."""

    texts: tuple[str, ...]
    cluster: str


class JackknifeFigures(NamedTuple):
    """Measures by name, computed from all texts, shape [m], and with each fold left out, shape [folds, m]."""

    names: tuple[str, ...]
    whole: Floats
    without: Floats


def compare_texts(first: Dataset, second: Dataset, *, texts: int = DEFAULT_TEXTS, seed: int = 0) -> TextShift:
    """Compare equal numbers of texts and pairs from two sets, at most `texts` from each.

    The texts of a pair are similar, and so are the texts of a cluster. To reduce the larger set to the size of the
    smaller one, whole clusters are sampled. If only one set has pairs, one text of each pair is measured. Distinct-N
    and the Zipf coefficient fall with the number of tokens, so they use equal numbers of tokens. Measures within pairs
    need pairs in both sets. Standard errors come from a delete-a-group jackknife over clusters and treat the two sets
    as independent.

    Raises:
        DataError: a set, or the sample from it, has no texts or fewer than 20 clusters.
    """
    both = (first, second)
    is_one_side = any(not data.pairs for data in both)
    sides = _equal_samples(
        [one_text_per_pair(data, seed) if is_one_side else distinct_texts(data) for data in both], texts, seed
    )
    for data, side in zip(both, sides, strict=True):
        if (clusters := _count_clusters(side)) < FEWEST_CLUSTERS:
            raise DataError(
                f"the {len(side):,} texts drawn from {data.name} are in {clusters} clusters, but a comparison "
                f"of texts needs {FEWEST_CLUSTERS}. Remedy: more text of the other set, or a larger --texts"
            )
    split = [[tokenize(one.texts[0]) for one in side] for side in sides]
    tokens = min(sum(map(len, some)) for some in split)
    of_texts = [[_text_figures(Corpus(some, _assign_folds(side, seed)), tokens)
                 for some, side in zip(split, sides, strict=True)]]  # fmt: skip
    of_pairs = [{(pair.first, pair.second): pair.cluster for pair in data.pairs} for data in both]
    samples = [[SampledText(two, cluster) for two, cluster in found.items()] for found in of_pairs]
    twos = _equal_samples(samples, texts, seed)
    number = len(twos[0]) if min(map(_count_clusters, twos)) >= FEWEST_CLUSTERS else 0
    if number:
        of_texts.insert(0, [_pair_figures(side, _assign_folds(side, seed)) for side in twos])
    measured = []
    for left, right in of_texts:
        errors = np.hypot(_jackknife_error(left.without), _jackknife_error(right.without))
        freedom = min(len(left.without), len(right.without)) - 1
        measured += [(*row, freedom) for row in zip(left.names, left.whole, right.whole, errors, strict=True)]
    rows = tuple(_make_text_measure(*row, count=len(measured)) for row in measured)
    return TextShift(first.name, second.name, len(sides[0]), tokens, number, rows)


def distinct_texts(data: Dataset) -> list[SampledText]:
    """Return the distinct texts of a data set, each with the first of its clusters. Raise DataError if there are too
    few.
    """
    of_pairs = ((text, pair.cluster) for pair in data.pairs for text in (pair.first, pair.second))
    return _distinct_sample(data, chain(of_pairs, ((group.source, group.cluster) for group in data.groups)))


def one_text_per_pair(data: Dataset, seed: int) -> list[SampledText]:
    """Return one text of each pair, chosen by hash, with its cluster. For data without pairs, return all texts."""
    if not data.pairs:
        return distinct_texts(data)
    chosen = (min((pair.first, pair.second), key=lambda text: content_hash(str(seed), text)) for pair in data.pairs)
    return _distinct_sample(data, zip(chosen, (pair.cluster for pair in data.pairs), strict=True))


def _distinct_sample(data: Dataset, texts: Iterable[tuple[str, str]]) -> list[SampledText]:
    """Return the distinct texts of (text, cluster) pairs. Raise DataError if there are too few."""
    found: dict[str, str] = {}
    for text, cluster in texts:
        found.setdefault(text, cluster)
    drawn = [SampledText((text,), cluster) for text, cluster in found.items()]
    if (clusters := _count_clusters(drawn)) < FEWEST_CLUSTERS:
        raise DataError(
            f"{data.name} holds {len(found):,} texts in {clusters} clusters, but a comparison of texts needs "
            f"{FEWEST_CLUSTERS} clusters. Remedy: name more text, as pairs:FILE or texts:FILE"
        )
    return drawn


def tokenize(text: str) -> Tokens:
    """Return the lower-cased tokens of a text, with separate punctuation.

    >>> tokenize("It's 5 p.m.")
    ('it', "'", 's', '5', 'p', '.', 'm', '.')
    """
    import_nltk()
    from nltk.tokenize import wordpunct_tokenize

    return tuple(wordpunct_tokenize(text.lower()))


def _count_clusters(drawn: Sequence[SampledText]) -> int:
    return len({one.cluster for one in drawn})


def _equal_samples(sides: Sequence[list[SampledText]], max_texts: int, seed: int) -> list[list[SampledText]]:
    """Return equal numbers of texts from both sets, at most `max_texts` from each.

    First cut the larger set to whole clusters (only the last may be incomplete), so that both sets are sampled equally
    densely. A random part of a cluster would have fewer similar texts than the whole cluster.
    """
    size = min(map(len, sides))
    order = [sorted(side, key=lambda one: (content_hash(str(seed), one.cluster), one.texts)) for side in sides]
    # Chosen by hash with the seed, so independent of their order in the file.
    return [sorted(side[:size], key=lambda one: content_hash(str(seed), *one.texts))[:max_texts] for side in order]


def _assign_folds(drawn: Sequence[SampledText], seed: int) -> Ints:
    """Return the fold of each text. A cluster stays in one fold, and folds get clusters in turn, in the order of their
    hash.
    """
    clusters = sorted({one.cluster for one in drawn}, key=lambda name: content_hash(str(seed), name))
    place = {name: i % min(FOLDS, len(clusters)) for i, name in enumerate(clusters)}
    return np.array([place[one.cluster] for one in drawn])


def _text_figures(corpus: Corpus, max_tokens: int) -> JackknifeFigures:
    # The first texts that together have at most this many tokens, but at least one text.
    size = max(1, int(np.searchsorted(np.cumsum([len(one) for one in corpus.tokens]), max_tokens, side="right")))
    part = Corpus(corpus.tokens[:size], corpus.folds[:size])
    kinds = (
        (("tokens per text",), corpus, mean_length),
        (tuple(f"Distinct-{n}" for n in range(1, DISTINCT_ORDERS + 1)), part, distinct_ngrams),
        (("Zipf",), part, zipf_exponent),
        (("Self-BLEU-4",), corpus, self_bleu),
    )
    names = tuple(chain.from_iterable(names for names, *_ in kinds))
    whole = np.concatenate([measure(of, None) for _, of, measure in kinds])
    folds = range(corpus.folds.max() + 1)
    without = np.stack([np.concatenate([measure(of, fold) for _, of, measure in kinds]) for fold in folds])
    return _insert_mean(JackknifeFigures(names, whole, without), "Distinct-")


def _insert_mean(figures: JackknifeFigures, start: str) -> JackknifeFigures:
    """Insert the mean of the measures whose names begin with `start` after these measures."""
    at = [i for i, name in enumerate(figures.names) if name.startswith(start)]
    end = at[-1] + 1
    names = (*figures.names[:end], f"{start}N, mean", *figures.names[end:])
    whole = np.insert(figures.whole, end, figures.whole[at].mean())
    return JackknifeFigures(names, whole, np.insert(figures.without, end, figures.without[:, at].mean(axis=1), axis=1))


@dataclass(frozen=True)
class Corpus:
    """Tokenised texts, and the fold of each text, shape [n]."""

    tokens: list[Tokens]
    folds: Ints

    @cached_property
    def grams(self) -> Mapping[int, Grams]:
        """The n-grams for each n from 1 to `ORDERS`."""
        return {n: Grams.of(self.tokens, n) for n in range(1, ORDERS + 1)}

    @cached_property
    def lengths(self) -> Ints:
        """The number of tokens of each text, shape [n]."""
        return np.array([len(one) for one in self.tokens])

    def texts_outside_fold(self, fold: int | None) -> NDArray[np.bool_]:
        """Return a mask of the texts outside a fold, shape [n]."""
        return np.ones(len(self.folds), bool) if fold is None else self.folds != fold


@dataclass(frozen=True)
class Grams:
    """The n-grams for one n, with an entry for each distinct n-gram of each text.

    The arrays have shape [entries]: `ids` of the n-grams, the `texts` that contain them, and their `counts` in these
    texts. Entries are sorted by n-gram, then by falling count.
    """

    ids: Ints
    texts: Ints
    counts: Ints

    @classmethod
    def of(cls, tokens: Sequence[Tokens], n: int) -> Grams:
        """Count the n-grams of each text."""
        known: dict[Tokens, int] = {}
        found = [
            (known.setdefault(text[i : i + n], len(known)), place)
            for place, text in enumerate(tokens)
            for i in range(len(text) - n + 1)
        ]
        entries, counts = np.unique(np.array(found, dtype=np.int64).reshape(-1, 2), axis=0, return_counts=True)
        order = np.lexsort((-counts, entries[:, 0]))
        return cls(entries[order, 0], entries[order, 1], counts[order])

    def select_texts(self, stays: NDArray[np.bool_]) -> Grams:
        """Return the entries whose texts are in the mask, shape [texts]."""
        there = stays[self.texts]
        return Grams(self.ids[there], self.texts[there], self.counts[there])


def mean_length(corpus: Corpus, fold: int | None) -> Floats:
    """Return the mean number of tokens per text, shape [1]."""
    return np.array([corpus.lengths[corpus.texts_outside_fold(fold)].mean()])


def distinct_ngrams(corpus: Corpus, fold: int | None) -> Floats:
    """Return the share of n-grams that are distinct, pooled over the texts, for n from 1 to 3; shape [3].

    >>> distinct_ngrams(Corpus([("a", "b"), ("a", "c")], np.array([0, 1])), None).round(2).tolist()
    [0.75, 1.0, nan]
    """
    left = [corpus.grams[n].select_texts(corpus.texts_outside_fold(fold)) for n in range(1, DISTINCT_ORDERS + 1)]
    return np.array([len(np.unique(one.ids)) / one.counts.sum() if len(one.ids) else np.nan for one in left])


def zipf_exponent(corpus: Corpus, fold: int | None) -> Floats:
    """Return the negative slope of log frequency over log rank for the most frequent tokens, shape [1].

    The slope is NaN if there is only one distinct token.
    """
    grams = corpus.grams[1].select_texts(corpus.texts_outside_fold(fold))
    counts = np.sort(np.bincount(grams.ids, grams.counts))[::-1][:ZIPF_TYPES]
    counts = counts[counts > 0]
    if len(counts) < 2:
        return np.array([np.nan])
    slope = np.polynomial.polynomial.polyfit(np.log(np.arange(1, len(counts) + 1)), np.log(counts), 1)[1]
    return np.array([-slope])


def self_bleu(corpus: Corpus, fold: int | None) -> Floats:
    """Return the mean smoothed BLEU-4 of each text against all others, shape [1]. It is high if the texts are similar.

    >>> round(float(self_bleu(Corpus([tuple("abcd"), tuple("abcd"), tuple("wxyz")], np.array([0, 1, 2])), None)[0]), 2)
    0.67
    """
    stays = corpus.texts_outside_fold(fold)
    tokens = corpus.lengths
    logs, is_none = np.zeros(len(tokens)), np.zeros(len(tokens), bool)
    for n, grams in corpus.grams.items():
        left = grams.select_texts(stays)
        matches = np.bincount(left.texts, _clipped_counts(left), len(tokens))
        is_none |= (n == 1) & (matches == 0)
        logs += np.log(np.where(matches > 0, matches, SMOOTHED) / np.maximum(tokens - n + 1, 1)) / ORDERS
    bleu = np.where(is_none, 0.0, _brevity_penalties(tokens, stays) * np.exp(logs))
    return np.array([bleu[stays].mean()])


def _clipped_counts(grams: Grams) -> Ints:
    """Return the clipped count of each entry: its count, but at most the n-gram's highest count in any other text."""
    starts = np.flatnonzero(np.diff(grams.ids, prepend=-1))
    sizes = np.diff(np.append(starts, len(grams.ids)))
    is_first = np.zeros(len(grams.ids), bool)
    is_first[starts] = True
    second = np.where(sizes > 1, grams.counts[np.minimum(starts + 1, len(grams.ids) - 1)], 0)
    most_elsewhere = np.where(is_first, np.repeat(second, sizes), np.repeat(grams.counts[starts], sizes))
    return np.minimum(grams.counts, most_elsewhere)


def _brevity_penalties(tokens: Ints, stays: NDArray[np.bool_]) -> Floats:
    """Return the brevity penalty of each text, against the other text that is nearest in length, shape [n]."""
    known, counts = np.unique(tokens[stays], return_counts=True)
    penalties: dict[int, float] = {}
    for length in np.unique(tokens).tolist():
        others = known[(counts > 1) | (known != length)].tolist()
        penalties[length] = 0.0
        if others and length:
            _, closest = min((abs(other - length), other) for other in others)
            penalties[length] = 1.0 if length > closest else float(np.exp(1 - closest / length))
    return np.array([penalties[length] for length in tokens.tolist()])


def _pair_figures(drawn: Sequence[SampledText], folds: Ints) -> JackknifeFigures:
    rows = np.array([pair_counts(*map(tokenize, one.texts)) for one in drawn], dtype=np.float64)
    sums = np.stack([rows[folds == fold].sum(axis=0) for fold in range(folds.max() + 1)])
    names = (*(f"BLEU-{n}" for n in range(1, ORDERS + 1)), "Jaccard")
    without = np.stack([pair_measures(sums.sum(axis=0) - one) for one in sums])
    return _insert_mean(JackknifeFigures(names, pair_measures(sums.sum(axis=0)), without), "BLEU-")


def pair_counts(reference: Tokens, hypothesis: Tokens) -> tuple[float, ...]:
    """Return the counts from which the corpus figures are summed.

    They are matches and n-grams for each n, both lengths, Jaccard overlap, and 1.
    """
    import_nltk()
    from nltk.translate.bleu_score import modified_precision

    found = [modified_precision([reference], hypothesis, n) for n in range(1, ORDERS + 1)]
    union = len({*reference, *hypothesis})
    jaccard = len({*reference} & {*hypothesis}) / union if union else 1.0
    matches, totals = zip(*((one.numerator, one.denominator) for one in found), strict=True)
    return (*matches, *totals, len(hypothesis), len(reference), jaccard, 1)


def pair_measures(sums: Floats) -> Floats:
    """Return cumulative BLEU-1 to BLEU-4 and the mean Jaccard overlap from sums over pairs, shape [5]."""
    matches, totals = sums[:ORDERS], sums[ORDERS : 2 * ORDERS]
    spoken, wanted, jaccard, count = sums[2 * ORDERS :]
    with np.errstate(divide="ignore"):
        logs = np.cumsum(np.log(matches / totals)) / np.arange(1, ORDERS + 1)
    penalty = 1.0 if spoken > wanted else np.exp(1 - wanted / spoken) if spoken else 0.0
    return np.array([*(penalty * np.exp(logs)), jaccard / count])


def _jackknife_error(without: Floats) -> Floats:
    """Return the jackknife's standard error of each measure, shape [m] (Efron and Tibshirani 1993, equation 11.5)."""
    folds = len(without)
    error: Floats = np.sqrt((folds - 1) / folds * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    return error


def _make_text_measure(
    name: str, first: float, second: float, error: float, freedom: int, *, count: int
) -> TextMeasure:
    from scipy.stats import t

    quantile: Callable[[float, int], float] = t.ppf
    difference, half = first - second, float(quantile(1 - LEVEL / 2, freedom)) * error
    differs = bool(abs(difference) > float(quantile(1 - LEVEL / 2 / count, freedom)) * error)
    ends = float(difference - half), float(difference + half)
    return TextMeasure(name, float(first), float(second), float(difference), *ends, differs)


def text_shift_lines(shift: TextShift) -> Iterator[str]:
    """Yield lines for the terminal. Rates are in percent, and a star marks a certain difference."""
    on_pairs = (
        f"; within {shift.pairs:,} pairs of each" if shift.pairs else "; not within pairs, since one side has none"
    )
    yield f"{shift.first} against {shift.second}, {shift.texts:,} texts of each{on_pairs}"
    head = ("measure", shift.first, shift.second, "difference [95% CI]", "")
    yield from table([head, *(_measure_cells(row) for row in shift.measures)])
    certain = sum(row.differs for row in shift.measures)
    yield f"  {certain} of {len(shift.measures)} measures differ for certain (*: at 5% for all of them together)"


def _measure_cells(row: TextMeasure) -> tuple[str, ...]:
    scale, digits = (100, 1) if row.name.startswith(IN_PERCENT) else (1, 1 if "tokens" in row.name else 3)
    first, second = (f"{scale * value:.{digits}f}" for value in (row.first, row.second))
    change = (f"{scale * value:+.{digits}f}" for value in (row.difference, row.low, row.high))
    return (row.name, first, second, "{} [{}, {}]".format(*change), "*" if row.differs else "")

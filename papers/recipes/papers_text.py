"""The measures of text in RISE's Tables 1 and 4 (paper 001), by the protocol that gives the tables' human columns.

The paper names the measures, not how they are taken. The human columns of STSb and MRPC come out to within 0.2 of what
is printed with these choices: lower-cased NLTK tokens; BLEU of each pair by itself, the second sentence against the
first, smoothed by method 1 of Chen and Cherry 2014, and its mean; Jaccard of token sets; the Zipf coefficient over the
second sentences alone. Distinct-N does not come out; it is measured over the second sentences, and over both sides with
each sentence once, which is the nearest of the ways that were tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.text_shift import Corpus, distinct_ngrams, zipf_exponent
from encheck.datasets.dataset import Dataset
from encheck.language.divergence import tokenise
from encheck.statistics.bootstrap import Resampler, percentile_interval

Floats = NDArray[np.float64]
ORDERS = 4
DISTINCT = ("Distinct-1", "Distinct-2", "Distinct-3")
ONCE = tuple(f"each sentence once: {name}" for name in DISTINCT)
OF_SECOND = (*DISTINCT, "Distinct-N", "Zipf coefficient")
OF_MUCH_TEXT = (*OF_SECOND, *ONCE)  # fall with its amount
CUMULATIVE = [(1 / n,) * n for n in range(1, ORDERS + 1)]


class TextFigure(NamedTuple):
    """A measure with its 95% interval; None where there is no interval, as of what depends on the amount of text."""

    name: str
    value: float
    low: float | None
    high: float | None
    n: int


def text_figures(data: Dataset) -> list[TextFigure]:
    """The rows of Table 4 for all pairs of a data set, and Distinct-N of each sentence once.

    All but the Zipf coefficient are in percent. `n` is the number of pairs, or of sentences that are counted once.
    """
    pairs = [(tokenise(pair.first), tokenise(pair.second)) for pair in data.pairs]
    overlaps = np.array([pair_overlap(*pair) for pair in pairs])
    overlaps = np.insert(overlaps, ORDERS, overlaps[:, :ORDERS].mean(axis=1), axis=1)
    names = (*(f"BLEU-{n}" for n in range(1, ORDERS + 1)), "BLEU-N", "Jaccard")

    means = 100 * mean_with_interval(overlaps, [pair.cluster for pair in data.pairs])
    found = [TextFigure(name, *numbers, len(pairs)) for name, numbers in zip(names, means.tolist(), strict=True)]

    corpus = Corpus([second for _, second in pairs], np.zeros(len(pairs), np.int64))
    shares = 100 * distinct_ngrams(corpus, None)
    values = (*shares.tolist(), float(shares.mean()), float(zipf_exponent(corpus, None)[0]))
    found += [TextFigure(name, x, None, None, len(pairs)) for name, x in zip(OF_SECOND, values, strict=True)]

    once = [*dict.fromkeys(tuple(tokens) for pair in pairs for tokens in pair)]
    shares = 100 * distinct_ngrams(Corpus(once, np.zeros(len(once), np.int64)), None)
    return [
        *found,
        *(TextFigure(name, x, None, None, len(once)) for name, x in zip(ONCE, shares.tolist(), strict=True)),
    ]


def mean_with_interval(values: Floats, clusters: Sequence[str]) -> Floats:
    """The mean of each column [n, k] and the ends of its 95% interval, clusters resampled; shape [k, 3]."""
    totals = Resampler(clusters).replicate_totals(np.column_stack([np.ones(len(values)), values]))
    low, high = percentile_interval(totals[:, 1:] / totals[:, :1])
    return np.column_stack([values.mean(axis=0), low, high])


def pair_overlap(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[float, ...]:
    """BLEU-1 to 4, cumulative and smoothed, and the Jaccard overlap of the token sets of one pair, 0 to 1.

    >>> [round(x, 2) for x in pair_overlap("a red car".split(), "a blue car".split())]
    [0.67, 0.18, 0.15, 0.14, 0.5]
    """
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    bleu = sentence_bleu([reference], hypothesis, weights=CUMULATIVE, smoothing_function=smooth)
    union = {*reference} | {*hypothesis}
    return (*bleu, len({*reference} & {*hypothesis}) / max(len(union), 1))

"""Labelled pairs beside word overlap: what a model adds to it, and whether word overlap alone gives the labels away.

Where pairs were chosen by their words, as MRPC's were, the negatives share fewer words than the paraphrases. There a
gap or an AUC that is high shows a count of words, and one that is lower than a count of words shows no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from encheck.metrics.metric import Metric, estimated
from encheck.metrics.pairs import auc, of_two_labels, similarity_gap
from encheck.scoring.scores import PairScores
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import auc_of
from encheck.types import Estimate

P = ParamSpec("P")
TELLS = 0.60  # an AUC of word overlap above which it gives the labels away
BEYOND = "_beyond_word_overlap"


def beyond_word_overlap(scores: PairScores) -> Iterator[Estimate]:
    """The calibrated gap and the AUC of the model less those of word overlap, paired; none without word overlap."""
    if (words := scores.surface.get(WORD_OVERLAP)) is None:
        return
    both = scores.calibrated
    gap = similarity_gap(replace(both, values=both.values - words.calibrated.values, surface={}))
    yield replace(gap, metric=f"similarity_gap{BEYOND}{both.suffix}")
    is_positive = scores.labels == 1
    (value, drawn), (of_words, drawn_of_words) = (
        auc_of(one.values, is_positive, scores.resampler) for one in (scores, words)
    )
    yield of_two_labels(estimated(f"auc{BEYOND}", scores, value - of_words, drawn - drawn_of_words), scores)


def unless_words_tell(metric: Metric[P]) -> Metric[P]:
    """The metric, without a verdict where word overlap alone tells the labels apart by an AUC above 0.60."""

    @wraps(metric.estimate)
    def estimate(scores: PairScores, /, *args: P.args, **options: P.kwargs) -> Estimate:
        found, words = metric(scores, *args, **options), scores.surface.get(WORD_OVERLAP)
        if words is None or (told := auc(words)).value <= TELLS:
            return found
        why = f"no verdict: word overlap alone tells the labels apart (AUC {told.value:.2f}, above {TELLS:.2f})"
        return replace(found, params={**found.params, "unjudged": why})

    return replace(metric, estimate=estimate)

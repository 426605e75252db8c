"""Figures over the items of a check, each with its 95% cluster-bootstrap interval.

Every figure is computed for the model and, if the scores include them, for surface scorers. On calibrated scores its
name has the suffix `_calibrated`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, wraps
from typing import ParamSpec

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import (
    Metric,
    estimate_from_replicates,
    estimate_share,
    metric,
    safe_ratio,
    with_surface_figures,
)
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import MarginScores, PairScores, Scale
from encheck.similarity import WORD_OVERLAP
from encheck.statistics.bootstrap import Resampler, auc_with_replicates
from encheck.surface import SUFFIX_MINUS_PREFIX, SURFACE, WEIGHTED
from encheck.types import CurvePoint, Estimate

Floats = NDArray[np.float64]
SIMILAR = tuple(name for name in (*SURFACE, *WEIGHTED) if name != SUFFIX_MINUS_PREFIX)  # the more alike, the nearer
GRID = np.arange(-30, 31) / 100
ROUNDING = 1e-12  # of a margin that is divided by the scale's unit


def wins(table: CaseScores, scale: Scale, *, epsilon: float = 0.0) -> Floats:
    """Return 1 if the near text is nearer by more than `epsilon` on the calibrated scale, 1/2 for a tie, else 0."""
    return margin_wins(calibrated_margins(table, scale) if epsilon else table.margins(scale), epsilon)


def margin_wins(margins: Floats, epsilon: Floats | float = 0.0) -> Floats:
    """Return 1 for a margin above `epsilon`, 1/2 for a margin equal to it (a tie), 0 below. The two are broadcast.

    A margin of a scorer without a scale (NaN) is a tie.

    >>> margin_wins(np.array([0.2, 0.0, -0.1, np.nan])).tolist()
    [1.0, 0.5, 0.0, 0.5]
    """
    above, below = margins > epsilon + ROUNDING, margins < epsilon - ROUNDING
    return (above.astype(float) + ~below) / 2


def calibrated_similarities(table: CaseScores, scale: Scale) -> Floats:
    """Return the calibrated similarity of each pair."""
    return np.asarray(scale.calibrate(table.near))


def calibrated_margins(table: CaseScores, scale: Scale) -> Floats:
    """Return each item's similarity of the near text minus that of the far text, on the calibrated scale."""
    return np.asarray(scale.calibrate_margins(table.margins(scale)))


def label_gap_contributions(table: CaseScores, similarities: Floats) -> Floats:
    """Return each item's contribution to the gap between label 1 and label 0; shape [n].

    The mean of the contributions is the difference of the labels' means, and their spread gives its error. A
    contribution contains the item's distance from the mean of its label, weighted n / n1 or -n / n0 (the influence
    function). A common shift of all similarities cancels out.
    """
    positive = np.array([label == 1 for label in table.labels], bool)
    weighted, gap = np.zeros(len(positive)), 0.0
    for of, sign in ((positive, 1), (~positive, -1)):
        if of.any():
            mean = float(similarities[of].mean())
            weighted[of] = sign * len(of) / int(of.sum()) * (similarities[of] - mean)
            gap += sign * mean
    return weighted + gap


def references_in_label_gap(table: CaseScores) -> float:
    """Return 0 if both labels occur, since the reference cancels out, otherwise 1 or -1 for the only label."""
    return sum({1.0 if label == 1 else -1.0 for label in table.labels})


def mean_where(scores: PairScores, values: Floats, chosen: NDArray[np.bool_]) -> tuple[float, Floats]:
    """Return the mean of `values` [n] over the chosen items, in the sample and in each replicate [replicates]."""
    totals = scores.resampler.replicate_totals_of_columns(_masked_columns(values, chosen))
    return float(values[chosen].mean()), safe_ratio(totals[:, 0], totals[:, 1])


def _masked_columns(values: Floats, chosen: NDArray[np.bool_]) -> Iterator[Floats]:
    """Yield the values with 0 for items that are not chosen, then the mask of chosen items; shape [n] each."""
    yield np.where(chosen, values, 0.0)
    yield chosen.astype(float)


def with_rarer_label_clusters(estimate: Estimate, scores: PairScores) -> Estimate:
    """Return the estimate with the number of clusters of the label that has fewer.

    Two positives are weak evidence, however many negatives they are compared with.
    """
    return replace(estimate, clusters=scores.clusters_of(0, 1))


@metric(values=calibrated_similarities, label="calibrated similarity", reported="a mean similarity rises with damage")
def mean_similarity(scores: PairScores) -> Estimate:
    """Return the mean similarity of the pairs (Mahajan et al. 2023, Table 5)."""
    return estimate_from_replicates(
        "mean_similarity", scores, *mean_where(scores, scores.values, np.ones(len(scores.values), bool))
    )


@with_surface_figures
def mean_of_label(scores: PairScores, *, label: int) -> Estimate:
    """Return the mean similarity of the pairs with this label (Mahajan et al. 2023, Tables 3 and 4, Pos. and Neg.)."""
    is_it = scores.labels == label
    result = mean_where(scores, scores.values, is_it)
    return estimate_from_replicates("mean_similarity", scores, *result, among=is_it, params={"label": label})


def means_by_label(scores: PairScores) -> Iterator[Estimate]:
    """Yield the means of both labels."""
    return (mean_of_label(scores, label=label) for label in (1, 0))


@with_surface_figures
def share_above(scores: PairScores, *, label: int, threshold: float) -> Estimate:
    """Return the share of the pairs with this label whose similarity is at least `threshold`.

    For label 1 this is the recall of the threshold, for label 0 its false positive rate.
    """
    metric = "recall" if label == 1 else "false_positive_rate"
    chosen = np.flatnonzero(scores.labels == label)
    accepted = (scores.values[chosen] >= threshold).astype(float)
    return estimate_share(
        metric, scores.resampler.select(chosen), accepted, params={"label": label, "threshold": threshold}
    )


def shares_above_by_label(scores: PairScores, *, threshold: float | None = None) -> Iterator[Estimate]:
    """Yield the shares above the threshold for both labels; none without a threshold."""
    if threshold is not None:
        yield from (share_above(scores, label=label, threshold=threshold) for label in (1, 0))


@metric(
    values=calibrated_similarities,
    contrast=label_gap_contributions,
    references=references_in_label_gap,
    chance=0.0,
    label="calibrated gap",
)
def similarity_gap(scores: PairScores) -> Estimate:
    """Return the mean similarity of label 1 minus that of label 0 (Mahajan et al. 2023, criterion 1)."""
    positive = scores.labels == 1
    sides = (positive, ~positive)
    t = scores.resampler.replicate_totals_of_columns(
        column for side in sides for column in _masked_columns(scores.values, side)
    )
    value = scores.values[positive].mean() - scores.values[~positive].mean()
    replicates = safe_ratio(t[:, 0], t[:, 1]) - safe_ratio(t[:, 2], t[:, 3])
    return with_rarer_label_clusters(estimate_from_replicates("similarity_gap", scores, value, replicates), scores)


@metric(chance=0.5, label="AUC", whole="an AUC rises with damage")
def auc(scores: PairScores) -> Estimate:
    """Return P(a label-1 pair scores above a label-0 pair), with ties as one half (Mann-Whitney U / mn)."""
    result = auc_with_replicates(scores.values, scores.labels == 1, scores.resampler)
    return with_rarer_label_clusters(estimate_from_replicates("auc", scores, *result), scores)


@metric(chance=0.0, label="Cohen's d", whole="it is a distance of two whole labels")
def cohens_d(scores: PairScores) -> Estimate:
    """Return the difference of the labels' means over the pooled standard deviation (Cohen 1988, with n - 2)."""
    positive = scores.labels == 1
    x = scores.values - scores.values.mean()  # centred, to avoid rounding in squares

    def columns() -> Iterator[Floats]:
        for side in (positive, ~positive):
            yield side.astype(float)
            yield np.where(side, x, 0)
            yield np.where(side, x**2, 0)

    value = _cohens_d(np.array([[column.sum() for column in columns()]]))[0]
    return with_rarer_label_clusters(
        estimate_from_replicates(
            "cohens_d", scores, value, _cohens_d(scores.resampler.replicate_totals_of_columns(columns()))
        ),
        scores,
    )


def _cohens_d(totals: Floats) -> Floats:
    """Return Cohen's d from the columns n1, sum1, squares1, n0, sum0, squares0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean1, mean0 = totals[:, 1] / totals[:, 0], totals[:, 4] / totals[:, 3]
        squares = totals[:, 2] - totals[:, 0] * mean1**2 + totals[:, 5] - totals[:, 3] * mean0**2
        pooled = np.sqrt(np.maximum(squares, 0) / (totals[:, 0] + totals[:, 3] - 2))
        result: Floats = np.where(pooled > 1e-9, (mean1 - mean0) / pooled, np.nan)
    return result


@metric(
    values=calibrated_margins, chance=0.0, label="calibrated margin", reported="a mean margin rises with damage",
    surface=(WORD_OVERLAP,),
)  # fmt: skip
def mean_margin(scores: MarginScores) -> Estimate:
    """Return the mean of Sim(S, near) - Sim(S, far)."""
    margins = scores.margins
    totals = scores.resampler.replicate_totals(np.column_stack([margins, np.ones_like(margins)]))
    return estimate_from_replicates("mean_margin", scores, margins.mean(), safe_ratio(totals[:, 0], totals[:, 1]))


@metric(values=wins, kind="rate", chance=0.5, label="share won", surface=SIMILAR)
def margin_rate(scores: MarginScores, *, epsilon: float = 0.0) -> Estimate:
    """Return the share of items with Sim(S, near) - Sim(S, far) > epsilon; a tie counts as one half.

    The estimate has the curve over epsilon from -0.3 to 0.3, with the number of items above each epsilon (Mahajan et
    al. 2023, criteria 3 and 4, Figures 1 to 6). The intervals account for what items share.
    """
    margins, grid = scores.margins, np.append(GRID if scores.has_curve else (), epsilon)
    worths = margin_wins(margins[:, None], grid)
    # The interval's ends by the sum of wins, since points of one curve with the same sum have the same interval.
    distinct, first = np.unique(worths.sum(axis=0), return_index=True)
    halves = (2 * worths[:, first]).astype(np.int8)
    low, high = _share_intervals(scores.resampler, halves.tobytes(), len(first))
    ends = {float(n): (float(a), float(b)) for n, a, b in zip(distinct, low, high, strict=True)}
    above = (worths == 1).sum(axis=0)
    points = [
        CurvePoint(float(e), float(w.mean()), *ends[w.sum()], int(n))
        for e, n, w in zip(grid[:-1], above, worths.T, strict=False)
    ]
    estimate = estimate_share("margin_rate", scores.resampler, worths[:, -1], params={"epsilon": epsilon})
    return replace(estimate, curve=tuple(points))


@lru_cache(maxsize=64)
def _share_intervals(resampler: Resampler, halves: bytes, sets: int) -> tuple[Floats, Floats]:
    """Return the intervals of the shares won in `sets` sets of half wins.

    They are cached, since raw and calibrated rates often agree.
    """
    return resampler.share_interval(np.frombuffer(halves, np.int8).reshape(-1, sets) / 2)


P = ParamSpec("P")
TELLS = 0.60  # the AUC of word overlap above which it reveals the labels
BEYOND = "_beyond_word_overlap"


def beyond_word_overlap(scores: PairScores) -> Iterator[Estimate]:
    """Yield the model's calibrated gap and AUC minus those of word overlap, paired, if word overlap was measured."""
    if (words := scores.surface.get(WORD_OVERLAP)) is None:
        return
    both = scores.calibrated
    gap = similarity_gap(replace(both, values=both.values - words.calibrated.values, surface={}))
    yield replace(gap, metric=f"similarity_gap{BEYOND}{both.suffix}")
    is_positive = scores.labels == 1
    (value, drawn), (of_words, drawn_of_words) = (
        auc_with_replicates(one.values, is_positive, scores.resampler) for one in (scores, words)
    )
    yield with_rarer_label_clusters(
        estimate_from_replicates(f"auc{BEYOND}", scores, value - of_words, drawn - drawn_of_words), scores
    )


def withhold_verdict_if_overlap_separates(metric: Metric[P]) -> Metric[P]:
    """Return the metric without a verdict if word overlap alone separates the labels with an AUC above 0.60."""

    @wraps(metric.estimate)
    def estimate(scores: PairScores, /, *args: P.args, **options: P.kwargs) -> Estimate:
        found, words = metric(scores, *args, **options), scores.surface.get(WORD_OVERLAP)
        if words is None or (told := auc(words)).value <= TELLS:
            return found
        why = f"no verdict: word overlap alone tells the labels apart (AUC {told.value:.2f}, above {TELLS:.2f})"
        return replace(found, params={**found.params, "unjudged": why})

    return replace(metric, estimate=estimate)

"""Metrics of how a model ranks the members of a chain.

The paraphrase should be on top. The members should follow in the order of how much they share with it.

Peng, Weir and Weeds 2023 report R-Precision and Spearman's correlation (Table 5) and, for one threshold, the accuracy
by number of swaps (Figure 3). Spearman over four items restates R-Precision once the three swaps are in order, so the
rank of the paraphrase and the order of the swaps are reported separately too. Every figure is a mean over chains of the
measured part, with an interval that resamples clusters.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.generators.continuation import is_word
from encheck.ids import ItemId
from encheck.metrics.correlation import weighted_spearman
from encheck.metrics.metric import estimate_from_replicates, estimate_share, metric, safe_ratio, with_surface_figures
from encheck.metrics.thresholds import balanced_accuracy_objective, best_threshold
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import ChainScores, Scale
from encheck.scoring.splits import TEST
from encheck.types import Estimate

log = logging.getLogger("encheck")
Floats = NDArray[np.float64]
Ties = Literal["expected", "strict", "optimistic"]
STRATA = ("low", "middle", "high")
NO_THRESHOLD = "there are no labelled pairs of a validation part to choose a threshold on; --threshold names one"
BY_OVERLAP = 0.5  # a correlation that is commonly called large


def mark_first_on_top(values: Floats, *, ties: Ties = "expected") -> Floats:
    """Return 1 if the first value of a row is the largest, otherwise 0; shape [n]. A tie counts as 1/#tied, 0 or 1.

    >>> mark_first_on_top(np.array([[0.9, 0.9, 0.7], [0.9, 0.8, 0.7]])).tolist()
    [0.5, 1.0]
    """
    best = values[:, :1] >= np.nanmax(values, axis=1, keepdims=True)
    tied = (values == values[:, :1]).sum(axis=1)
    worth = {"expected": 1 / tied, "strict": (tied == 1).astype(float), "optimistic": np.ones(len(values))}[ties]
    return np.asarray(best[:, 0] * worth)


def rank_rows(values: Floats) -> Floats:
    """Return the rank of each value in its row, 1 for the largest; shape [n, k].

    Ties have their mean rank, and NaN stays NaN.
    """
    above = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    return np.where(np.isnan(values), np.nan, above + (equal + 1) / 2)


def spearman_by_row(values: Floats) -> Floats:
    """Return Spearman's correlation of each row with falling degrees, shape [n]; NaN if a row does not vary.

    >>> spearman_by_row(np.array([[0.9, 0.8, 0.7, 0.6], [0.7, 0.9, 0.9, 0.9]])).round(4).tolist()
    [1.0, -0.7746]
    """
    ranks = rank_rows(values)
    wanted = np.where(np.isnan(ranks), np.nan, np.arange(1, values.shape[1] + 1))
    x, y = (side - np.nanmean(side, axis=1, keepdims=True) for side in (ranks, wanted))
    squares = np.nansum(x * x, axis=1) * np.nansum(y * y, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = np.where(squares > 0, np.nansum(x * y, axis=1) / np.sqrt(squares), np.nan)
    return result


def mark_falling_rows(values: Floats) -> Floats:
    """Return 1 where every value of a row is larger than the next, 0 where one is smaller; shape [n].

    Equal values count as in order with the probability of chance: 1/2 for two of them, 1/k! for k.

    >>> chains = np.array([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8], [0.9, 0.7, 0.7], [0.7, 0.7, 0.7]])
    >>> mark_falling_rows(chains).round(4).tolist()
    [1.0, 0.0, 0.5, 0.1667]
    """
    steps = np.diff(values, axis=1)
    result, run = np.ones(len(values)), np.ones(len(values))
    for step in steps.T:
        run = np.where(step == 0, run + 1, 1)
        result = np.where(step > 0, 0, result / run)
    return result


def mark_rise_at_step(values: Floats, step: int) -> Floats:
    """Return 1 if the value after `step` is larger than the value before it, 1/2 if equal, otherwise 0; NaN if one is
    NaN.
    """
    change = values[:, step] - values[:, step - 1]
    return np.where(np.isnan(change), np.nan, (change > 0) + (change == 0) / 2)


def _mark_paraphrase_on_top(table: CaseScores, scale: Scale) -> Floats:
    """Return 1 for each chain whose paraphrase is on top, a share of 1 for a tie, otherwise 0."""
    margins = table.margins(scale)
    return np.array(
        [0.0 if (margins[at] < 0).any() else 1 / (1 + int((margins[at] == 0).sum())) for at in table.chain_rows]
    )


@metric(values=_mark_paraphrase_on_top, kind="rate", chance=0.25, label="share on top", unit="chain")
def r_precision(scores: ChainScores, *, ties: Ties = "expected") -> Estimate:
    """Return the share of measured chains with the paraphrase on top (Table 5, RPrec). Chance is 1/4.

    `mark_first_on_top` describes how ties count.
    """
    name, part = "r_precision" if ties == "expected" else f"r_precision_{ties}", select_test_chains(scores)
    return _share_of_chains(name, part, mark_first_on_top(part.values, ties=ties))


@with_surface_figures
def spearman(scores: ChainScores) -> Estimate:
    """Return the mean over chains of Spearman's correlation of scores and degrees (Table 5).

    A chain whose scores are all equal counts as 0.
    """
    return _mean_spearman("spearman", scores, scores.values)


@with_surface_figures
def spearman_members(scores: ChainScores) -> Estimate:
    """Return the mean over chains of Spearman's correlation of the members alone, without the paraphrase."""
    return _mean_spearman("spearman_members", scores, scores.values[:, 1:])


def _mean_spearman(name: str, scores: ChainScores, values: Floats) -> Estimate:
    result = spearman_by_row(values)
    constant = {"constant": float(np.isnan(result).sum())}
    return replace(_mean_over_chains(name, scores, np.nan_to_num(result)), params=constant)


@with_surface_figures
def order_rate(scores: ChainScores) -> Estimate:
    """Return the share of chains whose scores all fall. `mark_falling_rows` describes how ties count."""
    return _share_of_chains("order_rate", scores, mark_falling_rows(scores.values))


@with_surface_figures
def order_rate_members(scores: ChainScores) -> Estimate:
    """Return the share of chains whose members' scores all fall."""
    return _share_of_chains("order_rate_members", scores, mark_falling_rows(scores.values[:, 1:]))


@with_surface_figures
def violation_rate(scores: ChainScores, *, step: int) -> Estimate:
    """Return the share of chains whose score rises at this step; ties count as half.

    Step 1 is the step from the paraphrase to the first member.
    """
    return _share_of_chains(f"violation_rate_{step}", scores, mark_rise_at_step(scores.values, step))


@with_surface_figures
def mean_rank(scores: ChainScores) -> Estimate:
    """Return the mean rank of the paraphrase, 1 for the top. Ties have their mean rank."""
    return _mean_over_chains("mean_rank", scores, rank_rows(scores.values)[:, 0])


@with_surface_figures
def overlap_spearman(scores: ChainScores) -> Estimate:
    """Return Spearman's correlation of the paraphrase's score with its word overlap.

    Near 1, the model ranks by word overlap. If the whole interval is above `BY_OVERLAP`, the param `ranks_by` says so.
    """
    overlap = np.array([item.overlap for item in scores.items])
    once = np.ones((1, len(overlap)), np.float32)
    value = float(weighted_spearman(scores.values[:, 0], overlap, once)[0])
    drawn = [weighted_spearman(scores.values[:, 0], overlap, weights) for weights in scores.resampler.item_weights()]
    estimate = estimate_from_replicates("overlap_spearman", scores, value, np.concatenate(drawn))
    return replace(estimate, params={"ranks_by": "word overlap"}) if estimate.low > BY_OVERLAP else estimate


def mean_word_overlap(scores: ChainScores) -> Estimate:
    """Return the mean word overlap (Jaccard of unigrams) of the paraphrases with their sentences (Table 6)."""
    return _mean_over_chains("overlap", scores, np.array([item.overlap for item in scores.items]))


def mean_unusual_tag_share(scores: ChainScores, *, step: int) -> Estimate:
    """Return the mean share of unusual tag pairs after this many swaps.

    A model can detect less fluent texts without understanding them.
    """
    return _mean_over_chains(f"unusual_tags_{step}", scores, np.array([item.unusual[step] for item in scores.items]))


def mean_surprisal(scores: ChainScores, *, step: int) -> Estimate:
    """Return the mean bits per token after this many swaps under the model of `--continuation-model`.

    The reason is that of `mean_unusual_tag_share`.
    """
    return _mean_over_chains(f"surprisal_{step}", scores, np.array([item.surprisal[step] for item in scores.items]))


def mean_length(scores: ChainScores, *, column: int) -> Estimate:
    """Return the mean number of words of the first text in this column's pairs, over the chains that have one."""
    firsts = [[first for first, _ in item.pairs_to_score[column : column + 1]] for item in scores.items]
    counts = [sum(map(is_word, some[0].split())) if some else np.nan for some in firsts]
    return _mean_over_chains(f"words_{column}", scores, np.array(counts, float))


def mean_rejected_swaps(scores: ChainScores) -> Estimate:
    """Return the mean number of exchanges per chain that were rejected because they would have kept the meaning.

    The params have the reasons.
    """
    reasons = [reason for item in scores.items for reason in item.rejected]
    counts = {reason: float(reasons.count(reason)) for reason in sorted(set(reasons))}
    each = np.array([len(item.rejected) for item in scores.items], float)
    return replace(_mean_over_chains("rejected_swaps", scores, each), params=counts)


def figures_by_overlap(scores: ChainScores) -> Iterator[Estimate]:
    """Yield R-Precision and Spearman in thirds of word overlap, for thirds with at least two chains.

    Chains with equal overlap stay in one third.
    """
    result = np.array([item.overlap for item in scores.items])
    cuts = np.quantile(result, [1 / 3, 2 / 3])
    third = np.searchsorted(cuts, result, side="left")
    for k, name in enumerate(STRATA):
        part = np.flatnonzero(third == k)
        if len(part) > 1:
            chosen = scores.select(part)
            for estimate in (r_precision(chosen), spearman(chosen)):
                params = {**estimate.params, "overlap": float(result[part].mean())}
                yield replace(estimate, metric=f"{estimate.metric}_{name}_overlap", params=params)


def select_test_chains(scores: ChainScores) -> ChainScores:
    """Return the chains of the test part, or all chains if no part is named."""
    test = np.flatnonzero([item.split in TEST for item in scores.items])
    return scores.select(test) if len(test) else scores


def accuracies_by_step(scores: ChainScores, *, threshold: float | None = None) -> Iterator[Estimate]:
    """Yield the share of right predictions by number of swaps (Figure 3): only the text without swaps is a paraphrase.

    There is one estimate per member. The threshold is `threshold` or, as in deployment, the threshold with the
    highest balanced accuracy on the validation part's labelled pairs. Without either, a warning replaces the figure,
    since a threshold chosen on the chains would not be realistic. For a model with a trained head of two classes, the
    accuracies of the head's own predictions follow, as in the paper.
    """
    columns = range(scores.values.shape[1])
    if threshold is not None or scores.tuning is not None:
        yield from (accuracy_at_step(scores, column=column, threshold=threshold) for column in columns)
    else:
        log.warning("%s: no accuracy after each step: %s", ItemId(scores.items[0].id).data, NO_THRESHOLD)
    if scores.head_threshold is not None:
        for column in columns:
            result = accuracy_at_step(scores, column=column, threshold=scores.head_threshold)
            yield replace(result, metric=f"head_{result.metric}", surface={})


@with_surface_figures
def accuracy_at_step(scores: ChainScores, *, column: int, threshold: float | None = None) -> Estimate:
    """Return the share of right predictions for the pairs of one column: see `accuracies_by_step`."""
    part = select_test_chains(scores)
    if threshold is None:
        assert part.tuning is not None
        threshold = best_threshold(part.tuning.values, part.tuning.labels, objective=balanced_accuracy_objective)
    values = part.values[:, column]
    right = np.where(np.isnan(values), np.nan, (values >= threshold) == (column == 0))
    return replace(_share_of_chains(f"accuracy_{column}", part, right), params={"threshold": threshold})


def _share_of_chains(name: str, scores: ChainScores, values: Floats) -> Estimate:
    """Return the mean of values from 0 to 1 over the chains that have one."""
    there = np.flatnonzero(~np.isnan(values))
    return estimate_share(name, scores.resampler.select(there), values[there])


def _mean_over_chains(name: str, scores: ChainScores, values: Floats) -> Estimate:
    """Return the mean over the chains that have a value."""
    there = np.flatnonzero(~np.isnan(values))
    part = scores.select(there) if len(there) < len(values) else scores
    mean = float(values[there].mean())
    totals = part.resampler.replicate_totals(
        np.column_stack([values[there] - mean, np.ones(len(there))])
    )  # avoids rounding
    return estimate_from_replicates(name, part, mean, safe_ratio(totals[:, 0], totals[:, 1]) + mean)


def chain_figures(scores: ChainScores, *, threshold: float | None = None) -> Iterator[Estimate]:
    """Yield all figures that are reported with the R-Precision of the measured chains."""
    part = select_test_chains(scores)
    yield from (r_precision(part, ties="strict"), r_precision(part, ties="optimistic"))
    yield from (spearman(part), order_rate(part))
    yield from (violation_rate(part, step=step) for step in range(1, part.values.shape[1]))
    yield from (mean_rank(part), spearman_members(part), order_rate_members(part))
    yield from accuracies_by_step(scores, threshold=threshold)
    yield from (mean_word_overlap(part), overlap_spearman(part), *figures_by_overlap(part))


def fluency_figures(scores: ChainScores) -> Iterator[Estimate]:
    """Yield the fluency after each number of swaps, by tags and by a language model, and the number of rejected
    exchanges.
    """
    part = select_test_chains(scores)
    steps = range(part.values.shape[1])
    yield from (mean_unusual_tag_share(part, step=step) for step in steps)
    if all(item.surprisal for item in part.items):
        yield from (mean_surprisal(part, step=step) for step in steps)
    yield mean_rejected_swaps(part)


def length_figures(scores: ChainScores) -> Iterator[Estimate]:
    """Yield the mean number of words before and after each cut of a continuation, since the length can reveal the
    order.
    """
    part = select_test_chains(scores)
    yield from (mean_length(part, column=column) for column in range(part.values.shape[1]))

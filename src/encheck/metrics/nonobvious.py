"""Figures on pairs where word overlap misleads (Peinelt et al. 2019, section 5, Tables 6 to 8).

`auc_n` decides, since it needs no threshold. The paper's F1_n needs one, and favours a model that always predicts
"paraphrase" if Pn outnumbers Nn; so it is reported with TNR_n, balanced accuracy, MCC and constant predictors.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.errors import NothingToMeasure
from encheck.ids import question_id
from encheck.metrics.classification import predict_labels
from encheck.metrics.metric import (
    estimate_from_replicates,
    metric,
    safe_ratio,
    widen_near_0_and_1,
    with_surface_figures,
)
from encheck.metrics.pairs import with_rarer_label_clusters
from encheck.scoring.pairs import CELLS, Difficulty, Scope
from encheck.scoring.scores import PairScores
from encheck.scoring.splits import test_positions
from encheck.statistics.bootstrap import Resampler, auc_with_replicates
from encheck.types import Estimate

log = logging.getLogger("encheck")
Floats = NDArray[np.float64]
PO, PN, NO, NN = range(4)
CONSTANT_PREDICTIONS = {"always_positive": 1.0, "always_negative": 0.0, "random": 0.5}
SAYS_NOTHING = 0.05  # if the divergence has an AUC this near to chance, the two halves are meaningless
DEGENERATE = 0.95


@dataclass(frozen=True)
class PredictedPairs:
    """Measured pairs with their predictions.

    `difficulty` has the cells of the pairs. `predicted`, shape [n], is 1, 0, or the probability of 1.
    """

    scores: PairScores
    difficulty: Difficulty
    predicted: Floats
    params: dict[str, float | str] = field(default_factory=dict)
    surface: Mapping[str, PredictedPairs] = field(default_factory=dict)
    suffix: str = ""

    @property
    def resampler(self) -> Resampler:
        """The replicates of the measured pairs."""
        return self.scores.resampler

    @cached_property
    def cell_sums(self) -> tuple[Floats, Floats]:
        """Column sums of `_prediction_columns`: of the sample, shape [1, 8], and of each replicate, [replicates, 8]."""
        once = np.array([[column.sum() for column in _prediction_columns(self)]])
        return once, self.resampler.replicate_totals_of_columns(_prediction_columns(self))

    def mask_of_cells(self, *cells: int) -> NDArray[np.bool_]:
        """Return a mask of the pairs in these cells, shape [n]."""
        return np.isin(self.difficulty.cells, cells)


def predict_test_part(scores: PairScores, *, scope: Scope = "split") -> PredictedPairs:
    """Return the test part of the scores with its difficulty, and with predictions at a threshold chosen on other
    pairs.

    The threshold has the best F1 on the validation part, or else on the other folds of ten. Raise NothingToMeasure if
    the test part has no Pn or no Nn pair.
    """
    found, measured = scores.classify_difficulty(scope), test_positions(scores.splits)
    part = found.select(measured)
    empty = [name for name in ("Pn", "Nn") if not part.counts[name]]
    if empty:
        raise NothingToMeasure(
            f"{scores.data} has no pair that is {' or '.join(empty)} (non-obvious) by the median scope "
            f"{part.scope!r}: {part.counts}; more pairs, or --median-scope, may give some"
        )
    surface = {name: _predict_pairs(beside, part, measured) for name, beside in scores.surface.items()}
    cases = replace(_predict_pairs(scores, part, measured), surface=surface)
    # Warn if the figures mean little: the split is meaningless, or the predictions are nearly constant.
    data, auc = cases.scores.data, auc_divergence(replace(cases, surface={})).value
    if abs(auc - 0.5) < SAYS_NOTHING:
        log.warning(
            "%s: word divergence does not predict the label (AUC %.2f), so "
            "'obvious' and 'non-obvious' mean little here",
            data,
            auc,
        )
    share = float(cases.predicted.mean())
    if np.isnan(share):
        log.warning(
            "%s: no threshold can be chosen, since the pairs outside a fold do not have both labels: F1 has no figure. "
            "Remedy: pairs of more clusters, or a validation part",
            data,
        )
    elif not 1 - DEGENERATE <= share <= DEGENERATE:
        log.warning(
            "%s: a model predicts %.0f%% of the pairs positive: compare F1_n with always-positive's", data, 100 * share
        )
    return cases


def _predict_pairs(scores: PairScores, part: Difficulty, measured: NDArray[np.intp]) -> PredictedPairs:
    chosen = predict_labels(scores, measured)
    params: dict[str, float | str] = {"median_scope": str(part.scope), **chosen.estimate_params}
    params |= {"predicted_positive": float(chosen.predicted.mean())} if chosen.has_all_predictions else {}
    return PredictedPairs(scores.select(measured), part, chosen.predicted, params)


@metric(chance=0.5, label="AUC of non-obvious pairs", whole="an AUC rises with damage")
def auc_n(cases: PredictedPairs) -> Estimate:
    """Return P(a Pn pair scores above an Nn pair of its split), with ties as one half. Chance is 0.5, and 1-JSD gets 0.

    The params have the number of pairs in each cell, and the medians.
    """
    splits = cases.scores.splits
    wins, pairs = zip(*(_nonobvious_wins(cases, splits == name) for name in sorted(set(splits))), strict=True)
    shortest = min(len(w) for w in wins if len(w) > 1)
    sums = (np.sum([x[:shortest] for x in side if len(x) > 1], axis=0) for side in (wins, pairs))
    found, sides = safe_ratio(*sums), [cases.mask_of_cells(cell) for cell in (PN, NN)]
    clusters = min(cases.resampler.clusters_among(side) for side in sides)  # the rarer label's, as in of_two_labels
    estimate = estimate_from_replicates("auc_n", cases.scores, float(found[0]), found[1:], among=sides[0] | sides[1])
    return replace(
        estimate,
        clusters=clusters,
        params={
            "median_scope": str(cases.difficulty.scope),
            **cases.difficulty.counts,
            **{f"median[{split or 'all'}]": cut for split, cut in cases.difficulty.medians.items()},
        },
    )


def _nonobvious_wins(cases: PredictedPairs, is_in: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the number of (Pn, Nn) combinations that the Pn pair wins, and the number of all combinations.

    Each is counted in the sample and in each replicate. Only pairs of one split, which `is_in` selects, are combined.
    """
    up, down = (is_in & (cases.difficulty.cells == cell) for cell in (PN, NN))
    if not up.any() or not down.any():
        return np.zeros(1), np.zeros(1)
    chosen = np.flatnonzero(up | down)
    draws, is_up = cases.resampler.select(chosen), up[chosen]
    auc, replicates = auc_with_replicates(cases.scores.values[chosen], is_up, draws)
    counts = draws.replicate_totals_of_columns(side.astype(float) for side in (is_up, ~is_up))[: len(replicates)]
    pairs = np.append(up.sum() * down.sum(), counts.prod(axis=1))
    return np.where(pairs > 0, np.append(auc, replicates), 0) * pairs, pairs


@with_surface_figures
def auc_divergence(cases: PredictedPairs) -> Estimate:
    """Return P(a positive pair has a lower divergence than a negative one). Near 0.5, "obvious" is meaningless."""
    result = auc_with_replicates(-cases.difficulty.divergence, cases.scores.labels == 1, cases.resampler)
    return with_rarer_label_clusters(estimate_from_replicates("auc_divergence", cases.scores, *result), cases.scores)


OBVIOUS, NON_OBVIOUS, ALL = (PO, NO), (PN, NN), (PO, PN, NO, NN)
Rule = Literal["tpr", "tnr", "f1", "accuracy", "balanced accuracy", "mcc"]
RULES: dict[str, tuple[tuple[int, ...], Rule]] = {
    "tpr_o": ((PO,), "tpr"),
    "tpr_n": ((PN,), "tpr"),
    "tnr_o": ((NO,), "tnr"),
    "tnr_n": ((NN,), "tnr"),
    "f1_o": (OBVIOUS, "f1"),
    "f1_n": (NON_OBVIOUS, "f1"),
    "f1": (ALL, "f1"),
    "accuracy": (ALL, "accuracy"),
    "balanced_accuracy": (ALL, "balanced accuracy"),
    "balanced_accuracy_n": (NON_OBVIOUS, "balanced accuracy"),
    "mcc": (ALL, "mcc"),
    "mcc_n": (NON_OBVIOUS, "mcc"),
}


def _rate_by_rule(rule: Rule, table: Floats, cells: Sequence[int]) -> Floats:
    """Return the figure of the predictions in these cells, for each row of `Cases.cell_sums`."""
    positive, negative = ([c for c in cells if c in of] for of in ((PO, PN), (NO, NN)))
    columns = (positive, [c + 4 for c in positive], negative, [c + 4 for c in negative])
    tp, fn, fp, tn = (table[:, chosen].sum(axis=1) for chosen in columns)
    match rule:
        case "tpr":
            return safe_ratio(tp, tp + fn)
        case "tnr":
            return safe_ratio(tn, fp + tn)
        case "f1":
            return np.nan_to_num(safe_ratio(2 * tp, 2 * tp + fn + fp))  # 0 if undefined, as the authors define it
        case "accuracy":
            return safe_ratio(tp + tn, tp + fn + fp + tn)
        case "balanced accuracy":
            return (safe_ratio(tp, tp + fn) + safe_ratio(tn, fp + tn)) / 2
        case "mcc":
            below = np.sqrt(np.maximum((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), 0))  # weights may be negative
            return np.nan_to_num(
                safe_ratio(tp * tn - fp * fn, below)
            )  # 0 for a constant prediction, as in scikit-learn


@with_surface_figures
def threshold_figure(cases: PredictedPairs, *, name: str) -> Estimate:
    """Return a figure of RULES at the threshold, which is the same in every replicate.

    Rates are TPR and TNR as in Table 6. F1 is the F1 of the positive class on obvious, non-obvious or all pairs.
    """
    cells, rule = RULES[name]
    once, replicates = (_rate_by_rule(rule, table, cells) for table in cases.cell_sums)
    estimate = estimate_from_replicates(
        name, cases.scores, float(once[0]), replicates, among=cases.mask_of_cells(*cells)
    )
    if len(cells) == 1:
        estimate = widen_near_0_and_1(estimate)
    return replace(estimate, params=cases.params)


@with_surface_figures
def f1_gap(cases: PredictedPairs) -> Estimate:
    """Return F1_o - F1_n, which is what a model loses where word overlap misleads."""
    once, replicates = (
        _rate_by_rule("f1", table, OBVIOUS) - _rate_by_rule("f1", table, NON_OBVIOUS) for table in cases.cell_sums
    )
    return replace(estimate_from_replicates("f1_gap", cases.scores, float(once[0]), replicates), params=cases.params)


def _prediction_columns(cases: PredictedPairs) -> Iterator[Floats]:
    """Yield the weight of each prediction in its cell: Po+, Pn+, No+, Nn+, then the same with -; shape [n] each."""
    for weight in (cases.predicted, 1 - cases.predicted):
        for cell in range(len(CELLS)):
            yield np.where(cases.difficulty.cells == cell, weight, 0.0)


def nonobvious_figures(cases: PredictedPairs) -> Iterator[Estimate]:
    """Yield all figures of Tables 6 to 8, those of constant predictions, and the AUC of the split.

    A figure that needs a pair of an empty cell is left out.
    """
    counts = cases.difficulty.counts
    there = {i for i, name in enumerate(CELLS) if counts[name]}
    yield from (
        threshold_figure(cases, name=name) for name, (cells, _) in RULES.items() if name == "f1" or there >= {*cells}
    )
    if len(there) == len(CELLS):
        yield f1_gap(cases)
    yield from trivial_prediction_f1_n(cases)
    yield auc_divergence(replace(cases, surface={}))
    with_map = mean_average_precision(cases) if group_by_question(cases.scores) else None
    yield from [with_map] if with_map else []


def trivial_prediction_f1_n(cases: PredictedPairs) -> Iterator[Estimate]:
    """Yield F1_n of always-positive, always-negative and coin-tossing predictions (in expectation Table 6's random)."""
    for name, chance in CONSTANT_PREDICTIONS.items():
        constant = replace(cases, predicted=np.broadcast_to(chance, len(cases.predicted)), surface={}, params={})
        yield replace(threshold_figure(constant, name="f1_n"), metric=f"f1_n_{name}")


@with_surface_figures
def mean_average_precision(cases: PredictedPairs) -> Estimate:
    """Return the MAP of ranking data, as the official scorer of SemEval-2016 and 2017 task 3 computes it.

    The average precision of a question is the mean precision at the relevant candidates among the first ten, or 0
    without a relevant candidate. Candidates with equal scores stay in the data's order.
    """
    result = group_by_question(cases.scores)
    values = np.array([semeval_average_precision(cases.scores.values[at], cases.scores.labels[at]) for at in result])
    first = cases.scores.select(np.array([at[0] for at in result], np.intp))
    totals = first.resampler.replicate_totals(np.column_stack([values, np.ones(len(values))]))
    return estimate_from_replicates("map", first, float(values.mean()), safe_ratio(totals[:, 0], totals[:, 1]))


def semeval_average_precision(values: Floats, labels: NDArray[np.int8], *, depth: int = 10) -> float:
    """Return the mean precision at the relevant candidates among the `depth` best; 0 if none is relevant.

    >>> semeval_average_precision(np.array([0.9, 0.8, 0.7]), np.array([1, 0, 1]))
    0.8333333333333333
    """
    hit = labels[np.argsort(-values, kind="stable")][:depth] == 1
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision[hit].mean()) if hit.any() else 0.0


def group_by_question(scores: PairScores) -> list[NDArray[np.intp]]:
    """Return the positions of each question's candidates, in data order, if keys are "question id/candidate id"."""
    result: dict[str, list[int]] = {}
    for i, key in enumerate(scores.keys):
        if (question := question_id(key)) is not None:
            result.setdefault(question, []).append(i)
    return [np.array(at, np.intp) for at in result.values()] if len(result) < sum(map(len, result.values())) else []

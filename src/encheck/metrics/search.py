"""Rank metrics of right documents, as trec_eval defines them, with a value for each query.

The gain is the grade itself (not 2 to its power), and a rank r has the weight 1 / log2(r + 1), as in trec_eval's
ndcg_cut and in BEIR. Documents with the same score are ordered by descending id, as in trec_eval. Every figure is a
mean over queries, with an interval that resamples clusters of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.metric import estimate_from_replicates, estimate_share, metric, safe_ratio
from encheck.scoring.documents import Answers, Ranks
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import LoggedScores, RankedScores, Scale
from encheck.scoring.searches import BM25
from encheck.statistics.bootstrap import Resampler, percentile_interval, widen_share_interval
from encheck.types import Estimate

Floats = NDArray[np.float64]
CUT = 10
ONE_METRIC = "a gate tests one rank metric of the same queries, its primary endpoint"
DELTA = 0.02
FIRST_STAGE_RECALL = "first_stage_recall_at"


def ndcg_by_query(answers: Sequence[Answers], *, cut: int = CUT) -> Floats:
    """Return the normalised discounted cumulative gain of each query's first `cut` answers; shape [n]."""
    ranks = Ranks.of(answers)
    there = (ranks.rank > 0) & (ranks.rank <= cut)
    gains = np.where(there, ranks.grade / np.log2(np.maximum(ranks.rank, 1) + 1), 0.0)
    order = np.lexsort((-ranks.grade, ranks.query))
    places = ranks.ranks_within_query(order)
    ideal = np.where(places <= cut, ranks.grade[order] / np.log2(places + 1), 0.0)
    return safe_ratio(ranks.sum_by_query(gains), ranks.sum_by_query(ideal, order))


def reciprocal_rank_by_query(answers: Sequence[Answers], *, cut: int = CUT) -> Floats:
    """Return 1 / the rank of each query's first right document, or 0 if it is not among the first `cut`; shape [n]."""
    first = (min((rank for rank, _ in one.right if 0 < rank <= cut), default=0) for one in answers)
    return np.array([1 / rank if rank else 0.0 for rank in first])


def recall_by_query(answers: Sequence[Answers], *, cut: int) -> Floats:
    """Return the share of each query's right documents that are among the first `cut`; shape [n]."""
    ranks = Ranks.of(answers)
    there = ((ranks.rank > 0) & (ranks.rank <= cut)).astype(np.float64)
    return safe_ratio(ranks.sum_by_query(there), ranks.sum_by_query(np.ones_like(there)))


def average_precision_by_query(answers: Sequence[Answers]) -> Floats:
    """Return each query's mean precision at the ranks of its right documents; shape [n].

    The precision is 0 at a right document that was not found.
    """
    ranks = Ranks.of(answers)
    far = np.iinfo(np.intp).max
    order = np.lexsort((np.where(ranks.rank > 0, ranks.rank, far), ranks.query))
    at = ranks.rank[order]
    precision = np.where(at > 0, ranks.ranks_within_query(order) / np.maximum(at, 1), 0.0)
    return safe_ratio(ranks.sum_by_query(precision, order), ranks.sum_by_query(np.ones_like(precision)))


def hard_negatives_beaten(answers: Sequence[Answers]) -> Floats:
    """Return the share of each query's hard negatives that score below its right document; shape [n].

    The share is NaN for a query without hard negatives.
    """
    return safe_ratio(np.array([one.won for one in answers], float), np.array([one.duels for one in answers], float))


def _from_table(values: Callable[[Sequence[Answers]], Floats]) -> Callable[[CaseScores, Scale], Floats]:
    return lambda table, _scale: values([Answers.parse(text) for text in table.answers])


def _recall_function(cut: int) -> Callable[[Sequence[Answers]], Floats]:
    return lambda answers: recall_by_query(answers, cut=cut)


@metric(values=_from_table(ndcg_by_query), delta=DELTA, label="nDCG@10")
def ndcg_at_10(scores: RankedScores) -> Estimate:
    """Return the mean nDCG@10."""
    return _mean_over_queries("ndcg_at_10", scores, ndcg_by_query(scores.answers))


@metric(values=_from_table(reciprocal_rank_by_query), label="MRR@10", reported=ONE_METRIC)
def mrr_at_10(scores: RankedScores) -> Estimate:
    """Return the mean reciprocal rank within the first ten answers."""
    return _mean_over_queries("mrr_at_10", scores, reciprocal_rank_by_query(scores.answers))


@metric(values=_from_table(_recall_function(1)), label="recall@1", reported=ONE_METRIC)
def document_recall_at_1(scores: RankedScores) -> Estimate:
    """Return the mean share of the right documents that the first answer finds.

    For queries with one right document, this is how often it comes first.
    """
    return _mean_over_queries("document_recall_at_1", scores, recall_by_query(scores.answers, cut=1))


@metric(values=_from_table(_recall_function(10)), label="recall@10", reported=ONE_METRIC)
def document_recall_at_10(scores: RankedScores) -> Estimate:
    """Return the mean share of the right documents among the first ten answers."""
    return _mean_over_queries("document_recall_at_10", scores, recall_by_query(scores.answers, cut=10))


@metric(values=_from_table(_recall_function(100)), label="recall@100", reported=ONE_METRIC)
def document_recall_at_100(scores: RankedScores) -> Estimate:
    """Return the mean share of the right documents among the first hundred answers."""
    return _mean_over_queries("document_recall_at_100", scores, recall_by_query(scores.answers, cut=100))


@metric(values=_from_table(average_precision_by_query), label="MAP", reported=ONE_METRIC)
def mean_average_precision(scores: RankedScores) -> Estimate:
    """Return the mean average precision of the listed answers, at most 1,000 as in BEIR and MTEB."""
    return _mean_over_queries("mean_average_precision", scores, average_precision_by_query(scores.answers))


@metric(
    values=_from_table(hard_negatives_beaten),
    label="share won",
    reported="queries without a hard negative have no value",
)
def hard_negative_accuracy(scores: RankedScores) -> Estimate:
    """Return the mean share of a query's hard negatives that score below its right document. A tie is not a win."""
    return _mean_over_queries("hard_negative_accuracy", scores, hard_negatives_beaten(scores.answers))


@metric(
    whole="it says how alike two rankings are, not which is right", label="first answer is that of BM25", surface=()
)
def agreement_with_bm25(scores: LoggedScores) -> Estimate:
    """Return the share of queries, weighted by frequency, whose first answer is BM25's first answer."""
    rival = scores.surface[BM25].answers
    same = np.array([a.first[0] == b.first[0] for a, b in zip(scores.answers, rival, strict=True)], float)
    weights = np.array(scores.weights, float)
    totals = scores.resampler.replicate_totals(np.column_stack([same * weights, weights]))
    value = float((same * weights).sum() / weights.sum())
    return estimate_from_replicates("agreement_with_bm25", scores, value, safe_ratio(totals[:, 0], totals[:, 1]))


def search_figures(scores: RankedScores) -> list[Estimate]:
    """Return all figures that are reported with nDCG@10."""
    result = [mrr_at_10, document_recall_at_1, document_recall_at_10, document_recall_at_100, mean_average_precision]
    has_negatives = any(one.duels for one in scores.answers)
    return [
        *(one(scores) for one in [*result, *[hard_negative_accuracy] * has_negatives]),
        *index_recall_figures(scores),
    ]


def index_recall_figures(scores: RankedScores | LoggedScores) -> list[Estimate]:
    """Return the share of an exact search's first 10, 100 and 1,000 answers that the index finds; none for exact
    search.

    Each figure is a mean over the sampled queries, each of which counts as a cluster.
    """
    stage = scores.first_stage
    if stage is None:
        return []
    size = {"documents": stage.documents, "lists": stage.size.lists, "probes": stage.size.probes}
    judged = {"right": stage.right, "right_lost": stage.lost, "right_raised": stage.raised} if stage.right else {}
    return [
        replace(index_recall(depth, values), params={**size, **judged})
        for depth, values in zip(stage.depths, stage.found.T, strict=True)
    ]


def index_recall(depth: int, values: Floats) -> Estimate:
    """Return the mean of `values` over queries, shape [n].

    Near 1, the interval is at least as wide as Clopper-Pearson's over queries.
    """
    n, value = len(values), float(values.mean())
    resampler = Resampler([str(i) for i in range(n)])
    low, high = map(float, percentile_interval(resampler.replicate_totals(values[:, None] - value)[:, 0] / n + value))
    low, high = (
        widen_share_interval(value, max(low, 0.0), min(high, 1.0), n=n * depth, clusters=n) if n > 1 else (0.0, 1.0)
    )
    return Estimate(f"{FIRST_STAGE_RECALL}_{depth}", value, low, high, n, n)


def _mean_over_queries(name: str, scores: RankedScores, values: Floats) -> Estimate:
    """Return the mean over the queries that have a value."""
    there = np.flatnonzero(~np.isnan(values))
    return estimate_share(name, scores.resampler.select(there), values[there])

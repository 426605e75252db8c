"""The figure that a gate tests of a search with labels and of graded pairs, and what is reported beside it.

Of graded pairs it is Spearman's correlation with people's scores. Of a search it is one rank metric: recall@1 where one
document is right for each query, so that it says how often the right one comes first; else nDCG@10; or what `--primary`
names. It is chosen by the labels and by the user, never by scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from encheck.gating.declared import declared_of
from encheck.gating.types import TOLERANCE, Beside, Paired
from encheck.metrics import Metric
from encheck.metrics.correlation import spearman
from encheck.metrics.search import (
    DELTA,
    document_recall_at_1,
    document_recall_at_10,
    document_recall_at_100,
    hard_negative_accuracy,
    mean_average_precision,
    mrr_at_10,
    ndcg_at_10,
)
from encheck.scoring.documents import Answers
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics import paired as stats
from encheck.statistics.sharing import numbered, sharing_of

NDCG, FIRST = "ndcg@10", "recall@1"
ENDPOINTS: Mapping[str, Metric[...]] = {
    NDCG: ndcg_at_10,
    FIRST: document_recall_at_1,
    "recall@10": document_recall_at_10,
    "recall@100": document_recall_at_100,
    "mrr@10": mrr_at_10,
    "map": mean_average_precision,
}
HITS = (document_recall_at_1, document_recall_at_10, document_recall_at_100)  # 0 or 1 where one document is right
RANKS = Scale(0.0)  # what is measured by ranks alone has no calibration
CONFIDENCE = 0.975  # one-sided: both ends make a 95% interval


def endpoint_of(table: CaseScores, wanted: str | None = None) -> Metric[...] | None:
    """The metric that the gate tests of these queries; None if they are not those of a search with labels.

    `wanted` is one of `ENDPOINTS`.
    """
    if not declared_of(table).primary or not table.answers:
        return None
    has_one = all(len(Answers.of(text).right) == 1 for text in table.answers)
    found = ENDPOINTS[wanted or (FIRST if has_one else NDCG)]
    return replace(found, kind="rate" if has_one and found in HITS else "mean", delta=DELTA, reported="")


def graded_endpoint(before: CaseScores, after: CaseScores) -> Paired:
    """Spearman's correlation with people's scores, before and after: the same pairs, in the same order.

    A pair whose scores agree within the noise of batch sizes has the same one under both models.
    """
    near = np.where(np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE), before.near, after.near)
    old, new = (spearman.per_item(table, RANKS) for table in (before, replace(after, near=near)))
    same = bool((near == before.near).all())
    return Paired(str(before.gate_row), declared_of(before).family, "mean", old, new, numbered(before.things),
                  same=same, budget="primary", endpoint=spearman.label)  # fmt: skip


def beside(before: CaseScores, after: CaseScores, endpoint: Metric[...]) -> tuple[Beside, ...]:
    """The other rank metrics of the same queries."""
    others = [*ENDPOINTS.values(), hard_negative_accuracy]
    found = (_beside(before, after, one) for one in others if one.name != endpoint.name)
    return tuple(one for one in found if one)


def _beside(before: CaseScores, after: CaseScores, metric: Metric[...]) -> Beside | None:
    """One of them, over the queries that have a value; None if hardly any has one."""
    old, new = (metric.per_item(table, RANKS) for table in (before, after))
    there = ~(np.isnan(old) | np.isnan(new))
    sharing = sharing_of(numbered(before.things)[there])
    if sharing.withheld:
        return None
    change = (new - old)[there]
    found = sharing.errors(change)
    reach = float(stats.t_quantile(CONFIDENCE, found.free) * found.error[0])
    mean = float(change.mean())
    label = "accuracy against hard negatives" if metric is hard_negative_accuracy else metric.label
    return Beside(label, float(old[there].mean()), float(new[there].mean()), mean, mean - reach, mean + reach)

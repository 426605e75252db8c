"""Searches without labels: how many answers changed bounds how far recall can have moved.

recall@k of a query changes only where the set of its first k answers does, and by no more than 1; so the mean over
queries moves by no more than the share of queries whose set changed. nDCG@10 also hangs on their order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from encheck.gating.pairing import TOLERANCE
from encheck.gating.types import Share, UnjudgedSearch
from encheck.scoring.documents import KEPT, Answers
from encheck.scoring.frame import CaseScores
from encheck.statistics.sharing import korn_graubard

Bools = NDArray[np.bool_]
DELTA = 0.02  # as of nDCG@10
ALPHA = 0.05  # of both errors together
DECISIVE = 0.5  # share of decisive judgements that a plan expects
LIKELY = 0.84  # normal quantile of 80%: how often a candidate that lost nothing passes
FINAL = 2.3  # about the last of Pocock's bounds
MOST_QUERIES = 10**7


@dataclass(frozen=True)
class Change:
    """Which queries have another first answer, other answers among the first ten, or these in another order."""

    first: Bools
    ten: Bools
    order: Bools

    @classmethod
    def of(cls, before: Sequence[Answers], after: Sequence[Answers]) -> Change:
        """Of the answers of two models to the same queries, in the same order."""
        pairs = [(old.first[:KEPT], new.first[:KEPT]) for old, new in zip(before, after, strict=True)]
        first = np.array([old[:1] != new[:1] for old, new in pairs], bool)
        ten = np.array([{*old} != {*new} for old, new in pairs], bool)
        return cls(first, ten, np.array([old != new for old, new in pairs], bool))


def is_unjudged(table: CaseScores) -> bool:
    """Whether the table is of queries of a log, of which nobody said what is right."""
    return bool(table.weights)


def moved(
    before: CaseScores, after: CaseScores, *, delta: float = DELTA, least: float | None = None, alpha: float = ALPHA
) -> UnjudgedSearch:
    """How many answers changed from one model to the other; both tables have the same queries in the same order.

    A loss of `delta` has to be ruled out, and one of `least`, `delta` if None, blocks; `alpha` is the error of the
    interval and of both decisions.
    Where no answer changed and all scores agree within the noise of batch sizes, the checkpoint is the same.
    """
    change = Change.of(*([Answers.of(text) for text in table.answers] for table in (before, after)))
    same = not change.order.any() and bool(np.allclose(before.near, after.near, rtol=0, atol=TOLERANCE))
    weights = np.array(after.weights, np.float64)
    shares = tuple(
        share(figure, what, which, weights, after.clusters, level=1 - alpha)
        for figure, what, which in (
            ("recall@1", "the first answer changes", change.first),
            ("recall@10", "the first ten are other documents", change.ten),
            ("nDCG@10", "the first ten change in order or content", change.order),
        )
    )
    if same:
        shares = tuple(replace(one, low=0.0, high=0.0) for one in shares)
    counts = len(after.items), int(weights.sum()), len(set(after.clusters))
    return UnjudgedSearch(
        str(after.gate_row), *counts, delta, shares, same, least=delta if least is None else least, alpha=alpha
    )


def share(
    figure: str,
    what: str,
    changed: Bools,
    weights: NDArray[np.float64],
    clusters: Sequence[str],
    *,
    level: float = 1 - ALPHA,
) -> Share:
    """The share of queries that changed, by how often they were asked, with Clopper and Pearson's interval.

    The interval is that of as many queries as the clusters are worth: no more than clusters of their weights would be
    if all queries of one changed together (Kish 1965, section 11.7), nor than the spread of the clusters' own shares
    says.
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sizes = np.bincount(codes, weights=weights)
    own = np.bincount(codes, weights=weights * changed)
    total = float(sizes.sum())
    value = float(own.sum()) / total
    worth = total**2 / float((sizes**2).sum())
    spread = float(((own - value * sizes) ** 2).sum()) / total**2
    if spread > 0:
        worth = min(worth, value * (1 - value) / spread)
    low, high = (float(end) for end in korn_graubard(value, worth, inf, level=level))
    return Share(figure, what, value, low, high, int(changed.sum()), worth)


def judgements_needed(changed: float, worth: float, delta: float) -> float:
    """How many judgements an equal model takes to pass in 80% of cases, where half of them are decisive.

    `changed` is the share of queries with another first answer, of `worth` queries. Infinite where these are too few:
    what is not known of the share alone is then as much as a loss of `delta`.

    >>> round(judgements_needed(0.142, 3000, 0.02)), judgements_needed(0.1, 30, 0.04)
    (254, inf)
    """
    p = max(changed, delta)
    unknown = (delta / p) ** 2 * p * (1 - p) / worth
    spare = (delta / (FINAL + LIKELY)) ** 2 - unknown
    return changed**2 * max(DECISIVE, min(1.0, delta / p)) / spare if spare > 0 else inf


def more_queries(found: UnjudgedSearch, *, judged: bool) -> int:
    """How many more queries of the log decide for an equal model, where as many of them change as so far.

    With `judged`, people judge those that change; else the share that changed has to be below delta, and it is
    `MOST_QUERIES` where no number makes it so.
    """
    one = found.shares[0]
    total = bisect_left(
        range(MOST_QUERIES), True, lo=1,
        key=lambda count: judgements_needed(one.value, count, found.delta) <= one.value * count if judged
        else float(korn_graubard(one.value, count, inf, level=1 - found.alpha)[1]) < found.delta,
    )  # fmt: skip
    return max(1, ceil((total - one.worth) * found.queries / one.worth))


def asks(found: UnjudgedSearch, command: str) -> str:
    """What decides an open search soonest: judgements, by `command`, or more queries; empty where it is decided."""
    if found.passes or found.blocks:
        return ""
    one = found.shares[0]
    unchanged = more_queries(found, judged=False)
    if not one.queries:
        return f"{unchanged:,} more queries of the log decide, if none of their first answers changes either"
    left = found.judged.left if found.judged else one.queries
    more = more_queries(found, judged=True)
    is_enough = judgements_needed(one.value, one.worth, found.delta) <= one.queries
    if unchanged < (left if is_enough else more):
        return f"{unchanged:,} more queries of the log decide, if their first answers change as rarely"
    if not left or not command:
        return f"about {more:,} more queries of the log decide, with judgements of those that change"
    if found.judged and found.judged.answered:
        return f"at most {left:,} more judgements decide: {command}"
    which = "1 query has" if one.queries == 1 else f"{one.queries:,} queries have"
    these = f"these {left:,}" if left == one.queries else f"at most {left:,} of them"
    too = "" if is_enough else f" (if the models are about equal, it takes {more:,} more queries of the log too)"
    return f"{which} another first answer: judge {these}{too}: {command}"

"""Searches without labels: how many answers changed bounds how far recall can have moved.

recall@k of a query changes only where the set of its first k answers does, and by no more than 1; so the mean over
queries moves by no more than the share of queries whose set changed. nDCG@10 also hangs on their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from encheck.gating.pairing import TOLERANCE
from encheck.gating.types import Moved, Share
from encheck.scoring.answers import KEPT, Answers
from encheck.scoring.table import Table
from encheck.statistics.sharing import korn_graubard

Bools = NDArray[np.bool_]
DELTA = 0.02  # as of nDCG@10


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


def is_unjudged(table: Table) -> bool:
    """Whether the table is of queries of a log, of which nobody said what is right."""
    return bool(table.weights)


def moved(before: Table, after: Table, *, delta: float = DELTA) -> Moved:
    """How many answers changed from one model to the other; both tables have the same queries in the same order.

    Where no answer changed and all scores agree within the noise of batch sizes, the checkpoint is the same.
    """
    change = Change.of(*([Answers.of(text) for text in table.answers] for table in (before, after)))
    same = not change.order.any() and bool(np.allclose(before.near, after.near, rtol=0, atol=TOLERANCE))
    weights = np.array(after.weights, np.float64)
    shares = tuple(
        share(figure, what, which, weights, after.clusters)
        for figure, what, which in (
            ("recall@1", "the first answer changes", change.first),
            ("recall@10", "the first ten are other documents", change.ten),
            ("nDCG@10", "the first ten change in order or content", change.order),
        )
    )
    if same:
        shares = tuple(replace(one, low=0.0, high=0.0) for one in shares)
    counts = len(after.items), int(weights.sum()), len(set(after.clusters))
    return Moved(str(after.gate_row), *counts, delta, shares, same)


def share(figure: str, what: str, changed: Bools, weights: NDArray[np.float64], clusters: Sequence[str]) -> Share:
    """The share of queries that changed, by how often they were asked, with Clopper and Pearson's 95% interval.

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
    low, high = (float(end) for end in korn_graubard(value, worth, inf))
    return Share(figure, what, value, low, high, int(changed.sum()), worth)

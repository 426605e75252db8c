"""Power of a gate row: the chance that it decides, given the error of its items, or of more clusters.

The error falls with the root of the number of clusters. The statistic is taken for Student's t, shifted by the change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from encheck.gating.types import GateRow, Remedy, Rule
from encheck.statistics import paired as stats

Floats = NDArray[np.float64]
AT_MOST = 100  # times as many clusters as there are
TRIED = 400  # numbers of clusters: each one up to some eighty, then in steps of 1.2%


def blocks(change: ArrayLike, error: ArrayLike, delta: ArrayLike, free: ArrayLike, *, alpha: ArrayLike,
           rule: Rule) -> Floats:  # fmt: skip
    """The chance to block: that the change is shown, at level `alpha`, to be below -block * delta."""
    with np.errstate(divide="ignore"):
        beyond = (-rule.block * np.asarray(delta, float) - np.asarray(change, float)) / np.asarray(error, float)
    return stats.t_cdf(beyond - stats.t_quantile(1 - np.asarray(alpha, float) / 2, free), free)


def passes(change: ArrayLike, error: ArrayLike, delta: ArrayLike, free: ArrayLike, *, rule: Rule) -> Floats:
    """The chance to pass: that the lower bound stays above the margins, and the estimate above its own."""
    c, d, e = (np.asarray(one, float) for one in (change, delta, error))
    margin = min(rule.row, rule.family)  # an endpoint is a family by itself
    with np.errstate(divide="ignore"):
        bound = stats.t_cdf((margin * d + c) / e - stats.t_quantile((1 + rule.level) / 2, free), free)
        estimate = stats.t_cdf((rule.estimate * d + c) / e, free)
    result: Floats = np.minimum(bound, estimate)
    return result


def detectable(error: Floats, delta: Floats, free: Floats, *, alpha: Floats, rule: Rule) -> Floats:
    """The smallest loss that is blocked with the rule's power: where `blocks` is as large."""
    demand = stats.t_quantile(1 - alpha / 2, free) + stats.t_quantile(rule.power, free)
    result: Floats = rule.block * delta + demand * error
    return result


def remedy(row: GateRow, error: float, *, alpha: float, rule: Rule) -> Remedy | None:
    """The fewest clusters more, each as large as those that are there, with which the row gates and decides.

    `error` is the row's own, `alpha` its level. None if not even `AT_MOST` times as many would do.
    """
    items, clusters = rule.least(row.budget)
    each = max(round(row.n / max(row.clusters, 1)), 1)
    first = max(row.clusters + row.gates, clusters, -(-items // each))
    if not np.isfinite(error):
        return Remedy(first - row.clusters, each)
    counts = np.unique(np.geomspace(first, max(first, AT_MOST * row.clusters), TRIED).round())
    then = error * np.sqrt(max(row.clusters, 1) / counts)
    free = counts - 1.0
    chance = np.maximum(
        blocks(row.change, then, row.delta, free, alpha=alpha, rule=rule),
        passes(row.change, then, row.delta, free, rule=rule),
    )
    enough = counts[chance >= rule.power]
    return Remedy(int(enough[0]) - row.clusters, each) if len(enough) else None

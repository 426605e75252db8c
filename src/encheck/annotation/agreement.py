"""Fleiss' kappa: how well annotators agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.bootstrap import Resampler, interval
from encheck.types import Estimate

Floats = NDArray[np.float64]
PERMUTATIONS = 10_000


def table_of(answers: Sequence[Sequence[str]]) -> Floats:
    """How many raters gave each answer, shape [items, distinct answers], the answers in sorted order.

    >>> table_of([["1", "1"], ["0", "1"]]).tolist()
    [[0.0, 2.0], [1.0, 1.0]]
    """
    names = sorted({answer for row in answers for answer in row})
    return np.array([[row.count(name) for name in names] for row in map(list, answers)], float)


def fleiss_kappa(table: Floats) -> float:
    """Fleiss' kappa (Fleiss 1971, equation 7) of counts [items, answers] whose rows sum to the number of raters.

    NaN if everybody gave one and the same answer throughout: chance then explains all agreement.
    """
    return float(_kappa(_columns(table).sum(axis=0, keepdims=True))[0])


def kappa(table: Floats, resampler: Resampler) -> Estimate:
    """Fleiss' kappa with its 95% cluster-bootstrap interval."""
    low, high = interval(_kappa(resampler.totals(_columns(table))))
    return Estimate("fleiss_kappa", fleiss_kappa(table), float(low), float(high), len(table), resampler.clusters)


def _columns(table: Floats) -> Floats:
    """What sums over items: pairwise agreement, 1, and the counts of the answers; shape [items, 2 + answers]."""
    raters = table.sum(axis=1)
    agreement = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    return np.column_stack([agreement, np.ones(len(table)), table])


def _kappa(totals: Floats) -> Floats:
    """From sums of `_columns`, shape [replicates, 2 + answers]."""
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = totals[:, 0] / totals[:, 1]
        shares = totals[:, 2:] / totals[:, 2:].sum(axis=1, keepdims=True)
        chance = (shares**2).sum(axis=1)
        found: Floats = np.where(chance < 1 - 1e-9, (observed - chance) / (1 - chance), np.nan)
    return found


def permutation_test(table: Floats, group: NDArray[np.bool_], *, seed: int = 0) -> tuple[float, float]:
    """(kappa inside the group - kappa outside, two-sided p): the group's name is dealt out anew 10,000 times.

    p = (1 + permutations at least as far apart) / (1 + permutations), so it is never 0 (Phipson and Smyth 2010).
    Permutations in which a kappa is NaN count as far apart. NaN if a kappa of the data is NaN.
    """
    rng = np.random.default_rng(seed)
    columns, everything = _columns(table), _columns(table).sum(axis=0)
    dealt = rng.permuted(np.tile(group, (PERMUTATIONS, 1)), axis=1)
    inside = np.vstack([group, dealt]) @ columns
    differences = _kappa(inside) - _kappa(everything - inside)
    observed = differences[0]
    if np.isnan(observed):
        return float("nan"), float("nan")
    far = ~(np.abs(differences[1:]) < abs(observed) - 1e-12)
    return float(observed), float((1 + far.sum()) / (1 + PERMUTATIONS))

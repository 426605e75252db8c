"""Split the gate's alpha into budgets, so that an extra hypothesis does not weaken those of another budget.

Search with labels has a primary endpoint, which is tested with 3% of the gate's 5% whatever else is tested. Behaviour
shares 1%, and slices of the queries share the last 1%. Within a budget Holm corrects. By Bonferroni over the budgets
all of them together err in 5% of cases at most. Without a primary endpoint that gates, behaviour has all 5%.
lab/decisions/0016 says why.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from encheck.gating.types import BUDGETS, Budget, Rule
from encheck.statistics import paired as stats

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def gating_rows(budgets: Sequence[Budget], n: Floats, clusters: Floats, rule: Rule) -> Bools:
    """Which rows have the items and clusters that gate; slices, only beside a primary endpoint that does."""
    least = np.array([rule.least(one) for one in budgets], float).reshape(-1, 2)
    enough = (n >= least[:, 0]) & (clusters >= least[:, 1])
    has_primary = bool((enough & _of(budgets, "primary")).any())
    return np.asarray(enough & (has_primary | ~_of(budgets, "slices")))


def spent(budgets: Sequence[Budget], gates: Bools, rule: Rule) -> tuple[Floats, Floats]:
    """(alpha that each row's budget has, number of rows that share it); shape [rows] each."""
    if not (gates & _of(budgets, "primary")).any():
        return np.full(len(gates), rule.alpha), np.full(len(gates), max(int(gates.sum()), 1), float)
    counts = {one: max(int((gates & _of(budgets, one)).sum()), 1) for one in BUDGETS}
    alpha = np.array([rule.alpha * rule.split[one] for one in budgets])
    return alpha, np.array([counts[one] for one in budgets], float)


def adjusted(p: Floats, budgets: Sequence[Budget], gates: Bools) -> Floats:
    """Holm's p of each row among those of its budget that gate; 1 for a row that does not gate."""
    found = np.ones(len(p))
    splits = (gates & _of(budgets, "primary")).any()
    for some in [gates & _of(budgets, one) for one in BUDGETS] if splits else [gates]:
        found[some] = stats.holm(p[some])
    return found


def _of(budgets: Sequence[Budget], wanted: Budget) -> Bools:
    return np.array([one == wanted for one in budgets], bool)

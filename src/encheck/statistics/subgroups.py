"""Find where failures cluster: search cells of a table on one half of the clusters, and test them on the other half.

A cell is the items of one table that have one value of a feature, or two values of two features. A search of thousands
of cells finds cells that fail only by chance. So the half that nominates cells is not used in the test. Items also fail
because of properties in `known`, such as the surface of an edit. So a cell has to fail more than these explain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.hypothesis_tests import holm_adjusted_p

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST, CLUSTERS, ALPHA = 10, 15, 0.05
PERMUTATIONS = 9_999
OVERLAP = 0.5  # a cell that shares more of its texts with a nominated one is redundant
_ONE_SIDED = 1.645
_FINEST = 1e-9


@dataclass(frozen=True)
class FeatureTable:
    """The items of one check: whether each failed, its cluster, its text, and its value of each feature, shape [n]
    each.

    "" means no value. Cells that share texts count as the same cell if their tables have the same `topic`. `known` has
    the properties that are held equal, shape [n, k].
    """

    name: str
    topic: str
    failed: Mask
    clusters: tuple[str, ...]
    texts: tuple[str, ...]
    features: Mapping[str, Sequence[str]]
    known: Floats

    def residual_function(self, half: Mask) -> Callable[[Floats], Floats]:
        """Return a function that subtracts from columns of this half what `known` and a constant predict by least
        squares.
        """
        design = np.column_stack([np.ones(int(half.sum())), self.known[half]])
        left, sizes, _ = np.linalg.svd(design, full_matrices=False)
        basis = left[:, sizes > _FINEST * sizes.max(initial=0)]
        return lambda columns: columns - basis @ (basis.T @ columns)


@dataclass(frozen=True)
class FailureRates:
    """The failure rates in a cell and among the other items of its table, on one half of the clusters."""

    inside: float
    n: int
    clusters: int
    outside: float
    n_outside: int


@dataclass(frozen=True)
class Subgroup:
    """A nominated cell. `values` has one or two (feature, value). `p` is adjusted by Holm over all nominated cells.

    `members` and `confirming` are masks of the table's items: those in the cell, and of these those in the testing
    half.
    """

    table: str
    values: tuple[tuple[str, str], ...]
    search: FailureRates
    confirmation: FailureRates
    p: float
    members: Mask
    confirming: Mask

    @property
    def is_confirmed(self) -> bool:
        """Whether the testing half confirms the cell, at 5% for all nominated cells together."""
        return self.p <= ALPHA


@dataclass(frozen=True)
class _Candidate:
    bound: float
    table: int
    values: tuple[tuple[str, str], ...]
    mask: Mask


def find_subgroups(tables: Sequence[FeatureTable], *, seed: int, permutations: int = PERMUTATIONS) -> list[Subgroup]:
    """Return at most ten cells that fail more often than the rest of their table, by increasing p.

    A seeded half of all clusters nominates cells, by the lower 95% bound of the difference in failure rate beyond what
    is known. Cell and rest need at least 15 clusters each. The other half tests each cell's failures, and its failures
    beyond what is known (`permutation_p`). The larger p counts, corrected for all nominated cells (Holm 1979). So
    without any pattern in the data, at most 5% of searches confirm a cell.
    """
    rng = np.random.default_rng(seed)
    names = sorted({name for table in tables for name in table.clusters})
    first = frozenset(rng.permutation(names)[: len(names) // 2].tolist())  # a cluster is in the same half in all tables
    halves = [np.array([c in first for c in table.clusters], bool) for table in tables]
    candidates = [
        one
        for number, (table, half) in enumerate(zip(tables, halves, strict=True))
        for one in _candidate_cells(number, table, half)
    ]
    chosen = _drop_redundant(tables, sorted(candidates, key=lambda one: -one.bound))
    p = holm_adjusted_p([_test_cell(tables[c.table], c.mask, ~halves[c.table], permutations, rng) for c in chosen])
    found = []
    for c, q in zip(chosen, p, strict=True):
        table, half = tables[c.table], halves[c.table]
        search, confirmation = (_failure_rates(table, c.mask, own) for own in (half, ~half))
        found.append(Subgroup(table.name, c.values, search, confirmation, float(q), c.mask, ~half))
    return sorted(found, key=lambda cell: cell.p)


def _candidate_cells(number: int, table: FeatureTable, half: Mask) -> Iterator[_Candidate]:
    """Yield the cells of a table that are large enough and fail significantly more often than the rest in this half."""
    if not half.any():
        return
    beyond, groups = table.residual_function(half), _number_clusters(_clusters_of_half(table, half))
    failed = beyond(table.failed[half].astype(float))
    columns = []
    for name, column in table.features.items():
        given = np.array(column, object)
        for entry in sorted(set(column) - {""}):
            has_entry = given == entry
            if len(set(groups[has_entry[half]].tolist())) >= CLUSTERS:
                columns.append(((name, entry), has_entry))
    if not columns or table.failed[half].all() or not table.failed[half].any():
        return
    matrix = np.column_stack([mask for _, mask in columns])
    for i, (value, mask) in enumerate(columns):
        bounds = _lower_difference_bounds(matrix[half] & mask[half, None], failed, groups, beyond)
        for j in range(i, len(columns)):
            (other, others), is_pair = columns[j], i != j
            if bounds[j] <= 0 or (is_pair and value[0] == other[0]):
                continue
            both = mask & others
            if is_pair and both.sum() == min(mask.sum(), others.sum()):  # one of the two is redundant
                continue
            yield _Candidate(float(bounds[j]), number, (value, other) if is_pair else (value,), both)


def _clusters_of_half(table: FeatureTable, half: Mask) -> list[str]:
    return [cluster for cluster, is_own in zip(table.clusters, half, strict=True) if is_own]


def _number_clusters(names: Sequence[str]) -> NDArray[np.intp]:
    return np.unique(np.array(names, str), return_inverse=True)[1].reshape(-1).astype(np.intp)


def _lower_difference_bounds(
    masks: Mask, failed: Floats, groups: NDArray[np.intp], beyond: Callable[[Floats], Floats]
) -> Floats:
    """Return the lower 95% bound of the difference between cell and rest beyond what is known; shape [cells].

    The difference is the coefficient of the cell in the linear model (Frisch and Waugh 1933). Its error is that of the
    clusters' scores under no difference, so that even a small cell in which all items fail has an error. The bound is
    minus infinity if the cell or the rest is too small, or if `known` determines the cell.
    """
    from scipy.sparse import csr_array

    total, count = int(groups.max()) + 1, len(groups)
    by_cluster = csr_array((np.ones(count), (groups, np.arange(count))), shape=(total, count))
    inside = masks.astype(float)
    reached, beside = (((by_cluster @ some) > 0).sum(0) for some in (inside, 1 - inside))
    cells = beyond(inside)
    size = (cells**2).sum(0)
    is_one = (reached >= CLUSTERS) & (beside >= CLUSTERS) & (size > _FINEST * count)
    scores = (by_cluster @ (cells * failed[:, None])) / np.where(is_one, size, 1)
    return np.where(is_one, scores.sum(0) - _ONE_SIDED * np.sqrt((scores**2).sum(0)), -np.inf)


def _drop_redundant(tables: Sequence[FeatureTable], ranked: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the first ten cells that share less than half of their texts with an earlier cell on the same topic."""
    chosen: list[_Candidate] = []
    texts: list[frozenset[str]] = []
    for one in ranked:
        table = tables[one.table]
        own = frozenset(np.array(table.texts, object)[one.mask].tolist())
        known = [t for c, t in zip(chosen, texts, strict=True) if tables[c.table].topic == table.topic]
        if any(len(own & other) > OVERLAP * min(len(own), len(other)) for other in known):
            continue
        chosen.append(one)
        texts.append(own)
        if len(chosen) == MOST:
            break
    return chosen


def _test_cell(table: FeatureTable, mask: Mask, half: Mask, permutations: int, rng: np.random.Generator) -> float:
    if not half.any():
        return 1.0
    own, beyond = _clusters_of_half(table, half), table.residual_function(half)
    plain = mask[half].astype(float), table.failed[half].astype(float)
    both = plain, tuple(map(beyond, plain))
    return max(permutation_p(x, y, own, permutations=permutations, rng=rng) for x, y in both)


def permutation_p(
    cell: Floats, outcomes: Floats, clusters: Sequence[str], *, permutations: int, rng: np.random.Generator
) -> float:
    """Return the one-sided p of H0 that outcomes are independent of the cell, against larger outcomes in it.

    `cell` and `outcomes` have shape [n]. Whole clusters exchange their outcomes with clusters of the same size, and
    outcomes are exchanged within each cluster. So items of one cluster may fail together, and the size of a cluster may
    matter. The test is exact if clusters of one size are exchangeable. The p-value is a Monte Carlo estimate that
    counts the observed table itself (Phipson and Smyth 2010).

    >>> cell = (np.arange(40) < 20) * 1.0
    >>> names = [str(i) for i in range(40)]
    >>> permutation_p(cell, cell, names, permutations=99, rng=np.random.default_rng(0))
    0.01
    """
    observed, drawn = float(np.vdot(outcomes, cell)), np.zeros(permutations)
    groups = _number_clusters(clusters)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    for size in np.unique(sizes).tolist():
        at = order[sizes[groups[order]] == size]
        cells, some = cell[at].reshape(-1, size), outcomes[at].reshape(-1, size)  # one row per cluster
        for i in range(permutations):
            exchanged = some[rng.permutation(len(some))]
            if size > 1:
                exchanged = rng.permuted(exchanged, axis=1)
            drawn[i] += np.vdot(exchanged, cells)
    return float((1 + (drawn >= observed - _FINEST).sum()) / (permutations + 1))


def _failure_rates(table: FeatureTable, mask: Mask, half: Mask) -> FailureRates:
    inside, outside = mask & half, ~mask & half
    names = {table.clusters[i] for i in np.flatnonzero(inside)}
    rates = [float(table.failed[m].mean()) if m.any() else float("nan") for m in (inside, outside)]
    return FailureRates(rates[0], int(inside.sum()), len(names), rates[1], int(outside.sum()))

"""Compute intervals for means of items that share things, such as documents, sentences, a topic or a skeleton.

The errors of two items may be correlated only if the items share at least one thing. With S = 1 for such pairs and
on the diagonal, e the residuals of n values, and M the matrix that removes the mean, the variance of the mean is

    V = max(e'e / (n (n - 1)), e'S e / n^2 * tr(S) / tr(MSM)),    df = tr(MSM)^2 / tr((MSM)^2)

(Fafchamps and Gubert 2007, J. Dev. Econ. 83; Aronow, Samii and Assenova 2015, Political Analysis 23; Tabord-Meehan
2019, JBES 37; the corrections for few items make V right, and df Satterthwaite's, if items vary equally and
independently). Unlike connected components, this does not join items that are connected only by a chain of other items.
Clusters are the special case in which each item has one thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from encheck.statistics.hypothesis_tests import t_quantile, tango_bound

Floats = NDArray[np.float64]
Things = NDArray[np.intp]
LEVEL = 0.95
LEAST_FREEDOM = 15
WIDEST = 0.25  # largest share of the items that may share one thing
FEW, SUPPOSED = 10, 0.5  # with fewer items on the rarer side, this correlation of sharing items is assumed
_AT_ONCE = 5_000_000  # pairs that share something, kept in memory
_NOTHING = 1e-9


@dataclass(frozen=True)
class MeanErrors:
    """The errors of the columns' means; shape [k], except for `degrees_of_freedom`.

    `variance` is the variance of the mean, with these `degrees_of_freedom`, and `effective` the effective number of
    independent items. `scores` [n, k] has each item's contribution. `Sharing.quadratic_form` of a column of `scores` is
    its variance.
    """

    mean: Floats
    variance: Floats
    degrees_of_freedom: float
    effective: Floats
    scores: Floats

    @property
    def error(self) -> Floats:
        """The standard error of each mean."""
        return np.sqrt(self.variance)


@dataclass(frozen=True, eq=False)
class Sharing:
    """Which of n items share something.

    `things` has the numbers of each item's things. Items with the same things form a *pattern*; `patterns` [n] has the
    pattern of each item. `incidence`, shape [patterns, things], has the things of each pattern. `largest_unit` is the
    number of items with the most frequent thing. `clusters` is the number of clusters if each item has one thing, None
    if things overlap.
    """

    things: Things
    patterns: Things
    incidence: Any
    largest_unit: int
    clusters: int | None

    @classmethod
    def of(cls, things: ArrayLike) -> Self:
        """Return the sharing of items with these things, shape [n] for one thing each, or [n, k] for up to k things.

        A negative number stands for no thing. An item without things shares nothing.

        >>> chain = Sharing.of([[0, -1], [0, 1], [1, 2], [2, -1]])
        >>> chain.sum_over_sharing_items(np.ones((4, 1))).ravel().tolist()
        [2.0, 3.0, 3.0, 2.0]
        """
        from scipy.sparse import csr_array

        given = np.asarray(things, np.intp)
        given = given.reshape(len(given), -1 if given.size else 1)
        n, width = given.shape
        item, thing = np.repeat(np.arange(n), width), given.ravel()
        item, thing = item[thing >= 0], thing[thing >= 0]
        pairs = csr_array((np.ones(len(item)), (item, thing)), shape=(n, int(thing.max(initial=-1)) + 1))
        sizes = np.bincount(pairs.indices, minlength=pairs.shape[1])
        linked = csr_array((pairs.data, pairs.indices, pairs.indptr), shape=pairs.shape)[:, sizes > 1]
        patterns, firsts = _find_patterns(linked)
        some = linked[firsts]
        alone = np.flatnonzero(np.diff(some.indptr) == 0)  # each becomes a thing that no other item has
        rows = np.concatenate([np.repeat(np.arange(len(firsts)), np.diff(some.indptr)), alone])
        columns = np.concatenate([some.indices, some.shape[1] + np.arange(len(alone))])
        shape = (len(firsts), some.shape[1] + len(alone))
        incidence = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
        is_partition = bool((np.diff(linked.indptr) <= 1).all())
        return cls(given, patterns, incidence, int(sizes.max(initial=0)), len(firsts) if is_partition else None)

    def __len__(self) -> int:
        return len(self.patterns)

    @cached_property
    def _sizes(self) -> Floats:
        """The number of items with each pattern; shape [patterns]."""
        return np.bincount(self.patterns, minlength=self.incidence.shape[0]).astype(float)

    @cached_property
    def _blocks(self) -> list[tuple[slice, Any]]:
        """The matrix S between the patterns: in one piece if it is small, otherwise as blocks of rows, computed when
        needed.
        """
        costs = np.cumsum(self.incidence @ np.asarray(self.incidence.sum(axis=0)).ravel())
        if costs[-1] <= _AT_ONCE:
            whole = slice(0, len(costs))
            return [(whole, self._share_matrix_of_patterns(whole))]
        cuts = [0, *np.searchsorted(costs, np.arange(_AT_ONCE, costs[-1], _AT_ONCE)).tolist(), len(costs)]
        return [(slice(a, b), None) for a, b in pairwise(cuts) if a < b]

    def _share_matrix_of_patterns(self, rows: slice) -> Any:
        found = self.incidence[rows] @ self.incidence.T
        found.data[:] = 1.0
        return found.astype(np.float64)

    def _times_sharing(self, sums: Floats) -> Floats:
        """Return the matrix S between the patterns times `sums`, shape [patterns, k]."""
        if self.clusters is not None:
            return sums
        blocks = ((self._share_matrix_of_patterns(rows) if block is None else block) for rows, block in self._blocks)
        return np.concatenate([block @ sums for block in blocks])

    def _sum_by_pattern(self, columns: Floats) -> Floats:
        """Return the sum of each column over the items of each pattern, shape [patterns, k]."""
        if len(self._sizes) == len(self.patterns):
            found = np.empty_like(columns)
            found[self.patterns] = columns
            return found
        found = np.zeros((len(self._sizes), columns.shape[1]))
        np.add.at(found, self.patterns, columns)
        return found

    def sum_over_sharing_items(self, columns: Floats) -> Floats:
        """Return S times the columns [n, k]: for each item, the sum over all items that share something with it, and
        itself.
        """
        return self._times_sharing(self._sum_by_pattern(columns))[self.patterns]

    def quadratic_form(self, columns: Floats) -> Floats:
        """Return x'S x of each column x; shape [k]. It may be below 0, since S is not a covariance."""
        sums = self._sum_by_pattern(columns)
        found: Floats = (sums * self._times_sharing(sums)).sum(axis=0)
        return found

    def _traces_without_stratum_means(self, strata: Things) -> tuple[float, float]:
        """Return tr(MSM) and tr((MSM)^2), where M removes the mean of each stratum."""
        if not len(self):
            return 0.0, 0.0
        groups = np.unique(strata, return_inverse=True)[1].reshape(-1)
        member = np.zeros((len(groups), int(groups.max(initial=0)) + 1))
        member[np.arange(len(groups)), groups] = 1
        counts = member.sum(axis=0)
        sums = self._sum_by_pattern(member)
        reached = self._times_sharing(sums)  # [patterns, strata]
        between = sums.T @ reached
        squares = ((reached**2) * self._sizes[:, None]).sum(axis=0)
        first = len(groups) - float((np.diag(between) / counts).sum())
        twice = float((between**2 / np.outer(counts, counts)).sum())
        return first, float(between.sum()) - 2 * float((squares / counts).sum()) + twice

    @cached_property
    def _plain_traces(self) -> tuple[float, float]:
        return self._traces_without_stratum_means(np.zeros(len(self), np.intp))

    @cached_property
    def degrees_of_freedom(self) -> float:
        """The degrees of freedom of the variance of a mean; 0 if all items share something."""
        first, second = self._plain_traces
        return first**2 / second if second > _NOTHING else 0.0

    @cached_property
    def effective_items(self) -> float:
        """The effective number of independent items, if items that share something agree entirely."""
        return float(len(self) ** 2 / max(self.quadratic_form(np.ones((len(self), 1)))[0], 1.0))

    @property
    def independent_clusters(self) -> int:
        """The number of clusters. If things overlap, the number of equal clusters with as many degrees of freedom."""
        return self.clusters if self.clusters is not None else int(self.degrees_of_freedom + 1 + 1e-9)

    @property
    def why_no_interval(self) -> str:
        """Why no interval of these items is reliable; empty if intervals are reliable."""
        if self.largest_unit > WIDEST * len(self) and self.largest_unit > 1:
            return (
                f"{self.largest_unit:,} of {len(self):,} items share one document, sentence or cluster, but an "
                f"interval needs that none is in more than a quarter of the items"
            )
        if not self.degrees_of_freedom >= LEAST_FREEDOM - 1e-9:
            return (
                f"its {len(self):,} items share so much that their error has {self.degrees_of_freedom:.1f} degrees of "
                f"freedom, but an interval needs {LEAST_FREEDOM}"
            )
        return ""

    def estimate_errors(self, values: Floats, *, strata: Things | None = None) -> MeanErrors:
        """Return the standard error of each column mean of an [n, k] array. The sizes of the `strata` [n] are fixed."""
        columns = values.reshape(len(self), -1).astype(float)
        n, mean = len(columns), columns.mean(axis=0)
        if strata is None:
            residuals, traces = columns - mean, self._plain_traces
        else:
            groups = np.unique(strata, return_inverse=True)[1].reshape(-1)
            means = np.array([columns[groups == one].mean(axis=0) for one in range(groups.max(initial=0) + 1)])
            residuals, traces = columns - means[groups], self._traces_without_stratum_means(groups)
        squares, shared = (residuals**2).sum(axis=0), self.quadratic_form(residuals)
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = squares / (n * (n - 1))
            grown = shared / n**2 * (n / traces[0] if traces[0] > _NOTHING * n else np.nan)
            variance = np.maximum(plain, grown)
            effective = np.where(variance > 0, n * plain / variance, n)
            scores = residuals * np.sqrt(np.where(shared > 0, variance / shared, variance / squares))
        degrees_of_freedom = traces[0] ** 2 / traces[1] if traces[1] > _NOTHING else 0.0
        return MeanErrors(mean, variance, degrees_of_freedom, effective, np.nan_to_num(scores))

    def effective_items_of_rate(self, errors: MeanErrors, rare: Floats) -> Floats:
        """Return the effective number of items for rates with `rare` items [k] on the rarer side.

        If there are too few rare items to estimate the correlation of sharing items, `SUPPOSED` is assumed: fully
        without rare items, and not at all with `FEW` or more.
        """
        supposed = SUPPOSED * np.maximum(1 - rare / FEW, 0)
        found: Floats = np.minimum(
            errors.effective, len(self) / (1 + supposed * (len(self) / self.effective_items - 1))
        )
        return found

    def rate_interval(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the 95% interval of the mean of each column [n, k] of values from 0 to 1; ends of shape [k].

        It is Clopper and Pearson's interval at the effective number of items (Korn and Graubard 1998, Survey
        Methodology 24). Values between 0 and 1 vary less than wins and losses with the same mean, so they count for
        more items. The interval is 0 to 1 if `why_no_interval` has a reason.
        """
        columns = values.reshape(len(self), -1).astype(float)
        if self.why_no_interval:
            return np.zeros(columns.shape[1]), np.ones(columns.shape[1])
        errors = self.estimate_errors(columns)
        share = errors.mean
        rare = np.minimum(share, 1 - share) * len(self)
        own, of_wins = columns.var(axis=0), share * (1 - share)
        gained = np.where(own > _NOTHING, of_wins / np.maximum(own, _NOTHING), 1.0)
        return korn_graubard_interval(
            share, self.effective_items_of_rate(errors, rare) * np.maximum(gained, 1), errors.degrees_of_freedom
        )

    def change_interval(self, differences: Floats, *, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return the interval of the mean of each column [n, k] of differences of wins, from -1 to 1; ends of shape
        [k].

        It is Tango's score interval at the effective number of items, with Student's t. The interval is -1 to 1 if
        `why_no_interval` has a reason.
        """
        if self.why_no_interval:
            return np.full(differences.size // len(self), -1.0), np.full(differences.size // len(self), 1.0)
        columns = differences.reshape(len(self), -1)
        errors, n = self.estimate_errors(columns), len(self)
        up, down = (np.maximum(sign * columns, 0).sum(axis=0) for sign in (1, -1))
        effective = self.effective_items_of_rate(errors, up + down)
        reach = t_quantile((1 + level) / 2, errors.degrees_of_freedom)
        scale = effective / n
        ends = [tango_bound(effective, up * scale, down * scale, sign * reach) for sign in (1, -1)]
        return ends[0], ends[1]


def mean_interval(errors: MeanErrors) -> tuple[Floats, Floats]:
    """Return the 95% intervals of the means by Student's t; ends of shape [k]."""
    reach = t_quantile((1 + LEVEL) / 2, max(errors.degrees_of_freedom, 1)) * errors.error
    return errors.mean - reach, errors.mean + reach


def cached_sharing(things: ArrayLike) -> Sharing:
    """Return `Sharing.of` from a cache, since all figures on the same items use it."""
    given = np.ascontiguousarray(things, np.intp)
    return _sharing_of_bytes(given.tobytes(), given.shape)


@lru_cache(maxsize=64)
def _sharing_of_bytes(things: bytes, shape: tuple[int, ...]) -> Sharing:
    return Sharing.of(np.frombuffer(things, np.intp).reshape(shape))


def number_names(names: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return a number for each name of a thing, in alphabetical order."""
    return {name: i for i, name in enumerate(sorted({name for some in names for name in some}))}


def number_units(names: Sequence[Sequence[str]], codes: Mapping[str, int] | None = None) -> Things:
    """Return the numbers of each item's things, shape [n] if each item has one, otherwise [n, k] with -1 for no thing.

    >>> number_units([["a"], ["a", "b"]]).tolist()
    [[0, -1], [0, 1]]
    """
    given = number_names(names) if codes is None else codes
    width = max(map(len, names), default=1)
    if width == 1:
        return np.array([given[name] for (name,) in names], np.intp)
    return np.array([[*(given[name] for name in some), *[-1] * (width - len(some))] for some in names], np.intp)


def stack_units(several: Sequence[Things]) -> Things:
    """Return the things of several sets of items in one array [n, k]. The numbering stays the same, and k is the
    largest.

    >>> stack_units([np.array([[1]]), np.array([[2, 3]])]).tolist()
    [[1, -1], [2, 3]]
    """
    width = max(one.shape[1] for one in several)
    return np.concatenate([np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=-1) for one in several])


def _find_patterns(linked: Any) -> tuple[Things, Things]:
    """Return the pattern of each row of an incidence matrix, and the first row of each pattern.

    Each empty row is a pattern of its own.
    """
    widths = np.diff(linked.indptr)
    n = len(widths)
    if (widths <= 1).all():
        keys = np.arange(linked.shape[1], linked.shape[1] + n)
        keys[widths == 1] = linked.indices
    else:
        linked.sort_indices()
        names = [linked.indices[a:b].tobytes() for a, b in pairwise(linked.indptr)]
        keys = np.array([name or str(i).encode() + b"\0" for i, name in enumerate(names)], object)
        numbers: dict[bytes, int] = {}
        keys = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.intp)
    _, firsts, patterns = np.unique(keys, return_index=True, return_inverse=True)
    return patterns.reshape(-1).astype(np.intp), firsts.astype(np.intp)


def korn_graubard_interval(
    share: ArrayLike, effective: ArrayLike, degrees_of_freedom: ArrayLike, *, level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's interval of shares, at (z / t)^2 times the effective numbers of items; default 95%.

    >>> low, high = korn_graubard_interval(0.5, 100, np.inf)
    >>> round(float(low), 3), round(float(high), 3)
    (0.398, 0.602)
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    count = np.asarray(effective, float) * (t_quantile(tail, np.inf) / t_quantile(tail, degrees_of_freedom)) ** 2
    hits = np.asarray(share, float) * count
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-300), count - hits + 1, tail), 0.0)
        high = np.where(hits < count, betaincinv(hits + 1, np.maximum(count - hits, 1e-300), 1 - tail), 1.0)
    return low, high

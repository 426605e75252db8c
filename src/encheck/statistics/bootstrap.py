"""The bootstrap over clusters.

Items that share a sentence are not independent, so a replicate draws whole clusters with replacement (Field and
Welsh 2007, "Bootstrapping clustered data"). Weights are drawn once for each set of clusters. All figures of a run share
them, so its figures are comparable replicate by replicate.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from encheck.statistics.clusters import search_sorted, slice_in_chunks
from encheck.statistics.sharing import Sharing, cached_sharing, number_units
from encheck.types import content_hash

Floats = NDArray[np.float64]
REPLICATES = 10_000
LEVEL = 0.95
MIN_ITEMS_A_SIDE = 10  # of a share; with fewer, bootstrap percentiles are unreliable
_MAX_WEIGHTS = 60_000_000  # weights kept in memory, four bytes each
_MAX_ITEM_WEIGHTS = 2_000_000
_WEIGHTS_AT_ONCE = 1_000_000
_CAST_AT_ONCE = 100_000  # weights converted to fp64; a piece that fits the cache takes a third of the time
MAX_CLUSTERS = 50_000  # with more, groups of clusters are drawn
GROUPS, GROUP_REPLICATES = 20_000, 2_000
MANY_ITEMS = 200_000  # with more, rank figures use each item's influence instead of ranking every replicate


@lru_cache(maxsize=4)
def bootstrap_weights(clusters: int, seed: int, replicates: int = REPLICATES) -> NDArray[np.float32]:
    """Return how often each cluster is drawn, shape [replicates, clusters]; each row sums to `clusters`.

    The replicates of one cluster are contiguous in memory, since most figures use few of the clusters. With more than
    6,000 clusters, fewer replicates are drawn (at least 500), so that the table stays within 240 MB up to 120,000
    clusters.
    """
    replicates = max(500, min(replicates, _MAX_WEIGHTS // max(clusters, 1)))
    rng = np.random.default_rng([seed, clusters])
    weights = np.empty((clusters, replicates), np.float32).T
    step = max(1, _WEIGHTS_AT_ONCE // max(clusters, 1))
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        draws = rng.integers(0, clusters, (rows, clusters), dtype=np.int32)
        draws += (np.arange(rows, dtype=np.int32) * clusters)[:, None]
        weights[start : start + rows] = np.bincount(draws.ravel(), minlength=rows * clusters).reshape(rows, clusters)
    return weights


def overlapping_item_weights(
    names: Sequence[Sequence[str]], things: NDArray[np.intp], seed: int
) -> NDArray[np.float32]:
    """Return the weight of each item in each replicate, for items that overlap; shape [replicates, items].

    A weight is 1 plus a standard normal draw for each thing that the item shares with others, or for the item itself if
    it shares nothing. (Rubin 1981, Annals of Statistics 9, has such weights with other distributions.) A thing has the
    same draws in every selection of items. So two items vary together if they share something, as in `sharing`. An item
    with several things varies more than in `sharing`, so intervals are slightly too wide.
    """
    n = len(names)
    replicates = max(500, min(REPLICATES, _MAX_WEIGHTS // max(n, 1) // 4))
    counts = np.bincount(things[things >= 0])
    found = np.ones((n, replicates), np.float32)
    drawn: dict[str, NDArray[np.float32]] = {}
    for i, (some, numbers) in enumerate(zip(names, things.reshape(n, -1), strict=True)):
        shared = [name for name, number in zip(some, numbers.tolist(), strict=False) if counts[number] > 1]
        for name in shared or [" ".join(some)]:
            if name not in drawn:
                key = [seed, int(content_hash(name), 16)]
                drawn[name] = np.random.default_rng(key).standard_normal(replicates, np.float32)
            found[i] += drawn[name]
    return found.T


@dataclass(frozen=True, eq=False)
class _HashableWeights:
    """The weights of `bootstrap_weights`, hashed by identity for the cache."""

    weights: NDArray[np.float32]


@lru_cache(maxsize=2)
def weights_of_clusters(drawn: _HashableWeights, columns: bytes) -> NDArray[np.float32]:
    """Return the weights of the clusters in these columns, given as bytes of `np.intp`; shape [columns, replicates].

    The latest result is cached, since all figures of a check use the same clusters.
    """
    return drawn.weights.T[np.frombuffer(columns, np.intp)]


@dataclass(frozen=True, eq=False)
class ClusterNumbers:
    """The cluster of each item as a number, shape [n], out of `count` clusters.

    `others` has a second cluster for items that belong to two clusters, and -1 for other items. `hashes`, shape
    [count], has a 64-bit number for each cluster, which depends only on its name.
    """

    numbers: NDArray[np.signedinteger]
    count: int
    others: NDArray[np.signedinteger] | None
    hashes: NDArray[np.uint64]

    @classmethod
    def from_names(cls, names: Sequence[str], universe: Sequence[str] | None, others: Sequence[str]) -> ClusterNumbers:
        """Return the clusters with these names, numbered in the order of all names. "" means that an item has no second
        cluster.
        """
        every = sorted({*(universe if universe is not None else names), *filter(None, others)})
        column = {name: i for i, name in enumerate(every)}
        second = np.array([column[name] if name else -1 for name in others], np.int64) if any(others) else None
        hashes = [int(content_hash(name), 16) for name in every] if len(every) > MAX_CLUSTERS else [0]
        return cls(
            np.array([column[name] for name in names], np.int64), len(every), second, np.array(hashes, np.uint64)
        )


class Resampler:
    """Bootstrap replicates of figures over items that belong to clusters.

    `universe` names all clusters of the run's data, in any order. Weights depend only on their number and on the
    seed. `clusters` names the cluster of each item. `others` names a second cluster for items that belong to two, such
    as a random pair of sentences, and is "" for other items. The weight of such an item is the product of the weights
    of its clusters (Owen 2007, "The pigeonhole bootstrap"), which makes intervals slightly too wide. `ClusterNumbers`
    has clusters as numbers. `shares` names the things that overlapping items have in common; it is empty for items that
    share only their cluster. If some items overlap (`overlaps`), all of them and all selections have weights of their
    own in a replicate (`overlapping_item_weights`). Only clusters are drawn if items belong to two clusters, or if
    there are more than `MANY_ITEMS` items.

    More than `MAX_CLUSTERS` clusters are put into `GROUPS` random groups by their hash, and groups are drawn: the
    method of random groups (Wolter 2007, section 2.4). The variance of a sum over independent clusters is the same in
    expectation, and memory does not grow with their number.
    """

    def __init__(
        self,
        clusters: Sequence[str] | ClusterNumbers,
        *,
        universe: Sequence[str] | None = None,
        seed: int = 0,
        others: Sequence[str] = (),
        shares: Sequence[Sequence[str]] = (),
    ) -> None:
        found = (
            clusters if isinstance(clusters, ClusterNumbers) else ClusterNumbers.from_names(clusters, universe, others)
        )
        self._count, self.is_grouped, self.overlaps = found.count, found.count > MAX_CLUSTERS, False
        self._numbers: NDArray[np.signedinteger]
        self.columns: NDArray[np.signedinteger]
        self.others: NDArray[np.signedinteger] | None
        if self.is_grouped:  # small integers, since there are millions of items
            group = (found.hashes % np.uint64(GROUPS)).astype(np.int16)
            self._numbers, self.columns = found.numbers.astype(np.int32, copy=False), group[found.numbers]
            self.others = (
                None if found.others is None else np.where(found.others < 0, np.int16(-1), group[found.others])
            )
            self.weights = bootstrap_weights(GROUPS, seed, GROUP_REPLICATES)
        else:
            self._numbers = self.columns = found.numbers.astype(np.intp)
            self.others = None if found.others is None else found.others.astype(np.intp)
            self.weights = bootstrap_weights(found.count, seed)
        self._units = self._numbers if self.others is None else np.column_stack([self._numbers, self.others])
        if any(shares) and not self.is_grouped and self.others is None and len(shares) <= MANY_ITEMS:
            names = [""] * len(shares) if isinstance(clusters, ClusterNumbers) else clusters
            named = [some or (content_hash(cluster),) for some, cluster in zip(shares, names, strict=True)]
            self._units = number_units(named)
            self.overlaps = self.sharing.clusters is None
            if self.overlaps:
                self.columns, self.weights = np.arange(len(named)), overlapping_item_weights(named, self._units, seed)
        self._drawn = _HashableWeights(self.weights)

    def select(self, items: NDArray[np.intp]) -> Resampler:
        """Return the same replicates for a selection of the items, or for the items in a different order."""
        other = copy.copy(self)
        other._numbers = self._numbers[items]
        other.columns = self.columns[items]
        other.others = None if self.others is None else self.others[items]
        other._units = self._units[items]
        for known in ("_weights_of_double_items", "clusters_of_items", "clusters"):
            vars(other).pop(known, None)
        return other

    @property
    def sharing(self) -> Sharing:
        """The sharing structure of the items. It is not available for grouped clusters, of which there are too many."""
        assert not self.is_grouped
        return cached_sharing(self._units)

    def share_interval(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the 95% interval of the mean of each column [n, k] of values from 0 to 1; ends of shape [k].

        The interval accounts for what items share (`Sharing.rate_interval`). With more than `MAX_CLUSTERS` clusters, it
        is the percentile interval, which near 0 and 1 is no narrower than Clopper and Pearson's over clusters.
        """
        if not self.is_grouped:
            return self.sharing.rate_interval(values)
        columns = values.reshape(len(self._numbers), -1)
        totals = self.replicate_totals(np.column_stack([columns, np.ones(len(columns))]))
        ends = percentile_interval(totals[:, :-1] / totals[:, -1:])
        sizes = {"n": len(columns), "clusters": self.clusters}
        found = [widen_share_interval(m, a, b, **sizes) for m, a, b in zip(columns.mean(axis=0), *ends, strict=True)]
        low, high = np.array(found).T
        return low, high

    @cached_property
    def clusters_of_items(self) -> NDArray[np.signedinteger]:
        """The columns of `weights` that items have, sorted."""
        return np.unique(self.columns)

    @cached_property
    def clusters(self) -> int:
        """The number of clusters with an item. For overlapping items, the effective number of equal clusters."""
        if self.overlaps:
            return self.sharing.independent_clusters
        return len(self.clusters_of_items) if not self.is_grouped else self._count_clusters(None)

    def clusters_among(self, chosen: NDArray[np.bool_]) -> int:
        """Return the number of clusters with at least one chosen item; `chosen` has shape [n]."""
        return self._count_clusters(chosen) if self.is_grouped else self.select(np.flatnonzero(chosen)).clusters

    def _count_clusters(self, chosen: NDArray[np.bool_] | None) -> int:
        """Return the number of clusters of the chosen items, without a slow sort."""
        seen = np.zeros(self._count, bool)
        for some in slice_in_chunks(len(self._numbers)):
            seen[self._numbers[some] if chosen is None else self._numbers[some][chosen[some]]] = True
        return int(seen.sum())

    def replicate_totals(self, values: Floats) -> Floats:
        """Return the weighted sum of each column of `values` [n, k] in each replicate; shape [replicates, k]."""
        if self.is_grouped:
            return self._totals_by_group(values.T)
        if self.others is None:
            return self._totals_by_cluster(values, self.columns)
        both = self.others >= 0
        found = self._totals_by_cluster(values[~both], self.columns[~both])
        small, drawn = values[both].astype(np.float32), self._weights_of_double_items
        for rows in _row_slices(drawn.shape):
            found[rows] += drawn[rows].astype(np.float32) @ small
        return found

    def replicate_totals_of_columns(self, columns: Iterable[Floats]) -> Floats:
        """Return `replicate_totals` of columns that an iterator yields, shape [n] each.

        If there are many items, only one column is in memory at a time.
        """
        if not self.is_grouped:
            return self.replicate_totals(np.column_stack(list(columns)))
        return self._totals_by_group(columns)

    def _totals_by_cluster(self, values: Floats, columns: NDArray[np.signedinteger]) -> Floats:
        """Return `replicate_totals` of items with one cluster each; `columns`, shape [n], has their columns of
        `weights`.
        """
        present, places = np.unique(columns, return_inverse=True)
        every = self.weights.shape[1]
        few = len(present) < every // 3
        sums = np.zeros((len(present) if few else every, values.shape[1]))
        np.add.at(sums, places if few else columns, values)
        weights = weights_of_clusters(self._drawn, present.tobytes()) if few else self.weights.T
        return (sums.T.astype(np.float32) @ weights).T.astype(np.float64)

    def _totals_by_group(self, columns: Iterable[Floats]) -> Floats:
        """Return `replicate_totals` of many items.

        It is computed in fp64, since a sum over millions loses digits in fp32. The weights are large, so all columns
        are first summed by group, then weighted together.
        """
        both = None if self.others is None else np.flatnonzero(self.others >= 0)
        sums, of_both = [], []
        for column in columns:
            of_column = np.zeros(self.weights.shape[1])  # over the items of each group that belong to one cluster
            for some in slice_in_chunks(len(column)):
                alone = slice(None) if self.others is None else self.others[some] < 0
                of_column += np.bincount(self.columns[some][alone], column[some][alone], len(of_column))
            sums.append(of_column)
            of_both.append(column[both] if both is not None else column[:0])
        table = np.column_stack(sums)
        rows_at_once = _row_slices(self.weights.shape, _CAST_AT_ONCE)
        found = np.concatenate([self.weights[rows].astype(np.float64) @ table for rows in rows_at_once])
        if both is not None:
            drawn, values = self._weights_of_double_items, np.column_stack(of_both)
            for rows in _row_slices(drawn.shape):
                found[rows] += drawn[rows].astype(np.float64) @ values
        return found

    @cached_property
    def _weights_of_double_items(self) -> NDArray[np.unsignedinteger]:
        """The weight of each item that belongs to two clusters; shape [replicates, such items].

        The weights are cached, since all figures on the same items use them.
        """
        assert self.others is not None
        both = np.flatnonzero(self.others >= 0)
        one, other = self.columns[both], self.others[both]
        most = int(self.weights.max()) ** 2
        found = np.empty((len(self.weights), len(both)), np.min_scalar_type(most))
        for rows in _row_slices(found.shape):
            found[rows] = self.weights[rows][:, one] * self.weights[rows][:, other]
        return found

    def item_weights(self) -> Iterator[NDArray[np.float32]]:
        """Yield the weights of the items, a few replicates at a time; shape [some, n].

        With many items, only the first 2,000 replicates are yielded.
        """
        rows = self.weights[: max(2_000, _MAX_ITEM_WEIGHTS // max(len(self.columns), 1))]
        for some in _row_slices((len(rows), len(self.columns))):
            found = rows[some][:, self.columns]
            if self.others is not None:
                found *= np.where(self.others < 0, np.float32(1), rows[some][:, self.others])
            yield found


def _row_slices(shape: tuple[int, ...], at_once: int = _WEIGHTS_AT_ONCE) -> Iterator[slice]:
    """Yield slices that cover the rows of a table [rows, columns] in chunks."""
    step = max(1, at_once // max(shape[1], 1))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def percentile_interval(replicates: Floats) -> tuple[Floats, Floats]:
    """Return the 95% percentile interval of each column of [replicates] or [replicates, k].

    NaN replicates are left out. A column that is mostly NaN has the interval NaN.
    """
    tail = 50 * (1 - LEVEL)
    if np.isfinite(replicates).all():
        low, high = np.percentile(replicates, [tail, 100 - tail], axis=0)
        return low, high
    ends = []
    for column in replicates.reshape(len(replicates), -1).T:
        finite = column[np.isfinite(column)]
        has_most = len(finite) * 2 >= len(column)
        ends.append(np.percentile(finite, [tail, 100 - tail]) if has_most else np.full(2, np.nan))
    low, high = np.array(ends).T.reshape(2, *replicates.shape[1:])
    return low, high


def widen_share_interval(share: float, low: float, high: float, *, n: int, clusters: int) -> tuple[float, float]:
    """Return the interval of a share of n items. Near 0 or 1, it is no narrower than Clopper-Pearson's over clusters.

    With fewer than MIN_ITEMS_A_SIDE items on one side, bootstrap percentiles are too narrow. If all items agree, they
    have no width at all.

    >>> low, high = widen_share_interval(1.0, 1.0, 1.0, n=60, clusters=60)
    >>> round(low, 3), high
    (0.94, 1.0)
    >>> low, high = widen_share_interval(59 / 60, 0.95, 1.0, n=60, clusters=60)
    >>> round(low, 3), high
    (0.911, 1.0)
    >>> widen_share_interval(0.5, 0.4, 0.6, n=60, clusters=60)
    (0.4, 0.6)
    """
    from scipy.special import betaincinv

    if not clusters or not min(share, 1 - share) * n < MIN_ITEMS_A_SIDE - 0.5:
        return low, high
    tail, hits = (1 - LEVEL) / 2, share * clusters
    lower = betaincinv(hits, clusters - hits + 1, tail) if hits > 0 else 0.0
    upper = betaincinv(hits + 1, clusters - hits, 1 - tail) if hits < clusters else 1.0
    return float(np.fmin(low, lower)), float(np.fmax(high, upper))


def weighted_auc(positive: ArrayLike, negative: ArrayLike, resampler: Resampler | None = None) -> Floats:
    """Return P(positive > negative) + P(equal) / 2, for the sample (shape [1]) or for each replicate (shape
    [replicates]).

    `positive` and `negative` are scores. The items of `resampler` are the positives, then the negatives.
    """
    scores = np.concatenate([np.asarray(positive, float), np.asarray(negative, float)])
    size = len(np.asarray(positive))
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) != 0])
    is_positive = (order < size).astype(np.float32)
    chunks = [np.ones((1, len(scores)), np.float32)] if resampler is None else resampler.item_weights()
    found = []
    for chunk in chunks:
        weights = chunk[:, order]
        up, down = weights * is_positive, weights * (1 - is_positive)
        if len(starts) < weights.shape[1]:  # equal scores share one step
            up, down = np.add.reduceat(up, starts, axis=1), np.add.reduceat(down, starts, axis=1)
        below = np.cumsum(down, axis=1) - down / 2  # sums of small whole numbers and halves: exact in fp32
        with np.errstate(invalid="ignore"):
            found.append(
                (up * below).sum(axis=1, dtype=np.float64)
                / (up.sum(axis=1, dtype=np.float64) * down.sum(axis=1, dtype=np.float64))
            )
    return np.concatenate(found)


def auc_with_replicates(values: Floats, is_positive: NDArray[np.bool_], resampler: Resampler) -> tuple[float, Floats]:
    """Return the AUC of the positive items against the others, in the sample and in each replicate, shape [replicates].

    With more than `MANY_ITEMS` items, replicates are not ranked again. Each replicate is the AUC plus the first-order
    effect of its draws. The effect comes from placements: the share of the items with the other label that each item
    beats (DeLong et al. 1988; for clusters, Obuchowski 1997).
    """
    if len(values) > MANY_ITEMS:
        sizes = int(is_positive.sum()), int((~is_positive).sum())
        if not all(sizes):
            return math.nan, np.full(len(resampler.weights), np.nan)
        value = float(_placements(values, is_positive).sum() / sizes[0])

        def influence() -> Iterator[Floats]:
            """Yield the positives' placements minus the AUC and the mask of positives, then the same for the others."""
            for side, sign in ((is_positive, 1), (~is_positive, -1)):
                placements = _placements(sign * values, side)
                placements[side] -= value
                yield placements
                del placements
                yield side.astype(float)

        sums = resampler.replicate_totals_of_columns(influence())
        with np.errstate(invalid="ignore", divide="ignore"):
            return value, value + sums[:, 0] / sums[:, 1] + sums[:, 2] / sums[:, 3]
    order = np.argsort(~is_positive, kind="stable")
    sides = values[is_positive], values[~is_positive]
    return float(weighted_auc(*sides)[0]), weighted_auc(*sides, resampler.select(order))


def _placements(values: Floats, side: NDArray[np.bool_]) -> Floats:
    """Return for each item of `side` the share of the other items that have a smaller value; other items get 0.

    An equal value counts as one half.
    """
    among, own = np.sort(values[~side]), values[side]
    found = np.zeros(len(values))
    found[side] = (search_sorted(among, own) + search_sorted(among, own, "right")) / (2 * len(among))
    return found


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with the ends of its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def says(self) -> str:
        """The figure in percent, with its interval.

        >>> Figure(0.981, 0.972, 0.989).says
        '98.1% [97.2, 98.9]'
        """
        return f"{100 * self.value:.1f}% [{100 * self.low:.1f}, {100 * self.high:.1f}]"


@dataclass(frozen=True)
class LogBootstrap:
    """The queries of a log: `weights` are their frequencies, `clusters` their clusters, both of shape [n].

    All figures of a log use the same draws of clusters.
    """

    weights: Floats
    clusters: tuple[str, ...]
    resampler: Resampler

    @classmethod
    def of(cls, weights: Sequence[int], clusters: Sequence[str], *, seed: int) -> LogBootstrap:
        """Return the queries with draws from this seed."""
        return cls(np.array(weights, np.float64), tuple(clusters), Resampler(clusters, seed=seed))

    @property
    def effective_clusters(self) -> int:
        """The effective number of clusters of equal weight (Kish 1965, section 11.7)."""
        sizes = np.bincount(self.resampler.columns, weights=self.weights)
        return int(sizes.sum() ** 2 / (sizes**2).sum())

    def mean(self, values: Floats) -> Figure:
        """Return the mean of values from 0 to 1, shape [n]."""
        return self.ratio(values, np.ones(len(values)))

    def ratio(self, part: Floats, whole: Floats) -> Figure:
        """Return the sum of `part` over the sum of `whole`, shape [n] each; NaN if the latter is 0.

        Near 0 or 1, the interval is no narrower than Clopper-Pearson's over clusters.
        """
        both = np.column_stack([part, whole]) * self.weights[:, None]
        total = both.sum(axis=0)
        if not total[1]:
            return Figure(np.nan, np.nan, np.nan)
        value, sums = float(total[0] / total[1]), self.resampler.replicate_totals(both)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = map(float, percentile_interval(sums[:, 0] / sums[:, 1]))
        ends = widen_share_interval(min(value, 1.0), low, high, n=len(part), clusters=self.effective_clusters)
        return Figure(value, min(low, ends[0]), max(high, ends[1]))

    def change(self, before: Floats, after: Floats) -> Figure:
        """Return the mean of `after` minus the mean of `before`, shape [n] each."""
        both = np.column_stack([after - before, np.ones(len(before))]) * self.weights[:, None]
        sums = self.resampler.replicate_totals(both)
        low, high = percentile_interval(sums[:, 0] / sums[:, 1])
        return Figure(float(both[:, 0].sum() / both[:, 1].sum()), float(low), float(high))

"""One-sided inference on paired changes, candidate minus baseline, over items that fall into clusters.

Everything takes arrays of one entry a gate row, so that a gate of twenty is a handful of array operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
EXACT_BELOW_ITEMS = 100
_BISECTIONS = 26
_DISCORDANCES_TRIED = 41


def tango_z(n: ArrayLike, up: ArrayLike, down: ArrayLike, theta: ArrayLike) -> Floats:
    """Score statistic of H0: P(up) - P(down) = theta for paired proportions (Tango 1998, Stat. Med. 17, equation 4).

    `up` of the `n` items are won by the candidate alone, `down` by the baseline alone. Negative: the change is below
    theta. At theta 0 its square is McNemar's statistic.

    >>> round(float(tango_z(100, 5, 15, 0.0)), 3)
    -2.236
    """
    n, x, y, t = np.broadcast_arrays(*(np.asarray(v, float) for v in (n, up, down, theta)))
    away = x - y - n * t
    with np.errstate(divide="ignore", invalid="ignore"):
        z: Floats = np.where(np.abs(away) < 1e-12, 0.0, away / (n * np.sqrt(tango_variance(n, x, y, t))))
    return z


def tango_variance(n: ArrayLike, up: ArrayLike, down: ArrayLike, theta: ArrayLike) -> Floats:
    """The variance of (up - down) / n under H0: P(up) - P(down) = theta, at the likeliest discordance (Tango 1998).

    Counts need not be whole.

    >>> round(float(tango_variance(100, 5, 15, 0.0)), 4)
    0.002
    """
    n, x, y, t = np.broadcast_arrays(*(np.asarray(v, float) for v in (n, up, down, theta)))
    b = -(x + y) + t * (2 * n - x + y)
    c = -y * t * (1 - t)
    q = (-b + np.sqrt(np.maximum(b * b - 8 * n * c, 0))) / (4 * n)
    result: Floats = np.maximum(2 * q + t * (1 - t), 0) / n
    return result


def tango_bound(n: ArrayLike, up: ArrayLike, down: ArrayLike, z: ArrayLike) -> Floats:
    """The theta at which Tango's statistic is `z`: a lower bound of the change for z > 0, an upper one for z < 0."""
    z = np.asarray(z, float)
    return _crossing(lambda theta: tango_z(n, up, down, theta) - z, np.broadcast(n, up, down, z).shape)


def _crossing(falling: Callable[[Floats], Floats], shape: tuple[int, ...]) -> Floats:
    """Where a falling function of theta in [-1, 1] meets zero, to seven decimals, by bisection."""
    low, high = np.full(shape, -1.0), np.full(shape, 1.0)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        above = falling(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found: Floats = (low + high) / 2
    return found


@lru_cache(maxsize=4096)
def exact_p(n: int, up: int, down: int, theta: float) -> float:
    """Exact unconditional p of H0: change >= theta against a smaller one (Sidik 2003, with Tango's ordering).

    The largest probability, over the unknown discordance, of a table at least as far below; for `n` up to some 100.

    >>> exact_p(20, 0, 6, 0.0) < 0.03
    True
    """
    x, y = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    x, y = x[x + y <= n], y[x + y <= n]
    extreme = tango_z(n, x, y, theta) <= float(tango_z(n, up, down, theta)) + 1e-9
    x, y = x[extreme], y[extreme]
    shares = np.linspace(max(0.0, -theta), (1 - theta) / 2, _DISCORDANCES_TRIED)
    return min(1.0, float(max(np.exp(_log_tables(n, x, y, q, theta)).sum() for q in shares)))


def _log_tables(n: int, x: NDArray[np.int_], y: NDArray[np.int_], q: float, theta: float) -> Floats:
    """Log probability of each table (x up, y down) of n, where P(down) = q and P(up) = q + theta."""
    from scipy.special import gammaln, xlogy

    rest = n - x - y
    counts = gammaln(n + 1) - gammaln(x + 1) - gammaln(y + 1) - gammaln(rest + 1)
    logs = xlogy(x, max(q + theta, 0)) + xlogy(y, max(q, 0)) + xlogy(rest, max(1 - 2 * q - theta, 0))
    result: Floats = counts + logs
    return result


@lru_cache(maxsize=4096)
def exact_bounds(n: int, up: int, down: int, level: float = 0.95) -> tuple[float, float]:
    """Exact lower and upper bound of the change, each with this confidence."""

    def upper(up: int, down: int) -> float:
        """The largest theta that is not rejected from below."""
        low, high = -1.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if exact_p(n, up, down, middle) > 1 - level else (low, middle)
        return high

    return -upper(down, up), upper(up, down)


def holm(p: ArrayLike) -> Floats:
    """Holm's adjusted p-values (Holm 1979): each is at most alpha when its hypothesis is rejected.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, float)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def influence(
    differences: Floats, clusters: NDArray[np.intp], total: int, *, strata: NDArray[np.intp] | None = None
) -> Floats:
    """What each of `total` clusters adds to the mean of the differences beyond its share; shape [total].

    Each is divided by the root of the share of the items that other clusters have (CR2, Bell and McCaffrey 2002, Survey
    Methodology 28): a large cluster draws the mean towards itself, and looks closer to it than it is. NaN if all
    items are of one cluster.

    `strata` numbers the stratum of each item. The shares of the strata are given, so that the error of the mean is that
    of their own means together (Cochran 1977, Sampling Techniques, section 5.4): how they differ is no error.
    """
    if strata is None:
        return _influence(differences, clusters, total)
    share = [(strata == s, (strata == s).mean()) for s in np.unique(strata)]
    found: Floats = sum((w * _influence(differences[at], clusters[at], total) for at, w in share), np.zeros(total))
    return found if np.isfinite(found).all() else _influence(differences, clusters, total)


def _influence(differences: Floats, clusters: NDArray[np.intp], total: int) -> Floats:
    """The same of one stratum."""
    sums = np.bincount(clusters, differences - differences.mean(), minlength=total)
    others = 1 - np.bincount(clusters, minlength=total) / len(differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.where(others > 0, sums / len(differences) / np.sqrt(others), np.nan)
    return result


def clustered_error(influences: Floats) -> float:
    """Standard error of a mean from its clusters' influences."""
    return float(np.sqrt((influences**2).sum()))


def sizes_of(clusters: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many items each cluster has that has any."""
    counts = np.bincount(clusters)
    return counts[counts > 0]


def degrees_of_freedom(sizes: ArrayLike) -> float:
    """Satterthwaite's degrees of freedom of the squared `clustered_error`, of clusters of these sizes.

    As many as a chi-square with the mean and variance that it has where all items vary alike and apart (Bell and
    McCaffrey 2002; of a mean in closed form): clusters - 1 where all are of one size, fewer where some are larger.

    >>> round(degrees_of_freedom([6] * 25), 6), round(degrees_of_freedom([60] + [6] * 15), 1)
    (24.0, 5.1)
    """
    counts = np.asarray(sizes, float)
    shares = counts[counts > 0] / counts.sum()
    if len(shares) < 2:
        return float("nan")
    leaning = shares**2 / (1 - shares)
    return float(1 / ((shares**2).sum() + leaning.sum() ** 2 - (leaning**2).sum()))


def t_cdf(t: ArrayLike, free: ArrayLike) -> Floats:
    """P(T <= t) of Student's t with `free` degrees of freedom."""
    from scipy.special import stdtr

    result: Floats = np.asarray(stdtr(free, t), float)
    return result


def t_quantile(p: ArrayLike, free: ArrayLike) -> Floats:
    """The t below which Student's distribution with `free` degrees of freedom has the share p."""
    from scipy.special import stdtrit

    result: Floats = np.asarray(stdtrit(free, p), float)
    return result


def mcnemar(up: int, down: int) -> float:
    """Exact two-sided p of McNemar's test: are gains and losses equally likely?

    >>> round(mcnemar(2, 8), 4)
    0.1094
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(up, down), up + down, 0.5))) if up + down else 1.0

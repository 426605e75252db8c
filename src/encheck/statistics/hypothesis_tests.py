"""Tests and bounds for paired changes, for shares of independent units, and for several looks at growing data.

Tests of paired changes take arrays with one entry per gate row, so that a whole gate takes a few array operations.

The bounds of several looks share one error rate (Lan and DeMets 1983). Their statistics are those of a Brownian motion
at the fractions of the information. The probability of crossing is integrated, not simulated (Armitage, McPherson and
Rowe 1969, JRSS A 132).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_BISECTIONS = 26


def tango_z(n: ArrayLike, up: ArrayLike, down: ArrayLike, theta: ArrayLike) -> Floats:
    """Score statistic of H0: P(up) - P(down) = theta for paired proportions (Tango 1998, Stat. Med. 17, equation 4).

    Of the `n` items, only the candidate wins `up`, and only the baseline wins `down`. The statistic is negative if
    the change is below theta. At theta 0, its square is McNemar's statistic.

    >>> round(float(tango_z(100, 5, 15, 0.0)), 3)
    -2.236
    """
    n, x, y, t = np.broadcast_arrays(*(np.asarray(v, float) for v in (n, up, down, theta)))
    away = x - y - n * t
    with np.errstate(divide="ignore", invalid="ignore"):
        z: Floats = np.where(np.abs(away) < 1e-12, 0.0, away / (n * np.sqrt(tango_variance(n, x, y, t))))
    return z


def tango_variance(n: ArrayLike, up: ArrayLike, down: ArrayLike, theta: ArrayLike) -> Floats:
    """Return the variance of (up - down) / n under H0: P(up) - P(down) = theta, at the likeliest discordance (Tango
    1998).

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
    """Return the theta at which Tango's statistic is `z`, a lower bound of the change for z > 0, an upper one for z <
    0.
    """
    z = np.asarray(z, float)
    shape = np.broadcast(n, up, down, z).shape
    low, high = np.full(shape, -1.0), np.full(shape, 1.0)
    for _ in range(_BISECTIONS):  # the statistic falls with theta; seven decimals
        middle = (low + high) / 2
        above = tango_z(n, up, down, middle) - z > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found: Floats = (low + high) / 2
    return found


def holm_adjusted_p(p: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values (Holm 1979). Each is at most alpha if its hypothesis is rejected at alpha.

    >>> holm_adjusted_p([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, float)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def t_cdf(t: ArrayLike, degrees_of_freedom: ArrayLike) -> Floats:
    """Return P(T <= t) of Student's t with these degrees of freedom."""
    from scipy.special import stdtr

    result: Floats = np.asarray(stdtr(degrees_of_freedom, t), float)
    return result


def t_quantile(p: ArrayLike, degrees_of_freedom: ArrayLike) -> Floats:
    """Return the quantile of Student's t with these degrees of freedom: the value with P(T <= value) = p."""
    from scipy.special import stdtrit

    result: Floats = np.asarray(stdtrit(degrees_of_freedom, p), float)
    return result


def mcnemar_p(up: int, down: int) -> float:
    """Return the exact two-sided p of McNemar's test of whether gains and losses are equally likely.

    >>> round(mcnemar_p(2, 8), 4)
    0.1094
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(up, down), up + down, 0.5))) if up + down else 1.0


ALPHA = 0.05
_MOST_UNITS = 2**31


def share_upper_bound(hits: float, n: int, *, alpha: float = ALPHA) -> float:
    """Return Clopper and Pearson's (1934, Biometrika 26) one-sided upper bound of a share of n independent units.

    `hits` need not be whole, since it may be a share of effective units.

    >>> round(share_upper_bound(0, 299), 4), share_upper_bound(3, 3)
    (0.01, 1.0)
    """
    from scipy.special import betaincinv

    return float(betaincinv(hits + 1, n - hits, 1 - alpha)) if hits < n else 1.0


def clopper_pearson_interval(hits: int, n: int, *, alpha: float = ALPHA) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share of n independent units; the error is at most alpha / 2 per side.

    >>> low, high = clopper_pearson_interval(20, 20)
    >>> round(low, 3), high
    (0.832, 1.0)
    """
    return 1 - share_upper_bound(n - hits, n, alpha=alpha / 2), share_upper_bound(hits, n, alpha=alpha / 2)


def wilson_interval(share: float, n: int, *, z: float) -> tuple[float, float]:
    """Return Wilson's (1927, JASA 22) interval of a share of n units; `z` is the number of standard errors.

    >>> [round(end, 3) for end in wilson_interval(0.5, 16, z=2)]
    [0.276, 0.724]
    """
    middle, shrunk = (share + z * z / (2 * n)) / (1 + z * z / n), 1 + z * z / n
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / shrunk
    return max(middle - half, 0.0), min(middle + half, 1.0)


def units_needed_at(rate: float, share: float, *, alpha: float = ALPHA) -> int | None:
    """Return the number of units that show a share of at most `share` if hits come at this rate; None if no number
    does.

    >>> units_needed_at(0.0, 0.01), units_needed_at(0.0025, 0.01), units_needed_at(0.01, 0.01)
    (299, 521, None)
    """
    from scipy.special import betaincinv

    if rate >= share:
        return None
    n = bisect_left(
        range(_MOST_UNITS), True, lo=1, key=lambda n: betaincinv(rate * n + 1, n - rate * n, 1 - alpha) <= share
    )
    return n if n < _MOST_UNITS else None


def units_needed(hits: int, share: float, *, alpha: float = ALPHA) -> int:
    """Return the number of units that show a share of at most `share` with this many hits.

    >>> units_needed(0, 0.01), units_needed(1, 0.01)
    (299, 473)
    """
    from scipy.special import bdtr  # P(so many hits or fewer)

    return bisect_left(range(_MOST_UNITS), True, lo=hits + 1, key=lambda n: bdtr(hits, n, share) <= alpha)


Spending = Callable[[float, float], float]
NODES, WIDEST = 160, 12.0


def obrien_fleming_spending(t: float, alpha: float) -> float:
    """Return the two-sided error spent by the fraction `t`, which is small at first (Lan and DeMets 1983, Biometrika
    70).

    >>> round(obrien_fleming_spending(1.0, 0.05), 6)
    0.05
    """
    from scipy.stats import norm

    return float(4 * norm.sf(norm.isf(alpha / 4) / np.sqrt(t)))


def pocock_spending(t: float, alpha: float) -> float:
    """Return the two-sided error spent by the fraction `t`, about evenly (Lan and DeMets 1983, Biometrika 70).

    >>> round(pocock_spending(1.0, 0.05), 6)
    0.05
    """
    return float(alpha * np.log(1 + (np.e - 1) * t))


@lru_cache(maxsize=256)
def critical_values_of_looks(
    fractions: tuple[float, ...], *, alpha: float, spending: Spending = pocock_spending
) -> tuple[float, ...]:
    """Return the bounds of |z| at each look. Without an effect, z crosses one of them with probability `alpha`.

    `fractions` of the information are ascending, and the last is 1.

    >>> [round(bound, 2) for bound in critical_values_of_looks((0.5, 1.0), alpha=0.05)]
    [2.16, 2.2]
    """
    found: list[float] = []
    walk = SequentialProcess()
    spent = 0.0
    for fraction in fractions:
        budget = spending(fraction, alpha) - spent
        found.append(walk.bound_for_error(fraction, budget))
        walk = walk.advance_within_bound(fraction, found[-1])
        spent += budget
    return tuple(found)


def crossing_probability(fractions: Sequence[float], limits: Sequence[float], *, drift: float = 0.0) -> Floats:
    """Return the probability that z has crossed a bound by each look, shape [looks].

    `drift` is the mean of z at the last look, 0 without an effect.

    >>> crossing_probability([1.0], [1.959964]).round(4).tolist()
    [0.05]
    """
    walk, left = SequentialProcess(drift=drift), []
    for fraction, bound in zip(fractions, limits, strict=True):
        left.append(walk.exit_probability(fraction, bound))
        walk = walk.advance_within_bound(fraction, bound)
    return np.cumsum(left)


class SequentialProcess:
    """The distribution at the time `at` of a Brownian motion that has not left the bounds so far."""

    def __init__(self, *, at: float = 0.0, drift: float = 0.0) -> None:
        self.at, self.drift = at, drift
        self.places, self.mass = np.zeros(1), np.ones(1)  # mass: density times the weight of the node

    def exit_probability(self, at: float, bound: float) -> float:
        """Return the probability that |z| exceeds `bound` at the time `at` and was within the bounds before."""
        from scipy.special import ndtr

        edge, mean, spread = bound * np.sqrt(at), *self._mean_and_deviation_at(at)
        return float(self.mass @ (ndtr((mean - edge) / spread) + ndtr((-edge - mean) / spread)))

    def bound_for_error(self, at: float, error: float) -> float:
        """Return the bound that |z| exceeds with probability `error` at the time `at`."""
        from scipy.optimize import brentq

        return float(brentq(lambda bound: self.exit_probability(at, bound) - error, 0, WIDEST))

    def advance_within_bound(self, at: float, bound: float) -> SequentialProcess:
        """Return the distribution at the time `at`, given that |z| is within `bound`."""
        nodes, weights = _quadrature_points(NODES)
        edge, mean, spread = bound * np.sqrt(at), *self._mean_and_deviation_at(at)
        found = SequentialProcess(at=at, drift=self.drift)
        found.places = edge * nodes
        z = (found.places[:, None] - mean[None, :]) / spread
        found.mass = edge * weights * ((np.exp(-z * z / 2) / (spread * np.sqrt(2 * np.pi))) @ self.mass)
        return found

    def _mean_and_deviation_at(self, at: float) -> tuple[Floats, float]:
        """Return the mean of the motion at a later time from each place, and its standard deviation."""
        return self.places + self.drift * (at - self.at), float(np.sqrt(at - self.at))


@lru_cache(maxsize=4)
def _quadrature_points(count: int) -> tuple[Floats, Floats]:
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(count)
    return nodes, weights

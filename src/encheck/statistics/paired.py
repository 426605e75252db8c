"""Tests of paired changes, candidate minus baseline: Tango's score statistic, McNemar's test, Holm's correction.

Everything takes arrays of one entry a gate row, so that a gate of twenty is a handful of array operations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_BISECTIONS = 26


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

"""Group-sequential tests: bounds for several looks at growing data that share one error rate (Lan and DeMets 1983).

The statistics of the looks are those of a Brownian motion at the fractions of the information; the probability of
crossing is integrated, not simulated (Armitage, McPherson and Rowe 1969, JRSS A 132).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Spending = Callable[[float, float], float]
NODES, WIDEST = 160, 12.0


def obrien_fleming_like(t: float, alpha: float) -> float:
    """The two-sided error spent at the fraction `t`, hardly any at first (Lan and DeMets 1983, Biometrika 70).

    >>> round(obrien_fleming_like(1.0, 0.05), 6)
    0.05
    """
    from scipy.stats import norm

    return float(4 * norm.sf(norm.isf(alpha / 4) / np.sqrt(t)))


def pocock_like(t: float, alpha: float) -> float:
    """The two-sided error spent at the fraction `t`, about evenly (Lan and DeMets 1983, Biometrika 70).

    >>> round(pocock_like(1.0, 0.05), 6)
    0.05
    """
    return float(alpha * np.log(1 + (np.e - 1) * t))


@lru_cache(maxsize=256)
def bounds(fractions: tuple[float, ...], *, alpha: float, spending: Spending = pocock_like) -> tuple[float, ...]:
    """The bounds of |z| at each look; all looks together cross one with probability `alpha` where nothing is there.

    `fractions` of the information rise, and the last is 1.

    >>> [round(bound, 2) for bound in bounds((0.5, 1.0), alpha=0.05)]
    [2.16, 2.2]
    """
    found: list[float] = []
    walk = Walk()
    spent = 0.0
    for fraction in fractions:
        budget = spending(fraction, alpha) - spent
        found.append(walk.bound(fraction, budget))
        walk = walk.within(fraction, found[-1])
        spent += budget
    return tuple(found)


def crossing(fractions: Sequence[float], limits: Sequence[float], *, drift: float = 0.0) -> Floats:
    """The probability of having crossed a bound of |z| by each look, shape [looks].

    `drift` is the mean of z at the last look, 0 where nothing is there.

    >>> crossing([1.0], [1.959964]).round(4).tolist()
    [0.05]
    """
    walk, left = Walk(drift=drift), []
    for fraction, bound in zip(fractions, limits, strict=True):
        left.append(walk.leaves(fraction, bound))
        walk = walk.within(fraction, bound)
    return np.cumsum(left)


class Walk:
    """A Brownian motion that has not left the bounds so far: where it is, at the time `at`."""

    def __init__(self, *, at: float = 0.0, drift: float = 0.0) -> None:
        self.at, self.drift = at, drift
        self.places, self.mass = np.zeros(1), np.ones(1)  # mass: density times the weight of the node

    def leaves(self, at: float, bound: float) -> float:
        """The probability that |z| is beyond `bound` at the time `at`, and was within the bounds before."""
        from scipy.special import ndtr

        edge, mean, spread = bound * np.sqrt(at), *self._step(at)
        return float(self.mass @ (ndtr((mean - edge) / spread) + ndtr((-edge - mean) / spread)))

    def bound(self, at: float, error: float) -> float:
        """The bound beyond which |z| is with the probability `error` at the time `at`."""
        from scipy.optimize import brentq

        return float(brentq(lambda bound: self.leaves(at, bound) - error, 0, WIDEST))

    def within(self, at: float, bound: float) -> Walk:
        """The same at the time `at`, where |z| is within `bound`."""
        nodes, weights = _gauss(NODES)
        edge, mean, spread = bound * np.sqrt(at), *self._step(at)
        found = Walk(at=at, drift=self.drift)
        found.places = edge * nodes
        z = (found.places[:, None] - mean[None, :]) / spread
        found.mass = edge * weights * ((np.exp(-z * z / 2) / (spread * np.sqrt(2 * np.pi))) @ self.mass)
        return found

    def _step(self, at: float) -> tuple[Floats, float]:
        """Mean, from each place, and standard deviation of the motion at a later time."""
        return self.places + self.drift * (at - self.at), float(np.sqrt(at - self.at))


@lru_cache(maxsize=4)
def _gauss(count: int) -> tuple[Floats, Floats]:
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(count)
    return nodes, weights

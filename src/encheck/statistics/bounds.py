"""Bounds of a mean of independent units that hold in small samples: exact for shares, by betting for numbers.

Both are tests of "the mean is `share` or more" that reject less the larger a unit is. So where units fall with a
cut-off, one error rate holds for all cut-offs at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ALPHA = 0.05
_MOST_UNITS = 2**31
_HALVINGS = 40
# Stakes, in parts of the largest that cannot lose everything, and how much is put on each. Half lies on the largest,
# which wins most where no unit is above 0.
_STAKES = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
_PARTS = np.array([0.5, *[0.5 / 9] * 9])


def upper_of_share(hits: int, n: int, *, alpha: float = ALPHA) -> float:
    """Clopper and Pearson's (1934, Biometrika 26) one-sided upper bound of a share of n independent units.

    >>> round(upper_of_share(0, 299), 4), upper_of_share(3, 3)
    (0.01, 1.0)
    """
    from scipy.special import betaincinv

    return float(betaincinv(hits + 1, n - hits, 1 - alpha)) if hits < n else 1.0


def lower_of_share(hits: int, n: int, *, alpha: float = ALPHA) -> float:
    """The one-sided lower bound of the same, never above the upper one.

    >>> round(lower_of_share(16, 30), 3), lower_of_share(0, 30)
    (0.37, 0.0)
    """
    return 1 - upper_of_share(n - hits, n, alpha=alpha)


def interval_of_share(hits: int, n: int, *, alpha: float = ALPHA) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share of n independent units, wrong in either direction alpha / 2 at most.

    >>> low, high = interval_of_share(20, 20)
    >>> round(low, 3), high
    (0.832, 1.0)
    """
    return 1 - upper_of_share(n - hits, n, alpha=alpha / 2), upper_of_share(hits, n, alpha=alpha / 2)


def wilson(share: float, n: int, *, z: float) -> tuple[float, float]:
    """Wilson's (1927, JASA 22) interval of a share of n units, z standard errors wide on each side.

    >>> [round(end, 3) for end in wilson(0.5, 16, z=2)]
    [0.276, 0.724]
    """
    middle, shrunk = (share + z * z / (2 * n)) / (1 + z * z / n), 1 + z * z / n
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / shrunk
    return max(middle - half, 0.0), min(middle + half, 1.0)


def most_hits(n: int, share: float, *, alpha: float = ALPHA) -> int:
    """The largest number of hits among n units at which the share is still shown to be `share` or less; -1 for none.

    >>> most_hits(298, 0.01), most_hits(299, 0.01), most_hits(473, 0.01)
    (-1, 0, 1)
    """
    low, high = -1, n
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if _at_most(middle, n, share) <= alpha else (low, middle)
    return low


def lower_of_mean(units: Floats, *, alpha: float = ALPHA) -> float:
    """The lower bound of a mean by the bets of `wealth` on 1 - x; units from 0 to 1, shape [n].

    It is never above a share that the bets on x reject: on a sample, only one of the two bets wins.

    >>> round(lower_of_mean(np.ones(30)), 2), lower_of_mean(np.zeros(30))
    (0.89, 0.0)
    """
    low, high = 0.0, 1.0  # rejected at `low`, but for 0, which nothing is below
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(1 - units, 1 - middle) >= 1 / alpha else (low, middle)
    return low


def units_needed_at(rate: float, share: float, *, alpha: float = ALPHA) -> int | None:
    """How many units show that the share is `share` or less where hits come at this rate; None where none can.

    >>> units_needed_at(0.0, 0.01), units_needed_at(0.0025, 0.01), units_needed_at(0.01, 0.01)
    (299, 521, None)
    """
    from scipy.special import betaincinv

    if rate >= share:
        return None
    low, high = 0, 1
    while betaincinv(rate * high + 1, high - rate * high, 1 - alpha) > share:
        low, high = high, 2 * high
        if high > _MOST_UNITS:
            return None
    while low + 1 < high:
        middle = (low + high) // 2
        is_shown = betaincinv(rate * middle + 1, middle - rate * middle, 1 - alpha) <= share
        low, high = (low, middle) if is_shown else (middle, high)
    return high


def units_needed(hits: int, share: float, *, alpha: float = ALPHA) -> int:
    """How many units show that the share is `share` or less where so many of them are hits.

    >>> units_needed(0, 0.01), units_needed(1, 0.01)
    (299, 473)
    """
    low, high = hits, hits + 1
    while _at_most(hits, high, share) > alpha and high < _MOST_UNITS:
        low, high = high, high * 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _at_most(hits, middle, share) <= alpha else (middle, high)
    return high


def _at_most(hits: int, n: int, share: float) -> float:
    """P(so many hits or fewer) of n units that are hits with probability `share`."""
    from scipy.special import bdtr

    return float(bdtr(hits, n, share)) if hits < n else 1.0


def wealth(units: Floats, share: float) -> float:
    """What bets against "the mean is `share` or more" have made of 1; units from 0 to 1, shape [n].

    A bet of L on a unit x pays 1 + L (share - x). Stakes are fixed beforehand and shared out over ten sizes, so what is
    won falls with every unit. Under the hypothesis its mean is 1 or less, so 1 / alpha or more comes in a share alpha
    of samples at most (Waudby-Smith and Ramdas 2024, JRSS B 86; Markov's inequality).

    >>> bool(wealth(np.zeros(345), 0.01) >= 20), bool(wealth(np.zeros(344), 0.01) >= 20)
    (True, False)
    """
    stakes = _STAKES / (1 - share)
    with np.errstate(divide="ignore"):
        grown = np.log1p(stakes[:, None] * (share - units[None, :])).sum(axis=1)
    return float(_PARTS @ np.exp(np.minimum(grown, 700)))

"""Bounds of a share of independent units that are exact in small samples."""

from __future__ import annotations

ALPHA = 0.05
_MOST_UNITS = 2**31


def upper_of_share(hits: float, n: int, *, alpha: float = ALPHA) -> float:
    """Clopper and Pearson's (1934, Biometrika 26) one-sided upper bound of a share of n independent units.

    `hits` need not be whole: they may be a share of effective units.

    >>> round(upper_of_share(0, 299), 4), upper_of_share(3, 3)
    (0.01, 1.0)
    """
    from scipy.special import betaincinv

    return float(betaincinv(hits + 1, n - hits, 1 - alpha)) if hits < n else 1.0


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

"""How alike two rankings are."""

from __future__ import annotations

from collections.abc import Sequence

P = 0.8  # the first ten ranks have 89% of the weight


def rbo(first: Sequence[int], second: Sequence[int], *, p: float = P) -> float:
    """Rank-biased overlap of two lists of the same length, extrapolated (Webber et al. 2010, TOIS 28, equation 23).

    Who reads a rank reads the next one with probability `p`. Beyond the end, the lists are taken to agree as at the
    end. A list has no ties: who makes it has ordered equal scores. Two empty lists are alike.

    >>> rbo([1, 2, 3], [1, 2, 3]), rbo([1, 2], [3, 4]), round(rbo([1, 2], [2, 1]), 6)
    (1.0, 0.0, 0.8)
    """
    if len(first) != len(second):
        raise ValueError(f"rankings of {len(first)} and {len(second)}, but should be of one length")
    shared = [len({*first[:depth]} & {*second[:depth]}) / depth for depth in range(1, len(first) + 1)]
    agreed = (1 - p) * sum(share * p**depth for depth, share in enumerate(shared))
    return round(agreed + (shared[-1] * p ** len(shared) if shared else 1.0), 12)

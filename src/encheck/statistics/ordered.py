"""Millions of numbers, some at a time: what is distinct among them, and where they stand in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

ITEMS_AT_ONCE = 250_000


def parts_of(count: int) -> Iterator[slice]:
    """So many items, some at a time: what is made of millions of them need not be held at once.

    >>> list(parts_of(3))
    [slice(0, 3, None)]
    """
    return (slice(start, min(start + ITEMS_AT_ONCE, count)) for start in range(0, count, ITEMS_AT_ONCE))


def distinct(*values: NDArray[Any]) -> NDArray[Any]:
    """The distinct numbers of these arrays, in their order; of many, with one copy of them all and no more."""
    found = np.concatenate(values)
    found.sort()
    is_new = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    return found[is_new]


def places_in(
    ordered: NDArray[Any], values: NDArray[Any], side: Literal["left", "right"] = "left"
) -> NDArray[np.int32]:
    """Where each value would be put into `ordered`, as `np.searchsorted` says; shape [n].

    They are asked in order, some at a time: numbers that jump about in a large array take six times as long.

    >>> places_in(np.array([5, 7, 7]), np.array([7, 5, 8])).tolist()
    [1, 0, 3]
    """
    found = np.empty(len(values), np.int32)
    for some in parts_of(len(values)):
        order = np.argsort(values[some])
        found[some][order] = np.searchsorted(ordered, values[some][order], side)
    return found

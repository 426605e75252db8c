"""Process millions of numbers in chunks: find distinct values, positions in sorted order, and connected components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

ITEMS_AT_ONCE = 250_000
Number = TypeVar("Number", bound=np.generic)


def slice_in_chunks(count: int) -> Iterator[slice]:
    """Yield slices that cover `count` items, so that millions of them can be processed in chunks.

    >>> list(slice_in_chunks(3))
    [slice(0, 3, None)]
    """
    return (slice(start, min(start + ITEMS_AT_ONCE, count)) for start in range(0, count, ITEMS_AT_ONCE))


def sorted_distinct(*values: NDArray[Number]) -> NDArray[Number]:
    """Return the sorted distinct numbers of these arrays. Large arrays are copied only once."""
    found = np.concatenate(values)
    found.sort()
    is_new = np.ones(len(found), bool)
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    return found[is_new]


def search_sorted(
    ordered: NDArray[Number], values: NDArray[Number], side: Literal["left", "right"] = "left"
) -> NDArray[np.int32]:
    """Return the position at which `np.searchsorted` would insert each value into `ordered`; shape [n].

    The values are looked up in order and in chunks, since random access to a large array takes six times as long.

    >>> search_sorted(np.array([5, 7, 7]), np.array([7, 5, 8])).tolist()
    [1, 0, 3]
    """
    found = np.empty(len(values), np.int32)
    for some in slice_in_chunks(len(values)):
        order = np.argsort(values[some])
        found[some][order] = np.searchsorted(ordered, values[some][order], side)
    return found


def component_list(first: NDArray[np.int64], second: NDArray[np.int64]) -> list[int]:
    """Return the number of the connected component of each edge.

    An edge connects a node of `first` to the node at the same position in `second`.

    >>> component_list(np.array([7, 8, 9]), np.array([9, 8, 5]))
    [0, 1, 0]
    """
    numbers: list[int] = component_numbers(first, second).tolist()
    return numbers


def component_numbers(first: NDArray[Number], second: NDArray[Number]) -> NDArray[np.int32]:
    """Return the numbers of `component_list` as an array. Nodes are numbers of any 64-bit type."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = sorted_distinct(first, second)
    ends = [search_sorted(nodes, side) for side in (first, second)]
    count = len(nodes)
    edges = csr_array((np.ones(len(first), np.float64), tuple(ends)), shape=(count, count))
    numbers: NDArray[np.int32] = connected_components(edges, directed=False)[1][ends[0]]
    return numbers

"""Group items that depend on each other into clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.ordered import distinct, places_in


def components(first: NDArray[np.int64], second: NDArray[np.int64]) -> list[int]:
    """Number the connected component of each edge from a node of `first` to the node at its place in `second`.

    >>> components(np.array([7, 8, 9]), np.array([9, 8, 5]))
    [0, 1, 0]
    """
    numbers: list[int] = component_numbers(first, second).tolist()
    return numbers


def component_numbers(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int32]:
    """The numbers that `components` lists, as an array; nodes are numbers of any type of 64 bits."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = distinct(first, second)
    ends = [places_in(nodes, side) for side in (first, second)]
    count = len(nodes)
    edges = csr_array((np.ones(len(first), np.float64), tuple(ends)), shape=(count, count))
    numbers: NDArray[np.int32] = connected_components(edges, directed=False)[1][ends[0]]
    return numbers

"""Group items that depend on each other into clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def components(first: NDArray[np.int64], second: NDArray[np.int64]) -> list[int]:
    """Number the connected component of each edge from a node of `first` to the node at its place in `second`.

    >>> components(np.array([7, 8, 9]), np.array([9, 8, 5]))
    [0, 1, 0]
    """
    numbers: list[int] = numbered_components(first, second).tolist()
    return numbers


def numbered_components(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int32]:
    """As `components`, in an array; nodes are numbers of any type of 64 bits."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes, places = np.unique(np.stack([first, second]), return_inverse=True)
    ends = places.reshape(2, -1).astype(np.int32)
    edges = coo_array((np.ones(len(first), bool), tuple(ends)), shape=(len(nodes), len(nodes)))
    numbers: NDArray[np.int32] = connected_components(edges, directed=False)[1][ends[0]]
    return numbers

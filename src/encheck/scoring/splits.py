"""Select the measured items, and make folds of whole clusters to choose on some items and measure on others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

VALIDATION = frozenset({"validation", "dev"})
TEST = frozenset({"test", "gate"})  # dev and gate are the probes' own


def test_positions(splits: Sequence[str] | NDArray[np.object_]) -> NDArray[np.intp]:
    """Return the positions of the items of a test split, or of all items if the data have no test split."""
    if TEST.isdisjoint(splits):
        return np.arange(len(splits))
    return np.flatnonzero([split in TEST for split in splits])


def join_split_names(splits: Iterable[str]) -> str:
    """Return the joined names of these items' splits, for other formats; `all` if an item has no split.

    >>> join_split_names(["gate", "dev", "gate"]), join_split_names(["test", ""]), join_split_names([])
    ('dev+gate', 'all', 'all')
    """
    found = set(splits)
    return "+".join(sorted(found)) if found and "" not in found else "all"


FOLDS = 10


def assign_folds(clusters: Sequence[str], *, folds: int = FOLDS) -> NDArray[np.intp]:
    """Return the fold of each item, shape [n]. Clusters are assigned in the order of the hashes of their names.

    >>> assign_folds(["a", "b", "a"], folds=2).tolist()
    [1, 0, 1]
    """
    names = sorted(set(clusters), key=lambda name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest())
    dealt = {name: i % folds for i, name in enumerate(names)}
    return np.array([dealt[name] for name in clusters], dtype=np.intp)

"""Folds of whole clusters, for what is chosen on some items and measured on the others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FOLDS = 10


def fold_of(clusters: Sequence[str], *, folds: int = FOLDS) -> NDArray[np.intp]:
    """The fold of each item, shape [n]: clusters are dealt out in the order of their names' hashes.

    >>> fold_of(["a", "b", "a"], folds=2).tolist()
    [1, 0, 1]
    """
    names = sorted(set(clusters), key=lambda name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest())
    dealt = {name: i % folds for i, name in enumerate(names)}
    return np.array([dealt[name] for name in clusters], dtype=np.intp)

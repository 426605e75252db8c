"""Which items are measured: the test part, and the validation part that thresholds come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.columns import ColumnPairs
from encheck.datasets.parts import TEST, VALIDATION
from encheck.types import SentencePair

__all__ = [
    "TEST",
    "VALIDATION",
    "in_splits",
    "measured_part",
    "splits_of",
    "splits_together",
    "tuning_pairs",
    "validation_part",
]


def measured_part(pairs: Sequence[SentencePair]) -> NDArray[np.intp]:
    """Positions of the test split's pairs; of all of them where the data name none."""
    if isinstance(pairs, ColumnPairs):
        return np.arange(len(pairs))
    test = np.flatnonzero([p.split in TEST for p in pairs])
    return test if len(test) else np.arange(len(pairs))


def validation_part(pairs: Sequence[SentencePair]) -> NDArray[np.intp]:
    """Positions of the validation split's pairs."""
    if isinstance(pairs, ColumnPairs):
        return np.zeros(0, np.intp)
    return np.flatnonzero([p.split in VALIDATION for p in pairs])


def splits_of(pairs: Sequence[Any]) -> NDArray[np.object_]:
    """The split of each pair, shape [n]; pairs of shards have none, which is ""."""
    if isinstance(pairs, ColumnPairs):
        return np.full(len(pairs), "", dtype=object)
    return np.array([p.split for p in pairs], dtype=object)


def in_splits(pairs: Sequence[Any]) -> Iterator[NDArray[np.bool_]]:
    """Which pairs are in each split, shape [n], in the order of the splits' names."""
    if isinstance(pairs, ColumnPairs):
        yield np.ones(len(pairs), bool)
        return
    splits = splits_of(pairs)
    yield from (splits == name for name in sorted(set(splits)))


def tuning_pairs(pairs: Sequence[SentencePair]) -> tuple[SentencePair, ...]:
    """The labelled pairs that thresholds are chosen on: the validation part's, where another part is measured."""
    if not any(p.split in TEST for p in pairs):
        return ()
    return tuple(p for p in pairs if p.split in VALIDATION and p.label is not None)


def splits_together(splits: Iterable[str]) -> str:
    """What these items' splits are called in other people's formats; `all` where one of them has no name.

    >>> splits_together(["gate", "dev", "gate"]), splits_together(["test", ""]), splits_together([])
    ('dev+gate', 'all', 'all')
    """
    found = set(splits)
    return "+".join(sorted(found)) if found and "" not in found else "all"

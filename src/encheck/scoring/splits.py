"""Which items are measured: the test part, and the validation part that thresholds come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.pairs import SentencePair

VALIDATION = frozenset({"validation", "dev"})
TEST = frozenset({"test", "gate"})  # dev and gate are the probes' own


def measured_part(splits: Sequence[str] | NDArray[np.object_]) -> NDArray[np.intp]:
    """Positions of the items of a test split; of all of them where the data name none."""
    if TEST.isdisjoint(splits):
        return np.arange(len(splits))
    return np.flatnonzero([split in TEST for split in splits])


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

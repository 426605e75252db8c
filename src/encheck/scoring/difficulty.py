"""Obvious and non-obvious pairs (Peinelt et al. 2019, section 4, Table 3).

A pair is obvious where word overlap gives its label away: positive with low divergence (Po), negative with high (No).
It is non-obvious where overlap misleads: positive with high divergence (Pn), negative with low (Nn).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.language.divergence import jsd, tokenise

Scope = str | float  # "split", "dataset" or a divergence
CELLS = ("Po", "Pn", "No", "Nn")
DECIMALS = 12  # a pair at the median must be there on every machine; float noise would scatter it


@dataclass(frozen=True)
class Difficulty:
    """The cell of each pair (a position in CELLS, shape [n]), its divergence, and the cut of each split.

    `scope` records the choice; `empty` counts pairs with a side without tokens.
    """

    cells: NDArray[np.int8]
    divergence: NDArray[np.float64]
    medians: dict[str, float]
    scope: Scope = "split"
    empty: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of pairs a cell, as in Table 5."""
        found = np.bincount(self.cells, minlength=len(CELLS)).tolist()
        return dict(zip(CELLS, found, strict=True))

    def of(self, chosen: NDArray[np.intp]) -> Difficulty:
        """The same cells for a selection of the pairs: no median is taken again."""
        return Difficulty(self.cells[chosen], self.divergence[chosen], self.medians, self.scope, self.empty)


def difficulty(pairs: Sequence[Any], *, scope: Scope = "split") -> Difficulty:
    """The cells of labelled pairs by the divergence of their words.

    The cut is the median of each split ("split": what the authors' code does and Table 5 needs), of all the pairs
    ("dataset": what their text says), or a number of your own. ValueError if a pair has no label 0 or 1.

    >>> from encheck.scoring.pairs import SentencePair
    >>> pair = SentencePair("1", "a red car", "a blue car", 1, "c")
    >>> difficulty([pair], scope=0.3).counts
    {'Po': 0, 'Pn': 1, 'No': 0, 'Nn': 0}
    """
    found = jsd([p.first for p in pairs], [p.second for p in pairs])
    empty = sum(not (tokenise(p.first) and tokenise(p.second)) for p in pairs)
    return split_by(found, _labels(pairs), [p.split for p in pairs], scope=scope, empty=empty)


def split_by(
    divergence: NDArray[np.float64],
    labels: NDArray[np.int8],
    splits: Sequence[str] | NDArray[np.object_] | None = None,
    *,
    scope: Scope = "split",
    empty: int = 0,
) -> Difficulty:
    """The cells of pairs whose divergence is known already; shapes [n]. At the median divergence is low.

    Without `splits` all pairs are in one.
    """
    rounded = divergence.round(DECIMALS)
    names, which = [""], np.broadcast_to(0, len(rounded))
    if splits is not None:
        found, which = np.unique(np.asarray(splits, dtype=object).astype(str), return_inverse=True)
        names = found.tolist()
    cuts = _cuts(rounded, names, which, scope)
    high = (rounded > np.array([cuts[name] for name in names] or [0.0])[which]).astype(np.int8)
    return Difficulty(np.where(labels == 1, high, 3 - high), rounded, cuts, scope, empty)


def _cuts(rounded: NDArray[np.float64], names: list[str], which: NDArray[np.intp], scope: Scope) -> dict[str, float]:
    if scope == "split":
        return {name: _median(rounded if len(names) == 1 else rounded[which == i]) for i, name in enumerate(names)}
    if isinstance(scope, str) and scope != "dataset":
        raise ValueError(f"the median scope is {scope!r}, but should be 'split', 'dataset' or a divergence from 0 to 1")
    cut = _median(rounded) if scope == "dataset" and len(rounded) else scope
    return {name: float(cut) for name in names}


def _median(values: NDArray[np.float64]) -> float:
    return round(float(np.median(values)), DECIMALS)


def _labels(pairs: Sequence[Any]) -> NDArray[np.int8]:
    for pair in pairs:
        if pair.label not in (0, 1):
            raise ValueError(f"{pair.id} has the label {pair.label}, but a difficulty is that of a label 0 or 1")
    return np.array([pair.label for pair in pairs], np.int8)

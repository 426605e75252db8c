"""A row and its parts as one closed family, so that a loss in one part is not lost in the mean of all.

A weighted Bonferroni test of the row and its parts, whatever they have in common: the row has most of the level, and
its parts share `Rule.parts` of it. Holm corrects over these families. A part that is rejected by itself within a
family that is rejected is shown to have lost (Marcus, Peritz and Gabriel 1976, Biometrika 63; the test is consonant).
lab/decisions/0019 has what it costs and what it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from encheck.gating.types import Paired, Rule

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


def owners(paired: Sequence[Paired]) -> Places:
    """The place of the row that each is a part of, -1 for a row that stands for itself; shape [rows]."""
    at = {one.name: i for i, one in enumerate(paired) if not one.part_of}
    return np.array([at[one.part_of] if one.part_of else -1 for one in paired], np.intp)


def weights(owner: Places, tested: Bools, rule: Rule) -> Floats:
    """The share of its family's level that each row and part is tested with; 1 for a row without parts."""
    counts = np.bincount(owner[tested & (owner >= 0)], minlength=len(owner))
    found: Floats = np.where(counts > 0, 1 - rule.parts, 1.0)
    mine = owner >= 0
    found[mine] = rule.parts / np.maximum(counts[owner[mine]], 1)
    return found


def adjusted(p: Floats, weights: Floats, owner: Places, tested: Bools, holm: Callable[[Floats], Floats]) -> Floats:
    """The p of each row and part, its family and all others counted; 1 for what is not tested.

    `holm` adjusts the p of the families, one a row. Whatever is no larger in its own right than its family's level
    allows is rejected with it: the larger of the two p counts.
    """
    own = np.minimum(np.divide(p, weights, out=np.ones_like(p), where=tested & (weights > 0)), 1.0)
    family = own.copy()
    mine = np.flatnonzero(owner >= 0)
    np.minimum.at(family, owner[mine], own[mine])
    family = np.fmax(family, np.finfo(float).tiny)  # so that 0 keeps its number of hypotheses
    found = holm(family)
    times = found / family
    place = np.where(owner >= 0, owner, np.arange(len(owner)))
    result: Floats = np.where(tested, np.minimum(np.maximum(found[place], own * times[place]), 1.0), 1.0)
    return result

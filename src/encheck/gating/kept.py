"""What a baseline keeps of a case: its scores, and a lock that says whether a run has the same items.

Ids, texts, clusters, splits and labels are the data's. A run on the same items has them, so a baseline keeps none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from encheck.ids import ItemId
from encheck.scoring.contrasts import CONTRAST
from encheck.scoring.frame import CaseScores
from encheck.scoring.scale import Floats
from encheck.system.typed_files import Count, Positive
from encheck.types import content_hash

DECIMALS = 6
STEPS = 10**DECIMALS  # steps a unit of a score: rounding moves it by half a step, a twentieth of the gate's tolerance
LARGEST = 2**53  # steps: beyond, a double cannot count them
DIGITS = 3  # of an item's key, in hex: it counts items that are others, and the lock is what refuses them
KeptFigure = tuple[float | None, float | None, float | None, Count]  # value, low, high and n of a row


@dataclass(frozen=True)
class Part:
    """Where the items of a first look stand among all items of their case: `at`, in their order; `lock` is of all."""

    lock: str
    at: tuple[int, ...]

    @classmethod
    def of(cls, table: CaseScores, whole: CaseScores) -> Self | None:
        """The place of a table's items in the whole; None where one is not there."""
        ordered = whole.of(_order(whole))
        places = {named: i for i, named in enumerate(zip(ordered.items, ordered.texts, strict=True))}
        at = [places.get(named) for named in zip(table.items, table.texts, strict=True)]
        return None if None in at else cls(_lock(ordered), tuple(i for i in at if i is not None))


@dataclass(frozen=True)
class Kept:
    """The scores of one case, shape [n], its items sorted by id and texts.

    `lock` stands for kind, ids and texts, `parts` for splits and labels. `keys` are the first digits of the sources'
    hashes. `far` is NaN where an item has one score. `unscaled` says that no calibration moves the figures.
    """

    case: str
    check: str
    data: str
    lock: str
    parts: str
    unscaled: bool
    keys: NDArray[np.int64]
    near: Floats
    far: Floats
    answers: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, table: CaseScores) -> Self:
        """What is kept of a table of a run."""
        some = table.of(_order(table))
        return cls(
            some.case, some.check, some.data, _lock(some), _parts(some), _is_unscaled(some), _keys(some.items),
            rounded(some.near), rounded(some.far), some.answers, some.weights,
        )  # fmt: skip

    def has_items_of(self, table: CaseScores) -> bool:
        """Whether a run's case has the same items: kind, ids and texts."""
        return len(self) == len(table.items) and self.lock == _lock(table.of(_order(table)))

    def has_parts_of(self, table: CaseScores) -> bool:
        """Whether these items have the same splits and labels."""
        return self.parts == _parts(table.of(_order(table)))

    def facing(self, table: CaseScores) -> CaseScores:
        """These scores as a table on a run's items, which are the same, in the run's order."""
        at = np.argsort(_order(table))
        answers, weights = (tuple(some[i] for i in at) if some else () for some in (self.answers, self.weights))
        return replace(table, near=self.near[at], far=self.far[at], answers=answers, weights=weights, slices=())

    def facing_part(self, table: CaseScores, part: Part) -> CaseScores | None:
        """These scores as a table on a part of the items; None where the case has other items than these."""
        if part.lock != self.lock:
            return None
        at = np.array(part.at, np.intp)
        return replace(table, near=self.near[at], far=self.far[at], answers=(), weights=(), slices=())

    def others(self, table: CaseScores) -> tuple[int, int]:
        """At least how many items the run lacks, and how many it has besides; by their sources, not by all texts."""
        mine, theirs = Counter(self.keys.tolist()), Counter(_keys(table.items).tolist())
        return (mine - theirs).total(), (theirs - mine).total()


@dataclass(frozen=True, slots=True)
class KeptCase:
    """A case: how many `items` it has, and what tells whether a run has the same.

    `lock` is a hash of the items' kind, ids and texts, `parts` one of their splits and labels. `unscaled` says that no
    calibration moves the figures.
    """

    check: str
    data: str
    items: Positive
    lock: str
    parts: str
    unscaled: bool = False


def rounded(scores: Floats) -> Floats:
    """Scores as a baseline keeps them, to six decimals; NaN where there is none.

    >>> rounded(np.array([0.12345678, -1.0])).tolist()
    [0.123457, -1.0]
    """
    found: Floats = np.rint(scores * STEPS) / STEPS
    return found


def _order(table: CaseScores) -> NDArray[np.intp]:
    """The positions of the items, sorted by id and texts."""
    named = list(zip(table.items, table.texts, strict=True))
    return np.array(sorted(range(len(named)), key=named.__getitem__), np.intp)


def _lock(ordered: CaseScores) -> str:
    return content_hash(ordered.kind, *ordered.items, *ordered.texts)


def _parts(ordered: CaseScores) -> str:
    return content_hash(*ordered.splits, *map(str, ordered.labels))


def _keys(items: Sequence[str]) -> NDArray[np.int64]:
    """The key of each item; shape [n]."""
    return np.array([int(_source(item)[:DIGITS], 16) for item in items], np.int64)


def _source(item: str) -> str:
    parts: Any = ItemId(item).known
    return parts.texts if parts else content_hash(item)


def _is_unscaled(table: CaseScores) -> bool:
    """Whether the items are the answers to queries, or contrasts of queries, which no calibration moves."""
    parts = ItemId(table.items[0]).known
    return bool(table.answers) or bool(parts and parts.relation == CONTRAST.name)

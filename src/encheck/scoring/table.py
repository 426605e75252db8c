"""The scores of one case under one model, item by item: what gate and comparison pair."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.ids import GateRowId, ItemId
from encheck.scoring.scale import Scale
from encheck.types import Declaration

Floats = NDArray[np.float64]
GATE_SPLIT, DEV_SPLIT, VALIDATION = "gate", "dev", "validation"


@dataclass(frozen=True)
class Table:
    """One case (check/data/level) under one model: its items' ids, hashes of their texts, clusters, splits, scores.

    `far` holds the second score of each item, NaN if it has none; `kind` is triplet, turned, labelled or pair.
    `answers` has what each query found, as `Answers` writes it; it is empty if the items search no documents.
    `weights` has how often each query was asked, where a log says so: nobody judged what such queries find.
    `slices` has what the data say of each query besides, as a JSON object; a baseline keeps no text, and so none.
    `shares` has hashes of what each item has in common with others, with blanks between them; "" where that is its
    cluster, and empty where it is for all. `gold` has people's scores of graded pairs; a baseline keeps none.
    `declared` is what the check declares of itself; None if the run that made the table does not say.
    """

    case: str
    check: str
    property: str
    data: str
    level: str
    kind: str
    items: tuple[str, ...]
    texts: tuple[str, ...]
    clusters: tuple[str, ...]
    splits: tuple[str, ...]
    labels: tuple[int | None, ...]
    near: Floats
    far: Floats
    declared: Declaration | None = None
    answers: tuple[str, ...] = ()
    weights: tuple[int, ...] = ()
    slices: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    gold: tuple[float | None, ...] = ()

    @builtins.property
    def gate_row(self) -> GateRowId:
        """The gate row that this case belongs to."""
        return GateRowId.of(self.property, self.data, self.level)

    def margins(self, scale: Scale) -> Floats:
        """Near less far, shape [n]; 0 where they are a tie on this scale."""
        return scale.apart(self.near, self.far)

    @builtins.property
    def chains(self) -> list[list[int]]:
        """The positions of each chain's rows: one a member, whose ids differ in the last part."""
        found: dict[ItemId, list[int]] = {}
        for i, item in enumerate(self.items):
            found.setdefault(ItemId(item).chain, []).append(i)
        return list(found.values())

    @builtins.property
    def things(self) -> list[list[str]]:
        """What each item shares with others: at least its cluster, or what overlaps in its place."""
        if not self.shares:
            return [[cluster] for cluster in self.clusters]
        return [text.split() or [cluster] for text, cluster in zip(self.shares, self.clusters, strict=True)]

    def of(self, positions: NDArray[np.intp]) -> Table:
        """A selection of the items."""
        chosen = [int(i) for i in positions]
        names = ("items", "texts", "clusters", "splits", "labels", *["answers"] * bool(self.answers),
                 *["weights"] * bool(self.weights), *["slices"] * bool(self.slices),
                 *["shares"] * bool(self.shares), *["gold"] * bool(self.gold))  # fmt: skip
        some: dict[str, Any] = {name: tuple(getattr(self, name)[i] for i in chosen) for name in names}
        return replace(self, near=self.near[positions], far=self.far[positions], **some)

    def seen(self, split: str) -> Table:
        """The items of this split where the data have dev and gate; all but `validation` where that is one of several.

        A gate sees `gate` alone, whatever selects checkpoints `dev` or `validation` alone.
        """
        there = set(self.splits)
        if there & {DEV_SPLIT, GATE_SPLIT}:
            return self.of(np.flatnonzero([s == split for s in self.splits]))
        if VALIDATION in there and len(there) > 1:
            return self.of(np.flatnonzero([(s == VALIDATION) == (split == DEV_SPLIT) for s in self.splits]))
        return self

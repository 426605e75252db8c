"""What a gate compares: the per-item figure of each capability, from two models' scores on the same items.

A capability is a check (marker) x data x level: the items of its claims, pooled. Win rates of triplets and calibrated
margins gate. Raw similarities, raw margins and AUC never do, nor does a win rate below one half: they rise when a model
is damaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.gate_rows import Kind, Paired
from encheck.scores import Scale

Floats = NDArray[np.float64]
TOLERANCE = 1e-5  # a score of the same checkpoint at other batch sizes and thread counts differs by less
GATE_SPLIT, DEV_SPLIT = "gate", "dev"
FAMILY = {
    "paraphrase": "meaning kept", "synonym": "meaning kept",
    "antonym": "meaning changed", "negation": "meaning changed", "number": "meaning changed",
    "temporal": "meaning changed", "quantifier": "meaning changed", "modality": "meaning changed",
    "entity": "meaning changed", "dilution": "meaning changed", "continuation": "meaning changed",
    "jumble": "order", "roles": "order", "role_reversal": "order", "swapchain": "order",
    "retrieval": "retrieval",
    "invariance": "invariance", "symmetry": "invariance",
    "health": "health",
}  # fmt: skip
REPORTED = {
    "nonobvious": "an AUC rises with damage",
    "sts": "a correlation has no figure an item",
    "contract": "it holds, or it blocks",
}
HEALTH = {
    "random_pairs_are_apart": "room",
    "random_pairs_are_alike_in_distance": "spread",
    "no_sentence_is_near_to_all": "hubs",
}
CHANCE = 0.5
DELTAS = {"room": 0.1, "spread": 0.05, "hubs": 0.05}


@dataclass(frozen=True)
class Table:
    """One case (claim/data/level) under one model: its items' ids, hashes of their texts, clusters, splits, scores.

    `far` holds the second score of each item, NaN where it has none; `kind` is triplet, turned, labelled or pair.
    """

    case: str
    claim: str
    check: str
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

    @property
    def capability(self) -> str:
        """The row of the gate that this case belongs to."""
        return f"{self.check}/{self.data}/{self.level}"

    def of(self, positions: NDArray[np.intp]) -> Table:
        """A selection of the items."""
        chosen = [int(i) for i in positions]
        names = ("items", "texts", "clusters", "splits", "labels")
        some: dict[str, Any] = {name: tuple(getattr(self, name)[i] for i in chosen) for name in names}
        return replace(self, near=self.near[positions], far=self.far[positions], **some)

    def seen(self, split: str) -> Table:
        """The items of this split where the data have dev and gate; all of them where they have not.

        A gate sees `gate` alone, whatever selects checkpoints `dev` alone.
        """
        here = np.array([s == split for s in self.splits], bool)
        has_both = {DEV_SPLIT, GATE_SPLIT} & set(self.splits)
        return self.of(np.flatnonzero(here)) if has_both else self


def figure_of(before: Table, scale: Scale) -> tuple[str | None, str]:
    """The figure that gates a case, decided by the baseline; or None, and why it is reported only."""
    if before.check in REPORTED:
        return None, REPORTED[before.check]
    if before.check == "health" and before.claim in HEALTH:
        return HEALTH[before.claim], ""
    if before.kind == "pair":
        return None, "a mean similarity rises with damage"
    if before.kind == "triplet":
        rate = float(values("win", before, scale).mean())
        if rate < CHANCE and before.check not in ("retrieval", "health"):
            return None, f"the baseline wins {rate:.0%}, less than chance: damage would raise it"
        return "win", ""
    if before.kind == "labelled" and float(values("gap", before, scale).mean()) < 0:
        return None, "the baseline puts the other class nearer: damage would narrow the gap"
    return ("symmetry" if before.kind == "turned" else "gap"), ""


def values(figure: str, table: Table, scale: Scale) -> Floats:
    """The figure of each item, larger is better; shape [n], on the calibrated scale where it is no win."""
    margins = (table.near - table.far).round(6)
    if figure == "win":
        return (margins > 0).astype(float)
    if figure == "symmetry":
        return -np.abs(margins) / scale.unit
    if figure == "gap":
        return _signed(table) * (table.near - scale.reference) / scale.unit
    if figure == "room":
        return np.asarray(-table.near)
    if figure == "spread":
        return -np.abs(table.near - scale.reference) / scale.unit
    return -np.abs(table.near / max(float(table.near.mean()), 1e-9) - 1) / 2


def _signed(table: Table) -> Floats:
    """n / n1 for each item of label 1, -n / n0 for each of label 0: the mean of weighted values is the gap."""
    positive = np.array([label == 1 for label in table.labels], bool)
    n = len(positive)
    return np.where(positive, n / max(int(positive.sum()), 1), -n / max(int((~positive).sum()), 1))


@dataclass(frozen=True)
class Compared:
    """One case under both models: its gating figure item by item."""

    before: Table
    figure: str
    old: Floats
    new: Floats
    alike: bool
    error: float

    def flips(self, sign: int) -> list[str]:
        """Ids of the items that were won and are lost (-1), or the other way round (1)."""
        moved = np.flatnonzero(np.sign(self.new - self.old) == sign)
        return [self.before.items[i] for i in moved] if self.figure == "win" else []


def compare(before: Table, after: Table, scales: tuple[Scale, Scale]) -> Compared | None:
    """The gating figure of a case under both models, on the same items; None where the case is reported only.

    An item whose scores agree within the noise tolerance has not changed.
    """
    figure, _ = figure_of(before, scales[0])
    if figure is None:
        return None
    old, new = values(figure, before, scales[0]), values(figure, after, scales[1])
    alike = np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE)
    alike &= np.isnan(before.far) | np.isclose(before.far, after.far, rtol=0, atol=TOLERANCE)
    new = np.where(alike, old, new)
    errors = [scale.error(float(v.mean())) for scale, v in zip(scales, (old, new), strict=True)]
    error = 0.0 if figure == "win" else float(np.hypot(errors[0], errors[1]))
    same = bool(alike.all())
    return Compared(before, figure, old, new, same, 0.0 if same else error)


def pooled(found: Sequence[Compared]) -> list[Paired]:
    """One `Paired` a capability: the cases of one check, data set and level, with figures of one kind, together."""
    codes = {name: i for i, name in enumerate(sorted({c for one in found for c in one.before.clusters}))}
    grouped: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        kind = one.figure if one.figure in DELTAS else "rate" if one.figure == "win" else "mean"
        grouped.setdefault((one.before.capability, kind), []).append(one)
    several = Counter(name for name, _ in grouped)
    return [
        _pooled(name if several[name] == 1 else f"{name}/{kind}", kind, some, codes)
        for (name, kind), some in grouped.items()
    ]


def _pooled(name: str, kind: str, some: Sequence[Compared], codes: Mapping[str, int]) -> Paired:
    clusters = [codes[name] for one in some for name in one.before.clusters]
    old, new = (np.concatenate([getattr(one, side) for one in some]) for side in ("old", "new"))
    error = float(np.hypot.reduce([one.error * len(one.old) / len(old) for one in some]))
    what: Kind = "rate" if kind == "rate" else "mean"
    family = FAMILY.get(some[0].before.check, "meaning changed")
    same = all(one.alike for one in some)
    return Paired(name, family, what, old, new, np.array(clusters, np.intp), DELTAS.get(kind), error, same)

"""What a gate compares: the per-item figure of each capability, from two models' scores on the same items.

A capability is a check (marker) x data x level: the items of its claims, pooled. Win rates of triplets and calibrated
margins gate. Raw similarities, raw margins and AUC never do: they rise when a model is damaged. A win rate below one
half rises too; it is a capability of its own, `.../reversed`, that can block and is no evidence for passing. Where that
leaves a part too small to gate, `.../whole` has all of it (see `capabilities`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.gating.types import DEFAULT, Kind, Paired, Rule
from encheck.scoring.scores import DECIMALS, Scale
from encheck.statistics import paired as stats

Floats = NDArray[np.float64]
TOLERANCE = 1e-5  # a score of the same checkpoint at other batch sizes and thread counts differs by less
GATE_SPLIT, DEV_SPLIT, VALIDATION = "gate", "dev", "validation"
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
CALIBRATED = ("gap", "symmetry", "spread")
REVERSED = {"win": "reversed", "gap": "reversed-gap"}
STRAIGHT = {"reversed": "rate", "reversed-gap": "mean"}  # the kind that these are without
WHOLE = "whole"
CHAINS = ("swapchain", "continuation")
WHOLE_SETS = ("nonobvious", "sts")  # their figures are of a whole set, and no item has a part in them


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
        """The items of this split where the data have dev and gate; all but `validation` where that is one of several.

        A gate sees `gate` alone, whatever selects checkpoints `dev` or `validation` alone.
        """
        there = set(self.splits)
        if there & {DEV_SPLIT, GATE_SPLIT}:
            return self.of(np.flatnonzero([s == split for s in self.splits]))
        if VALIDATION in there and len(there) > 1:
            return self.of(np.flatnonzero([(s == VALIDATION) == (split == DEV_SPLIT) for s in self.splits]))
        return self


def figure_of(before: Table) -> tuple[str | None, str]:
    """The figure that gates a case, or None, and why it is reported only."""
    if before.check in REPORTED:
        return None, REPORTED[before.check]
    if before.check == "health" and before.claim in HEALTH:
        return HEALTH[before.claim], ""
    if before.kind == "pair":
        return None, "a mean similarity rises with damage"
    if before.kind == "triplet":
        return "win", ""
    return ("symmetry" if before.kind == "turned" else "gap"), ""


def is_reversed(before: Table, figure: str, old: Floats) -> bool:
    """Whether the baseline has it the wrong way round: fewer wins than chance, or the other class nearer."""
    if figure == "win":
        return before.check not in ("retrieval", "health") and float(old.mean()) < CHANCE
    return figure == "gap" and float(old.mean()) < 0


def values(figure: str, table: Table, scale: Scale) -> Floats:
    """The figure of each item, larger is better; shape [n], on the calibrated scale where it is no win."""
    margins = (table.near - table.far).round(DECIMALS)
    if figure == "win":
        return (margins > 0).astype(float)
    if figure == "symmetry":
        return -np.abs(margins) / scale.unit
    if figure == "gap":
        return _gaps(table, _calibrated(table, scale))
    if figure == "room":
        return np.asarray((scale.identity - table.near) / _magnitude(scale))
    if figure == "spread":
        return -np.abs(table.near - scale.reference) / scale.unit
    return -np.abs(table.near / max(float(table.near.mean()), 1e-9) - 1) / 2


def _magnitude(scale: Scale) -> float:
    """The unit that the room is told in: what identical text scores, 1 for a cosine.

    What random pairs score where that is further from 0: so a logit's room stays between 0 and 2. A distance has no
    other unit than that, and its room is always 1.
    """
    return max(abs(scale.identity), abs(scale.reference)) or float("nan")


def _calibrated(table: Table, scale: Scale) -> Floats:
    return np.asarray((table.near - scale.reference) / scale.unit)


def _gaps(table: Table, similarities: Floats) -> Floats:
    """What each item says of the gap between label 1 and label 0; shape [n].

    Their mean is the difference of the labels' means, and their spread is its error: each item's distance from the mean
    of its own label, weighted n / n1 or -n / n0 (the influence function). Similarities that all move say nothing of it.
    """
    positive = np.array([label == 1 for label in table.labels], bool)
    weighted, gap = np.zeros(len(positive)), 0.0
    for of, sign in ((positive, 1), (~positive, -1)):
        if of.any():
            mean = float(similarities[of].mean())
            weighted[of] = sign * len(of) / int(of.sum()) * (similarities[of] - mean)
            gap += sign * mean
    return weighted + gap


@dataclass(frozen=True)
class Compared:
    """One case under both models: its gating figure item by item; `kind` tells which figures can be pooled."""

    before: Table
    after: Table
    scales: tuple[Scale, Scale]
    figure: str
    old: Floats
    new: Floats
    alike: bool

    def flips(self, sign: int) -> list[str]:
        """Ids of the items that were won and are lost (-1), or the other way round (1)."""
        moved = np.flatnonzero(np.sign(self.new - self.old) == sign)
        return [self.before.items[i] for i in moved] if self.figure == "win" else []

    @property
    def kind(self) -> str:
        """Which figures are pooled: rates, means, what the baseline has the wrong way round; health's one by one."""
        if is_reversed(self.before, self.figure, self.old):
            return REVERSED[self.figure]
        return self.figure if self.figure in DELTAS else "rate" if self.figure == "win" else "mean"

    @property
    def pulls(self) -> tuple[float, float]:
        """How far the mean moves with the reference under each model, in units of its scale; nothing if all is alike.

        A mean similarity m has (m - reference) / (identity - reference): the reference is above and below. The gap of
        two classes, and what a change of order makes, have it below alone.
        """
        if self.alike or self.figure not in CALIBRATED:
            return 0.0, 0.0
        signs = {1.0 if label == 1 else -1.0 for label in self.before.labels}
        above = sum(signs) if self.figure == "gap" else 0.0
        return float(self.old.mean()) - above, float(self.new.mean()) - above


def compare(before: Table, after: Table, scales: tuple[Scale, Scale]) -> Compared | None:
    """The gating figure of a case under both models, on the same items; None where the case is reported only.

    An item whose scores agree within the noise tolerance has not changed.
    """
    figure, _ = figure_of(before)
    if figure is None:
        return None
    unchanged = alike(before, after)
    if figure == "gap":
        first, other = (_calibrated(table, scale) for table, scale in zip((before, after), scales, strict=True))
        old, new = _gaps(before, first), _gaps(after, np.where(unchanged, first, other))
    else:
        old, new = values(figure, before, scales[0]), values(figure, after, scales[1])
        new = np.where(unchanged, old, new)
    return Compared(before, after, scales, figure, old, new, bool(unchanged.all()))


def capabilities(found: Sequence[Compared], rule: Rule = DEFAULT) -> dict[str, list[Compared]]:
    """The cases of one check, data set and level with figures of one kind, by the name of their capability.

    Claims that the baseline has the wrong way round are a capability of their own. Where that leaves either part too
    small to gate, but not both together, `.../whole` stands for it: all claims of the two, so that no loss goes unseen.
    It can block and is no evidence; a part that is large enough stays beside it.
    """
    grouped: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        grouped.setdefault((one.before.capability, one.kind), []).append(one)
    several = Counter(name for name, kind in grouped if kind not in REVERSED.values())
    named: dict[str, list[Compared]] = {}
    for (name, kind), some in grouped.items():
        straight = STRAIGHT.get(kind, kind)
        label = f"{name}/{straight}" if several[name] > 1 else name
        both = [one for way in (straight, *_wrong_way(straight)) for one in grouped.get((name, way), ())]
        if len(both) > len(some) and not _enough(some, rule) and _enough(both, rule):
            named[f"{label}/{WHOLE}"] = both
        else:
            named[f"{name}/{kind}" if kind in STRAIGHT else label] = some
    return named


def _wrong_way(straight: str) -> list[str]:
    return [kind for kind, other in STRAIGHT.items() if other == straight]


def _enough(some: Sequence[Compared], rule: Rule) -> bool:
    clusters = {label for one in some for label in one.before.clusters}
    return sum(len(one.old) for one in some) >= rule.min_items and len(clusters) >= rule.min_clusters


def alike(before: Table, after: Table) -> NDArray[np.bool_]:
    """Items whose scores agree within the noise of batch sizes and threads; shape [n]."""
    near = np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE)
    far = np.isnan(before.far) | np.isclose(before.far, after.far, rtol=0, atol=TOLERANCE)
    return np.asarray(near & far)


def pooled(found: Sequence[Compared], rule: Rule = DEFAULT) -> list[Paired]:
    """One `Paired` a capability; `rule` says how many items and clusters gate."""
    codes = {name: i for i, name in enumerate(sorted({c for one in found for c in one.before.clusters}))}
    pools = {one.before.data: one for one in found if one.figure == "room"}
    return [
        _pooled(name, some, codes, calibration_error(some, pools.get(some[0].before.data)))
        for name, some in capabilities(found, rule).items()
    ]


def _pooled(name: str, some: Sequence[Compared], codes: Mapping[str, int], error: float) -> Paired:
    first = some[0]
    clusters = [codes[label] for one in some for label in one.before.clusters]
    old, new = (np.concatenate([getattr(one, side) for one in some]) for side in ("old", "new"))
    what: Kind = "rate" if first.figure == "win" else "mean"
    family, delta = FAMILY.get(first.before.check, "meaning changed"), DELTAS.get(first.figure)
    same, turned = all(one.alike for one in some), {one.kind in STRAIGHT for one in some}
    ways = True in turned, len(turned) > 1
    return Paired(name, family, what, old, new, np.array(clusters, np.intp), delta, error, same, *ways)


def calibration_error(some: Sequence[Compared], pool: Compared | None = None) -> float:
    """What the finite pool of random pairs adds to the standard error of the change of these cases (delta method).

    Both models have the same pairs. Where they are seen (`pool`, the case of their room), the error is that of the
    paired difference, over their clusters. Elsewhere the models' errors add up as if they were independent, which is
    too much for two that agree on which pairs are nearer.
    """
    share = np.array([len(one.old) for one in some]) / sum(len(one.old) for one in some)
    old, new = share @ np.array([one.pulls for one in some])
    if not old and not new:
        return 0.0  # also where there is no scale
    before, after = some[0].scales
    clusters = np.unique(pool.before.clusters, return_inverse=True)[1] if pool else np.zeros(0, np.intp)
    count = len(np.unique(clusters))
    if pool is None or count < DEFAULT.min_clusters or not before.pairs == after.pairs > 0:
        return float(np.hypot(before.error(old), after.error(new)))
    moved = new * after.similarity(pool.after.near) - old * before.similarity(pool.before.near)
    error = stats.clustered_error(stats.influence(moved, clusters, count), count)
    return error * float(np.sqrt(len(moved) / before.pairs))  # a gate sees a part of the pool that calibrates

"""Gate rows: the cases of one capability on one data set, pooled, and the parts that a row has.

A capability is what a gate weighs as one: all checks, levels and properties that declare it. Its properties, its levels
and the surface directions of its crossed groups are parts of the row: reported, and able to block, but no evidence of
their own. A property at a level that the old model does not see (`sight`) is a part that leaves its row's mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.gating.declared import declared_of
from encheck.gating.pairing import Compared
from encheck.gating.sight import unseen
from encheck.gating.types import BUDGETS, DEFAULT, Paired
from encheck.ids import GateRowId
from encheck.metrics.health import room
from encheck.statistics.sharing import codes_of, numbered, sharing_of

DIRECTION = "direction-{}"
DIRECTIONS = (1, 2)


@dataclass(frozen=True)
class Part:
    """Some of the entries of the capability whose gate row is `row`."""

    row: str
    cases: list[Compared]


def rows(found: Sequence[Compared]) -> dict[str, list[Compared]]:
    """The cases of one capability and data set with figures of one kind, by the name of their gate row.

    A row that holds one property at one level bears their names. Cases that the baseline does not see are left out,
    where it sees others of the row.
    """
    return {name: _once(_seen(some) or some) for name, some in _grouped(found).items()}


def _grouped(found: Sequence[Compared]) -> dict[str, list[Compared]]:
    """All cases of each gate row, by its name."""
    grouped: dict[tuple[GateRowId, str], list[Compared]] = {}
    for one in found:
        grouped.setdefault((_group(one), one.kind), []).append(one)
    several = Counter(_name(some) for some in grouped.values())
    return {_label(_name(some), kind, several): some for (_, kind), some in grouped.items()}


def _seen(some: Sequence[Compared]) -> list[Compared]:
    """Those whose property at its level the baseline sees."""
    return [one for cases in _properties(some).values() if not unseen(cases) for one in cases]


def _properties(some: Sequence[Compared]) -> dict[GateRowId, list[Compared]]:
    """The cases of each property at each level."""
    grouped: dict[GateRowId, list[Compared]] = {}
    for one in some:
        grouped.setdefault(one.before.gate_row, []).append(one)
    return grouped


def _group(one: Compared) -> GateRowId:
    """What a case is pooled by: its capability and data; queries with labels, and proxies, stand for themselves."""
    declared = declared_of(one.before)
    if one.budget != "behaviour" or declared.proxy:
        return one.before.gate_row
    return GateRowId.of_capability(declared.capability or one.before.property, one.before.data)


def _name(some: Sequence[Compared]) -> GateRowId:
    """The property, data and level that all share, else their capability."""
    own = {one.before.gate_row for one in some}
    return own.pop() if len(own) == 1 else _group(some[0])


def _label(name: GateRowId, kind: str, several: Mapping[GateRowId, int]) -> GateRowId:
    return name.part(kind) if several[name] > 1 else name


def _once(some: Sequence[Compared]) -> list[Compared]:
    """The cases without the items that a crossed group of the same row has as one of its sides."""
    sides = {text for one in some if one.sides is not None for text in one.before.texts}
    if not sides:
        return list(some)
    kept = [one if one.sides is not None else _without(one, sides) for one in some]
    return [one for one in kept if len(one.old)]


def _without(one: Compared, texts: set[str]) -> Compared:
    return one.of(np.flatnonzero([text not in texts for text in one.before.texts]))


def parts(found: Sequence[Compared]) -> dict[str, Part]:
    """The properties, levels and surface directions of rows that have several, by name; none of queries with labels.

    Those that the baseline does not see are among them; the directions are those of what it sees.
    """
    made: dict[str, Part] = {}
    for name, some in _grouped(found).items():
        if some[0].budget == "behaviour":
            seen = _once(_seen(some) or some)
            made |= {own: Part(name, cases) for own, cases in (*_by_property(name, some), *_by_direction(name, seen))}
    return made


def _by_property(name: str, some: Sequence[Compared]) -> Iterator[tuple[str, list[Compared]]]:
    """The properties at their levels, named as a row would be that held nothing else."""
    grouped = _properties(some)
    if len(grouped) > 1:
        rest = name.removeprefix(_name(some))
        yield from ((f"{own}{rest}", _once(cases)) for own, cases in grouped.items())


def _by_direction(name: str, some: Sequence[Compared]) -> Iterator[tuple[str, list[Compared]]]:
    crossed = [one for one in some if one.sides is not None]
    for side in DIRECTIONS if crossed else ():
        yield GateRowId(name).part(DIRECTION.format(side)), [one.on_side(side) for one in crossed]


def pooled(found: Sequence[Compared], slices: Mapping[str, list[Compared]] | None = None) -> list[Paired]:
    """One `Paired` a row, primary endpoints first and `slices` of them last, then one a part."""
    codes = codes_of([names for one in found for names in one.before.things])
    pools = pools_of(found)
    every = [*rows(found).items(), *(slices or {}).items()]

    def made(name: str, some: Sequence[Compared]) -> Paired:
        return _pooled(name, some, codes, calibration_error(some, pools.get(some[0].before.data)))

    whole = [made(*entry) for entry in sorted(every, key=lambda entry: BUDGETS.index(entry[1][0].budget))]
    return [*whole, *(replace(made(name, part.cases), part_of=part.row) for name, part in parts(found).items())]


def by_property(found: Sequence[Compared]) -> list[Paired]:
    """One `Paired` a property, of all its checks and levels: what a training loop follows. A gate weighs `pooled`.

    A property with figures of several kinds has one of each, named `property_metric`.
    """
    grouped: dict[tuple[str, str], list[Compared]] = {}
    for one in found:
        grouped.setdefault((one.before.property, one.kind), []).append(one)
    several = Counter(name for name, _ in grouped)
    codes = codes_of([names for one in found for names in one.before.things])
    pools = pools_of(found)
    made = []
    for (name, _), cases in grouped.items():
        some = _once(_seen(cases) or cases)
        label = f"{name}_{some[0].metric.name}" if several[name] > 1 else name
        made.append(_pooled(label, some, codes, calibration_error(some, pools.get(some[0].before.data))))
    return made


def alone(name: str, one: Compared, pool: Compared | None) -> Paired:
    """One case as a row of its own; `pool` as for `calibration_error`."""
    return _pooled(name, [one], codes_of(one.before.things), calibration_error([one], pool))


def pools_of(found: Sequence[Compared]) -> dict[str, Compared]:
    """By data set, the case that has its random pairs under both models."""
    return {one.before.data: one for one in found if one.metric is room}


def _pooled(name: str, some: Sequence[Compared], codes: Mapping[str, int], error: float) -> Paired:
    first = some[0]
    old, new = (np.concatenate([getattr(one, side) for one in some]) for side in ("old", "new"))
    family, metric = declared_of(first.before).family, first.metric
    same = all(one.alike for one in some)
    things = numbered([names for one in some for names in one.before.things], codes)
    endpoint = "" if first.budget == "behaviour" else metric.label
    return Paired(name, family, metric.kind, old, new, things, metric.delta, error, same, _chance(some), unseen(some),
                  declared_of(first.before).proxy, first.budget, endpoint, strata=_strata(some))  # fmt: skip


def _strata(some: Sequence[Compared]) -> NDArray[np.intp] | None:
    """The surface direction of each entry, 0 where it has none; None if no entry has one."""
    if all(one.sides is None for one in some):
        return None
    return np.concatenate([np.zeros(len(one.old), np.intp) if one.sides is None else one.sides for one in some])


def _chance(some: Sequence[Compared]) -> float | None:
    """What guessing gets over all their items; None if that is not known of all."""
    known = [(one.chance, len(one.old)) for one in some if one.chance is not None]
    if len(known) < len(some):
        return None
    return sum(chance * n for chance, n in known) / sum(n for _, n in known)


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
    count = len({*pool.before.clusters}) if pool else 0
    if pool is None or count < DEFAULT.min_clusters or not before.pairs == after.pairs > 0:
        return float(np.hypot(before.error(old), after.error(new)))
    moved = new * after.similarity(pool.after.near) - old * before.similarity(pool.before.near)
    clusters = np.unique(pool.before.clusters, return_inverse=True)[1].reshape(-1)
    error = float(sharing_of(clusters).errors(moved).error[0])
    return error * float(np.sqrt(len(moved) / before.pairs))  # a gate sees a part of the pool that calibrates

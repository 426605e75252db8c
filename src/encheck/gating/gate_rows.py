"""Gate rows: the cases of one capability on one data set, pooled; their parts, slices of queries, and what they lost.

A capability is what a gate weighs as one: all checks, levels and properties that declare it. Its properties, its levels
and the surface directions of its crossed groups are parts of the row: reported, and able to block, but no evidence of
their own. A property at a level that the old model does not see is a part that leaves its row's mean.

The old model sees what it beats guessing in by two deltas, for certain, on items that are tested nowhere. A figure that
is at chance or below may rise with damage and fall with repair: such a loss says nothing. Were it chosen by the items
that are tested, chance would raise the old model's figure in what is chosen, and an equal model would seem to lose. So
it is told by the dev part of the data. Data without one are looked at by a quarter of their clusters; where that does
not show it, by a half. The others are tested.

Slices of a search with labels are the queries that share a value of a column, each a hypothesis of its own. They have a
budget of alpha to themselves, so that a column more takes nothing from the primary endpoint. Which are tested is
decided by the number of their clusters alone, never by scores.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from encheck.gating.pairing import Compared, chance_of, declared_of, gating_metric, own_figures
from encheck.gating.types import BUDGETS, DEFAULT, Paired, Rule
from encheck.ids import GateRowId
from encheck.metrics.health import room
from encheck.scoring.documents import Answers
from encheck.scoring.frame import DEV_SPLIT, GATE_SPLIT, CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics import hypothesis_tests as stats
from encheck.statistics.sharing import codes_of, numbered, sharing_of
from encheck.types import content_hash

Ints = NDArray[np.intp]
DIRECTION = "direction-{}"
DIRECTIONS = (1, 2)
QUARTERS = 4
LOOKS = (1, 2)  # quarters of the clusters that are looked at, of data without a dev part
FEWEST = 64  # clusters that are divided: fewer gate nothing, and a quarter of them shows nothing
SHOWN, NAMED = 40, 5  # characters of a value; slices that are named where more are left out
LOST_SHOWN = 3


@dataclass(frozen=True)
class RowPart:
    """Some of the entries of the capability whose gate row is `row`."""

    row: str
    cases: list[Compared]


def group_into_rows(found: Sequence[Compared]) -> dict[str, list[Compared]]:
    """The cases of one capability and data set with figures of one kind, by the name of their gate row.

    A row that holds one property at one level bears their names. Cases that the baseline does not see are left out,
    where it sees others of the row.
    """
    return {name: _once(_seen(some) or some) for name, some in _grouped(found).items()}


def _grouped(found: Sequence[Compared]) -> dict[str, list[Compared]]:
    """All cases of each gate row, by its name, which says the kind of figure where a capability has several."""
    grouped: dict[tuple[GateRowId, str], list[Compared]] = {}
    for one in found:
        grouped.setdefault((_group(one), one.kind), []).append(one)
    named = [(_name(some), kind, some) for (_, kind), some in grouped.items()]
    several = Counter(name for name, _, _ in named)
    return {name.part(kind) if several[name] > 1 else name: some for name, kind, some in named}


def _seen(some: Sequence[Compared]) -> list[Compared]:
    """Those whose property at its level the baseline sees."""
    return [one for cases in _properties(some).values() if not why_unseen(cases) for one in cases]


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


def _once(some: Sequence[Compared]) -> list[Compared]:
    """The cases without the items that a crossed group of the same row has as one of its sides."""
    sides = {text for one in some if one.sides is not None for text in one.before.texts}
    if not sides:
        return list(some)
    rest = [
        one if one.sides is not None else one.of(np.flatnonzero([text not in sides for text in one.before.texts]))
        for one in some
    ]
    return [one for one in rest if len(one.old)]


def row_parts(found: Sequence[Compared]) -> dict[str, RowPart]:
    """The properties, levels and surface directions of rows that have several, by name; none of queries with labels.

    A property at a level is named as a row would be that held nothing else. Those that the baseline does not see are
    among them; the directions are those of what it sees.
    """
    made: dict[str, RowPart] = {}
    for name, some in _grouped(found).items():
        if some[0].budget == "behaviour":
            grouped, kind = _properties(some), name.removeprefix(_name(some))
            if len(grouped) > 1:
                made |= {f"{own}{kind}": RowPart(name, _once(cases)) for own, cases in grouped.items()}
            if crossed := [one for one in _once(_seen(some) or some) if one.sides is not None]:
                for side in DIRECTIONS:
                    direction = GateRowId(name).part(DIRECTION.format(side))
                    made[direction] = RowPart(name, [one.on_side(side) for one in crossed])
    return made


def pool_rows(found: Sequence[Compared], slices: Mapping[str, list[Compared]] | None = None) -> list[Paired]:
    """One `Paired` a row, primary endpoints first and `slices` of them last, then one a part."""
    codes = codes_of([names for one in found for names in one.before.things])
    pools = pools_of(found)
    whole = [(name, some, "") for name, some in (*group_into_rows(found).items(), *(slices or {}).items())]
    whole.sort(key=lambda entry: BUDGETS.index(entry[1][0].budget))
    return [
        replace(_pooled(name, some, codes, calibration_error(some, pools.get(some[0].before.data))), part_of=row)
        for name, some, row in [*whole, *((name, part.cases, part.row) for name, part in row_parts(found).items())]
    ]


def pool_by_property(found: Sequence[Compared]) -> list[Paired]:
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


def pool_alone(name: str, one: Compared, pool: Compared | None) -> Paired:
    """One case as a row of its own; `pool` as for `calibration_error`."""
    return _pooled(name, [one], codes_of(one.before.things), calibration_error([one], pool))


def pools_of(found: Sequence[Compared]) -> dict[str, Compared]:
    """By data set, the case that has its random pairs under both models."""
    return {one.before.data: one for one in found if one.metric is room}


def _pooled(name: str, some: Sequence[Compared], codes: Mapping[str, int], error: float) -> Paired:
    first = some[0]
    old, new = (np.concatenate([getattr(one, side) for one in some]) for side in ("old", "new"))
    declared, metric = declared_of(first.before), first.metric
    chance = None  # where guessing gets something of all of them, over all their items
    known = [(one.chance, len(one.old)) for one in some if one.chance is not None]
    if len(known) == len(some):
        chance = sum(share * n for share, n in known) / sum(n for _, n in known)
    strata = None  # the surface direction of each entry, 0 where it has none
    if any(one.sides is not None for one in some):
        strata = np.concatenate([np.zeros(len(one.old), np.intp) if one.sides is None else one.sides for one in some])
    return Paired(
        name, declared.family, metric.kind, old, new,
        numbered([names for one in some for names in one.before.things], codes), metric.delta, error,
        all(one.alike for one in some), chance, why_unseen(some), declared.proxy, first.budget,
        "" if first.budget == "behaviour" else metric.label, strata=strata,
    )  # fmt: skip


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


@dataclass(frozen=True)
class TestedItems:
    """Both models on the items that are tested, by case, and the baseline on others, where it is asked what it sees."""

    old: Mapping[str, CaseScores]
    new: Mapping[str, CaseScores]
    aside: Mapping[str, CaseScores]


def divide_items(
    old: Mapping[str, CaseScores], new: Mapping[str, CaseScores], scales: Mapping[str, Scale]
) -> TestedItems:
    """Divide the items, which are the same and in the same order under both models; `scales` are the baseline's."""
    tested = {name: table.seen(GATE_SPLIT) for name, table in old.items()}
    aside = {name: table.seen(DEV_SPLIT) for name, table in cases_with_chance(old).items()}
    whole = {name for name, table in aside.items() if not table.items or len(table.items) == len(old[name].items)}
    places: dict[str, Ints] = {}
    rates = sorted(
        (name for name in aside if (metric := gating_metric(old[name])[0]) and metric.kind == "rate"),
        key=lambda n: str(old[n].gate_row),
    )
    for _, names in groupby(rates, key=lambda name: str(old[name].gate_row)):
        some = list(names)
        keys = {name: _keys(tested[name]) for name in some if name in whole}
        aside |= {name: tested[name] for name in keys}
        if len({key for own in keys.values() for key in own}) >= FEWEST:
            quarters = {
                name: np.array([int(content_hash("sight", key)[:8], 16) % QUARTERS for key in own], np.intp)
                for name, own in keys.items()
            }
            for count in LOOKS:
                aside |= {n: tested[n].of(np.flatnonzero(quarters[n] < count)) for n in keys}
                places |= {n: np.flatnonzero(quarters[n] >= count) for n in keys}
                if not guesses([own_figures(aside[n], scales) for n in some if aside[n].items]):
                    break
    after = {name: table.seen(GATE_SPLIT) for name, table in new.items()}
    for name, at in places.items():
        tested[name], after[name] = tested[name].of(at), after[name].of(at)
    return TestedItems(tested, after, {name: table for name, table in aside.items() if table.items})


def cases_with_chance(tables: Mapping[str, CaseScores]) -> dict[str, CaseScores]:
    """The cases of behaviour of whose figure guessing gets something."""
    return {
        name: table for name, table in tables.items()
        if (metric := gating_metric(table)[0]) and metric.values and not table.answers
        and not declared_of(table).primary and chance_of(table, metric) is not None
    }  # fmt: skip


def _keys(table: CaseScores) -> tuple[str, ...]:
    """What is divided: clusters, or the items' own texts where items of clusters overlap."""
    return table.texts if table.shares else table.clusters


def why_unseen(some: Sequence[Compared]) -> str:
    """Why the baseline is not shown to see these cases together; empty if it is, and where nobody asks."""
    asides = [one.aside for one in some if one.aside is not None]
    return guesses(asides) if asides else ""


def guesses(asides: Sequence[Compared]) -> str:
    """Why the baseline's own figures are not shown to be above chance by two deltas; empty if they are."""
    values = np.concatenate([one.old for one in asides]) if asides else np.zeros(0)
    chance = sum(float(one.chance or 0) * len(one.old) for one in asides) / max(len(values), 1)
    is_rate = all(one.metric.kind == "rate" for one in asides)
    low, least = nan, chance + 2 * (DEFAULT.rate_delta if is_rate else DEFAULT.mean_delta)
    if len(values):
        sharing = sharing_of(numbered([names for one in asides for names in one.before.things]))
        if is_rate and not sharing.withheld:
            low = float(sharing.rate_interval(values)[0][0])
        elif not sharing.withheld:
            found = sharing.errors(values)
            low = float(found.mean[0] - stats.t_quantile((1 + DEFAULT.level) / 2, found.free) * found.error[0])
    if low > least:
        return ""
    figures = [f"{100 * one:.1f}%" if is_rate else f"{one:.3f}" for one in (values.mean(), low, chance, least)]
    if isnan(low):
        return f"the old model is not shown to do better than guessing: only {len(values)} other items are there to say"
    return (
        f"the old model is not shown to do better than guessing: of {len(values):,} other items it has {figures[0]}, "
        f"at least {figures[1]}; guessing has {figures[2]}, and from {figures[3]} on it counts"
    )


@dataclass(frozen=True)
class QuerySlice:
    """The queries, by their positions, of which `column` has `value`; their number of clusters."""

    column: str
    value: str
    queries: NDArray[np.intp]
    clusters: int

    @property
    def name(self) -> str:
        """Column and value; of a long one its start and a hash."""
        value = " ".join(self.value.split())
        if len(value) > SHOWN:
            value = f"{value[:SHOWN]}...{content_hash(self.value)[:6]}"
        return f"{self.column}={value}"


def choose_slices(
    rows: Mapping[str, Sequence[Compared]], rule: Rule
) -> tuple[dict[str, list[Compared]], dict[str, str]]:
    """The slices of each primary endpoint that are tested, by the name of their gate row, and why others are not."""
    tested: dict[str, list[Compared]] = {}
    left_out: dict[str, str] = {}
    for name, (one, *others) in rows.items():
        if one.budget != "primary" or not one.after.slices or others:
            continue
        row, every = GateRowId(name), _slices(one)
        large = [some for some in every if some.clusters >= rule.slice_clusters]
        for some in large[: rule.max_slices]:
            tested[row.part(some.name)] = [replace(one.of(some.queries), budget="slices")]
        small = Counter(some.column for some in every if some.clusters < rule.slice_clusters)
        for column, count in sorted(small.items()):
            why = f"{count:,} of its slices have fewer than {rule.slice_clusters} clusters of queries"
            left_out[str(row.part(column))] = why
        if beyond := [some.name for some in large[rule.max_slices :]]:
            named = ", ".join(beyond[:NAMED]) + (f" and {len(beyond) - NAMED:,} more" if len(beyond) > NAMED else "")
            why = f"at most {rule.max_slices} are tested, those with the most clusters; not tested: {named}"
            left_out[str(row.part("slices"))] = why
    return tested, left_out


def _slices(one: Compared) -> list[QuerySlice]:
    """Those of some queries and not all, of most clusters first; of two with the same queries the first by name."""
    at: dict[tuple[str, str], list[int]] = {}
    for i, text in enumerate(one.after.slices):
        try:
            columns = json.loads(text or "{}")
        except ValueError:  # of an encheck that wrote them otherwise
            columns = None
        for name, value in columns.items() if isinstance(columns, dict) else ():
            at.setdefault((name, str(value)), []).append(i)
    count = len(one.after.slices)
    distinct = {tuple(rows): entry for entry, rows in sorted(at.items(), reverse=True) if len(rows) < count}
    things = numbered(one.before.things)
    chosen = [(entry, np.array(rows, np.intp)) for rows, entry in distinct.items()]
    found = [QuerySlice(*entry, rows, sharing_of(things[rows]).independent) for entry, rows in chosen]
    return sorted(found, key=lambda some: (-some.clusters, -len(some.queries), some.column, some.value))


@dataclass(frozen=True)
class LostQuery:
    """A query that scores less than before; `before` and `now` are rows of the first answers, None if unknown."""

    item: str
    case: str
    before: int | None
    now: int | None


@dataclass(frozen=True)
class LostItem:
    """An item that scores less than before, by its id and the hash of its texts; (near, far) scores of both models.

    The far score is NaN if the item has none.
    """

    item: str
    texts: str
    case: str
    before: tuple[float, float]
    now: tuple[float, float]


def lost_items(rows: Mapping[str, Sequence[Compared]]) -> dict[str, tuple[LostItem, ...]]:
    """The items of each row that lost most, of several clusters where it can; none of searches with answers.

    Of items that lost as much, those whose margin fell most come first.
    """
    lost = {}
    for name, every in rows.items():
        drops = []
        for n, one in enumerate(one for one in every if not one.after.answers):
            before, after = one.shown
            for i in map(int, np.flatnonzero(one.new < one.old)):
                was, now = ((float(table.near[i]), float(table.far[i])) for table in (before, after))
                fell = float(np.nan_to_num((now[0] - now[1]) - (was[0] - was[1])))
                item = LostItem(before.items[i], before.texts[i], after.case, was, now)
                drops.append((float(one.new[i] - one.old[i]), fell, n, i, one.before.clusters[i], item))
        seen: Counter[str] = Counter()
        ranked: list[tuple[int, LostItem]] = []
        for *_, cluster, item in sorted(drops, key=lambda drop: drop[:4])[: 10 * LOST_SHOWN]:
            ranked.append((seen[cluster], item))
            seen[cluster] += 1
        lost[name] = tuple(item for _, item in sorted(ranked, key=lambda entry: entry[0]))[:LOST_SHOWN]
    return lost


def lost_queries(
    rows: Mapping[str, Sequence[Compared]], *, changed: Collection[str] = ()
) -> dict[str, tuple[LostQuery, ...]]:
    """The queries of each row that lost most, of search, first those whose first answer changed, of several clusters.

    `changed` names data whose documents are others now.
    """
    lost = {}
    for name, every in rows.items():
        some = [one for one in every if one.before.answers and one.after.answers]
        drops = [(float(one.new[i] - one.old[i]), n, i) for n, one in enumerate(some) for i in range(len(one.old))]
        ranked: list[tuple[bool, int, LostQuery]] = []
        seen: Counter[tuple[str, bool]] = Counter()
        for _, n, i in (drop for drop in sorted(drops) if drop[0] < 0):
            one = some[n]
            before, now = (next(iter(Answers.of(table.answers[i]).first), None) for table in (one.before, one.after))
            known = None if one.before.data in changed else before
            key = one.before.clusters[i], known == now
            ranked.append((key[1], seen[key], LostQuery(one.after.items[i], one.after.case, known, now)))
            seen[key] += 1
        lost[name] = tuple(query for *_, query in sorted(ranked, key=lambda entry: entry[:2]))[:LOST_SHOWN]
    return lost


def unjudged_queries(some: Sequence[Compared]) -> tuple[LostQuery, ...]:
    """The queries with another first answer of which nobody judged one or both; None stands for one that is judged."""
    found = []
    for one in some:
        for i, item in enumerate(one.after.items):
            before, now = (Answers.of(table.answers[i]) for table in (one.before, one.after))
            if before.first[:1] != now.first[:1] and (before.is_unjudged or now.is_unjudged):
                rows = (answers.first[0] if answers.is_unjudged else None for answers in (before, now))
                found.append(LostQuery(item, one.after.case, *rows))
    return tuple(found)

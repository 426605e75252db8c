"""Gate rows: the pooled cases of one capability on one data set, with their parts, slices of queries and lost items.

A gate decides by capability: all checks, levels and properties that declare it form one row. Properties, levels and the
surface directions of crossed groups are parts of the row. Parts are reported and can block, but do not count towards
passing. A property at a level that the old model does not see is left out of its row's mean.

The old model "sees" a property if it is shown to beat guessing by two deltas on held-out items. A figure at or below
chance may rise with damage and fall with repair, so its loss means nothing. If this were decided on the tested items,
selection by chance would inflate the old model's figures, and an equal model would seem to lose. So it is decided on
the dev part of the data. If there is none, a quarter of the clusters is held out, or a half where a quarter does not
show it, and the rest is tested. With fewer than `MIN_DIVIDED` clusters, too few would remain to test, so the tested
items themselves show it.

A slice of a search with labels is the set of queries that share a value of a column; each is a hypothesis of its own.
Slices have their own budget of alpha, so that a further column does not weaken the test of the primary endpoint. Slices
are chosen for testing by their number of clusters alone, never by scores.
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

from encheck.gating.pairing import ComparedCase, baseline_figures, chance_level, declaration_of, gating_metric
from encheck.gating.types import BUDGETS, DEFAULT, PairedRow, Rule
from encheck.ids import GateRowId
from encheck.metrics.health import room
from encheck.scoring.documents import Answers
from encheck.scoring.frame import DEV_SPLIT, GATE_SPLIT, CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics import hypothesis_tests as stats
from encheck.statistics.sharing import cached_sharing, number_names, number_units
from encheck.types import content_hash

Ints = NDArray[np.intp]
DIRECTION = "direction-{}"
DIRECTIONS = (1, 2)
QUARTERS = 4
HELD_OUT_QUARTERS = (1, 2)  # quarters of the clusters to hold out, for data without a dev part
MIN_DIVIDED = 64  # clusters worth dividing: a quarter of fewer has no interval, and a half leaves too few to test
MAX_VALUE_LENGTH, MAX_NAMED = 40, 5  # characters shown of a value; left-out slices that are named
LOST_SHOWN = 3


@dataclass(frozen=True)
class RowPart:
    """A part of the gate row `row`: some of its capability's entries."""

    row: str
    cases: list[ComparedCase]


def group_into_rows(compared_cases: Sequence[ComparedCase]) -> dict[str, list[ComparedCase]]:
    """Return the cases of each gate row: cases of one capability and data set with figures of one kind.

    A row with one property at one level is named after them. Cases that the baseline does not see are left out if it
    sees others of the row.
    """
    return {
        name: _drop_repeated_items(_select_seen(some) or some)
        for name, some in _group_all_cases(compared_cases).items()
    }


def _group_all_cases(compared_cases: Sequence[ComparedCase]) -> dict[str, list[ComparedCase]]:
    """Return all cases by gate row; the row's name includes the kind of figure if the capability has several kinds."""
    grouped: dict[tuple[GateRowId, str], list[ComparedCase]] = {}
    for one in compared_cases:
        grouped.setdefault((_pooled_row_id(one), one.kind), []).append(one)
    named = [(_row_id(some), kind, some) for (_, kind), some in grouped.items()]
    several = Counter(name for name, _, _ in named)
    return {name.part(kind) if several[name] > 1 else name: some for name, kind, some in named}


def _select_seen(compared_cases: Sequence[ComparedCase]) -> list[ComparedCase]:
    """Return the cases for which the baseline is shown to beat guessing on their property and level."""
    return [one for cases in _group_by_property(compared_cases).values() if not why_unseen(cases) for one in cases]


def _group_by_property(compared_cases: Sequence[ComparedCase]) -> dict[GateRowId, list[ComparedCase]]:
    """Return the cases of each property at each level."""
    grouped: dict[GateRowId, list[ComparedCase]] = {}
    for one in compared_cases:
        grouped.setdefault(one.before.gate_row, []).append(one)
    return grouped


def _pooled_row_id(one: ComparedCase) -> GateRowId:
    """Return the id of the row that pools this case: its capability and data, or its own for searches and proxies."""
    declared = declaration_of(one.before)
    if one.budget != "behaviour" or declared.proxy:
        return one.before.gate_row
    return GateRowId.of_capability(declared.capability or one.before.property, one.before.data)


def _row_id(compared_cases: Sequence[ComparedCase]) -> GateRowId:
    """Return the property, data and level if all cases share them, else the capability and data."""
    own = {one.before.gate_row for one in compared_cases}
    return own.pop() if len(own) == 1 else _pooled_row_id(compared_cases[0])


def _drop_repeated_items(compared_cases: Sequence[ComparedCase]) -> list[ComparedCase]:
    """Return the cases without the items that a crossed group of the same row already contains."""
    sides = {text for one in compared_cases if one.sides is not None for text in one.before.texts}
    if not sides:
        return list(compared_cases)
    rest = [
        one if one.sides is not None else one.of(np.flatnonzero([text not in sides for text in one.before.texts]))
        for one in compared_cases
    ]
    return [one for one in rest if len(one.old)]


def split_rows(compared_cases: Sequence[ComparedCase]) -> dict[str, RowPart]:
    """Return the parts of each row by name, for rows with several properties, levels or surface directions.

    A property at a level is named like a row of its own. Properties that the baseline does not see are included.
    Directions cover only properties that the baseline sees. Queries with labels have no parts.
    """
    made: dict[str, RowPart] = {}
    for name, some in _group_all_cases(compared_cases).items():
        if some[0].budget == "behaviour":
            grouped, kind = _group_by_property(some), name.removeprefix(_row_id(some))
            if len(grouped) > 1:
                made |= {f"{own}{kind}": RowPart(name, _drop_repeated_items(cases)) for own, cases in grouped.items()}
            if crossed := [one for one in _drop_repeated_items(_select_seen(some) or some) if one.sides is not None]:
                for side in DIRECTIONS:
                    direction = GateRowId(name).part(DIRECTION.format(side))
                    made[direction] = RowPart(name, [one.select_direction(side) for one in crossed])
    return made


def pool_rows(
    compared_cases: Sequence[ComparedCase], slices: Mapping[str, list[ComparedCase]] | None = None
) -> list[PairedRow]:
    """Return a `PairedRow` per row and then one per part: primary endpoints first, `slices` last among the rows."""
    codes = number_names([names for one in compared_cases for names in one.before.shared_units])
    pools = random_pair_cases(compared_cases)
    whole = [(name, some, "") for name, some in (*group_into_rows(compared_cases).items(), *(slices or {}).items())]
    whole.sort(key=lambda entry: BUDGETS.index(entry[1][0].budget))
    return [
        replace(_pool_cases(name, some, codes, calibration_error(some, pools.get(some[0].before.data))), part_of=row)
        for name, some, row in [
            *whole,
            *((name, part.cases, part.row) for name, part in split_rows(compared_cases).items()),
        ]
    ]


def pool_by_property(compared_cases: Sequence[ComparedCase]) -> list[PairedRow]:
    """Return a `PairedRow` per property, over all its checks and levels. Training loops use this; gates use
    `pool_rows`.

    A property with several kinds of figures has one `PairedRow` for each kind, named `property_metric`.
    """
    grouped: dict[tuple[str, str], list[ComparedCase]] = {}
    for one in compared_cases:
        grouped.setdefault((one.before.property, one.kind), []).append(one)
    several = Counter(name for name, _ in grouped)
    codes = number_names([names for one in compared_cases for names in one.before.shared_units])
    pools = random_pair_cases(compared_cases)
    made = []
    for (name, _), cases in grouped.items():
        some = _drop_repeated_items(_select_seen(cases) or cases)
        label = f"{name}_{some[0].metric.name}" if several[name] > 1 else name
        made.append(_pool_cases(label, some, codes, calibration_error(some, pools.get(some[0].before.data))))
    return made


def random_pair_cases(compared_cases: Sequence[ComparedCase]) -> dict[str, ComparedCase]:
    """Return, by data set, the case with the scores of its random pairs under both models."""
    return {one.before.data: one for one in compared_cases if one.metric is room}


def _pool_cases(name: str, compared_cases: Sequence[ComparedCase], codes: Mapping[str, int], error: float) -> PairedRow:
    first = compared_cases[0]
    old, new = (np.concatenate([getattr(one, side) for one in compared_cases]) for side in ("old", "new"))
    declared, metric = declaration_of(first.before), first.metric
    chance = None  # the mean chance level over all items, if all cases have one
    known = [(one.chance, len(one.old)) for one in compared_cases if one.chance is not None]
    if len(known) == len(compared_cases):
        chance = sum(share * n for share, n in known) / sum(n for _, n in known)
    strata = None  # the surface direction of each entry, 0 without one
    if any(one.sides is not None for one in compared_cases):
        strata = np.concatenate(
            [np.zeros(len(one.old), np.intp) if one.sides is None else one.sides for one in compared_cases]
        )
    return PairedRow(
        name, declared.family, metric.kind, old, new,
        number_units([names for one in compared_cases for names in one.before.shared_units], codes), metric.delta,
        error,
        all(one.is_unchanged for one in compared_cases), chance, why_unseen(compared_cases), declared.proxy,
        first.budget,
        "" if first.budget == "behaviour" else metric.label, strata=strata,
    )  # fmt: skip


def calibration_error(compared_cases: Sequence[ComparedCase], pool: ComparedCase | None = None) -> float:
    """Return the standard error that the finite pool of random pairs adds to the change of these cases (delta method).

    Both models score the same random pairs. With `pool`, the case that has these scores, the error is the clustered
    error of the paired difference. Without `pool`, the errors of both models are added as if they were independent.
    This overstates the error if the models agree on which pairs are nearer.
    """
    share = np.array([len(one.old) for one in compared_cases]) / sum(len(one.old) for one in compared_cases)
    old, new = share @ np.array([one.reference_slopes for one in compared_cases])
    if not old and not new:
        return 0.0  # also without a scale
    before, after = compared_cases[0].scales
    count = len({*pool.before.clusters}) if pool else 0
    if pool is None or count < DEFAULT.min_clusters or not before.pairs == after.pairs > 0:
        return float(np.hypot(before.error_from_random_pairs(old), after.error_from_random_pairs(new)))
    moved = new * after.calibrate(pool.after.near) - old * before.calibrate(pool.before.near)
    clusters = np.unique(pool.before.clusters, return_inverse=True)[1].reshape(-1)
    error = float(cached_sharing(clusters).estimate_errors(moved).error[0])
    return error * float(np.sqrt(len(moved) / before.pairs))  # a gate has only a part of the calibrating pairs


@dataclass(frozen=True)
class TestedItems:
    """The tested items under both models, by case, and the held-out items, which show what the baseline sees."""

    old: Mapping[str, CaseScores]
    new: Mapping[str, CaseScores]
    held_out: Mapping[str, CaseScores]


def divide_items(
    old: Mapping[str, CaseScores], new: Mapping[str, CaseScores], scales: Mapping[str, Scale]
) -> TestedItems:
    """Divide the items into tested and held-out ones.

    `old` and `new` have the items in the same order. `scales` are the baseline's calibrations.
    """
    tested = {name: table.select_split(GATE_SPLIT) for name, table in old.items()}
    held_out = {name: table.select_split(DEV_SPLIT) for name, table in cases_with_chance(old).items()}
    whole = {name for name, table in held_out.items() if not table.items or len(table.items) == len(old[name].items)}
    places: dict[str, Ints] = {}
    rates = sorted(
        (name for name in held_out if (metric := gating_metric(old[name])[0]) and metric.kind == "rate"),
        key=lambda n: str(old[n].gate_row),
    )
    for _, names in groupby(rates, key=lambda name: str(old[name].gate_row)):
        some = list(names)
        cases = {name: tested[name] for name in some if name in whole}  # clusters are divided, or texts if they overlap
        keys = {name: table.texts if table.shares else table.clusters for name, table in cases.items()}
        held_out |= {name: tested[name] for name in keys}
        if len({key for own in keys.values() for key in own}) >= MIN_DIVIDED:
            quarters = {
                name: np.array([int(content_hash("sight", key)[:8], 16) % QUARTERS for key in own], np.intp)
                for name, own in keys.items()
            }
            for count in HELD_OUT_QUARTERS:
                held_out |= {n: tested[n].select(np.flatnonzero(quarters[n] < count)) for n in keys}
                places |= {n: np.flatnonzero(quarters[n] >= count) for n in keys}
                if not why_not_above_chance([baseline_figures(held_out[n], scales) for n in some if held_out[n].items]):
                    break
    after = {name: table.select_split(GATE_SPLIT) for name, table in new.items()}
    for name, at in places.items():
        tested[name], after[name] = tested[name].select(at), after[name].select(at)
    return TestedItems(tested, after, {name: table for name, table in held_out.items() if table.items})


def cases_with_chance(tables: Mapping[str, CaseScores]) -> dict[str, CaseScores]:
    """Return the behaviour cases whose figure has a chance level."""
    return {
        name: table for name, table in tables.items()
        if (metric := gating_metric(table)[0]) and metric.values and not table.answers
        and not declaration_of(table).primary and chance_level(table, metric) is not None
    }  # fmt: skip


def why_unseen(compared_cases: Sequence[ComparedCase]) -> str:
    """Return the reason if these cases together do not show that the baseline beats guessing, else "".

    The reason is also "" if no items are held out.
    """
    held_out_cases = [one.held_out for one in compared_cases if one.held_out is not None]
    return why_not_above_chance(held_out_cases) if held_out_cases else ""


def why_not_above_chance(held_out_cases: Sequence[ComparedCase]) -> str:
    """Return the reason if the baseline's figures are not shown to exceed chance by two deltas, else ""."""
    values = np.concatenate([one.old for one in held_out_cases]) if held_out_cases else np.zeros(0)
    chance = sum(float(one.chance or 0) * len(one.old) for one in held_out_cases) / max(len(values), 1)
    is_rate = all(one.metric.kind == "rate" for one in held_out_cases)
    low, least = nan, chance + 2 * (DEFAULT.rate_delta if is_rate else DEFAULT.mean_delta)
    if len(values):
        sharing = cached_sharing(number_units([names for one in held_out_cases for names in one.before.shared_units]))
        if is_rate and not sharing.why_no_interval:
            low = float(sharing.rate_interval(values)[0][0])
        elif not sharing.why_no_interval:
            found = sharing.estimate_errors(values)
            low = float(
                found.mean[0] - stats.t_quantile((1 + DEFAULT.level) / 2, found.degrees_of_freedom) * found.error[0]
            )
    if low > least:
        return ""
    figures = [f"{100 * one:.1f}%" if is_rate else f"{one:.3f}" for one in (values.mean(), low, chance, least)]
    if isnan(low):
        return f"the old model is not shown to do better than guessing: only {len(values)} held-out items can show it"
    return (
        f"the old model is not shown to do better than guessing: on {len(values):,} held-out items it scores "
        f"{figures[0]}, at least {figures[1]}; guessing scores {figures[2]}, and {figures[3]} is required"
    )


@dataclass(frozen=True)
class QuerySlice:
    """The positions of the queries with `value` in `column`, and their number of clusters."""

    column: str
    value: str
    queries: NDArray[np.intp]
    clusters: int

    @property
    def name(self) -> str:
        """Column and value; a long value is cut and hashed."""
        value = " ".join(self.value.split())
        if len(value) > MAX_VALUE_LENGTH:
            value = f"{value[:MAX_VALUE_LENGTH]}...{content_hash(self.value)[:6]}"
        return f"{self.column}={value}"


def choose_slices(
    rows: Mapping[str, Sequence[ComparedCase]], rule: Rule
) -> tuple[dict[str, list[ComparedCase]], dict[str, str]]:
    """Return the slices to test for each primary endpoint, by gate row, and why each other slice is not tested."""
    tested: dict[str, list[ComparedCase]] = {}
    left_out: dict[str, str] = {}
    for name, (one, *others) in rows.items():
        if one.budget != "primary" or not one.after.slices or others:
            continue
        row, every = GateRowId(name), _list_slices(one)
        large = [some for some in every if some.clusters >= rule.slice_clusters]
        for some in large[: rule.max_slices]:
            tested[row.part(some.name)] = [replace(one.of(some.queries), budget="slices")]
        small = Counter(some.column for some in every if some.clusters < rule.slice_clusters)
        for column, count in sorted(small.items()):
            why = f"{count:,} of its slices have fewer than {rule.slice_clusters} clusters of queries"
            left_out[str(row.part(column))] = why
        if beyond := [some.name for some in large[rule.max_slices :]]:
            named = ", ".join(beyond[:MAX_NAMED]) + (
                f" and {len(beyond) - MAX_NAMED:,} more" if len(beyond) > MAX_NAMED else ""
            )
            why = f"at most {rule.max_slices} are tested, those with the most clusters; not tested: {named}"
            left_out[str(row.part("slices"))] = why
    return tested, left_out


def _list_slices(one: ComparedCase) -> list[QuerySlice]:
    """Return the slices that contain some but not all queries, sorted by clusters, most first.

    If two slices have the same queries, return only the first by name.
    """
    at: dict[tuple[str, str], list[int]] = {}
    for i, text in enumerate(one.after.slices):
        try:
            columns = json.loads(text or "{}")
        except ValueError:  # written by a different version of encheck
            columns = None
        for name, value in columns.items() if isinstance(columns, dict) else ():
            at.setdefault((name, str(value)), []).append(i)
    count = len(one.after.slices)
    distinct = {tuple(rows): entry for entry, rows in sorted(at.items(), reverse=True) if len(rows) < count}
    things = number_units(one.before.shared_units)
    chosen = [(entry, np.array(rows, np.intp)) for rows, entry in distinct.items()]
    found = [QuerySlice(*entry, rows, cached_sharing(things[rows]).independent_clusters) for entry, rows in chosen]
    return sorted(found, key=lambda some: (-some.clusters, -len(some.queries), some.column, some.value))


@dataclass(frozen=True)
class LostQuery:
    """A query on which the candidate scores lower than the baseline.

    `before` and `now` are the row numbers of the first answers, None if unknown.
    """

    item: str
    case: str
    before: int | None
    now: int | None


@dataclass(frozen=True)
class LostItem:
    """An item on which the candidate scores lower: its id, the hash of its texts, and the (near, far) scores of both
    models.

    The far score is NaN if the item has only one score.
    """

    item: str
    texts: str
    case: str
    before: tuple[float, float]
    now: tuple[float, float]


def worst_lost_items(rows: Mapping[str, Sequence[ComparedCase]]) -> dict[str, tuple[LostItem, ...]]:
    """Return the items of each row that lost most, from different clusters if possible. Skip searches with answers.

    Items that lost equally are sorted by how far their margin fell.
    """
    lost = {}
    for name, every in rows.items():
        drops = []
        for n, one in enumerate(one for one in every if not one.after.answers):
            before, after = one.moved or (one.before, one.after)
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


def worst_lost_queries(
    rows: Mapping[str, Sequence[ComparedCase]], *, changed: Collection[str] = ()
) -> dict[str, tuple[LostQuery, ...]]:
    """Return the queries of each search row that lost most.

    Queries with a changed top result come first, and queries of different clusters before further ones of a cluster.
    `changed` names the data sets whose documents have changed.
    """
    lost = {}
    for name, every in rows.items():
        some = [one for one in every if one.before.answers and one.after.answers]
        drops = [(float(one.new[i] - one.old[i]), n, i) for n, one in enumerate(some) for i in range(len(one.old))]
        ranked: list[tuple[bool, int, LostQuery]] = []
        seen: Counter[tuple[str, bool]] = Counter()
        for _, n, i in (drop for drop in sorted(drops) if drop[0] < 0):
            one = some[n]
            before, now = (next(iter(Answers.parse(table.answers[i]).first), None) for table in (one.before, one.after))
            known = None if one.before.data in changed else before
            key = one.before.clusters[i], known == now
            ranked.append((key[1], seen[key], LostQuery(one.after.items[i], one.after.case, known, now)))
            seen[key] += 1
        lost[name] = tuple(query for *_, query in sorted(ranked, key=lambda entry: entry[:2]))[:LOST_SHOWN]
    return lost


def unjudged_queries(compared_cases: Sequence[ComparedCase]) -> tuple[LostQuery, ...]:
    """Return the queries whose first answer changed and where at least one of the two answers is unjudged.

    In the result, `before` or `now` is None if that answer is judged.
    """
    found = []
    for one in compared_cases:
        for i, item in enumerate(one.after.items):
            before, now = (Answers.parse(table.answers[i]) for table in (one.before, one.after))
            if before.first[:1] != now.first[:1] and (before.is_unjudged or now.is_unjudged):
                rows = (answers.first[0] if answers.is_unjudged else None for answers in (before, now))
                found.append(LostQuery(item, one.after.case, *rows))
    return tuple(found)

"""Gate rows: what a capability pools, which parts it has, and what each item counts for."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.engine.checks import packaged_checks
from encheck.gating.decision import decide_by_rows
from encheck.gating.gate_rows import group_into_rows, pool_rows, split_rows
from encheck.gating.pairing import compare_case
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.types import Declaration

SCALE = Scale(0.1, 1.0)


def case(tested, level="1", *, check="a_is_b", wins=0.7, n=200, clusters=50, crossed=False, first=0, **declared):
    """A case and the same under a model that loses nothing; `first` numbers its first text."""
    declared = Declaration(property=tested, metric="m", chance=0.5, **{"gates": "margin_rate", **declared})
    won = np.random.default_rng(len(tested) + first).permutation(n) < wins * n
    ids = tuple(f"d/{i // 2:016x}/x/1/crossed/0/{1 + i % 2}" if crossed else f"i{i}" for i in range(n))
    texts, groups = (tuple(f"{prefix}{i}" for i in ns) for prefix, ns in (
        (f"{tested}-{level}-", range(first, first + n)), ("c", (np.arange(n) // 2 % clusters).tolist()),
    ))  # fmt: skip
    return CaseScores(
        f"{check}/d/{level}", check, tested, "d", level, "triplet", ids, texts, groups, ("",) * n, (None,) * n,
        np.where(won, 0.8, 0.5), np.full(n, 0.6), declared,
    )  # fmt: skip


def compared(*tables):
    return [compare_case(one, one, (SCALE, SCALE)) for one in tables]


def names(found):
    return sorted(p.name for p in found if not p.part_of), sorted((p.name, p.part_of) for p in found if p.part_of)


def test_levels_of_a_property_are_one_row_and_its_parts():
    found = pool_rows(compared(case("jumble", "1"), case("jumble", "2")))
    assert names(found) == (["jumble/d"], [("jumble/d/1", "jumble/d"), ("jumble/d/2", "jumble/d")])
    assert [len(p.baseline) for p in found] == [400, 200, 200]


def test_properties_of_one_capability_are_one_row():
    found = pool_rows(compared(case("number", capability="facts"), case("entity", capability="facts"), case("roles")))
    assert names(found) == (["facts/d", "roles/d/1"], [("entity/d/1", "facts/d"), ("number/d/1", "facts/d")])


def test_a_property_without_a_capability_is_one():
    assert names(pool_rows(compared(case("antonym")))) == (["antonym/d/1"], [])


def looked_at(table, *, wins, n=200):
    """The case with other items by which a gate tells what the baseline sees: so many of them are won."""
    aside = case(table.property, table.level, wins=wins, n=n, first=10_000)
    return replace(compare_case(table, table, (SCALE, SCALE)), held_out=compare_case(aside, aside, (SCALE, SCALE)))


def test_what_the_baseline_does_not_see_is_a_part_that_leaves_its_rows_mean():
    """Whatever it wins of the items that are tested."""
    found = pool_rows(
        [looked_at(case("jumble", level, wins=0.7), wins=wins) for level, wins in (("1", 0.5), ("2", 0.9))]
    )
    assert names(found) == (["jumble/d"], [("jumble/d/1", "jumble/d"), ("jumble/d/2", "jumble/d")])
    assert [(p.name, len(p.baseline), bool(p.unseen)) for p in found] == [
        ("jumble/d", 200, False), ("jumble/d/1", 200, True), ("jumble/d/2", 200, False),
    ]  # fmt: skip


def test_a_row_of_which_nothing_is_seen_is_not_seen():
    (row,) = (p for p in pool_rows([looked_at(case("jumble", level), wins=0.5) for level in "12"]) if not p.part_of)
    assert (row.name, len(row.baseline)) == ("jumble/d", 400)
    assert row.unseen == (
        "the old model is not shown to do better than guessing: on 400 held-out items it scores 50.0%, at least "
        "43.2%; guessing scores 50.0%, and 54.0% is required"
    )


@pytest.mark.parametrize(
    ("wins", "n", "is_seen"), [(0.9, 60, True), (0.9, 30, False), (0.6, 100, False), (0.7, 100, True)]
)
def test_it_is_seen_where_the_lower_end_is_two_deltas_above_chance(wins, n, is_seen):
    (row,) = pool_rows([looked_at(case("antonym"), wins=wins, n=n)])
    assert bool(row.unseen) != is_seen


def test_a_proxy_stands_for_itself():
    found = pool_rows(compared(case("retrieval", "1"), case("retrieval", "known", proxy="easy")))
    assert names(found) == (["retrieval/d/1", "retrieval/d/known"], [])


def test_an_item_that_is_a_side_of_a_crossed_group_counts_once():
    crossed = case("roles", check="both", crossed=True, gates="directions_mean")
    again = case("roles", n=300)  # its first 200 texts are the sides
    (row,) = group_into_rows(compared(again, crossed)).values()
    assert sum(len(one.old) for one in row) == 300
    texts = [text for one in row for text in one.before.texts]
    assert len(set(texts)) == len(texts)


def test_the_surface_directions_of_crossed_groups_are_parts():
    crossed = case("roles", check="both", crossed=True, gates="directions_mean")
    found = split_rows(compared(crossed, case("roles", first=500)))
    assert {name: (part.row, len(part.cases[0].old)) for name, part in found.items()} == {
        "roles/d/1/direction-1": ("roles/d/1", 100), "roles/d/1/direction-2": ("roles/d/1", 100),
    }  # fmt: skip


def test_directions_that_differ_alike_in_every_group_leave_no_error():
    """One direction is won more and the other lost: that is no noise of their mean."""
    crossed = case("roles", check="both", crossed=True, gates="directions_mean", wins=0.5)
    moved = np.where(np.arange(200) % 2, 0.8, 0.5)
    before, after = (CaseScores(**{**vars(crossed), "near": near}) for near in (np.full(200, 0.8), moved))
    row = decide_by_rows(pool_rows([compare_case(before, after, (SCALE, SCALE))])).rows[0]
    assert (row.change, row.error) == (-0.5, 0)


@pytest.mark.parametrize(
    ("file", "capability"),
    [("number", "facts"), ("roles", "relation"), ("binding", "relation"), ("jumble", "word-order"),
     ("swapchain", "word-order")],
)  # fmt: skip
def test_all_checks_of_a_file_declare_one_capability(file, capability):
    claims = [one.claim for one in packaged_checks() if one.function.__module__ == f"encheck.checks.test_{file}"]
    assert {one.declared.capability for one in claims} == {capability}


def test_the_checks_have_at_most_twelve_capabilities_that_gate():
    claims = [one.claim for one in packaged_checks() if one.claim.declared.gates]
    weighed = {one.declared.capability or one.property for one in claims} - {"contrast", "own"}  # of data of one's own
    assert len(weighed) <= 12

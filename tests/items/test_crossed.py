"""Crossed groups: what they are made of, what they are worth, and that the surface wins one half of them."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded import run_file

from encheck.datasets import probes
from encheck.datasets.reader import BadRows
from encheck.errors import NothingToMeasure
from encheck.gating.baseline import model_tables
from encheck.generators.invariance import casing
from encheck.generators.phenomenon import phenomenon_generator
from encheck.ids import CaseId
from encheck.items import contrast, crossed, edited_pairs
from encheck.items.variants import VariantMaker
from encheck.metrics import both_directions, directions_mean, worse_direction
from encheck.metrics.crossed import direction_rate
from encheck.scoring.frame import item_table, read_item_frame
from encheck.scoring.scores import CrossedScores, Scale
from encheck.scoring.text_scorers import SurfaceScorer
from encheck.scoring.triplets import TripletScores
from encheck.statistics.bootstrap import Resampler
from encheck.types import apply_edits

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab" / "benchmarks"))
from surface import similarity

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana")


def variant(source, relation, text):
    edits = [{"start": 0, "end": len(source), "text": text}]
    return {"relation": relation, "level": 1, "meaning": "kept", "text": text, "edits": edits}


def group(name, sentence, variants):
    own = variant(sentence, "paraphrase", f"Oh: {sentence}")
    return {
        "id": name, "domain": "news", "split": "gate", "rotation": 0, "skeleton": name, "sentence": sentence,
        "continuation": "then it rained", "canary": "x", "variants": [own, *variants],
    }  # fmt: skip


def exchanged(a, b):
    """A sentence and a passive that says the opposite, each restated by a cleft."""
    source = f"{a} greeted {b}"
    return group(f"{a}-{b}", source, [
        variant(source, "role_reversal_kept", f"it was {a} who greeted {b}"),
        variant(source, "role_reversal", f"it was {b} who greeted {a}"),
        variant(source, "role_reversal_mirror", f"{a} was greeted by {b}"),
    ])  # fmt: skip


def denied(thing):
    source = f"the {thing} is open now"
    return group(thing, source, [
        variant(source, "negation_kept", f"the {thing} is not closed now"),
        variant(source, "negation", f"the {thing} is closed now"),
        variant(source, "negation_mirror", f"the {thing} is not open now"),
    ])  # fmt: skip


def dataset(tmp_path, groups):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(g) + "\n" for g in groups), "utf-8")
    return probes.dataset_from_groups(list(probes.groups(path, BadRows())))


@pytest.fixture
def roles(tmp_path):
    return dataset(tmp_path, [exchanged(a, b) for a in NAMES for b in NAMES if a < b])


def items_of(data, name="role_reversal"):
    return crossed(name)(data, 1, VariantMaker(0)).included


def scores(items, by=None):
    return CrossedScores.score_items(items, by or SurfaceScorer(), Resampler([i.cluster for i in items]), Scale(0.1))


class Says:
    """A scorer that says what it was told of each pair of a group, in the order of its pairs."""

    decision = None

    def __init__(self, near, far):
        self.found = iter([near, far])

    def score_pairs(self, first, second):
        return np.asarray(next(self.found), float)


def test_each_side_of_a_group_has_its_construction(tmp_path):
    data = dataset(tmp_path, [denied("shop") | {"construction": "opposite"}, denied("door")])
    groups = items_of(data, "negation")
    triplets = contrast(phenomenon_generator("negation", "kept"), phenomenon_generator("negation", "changed"))(
        data, 1, VariantMaker(0)
    ).included
    for items, by in ((groups, CrossedScores), (triplets, TripletScores)):
        found = by.score_items(items, SurfaceScorer(), Resampler([i.cluster for i in items]), Scale(0.1))
        assert sorted(found.to_item_frame("case", items).constructions, key=str) == [None, None, "opposite", "opposite"]


def test_each_text_is_kept_once_and_changed_once_and_the_side_whose_surface_favours_the_kept_text_is_first(roles):
    item = items_of(roles)[0]
    first, second = item.sides
    assert (first.source, first.near) == ("Ann greeted Bob", "it was Ann who greeted Bob")
    assert (second.source, second.near) == ("Ann was greeted by Bob", "it was Bob who greeted Ann")
    assert (first.near, first.far) == (second.far, second.near)
    assert item.id.parts.relation == "role_reversal"
    assert item.pairs_to_score == tuple((side.source, text) for side in item.sides for text in (side.near, side.far))
    assert apply_edits(first.source, first.near_edits) == first.near


def test_the_second_sentence_is_first_where_the_surface_favours_the_changed_text_of_the_first(tmp_path):
    one = exchanged("Ann", "Bob")
    kept, changed = one["variants"][1:3]
    kept["relation"], changed["relation"] = changed["relation"], kept["relation"]
    first, second = items_of(dataset(tmp_path, [one]))[0].sides
    assert (first.source, second.source) == ("Ann was greeted by Bob", "Ann greeted Bob")


def test_no_group_is_left_out_for_what_its_surface_favours(tmp_path):
    """In the first the edit distance favours the kept text on both sides, in the second on one."""
    one = denied("shop")
    kept, changed, mirror = one["variants"][1:]
    kept |= variant(one["sentence"], "negation_kept", "the shop is open here")
    changed |= variant(one["sentence"], "negation", "it closed")
    mirror |= variant(one["sentence"], "negation_mirror", "it closed early")
    found = crossed("negation")(dataset(tmp_path, [one, denied("door")]), 1, VariantMaker(0))
    assert (len(found.included), found.excluded) == (2, {})


def test_data_without_crossed_groups_are_skipped_with_the_reason():
    data = probes.embedded()
    plain = [group for group in data.groups if not group.is_contrast]
    with pytest.raises(NothingToMeasure, match=r"no group for both directions was written .*: 40"):
        crossed("role_reversal")(replace(data, groups=plain[:40]), 1, VariantMaker(0))


def test_each_side_of_a_crossed_group_is_a_single_contrast_of_its_cluster(roles):
    sides = (phenomenon_generator("role_reversal", side) for side in ("kept", "changed"))
    found = [(t.source, t.near, t.far, t.cluster) for t in contrast(*sides)(roles, 1, VariantMaker(0)).included]
    said = [(side.source, side.near, side.far, item.cluster) for item in items_of(roles) for side in item.sides]
    assert sorted(found) == sorted(said)
    assert len(set(found)) == len(found)


def test_each_side_is_a_single_contrast_with_the_control(tmp_path):
    one = denied("shop")
    one["variants"].append(variant(one["sentence"], "negation_control", "the shop is big"))
    data = dataset(tmp_path, [one])
    found = contrast(phenomenon_generator("negation", "kept"), phenomenon_generator("negation", "changed"))(
        data, 1, VariantMaker(0)
    ).included
    assert {(t.source, t.near, t.far) for t in found} == {
        ("the shop is open now", "the shop is not closed now", "the shop is closed now"),
        ("the shop is not open now", "the shop is closed now", "the shop is not closed now"),
    }
    far = contrast(phenomenon_generator("negation", "kept"), phenomenon_generator("negation", "control"))(
        data, 1, VariantMaker(0)
    ).included
    assert {(t.source, t.far) for t in far} == {
        ("the shop is open now", "the shop is big"),
        ("the shop is not open now", "the shop is big"),
    }
    assert all(apply_edits(t.source, t.far_edits) == t.far for t in (*found, *far))


def test_nothing_else_is_made_of_a_sentence_with_contrasts_and_no_paraphrase(tmp_path):
    one = denied("shop")
    one["variants"] = one["variants"][1:]
    data = dataset(tmp_path, [one])
    with pytest.raises(NothingToMeasure, match="nothing else is made from it"):
        edited_pairs(casing)(data, 1, VariantMaker(0))


def test_the_figures_are_those_of_the_two_directions(roles):
    items = items_of(roles)[:4]
    near = [0.9, 0.2, 0.9, 0.9, 0.5, 0.4, 0.9, 0.9]  # won and lost, won twice, tied and lost, won twice
    found = scores(items, Says(near, [0.5] * 8))
    assert found.margins.shape == (4, 2)
    assert directions_mean(found).value == pytest.approx((0.5 + 1 + 0.25 + 1) / 4)
    assert both_directions(found).value == pytest.approx(2 / 4)
    assert [direction_rate(found, side=side).value for side in (1, 2)] == [3.5 / 4, 2 / 4]
    assert (worse_direction(found).value, worse_direction(found).params["side"]) == (0.5, 2)
    assert (directions_mean(found).n, directions_mean(found).clusters) == (4, 4)
    assert found.positions_worst_first() == [0, 2, 1, 3]


def test_the_edit_distance_wins_one_direction_and_loses_the_other(roles):
    score = similarity("edit-distance")

    class Surface(Says):
        def score_pairs(self, first, second):
            return score(first, second)

    found = scores(items_of(roles), Surface([], []))
    assert directions_mean(found).value == 0.5
    assert both_directions(found).value == 0
    assert [direction_rate(found, side=side).value for side in (1, 2)] == [1, 0]


def test_a_row_a_side_goes_to_the_item_file_and_comes_back_to_the_gate(roles):
    items, case = items_of(roles)[:3], CaseId("roles", "m", "probes", "1")
    again = read_item_frame(item_table(scores(items).to_item_frame(str(case), items)))
    assert (again.kind.name, len(again), again.steps) == ("crossed", 6, (1, 2) * 3)
    assert again.ids[:2] == (f"{items[0].id}/1", f"{items[0].id}/2")
    assert again.near.texts[:2] == tuple(side.near for side in items[0].sides)
    row = {"check": "roles", "model": "m", "data": "probes", "level": "1", "property": "roles"}
    (table,) = model_tables(run_file({"checks": [row]}), {str(case): again}, "m").values()
    values = directions_mean.values(table, Scale(0.1))
    assert values.mean() == directions_mean(scores(items)).value
    assert both_directions.values(table, Scale(0.1)).mean() == both_directions(scores(items)).value
    assert directions_mean.value_rows(table).items == tuple(f"{item.id}/{side}" for item in items for side in (1, 2))


def test_the_worst_groups_come_first_with_both_sides_together(roles):
    items = items_of(roles)[:3]
    found = scores(items, Says([0.9, 0.8, 0.9, 0.1, 0.4, 0.9], [0.5] * 6))
    frame = found.to_item_frame("case", items)
    assert frame.worst_positions(6) == [2, 3, 4, 5, 0, 1]
    assert frame.mark_lost() == [False, False, False, True, True, False]


def test_a_failure_message_shows_both_sides(roles):
    items = items_of(roles)[:1]
    lines = scores(items).example_lines(items[0], 0)
    assert [line.text for line in lines if line.name == "side "] == [
        "the surface favours the kept text:", "the surface favours the changed text:",
    ]  # fmt: skip
    assert [line.text for line in lines if line.name == "near "] == [side.near for side in items[0].sides]
    assert items[0].kind.scores() is CrossedScores


def test_calibration_leaves_the_rates_alone(roles):
    found = scores(items_of(roles))
    assert directions_mean(found.calibrated).value == directions_mean(found).value
    assert directions_mean(found.calibrated).metric == "directions_mean_calibrated"

"""The sentences of a run's page: only what is certain, the largest first, each with a real mistake."""

from dataclasses import replace

import numpy as np
import pytest
from gate_fakes import gate_against, gate_of_one, gate_row
from recorded import run_file

from encheck.reporting.story import LINES, MOST, main_findings, percent, shortest_mistake, shortest_success
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.triplets import TRIPLET

RATE = {"family": "order", "metric": "margin_rate_calibrated", "chance": 0.5}


def row(check, value, low, high, **more):
    found = {"id": f"{check}/m-d-1/x", "check": check, "property": check, "level": "1", "model": "m", "data": "d",
             "value": value, "low": low, "high": high, "n": 235, "aim": 0.8, "floor": 0.5, "verdict": "below_aim",
             "metric": "margin_rate_calibrated", "surface": {}, "params": {}, "reason": ""}  # fmt: skip
    return found | more


def results(*rows, **more):
    claims = {one["check"]: {**RATE, "property": one["check"], "tells": f"an {one['check']}"} for one in rows}
    return {"claims": claims, "checks": list(rows)} | more


def told(found):
    return main_findings(run_file(found), {})


def texts(found):
    return [one.text for one in told(found)]


def test_what_is_no_better_than_chance_is_said_with_its_figures():
    found = results(row("edit", 0.23, 0.18, 0.28, metric="both_directions_calibrated"))
    found["claims"]["edit"] |= {"metric": "both_directions_calibrated", "chance": 0.25}
    said = "right in both directions in 23% of 235 items; one in four is chance."
    assert texts(found) == [f"It cannot tell an edit: {said}"]
    found["checks"][0]["params"] = {"meaning": "detected"}
    assert texts(found) == [f"It cannot reliably tell an edit: {said}"]


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(0.5, 0.4, 0.6), (0.62, 0.51, 0.73)],  # it may tell; above chance, but not more often right than a rival
)
def test_nothing_is_said_of_what_is_not_certain(value, low, high):
    found = results(row("edit", value, low, high, surface={"jaccard": {"value": 0.7, "low": 0.6, "high": 0.8}}))
    assert texts(found) == []


def test_a_level_that_is_not_certain_silences_its_check_and_the_first_level_is_quoted():
    levels = [row("edit", 0.1, 0.05, 0.15), row("edit", 0.4, 0.35, 0.45, id="edit/m-d-2/x", level="2")]
    (said,) = texts(results(*levels))
    assert said == "It cannot tell an edit: right in 10% of 235 items; worse than chance (one in two)."
    assert texts(results(levels[0], levels[1] | {"high": 0.6})) == []


def test_a_finding_that_the_surface_explains_says_so_and_gives_way():
    beside = {"jaccard": {"value": 0.02, "low": 0.01, "high": 0.04}}
    explained, other = row("edit", 0.1, 0.05, 0.15, surface=beside), row("order", 0.4, 0.35, 0.45)
    first, second = texts(results(explained, other))
    assert first.startswith("It cannot tell an order: ")
    assert second == (
        "Where the wording misleads, it cannot tell an edit: right in 10% of 235 items; worse than chance "
        "(one in two); jaccard, which sees only the surface, in 2%."
    )
    beside["jaccard"]["high"] = 0.55
    assert texts(results(explained, other))[0].startswith("It cannot tell an edit: ")


def test_a_surface_scorer_that_does_better_is_a_rival():
    beside = {"jaccard": {"value": 0.9, "low": 0.85, "high": 0.95}}
    (said,) = texts(results(row("edit", 0.7, 0.65, 0.75, surface=beside)))
    assert said.startswith("It is worse than jaccard, which sees only the surface, at telling an edit: right in 70%")
    assert texts(results(row("edit", 0.7, 0.65, 0.86, surface=beside))) == []


def test_a_reference_is_a_line_only_where_the_paired_difference_is_certain():
    paired = {"property": "edit", "data": "d", "n": 200, "clusters": 200, "before": 0.9, "after": 0.7,
              "difference": -0.2, "low": -0.3, "high": -0.1, "p": 0.001, "beats_chance": True,
              "said": "worse"}  # fmt: skip
    beside = [{"model": "m", "against": "sbert", "role": "reference", "same_weights": False, "properties": [paired]}]
    found = results(row("edit", 0.7, 0.65, 0.75), references=beside)
    assert texts(found) == ["It is worse than sbert at telling an edit: right in 70% of 200 items, sbert in 90%."]
    paired["said"] = "cannot tell"
    assert [one.line for one in told(found)] == ["strength"]


def test_what_a_gate_blocks_comes_first_with_what_it_means():
    lost = gate_row("edit/d", n=90, baseline=0.9, candidate=0.8, high=-0.05, means="It hurts.")
    gate = gate_of_one(gate_against(lost, replace(lost, outcome="pass")))
    found = results(row("edit", 0.9, 0.85, 0.95), row("other", 0.1, 0.05, 0.15), gate=gate)
    assert [one.line for one in told(found)] == ["baseline", "chance"]
    assert texts(found)[0] == "It is worse at edit than old: 90% before, 80% now, on 90 items. It hurts."


def test_at_most_five_are_said_no_property_twice_and_one_strength_ends_them():
    weak = [row(name, 0.1 + i / 100, 0.05, 0.15 + i / 100) for i, name in enumerate("abcdefg")]
    strong = [row(name, 0.9, 0.88, 0.92, verdict="pass") for name in "xy"]
    found = results(*weak, *strong)
    for name in "xy":
        found["claims"][name]["headline"] = True
    said = told(found)
    assert [one.tested for one in said] == ["a", "b", "c", "d", "x"]
    assert len(said) == MOST
    assert {one.line for one in said} <= set(LINES)


def test_a_family_stands_there_twice_as_long_as_there_are_others():
    found = results(*(row(name, 0.1 + i / 100, 0.05, 0.15 + i / 100) for i, name in enumerate("abcd")))
    found["claims"]["d"]["family"] = "retrieval"
    assert [one.tested for one in told(found)] == ["a", "b", "d", "c"]


def test_models_and_data_are_named_where_there_are_several():
    found = results(row("edit", 0.1, 0.05, 0.15))
    found |= {"models": [{"label": "m"}, {"label": "k"}], "data": [{"name": "d"}, {"name": "e"}]}
    assert texts(found)[0].startswith("m cannot tell an edit on d: right in 10%")


def test_a_check_that_declares_no_words_is_named_by_its_property():
    found = results(row("edit", 0.1, 0.05, 0.15))
    found["claims"]["edit"]["tells"] = ""
    assert texts(found) == ["It fails at edit: right in 10% of 235 items; worse than chance (one in two)."]


def test_what_judges_nothing_is_not_said():
    found = results(row("edit", 0.1, 0.05, 0.15))
    assert told(found | {"claims": {"edit": found["claims"]["edit"] | {"unjudged": "nonsense"}}}) == []


@pytest.mark.parametrize(
    ("metric", "chance", "found", "said"),
    [
        ("auc_n", 0.5, (0.093, 0.091, 0.095),
         "It cannot tell an edit: AUC of non-obvious pairs 0.09 on 235 items; worse than chance (0.5)."),
        ("spearman", 0.0, (0.02, -0.05, 0.08), "It cannot tell an edit: Spearman 0.02 on 235 items; 0 is chance."),
        ("spearman", 0.0, (0.02, -0.05, 0.12), None),
        ("similarity_gap_calibrated", 0.0, (0.04, 0.02, 0.06), None),
    ],
)  # fmt: skip
def test_a_figure_of_a_whole_set_is_said_by_its_name(metric, chance, found, said):
    of_run = results(row("edit", *found, metric=metric))
    of_run["claims"]["edit"] |= {"metric": metric, "chance": chance}
    assert texts(of_run) == ([said] if said else [])


def test_a_surface_scorer_that_does_better_on_a_whole_set_is_a_rival():
    beside = {"jaccard": {"value": 0.9, "low": 0.8, "high": 1.0}}
    of_run = results(row("edit", 0.7, 0.65, 0.75, metric="auc", surface=beside))
    of_run["claims"]["edit"] |= {"metric": "auc"}
    (said,) = texts(of_run)
    assert said.startswith("It is worse than ")
    assert "AUC 0.70 on 235 items" in said
    assert said.endswith(" 0.90.")


def frame(margins, lengths):
    n = len(margins)
    near, far = np.full(n, 0.5), 0.5 - np.array(margins)
    sources = tuple("a " * length for length in lengths)
    edits = ('[[0, 1, "b"]]',) * n
    ids = tuple(f"d/{i}/x/1/y/0" for i in range(n))
    sides = [TextColumns(sources, scores, edits=edits) for scores in (near, far)]
    return ItemFrame(TRIPLET, "edit/m-d-1", ids, sources, sides[0], ("c",) * n, ("",) * n, far=sides[1])


def test_the_example_is_a_mistake_and_the_shortest_of_the_worst():
    found = shortest_mistake(frame([-0.3, -0.2, 0.1], [9, 4, 1]))
    assert found.item == "d/1/x/1/y/0"
    assert found.far_score > found.near_score
    assert ("ins", "b") in found.far_pieces
    assert shortest_mistake(frame([0.1, 0.2], [1, 1])) is None


def test_the_example_of_a_strength_is_a_success():
    found = shortest_success(frame([-0.3, 0.2, 0.1], [1, 9, 4]))
    assert found.item == "d/2/x/1/y/0"
    assert found.near_score > found.far_score
    assert shortest_success(frame([-0.1, 0.0], [1, 1])) is None


def test_a_share_is_never_none_or_all_where_it_is_not():
    said = ["0%", "under 1%", "50%", "over 99%", "100%"]
    assert [percent(share) for share in (0.0, 0.001, 0.499, 0.9996, 1.0)] == said

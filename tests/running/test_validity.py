"""How often generated items are right stands beside the rates on them, and no aim lies above it."""

import json
from dataclasses import asdict

import pytest
from recorded import refuse_other_results, run_file

import encheck
from encheck.generators.entity import ENTITY
from encheck.generators.phenomenon import all_generators, all_phenomena, relation_validity
from encheck.reporting import terminal
from encheck.types import Estimate, FloorAndAim, Validity
from encheck.verdict import JudgingTerms, judge_by_terms

TEXTS = (
    "The clinic opens 9 rooms in the morning.",
    "We paid 300 dollars for 12 chairs.",
    "The bridge is 40 metres long.",
    "A striker won 3 matches in May.",
    "She lives near that road with 4 cats.",
    "The bridge was opened by Helen Marsh in June.",
    "The road was closed by Laura Doyle in May.",
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A run on texts of one's own with what is made on trial, and its folder."""
    folder = tmp_path_factory.mktemp("validity")
    folder.joinpath("own.txt").write_text("\n".join(TEXTS))
    how = {
        "data": f"texts:{folder / 'own.txt'}",
        "checks": "number or entity",
        "experimental": True,
        "report_dir": folder / "r",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENTITY.readers, "control", (34, 74))  # as if readers had found fewer right than chance
        return folder / "r", encheck.run("bag-of-words", **how)


def test_a_run_with_what_is_on_trial_says_how_often_it_is_right(ran):
    folder, found = ran
    refuse_other_results(json.loads(folder.joinpath("results.json").read_text("utf-8")))
    rows = {row.check: row for row in found.raw.checks if row.aim is not None}
    changed = rows["other_number_is_farther_than_edit_that_keeps_the_meaning"]
    control = rows["other_statement_is_farther_than_edit_that_keeps_the_number"]
    assert changed.validity == Validity("number", 252, 260)
    assert control.validity == Validity("number_control", 105, 106)
    assert (changed.aim, control.aim) == (0.8, 0.8)
    said = (
        "other numbers: made from 5 of 7 sentences (texts); blind readers found 96.9% [94.0, 98.4] of 260 right, "
        "a ceiling for rates"
    )
    assert said in " ".join(line.strip() for line in terminal.run_lines(found.raw))
    assert said in folder.joinpath("summary.md").read_text("utf-8").replace("\\", "")
    assert said in folder.joinpath("report.html").read_text("utf-8")


def test_what_was_written_by_hand_has_no_ceiling(number_probes):
    found = encheck.run("bag-of-words", data=number_probes, checks="number")
    assert not [row for row in found.raw.checks if row.validity]


ESTIMATE = Estimate("margin_rate", 0.7, 0.65, 0.75, n=400, clusters=400)


@pytest.mark.parametrize("floor", [None, 0.25, 0.5, 0.6])
def test_no_aim_lies_above_what_is_right_nor_below_the_floor(floor):
    names = [*all_generators(), *(relation for name in all_phenomena() for relation in (name, f"{name}_control"))]
    read = [found for name in names if (found := relation_validity(name)) and found.read]
    assert len(read) == 11
    for found in (*read, Validity("odd", 111, 200)):
        for aim in (0.6, 0.8, 0.95, 1.0):
            ruling = judge_by_terms(ESTIMATE, JudgingTerms(declared=(floor, aim), validity=found))
            held, is_unfit = ruling.lines, ruling.reason.startswith("not judged")
            assert held.floor == floor
            assert is_unfit is (found.rate < (floor or 0))
            assert (floor or 0) <= held.aim
            assert held.aim == aim if is_unfit else held.aim <= found.rate


def test_items_that_are_right_less_often_than_the_floor_are_not_judged(ran):
    _, found = ran
    rows = {row.check: row for row in found.raw.checks if row.aim is not None}
    control = rows["other_statement_is_farther_than_edit_that_keeps_the_entity"]
    assert control.verdict == "inconclusive"
    assert control.reason == "not judged: blind readers found 45.9% of 74 such items right, below the floor of 0.5"
    assert (control.floor, control.aim) == (0.5, 0.8)


def test_a_generator_that_nobody_read_is_said_to_be_so():
    unread = Validity("typo", 0, 0)
    rows = [{"check": "c", "validity": asdict(unread), "excluded": one} for one in ({"a": 5, "b": 3}, {"a": 7})]
    found = run_file({"checks": [*rows, {"check": "d"}], "data": [{"groups": 1_200}]})
    told = " ".join(" ".join(terminal.run_lines(found)).split())
    said = "made from 1,193 of 1,200 sentences (d); not checked yet, so the share that is right is unknown"
    assert told.count(f"typo: {said}") == told.count("typo: ") == 1
    assert judge_by_terms(ESTIMATE, JudgingTerms(declared=(None, 0.9), validity=unread)).lines == FloorAndAim(0.9)

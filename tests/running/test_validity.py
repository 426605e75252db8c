"""How often generated items are right stands beside the rates on them, and no aim lies above it."""

import json
from importlib import resources

import jsonschema
import pytest

import encheck
from encheck.controller.session import _under_the_ceiling
from encheck.generators.validity import READ, validity_of
from encheck.reporting import terminal
from encheck.types import Validity

TEXTS = (
    "The clinic opens at 9 in the morning.",
    "We paid 300 dollars for 12 chairs.",
    "The bridge is 40 metres long.",
    "A striker won 3 matches in May.",
    "She lives near that road with 4 cats.",
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A run on texts of one's own with what is made on trial, and its folder."""
    folder = tmp_path_factory.mktemp("validity")
    folder.joinpath("own.txt").write_text("\n".join(TEXTS))
    how = {"data": f"texts:{folder / 'own.txt'}", "checks": "number", "experimental": True, "report_dir": folder / "r"}
    return folder / "r", encheck.run("bag-of-words", **how)


def test_a_run_with_what_is_on_trial_says_how_often_it_is_right(ran):
    folder, found = ran
    schema = resources.files("encheck.reporting").joinpath("results.schema.json").read_text("utf-8")
    jsonschema.validate(json.loads(folder.joinpath("results.json").read_text("utf-8")), json.loads(schema))
    rows = {row["check"]: row for row in found.raw["checks"] if row["aim"] is not None}
    changed = rows["other_number_is_farther_than_edit_that_keeps_the_meaning"]
    control = rows["other_statement_is_farther_than_edit_that_keeps_the_number"]
    assert changed["validity"] == {"generator": "number", "right": 153, "read": 170}
    assert control["validity"] == {"generator": "number_control", "right": 0, "read": 0}
    assert (changed["aim"], control["aim"]) == (0.8, 0.8)
    said = (
        "generated items (other numbers): blind readers found 90.0% [84.6, 93.7] of 170 right, "
        "which is a ceiling for rates on them"
    )
    assert said in "\n".join(terminal.lines(found.raw))
    assert said in folder.joinpath("summary.md").read_text("utf-8").replace("\\", "")
    assert said in folder.joinpath("report.html").read_text("utf-8")


def test_what_was_written_by_hand_has_no_ceiling(some_probes):
    found = encheck.run("bag-of-words", data=some_probes, checks="number")
    assert not [row for row in found.raw["checks"] if "validity" in row]


@pytest.mark.parametrize("found", [*map(validity_of, READ), Validity("odd", 111, 200)], ids=lambda one: one.generator)
def test_no_aim_lies_above_what_is_right(found):
    for aim in (0.1, 0.5, 0.8, 0.95, 1.0):
        floor, capped = _under_the_ceiling(min(0.6, aim), aim, found)
        assert floor <= capped <= found.rate
        assert capped == aim or aim > found.rate - 0.001


def test_a_generator_that_nobody_read_is_said_to_be_so():
    from encheck.reporting.validity import said

    rows = [{"validity": {"generator": "typo", "right": 0, "read": 0}}, {"verdict": None}]
    assert said(rows) == ["generated items (typo): nobody has checked them yet, so the share that is right is unknown"]
    assert _under_the_ceiling("surface", 0.9, Validity("typo", 0, 0)) == ("surface", 0.9)

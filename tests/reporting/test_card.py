"""The profile of a run, and the card and badge that show it."""

import json
import re
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pytest
from gate_fakes import gate_against, gate_row
from recorded import run_file
from typer.testing import CliRunner

from encheck.cli import app
from encheck.comparing import page as comparing_page
from encheck.comparing.comparison import compare
from encheck.comparing.exports import latex_table
from encheck.comparing.terminal import comparison_lines
from encheck.errors import UsageError
from encheck.reporting import terminal
from encheck.reporting.decisions import run_verdict
from encheck.reporting.gate.record import add_printed_figures
from encheck.reporting.gate.words import printed_figures
from encheck.reporting.html import page
from encheck.reporting.profile import ProfileLine, all_headline_rows, profile, profile_summary, weakest_first
from encheck.reporting.rebuild import render_badge, render_card
from encheck.reporting.results import read_items, read_results
from encheck.reporting.terminal import run_lines, short_run_lines, verdict_lines
from encheck.run_file import BaselineFigure, RunFile

ENTRY = {"family": "order", "metric": "margin_rate_calibrated", "chance": 0.5}
LINE = ProfileLine("roles", "order", "a", "a/m-probes-1", "margin_rate", 0.6, 0.55, 0.65, 100, 0.5, 0.5, "jaccard")


def row(check, tested, value, *, low=None, high=None, surface=0.5):
    found = {"id": f"{check}/m-probes-1/x", "check": check, "property": tested, "level": "1", "model": "m"}
    ends = {"low": value - 0.05 if low is None else low, "high": value + 0.05 if high is None else high}
    lines = {"floor": 0.5, "aim": 0.8, "verdict": "pass", "metric": "margin_rate_calibrated", "reason": ""}
    return found | ends | lines | {"data": "probes", "value": value, "n": 100, "surface": {"bow": {"value": surface}}}


def results(*checks, model="m", **more):
    claims = {name: {**ENTRY, "property": tested, **said} for name, tested, said, _ in checks}
    run = {"started": "2026-01-02T03:04:05", "versions": {"encheck": "1.0"}}
    data = [{"name": "probes", "version": "3", "seed": 0}]
    rows = [{**row(name, tested, **figures), "model": model} for name, tested, _, figures in checks]
    return run_file({"run": run, "models": [{"label": model}], "data": data, "claims": claims, "checks": rows, **more})


def test_the_headline_of_a_property_stands_for_it_and_others_where_it_was_not_measured():
    of_two = [("a", "roles", {}, {"value": 0.9}), ("b", "roles", {"headline": True}, {"value": 0.6})]
    (line,) = profile(results(*of_two), model="m", data="probes")
    assert (line.check, line.value, line.chance, line.surface_of) == ("b", 0.6, 0.5, "bow")
    unmeasured = results(*of_two)
    nothing = replace(unmeasured.checks[1], value=None, low=None, high=None)
    unmeasured = replace(unmeasured, checks=(unmeasured.checks[0], nothing))
    assert [one.check for one in profile(unmeasured, model="m", data="probes")] == ["a"]


def test_what_is_no_share_stays_out():
    out = [
        ("gap", "paraphrase", {"family": "meaning kept", "chance": 0.0}, {"value": 0.2}),
        ("room", "health", {"family": "health"}, {"value": 0.7}),
        ("below", "sts", {"family": "meaning kept", "chance": None}, {"value": -0.1}),
    ]
    assert profile(results(*out), model="m", data="probes") == []


@pytest.mark.parametrize(
    ("low", "high", "chance", "said"),
    [
        (0.51, 0.6, 0.5, "above chance"),
        (0.4, 0.49, 0.5, "below chance"),
        (0.5, 0.6, 0.5, "at chance"),
        (0, 1, None, ""),
    ],
)
def test_a_standing_needs_the_whole_interval(low, high, chance, said):
    assert replace(LINE, low=low, high=high, chance=chance).standing == said


def test_the_three_figures_count_and_name_the_property_that_the_verdict_names():
    jumble = replace(LINE, name="jumble", value=0.1, low=0.05, high=0.15, surface=0.0)
    temporal = replace(LINE, name="temporal", value=0.4, low=0.35, high=0.45)
    assert profile_summary([LINE, jumble, temporal]) == [
        ("1 of 3", "properties above chance"),
        ("2 of 3", "above the best surface scorer"),
        ("10%", "weakest: jumbled words"),
    ]
    assert profile_summary([replace(LINE, chance=None)]) == []


def test_a_card_is_xml_that_says_all_that_it_draws_and_escapes_what_it_is_given():
    found = results(("a", "roles", {}, {"value": 0.62}), model="<b>&me" + "x" * 50)
    drawn = render_card(found)
    root = ElementTree.fromstring(drawn)
    (said,) = root.iter("{http://www.w3.org/2000/svg}desc")
    assert said.text == "who did what to whom 62% (57 to 67), above chance. "
    assert "<b>" not in drawn
    assert "2026-01-02, encheck 1.0, probes 3, seed 0" in drawn
    assert root.get("width") == "600"


def test_a_badge_counts_what_is_above_chance():
    assert "1 of 1 above chance" in render_badge(results(("a", "roles", {}, {"value": 0.62})))
    assert "no figures" in render_badge(results())


def test_a_model_that_was_not_run_and_a_run_without_figures_are_errors():
    with pytest.raises(UsageError, match="has no 'other' among its models: m"):
        render_card(results(("a", "roles", {}, {"value": 0.62})), model="other")
    with pytest.raises(UsageError, match="measured no property of m on probes for a profile"):
        render_card(results())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a model that counts words, and of one that knows all answers, by the command."""
    folder = tmp_path_factory.mktemp("run")
    encoded = ["run", "--model=bag-of-words", "--model=oracle", "-m", "entity", "--no-store", f"--report-dir={folder}"]
    assert CliRunner().invoke(app, encoded).exit_code in (0, 1)
    return folder


def test_the_first_look_is_the_profile_with_the_worst_sentences_and_what_to_type_next(run, monkeypatch):
    results, items = read_results(run), read_items(run)
    results = replace(results, checks=tuple(row for row in results.checks if row.model == "bag-of-words"))
    said = [*short_run_lines(results, items), *verdict_lines(results)]
    assert len(said) <= 14
    assert said[0] == "bag-of-words on built-in English sentences (probes), weakest first"
    assert said[2].startswith("  names  ")
    assert any(" in names, the nearer text: " in line for line in said)
    assert said[-1] == "Next: encheck gate bag-of-words sbert"
    assert said[-2].startswith(("PASSED: ", "FAILED: "))
    scorer = replace(results, models=(replace(results.models[0], kind="pair"), *results.models[1:]))
    assert [*verdict_lines(scorer)][-1].startswith("Next: encheck gate NEW_MODEL bag-of-words ")
    monkeypatch.setattr(terminal, "FEW", 0)
    assert next(run_lines(results, items, verbose=False)) == said[0]
    assert any(line.startswith("  verdict") for line in run_lines(results, items, verbose=True))
    monkeypatch.undo()
    assert [*run_lines(results, items, verbose=False)] == [
        *run_lines(results, items, verbose=True)
    ]  # few are shown whole


def test_a_quick_run_prints_fifteen_lines_and_ends_with_its_verdict_and_what_to_type_next(tmp_path):
    many = "antonym or number or negation or entity or binding or quantifier or modality or comparative"
    args = ["run", "--model=jaccard", "--quick", "-m", many, "--no-store", f"--report-dir={tmp_path}"]
    said = CliRunner().invoke(app, args).stdout.splitlines()
    assert len(said) == 15
    assert said[-2].startswith("PARTIAL, ")
    assert said[-1].startswith("Next: ")


def test_the_verdict_of_a_run_without_floors_is_no_verdict(run):
    found = read_results(run)
    unjudged = replace(found, checks=tuple(replace(row, verdict=None) for row in found.checks))
    assert run_verdict(unjudged).startswith("NO VERDICT: no check here has a floor or an aim; bag-of-words on ")


def test_one_figure_stands_for_a_property_wherever_it_is_printed(run):
    results, items, compared = read_results(run), read_items(run), compare([run])
    (line,) = profile(results, model="bag-of-words", data="probes")
    assert line.check == "entity_is_seen_in_both_directions"
    places = {
        "card": render_card(results),
        "terminal": "\n".join(short_run_lines(results, items)),
        "terminal in full": "\n".join(run_lines(results, items)),
        "verdict": run_verdict(results),
        "page": page.render_run(results, items),
        "compare": "\n".join(comparison_lines(compared)),
        "compare page": comparing_page.render_comparison(compared),
    }
    assert [name for name, text in places.items() if not re.search(rf"names.*?\D{line.figure}", text, re.DOTALL)] == []
    assert re.search(rf"names & .* & {line.figure.removesuffix('%')} ", latex_table(compared))
    row = gate_row("facts/probes", kind="rate")
    rows, declared = all_headline_rows(results, "bag-of-words"), results.declarations
    gated = add_printed_figures(gate_against(row), rows, AsMeasured(results), declared)
    ((figure,),) = (one.figures for one in gated.rows)
    assert printed_figures(gated.rows[0]) == f"{line.figure} and {line.figure} (chance 25%)"
    assert figure.property == "entity"


@dataclass(frozen=True)
class AsMeasured:
    """A baseline that has the figures of a run's first model."""

    results: RunFile

    def figure(self, case, name):
        found = next(r for r in self.results.checks if (r.case.of_any_model, r.figure) == (case, name))
        return BaselineFigure(*found.numbers, found.n)


def test_a_profile_is_paired_with_the_reference_and_shows_what_is_worse_first():
    names = ("a", "b")
    checks = [(name, f"property {name}", {"headline": True}, {"value": 0.7}) for name in names]
    change = {"data": "probes", "n": 9, "clusters": 9, "before": 0.8, "after": 0.7, "difference": -0.1, "low": -0.2,
              "high": 0.0, "p": 0.01, "beats_chance": True}  # fmt: skip
    said = {"a": "cannot tell", "b": "worse"}
    rows = [{**change, "property": f"property {name}", "said": said[name]} for name in names]
    reference = {"model": "m", "against": "sbert", "role": "reference", "same_weights": False, "properties": rows}
    found = results(*checks, references=[reference])
    ordered = weakest_first(profile(found, model="m", data="probes"))
    assert [(one.name, one.against.said) for one in ordered] == [("property b", "worse"), ("property a", "cannot tell")]


def test_the_command_writes_svg_and_png_and_refuses_other_endings(run, tmp_path):
    for to, name in (("card", "c.svg"), ("badge", "b.png")):
        done = CliRunner().invoke(app, ["export", str(run), f"--to={to}", f"--out={tmp_path / name}"])
        assert done.exit_code == 0, done.output
    ElementTree.fromstring((tmp_path / "c.svg").read_text())
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
    refused = CliRunner().invoke(app, ["export", str(run), "--to=card", f"--out={tmp_path / 'c.gif'}"])
    assert refused.exit_code == 4
    assert "should end in .svg or .png" in refused.output
    claims = json.loads((run / "results.json").read_text())["claims"]
    assert [name for name, one in claims.items() if one["headline"]] == [
        "other_entity_is_farther_than_edit_that_keeps_the_meaning"
    ]

"""What opens a page, and what a run decides beside it."""

import re

import pytest
from gate_fakes import gate_against, gate_of_one
from recorded import run_file

from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ThresholdShift
from encheck.gating.types import PartialGate
from encheck.reporting.decisions import run_banner, run_decisions
from encheck.reporting.html import page as html
from encheck.reporting.view import partial_lines

WHOLE = {"pairs": 10, "clusters": 10, "labels": {}, "shards": 1, "skipped": 0, "engine": {"kind": "local"}}


def banner(settings=None, **more):
    return run_banner(run_file({"run": {"settings": settings or {}}, "checks": []} | more))


@pytest.mark.parametrize(
    ("models", "command"),
    [
        (["./ckpt"], "encheck gate ./ckpt sbert --data=mrpc:x"),
        (["sbert"], "encheck gate NEW_MODEL sbert --data=mrpc:x"),
    ],
)
def test_a_run_does_not_decide_and_names_the_gate_that_can(models, command):
    found = banner({"models": models, "data": ["probes", "mrpc:x"]})
    assert found.lead.startswith("One run does not decide whether a model may ship")
    assert found.step.command == command


@pytest.mark.parametrize(
    ("models", "command"),
    [
        (["./my ckpt"], "encheck gate './my ckpt' sbert --model-arg='my-ckpt:prompt=a b' --model-arg=my-ckpt:x=1"),
        (["sbert"], "encheck gate NEW_MODEL sbert --model-arg='sbert:prompt=a b'"),
        (["object:mine"], ""),
    ],
    ids=["own", "reference", "in memory"],
)
def test_the_gate_has_the_options_that_the_model_and_the_figures_need(models, command):
    """Named for the one model: in a gate an argument without a label is for both."""
    settings = {"models": models, "model_args": ["prompt=a b", "my-ckpt:x=1"], "data": ["probes"], "quick": True}
    found = banner({**settings, "seed": 7, "queries": "log.txt"})
    assert found.step.command == (f"{command} --seed=7 --queries=log.txt" if command else "")


def test_what_cannot_be_typed_is_said_how_else_to_gate():
    settings = {"models": ["object:mine"], "data": ["probes"]}
    assert banner(settings).step.says == "To decide, call encheck.gate(new, old) with this model and the one in use."
    assert "--sample=N" in banner({**settings, "engine": "local"}).step.says


def test_after_a_run_that_measured_nothing_no_gate_is_named():
    measured = {"ckpt": {"selected": 9, "measured": 0, "items": 0}}
    data = [{"name": "probes", "measured": measured}]
    found = banner({"models": ["./ckpt"]}, data=data)
    assert (found.stamp, found.step.command) == ("NOTHING WAS MEASURED", "")
    measured["other"] = {"selected": 9, "measured": 1, "items": 5}
    assert banner({"models": ["./ckpt", "other"]}, data=data).step.command == "encheck gate ./ckpt sbert"


def test_a_gate_on_data_in_shards_takes_a_sample_of_one_file():
    settings = {"models": ["./ckpt"], "data": ["pairs:x.parquet"]}
    found = banner(settings, data=[{"name": "pairs", "whole": WHOLE}])
    assert found.step.command == "encheck gate ./ckpt sbert --data=pairs:x.parquet --sample=2000"


def test_a_gate_on_all_checks_is_not_partial_though_it_skips_what_cannot_change_its_outcome():
    selection = {"unselected": ["health/d/1"], "left_out": []}
    rows = [{"id": "a/m-d-1/x", "check": "a", "property": "a", "metric": "margin_rate", "value": 0.8, "n": 9}]
    chosen = {"checks": rows, "claims": {"a": {}}, "selection": selection}
    assert [*partial_lines(run_file(chosen))] == ["Partial: 1 of 2 checks"]
    assert [*partial_lines(run_file(chosen | {"gate": gate_of_one(gate_against(outcome="pass"))}))] == []


def test_the_banner_says_where_the_model_stands_and_that_a_first_look_is_no_whole_run():
    claims = {name: {"family": "order", "chance": 0.5, "tells": f"{name} words"} for name in "ab"}
    rows = [{"id": f"{name}/m-d-1/x", "check": name, "property": name, "metric": "margin_rate", "value": value, "n": 9,
             "low": value - 0.1, "high": value + 0.1, "aim": 0.9, "verdict": "below_aim"}
            for name, value in (("a", 0.8), ("b", 0.2))]  # fmt: skip
    models = [{"name": "owner/all-MiniLM-L6-v2"}]
    found = banner(checks=rows, claims=claims, models=models)
    assert found.answer == (
        "No check fails; m is above chance in 1 of 2 properties and below it in 1; weakest: b, 20% (chance 50%)"
    )
    assert (found.tone, found.stamp) == ("", "PASSED")
    look = {"texts": 5, "of_texts": 50, "clusters": 362, "of_clusters": 3242}
    assert banner(checks=rows, claims=claims, first_look=look).stamp == "FIRST LOOK"
    (said,) = partial_lines(run_file({"checks": rows, "claims": claims, "first_look": look}))
    assert said == "Partial: 362 of 3,242 clusters"
    rows[1]["verdict"] = "fail"
    assert (banner(checks=rows, claims=claims).tone, banner(checks=rows, claims=claims).stamp) == (
        "bad",
        "FAILED",
    )


@pytest.mark.parametrize(
    ("outcome", "partial", "said"),
    [
        ("pass", None, "Yes: "),
        ("block", None, "No: "),
        ("inconclusive", None, "Not yet: "),
        ("inconclusive", PartialGate(("roles",), (), "-m"), "Partial: "),
    ],
)
def test_a_gate_opens_the_page_with_whether_the_model_may_ship(outcome, partial, said):
    gate = gate_of_one(gate_against(outcome=outcome, reasons=("a", "b", "c"), partial=partial))
    page = html.render_run(run_file({"checks": [], "gate": gate}), {})
    first = page.partition("<main>")[2].partition("</section>")[0]
    assert re.search(f'<h2 id="answer">{said}', first)
    assert 'class="action"' in first


def test_a_gate_that_passes_without_having_measured_its_data_does_not_say_yes():
    measured = {"m": {"selected": 9, "measured": 0, "items": 0}}
    found = run_file(
        {"checks": [], "gate": gate_of_one(gate_against(outcome="pass")), "data": [{"measured": measured}]}
    )
    assert "Not yet: nothing was measured on d" in html.render_run(found, {})


def test_re_index_and_threshold_are_answered_where_the_gate_has_them():
    shift = ThresholdShift("mine", 0.7, 200, 50, 0.25, 0.2, 0.65, 0.25)
    against = gate_against(outcome="pass", reindex=Reindex(True, "yes", "other weights"), thresholds=(shift,))
    found = run_decisions(run_file({"checks": [], "gate": gate_of_one(against)}))
    assert [(one.question, one.answer) for one in found] == [
        ("Must I re-index?", "Yes (other weights)"), ("Does my threshold still fit?", shift.says),
    ]  # fmt: skip

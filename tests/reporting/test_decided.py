"""What a run decides, in a line for each question."""

import pytest
from gate_fakes import gate_against, gate_of_one
from recorded import run_file

from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ThresholdShift
from encheck.gating.types import PartialGate
from encheck.reporting.decisions import run_decisions

WHOLE = {"pairs": 10, "clusters": 10, "labels": {}, "shards": 1, "skipped": 0, "engine": {"kind": "local"}}


def answers(settings=None, **gate):
    found = run_file({"run": {"settings": settings or {}}, "checks": []} | gate)
    return [(one.question, one.answer, one.command) for one in run_decisions(found)]


@pytest.mark.parametrize(
    ("models", "command"),
    [
        (["./ckpt"], "encheck gate ./ckpt sbert --data=mrpc:x"),
        (["sbert"], "encheck gate NEW_MODEL sbert --data=mrpc:x"),
    ],
)
def test_without_a_baseline_a_run_cannot_say_and_names_the_gate_that_can(models, command):
    ((_, said, typed),) = answers({"models": models, "data": ["probes", "mrpc:x"]})
    assert (said, typed) == ("This run cannot say: it has no baseline to compare with", command)


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
    ((_, _, typed),) = answers({**settings, "seed": 7, "queries": "log.txt"})
    assert typed == (f"{command} --seed=7 --queries=log.txt" if command else "")


def test_what_cannot_be_typed_is_said_how_else_to_gate():
    found = {"run": {"settings": {"models": ["object:mine"], "data": ["probes"]}}, "checks": []}
    assert run_decisions(run_file(found))[0].more == ("Call encheck.gate(new, old) with the model and the one in use.",)
    found["run"]["settings"]["engine"] = "local"
    assert "--sample=N" in run_decisions(run_file(found))[0].more[0]


def test_after_a_run_that_measured_nothing_no_gate_is_named():
    measured = {"ckpt": {"selected": 9, "measured": 0, "items": 0}}
    data = [{"name": "probes", "measured": measured}]
    assert answers({"models": ["./ckpt"]}, data=data) == [
        ("May it ship?", "This run cannot say: nothing was measured", "")
    ]
    measured["other"] = {"selected": 9, "measured": 1, "items": 5}
    assert answers({"models": ["./ckpt", "other"]}, data=data)[0][2] == "encheck gate ./ckpt sbert"


def test_a_gate_on_data_in_shards_takes_a_sample_of_one_file():
    found = {"run": {"settings": {"models": ["./ckpt"], "data": ["pairs:x.parquet"]}}, "checks": []}
    found |= {"data": [{"name": "pairs", "whole": WHOLE}]}
    assert run_decisions(run_file(found))[0].command == "encheck gate ./ckpt sbert --data=pairs:x.parquet --sample=2000"
    found["run"]["settings"]["engine"] = "ray"
    (first,) = run_decisions(run_file(found))
    assert (first.command, "--sample=N" in first.more[0]) == ("", True)


@pytest.mark.parametrize(
    ("outcome", "partial", "said"),
    [
        ("pass", None, "Yes: "),
        ("block", None, "No: "),
        ("inconclusive", None, "Not decided: "),
        ("inconclusive", PartialGate(("roles",), (), "-m"), "Not decided: the gate says INCONCLUSIVE against"),
        ("block", PartialGate(("roles",), (), "-m"), "No: "),
    ],
)
def test_a_gate_answers_whether_the_model_may_ship(outcome, partial, said):
    gate = gate_of_one(gate_against(outcome=outcome, reasons=("a", "b", "c"), partial=partial))
    ((question, answer, _),) = answers(gate=gate)
    assert question == "May it ship?"
    assert answer.startswith(said)


def test_re_index_and_threshold_are_answered_where_the_gate_has_them():
    shift = ThresholdShift("mine", 0.7, 200, 50, 0.25, 0.2, 0.65)
    against = gate_against(outcome="pass", reindex=Reindex(True, "yes", "other weights"), thresholds=(shift,))
    found = answers(gate=gate_of_one(against))
    assert found[1:] == [
        ("Must I re-index?", "Yes (other weights)", ""),
        ("Does my threshold still fit?", shift.says, ""),
    ]

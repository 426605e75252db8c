"""A dry run: it estimates what the run then takes, keeps nothing, and asks no model that costs money."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.encoders.fake import BagOfWords
from encheck.encoders.model_config import ModelConfig
from encheck.engine.dry_run import _line, _next
from encheck.engine.pilot import Pilot
from encheck.errors import EncoderError, UsageError
from encheck.options import refuse_wrong
from encheck.options.arguments import without_dry_run
from encheck.options.settings import OPTIONS
from encheck.reporting.dry_run import cost_lines
from encheck.running.rate import SAMPLE, rate_of, sample
from encheck.running.stand_in import Scratch, stand_in
from encheck.running.subject import Subject
from encheck.store import Store, text_key
from encheck.system.spent import Spent

SOME = ("-m", "antonym or number", "--encheck-model=bag-of-words")
JSON = "a dry run with --json"


class Remote(BagOfWords):
    devices = ()


class Learning(BagOfWords):
    def fit(self, texts):
        raise AssertionError("a dry run teaches nothing")


class Broken(BagOfWords):
    def encode(self, texts, *, role=None):
        raise RuntimeError("out of order")


def asked(count):
    return {text_key(f"text {n}"): (f"text {n}",) for n in range(count)}


def subject(model, **config):
    return Subject("one", ModelConfig("one", **config), model)


@pytest.fixture
def few_probes(some_probes, tmp_path):
    """What --data takes for every twentieth of the embedded probes."""
    path = tmp_path / "few.jsonl"
    path.write_text("\n".join(Path(some_probes.partition(":")[2]).read_text("utf-8").split("\n")[::5]), "utf-8")
    return f"probes:{path}"


@pytest.fixture
def run(pytester, few_probes, tmp_path, monkeypatch):
    """Run some checks in this process: exit code, what was said, what --json has."""
    monkeypatch.setattr("encheck.engine.dry_run.WATCHED", 32)

    def run(*args):
        args = [*args[1:], "--encheck-dry-run", f"--encheck-json={tmp_path / 'cost.json'}"] if JSON in args else args
        found = pytester.runpytest(
            "--pyargs", "encheck.checks", "-p", "no:cacheprovider", f"--encheck-data={few_probes}", *SOME,
            f"--encheck-store={tmp_path / 'store.sqlite'}", f"--encheck-report-dir={tmp_path / 'report'}", *args,
        )  # fmt: skip
        file = tmp_path / "cost.json"
        return SimpleNamespace(
            ret=found.ret, said=found.outlines, cost=json.loads(file.read_text()) if file.exists() else None
        )

    return run


def test_a_dry_run_says_what_the_run_costs_and_keeps_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/bin/encheck", "run", "-m", "antonym", "--dry-run", "-n", "2"])
    dry = run(JSON, "-n", "2", f"--junitxml={tmp_path / 'j.xml'}")
    assert dry.ret == 0
    assert not (tmp_path / "report").exists()
    assert not (tmp_path / "j.xml").exists()
    store = Store(tmp_path / "store.sqlite")
    assert store.contents() == []
    store.close()
    (one,) = dry.cost["models"]
    assert dry.cost["clusters"] == dry.cost["of_clusters"]
    assert one["asked"] > one["distinct"] == one["to_compute"] > SAMPLE == one["sample"]
    assert dry.cost["memory_bytes"] is None or dry.cost["memory_bytes"] > 1e7
    assert dry.said[-1] == "Run it: encheck run -m antonym -n 2"
    assert any("with -n 2 up to 2 times as much" in line for line in dry.said)


@pytest.mark.long
def test_the_run_computes_the_texts_that_the_dry_run_counted(run, tmp_path):
    cost = run(JSON).cost
    (one,) = cost["models"]
    assert run().ret in (0, 1)
    results = json.loads((tmp_path / "report/results.json").read_text("utf-8"))
    assert results["run"]["encoded"]["bag-of-words"] == one["to_compute"]
    assert cost["store_bytes"] == pytest.approx((tmp_path / "store.sqlite").stat().st_size, rel=0.2)
    report = sum(file.stat().st_size for file in (tmp_path / "report").iterdir())
    assert cost["report_bytes"] == pytest.approx(report, rel=0.2)
    warm = run(JSON)
    assert [warm.cost["models"][0][key] for key in ("distinct", "to_compute")] == [one["distinct"], 0]
    assert warm.cost["store_bytes"] == 0


@pytest.mark.long
def test_a_part_of_the_data_tells_about_the_whole(run, tmp_path, monkeypatch):
    whole = run(JSON).cost
    monkeypatch.setattr("encheck.engine.dry_run.BUDGET", 0.0)
    monkeypatch.setattr("encheck.engine.dry_run.FIRST", 40)  # the second has four times as many
    part = run(JSON).cost
    assert part["clusters"] < part["of_clusters"] == whole["of_clusters"]
    for key in ("asked", "distinct", "to_compute", "tokens"):
        assert part["models"][0][key] == pytest.approx(whole["models"][0][key], rel=0.2)


@pytest.mark.parametrize("wrong", ["--encheck-model=nonesuch", "--encheck-data=pairs:nonesuch.csv"])
def test_bad_input_ends_as_in_a_run(run, wrong):
    assert run("--encheck-dry-run", wrong).ret == run(wrong).ret == 4


@pytest.mark.parametrize(
    ("model", "config", "why"),
    [
        (BagOfWords(), {"price": 0.1}, "it costs money"),
        (Remote(), {}, "it is on another machine"),
        (Learning(), {}, "it first learns from all texts"),
    ],
)
def test_a_model_that_costs_money_or_cannot_compute_yet_is_not_asked(monkeypatch, model, config, why):
    monkeypatch.setattr(BagOfWords, "encode", Broken.encode)
    assert rate_of(subject(model, **config), asked(3)).why == why


@pytest.mark.parametrize("long", [1, 900])
def test_a_sample_of_200_texts_has_the_length_that_half_of_all_characters_are_in(long):
    texts = {f"{n}".encode(): (f"{n:04d}" * (long if n < 300 else 1),) for n in range(1_000)}
    found = sample(texts)
    assert len(set(found)) == SAMPLE
    assert sample(dict(reversed(texts.items()))) == found
    assert {len(text) for (text,) in found} == {4 * long}
    assert sample({}) == []
    assert len(sample(dict(list(texts.items())[:7]))) == 7


def test_a_sample_gives_the_rate_and_a_model_that_fails_is_named():
    texts = asked(1_000)
    rate = rate_of(subject(BagOfWords()), texts)
    assert (rate.texts, rate.width, rate.why) == (SAMPLE, 256, "")
    assert rate.a_character.wall > 0
    assert rate_of(subject(BagOfWords()), {}) == type(rate)()
    with pytest.raises(EncoderError, match="one: RuntimeError: out of order"):
        rate_of(subject(Broken()), texts)


def test_a_stand_in_gives_the_same_numbers_for_the_same_text_and_a_scratch_store_reads_what_is_below(tmp_path):
    model = stand_in(subject(BagOfWords()), 8).model
    vectors = model.encode(["a", "b", "a"])
    assert vectors.shape == (3, 8)
    assert np.array_equal(vectors[0], vectors[2])
    below = Store(tmp_path / "below.sqlite")
    below.put_blobs("parse", "f", {b"1": b"one"}, name="n")
    scratch = Scratch(tmp_path / "scratch.sqlite", below)
    scratch.put_blobs("parse", "f", {b"2": b"two"}, name="n")
    assert scratch.blobs("parse", "f", [b"1", b"2"]) == {b"1": b"one", b"2": b"two"}
    assert below.blobs("parse", "f", [b"1", b"2"]) == {b"1": b"one"}


def pilot(clusters, processor):
    return Pilot(clusters, Spent(processor, processor), None, 0, 0, {}, {})


def test_a_pilot_is_as_large_as_its_time_allows():
    found = [pilot(10, 1.0), pilot(20, 2.0)]
    assert _next(found[:1], 0.01, 1_000, 0.0) == 0.04
    assert _next(found, 0.02, 1_000, 100.0) == pytest.approx(0.32)
    assert _next(found, 0.02, 1_000, 10.0) == pytest.approx(0.08)
    assert _next(found, 0.02, 1_000, 1.0) == 0.0
    assert _next(found, 1.0, 20, 100.0) == 0.0
    assert _line([10, 10], [3.0, 4.0], 100) == 4.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"json": "f"}, "--json requires --dry-run"),
        ({"quick": True, "dry_run": True}, "--dry-run estimates a whole run"),
    ],
)
def test_what_does_not_go_together_is_refused(given, said):
    defaults = {one.dest: one.default for one in OPTIONS.values()}
    with pytest.raises(UsageError, match=said):
        refuse_wrong(SimpleNamespace(**defaults | {f"encheck_{name}": value for name, value in given.items()}))


def test_the_command_is_the_one_that_was_typed_without_the_dry_run():
    typed = ["/bin/encheck", "run", "--json", "cost file.json", "-m", "a b", "--dry-run", "--json=x"]
    assert without_dry_run(typed, full=True) == "encheck run -m 'a b' --full"
    assert without_dry_run(["/bin/pytest", "--encheck-dry-run"], full=True) == "pytest"
    assert without_dry_run(["/opt/notebook"], full=False) == ""


def test_what_is_not_known_is_said():
    free = {"asked": 10, "distinct": 5, "to_compute": 5, "tokens": 50, "tokens_are_counted": True, "dollars": 0.0,
            "seconds": {"wall": 2.0, "processor": 3.0}, "sample": 5, "why_unknown": "", "model": "here"}  # fmt: skip
    far = {**free, "model": "far", "dollars": None, "seconds": None, "why_unknown": "it costs money", "sample": 0}
    paid = {**far, "model": "paid", "dollars": 12.5}
    cost = {"models": [free, far, paid], "seconds": {"load": {"wall": 1.0}, "total": {"wall": 3.0, "processor": 4.0}},
            "memory_bytes": 2e9, "store_bytes": 0, "report_bytes": 1e6, "clusters": 3, "of_clusters": 9,
            "notes": ["the decision of the gate"]}  # fmt: skip
    said = "\n".join(cost_lines(cost, command="encheck run"))
    for words in (
        "far was not asked, because it costs money: its speed is unknown.", "The price of far is unknown", "$12.50",
        "time: 3 s, and the encoding whose speed is unknown (load 1 s, encoding 2 s)", "memory: 2 GB at the peak",
        "from 3 of 9 clusters and 5 encoded texts", "Left out: the decision of the gate.", "Run it: encheck run",
    ):  # fmt: skip
        assert words in said


def test_the_python_function_has_no_results_of_a_dry_run():
    with pytest.raises(UsageError, match="no results to return"):
        encheck.run("bag-of-words", dry_run=True)


def test_a_gate_against_a_model_is_a_dry_run_of_both_models(monkeypatch):
    asked = []
    monkeypatch.setattr("encheck.cli.gate.run_checks", lambda args: asked.append([*args]) or 0)
    found = CliRunner().invoke(app, ["gate", "new", "--baseline=old", "--dry-run", "--inconclusive=pass", "-n", "2"])
    assert found.exit_code == 0
    assert asked == [["--model=new", "--model=old", "--dry-run", "-n", "2", "--weighed-only"]]

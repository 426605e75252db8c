"""A cross-encoder's own decision: what its trained head says by itself stands beside the chosen thresholds."""

import json

import pytest
from test_pair_scorers import classifier, cross_encoder, logits
from typer.testing import CliRunner

from encheck.cli import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("heads")


def test_only_a_head_of_two_classes_decides(folder):
    assert cross_encoder(classifier(folder / "two", labels=("LABEL_0", "LABEL_1"))).decision == 0.5
    assert cross_encoder(classifier(folder / "one")).decision == 0.5
    assert cross_encoder(classifier(folder / "regression", problem_type="regression")).decision is None
    nli = classifier(folder / "nli", labels=("contradiction", "entailment", "neutral"))
    assert cross_encoder(nli).decision is None


def test_the_decision_is_the_argmax(folder):
    two = classifier(folder / "argmax", labels=("LABEL_0", "LABEL_1"))
    model = cross_encoder(two)
    from test_pair_scorers import FIRST, SECOND

    said = model.score_pairs(FIRST, SECOND) >= model.decision
    assert said.tolist() == (logits(two).argmax(axis=1) == 1).tolist()


def test_a_run_reports_what_the_head_says(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = classifier(folder / "run", labels=("LABEL_0", "LABEL_1"))
    rows = [f"word{i} here,word{i} there,{i % 2}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("first,second,label\n" + "\n".join(rows) + "\n")
    args = ["run", "-m", "paraphrase", f"--model={two}", "--data=pairs:mine.csv", "--report-dir=out", "-q"]
    CliRunner().invoke(app, args)
    found = {r["metric"]: r for r in json.loads((tmp_path / "out/results.json").read_text())["checks"]}
    assert found["head_accuracy"]["params"] == {"folds": 0, "threshold": 0.5}
    assert 0 <= found["head_accuracy"]["value"] <= 1


def test_data_without_unrelated_pairs_have_raw_figures_for_pair_scorers_too(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = classifier(folder / "related", labels=("LABEL_0", "LABEL_1"))
    rows = [f"sentence {i} here,sentence {i} there,{i % 2}" for i in range(30)]
    (tmp_path / "mine.csv").write_text("first,second,label\n" + "\n".join(rows) + "\n")
    done = CliRunner().invoke(app, ["run", "-m", "paraphrase", f"--model={two}", "--data=pairs:mine.csv", "-q"])
    assert done.exit_code == 0
    assert "no two sentences without a shared content word" in done.output


def test_symmetry_asks_what_the_head_says(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = classifier(folder / "turned", labels=("LABEL_0", "LABEL_1"))
    rows = [f"word{i} here,word{i} there,{i % 2}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("first,second,label\n" + "\n".join(rows) + "\n")
    args = ["run", "-m", "symmetry", f"--model={two}", "--data=pairs:mine.csv", "--report-dir=out", "-q"]
    CliRunner().invoke(app, args)
    found = {r["metric"]: r for r in json.loads((tmp_path / "out/results.json").read_text())["checks"]}
    assert found["flip_rate"]["params"] == {"decided_by": "the model's head", "folds": 0, "threshold": 0.5}

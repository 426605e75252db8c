"""The recipe that trains with pooling over spans: rows of the paper, shares of the data, and one short training."""

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny

from encheck.encoders.load import find_or_make_model_config, load_model
from encheck.encoders.model_config import Device
from encheck.errors import DataError, UsageError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipes"))
import train_spans

RESULTS = {"test": {"f1": 0.5, "flips": 0.5, "n": 7}}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A file of labelled pairs of the tiny words."""
    folder = tmp_path_factory.mktemp("pairs")
    words = (*tiny.WORDS, *"abcdefghij")
    firsts = [f"{words[i % 17]} sings {words[i % 13]}" for i in range(80)]
    rows = [f"{one},{words[i % (17 if i % 2 else 11)]} {words[i % 5]},{i % 2}" for i, one in enumerate(firsts)]
    (folder / "own.csv").write_text("first,second,label\n" + "\n".join(rows) + "\n")
    return f"pairs:{folder}/own.csv"


def asked(own, *more):
    told = train_spans.arguments([f"--data={own}", "--seeds=1", "--out=unused", *more])
    return train_spans.trainings(told, train_spans.span_source(told))


def rows(one, name="mrpc@glue"):
    found = replace(one, parts=replace(one.parts, name=name)).values(RESULTS)
    assert all(row["paper"] == "002" and row["value"] == 50 and row["n"] == 7 for row in found)
    return {(row["table"], row["row"], row["column"]) for row in found}


def test_every_pooling_has_the_rows_of_the_paper(own):
    made = {one.pooling: rows(one) for one in asked(own)}
    assert made["pas"] == {
        ("T2", "PAS+SBERT", "MSRP"), ("T4", "PAS+SBERT", "MSRP"), ("F2", "PAS+SBERT, 100%", "MSRP")
    }  # fmt: skip
    assert made["mean"] == {("F2", "SBERT, 100%", "MSRP")}
    assert made["pas-without-mean"] == {("T4", "PAS only", "MSRP"), ("T6", "PAS", "MSRP")}
    assert {row for found in made.values() for table, row, _ in found if table == "T6"} == {
        "PAS", "continuous spans", "random spans", "Self-Explain"
    }  # fmt: skip
    (graph,) = asked(own, "--pooling=rgcn")
    assert "rgcn" not in made
    assert rows(graph, "mrpc") == {
        ("T2", "SBERT-RGCN", "MSRP"), ("S3", "SBERT-RGCN", "MSRP")
    }  # fmt: skip
    elsewhere = {table for one in asked(own) for table, *_ in rows(one, "twitter-url")}
    assert elsewhere == {"T2", "T4", "F2"}


def test_a_share_of_the_training_pairs_is_of_figure_2_alone(own):
    some, whole = asked(own, "--pooling=pas", "--share=0.3", "--share=1")
    assert rows(some) == {("F2", "PAS+SBERT, 30%", "MSRP")}
    assert len(some.sampled.train) == round(0.3 * len(whole.sampled.train))
    assert some.sampled.test == whole.sampled.test
    assert some.folder == "pairs/pas-30%-0"
    (drawn,) = asked(own, "--pooling=pas", "--pairs=20")
    assert len(drawn.sampled.train) == 20
    assert {table for table, *_ in rows(drawn)} == {"T2", "T4"}
    with pytest.raises(SystemExit):
        asked(own, "--share=0")


def test_the_mean_is_the_training_of_the_other_recipe(own, monkeypatch):
    done = []

    def note(folder, *_, **named):
        done.append((folder, named))
        return {}

    monkeypatch.setattr(train_spans.train_head, "fit_once", note)
    whole, some = asked(own, "--pooling=mean", "--share=1", "--share=0.5")
    with pytest.raises(KeyError):  # there are no figures to print
        train_spans.train_head.main([f"--data={own}", "--features=|u-v|,u*v", "--seeds=1", "--out=unused"])
    ((folder, theirs),) = done
    assert folder == Path("unused") / whole.folder
    assert theirs["settings"] == whole.settings
    assert theirs["choices"] == whole.choices
    assert some.folder == "pairs/mean-50%-0"
    assert some.settings["pooling"] == "mean"  # so that its figures are not taken for those of all pairs


def test_frames_that_are_wrong_stop_before_anything_is_trained(own, tmp_path):
    (tmp_path / "frames.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"frames\.jsonl:1: holds no sentence"):
        asked(own, f"--frames={tmp_path}/frames.jsonl")
    with pytest.raises(UsageError, match="--missing is for --frames"):
        asked(own, "--missing=parse")


@pytest.mark.parametrize("wrong", ["--pairs=0", "--seeds=0", "--batch=-1", "--threads=x", "--rate=0", "--epochs=nan"])
def test_a_number_that_cannot_be_is_refused_before_anything_is_trained(own, wrong, capsys):
    with pytest.raises(SystemExit):
        asked(own, wrong)
    assert wrong.partition("=")[2] in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.skipif(not importlib.util.find_spec("datasets"), reason="the trainer needs datasets")
@pytest.mark.filterwarnings("ignore")
def test_a_finished_training_is_a_model_and_is_not_done_again(own, tmp_path, caplog):
    said = []
    base = tiny.build(tmp_path / "tiny")
    told = [
        f"--data={own}", "--pooling=pas", "--seeds=1", f"--model={base}", f"--out={tmp_path}/out", "--epochs=1",
        "--rate=0.01",
    ]  # fmt: skip
    (first,) = train_spans.main(told, say=said.append)
    folder = tmp_path / "out/pairs/pas-0"
    assert "Could not load the best model" not in caplog.text
    assert first["dev"]["f1"] == first["training"]["dev_f1"]
    paper = json.loads((folder / "papers.json").read_text())
    assert paper["papers"][0]["value"] == 100 * first["test"]["f1"]
    assert paper["seed"] == 0
    model = load_model(find_or_make_model_config(str(folder), {}), device=Device("cpu"))
    pairs = asked(own, "--pooling=pas")[0].parts.test
    u, v = (model.encode([getattr(pair, side) for pair in pairs]) for side in ("first", "second"))
    positive = model.score_vectors(u, v) >= model.decision
    assert first["test"]["predicted"] == positive.sum()
    assert first["test"]["accuracy"] == np.mean(positive == [pair.label for pair in pairs])
    assert first["test"]["flips"] == 0
    written = (folder / "results.json").stat().st_mtime_ns
    assert train_spans.main(told, say=said.append) == [json.loads(json.dumps(first))]
    assert (folder / "results.json").stat().st_mtime_ns == written
    assert "| pairs | pas | 100% | 1 |" in said[-1]

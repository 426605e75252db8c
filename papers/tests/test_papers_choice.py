"""What a path is taken for, entries of the papers' models, and a run with one of them."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
import tiny_papers
from model_checks import check_detection
from typer.testing import CliRunner

from encheck.cli import app
from encheck.encoders.adapters import PAPER_ADAPTERS, find_adapter
from encheck.encoders.load import load_model, locate_weights
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import known_models
from encheck.errors import ModelError
from encheck.store import file_sha256

KINDS = {
    "doc2vec": ("doc2vec", "its name ends in .doc2vec"),
    "laser2": ("laser", "its name says laser and ends in .pt"),
    "infersent": ("infersent", "its name says infersent"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_path_is_taken_for_what_it_is_and_it_is_said_why(tmp_path, name):
    check_detection(tiny_papers.BUILDERS[name](tmp_path), *KINDS[name])


def test_encheck_knows_the_names_of_all_that_is_offered_here():
    assert all(map(find_adapter, PAPER_ADAPTERS))
    assert {entry.adapter for entry in known_models().values()} >= PAPER_ADAPTERS - {"pair-head"}


def test_files_that_are_not_there_are_named_with_where_they_can_be_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = known_models()["infersent"]
    assert locate_weights(entry) == (
        False,
        f"infersent1.pkl and glove.840B.300d.txt, from {entry.fetch}",
    )
    Path("infersent1.pkl").touch()
    assert locate_weights(entry)[1].startswith("glove.840B.300d.txt, from ")
    with pytest.raises(
        ModelError,
        match=r"laser: laser2.pt does not exist. It is available from https.* --model=laser --model-arg name=PATH",
    ):
        load_model(known_models()["laser"], device=Device("cpu"))


def test_files_that_options_name_are_held_to_their_hashes(tmp_path):
    made = tiny_papers.infersent(tmp_path)
    right = file_sha256(Path(made.options["vectors"]))
    assert load_model(dataclasses.replace(made, sha256={"vectors": right}), device=Device("cpu")).fingerprint()
    with pytest.raises(ModelError, match=rf"{made.options['vectors']} does not have the SHA-256 beef"):
        load_model(dataclasses.replace(made, sha256={"vectors": "beef"}), device=Device("cpu"))
    missing = {**made.options, "vectors": str(tmp_path / "nowhere.txt")}
    with pytest.raises(ModelError, match=r"nowhere.txt does not exist"):
        load_model(dataclasses.replace(made, sha256={"vectors": "beef"}, options=missing), device=Device("cpu"))


def test_doc2vec_is_trained_on_the_texts_of_the_run(torch_once, tmp_path, monkeypatch, some_probes):
    monkeypatch.chdir(tmp_path)
    asked = ("-m", "paraphrase", "--model=doc2vec", "--model-arg", "epochs=2", "--report-dir=out", "--no-store", "-q")
    done = CliRunner().invoke(app, ["run", *asked, f"--data={some_probes}"])
    assert done.exit_code in (0, 1), done.output
    (model,) = json.loads(Path("out/results.json").read_text())["models"]
    assert model["how"]["epochs"] == 2
    assert re.fullmatch(r"on the run's \d+ texts", model["how"]["trained"])

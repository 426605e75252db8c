"""A hub id is taken apart, and a model that is not in the cache is fetched at the revision that was asked for."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models

from encheck.encoders.hub import commit_from_cache_path
from encheck.encoders.load import detect_hub_adapter, find_or_make_model_config, load_model
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, known_models
from encheck.options import Settings
from encheck.running.resources import resolve_models
from encheck.store import Store

pytestmark = pytest.mark.xdist_group("encoders")


@pytest.mark.parametrize(
    ("given", "name", "revision"),
    [
        ("intfloat/e5-small-v2", "intfloat/e5-small-v2", None),
        ("intfloat/e5-small-v2@dca8b1a9", "intfloat/e5-small-v2", "dca8b1a9"),
        ("owner/name@refs/pr/3", "owner/name", "refs/pr/3"),
    ],
)
def test_a_hub_id_can_name_its_revision(given, name, revision):
    config = find_or_make_model_config(given, known_models())
    assert (config.name, config.revision) == (name, revision)


def test_the_default_model_is_pinned():
    assert len(known_models()["sbert"].revision) == 40


COMMIT = "a" * 40


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A cache of the hub that holds owner/name as some builder makes it."""

    def holding(build):
        made = Path(build(tmp_path / "made").name)
        snapshot = tmp_path / "hub" / "models--owner--name" / "snapshots" / COMMIT
        snapshot.parent.mkdir(parents=True)
        made.rename(snapshot)
        monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(snapshot))
        return snapshot

    (tmp_path / "made").mkdir()
    return holding


KINDS = {
    "transformers": "loaded as a transformers checkpoint: its config.json says bert, and it has no modules.json",
    "peft": "loaded as a PEFT adapter: it has adapter_config.json",
    "sentence-transformers": "",
}


@pytest.mark.parametrize(("kind", "said"), KINDS.items(), ids=KINDS)
def test_a_hub_id_without_an_entry_is_run_by_the_adapter_that_its_files_are_for(hub, kind, said):
    hub(tiny_models.BUILDERS[kind])
    found = detect_hub_adapter(find_or_make_model_config("owner/name", {}))
    assert found.adapter == kind
    assert found.description.startswith(said)
    assert np.isfinite(load_model(found, device=Device("cpu")).encode(["the dog"])).all()


def test_an_older_model2vec_on_the_hub_is_seen_by_its_configuration(hub):
    (hub(tiny_models.model2vec) / "modules.json").unlink()
    assert detect_hub_adapter(find_or_make_model_config("owner/name", {})).adapter == "model2vec"


def test_what_is_no_hub_id_is_left_as_it_is(tmp_path):
    given = [
        ModelConfig("a", name=str(tmp_path)),
        ModelConfig("b", adapter="my.own:Model"),
        ModelConfig("c", adapter="tei"),
    ]
    assert [detect_hub_adapter(config) for config in given] == given


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def test_a_model_that_nothing_pins_is_said_with_its_commit_which_stands_in_the_results(hub, store, caplog):
    hub(tiny_models.sentence_transformers)
    (subject,) = resolve_models(Settings(models=("owner/name",)), store).values()
    assert f"owner--name is not pinned: commit {COMMIT[:12]} of owner/name was used. To pin it: " in caplog.text
    assert f"--model=owner/name@{COMMIT}" in caplog.text
    assert subject.model.about()["revision"] == COMMIT


def test_a_model_that_is_pinned_is_taken_without_a_word(hub, store, caplog):
    hub(tiny_models.sentence_transformers)
    (subject,) = resolve_models(Settings(models=(f"owner/name@{COMMIT}",)), store).values()
    assert caplog.text == ""
    assert subject.model.about()["revision"] == COMMIT


def test_the_commit_of_a_folder_is_told_where_the_hub_keeps_it():
    assert commit_from_cache_path(Path("hub/models--a--b/snapshots") / COMMIT) == COMMIT
    assert commit_from_cache_path(Path("hub/models--a--b/snapshots/main")) is None
    assert commit_from_cache_path(Path("./folder")) is None

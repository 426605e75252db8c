"""The model that a checkpoint was trained from: which files name it, what is at hand, and its scores from the store."""

import json
from pathlib import Path

import numpy as np
import pytest
import tiny
from test_scoring_session import DATA, PAIRS

from encheck.encoders.load import find_base_model, list_base_model_names, load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.items.variants import VariantMaker
from encheck.options import Settings
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.parents import find_parent
from encheck.running.scoring_session import ScoringSession
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress

KNOWN = {"random": ModelConfig("random", adapter="encheck.encoders.fake:Random", name="owner/random")}


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("README.md", "---\nlanguage: en\nbase_model: owner/base\n---\nText", [("owner/base", "README.md")]),
        ("README.md", '---\nbase_model:\n- "./base"\n- other\n---\n', [("./base", "README.md")]),
        ("README.md", "base_model: not in the head", []),
        ("README.md", b"\xff", []),
        ("config.json", json.dumps({"_name_or_path": "../base"}), [("../base", "config.json")]),
        ("config.json", json.dumps({"_name_or_path": 3}), []),
        ("config.json", "[", []),
        ("adapter_config.json", json.dumps({"base_model_name_or_path": "b"}), [("b", "adapter_config.json")]),
    ],
)
def test_the_card_and_the_configurations_name_a_parent(tmp_path, file, text, found):
    (tmp_path / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert list(list_base_model_names(tmp_path)) == found


@pytest.mark.parametrize(
    ("name", "label"),
    [("../base", "base"), ("owner/random", "random"), ("random", "random"), (".", None), ("no", None)],
)
def test_a_parent_is_a_folder_or_an_entry_that_is_at_hand(tmp_path, name, label):
    for folder in ("base", "child"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps({"_name_or_path": name}))
    found = find_base_model(tmp_path / "child", KNOWN)
    assert (found and (found[0], found[2])) == (label and (label, "config.json"))


def test_its_scores_come_from_the_store_and_it_is_never_loaded(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    base, child = (tiny.build(tmp_path / name, seed=seed) for seed, name in enumerate(("base", "child")))
    (child / "README.md").write_text(f"---\nbase_model: {base}\n---\n")

    def measured(folder):
        config = ModelConfig("m", name=str(folder))
        subjects = {"m": ModelUnderTest("m", config, load_model(config, device=Device()))}
        session = ScoringSession(subjects, {"demo": DATA}, store, maker=VariantMaker(0, None))
        session.prepare([("m", "demo", PAIRS, "own")], locks=no_locks, progress=Progress(quiet=True))
        return session, session.items("demo", PAIRS, "own")

    session, items = measured(child)
    asked = (session.subjects["m"], Settings(root=tmp_path), store, session.scorer)
    absent = find_parent(*asked)
    assert (absent.label, absent.named_by, absent.scores("demo", items)) == (Path(base).name, "README.md", None)
    other, _ = measured(base)
    monkeypatch.setattr("encheck.encoders.base.LocalEncoder.batches", None)
    there = find_parent(*asked)
    mine, theirs = there.scores("demo", items), other.scores("m", "demo", items)
    np.testing.assert_allclose(mine.values, theirs.values)
    assert mine.scale == theirs.scale
    assert there.with_scales(["demo"]).scales["demo"].reference == theirs.scale.reference
    assert there.weights == absent.weights is not None
    store.close()

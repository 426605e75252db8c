"""Mean and standard error over seeds, as numpy and scipy have them; what cannot be seeds of one training is refused."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from safetensors.numpy import save_file
from test_compare import CLAIM, write_run
from typer.testing import CliRunner

import encheck
from encheck.cli import app
from encheck.comparing.seeds import compare_seeds
from encheck.encoders.files import hash_architecture, hash_weights
from encheck.reporting.results import read_items, read_results, write_items, write_results
from encheck.scoring.frame import RunItems, item_table

VALUES = (0.61, 0.64, 0.58)


def near_of(seed, *, wins=0.7, of=60):
    """Scores of a checkpoint that wins this share of the items, more or less."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(of) < wins, 0.5 + 0.4 * rng.random(of), 0.1 + 0.4 * rng.random(of))


def changed(folder, **about):
    """The run with something else recorded of its model."""
    found = read_results(folder)
    write_results(folder, replace(found, models=(replace(found.models[0], **about),)))
    return folder


def seed_run(folder, seed, *, value=0.6, near=None, **about):
    made = write_run(folder, near_of(seed) if near is None else near, value=value)
    recorded = {"dimension": 384, "weights": f"w{seed}", "architecture": "a", "how": {"pooling": "mean"}}
    return changed(made, fingerprint=f"f{seed}", **(recorded | about))


@pytest.fixture
def folders(tmp_path):
    return [seed_run(tmp_path / f"seed-{i}", i, value=value) for i, value in enumerate(VALUES)]


def across(*folders):
    """Exit code and output of the command, on one line."""
    done = CliRunner().invoke(app, ["compare", "--across-seeds", *map(str, folders)])
    return done.exit_code, " ".join(done.output.split())


def test_mean_and_error_agree_with_scipy(folders):
    (found,) = compare_seeds(folders).spreads
    assert found.mean == pytest.approx(np.mean(VALUES))
    assert found.error == pytest.approx(scipy.stats.sem(VALUES))
    assert (found.least, found.greatest, found.k) == (0.58, 0.64, 3)


def test_the_command_prints_them(folders):
    status, said = across(*folders)
    assert (status, "0.6100 \u00b1 0.0173" in said) == (0, True)


def test_one_model_has_no_spread(folders):
    status, said = across(folders[0])
    assert status == 4
    assert "give the runs of several seeds" in said


def test_a_model_counts_once(folders):
    again = shutil.copytree(folders[0], folders[0].with_name("again"))
    status, said = across(folders[0], again, folders[1])
    assert status == 4
    assert f"m of {again} is m of {folders[0]} again" in said


def test_other_data_of_the_same_name_are_refused(folders):
    found = read_results(folders[1])
    write_results(folders[1], replace(found, data=(replace(found.data[0], fingerprint="g"),)))
    status, said = across(*folders)
    assert status == 4
    assert f"d is one data set in {folders[0]} and another in {folders[1]} (fingerprints f and g)" in said


@pytest.mark.parametrize(
    ("about", "what"),
    [
        ({"architecture": "b"}, "architecture or vocabulary"),
        ({"dimension": 768}, "dimension (384 and 768)"),
        ({"adapter": "onnx"}, "adapter ('a' and 'onnx')"),
        ({"kind": "pair"}, "vectors or scores of pairs"),
        ({"prompt": "query: "}, "prompt (None and 'query: ')"),
        ({"how": {"pooling": "cls"}}, "pooling ('mean' and 'cls')"),
    ],
)
def test_models_that_are_built_or_used_otherwise_are_no_seeds_of_one(folders, about, what):
    changed(folders[2], **about)
    status, said = across(*folders)
    assert status == 4
    assert f"m of {folders[2]} is not m of {folders[0]} with another seed: they differ in {what}" in said
    assert "encheck compare without --across-seeds" in said


def test_the_same_weights_under_another_fingerprint_count_once(folders):
    changed(folders[2], weights="w1")
    status, said = across(*folders)
    assert status == 4
    assert f"m of {folders[2]} has the weights of m of {folders[1]}: it is that checkpoint again" in said


def test_a_copy_in_another_precision_is_that_checkpoint_again(tmp_path, folders):
    copy = seed_run(tmp_path / "half", 7, near=near_of(0).astype(np.float16).astype(float))
    status, said = across(*folders, copy)
    assert status == 4
    assert f"m of {copy} gives the same scores as m of {folders[0]} up to rounding" in said


def with_more_checks(folder):
    """The run with the same scores once more under other properties, each of which is a gate row."""
    items, results = dict(read_items(folder)), read_results(folder)
    ((case, frame),), (row,) = items.items(), results.checks
    rows = [row]
    for name in ("negation", "number", "entity", "modality", "quantifier", "roles", "temporal"):
        other = case.replace(CLAIM, f"{name}_is_told")
        items[other] = replace(frame, case=other)
        rows.append(replace(row, id=f"{other}/margin_rate", check=f"{name}_is_told", property=name))
    write_items(folder, RunItems.from_tables(map(item_table, items.values())))
    write_results(folder, replace(results, checks=tuple(rows)))
    return folder


def test_a_model_that_is_worse_in_every_row_is_not_another_seed(tmp_path):
    """The same architecture, noised: its rows fall together, and those of seeds go up and down."""
    start = near_of(0, wins=0.9, of=400)
    lost = np.where(np.arange(400) % 5 == 0, 0.1, start)
    runs = [with_more_checks(seed_run(tmp_path / name, i, near=near))
            for i, (name, near) in enumerate([("good", start), ("noised", lost)])]  # fmt: skip
    status, said = across(*runs)
    assert status == 4
    assert f"these are not seeds of one model. m of {runs[1]}: the gate rows lose" in said


def test_a_run_without_items_is_refused(folders):
    (folders[1] / "items.parquet").unlink()
    status, said = across(*folders)
    assert status == 4
    assert "which shows item by item whether models differ only in the seed" in said


@pytest.mark.long
def test_two_encoders_are_not_averaged(number_probes, tmp_path):
    """Through whole runs: what a run records of a model is enough."""
    for name in ("bag-of-words", "random"):
        encheck.run(name, data=number_probes, checks="number", report_dir=tmp_path / name)
    status, said = across(tmp_path / "bag-of-words", tmp_path / "random")
    assert status == 4
    assert "they differ in adapter" in said


def test_checkpoints_of_the_same_shapes_and_words_have_one_architecture(tmp_path):
    """Whatever training left in their other files; another vocabulary, or another layer, is another model."""

    def checkpoint(name, *, layers=1, words=("a", "b"), **more):
        folder = tmp_path / name
        folder.mkdir()
        rng = np.random.default_rng(len(name))
        save_file({str(i): rng.random((2, 3)) for i in range(layers)}, folder / "model.safetensors")
        (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": words}, **more}))
        return SimpleNamespace(fingerprint_files=lambda: {path.name: path for path in folder.iterdir()})

    def file_hash(path, of):
        return of(path)

    models = [checkpoint("1"), checkpoint("22", truncation={"max_length": 8}), checkpoint("3", words=("a", "c")),
              checkpoint("4", layers=2)]  # fmt: skip
    first, seed, *others = (hash_architecture(model, file_hash) for model in models)
    assert first == seed
    assert len({first, *others}) == 3
    assert hash_weights(models[0], file_hash) != hash_weights(models[1], file_hash)

"""A baseline folder: what it holds, what it leaves out, and what is said of a broken one."""

import json

import numpy as np
import pyarrow.parquet
import pytest
from gate_fakes import CASE, columns, results, scores

from encheck.errors import BaselineError
from encheck.gating.baseline import read, save, shown_name, tables_of
from encheck.gating.types import Noise

NOISE = Noise(0.25, {"antonym/d/1": 0.5})


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "base")
    return tmp_path / "base"


def write(folder, **more):
    found = results(name="/home/me/checkpoints/five", **more)
    found["checks"][0]["reason"] = "/home/me/checkpoints/five is what failed"
    items = {f"{CASE}/m-d-1": columns(*scores())}
    save(folder, found, tables_of(found, items, "m"), model="m", seed_noise=NOISE)


def change(folder, **fields):
    path = folder / "baseline.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | fields), "utf-8")


def test_what_was_saved_is_read_again(folder):
    found = read(folder)
    (table,) = found.tables.values()
    near, far = scores()
    assert (table.case, table.kind, table.capability) == (f"{CASE}/d/1", "triplet", "antonym/d/1")
    np.testing.assert_allclose(table.near, near, atol=1e-7)
    np.testing.assert_allclose(table.far, far, atol=1e-7)
    assert found.seed_noise == NOISE


def test_no_sentence_path_or_host_name_is_in_it(folder):
    text = (folder / "baseline.json").read_text("utf-8")
    table = pyarrow.parquet.read_table(folder / "items.parquet")
    assert "/home/me" not in text
    assert not any("source 1" in str(value) for column in table.to_pydict().values() for value in column)


def test_clusters_are_kept_as_hashes(tmp_path):
    items = {f"{CASE}/m-d-1": columns(*scores(), clusters=["https://example.org/thread"] * 400)}
    save(tmp_path / "base", results(), tables_of(results(), items, "m"), model="m")
    clusters = set(pyarrow.parquet.read_table(tmp_path / "base/items.parquet")["cluster"].to_pylist())
    assert len(clusters) == 1
    assert not any("example" in name for name in clusters)


def test_two_saves_of_one_run_are_the_same_files(folder, tmp_path):
    write(tmp_path / "again")
    assert all(
        (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
        for name in ("baseline.json", "items.parquet")
    )


def test_an_older_baseline_is_replaced(folder):
    write(folder)
    assert read(folder).tables


def test_a_folder_with_other_files_is_left_alone(folder):
    (folder / "weights.bin").write_text("x")
    with pytest.raises(BaselineError, match="holds other files"):
        write(folder)


def test_a_run_that_measured_nothing_is_no_baseline(tmp_path):
    with pytest.raises(BaselineError, match="nothing of m was measured"):
        save(tmp_path / "new", results(), {}, model="m")


def test_a_missing_folder_is_no_baseline(tmp_path):
    with pytest.raises(BaselineError, match=r"is no baseline: baseline\.json cannot be read"):
        read(tmp_path / "nowhere")


def test_a_half_written_baseline_is_refused(folder):
    (folder / "items.parquet").unlink()
    with pytest.raises(BaselineError, match="half of a baseline"):
        read(folder)


def test_a_summary_that_was_cut_off_is_refused(folder):
    path = folder / "baseline.json"
    path.write_text(path.read_text("utf-8")[:100], "utf-8")
    with pytest.raises(BaselineError, match="was cut off"):
        read(folder)


def test_an_edited_summary_is_refused(folder):
    change(folder, seed_noise=5.0)
    with pytest.raises(BaselineError, match="edited by hand"):
        read(folder)


def test_changed_items_are_refused(folder):
    other = pyarrow.parquet.read_table(folder / "items.parquet").slice(1)
    pyarrow.parquet.write_table(other, folder / "items.parquet")
    with pytest.raises(BaselineError, match="it was changed"):
        read(folder)


def test_a_baseline_of_a_newer_version_says_which_encheck_made_it(folder):
    change(folder, encheck_baseline=2)
    with pytest.raises(BaselineError, match=r"newer baseline version 2, but this encheck reads 1: install the encheck"):
        read(folder)


@pytest.mark.parametrize("text", ["[]", "{}", "", "null"])
def test_what_is_no_summary_is_refused(folder, text):
    (folder / "baseline.json").write_text(text, "utf-8")
    with pytest.raises(BaselineError, match="no summary of --save-baseline"):
        read(folder)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("http://embed.corp:8080/v1", "tei"),
        ("/srv/models/ckpt-5", "ckpt-5"),
        ("owner/name", "owner/name"),
        ("sbert", "sbert"),
    ],
)
def test_neither_folder_nor_host_of_a_model_is_kept(name, shown):
    assert shown_name(name, "tei") == shown

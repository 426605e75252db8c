"""A baseline folder: what it holds, what it leaves out, and what is said of a broken one."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import product
from unittest import mock

import numpy as np
import pyarrow.parquet
import pytest
from faults import Killed, failing, steps
from gate_fakes import CASE, frame, given, results, scores
from recorded import run_file

from encheck.errors import BaselineError
from encheck.gating.baseline import (
    SavedScores,
    model_tables,
    name_without_folders,
    read_baseline,
    refuse_baseline_folder,
    save_baseline,
)
from encheck.gating.comparison import baseline_scores, gate_against_baseline, run_scores
from encheck.gating.types import TOLERANCE, Noise
from encheck.run_file import BaselineFigure
from encheck.system import files

NOISE = Noise(0.25, {"antonym/d/1": 0.5}, replicates=3)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "base")
    return tmp_path / "base"


def write(folder, **more):
    found = given(name="/home/me/checkpoints/five", **more)
    found["checks"][0]["reason"] = "/home/me/checkpoints/five is what failed"
    found = run_file(found)
    items = {f"{CASE}/m-d-1": frame(*scores())}
    save_baseline(folder, found, model_tables(found, items, "m"), model="m", seed_noise=NOISE)


def change(folder, **fields):
    path = folder / "baseline.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | fields), "utf-8")


def test_other_splits_or_labels_are_seen():
    tables = [
        run_scores(results(), {f"{CASE}/m-d-1": frame(*scores(), **how)}, "m").tables[f"{CASE}/d/1"]
        for how in ({}, {"split": "dev"}, {"split": "gate"}, {"label": 1})
    ]
    for (i, before), (k, now) in product(enumerate(tables), repeat=2):
        assert SavedScores.of(before).has_same_splits(now) is (i == k)


def test_what_was_saved_is_read_again(folder):
    found = read_baseline(folder)
    run = run_scores(results(), {f"{CASE}/m-d-1": frame(*scores())}, "m")
    (table,) = baseline_scores(found, run).tables.values()
    near, far = scores()
    assert (table.case, table.kind, table.gate_row) == (f"{CASE}/d/1", "triplet", "antonym/d/1")
    assert table.items == run.tables[table.case].items
    np.testing.assert_allclose(table.near, near, rtol=0, atol=TOLERANCE / 10)
    np.testing.assert_allclose(table.far, far, rtol=0, atol=TOLERANCE / 10)
    assert found.figure(table.case, "margin_rate") == BaselineFigure(0.9, 0.8, 1.0, 400)
    assert found.figure(table.case, "no_such_figure") is None
    assert found.seed_noise == NOISE


@pytest.mark.parametrize("count", [None, 2])
def test_the_noise_of_too_few_replicates_is_not_used_and_a_note_says_so(tmp_path, count):
    found, items = results(), {f"{CASE}/m-d-1": frame(*scores())}
    noise = replace(NOISE, replicates=count)
    save_baseline(tmp_path / "base", found, model_tables(found, items, "m"), model="m", seed_noise=noise)
    weighed = gate_against_baseline(read_baseline(tmp_path / "base"), found, items, model="m")
    assert (read_baseline(tmp_path / "base").seed_noise, weighed.decision.rows[0].widened) == (None, 1)
    assert weighed.decision.notes[0].startswith(
        "its seed noise is not used: it was not measured on 3 seed replicates or more."
    )


def test_no_sentence_path_or_host_name_is_in_it(folder):
    text = (folder / "baseline.json").read_text("utf-8")
    table = pyarrow.parquet.read_table(folder / "items.parquet")
    assert "/home/me" not in text
    assert not any("source 1" in str(value) for column in table.to_pydict().values() for value in column)
    assert table.column_names == ["case", "key", "near", "far"]


def test_a_score_that_six_decimals_cannot_keep_is_refused_before_anything_is_written(tmp_path):
    for wrong, said in ((1e12, "1e\\+12"), (float("inf"), "inf"), (float("nan"), "nan")):
        items = {f"{CASE}/m-d-1": frame([wrong, 0.5], [0.5, 0.5])}
        with pytest.raises(BaselineError, match=f"{CASE}/d/1 has the score {said}, but a baseline keeps"):
            save_baseline(tmp_path / "base", results(), model_tables(results(), items, "m"), model="m")
    assert not (tmp_path / "base").exists()


def test_two_saves_of_one_run_are_the_same_files(folder, tmp_path):
    write(tmp_path / "again")
    assert all(
        (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
        for name in ("baseline.json", "items.parquet")
    )


def test_an_older_baseline_is_replaced(folder):
    write(folder)
    assert read_baseline(folder).cases


def test_a_folder_with_other_files_is_left_alone(folder):
    (folder / "weights.bin").write_text("x")
    with pytest.raises(BaselineError, match="has files that do not belong"):
        write(folder)


def test_a_run_that_measured_nothing_is_no_baseline(tmp_path):
    with pytest.raises(BaselineError, match="nothing was measured for m"):
        save_baseline(tmp_path / "new", results(), {}, model="m")


def test_a_missing_folder_is_no_baseline(tmp_path):
    with pytest.raises(BaselineError, match=r"is not a baseline: baseline\.json cannot be read"):
        read_baseline(tmp_path / "nowhere")


def test_a_half_written_baseline_is_refused(folder):
    (folder / "items.parquet").unlink()
    with pytest.raises(BaselineError, match="an incomplete baseline"):
        read_baseline(folder)


def test_a_summary_that_was_cut_off_is_refused(folder):
    path = folder / "baseline.json"
    path.write_text(path.read_text("utf-8")[:100], "utf-8")
    with pytest.raises(BaselineError, match="is truncated"):
        read_baseline(folder)


def test_an_edited_summary_is_refused(folder):
    change(folder, seed_noise=5.0)
    with pytest.raises(BaselineError, match="edited by hand"):
        read_baseline(folder)


def test_changed_items_are_refused(folder):
    other = pyarrow.parquet.read_table(folder / "items.parquet").slice(1)
    pyarrow.parquet.write_table(other, folder / "items.parquet")
    with pytest.raises(BaselineError, match="was changed after it was saved"):
        read_baseline(folder)


@pytest.mark.parametrize("version", [3, 5])
def test_a_baseline_of_another_version_says_which_encheck_made_it(folder, version):
    change(folder, encheck_baseline=version)
    with pytest.raises(BaselineError, match=rf"version {version}, but this encheck reads version 4: make"):
        read_baseline(folder)


@pytest.mark.parametrize("text", ["[]", "{}", "", "null"])
def test_what_is_no_summary_is_refused(folder, text):
    (folder / "baseline.json").write_text(text, "utf-8")
    with pytest.raises(BaselineError, match="was not written by --save-baseline"):
        read_baseline(folder)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("http://embed.corp:8080/v1", "tei"),
        ("/srv/models/ckpt-5", "ckpt-5"),
        ("./ckpt-5", "ckpt-5"),
        ("~/ckpt-5", "ckpt-5"),
        ("models/mine/ckpt-5", "ckpt-5"),
        ("owner/name", "owner/name"),
        ("sbert", "sbert"),
    ],
)
def test_neither_folder_nor_host_of_a_model_is_kept(name, shown):
    assert name_without_folders(name, "tei") == shown


def changed(folder):
    """Save other scores over the baseline."""
    found, items = results(), {f"{CASE}/m-d-1": frame(*scores(wins=0.5))}
    save_baseline(folder, found, model_tables(found, items, "m"), model="m")


def told(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def both(folder, tmp_path):
    changed(tmp_path / "other")
    return told(folder), told(tmp_path / "other")


def read_whole(folder, both):
    """Which of the two baselines is read from the folder: all of it, and from then on under its own names."""
    share = np.mean([kept.near > kept.far for kept in read_baseline(folder).cases.values()])
    found = told(folder)
    which = both.index({name: found[name] for name in ("baseline.json", "items.parquet")})
    assert share == pytest.approx((0.9, 0.5)[which])
    return which


def put_back(folder, files_of):
    shutil.rmtree(folder)
    folder.mkdir()
    for name, data in files_of.items():
        (folder / name).write_bytes(data)


def test_a_save_that_is_killed_at_any_step_leaves_the_old_baseline_or_the_new_one(folder, both):
    found = []
    for error in steps(lambda: changed(folder), between=lambda: put_back(folder, both[0])):
        assert isinstance(error, Killed)
        found.append(read_whole(folder, both))
        changed(folder)
        assert told(folder) == both[1]
    assert found == sorted(found)
    assert set(found) == {0, 1}


def test_a_first_save_that_is_killed_at_any_step_can_be_made_again(tmp_path, both):
    folder, is_read = tmp_path / "new", []
    for _ in steps(lambda: changed(folder), between=lambda: shutil.rmtree(folder, ignore_errors=True)):
        try:
            is_read.append(bool(read_baseline(folder).cases))
        except BaselineError:
            is_read.append(False)
        refuse_baseline_folder(folder)
        changed(folder)
        assert told(folder) == both[1]
    assert is_read == sorted(is_read)
    assert set(is_read) == {False, True}


def test_a_disk_that_is_full_at_any_write_leaves_the_old_baseline_and_says_which_file(folder, both):
    for error in steps(lambda: changed(folder), full=True):
        assert isinstance(error, BaselineError)
        assert re.search(
            r"in \S+base: (items\.parquet|baseline\.json): No space left on device\. Make room", str(error)
        )
        assert told(folder) == both[0]
    assert told(folder) == both[1]


def test_a_save_that_is_interrupted_between_its_two_names_is_finished(folder, both, monkeypatch):
    real = files.move_into_place

    def put(path, to):
        real(path, to)
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "move_into_place", put)
    with pytest.raises(KeyboardInterrupt):
        changed(folder)
    monkeypatch.undo()
    assert read_whole(folder, both) == 1


DIES = """
import os, signal, sys
sys.path += sys.argv[2].split(os.pathsep)
from pathlib import Path
from encheck.system import files
from test_baseline import changed

real = files.move_into_place
def put(path, to):
    real(path, to)
    os.kill(os.getpid(), signal.SIGKILL)
files.move_into_place = put
changed(Path(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_what_a_killed_process_left_is_read_from_a_folder_that_may_not_be_written_and_mended_later(folder, both):
    process = subprocess.run([sys.executable, "-c", DIES, str(folder), os.pathsep.join(sys.path)], check=False)
    assert process.returncode == -signal.SIGKILL
    found = told(folder)
    assert len(found) == 3
    assert found["baseline.json"] == both[1]["baseline.json"]
    assert found["items.parquet"] == both[0]["items.parquet"]
    with failing(0), pytest.raises(Killed):
        read_baseline(folder)  # it would mend
    with failing(0, full=True), mock.patch.object(files, "lock_folder", side_effect=PermissionError):
        assert read_baseline(folder).cases
    assert told(folder) == found
    assert read_whole(folder, both) == 1
    assert told(folder) == both[1]


@pytest.mark.parametrize("text", ["[1]", '{"mine": 1}'])
def test_a_file_of_others_with_the_name_of_a_summary_is_left_as_it_is(folder, text):
    (folder / "baseline.json").write_text(text)
    for attempt in (refuse_baseline_folder, write):
        with pytest.raises(BaselineError, match=r"baseline.json does not belong to a baseline\. Name a new"):
            attempt(folder)
    assert (folder / "baseline.json").read_text() == text


def test_what_older_versions_left_is_swept_and_a_users_files_are_not(folder):
    (folder / ".baseline.json.4711").write_text("half")
    (folder / "README.md").write_text("mine")
    refuse_baseline_folder(folder)
    write(folder)
    assert sorted(told(folder)) == ["README.md", "baseline.json", "items.parquet"]
    for name in (".encheck-partial-notes", ".baseline.json.bak", ".items.parquet.4711.txt"):
        (folder / name).write_text("mine")
        with pytest.raises(
            BaselineError, match=f"has files that do not belong to a baseline: {re.escape(name)}. Name a new"
        ):
            write(folder)
        assert (folder / name).read_text() == "mine"
        (folder / name).unlink()


def test_of_many_files_in_the_way_three_are_named(folder):
    for name in "dbeac":
        (folder / name).mkdir()
    with pytest.raises(BaselineError, match=r": a, b, c and 2 more\."):
        write(folder)


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path):
    (tmp_path / "base").write_text("")
    with pytest.raises(BaselineError, match="base is a file, but a baseline is a folder"):
        refuse_baseline_folder(tmp_path / "base")


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked there")
def test_two_saves_at_once_wait_for_each_other(folder, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    with files.lock_folder(folder), pytest.raises(BaselineError, match="another process is writing there"):
        changed(folder)
    changed(folder)

"""Files are written whole or not at all: exports, reports."""

import os
import stat
from pathlib import Path

import pytest
from faults import Killed, steps
from test_reporting import results, row

from encheck.errors import UsageError
from encheck.reporting.formats import export_run
from encheck.reporting.results import write_named
from encheck.system import files


def left(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(files.PARTIAL)]


def test_a_file_whose_writing_is_killed_is_the_old_one_or_the_new_one(tmp_path):
    path = tmp_path / "page.html"
    files.write_text(path, "old")
    for error in steps(lambda: files.write_text(path, "new")):
        assert isinstance(error, Killed)
        assert path.read_text("utf-8") in ("old", "new")
    assert path.read_text("utf-8") == "new"
    assert left(tmp_path) == []


def test_a_full_disk_leaves_an_older_file_as_it_was(tmp_path):
    path = tmp_path / "page.html"
    files.write_text(path, "old")
    for error in steps(lambda: write_named(path, "new"), full=True):
        assert isinstance(error, UsageError)
        assert "page.html: No space left on device" in str(error)
        assert (path.read_text("utf-8"), left(tmp_path)) == ("old", [])


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_an_export_is_whole_or_the_older_one(tmp_path, name):
    export_run(results(row()), tmp_path, formats=[name])
    (before,) = (path.read_bytes() for path in tmp_path.iterdir())
    for error in steps(lambda: export_run(results(row(value=0.2)), tmp_path, formats=[name]), full=True):
        assert f"a writable folder: figures.{name}: No space left on device" in str(error)
        assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]
    assert [path.read_bytes() for path in tmp_path.iterdir()] != [before]


def test_what_is_renamed_is_on_the_disk_before(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda number: done.append(stat.S_ISDIR(os.fstat(number).st_mode)))
    real = files.move_into_place
    monkeypatch.setattr(files, "move_into_place", lambda *both: (done.append("renamed"), real(*both)))
    files.write_text(tmp_path / "a", "text")
    assert done == [False, "renamed", True]


def test_what_is_left_of_another_file_is_not_swept(tmp_path):
    """It may be being written: several processes write into one folder."""
    other, own = (files.partial_path(tmp_path / name) for name in ("other.csv", "own.csv"))
    other.touch()
    own.touch()
    files.write_text(tmp_path / "own.csv", "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([other.name, "own.csv"])


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "page.html").symlink_to(tmp_path / "real/page.html")
    files.write_text(tmp_path / "page.html", "text")
    assert (tmp_path / "page.html").is_symlink()
    assert (tmp_path / "real/page.html").read_text("utf-8") == "text"


@pytest.mark.skipif(os.name == "nt", reason="no such device")
def test_a_device_is_written_straight():
    files.write_text(Path("/dev/null"), "text")
    assert not Path("/dev/null").is_file()
    with pytest.raises(UsageError, match="No space left on device"):
        write_named(Path("/dev/full"), "text")


def test_files_have_the_rights_that_the_user_gives_new_ones(tmp_path):
    (tmp_path / "plain").touch()
    files.write_text(tmp_path / "ours", "text")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode

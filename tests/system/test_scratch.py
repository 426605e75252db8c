"""Folders that are thrown away."""

import os
import tempfile
from pathlib import Path

from encheck.system.files import ALIVE, OLD, Scratch


def test_what_a_killed_process_left_is_removed_and_what_lives_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Scratch() as lives:
        left, fresh, foreign, trap = (tmp_path / f"encheck-{name}" for name in ("left", "fresh", "foreign", "trap"))
        (tmp_path / "mine.txt").write_text("mine")
        for folder in (left, fresh, foreign, trap):
            folder.mkdir()
            (folder / "store.sqlite").touch()
        for folder in (left, fresh):
            (folder / ALIVE).touch()
        (trap / ALIVE).symlink_to(tmp_path / "mine.txt")
        for folder in (left, foreign, trap, tmp_path / lives):
            os.utime(folder, (0, folder.stat().st_mtime - 2 * OLD))
        with Scratch() as mine:
            assert {path.name for path in tmp_path.iterdir()} == {
                Path(lives).name, Path(mine).name, "encheck-fresh", "encheck-foreign", "encheck-trap", "mine.txt",
            }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {
        "encheck-fresh",
        "encheck-foreign",
        "encheck-trap",
        "mine.txt",
    }
    assert (tmp_path / "mine.txt").read_text() == "mine"

"""What ends the command from outside: a full disk behind its output, and a working folder that is gone."""

import subprocess
import sys
from pathlib import Path

import pytest

ENCHECK = [sys.executable, "-m", "encheck"]


def test_output_that_cannot_be_written_is_one_message_and_changes_no_exit_code():
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run([*ENCHECK, "models"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 0
    assert ran.stderr == "encheck: standard output cannot be written: No space left on device\n"


def test_a_working_folder_that_is_gone_is_one_message(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); from encheck.cli import main; main(['models'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert ran.stderr == "ERROR: the working folder is gone. Remedy: cd to one that is there\n"


def test_an_unknown_option_before_the_command_is_wrong_use():
    assert subprocess.run([*ENCHECK, "--nonsense"], capture_output=True, check=False).returncode == 4


@pytest.mark.parametrize("command", ["compare a b", "export a --to page", "export a --to card"])
def test_no_page_and_no_picture_is_written_over_data(tmp_path, command):
    data = tmp_path / "data.csv"
    data.write_text("mine", "utf-8")
    ran = subprocess.run([*ENCHECK, *command.split(), "--out", str(data)], capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert "data.csv is there, and its name ends in none of" in ran.stderr
    assert data.read_text("utf-8") == "mine"

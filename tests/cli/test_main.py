"""What ends the command from outside: a signal, a full disk behind its output, and a working folder that is gone."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from encheck.cli import app

ENCHECK = [sys.executable, "-m", "encheck"]


def test_output_that_cannot_be_written_is_one_message_and_changes_no_exit_code():
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run([*ENCHECK, "models"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 0
    assert ran.stderr == "encheck: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_that_is_closed_changes_no_exit_code_and_harms_no_file(tmp_path, closed):
    """As where a service manager starts the command."""
    (tmp_path / "rows.jsonl").write_text('{"text": "a", "vector": [1.0, 0.0]}\n', "utf-8")
    command = shlex.join([*ENCHECK, "index", "jaccard", "vectors:rows.jsonl"])
    shell = ["sh", "-c", f"{command} {closed}"]
    ran = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 4, ran.stderr
    assert ran.stderr.count("\n") == (closed == ">&-")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_working_folder_that_is_gone_is_one_message(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); from encheck.cli import main; main(['models'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert ran.stderr == "ERROR: the working directory is gone. Remedy: cd to one that exists\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", ["numpy", "encheck.cli.shared", "encheck.encoders.hub"])
def test_a_signal_while_modules_are_imported_is_one_message(number, place):
    """The first two come before the command, the last one within it."""
    code = (
        "import builtins, os, signal\n"
        "known = builtins.__import__\n"
        "def importing(name, *args, **how):\n"
        f"    if name == {place!r}:\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "    return known(name, *args, **how)\n"
        "builtins.__import__ = importing\n"
        "from encheck.cli import main\n"
        "main(['models'])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, preexec_fn=heeding)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "encheck: interrupted\n")


def heeding():
    """What a shell starts in the background, these tests too, would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_unknown_option_before_the_command_is_wrong_use():
    assert subprocess.run([*ENCHECK, "--nonsense"], capture_output=True, check=False).returncode == 4


OTHER, READ = "exists, and its name does not end in", "would overwrite what this command reads"
OVER_DATA = [
    ("compare a b --out FILE", OTHER),
    ("compare a b --json FILE", OTHER),
    ("export a --to page --out FILE", OTHER),
    ("export a --to card --out FILE", OTHER),
    ("same sbert jaccard --page FILE", OTHER),
    ("same sbert jaccard --json FILE", OTHER),
    ("data pairs:FILE --against probes --json FILE", OTHER),
    ("index sbert vectors:FILE --json FILE", OTHER),
    ("index sbert vectors:FILE --out FILE", READ),
    ("index sbert vectors:a.npy --texts FILE --out FILE", READ),
]


@pytest.mark.parametrize(("command", "said"), OVER_DATA)
def test_nothing_is_written_over_data(tmp_path, command, said):
    data = tmp_path / "data.csv"
    data.write_text("mine", "utf-8")
    ran = CliRunner().invoke(app, [one.replace("FILE", str(data)) for one in command.split()])
    assert (ran.exit_code, said in ran.output) == (4, True), ran.output
    assert data.read_text("utf-8") == "mine"

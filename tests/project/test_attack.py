"""The tool that attacks encheck: its tries come again from their seeds, and what it should see it sees."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2] / "scripts" / "attack"


@pytest.fixture
def tool(monkeypatch):
    """Import a module of it, which is forgotten afterwards."""
    monkeypatch.syspath_prepend(HERE)
    before = set(sys.modules)
    yield __import__
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(HERE)):
            del sys.modules[name]


def test_a_file_is_spoilt_in_the_same_way_by_the_same_seed(tool):
    spoilt, data = tool("mutators").spoilt, b'{"a": [1, 2], "b": "text"}\n' * 20
    made = [spoilt(data, random.Random(seed)) for seed in range(50)]
    assert made == [spoilt(data, random.Random(seed)) for seed in range(50)]
    assert len(set(made) - {data}) > 40


def test_the_default_takes_seeds_from_all_over_the_full_size(tool):
    attacks = tool("attacks")
    made = attacks.Attack("family", "name", print, 4, 40)
    assert attacks.seeds_of(made, "default") == [0, 10, 20, 30]
    assert attacks.seeds_of(made, "full") == list(range(40))


def test_every_command_that_is_killed_does_what_it_is_given_for(tool, tmp_path):
    """Its steps are counted without the file that tells them."""
    told = tmp_path / "steps"
    said = {
        "ENCHECK_ATTACK_FOLDER": str(tmp_path),
        "ENCHECK_ATTACK_STEPS": str(told),
        "PYTHONPATH": str(HERE / "killing"),
    }
    for program, steps in (("pass", "0"), (f"open({str(tmp_path / 'a')!r}, 'w')", "1")):
        subprocess.run([sys.executable, "-c", program], env=os.environ | said, check=True)
        assert told.read_text() == steps


RUNS = {
    "a file": lambda folder: (folder / "was_run").touch(),
    "a variable": lambda folder: os.environ.update(ENCHECK_ATTACK_WAS_RUN="yes"),
    "a process": lambda folder: subprocess.run([sys.executable, "-c", ""], check=True),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_what_is_run_is_seen(tool, tmp_path, run):
    canary, attacks = tool("canary"), tool("attacks")
    with pytest.raises(attacks.Failed, match="something was run"), canary.watching(tmp_path):
        run(tmp_path)
    with canary.watching(tmp_path / "elsewhere"):
        pass


@pytest.mark.parametrize(
    ("does", "why"),
    [("raise KeyError('x')", "KeyError: 'x'"), ("import time; time.sleep(9)", "took longer than 0.1 s")],
)
def test_a_try_that_goes_wrong_is_counted_with_its_reason(tool, tmp_path, monkeypatch, does, why):
    attacks, worker = tool("attacks"), tool("worker")
    monkeypatch.setitem(worker.HERE, "folder", tmp_path)
    monkeypatch.setattr(worker, "SLACK", 0.1)
    monkeypatch.chdir(tmp_path)
    made = attacks.Attack("family", "name", lambda *_: exec(does, {}), 1, 1, seconds=0.1)
    assert why in worker.outcome(made, 0)
    assert worker.outcome(attacks.Attack("family", "name", lambda *_: None, 1, 1), 0) == ""

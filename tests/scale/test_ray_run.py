"""`encheck run --engine=ray` gives the results of `--engine=local`; about two minutes."""

import json
import os
import subprocess
import sys

import pytest

pytest_plugins = ("ray_fixtures",)

CHECKS = "paraphrase or nonobvious or symmetry"


def run(data, folder, *more):
    """The results of a run, without what says how it was run."""
    command = [sys.executable, "-m", "encheck", "run", "-m", CHECKS, f"--data=pairs:{data}", "--model=bag-of-words"]
    places = [f"--report-dir={folder / 'report'}", f"--shards-dir={folder / 'shards'}", "--no-store", "-q"]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, *places, *more], capture_output=True, text=True, env=env, timeout=500)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    results = json.loads((folder / "report" / "results.json").read_text())
    engine = results["data"][0]["whole"].pop("engine")
    return {name: part for name, part in results.items() if name != "run"}, engine


@pytest.mark.long
def test_a_run_on_ray_gives_the_results_of_one_process(in_files, tmp_path):
    pytest.importorskip("ray", reason="needs Ray: pip install 'encheck[ray]'")
    alone, _ = run(in_files, tmp_path / "alone", "--engine=local")
    together, engine = run(in_files, tmp_path / "together", "--engine=ray:2")
    assert engine == {"kind": "ray", "workers": 2}
    assert together == alone
    assert alone["checks"]


def test_an_address_needs_ray(in_files, tmp_path):
    command = [sys.executable, "-m", "encheck", "run", f"--data=pairs:{in_files}", "--model=jaccard", "--address=auto"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=200)
    assert done.returncode == 4
    assert "--address requires --engine=ray" in done.stdout + done.stderr

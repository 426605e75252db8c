"""action.yml and the examples of docs/gate.md: what they run, and the exit code and outputs that come of it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")
STUB = """#!{bash}
printf '%s\\n' "$@" > asked.txt
mkdir -p rep
printf '{results}' > rep/results.json
echo summary > rep/summary.md
exit {code}
"""
pytestmark = pytest.mark.skipif(BASH is None or os.name == "nt", reason="needs bash")


@pytest.fixture
def action(tmp_path):
    """Run the action's own script with a stand-in for `encheck`; (exit code, outcome, arguments)."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    script = next(step["run"] for step in steps if step.get("id") == "gate")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python").symlink_to(sys.executable)

    def action(results, code, **asked):
        stub = tools / "encheck"
        starts = STUB if results is not None else STUB.replace("mkdir -p rep", "exit {code}")
        stub.write_text(starts.format(bash=BASH, results=json.dumps(results), code=code))
        stub.chmod(0o755)
        names = ("MODEL", "BASELINE", "ANCHOR", "INCONCLUSIVE", "CHECKS", "DATA", "SAMPLE", "TWIN", "LOCK")
        environment = os.environ | dict.fromkeys(names, "") | {"REPORT": "rep", "STORE": "temp/store.sqlite"} | asked
        environment |= {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_OUTPUT": "out",
            "GITHUB_STEP_SUMMARY": "sum",
        }
        command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        said = (tmp_path / "out").read_text("utf-8") if (tmp_path / "out").exists() else ""
        return done.returncode, said.strip(), (tmp_path / "asked.txt").read_text("utf-8").splitlines()

    return action


@pytest.mark.parametrize(("outcome", "code"), [("pass", 0), ("block", 1), ("inconclusive", 10)])
def test_the_action_ends_with_the_gates_exit_code_and_names_the_outcome(action, tmp_path, outcome, code):
    assert action({"gate": {"outcome": outcome}}, code)[:2] == (code, f"outcome={outcome}")
    assert (tmp_path / "sum").read_text("utf-8") == "summary\n"


def test_a_gate_that_could_not_be_used_keeps_its_exit_code(action):
    assert action({"checks": []}, 4)[:2] == (4, "outcome=")


def test_the_report_of_an_earlier_run_is_not_taken_for_this_ones(action, tmp_path):
    (tmp_path / "rep").mkdir()
    (tmp_path / "rep/results.json").write_text('{"gate": {"outcome": "pass"}}', "utf-8")
    (tmp_path / "rep/summary.md").write_text("old", "utf-8")
    assert action(None, 4)[:2] == (4, "")
    assert not (tmp_path / "sum").exists()


def test_the_action_passes_on_what_it_was_asked(action):
    given = {"MODEL": "./a b", "BASELINE": "base", "CHECKS": "antonym or jumble", "DATA": "probes\nmrpc:x"}
    given |= {"SAMPLE": "all", "TWIN": "./s1\n./s 2", "LOCK": "l.jsonl"}
    asked = action({}, 0, **given, ANCHOR="old", INCONCLUSIVE="block")[2]
    expected = {"--model=./a b", "--baseline=base", "--anchor=old", "--inconclusive=block", "--data=probes"}
    expected |= {"--store=temp/store.sqlite", "--sample=all", "--twin=./s1", "--twin=./s 2", "--lock=l.jsonl"}
    assert expected | {"--data=mrpc:x", "antonym or jumble", "--junitxml=rep/junit.xml"} <= set(asked)


@pytest.mark.parametrize(
    "block", re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/gate.md").read_text("utf-8"), re.DOTALL)
)
def test_the_examples_are_yaml_and_name_options_that_there_are(block):
    from encheck.options import OPTIONS

    assert yaml.safe_load(block)
    options = set(re.findall(r"(--[a-z-]+)=", block)) - {"--junitxml"}
    assert options <= {f"--{name}" for option in OPTIONS.values() for name in option.names}


def test_the_store_that_is_cached_lies_outside_the_checkout():
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    cached = next(step["with"]["path"] for step in steps if "cache" in step.get("uses", ""))
    store = next(step["env"]["STORE"] for step in steps if step.get("id") == "gate")
    assert cached == store == "${{ runner.temp }}/encheck/store.sqlite"
    assert all("sqlite" not in step.get("run", "") for step in steps)


def test_a_run_without_options_keeps_store_and_locks_out_of_the_working_folder(tmp_path):
    """It writes its reports there, and nothing else."""
    environment = {k: v for k, v in os.environ.items() if k != "ENCHECK_STORE"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path / "home")}
    (tmp_path / "checkout").mkdir()
    command = [sys.executable, "-B", "-m", "encheck", "run", "--model=oracle", "-m", "number", "-q", "--quick"]
    subprocess.run(command, cwd=tmp_path / "checkout", env=environment, check=True, capture_output=True)
    assert [path.name for path in (tmp_path / "checkout").iterdir()] == ["reports"]
    assert list(tmp_path.rglob("store.sqlite"))

"""action.yml: what it runs, and the exit code and outputs that come of it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from encheck.cli import app

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")
STUB = """#!{bash}
printf '%s\\n' "$@" >> asked.txt
for arg in "$@"; do case $arg in
  --save-baseline=*) if {saves}; then mkdir -p "${{arg#*=}}"; echo {{}} > "${{arg#*=}}/baseline.json"; fi;;
esac; done
{writes}
exit {code}
"""
WRITES = """mkdir -p rep
printf '{results}' > rep/results.json
echo summary > rep/summary.md"""
STEPS = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
GIVEN = ("STORE", "BASELINES", "REPORT", "GITHUB_TOKEN")  # which the tests set
NAMES = tuple(sorted({name for step in STEPS for name in step.get("env", {})} - {*GIVEN}))
SCRIPTS = {step.get("id", "install"): step["run"] for step in STEPS if "run" in step}
pytestmark = pytest.mark.skipif(BASH is None or os.name == "nt", reason="needs bash")


@pytest.fixture
def script(tmp_path):
    """Run a script of the action with stand-ins for commands; the process."""
    tools = tmp_path / "bin"
    tools.mkdir()

    def script(name, stubs, **given):
        for command, text in stubs.items():
            (tools / command).write_text(text)
            (tools / command).chmod(0o755)
        environment = os.environ | dict.fromkeys(NAMES, "") | {"REPORT": "rep", "STORE": "temp/store.sqlite"} | given
        environment |= {
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "BASELINES": "made",
            "GITHUB_OUTPUT": "out",
            "GITHUB_STEP_SUMMARY": "sum",
        }
        command = [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", SCRIPTS[name]]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return script


@pytest.fixture
def action(script, tmp_path):
    """Run the gate's script with a stand-in for `encheck`; (exit code, what it gives out, arguments)."""
    python = f'#!{BASH}\nexec "{sys.executable}" "$@"\n'

    def action(results, code, *, saves=True, **asked):
        writes = "" if results is None else WRITES.format(results=json.dumps(results))
        stub = STUB.format(bash=BASH, writes=writes, code=code, saves="true" if saves else "false")
        done = script("gate", {"encheck": stub, "python": python}, **asked)
        said, args = tmp_path / "out", tmp_path / "asked.txt"
        told = said.read_text("utf-8").strip() if said.exists() else ""
        return done.returncode, told, args.read_text("utf-8").splitlines()

    return action


@pytest.fixture
def baseline(tmp_path):
    """The name of a folder that is taken for a baseline."""
    (tmp_path / "base").mkdir()
    (tmp_path / "base/baseline.json").write_text("old", "utf-8")
    return "base"


PARTIAL = {"weighed": ["number"], "left_out": ["roles"], "why": "-m left out roles"}


@pytest.mark.parametrize(("outcome", "code"), [("pass", 0), ("block", 1), ("inconclusive", 10)])
def test_the_action_ends_with_the_gates_exit_code_and_names_the_outcome(action, baseline, tmp_path, outcome, code):
    assert action({"gate": {"outcome": outcome}}, code, BASELINE=baseline)[:2] == (code, f"outcome={outcome}")
    assert (tmp_path / "sum").read_text("utf-8") == "summary\n"


@pytest.mark.parametrize(("outcome", "code", "told"), [("inconclusive", 10, "partial"), ("block", 1, "block")])
def test_a_gate_of_a_part_of_the_checks_is_called_partial(action, baseline, outcome, code, told):
    found = {"gate": {"outcome": outcome, "partial": PARTIAL}}
    assert action(found, code, BASELINE=baseline)[:2] == (code, f"outcome={told}")


@pytest.mark.parametrize(
    "results",
    [None, {}, {"gate": {"outcome": ""}}, {"gate": {"outcome": "inconclusive"}}, {"gate": {"outcome": "block"}},
     {"gate": {"outcome": "pass", "partial": PARTIAL}}],
)  # fmt: skip
def test_exit_code_0_without_a_decision_fails_the_job(action, baseline, results):
    assert action(results, 0, BASELINE=baseline)[:2] == (5, "outcome=")


def test_an_inconclusive_gate_that_counts_as_passed_ends_with_0(action, baseline):
    found = {"gate": {"outcome": "inconclusive", "partial": None}}
    assert action(found, 0, BASELINE=baseline, INCONCLUSIVE="pass")[:2] == (0, "outcome=inconclusive")


@pytest.mark.parametrize("name", ["MODEL", "BASELINE", "BASELINE_MODEL", "ANCHOR", "REPORT"])
def test_an_input_with_a_line_break_is_refused_before_anything_runs(script, tmp_path, name):
    """A second line would be an output of the step's own."""
    stub = f"#!{BASH}\ntouch ran\n"
    for end in ("\noutcome=pass", "\r"):
        done = script("gate", {"encheck": stub}, **{"MODEL": "m", "BASELINE": "b", name: f"x{end}"})
        assert (done.returncode, done.stdout) == (4, f"The input for {name} has a line break, but takes one line.\n")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("model", ["-x", "--save-baseline=base", "--help"])
def test_a_model_whose_name_begins_with_a_dash_is_no_option(action, baseline, model):
    asked = action({"gate": {"outcome": "pass"}}, 0, MODEL=model, BASELINE=baseline)[2]
    assert asked[-3:] == ["--", model, "./base"]


def test_a_baseline_whose_name_begins_with_a_dash_or_is_a_folder_above_is_made(action, tmp_path):
    assert action({}, 0, MODEL="m", BASELINE="-b", REFRESH="true")[1].splitlines() == [
        "made=made/-b",
        "outcome=refreshed",
    ]
    assert (tmp_path / "-b/baseline.json").exists()
    above = action({}, 0, MODEL="m", BASELINE="deep/..", REFRESH="true")[1].splitlines()
    assert above[2:] == ["made=made/baseline", "outcome=refreshed"]


def test_no_module_of_the_checkout_is_imported(action, script, baseline, tmp_path):
    for name in ("json", "pip", "secrets", "sys"):
        (tmp_path / f"{name}.py").write_text(f"open('trapped', 'w')\nraise SystemExit('{name} of the checkout')\n")
    assert action({"gate": {"outcome": "pass"}}, 0, MODEL="m", BASELINE=baseline)[:2] == (0, "outcome=pass")
    done = script("install", {"python": f'#!{BASH}\nexec "{sys.executable}" "$@"\n'}, PACKAGE="--version")
    assert "of the checkout" not in done.stdout + done.stderr
    assert not (tmp_path / "trapped").exists()


def test_actions_of_others_are_named_by_commit_with_the_tag_beside_it():
    used = re.findall(r"uses: (.*)", (ROOT / "action.yml").read_text("utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one) for one in used)


def test_a_gate_that_could_not_be_used_keeps_its_exit_code(action, baseline):
    assert action({"checks": []}, 4, BASELINE=baseline)[:2] == (4, "outcome=")


def test_the_report_of_an_earlier_run_is_not_taken_for_this_ones(action, baseline, tmp_path):
    (tmp_path / "rep").mkdir()
    (tmp_path / "rep/results.json").write_text('{"gate": {"outcome": "pass"}}', "utf-8")
    (tmp_path / "rep/summary.md").write_text("old", "utf-8")
    assert action(None, 4, BASELINE=baseline)[:2] == (4, "outcome=")
    assert not (tmp_path / "sum").exists()


def test_the_action_passes_on_what_it_was_asked(action, baseline):
    given = {"MODEL": "./a b", "DATA": "probes\nmrpc:x"}
    given |= {"SAMPLE": "all", "TWIN": "./s1\n./s 2"}
    asked = action({}, 0, **given, BASELINE=baseline, ANCHOR="old", INCONCLUSIVE="block")[2]
    assert (asked[0], asked[-3:]) == ("gate", ["--", "./a b", "./base"])
    expected = {"--anchor=old", "--inconclusive=block", "--data=probes"}
    expected |= {"--store=temp/store.sqlite", "--sample=all", "--twin=./s1", "--twin=./s 2"}
    assert expected | {"--data=mrpc:x", "--junitxml=rep/junit.xml"} <= set(asked)


def test_what_it_was_asked_is_text_to_the_shell(action, baseline, tmp_path):
    trap = "$(touch trapped) `touch trapped`; touch trapped \" ' *"
    given = dict.fromkeys(("MODEL", "ANCHOR", "DATA", "SAMPLE", "TWIN", "INCONCLUSIVE"), trap)
    asked = action({}, 0, **given, BASELINE=baseline)[2]
    assert {trap, f"--data={trap}", f"--twin={trap}", f"--sample={trap}"} <= set(asked)
    action({}, 0, MODEL=trap, BASELINE=f"new {trap}".replace("/", ""))
    assert not (tmp_path / "trapped").exists()
    assert all("${{" not in one for one in SCRIPTS.values())


def test_what_a_model_has_printed_is_no_command_of_the_runner(script, baseline):
    stub = f'#!{BASH}\necho "::error::from the data"\n'
    python = f'#!{BASH}\nexec "{sys.executable}" "$@"\n'
    done = script("gate", {"encheck": stub, "python": python}, MODEL="m", BASELINE=baseline)
    stop, printed, again, _ = done.stdout.splitlines()
    assert (printed, stop.partition("::stop-commands::")[0]) == ("::error::from the data", "")
    assert again == f"::{stop.removeprefix('::stop-commands::')}::"
    assert len(again) == 36


def test_where_there_is_no_baseline_the_job_makes_one_and_is_not_green(action, tmp_path):
    code, told, asked = action({}, 0, MODEL="./m", BASELINE="some/base", DATA="mrpc:x")
    assert (code, told.splitlines()) == (4, ["made=made/base", "outcome=no-baseline"])
    assert asked[:3] == ["run", "--model=./m", "--save-baseline=made/base"]
    assert "--data=mrpc:x" in asked
    assert (tmp_path / "some/base/baseline.json").exists()
    assert "commit it" in (tmp_path / "sum").read_text("utf-8")


def test_a_first_baseline_of_the_model_in_use_lets_the_gate_decide_at_once(action):
    code, told, asked = action({"gate": {"outcome": "block"}}, 1, MODEL="./m", BASELINE="base", BASELINE_MODEL="sbert")
    assert (code, told.splitlines()) == (1, ["made=made/base", "outcome=block"])
    assert "--model=sbert" in asked
    assert asked[-3:] == ["--", "./m", "./base"]


def test_a_refresh_takes_the_old_baselines_place_only_where_it_was_made(action, baseline, tmp_path):
    old = tmp_path / "base/baseline.json"
    assert action({}, 3, MODEL="./m", BASELINE=baseline, REFRESH="true", saves=False)[:2] == (3, "")
    assert action({}, 0, MODEL="./m", BASELINE=baseline, REFRESH="true", saves=False)[:2] == (1, "")
    assert old.read_text("utf-8") == "old"
    code, told, asked = action({}, 1, MODEL="./m", BASELINE=baseline, REFRESH="true")
    assert (code, told.splitlines()) == (0, ["made=made/base", "outcome=refreshed"])
    assert old.read_text("utf-8") == "{}\n"
    assert "gate" not in asked


@pytest.mark.parametrize(
    ("torch", "index", "asked"),
    [
        ("torch==2", "https://cpu", [["--index-url=https://cpu", "--", "torch==2"], ["--", "encheck"]]),
        ("torch==2", "", [["--", "torch==2"], ["--", "encheck"]]),
        ("", "https://cpu", [["--", "encheck"]]),
    ],
)
def test_torch_is_installed_first_and_from_its_own_index(script, tmp_path, torch, index, asked):
    stub = f'#!{BASH}\nprintf "%s|" "$@" >> pip.txt; echo >> pip.txt\n'
    assert script("install", {"python": stub}, TORCH=torch, TORCH_INDEX=index, PACKAGE="encheck").returncode == 0
    lines = (tmp_path / "pip.txt").read_text("utf-8").splitlines()
    assert [line.rstrip("|").split("|")[6:] for line in lines] == asked
    assert all(line.startswith("-P|-m|pip|install|") for line in lines)


def test_the_torch_that_is_installed_is_the_one_of_constraints_txt():
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    assert inputs["torch"]["default"] in (ROOT / "constraints.txt").read_text("utf-8").splitlines()


def test_a_comment_that_was_not_posted_fails_nothing_and_is_said_in_the_summary(script, tmp_path):
    stub = f'#!{BASH}\nprintf "%s|" "$@"\nexit 4\n'
    done = script("comment", {"encheck": stub}, COMMENT="search", OUTCOME="no-baseline", BASELINE="b")
    said = (tmp_path / "sum").read_text("utf-8").strip()
    assert (done.returncode, said) == (
        0,
        "No comment was posted. export|--to=comment|--post=github|--name=search|--made-baseline=b|--|rep|",
    )


def test_the_token_is_given_to_the_step_that_comments_alone():
    holders = [step.get("id") for step in STEPS if "token" in json.dumps(step.get("env", {})).lower()]
    assert holders == ["comment"]


def test_the_store_that_is_cached_lies_outside_the_checkout():
    cached = next(step["with"]["path"] for step in STEPS if "cache" in step.get("uses", ""))
    store = next(step["env"]["STORE"] for step in STEPS if step.get("id") == "gate")
    assert cached == store == "${{ runner.temp }}/encheck/store.sqlite"
    assert all("sqlite" not in step.get("run", "") for step in STEPS)


def test_a_run_without_options_keeps_store_and_locks_out_of_the_working_folder(tmp_path, monkeypatch, contrasts_alone):
    """It writes its reports there, and nothing else."""
    monkeypatch.delenv("ENCHECK_STORE")
    for name, folder in (("XDG_CACHE_HOME", "cache"), ("HOME", "home")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    done = CliRunner().invoke(app, ["run", "--model=bag-of-words", "-q", f"--data={contrasts_alone}"])
    assert done.exit_code == 0, done.output
    assert [path.name for path in (tmp_path / "checkout").iterdir()] == ["reports"]
    assert list(tmp_path.rglob("store.sqlite"))

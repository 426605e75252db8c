"""A folder of articles and a log of queries, as they are gated: no label, one, and what the reports say."""

import html
import importlib.util
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest
import scipy.special  # noqa: F401 - pytester forgets modules between runs, and this one loads once
from gated import or_gate
from recorded import refuse_other_results

from encheck.gating.unlabelled_search import read_judgements, save_answers
from encheck.operations.judge.judging import gate_with_judgements, open_judging
from encheck.reporting.answers import read_disagreements
from encheck.reporting.gate.words import gate_headlines
from encheck.reporting.results import read_results

ROOT = Path(__file__).resolve().parents[2]
MODELS = "bag: {adapter: encheck.encoders.fake:BagOfWords}\n"


def help_center(folder, *, articles=40, sections=5):
    """Articles of invented words, each of whose sections has a heading of its own."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefgh", k=6)) for _ in range(400)]
    folder.mkdir()
    for i in range(articles):
        topic = rng.sample(words, 8)
        parts = [f"# About {topic[0]} {topic[1]}\n"]
        for n in range(sections):
            body = " ".join(rng.sample(words, 12) + topic)
            parts.append(f"\n## {topic[n + 2]} {words[i * sections + n]}\n\n{body} {words[i * sections + n]}.\n")
        (folder / f"{i}.md").write_text("".join(parts))
    return words


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The options that name articles and a log: 240 different queries, some asked three times."""
    place = tmp_path_factory.mktemp("search")
    words = help_center(place / "help-center")
    queries = [" ".join(two) for two in pairwise(words[:241])]
    (place / "log.txt").write_text("\n".join([*queries, *queries[:20], *queries[:20]]))
    (place / "models.yaml").write_text(MODELS)
    return [f"--encheck-data={place / 'help-center'}", f"--encheck-queries={place / 'log.txt'}"]


@pytest.fixture
def run(pytester, searched):
    """Run the checks on search, health and contracts in this process."""

    def run(model, *args, data=searched, inside=True):
        (pytester.path / "models.yaml").write_text(MODELS)
        base = ["--pyargs", "encheck.checks", "-p", "no:cacheprovider", f"--encheck-model={model}"]
        asked = ["-m", "retrieval or health or contract", *data, *args]
        start = pytester.runpytest if inside else pytester.runpytest_subprocess
        return or_gate(lambda: start(*base, *asked), model, asked)

    return run


@pytest.fixture(scope="module")
def folder_of_baselines(tmp_path_factory):
    return tmp_path_factory.mktemp("baselines")


@pytest.fixture
def baseline(run, folder_of_baselines):
    """That of words, made once a module."""
    folder = folder_of_baselines / "base"
    if not folder.exists():
        assert run("bag", f"--encheck-save-baseline={folder}").ret in (0, 1)
    return folder


def test_the_same_model_passes_without_a_label(run, baseline, tmp_path):
    outcome = run("bag", f"--encheck-baseline={baseline}", f"--encheck-report-dir={tmp_path / 'r'}")
    assert outcome.ret == 0
    outcome.stdout.fnmatch_lines(
        [
            "gate against base, for another model for this search *: PASSED",
            "*The first answer changes for 0.0%*passes without a label*",
        ]
    )
    assert list(read_disagreements(tmp_path / "r")) == []


def test_an_index_is_compared_with_the_same_index_alone(run, baseline, tmp_path):
    pytest.importorskip("faiss")
    how, own = ["--encheck-search-index=faiss:nlist=12,nprobe=6", "-k", "logged"], tmp_path / "own"
    outcome = run("bag", *how, f"--encheck-baseline={baseline}")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(
        [
            "*has searches with --search-index=exact, but this run has --search-index=faiss:nlist=12,nprobe=6: "
            "an index's misses *"
        ]
    )
    assert run("bag", *how, f"--encheck-save-baseline={own}").ret == 0
    assert (
        json.loads((own / "baseline.json").read_text("utf-8"))["settings"]["search_index"] == how[0].partition("=")[2]
    )
    assert run("bag", "-k", "logged", f"--encheck-baseline={own}").ret == 4
    outcome = run("bag", *how, f"--encheck-baseline={own}", f"--encheck-report-dir={tmp_path / 'r'}")
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(["gate against own (partial: search), for another model *: INCONCLUSIVE"])
    results = json.loads((tmp_path / "r/results.json").read_text("utf-8"))
    refuse_other_results(results)
    (row,) = (row for row in results["checks"] if row["metric"] == "first_stage_recall_at_10")
    assert (row["n"], row["params"]["probes"], row["verdict"]) == (240, 6, None)
    assert sum("with an index: 6 of 12 lists" in note for note in results["run"]["notes"]) == 1
    for page in ("report.html", "summary.md"):
        assert "with an index: 6 of 12 lists" in html.unescape((tmp_path / "r" / page).read_text("utf-8"))


def test_other_answers_cannot_be_told_yet_and_are_kept_for_judging(run, baseline, tmp_path):
    folder = tmp_path / "r"
    outcome = run("random", f"--encheck-baseline={baseline}", f"--encheck-report-dir={folder}", "-k", "logged")
    assert outcome.ret == 10
    outcome.stdout.fnmatch_lines(
        [
            "gate against base (partial: search), for another model *: INCONCLUSIVE",
            "GATE (partial: search): INCONCLUSIVE. Search: the first answer changes for *",
        ]
    )
    found = list(read_disagreements(folder))
    shown = json.loads((folder / "results.json").read_text("utf-8"))["gate"]["against"][0]["searches"][0]
    assert (len(found), shown["queries"], shown["asked"]) == (shown["shares"][0]["queries"], 240, 280)
    heavy = next(one for one in found if one.weight == 3)
    assert heavy.before.id != heavy.after.id
    assert set(heavy.query.split()) & set(heavy.before.text.split())
    assert (folder / "summary.md").read_text("utf-8").startswith("# ")


def test_a_gate_that_people_have_judged_says_what_judging_said(run, baseline, searched, tmp_path):
    log, folder, again = tmp_path / "log.txt", tmp_path / "r", tmp_path / "again"
    log.write_text(Path(searched[1].partition("=")[2]).read_text())
    data = [searched[0], f"--encheck-queries={log}"]
    how = [f"--encheck-baseline={baseline}", "-k", "logged"]
    assert run("random", *how, f"--encheck-report-dir={folder}", data=data).ret == 10
    judging = open_judging(folder)
    save_answers(judging.qrels, [(q, "before") for q in judging.pool.order[:25]])
    judged = judging.summarise_judgements(read_judgements(judging.qrels))
    assert (judging.qrels, judged.outcome) == (Path(f"{log}.qrels"), "block")
    outcome = run("random", *how, f"--encheck-report-dir={again}", data=data)
    assert outcome.ret == 1
    many = run("random", *how, "--encheck-tried=500", data=data)  # the best of 500 takes more than 25 for the old one
    assert many.ret == 10
    many.stdout.fnmatch_lines(["GATE (partial: search): INCONCLUSIVE. *"])
    said = gate_with_judgements(judging, judged)
    found = json.loads((again / "results.json").read_text("utf-8"))
    refuse_other_results(found)
    against = read_results(again).gate.against[0]
    assert said.against[0].reasons == against.reasons
    favoured = f"{judged.old} of {judged.old} decisive answers favour base"
    shown = [f"GATE (partial: search): BLOCKED. {favoured}; {judged.counts_in_words}"]
    assert list(gate_headlines(said)) == shown == outcome.outlines[-1:]
    (search,) = against.searches
    assert search.lost_queries == said.against[0].searches[0].lost_queries
    outcome.stdout.fnmatch_lines([f"  lost: {search.lost_queries[0].query}", *shown])
    page = (again / "report.html").read_text("utf-8")
    assert html.escape(search.lost_queries[2].now) in page
    summary = (again / "summary.md").read_text("utf-8")
    assert f"lost in retrieval/help-center/1: *{search.lost_queries[0].query}*" in summary
    save_answers(judging.qrels, [(q, None) for q in judging.pool.order[:25]])
    assert judging.summarise_judgements(read_judgements(judging.qrels)).answered == 0


def test_a_broken_file_of_judgements_is_refused_before_anything_is_encoded(run, baseline, searched, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("a query\n")
    Path(f"{log}.qrels").write_text("query\n")
    outcome = run("random", f"--encheck-baseline={baseline}", data=[searched[0], f"--encheck-queries={log}"])
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*log.txt.qrels:1: should have the columns query-id, corpus-id, score, against*"])


def test_known_items_block_and_show_three_lost_queries(run, baseline, tmp_path):
    folder = tmp_path / "r"
    outcome = run("random", f"--encheck-baseline={baseline}", f"--encheck-report-dir={folder}", "--encheck-for=change")
    found = json.loads((folder / "results.json").read_text("utf-8"))
    refuse_other_results(found)
    assert (outcome.ret, found["gate"]["outcome"]) == (1, "block")
    row = next(row for row in found["gate"]["against"][0]["rows"] if row["row"] == "retrieval/help-center/known")
    assert (row["outcome"], row["evidence"], len(row["lost_queries"])) == ("block", False, 3)
    one = row["lost_queries"][0]
    assert one["before"] != one["now"]
    outcome.stdout.fnmatch_lines([f"  lost: {one['query']}", f"    first before: {one['before']}"])
    assert f"lost in retrieval/help-center/known: *{one['query']}*" in (folder / "summary.md").read_text("utf-8")
    assert html.escape(one["now"]) in (folder / "report.html").read_text("utf-8")


def test_a_baseline_of_other_documents_is_refused(run, baseline, searched, tmp_path):
    others = tmp_path / "help-center"
    help_center(others, articles=6)
    data = [f"--encheck-data={others}", searched[1]]
    outcome = run("bag", f"--encheck-baseline={baseline}", "-k", "logged", data=data)
    assert outcome.ret == 4
    outcome.stdout.fnmatch_lines(["*was made on other items*items are not in this run*help-center's fingerprint*"])


def test_a_log_that_no_data_set_is_for_is_refused(pytester, tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("a query\n")
    base = ["--pyargs", "encheck.checks", "-p", "no:cacheprovider", "-k", "logged", "--encheck-model=random"]
    outcome = pytester.runpytest(*base, f"--encheck-queries={log}")
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines(["*--queries=* is for the documents of one data set without labels*--data is probes"])
    outcome = pytester.runpytest(*base, "--encheck-near-duplicates=same")
    outcome.stderr.fnmatch_lines(["*--near-duplicates works only with unlabelled documents*"])


@pytest.mark.long
def test_minilm_in_bf16_passes_without_a_label_and_with_another_pooling_is_open_and_blocked_as_a_change(run, tmp_path):
    spec = importlib.util.spec_from_file_location("help_center", ROOT / "lab" / "benchmarks" / "help_center.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    log = tmp_path / "log.txt"
    made.make(tmp_path / "help-center", log)
    log.write_text("\n".join(sorted({*log.read_text().splitlines()})))  # each once: three that change still pass
    data = [f"--encheck-data={tmp_path / 'help-center'}", f"--encheck-queries={log}"]
    assert run("sbert", f"--encheck-save-baseline={tmp_path / 'base'}", data=data, inside=False).ret == 0
    against = f"--encheck-baseline={tmp_path / 'base'}"
    assert run("sbert", against, "--encheck-model-arg=dtype=bfloat16", data=data, inside=False).ret == 0
    cls = ["--encheck-model-arg=adapter=transformers", "--encheck-model-arg=pooling=cls"]
    assert run("sbert", against, *cls, data=data, inside=False).ret == 10  # another model: people have to judge
    assert run("sbert", against, *cls, "--encheck-for=change", data=data, inside=False).ret == 1

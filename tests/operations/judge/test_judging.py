"""People judge answers that differ: blind, on the terminal or on a page, until that decides."""

import json
import re
import shlex
import shutil
from dataclasses import replace

import jsonschema
import pytest
from gate_fakes import frame, given
from recorded import run_file
from test_reporting import HOSTILE, results
from test_unjudged import table
from typer.testing import CliRunner

from encheck.cli import app
from encheck.errors import UsageError
from encheck.gating.comparison import GateComparison, LogAnswers
from encheck.gating.decision import decide_by_rows
from encheck.gating.types import Gate, GateAgainst
from encheck.gating.unlabelled_search import count_changed_answers, read_judgements
from encheck.operations.judge.judging import (
    ask_people,
    gate_with_judgements,
    import_answers,
    open_judging,
    write_judging_page,
)
from encheck.reporting.answers import write_answers
from encheck.reporting.gate import record, words
from encheck.reporting.results import write_results
from encheck.system.typed_files import as_values, schema_of

DOCUMENTS = {i: (f"d{i}", f"{'odd' if i % 2 else 'even'} {i}\nof {HOSTILE}") for i in range(120)}  # odd: the new ones


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a gate on 400 queries of which 60 have another first answer; judgements lie beside their log."""
    place = tmp_path_factory.mktemp("made")
    old = [(2 * (i % 60), 2 * (i % 60) + 1) for i in range(400)]
    before, after = table(old), table([found[::-1] for found in old[:60]] + old[60:])
    decision = GateAgainst(**vars(decide_by_rows((), moved=[count_changed_answers(before, after)])), baseline="sbert")
    found = GateComparison(decision, searched=(LogAnswers(before, after),))
    texts = tuple(f"query {i} {HOSTILE}" for i in range(400))
    items = {"c": replace(frame([0.5] * 400, None), ids=before.items, sources=texts)}
    folder = place / "r"
    folder.mkdir()
    shown = record.GateEvidence(items, {before.case: DOCUMENTS}, str(folder), "log.txt.qrels")
    gate = record.gate_with_texts([found], None, shown)
    written = run_file(given() | {"gate": gate, "run": {"settings": {"seed": 3}}})
    jsonschema.validate(as_values(gate), schema_of(Gate), cls=jsonschema.Draft202012Validator)
    write_results(folder, written)
    write_answers(folder, found.searched, items, {before.case: DOCUMENTS})
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(made, tmp_path / "r")


def keys_for(judging, side):
    """What somebody types who always finds that side better ("before" or "after")."""
    old = {one.query: one.before.text for one in judging.disagreements.values()}

    def ask(_keys):
        question = judging.next_pair(read_judgements(judging.qrels), judging.read_repeats())
        is_first = question.first == old[question.query]
        return "1" if is_first == (side == "before") else "2"

    return ask


def test_judging_stops_when_the_old_answers_are_better_for_certain(folder):
    judging, said = open_judging(folder), []
    judged = ask_people(judging, ask=keys_for(judging, "before"), show=said.append)
    assert (judged.outcome, judged.asked, judged.answered) == ("block", 20, 20)
    assert said[0].startswith("\n1 of at most 65\n  query ")
    assert said[24].startswith("\n25 of at most 65\n")
    assert len(said) == 25
    assert (
        judging.agreement_text(read_judgements(judging.qrels))
        == "5 pairs were shown twice, and 5 were judged the same both times"
    )
    assert "even" in said[0]
    decided = gate_with_judgements(judging, judged)
    assert (decided.outcome, decided.exit_code) == ("block", 1)
    assert list(words.gate_headlines(decided)) == [
        "GATE: BLOCKED. 20 of 20 decisive answers favour sbert; in these 400 queries: 0 better, 20 worse, 0 ties of 60 "
        "changed (40 not judged)"
    ]
    (search,) = decided.against[0].searches
    assert [one.before[:4] for one in search.lost_queries] == ["even"] * 3
    assert ask_people(judging, ask=pytest.fail, show=said.append) == judged  # asks nobody again
    again = open_judging(shutil.copytree(folder, folder.with_name("again")))
    assert again.summarise_judgements(read_judgements(again.qrels)) == judged


def test_new_answers_that_are_better_pass_and_what_else_was_open_stays_open(folder):
    judging = open_judging(folder)
    judged = ask_people(judging, ask=keys_for(judging, "after"), show=str)
    assert (judged.outcome, judged.new) == ("pass", 20)
    decided = gate_with_judgements(judging, judged)
    assert (decided.outcome, decided.exit_code, decided.against[0].reasons) == ("pass", 0, ())
    assert next(words.gate_headlines(decided)).startswith(
        "GATE: PASSED. 20 of 20 decisive answers favour the candidate"
    )
    against = judging.gate.against[0]
    against = replace(against, reasons=(*against.reasons, "health/d/1: too wide"))
    other = replace(judging.gate, against=(against,))
    assert gate_with_judgements(replace(judging, gate=other), judged).exit_code == 10
    assert list(words.gate_headlines(gate_with_judgements(replace(judging, gate=other), judged))) == [
        "GATE: INCONCLUSIVE. health/d/1: too wide; in these 400 queries: 20 better, 0 worse, 0 ties of 60 changed "
        "(40 not judged)"
    ]


def test_quitting_keeps_every_answer_and_undo_takes_the_last_one_back(folder):
    judging, said = open_judging(folder), []
    keys = iter(["u", "1", "=", "0", "x", "", "u", "2", "e", "n", "q"])
    judged = ask_people(judging, ask=lambda _: next(keys), show=said.append)
    first = [q.item for q in judging.pool.order[:5]]
    known = read_judgements(judging.qrels).answers_to(judging.pool.order)
    assert list(known) == first
    assert [known[item] for item in first[1:]] == ["equal", known[first[2]], "equal", "neither"]
    assert known[first[2]] in ("before", "after")
    assert (judged.outcome, judged.answered, judged.left) == ("inconclusive", 5, 55)
    assert [text for text in said if not text.startswith("\n")] == [
        "there is nothing to undo", "'x' is not an answer", "'' is not an answer"
    ]  # fmt: skip
    assert list(words.gate_headlines(gate_with_judgements(judging, judged))) == [
        f"GATE: INCONCLUSIVE. At most 55 more judgements decide: encheck judge {folder}"
    ]
    keys = iter(["u", "q"])
    ask_people(open_judging(folder), ask=lambda _: next(keys), show=said.append)
    assert "5 of these queries were judged before" in said
    assert list(read_judgements(judging.qrels).answers_to(judging.pool.order)) == first[:4]


def test_which_model_gave_an_answer_is_not_shown_and_sides_change(folder):
    judging, said = open_judging(folder), []
    keys = iter(["="] * 12 + ["q"])
    ask_people(judging, ask=lambda _: next(keys), show=said.append)
    assert {re.search(r"^  1  (\w+)", text, re.M)[1] for text in said} == {"even", "odd"}
    assert "sbert" not in "".join(said)
    assert "\x1b" not in "".join(said)


def test_the_command_says_the_verdict_and_ends_with_its_exit_code(folder):
    done = CliRunner().invoke(app, ["judge", str(folder)], input="=\n=\n")
    assert done.exit_code == 10
    assert "GATE: INCONCLUSIVE. At most 58 more judgements decide: encheck judge" in done.stdout
    judging = open_judging(folder)
    ask_people(judging, ask=keys_for(judging, "before"), show=str)
    done = CliRunner().invoke(app, ["judge", str(folder)])
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1].startswith("GATE: BLOCKED. 18 of 18 decisive answers favour sbert; in these")
    assert "5 pairs were shown twice, and 4 were judged the same both times" in done.stdout.splitlines()
    assert done.stdout.count("lost: query") == 3
    assert "judge" in CliRunner().invoke(app, ["--help"]).stdout


def test_pairs_are_shown_again_and_who_disagrees_with_themselves_is_warned(folder):
    judging, shown = open_judging(folder), []
    keys = iter("1" * 12 + "u" + "1" * 12 + "q")  # always the first, whichever it is; the fifth repeat is not reached
    ask_people(judging, ask=lambda _: next(keys), show=shown.append)
    again = judging.read_repeats()
    assert len(again) in (4, 5)
    known = read_judgements(judging.qrels)
    sides = {q.query: (q.is_swapped(3), q.is_swapped(3, again=True)) for q, _ in judging.pool.repeats}
    agreed = sum(sides[query][0] == sides[query][1] for query in again)
    told = judging.agreement_text(known)
    assert f"{len(again)} pairs were shown twice, and {agreed} were judged the same both times" in told
    assert told.startswith("WARNING") == (agreed < 0.8 * len(again))


def test_a_repeat_decides_nothing_and_is_taken_back_by_undo(folder):
    judging = open_judging(folder)
    keys = iter("=" * 13 + "uq")
    judged = ask_people(judging, ask=lambda _: next(keys), show=str)
    assert (judged.answered, judging.read_repeats()) == (12, {})


# the page


def saved(folder, **answers):
    path = folder / "answers.json"
    path.write_text(json.dumps({"judging": open_judging(folder).pool.fingerprint, "answers": answers}))
    return path


def test_answers_of_the_page_count_as_typed_ones_do(folder):
    judging = open_judging(folder)
    path, count = write_judging_page(judging)
    page = path.read_text("utf-8")
    assert (count, page.count("<fieldset")) == (65, 65)
    assert HOSTILE not in page
    assert "sbert" not in page
    asked = judging.pool.order[:20]
    old = {one.item: one.before.text for one in judging.disagreements.values()}
    sides = {q.query: "1" if judging.draw_answer_order(q).first == old[q.item] else "2" for q in asked}
    assert judging.summarise_judgements(import_answers(judging, saved(folder, **sides))).outcome == "block"
    assert write_judging_page(judging)[1] == 40


def test_the_page_works_in_a_narrow_window_by_keys_and_saves_what_is_read_back(folder, chromium):
    judging, said = open_judging(folder), []
    path, _ = write_judging_page(judging)
    page = chromium.new_page(viewport={"width": 360, "height": 640})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for key in ("1", "2", "=", "0"):
        page.keyboard.press(key)
    page.locator("fieldset").nth(4).locator("input[value=equal]").check()
    assert page.locator("#state").inner_text() == "5 of 65 answered."
    with page.expect_download() as found:
        page.click("#save")
    found.value.save_as(folder / "answers.json")
    known = import_answers(judging, folder / "answers.json").answers_to(judging.pool.order)
    assert [known[q.item] for q in judging.pool.order[2:5]] == ["equal", "neither", "equal"]
    assert len(known) == 5
    assert said == []


# bad input


def without(name):
    return lambda folder: (folder / name).unlink()


def edited(name, old, new):
    def edit(folder):
        open_judging(folder)
        path = folder / name
        path.write_text(path.read_text().replace(old, new, 1))

    return edit


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (shutil.rmtree, "is not a run: it has no results.json"),
        (without("answers.parquet"), "has no answers.parquet: it is not the folder of a gate on documents without"),
        (without("documents.parquet"), "has no documents.parquet"),
        (lambda folder: (folder / "answers.parquet").write_bytes(b"PAR1"), "answers.parquet cannot be read"),
        (lambda folder: write_results(folder, results()), "holds a run without a gate, so there is nothing to judge"),
        (edited("results.json", '"shares"', '"sharez"'), "gate.against[0].searches[0] lacks 'shares'. Run again"),
        (edited("results.json", '"searches"', '"other"'), "has no search without labels from a gate"),
        (edited("judging.json", "20", "2"), "is the plan for other answers, or was edited"),
        (edited("judging.json", "{", ""), "judging.json cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_one_message(folder, spoil, said):
    spoil(folder)
    done = CliRunner().invoke(app, ["judge", str(folder)])
    assert done.exit_code == 4
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["{", "[]", '{"q": "better"}'])
def test_a_wrong_file_of_repeats_is_one_message(folder, text):
    (folder / "repeats.json").write_text(text)
    done = CliRunner().invoke(app, ["judge", str(folder)])
    assert done.exit_code == 4
    assert done.stderr.count("\n") == 1
    assert "it is not needed" in done.stderr


@pytest.mark.quick
def test_a_plan_that_was_lost_is_made_again_the_same(folder):
    open_judging(folder)
    plan = (folder / "judging.json").read_text()
    (folder / "judging.json").unlink()
    open_judging(folder)
    assert (folder / "judging.json").read_text() == plan


def test_judgements_have_a_folder(folder, tmp_path):
    with pytest.raises(UsageError, match="Run this where the gate was run, or name a file with --qrels"):
        open_judging(folder, qrels=tmp_path / "gone" / "q")


@pytest.mark.parametrize("given", [(), ("--page",)], ids=["asked", "page"])
def test_what_goes_on_judging_names_the_file_of_judgements_where_it_is_no_usual_one(folder, given):
    def printed(*more):
        told = CliRunner().invoke(app, ["judge", "r", *given, *more], input="=\nq\n").output
        return set(re.findall("encheck (judge .*?)(?: --answers .*)?$", told, re.MULTILINE))

    assert printed() == {"judge r"}
    (typed,) = printed("--qrels", "my own.qrels")
    assert typed == "judge r --qrels='my own.qrels'"
    again = CliRunner().invoke(app, shlex.split(typed), input="q\n").output
    assert ("judge these 60" if given else "at most 59 more judgements decide".capitalize()) in again


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is not a file of answers"),
        ('{"judging": "x", "answers": {}}', "answers the questions of another report"),
        ('{"judging": "PLAN", "answers": {"nobody": "1"}}', "answers query 'nobody', which"),
        ('{"judging": "PLAN", "answers": {"QUERY": "3"}}', "is '3', but should be 1, 2, equal, neither"),
        ("{", "cannot be read"),
    ],
)
def test_a_wrong_file_of_answers_is_one_message_and_nothing_of_it_is_kept(folder, text, said):
    judging = open_judging(folder)
    path = folder / "a.json"
    path.write_text(text.replace("PLAN", judging.pool.fingerprint).replace("QUERY", judging.pool.order[0].query))
    done = CliRunner().invoke(app, ["judge", str(folder), "--answers", str(path)])
    assert done.exit_code == 4
    assert said in done.stderr
    assert not judging.qrels.exists()

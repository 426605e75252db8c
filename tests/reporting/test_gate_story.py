"""A gate as people read it: the answer, what got worse in their own unit, what to do, rows with all else below."""

from dataclasses import replace

import pytest
from gate_fakes import gate_against, gate_of_one, gate_row, lost_example
from recorded import run_file
from test_reporting import results as results_of
from test_reporting import row as checked

from encheck.gating.reindex import Reindex
from encheck.gating.types import ChangedQuery, ChangedShare, FamilyRow, PartialGate, UnjudgedSearch
from encheck.reporting.decisions import GateCommands, gate_commands, next_steps
from encheck.reporting.gate.rows import gate_overview
from encheck.reporting.gate.words import gate_headlines, gate_story, what_has_to_change
from encheck.reporting.html.page import render_gate
from encheck.reporting.junit import gate_properties
from encheck.reporting.markdown import gate_markdown
from encheck.reporting.terminal import gate_lines

QUERY = ChangedQuery("how do i pay", "Pay", "Return")
SEARCH = UnjudgedSearch(
    "retrieval/log/1", 500, 500, 500, 0.02,
    (ChangedShare("recall@1", "the first answer changes", 0.072, 0.05, 0.1, 36, 500),),
    judge="encheck judge r", left=36, changed_queries=(QUERY,),
)  # fmt: skip


def test_a_block_says_no_and_counts_what_was_lost_in_the_unit_of_the_user():
    told = gate_story(gate_against(gate_row(lost_queries=(QUERY,) * 3)), candidate="new")
    assert (told.tone, told.answer) == ("bad", "No: do not replace old with new")
    assert told.lead == "Search got worse: 29 of 456 queries lost, 6 won."
    (loss,) = told.losses
    assert loss.queries == (QUERY,) * 3
    assert loss.figures == "Right in 95.0% before, in 90.0% now. A loss of 2 points matters."


@pytest.mark.parametrize(
    ("sides", "unit"), [(("near", "far"), "comparisons"), (("pair",), "pairs"), ((), "items")]
)  # fmt: skip
def test_what_is_no_query_is_a_comparison_a_pair_or_an_item(sides, unit):
    found = gate_story(gate_against(gate_row("antonym/d/1", lost_examples=(lost_example(*sides),) if sides else ())))
    assert found.losses[0].title == f"Opposites got worse: 29 of 456 {unit} lost, 6 won"


def test_a_search_that_is_no_rate_counts_its_queries_and_any_other_mean_says_both_scores():
    search = gate_row(kind="mean", worse_queries=12, better_queries=3)
    gap = gate_row("paraphrase/d/1", kind="mean", baseline=0.34, candidate=0.3)
    titles = [loss.title for loss in gate_story(gate_against(search, gap)).losses]
    assert titles == [
        "Search on mine got worse: 12 of 456 queries are answered worse, 3 better",
        "Paraphrases on d got worse: its score went from 0.340 to 0.300",
    ]


def test_what_people_count_goes_before_scores_and_a_part_is_told_where_its_whole_does_not_block():
    rows = [
        gate_row("health/d/1/room", kind="mean"), gate_row("facts/d"),
        gate_row("number/d/1", part_of="facts/d", gates=False),
        gate_row("jumble/d/3", part_of="word-order/d", gates=False),
    ]  # fmt: skip
    names = [loss.name for loss in gate_story(gate_against(*rows)).losses]
    assert names == ["Numbers, quantities and names", "Jumbled words, level 3", "Distance of unrelated texts"]


def test_a_broken_contract_comes_first_with_its_cause():
    told = gate_story(
        gate_against(gate_row(), contracts=("the end is seen: 64 texts are longer. It cannot be found.",))
    )
    first, second = told.losses
    assert first.title == "A contract is broken: the end is seen"
    assert first.means == "64 texts are longer. It cannot be found."
    assert told.lead.endswith("Also worse: search.")
    assert second.name == "Search"


def test_an_open_gate_says_how_large_the_loss_may_be_and_what_would_decide():
    row = gate_row(outcome="inconclusive")
    found = gate_against(row, outcome="inconclusive", remedies=(f"more data: 2 times the items decide {row.name}",))
    told = gate_story(found, candidate="new")
    assert told.answer.startswith("Not yet: ")
    assert told.lead.startswith("Search may have got worse: 29 of 456 queries lost")
    assert told.losses[0].figures.endswith(
        "A loss of 2 points matters, and this may be one of 7 points (the lower end of the 95% interval)."
    )
    assert [(step.says, step.ways) for step in next_steps(found)][:2] == [
        ("Keep old in use until the gate can tell.", ()),
        ("To decide:", ('More data: 2 times the items decide "Search".',)),
    ]


def test_a_search_without_labels_shows_what_changed_and_the_command_that_judges_it():
    found = gate_against(
        outcome="inconclusive", searches=(SEARCH,), reasons=("retrieval/log/1: the first answer changes",)
    )
    (loss,) = gate_story(found).losses
    assert loss.title == "Search may have got worse: 36 of 500 logged queries have a different first answer"
    assert loss.queries == (QUERY,)
    assert "encheck judge r" in [step.command for step in next_steps(found)]


@pytest.mark.parametrize(
    ("needed", "answer", "said"),
    [
        (True, "Yes, after re-encoding: new may replace old", "Make these changes with the switch to new"),
        (False, "Yes: new may replace old", "Switch to new. Stored vectors stay"),
    ],
)
def test_a_pass_says_yes_how_much_was_seen_and_whether_to_re_index(needed, answer, said):
    changes = ("Encode all documents again with new.",) * needed
    reindex = Reindex(needed, "...", "...")
    found = gate_against(gate_row(outcome="pass"), outcome="pass", reindex=reindex, required_changes=changes)
    told = gate_story(found, candidate="new")
    assert told.answer == answer
    assert ("GATE: PASSED, AFTER RE-ENCODING. " in next(gate_headlines(gate_of_one(found)))) is needed
    assert what_has_to_change(found) == list(changes)
    assert what_has_to_change(replace(found, outcome="block")) == []
    assert told.lead == (
        "No loss that matters was found in 456 items. This rules out a loss of 4 points in any row, and no "
        "estimated loss reaches 2 points."
    )
    assert told.losses == ()
    first, keep = next_steps(found, candidate="new", to_type=GateCommands(keep="encheck run ..."))
    assert said in first.says
    assert keep.command == "encheck run ..."


@pytest.mark.parametrize("moved", [{"lost": 29, "gained": 40}, {"lost": 12, "gained": 12, "change": 0.01}])
def test_a_row_that_won_more_than_it_lost_is_open_and_not_said_to_be_worse(moved):
    (loss,) = gate_story(gate_against(gate_row(outcome="inconclusive", **moved), outcome="inconclusive")).losses
    assert loss.title == f"Search is open: {moved['lost']} of 456 queries lost, {moved['gained']} won"


def test_a_score_of_which_more_queries_rose_than_fell_is_open_and_not_said_to_be_worse():
    counts = {"kind": "mean", "worse_queries": 12, "better_queries": 30}
    (loss,) = gate_story(gate_against(gate_row(outcome="inconclusive", **counts), outcome="inconclusive")).losses
    assert loss.title == "Search is open: 12 of 456 queries are answered worse, 30 better"


def test_a_part_of_the_checks_is_no_yes_and_is_gated_again_on_all_of_them():
    partial = PartialGate(("antonym",), ("roles",), "-m left out roles")
    found = gate_against(gate_row(outcome="pass"), outcome="inconclusive", partial=partial)
    told = gate_story(found, candidate="new")
    assert told.answer == (
        "Partial: only a part of the checks (opposites) was weighed, so the gate cannot tell whether new can take "
        "old's place"
    )
    _, again = next_steps(found, to_type=GateCommands(whole="encheck gate new old"))
    assert (again.says, again.command) == ("Gate the new model on all checks.", "encheck gate new old")


def run_entry(**given):
    return run_file({"run": given, "checks": []}).run


def test_the_commands_are_what_was_typed_and_what_makes_the_next_baseline():
    settings = {"models": ["./new"], "model_args": [], "data": ["probes", "retrieval:my files"], "queries": "log.txt"}
    found = gate_commands(run_entry(command="encheck gate ./new old -m 'number or roles'", settings=settings))
    assert found.again == "encheck gate ./new old -m 'number or roles'"
    assert found.whole == "encheck gate ./new old"
    assert found.keep == (
        "encheck run --model=./new --data=probes --data='retrieval:my files' --queries=log.txt "
        "--save-baseline=reports/baselines/new"
    )


def test_what_makes_the_next_baseline_has_the_arguments_and_options_of_the_candidate():
    settings = {"models": ["./new"], "model_args": ["new:output=461", "old:pooling=cls", "a=b c"], "data": ["probes"]}
    found = gate_commands(run_entry(settings={**settings, "dtype": "bfloat16", "strict": True}))
    assert found.keep == (
        "encheck run --model=./new --model-arg=output=461 --model-arg='a=b c' --dtype=bfloat16 "
        "--save-baseline=reports/baselines/new"
    )
    assert gate_commands(run_entry(settings={**settings, "models": ["object:new"]})).keep == ""


def test_rows_show_name_change_and_verdict_and_keep_statistics_one_level_down():
    part = gate_row("jumble/d/3", part_of="word-order/d", outcome="inconclusive", gates=False)
    kept = gate_row("word-order/d", outcome="pass", low=-0.004, high=0.003, change=-0.001)
    line, other = gate_overview(gate_against(kept, part, gate_row()))[::-1]
    assert (line.name, line.change, line.verdict) == ("Word order on d", "-0.1 points [-0.4, +0.3]", "as good")
    assert [(one.name, one.verdict) for one in line.parts] == [("Jumbled words on d, level 3", "decides nothing")]
    assert (other.verdict, other.tone) == ("worse", "bad")
    figures = dict(other.figures)
    assert figures["p after Holm's correction"] == "0.002"
    assert figures["loss that matters (delta)"] == "2.0 points"
    assert figures["items, independent clusters"] == "456, 60"


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"outcome": "inconclusive"}, "cannot tell"),
        ({"outcome": "pass", "change": -0.01, "low": -0.015, "high": -0.006}, "a little worse"),
        ({"outcome": "pass", "change": -0.001, "low": -0.002, "high": -0.0005}, "as good"),
        ({"outcome": "pass", "change": 0.03, "low": 0.01, "high": 0.05}, "better"),
        ({"outcome": "pass", "evidence": False, "change": 0.0, "low": -0.01, "high": 0.01}, "decides nothing"),
        ({"outcome": "inconclusive", "gates": False, "evidence": False}, "decides nothing"),
    ],
)
def test_a_verdict_is_a_word_or_two(more, verdict):
    assert gate_overview(gate_against(gate_row(**more)))[0].verdict == verdict


def test_every_output_has_the_same_verdict_for_a_row_that_decides_nothing_for_a_different_model():
    row = gate_row(outcome="pass", evidence=False, change=-0.05, low=-0.07, high=-0.03)
    gate = gate_of_one(gate_against(row, purpose="search"))
    assert gate_overview(gate.against[0])[0].verdict == "worse, not decisive"
    told = [gate_lines(gate, verbose=True), gate_markdown(gate, {}, most=9), map(str, gate_properties(gate))]
    for text in map("\n".join, told):
        assert "worse, not decisive" in text
        assert "a little worse" not in text


@pytest.mark.parametrize(
    ("row", "name", "with_data"),
    [
        ("house-style/d/1", "House style", "House style on d"),
        ("retrieval/mine/1/language=de", "Search, language=de", "Search on mine, language=de"),
    ],
)
def test_a_capability_of_ones_own_and_a_slice_are_called_by_their_names(row, name, with_data):
    alone, beside = ([gate_row(row), *others] for others in ([], [gate_row("antonym/other/1")]))
    assert [gate_overview(gate_against(*rows))[0].name for rows in (alone, beside)] == [name, with_data]


def test_the_terminal_tells_the_story_before_the_rows_and_shows_all_figures_on_request():
    gate = gate_of_one(gate_against(gate_row(lost_queries=(QUERY,))))
    said = list(gate_lines(gate, candidate="new"))
    assert said[:4] == [
        "gate against old, for a changed model (no behaviour may be lost): BLOCKED",
        "  No: do not replace old with new.",
        "  Search got worse: 29 of 456 queries lost, 6 won",
        "    Right in 95.0% before, in 90.0% now. A loss of 2 points matters.",
    ]  # fmt: skip
    assert "    People search longer." in said
    assert not any("could see" in line for line in said)
    whole = list(gate_lines(gate, verbose=True))
    assert any("could see" in line for line in whole)
    assert any("-5.0 [-7.0, -3.0]" in line for line in whole)


@pytest.fixture
def opened(chromium, tmp_path):
    """The page of a gate in a browser."""
    worse = gate_row(lost_queries=(QUERY,) * 3)
    rows = [
        worse,
        gate_row("word-order/mine", outcome="pass"),
        gate_row("antonym/mine/1", lost_examples=(lost_example("near", "far"),) * 3),
    ]
    rows.append(gate_row("jumble/mine/3", part_of="word-order/mine", outcome="inconclusive", gates=False))
    gate = gate_of_one(gate_against(*rows, families=(FamilyRow("order", 2, -1.2, -2.0, passes=False),)))
    (tmp_path / "gate.html").write_text(render_gate(results_of(checked(), gate=gate), gate), "utf-8")

    def open_page(width, **options):
        page = chromium.new_page(viewport={"width": width, "height": 800}, **options)
        page.goto((tmp_path / "gate.html").as_uri())
        return page

    return open_page


def test_at_360_pixels_name_change_and_verdict_are_in_sight_and_nothing_scrolls_sideways(opened):
    page = opened(360)
    wide = (
        "[...document.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML)"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(wide) == []
    summary = page.locator(".weighed summary", has_text="Search").first
    for name in ("name", "change", "verdict-word"):
        assert summary.locator(f".{name}").is_visible()
    assert not page.get_by_text("p after Holm's correction").first.is_visible()


def test_the_keyboard_opens_a_row_to_its_statistics_and_its_parts(opened):
    page = opened(1280)
    page.locator(".weighed summary", has_text="Word order").focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open] >> text=p after Holm's correction").is_visible()
    assert page.locator("details[open] >> text=decides nothing").first.is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_people_who_do_not_see_or_point_can_use_it(opened, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(width, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []
    assert page.pdf()[:5] == b"%PDF-"

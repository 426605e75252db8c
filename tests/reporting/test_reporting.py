"""Terminal, Markdown and HTML show the same results, and hostile text stays text."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from types import MappingProxyType

import numpy as np
import pyarrow.parquet
import pytest
from faults import Killed, steps
from gate_fakes import gate_against, gate_of_one, gate_row
from recorded import result, run_file

from encheck.checks import test_antonym
from encheck.claims import claim_of
from encheck.engine.folder import WRITTEN, remove_earlier_report, report_folder, write_report
from encheck.errors import EncheckError, UsageError
from encheck.gating.types import Balanced, FamilyRow
from encheck.options import Settings
from encheck.reporting import markdown, terminal, view
from encheck.reporting.failures import failure_message
from encheck.reporting.html import page as html
from encheck.reporting.results import find_item, newest_run, read_results, write_items, write_results
from encheck.reporting.text import escape_markdown
from encheck.scoring.frame import RunItems, item_table
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.pairs import SentencePair, SentencePairScores
from encheck.scoring.scores import Scale
from encheck.scoring.triplets import TRIPLET
from encheck.statistics.bootstrap import Resampler
from encheck.system.files import PARTIAL, partial_path
from encheck.types import CheckResult, Declaration, Estimate, FloorAndAim

CRITERIA = {
    name: asdict(Declaration(property=name, criterion=number)) | {"says": "", "title": "", "why": ""}
    for number, name in enumerate(("paraphrase", "synonym", "antonym", "jumble"), 1)
}
HOSTILE = "<script>alert(1)</script> \u202eevil\u202c | `x` [a](b)\x00 &amp;"


def row(**changes):
    base = {
        "id": "antonym_is_farther_than_paraphrase/m-d-1/margin_rate_calibrated",
        "check": "antonym_is_farther_than_paraphrase", "property": "antonym", "level": "1",
        "reason": "", "model": "m", "data": "d", "params": {"epsilon": 0.0}, "metric": "margin_rate_calibrated",
        "value": 0.61, "low": 0.55, "high": 0.66, "n": 400, "clusters": 380, "floor": 0.8, "floor_of": None,
        "aim": 0.8, "verdict": "fail",
        "baseline": None, "excluded": {}, "surface": {"jaccard": {"value": 0.1, "low": 0.0, "high": 0.2, "curve": []}},
        "curve": [{"epsilon": e / 10, "value": 0.5, "low": 0.4, "high": 0.6, "count": 200} for e in range(-3, 4)],
    }  # fmt: skip
    return result(base | changes)


def results(*rows, models=({},), data=MappingProxyType({}), **more):
    about = {"licence": HOSTILE, "labels": {"1": 1}, **data}
    run = {"exit_status": 1, "notes": [HOSTILE], "encoded": {"m": 3},
           "properties": {"antonym": {"texts": 3, "encode_seconds": 0.1, "measure_seconds": 0.2}}}  # fmt: skip
    return run_file({"run": run, "models": list(models), "data": [about], "checks": rows, **more})


def items(count=1):
    case = "antonym_is_farther_than_paraphrase/m-d-1"
    names = tuple(f"d/{i:04x}/antonym/1/written/0" for i in range(count))
    near = TextColumns((HOSTILE,) * count, 0.1 * np.arange(count), np.full(count, 0.2))
    far = TextColumns(("an <b>other</b> text",) * count, np.full(count, 0.5), np.full(count, 0.3))
    return {case: ItemFrame(TRIPLET, case, names, (HOSTILE,) * count, near, ("c",) * count, ("",) * count, far)}


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def packed_in(page):
    text = re.search(r'id="payload">([^<]*)<', page).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_hostile_text_in_the_page_stays_text():
    page = html.render_run(results(row(reason=HOSTILE)), items())
    tags = [tag for tag, attrs in Tags(page).found if tag == "script"]
    assert len(tags) == 2  # what the page reads, and its own
    assert not {"iframe", "img", "object", "embed"} & {tag for tag, _ in Tags(page).found}
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\0" not in page


def test_what_nobody_sees_of_a_reason_is_made_visible_on_the_page_and_on_the_terminal():
    """Lines stay lines: a reason in YAML may have some."""
    hidden = results(row(reason="known\n \x1b]0;x\x07 \u202eevil", verdict="known_failure"))
    page, told = html.render_run(hidden, {}), "\n".join(terminal.run_lines(hidden))
    assert page.count("known\n \u241b]0;x\u2407 \ufffdevil") == 1
    assert "known failure (opposites): known\n \u241b]0;x\u2407 \ufffdevil" in told
    assert not re.search("[\x1b\x07\u202e]", page + told)


def test_what_nobody_sees_of_a_text_is_made_visible_in_the_message_of_a_failure():
    pairs = [SentencePair("d/1", "\x1b]0;x\x07", "\u202eevil", 1, "c")]
    scores = SentencePairScores(
        np.array([0.1]), np.array([1], np.int8), Resampler(["c"]), Scale(0.0), items=tuple(pairs)
    )
    found = Estimate("mean_similarity", 0.1, 0.1, 0.1, n=1, clusters=1)
    failed = CheckResult("id", "check", "property", "1", "m", "d", found, "fail", FloorAndAim(0.9, 0.9))
    said = failure_message(failed, pairs, scores, model="--model=m")
    assert "\ufffdevil\n        of    \u241b]0;x\u2407\n" in said


@pytest.mark.parametrize(
    ("held", "high", "said"),
    [
        (FloorAndAim(0.9, 0.9), 0.1, "should be at least 0.9"),
        (FloorAndAim(0.9, 0.5), 0.1, "should be at least 0.5 (its floor; the aim is 0.9)"),
        (
            FloorAndAim(0.9, 0.3125, "jaccard"),
            0.1,
            "should be at least 0.312, the figure of jaccard (its floor; the aim is 0.9)",
        ),
        (FloorAndAim(0.9, 0.5), 0.6, "should be at least 0.9"),
        (FloorAndAim(0.9), 0.1, "should be at least 0.9"),
    ],
)
def test_a_failure_says_which_line_it_fell_under(held, high, said):
    pairs = [SentencePair("d/1", "one", "two", 1, "c")]
    scores = SentencePairScores(
        np.array([0.1]), np.array([1], np.int8), Resampler(["c"]), Scale(0.0), items=tuple(pairs)
    )
    found = Estimate("mean_similarity", 0.1, 0.1, high, n=1, clusters=1)
    failed = CheckResult("id", "check", "property", "1", "m", "d", found, "fail", held)
    head = failure_message(failed, pairs, scores, model="--model=m").split("\n")[0]
    assert head.endswith(f"for 'm' on d, but {said}")


def test_items_are_packed_and_what_nobody_sees_is_made_visible():
    texts = packed_in(html.render_run(results(row()), items()))["texts"]
    assert "<script>alert(1)</script> \ufffdevil\ufffd | `x` [a](b)\u2400 &amp;" in texts


def test_the_page_asks_for_nothing_and_allows_only_its_own_scripts():
    page = html.render_run(results(row()), items())
    tags = Tags(page).found
    policy = next(a["content"] for t, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert re.findall(r"'sha256-([^']*)'", policy) == hashes
    links = [a.get("href") or a.get("src") for _, a in tags if a.get("href") or a.get("src")]
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert not any(name.startswith("on") for _, attrs in tags for name in attrs)


def test_the_page_holds_verdict_figure_curve_and_the_most_wrong_item_first():
    page = html.render_run(results(row()), items(9))
    assert "<strong>61%</strong>" in page
    assert "55–66" in page
    packed = packed_in(page)
    case = packed["cases"]["antonym_is_farther_than_paraphrase/m-d-1"]
    assert [i.split("/")[1] for i in case["item"][:2]] == ["0000", "0001"]
    assert case["near_score"] == sorted(case["near_score"])
    drawn = page.partition('aria-label="Share of items with a calibrated margin above epsilon"')[2].partition("</svg>")[
        0
    ]
    line = re.search(r'class="c0" d="M([^"]*)"', drawn).group(1)
    assert len(line.split()) == 7  # epsilon from -0.3 to 0.3


def test_more_items_than_a_page_holds_are_cut_to_the_most_wrong_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(html, "MOST_OF_CASE", 5)
    page = html.render_run(results(row()), items(9))
    case = packed_in(page)["cases"]["antonym_is_farther_than_paraphrase/m-d-1"]
    assert [i.split("/")[1] for i in case["item"]] == [f"{i:04x}" for i in range(5)]
    assert "This page holds the 5 worst items of each check." in page


@pytest.mark.parametrize(("epsilon", "lost"), [(0.0, 6), (0.3, 7)])
def test_the_items_that_went_wrong_are_those_that_the_figure_does_not_count(epsilon, lost):
    """Six margins are 0 or less; the seventh is 0.1 raw, 0.2 on a scale of a half."""
    scale = {"reference": 0.5, "identity": 1.0, "pairs": 9, "spread": 0.1}
    found = results(row(params={"epsilon": epsilon}), data={"calibration": {"m": scale}})
    case = packed_in(html.render_run(found, items(9)))["cases"]["antonym_is_farther_than_paraphrase/m-d-1"]
    assert case["wrong"] == [1] * lost + [0] * (9 - lost)


def test_what_was_not_run_is_said_with_its_reason():
    skipped = row(id="x/m-d-1/none", check="x", metric=None, value=None, low=None, high=None, floor=None, aim=None,
                  verdict="skipped", reason="d has no chains", n=0, clusters=0, curve=[])  # fmt: skip
    found = results(row(), skipped)
    assert "<li>opposites: d has no chains</li>" in html.render_run(found, items())
    assert "- m on d: skipped: opposites: d has no chains" in markdown.render_summary(found)


def test_skips_of_one_reason_are_one_line_a_model():
    """Each reason once, however many checks it skips: they stand in no table."""
    named = ("negation", "number", "number", "sts")
    reasons = [f"needs {what}: d has none of {i}" for i, what in enumerate([*["probes"] * 3, "scores"])]
    skipped = [
        row(id=f"c{i}/m-d-1/none", check=f"c{i}", property=name, metric=None, value=None, low=None, high=None,
            floor=None, aim=None, verdict="skipped", reason=reason, n=0, clusters=0, curve=[])
        for i, (name, reason) in enumerate(zip(named, reasons, strict=True))
    ]  # fmt: skip
    found = results(row(), *skipped)
    shown = list(terminal.run_lines(found))
    assert [line for line in shown if "skipped" in line] == [
        "  skipped: 2 properties need probes; graded pairs: needs scores"
    ]
    page = html.render_run(found, items())
    assert "<li>2 properties need probes (what is denied, numbers)</li><li>graded pairs: needs scores</li>" in page
    assert 'class="verdict skipped">skipped' not in page.partition('id="criteria"')[0]
    assert "c0" not in markdown.render_summary(found)


def test_a_baseline_is_shown_as_a_trend():
    before = {"value": 0.58, "low": 0.5, "high": 0.6, "n": 4}
    assert "58% (+3 points)" in html.render_run(results(row(baseline=before)), items())


def test_a_check_shows_each_model_s_own_threshold_where_they_differ():
    lenient = row(id="antonym_is_farther_than_paraphrase/k-d-1/margin_rate_calibrated", model="k", value=0.77,
                  floor=0.01, aim=0.01, verdict="pass")  # fmt: skip
    assert "Thresholds: k: aim 0.01; m: aim 0.8." in html.render_run(_two_models(lenient), items())
    assert "Thresholds: aim 0.8." in html.render_run(_two_models(replace(lenient, floor=0.8, aim=0.8)), items())


def _two_models(other):
    return results(row(), other, models=[{}, {"label": other.model}])


def test_the_gate_in_the_page_has_families_and_what_does_not_gate_and_why_but_no_rescaled_score():
    few = gate_row("antonym/d/1", gates=False, evidence=False, outcome="pass")
    against = gate_against(
        few, reasons=(HOSTILE,), families=(FamilyRow("order", 2, -1.254, -2.0, passes=False),),
        balanced=Balanced(0.75, 0.5), reported_only={"a/d-1": HOSTILE}, notes=("a note",),
    )  # fmt: skip
    page = html.render_run(results(row(), gate=gate_of_one(against)), items())
    assert "<li>order: -1.25, lower bound -2.00, 2 rows, open</li>" in page
    assert "0.750" not in page
    assert "<li>a note</li>" in page
    assert "decides nothing" in page
    assert f"<li>a/d-1: {escape_markdown(HOSTILE)[:20]}" in page
    assert "<script>alert" not in page


def test_what_a_check_says_of_itself_is_in_the_page():
    told = {"antonym_is_farther_than_paraphrase": {"says": "It says.", "title": "A title.", "why": "It matters."}}
    page = html.render_run(results(row(), claims=told), items())
    assert '<span class="title">It says.</span>' in page
    assert "<strong>Why it matters.</strong> It matters." in page
    assert "A title." in page


def test_every_link_of_the_page_leads_somewhere():
    tags = Tags(html.render_run(results(row()), items())).found
    anchors = {a["id"] for _, a in tags if "id" in a}
    assert {a["href"][1:] for t, a in tags if t == "a"} <= anchors


def test_markdown_holds_the_same_table_and_hostile_text_ends_no_cell():
    text = markdown.render_summary(results(row(reason=HOSTILE)))
    line = next(line for line in text.splitlines() if line.startswith("| fail"))
    assert line.replace("\\|", "").count("|") == 12
    assert "<script" not in text
    assert "0.61 [0.55, 0.66]" in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("*x* ~~y~~ C:\\*", "\\*x\\* \\~\\~y\\~\\~ C:\\\\\\*"),
        ("__x__ _y_ margin_rate", "\\_\\_x\\_\\_ \\_y\\_ margin_rate"),
        ("$$x$$", "<span>$</span><span>$</span>x<span>$</span><span>$</span>"),
        ("http://a.b WWW.c.d", "http<span>:</span>//a.b WWW<span>.</span>c.d"),
        ("@somebody #1", "<span>@</span>somebody <span>#</span>1"),
        ("\u202eevil\x1b", "\ufffdevil\u241b"),
    ],
)
def test_markdown_neither_formats_nor_links_a_text(text, written):
    assert escape_markdown(text) == written
    assert f"| {written} |" in markdown.render_summary(results(row(reason=text)))


def test_the_terminal_table_is_aligned():
    lines = list(terminal.table([("a", "bb"), ("ccc", "d")]))
    assert [line.index(x) for line, x in zip(lines, ("bb", "d"), strict=True)] == [7, 7]


def test_the_headline_says_what_passes_what_fails_and_what_is_known():
    known = row(id="x/m-d-1/y", property="jumble", verdict="known_failure", reason="the paper")
    said = view.run_headlines(results(row(), known, row(id="z/m-d-1/y", verdict="pass")))
    assert said == ["m passes 1 of 3 checks; fails 1 (opposites); 1 known failure (jumbled words)"]


def test_what_is_below_its_aim_is_told_apart_from_what_fails_and_from_what_is_open():
    rows = [row(id=f"x/m-d-{v}/y", verdict=v, level=v) for v in ("below_aim", "inconclusive", "pass")]
    (said,) = view.run_headlines(results(*rows))
    assert said == "m passes 1 of 3 checks; is below aim in 1 (opposites); 1 inconclusive"
    assert "| below aim | " in markdown.render_summary(results(*rows))
    page = html.render_run(results(*rows), items())
    assert re.findall(r'class="words (\w+)">([^<]+)<', page.partition('class="check"')[2]) == [
        ("tied", "below aim"),
        ("tied", "inconclusive"),
        ("good", "pass"),
    ]


@pytest.mark.parametrize(
    ("held", "said", "named"),
    [
        ({"floor": 0.5, "aim": 0.8}, "0.5 / 0.8", "0.5 / 0.8"),
        ({"floor": 0.312, "floor_of": "jaccard", "aim": 0.8}, "0.31 / 0.8", "0.31 (jaccard) / 0.8"),
        ({"floor": None, "aim": 0.8}, "- / 0.8", "- / 0.8"),
        ({"floor": 0.9, "aim": 0.9}, "0.9", "0.9"),
        ({"floor": 0.5454, "floor_of": "jaccard", "aim": 0.5454}, "0.55", "0.55 (jaccard)"),
        ({"floor": 0.125, "aim": 0.125}, "0.125", "0.125"),
        ({"floor": None, "aim": None}, "-", "-"),
    ],
)
def test_floor_and_aim_stand_together(held, said, named):
    one = row(**held)
    assert (view.floor_and_aim(one), view.floor_and_aim(one, name=True)) == (said, named)


def test_a_figure_without_a_verdict_on_these_data_is_shown_and_does_not_count_in_the_criterion():
    declared = {"says": "", "title": "", "why": "", "family": "meaning kept", "metric": "gap", "criterion": 1}
    shown = row(
        verdict=None, floor=None, aim=None, reason="words tell", metric="gap", params={"unjudged": "words tell"}
    )
    other = row(check="other", id="other/m-d-1/gap", metric="gap", verdict="pass")
    found = results(shown, other, claims={shown.check: declared, "other": declared})
    assert view.judged_rows(found) == [shown, other]
    assert [cell.verdicts for cell in view.criteria_matrix(found)] == [{1: "pass"}]


def test_a_check_without_a_verdict_is_shown_with_its_reason():
    shown = row(verdict=None, floor=None, aim=None, reason="nonsense", metric="margin_rate")
    declared = {"says": "", "title": "", "why": "", "family": "order", "metric": "margin_rate", "unjudged": "nonsense"}
    found = results(shown, claims={shown.check: declared})
    assert view.judged_rows(found) == [shown]
    assert "not judged (opposites): nonsense" in "\n".join(terminal.run_lines(found))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (["pass", "pass", "stale_known_failure", "pass"], "pass"),
        (["pass", "known_failure", "pass", "pass"], "fail"),
        (["pass", "pass"], "skipped"),
        (["pass", "inconclusive", "pass", "pass"], "inconclusive"),
        (["pass", "below_aim", "pass", "pass"], "fail"),
    ],
)
def test_an_encoder_passes_only_with_all_four_criteria(found, said):
    rows = [row(id=f"{c}/m-d-1/x", check=c, property=c, verdict=v) for c, v in zip(CRITERIA, found, strict=False)]
    assert view.criteria_matrix(results(*rows, claims=CRITERIA))[0].all == said


@pytest.mark.parametrize(("verdict", "said", "four"), [("pass", "pass", "pass"), (None, "not judged", "not judged")])
def test_the_criteria_say_alike_on_the_page_and_in_markdown_what_was_run(verdict, said, four):
    """With a gate, rows have no verdict: what was measured is shown, what was not selected was not run."""
    run = [row(id=f"{c}/m-d-1/x", check=c, property=c, verdict=verdict) for c in CRITERIA]
    three = results(*run[:3], claims=CRITERIA)
    page, text = html.render_run(three, {}), markdown.render_summary(three)
    cells = page.partition('id="criteria"')[2].partition('<th scope="row">m</th><td>d</td>')[2].partition("</tr>")[0]
    assert re.findall(r">([^<]+)</td>", cells) == [said, said, said, "skipped", "skipped"]
    assert f"| m | d | {said} | {said} | {said} | skipped | skipped |" in text
    assert view.criteria_matrix(results(*run, claims=CRITERIA))[0].all == four


def test_controls_that_the_paper_does_not_have_count_for_no_criterion_and_stand_with_it():
    """A control of criterion 3 fails: the paper's own check of it passes, so the criterion does."""
    own = "antonym_is_farther_than_paraphrase"
    rows = [
        row(id=f"{check}/m-d-1/x", check=check, property="antonym", verdict=verdict)
        for check, verdict in ((own, "pass"), ("antonym_is_farther_than_synonym_of_the_same_word", "fail"))
    ]
    names = [r.check for r in rows]
    claims = {name: asdict(claim_of(getattr(test_antonym, f"test_{name}")).declared) for name in names}
    claims["z"] = asdict(Declaration(property="zero"))
    found = results(*rows, row(id="z/m-d-1/x", check="z", property="zero", verdict="pass"), claims=claims)
    assert view.criteria_matrix(found)[0].verdicts == {3: "pass"}
    assert [r.property for r in view.judged_rows(found)] == ["antonym", "antonym", "zero"]


def test_a_criterion_that_was_measured_in_part_is_not_called_skipped():
    rows = [row(id=f"{v}/m-d-1/x", check="antonym", verdict=v) for v in ("skipped", None)]
    assert view.criteria_matrix(results(*rows, claims=CRITERIA))[0].words[3] == "not judged"


def test_a_figure_without_a_value_is_a_dash():
    assert view.figure_text(row(value=None, low=None, high=None)) == "-"


def test_results_are_read_back_as_they_were_written(tmp_path):
    write_results(tmp_path, results(row()))
    assert read_results(tmp_path) == results(row())


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "cannot be read"), ('{"schema_version": 99}', "schema version 99"), ("[]", "schema version None")],
)
def test_results_that_are_damaged_or_of_another_schema_are_refused(tmp_path, text, message):
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_results(tmp_path)


def test_a_folder_without_results_is_no_run(tmp_path):
    with pytest.raises(UsageError, match="is not a run"):
        read_results(tmp_path)
    with pytest.raises(UsageError, match="there is no run"):
        newest_run(tmp_path)


def test_an_item_is_found_by_the_beginning_of_its_id(tmp_path):
    write_items(tmp_path, RunItems.from_tables(map(item_table, items(20).values())))
    assert len(find_item(tmp_path, "d/0007")) == 1
    assert len(find_item(tmp_path, "d/000")) == 16
    assert find_item(tmp_path, "d/0007")[0].source == HOSTILE


def test_the_item_file_holds_people_s_scores_and_the_data_s_own_keys(tmp_path):
    """So that a correlation can be computed again from it."""
    pairs = tuple(SentencePair(f"d/{i}", f"a {i}", f"b {i}", None, "c", score=i / 2, key=f"q/{i}") for i in range(3))
    labels = np.ones(3, np.int8)
    scores = SentencePairScores(np.array([0.1, 0.2, 0.3]), labels, Resampler(["c"] * 3), Scale(0.0), items=pairs)
    write_items(tmp_path, RunItems.from_tables([item_table(scores.to_item_frame("x", pairs))]))
    found = pyarrow.parquet.read_table(tmp_path / "items.parquet").to_pydict()
    assert (found["gold"], found["key"]) == ([0.0, 0.5, 1.0], ["q/0", "q/1", "q/2"])


def test_two_runs_of_one_moment_have_a_folder_each(tmp_path):
    now = datetime.now(UTC)
    folders = [report_folder(Settings(root=tmp_path), started=now) for _ in range(3)]
    assert [folder.is_dir() for folder in folders] == [True, True, True]
    assert len(set(folders)) == 3


def test_what_is_cleared_for_a_run_leaves_a_baseline_alone(tmp_path):
    for name in ("baseline.json", "items.parquet"):
        (tmp_path / name).write_text("")
    remove_earlier_report(tmp_path)
    assert (tmp_path / "items.parquet").exists()


@pytest.fixture
def write_run(monkeypatch):
    monkeypatch.setattr(html, "render_run", lambda *args, **named: "<p>report")
    return lambda place: write_report(place, results(row()), RunItems.from_tables(map(item_table, items().values())))


def test_a_report_that_finds_the_disk_full_at_any_write_says_which_file_and_leaves_none_half(write_run, tmp_path):
    named = set()
    for error in steps(lambda: write_run(tmp_path), full=True):
        assert isinstance(error, EncheckError)
        said = re.match(
            rf"cannot write the results to {tmp_path}: (\S+): No space left on device. Make room", str(error)
        )
        named.add(said[1])
        assert not list(tmp_path.glob(".*"))
    assert named == set(WRITTEN) == {path.name for path in tmp_path.iterdir()}


def test_what_a_killed_report_left_is_swept_by_the_next_run(write_run, tmp_path):
    def write_again():
        write_run(tmp_path)

    left = set()
    for error in steps(write_again):
        assert isinstance(error, Killed)
        left |= {path.name[: len(PARTIAL)] for path in tmp_path.glob(".*")}
        (tmp_path / ".encheck-partial-mine").write_text("a user's")
        partial_path(tmp_path / "thesis.tex").touch()
        remove_earlier_report(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2
        for path in tmp_path.iterdir():
            path.unlink()
    assert left == {PARTIAL}
    assert {path.name for path in tmp_path.iterdir()} == set(WRITTEN)

"""The comment on a pull request: what it says, how long it gets, and that no text in it takes effect."""

import html
import math
import re
from dataclasses import replace

import pytest
from gate_fakes import gate_against, gate_of_one, gate_row
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from recorded import run_file

from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ThresholdShift
from encheck.gating.types import ExampleText, LostExample, PartialGate
from encheck.reporting.comment import LIMIT, CommentPart, fit_parts, gate_comment, utf16_length

HOSTILE = (
    "@team see https://evil.example www.evil.example #12 GH-13 !14 %15 ~bug &16 :tada: $x$ "
    "<img src=x onerror=alert(1)> <!-- --> </details> ```` `a` | **b** [c](http://d) me@example.org"
)


def row(name="antonym/probes/1", *, outcome="block", text="a fast car", means="Results crowd out others.", **more):
    texts = (
        ExampleText("near", (("same", text),), 0.9, 0.5),
        ExampleText("far", (("del", "fast"), ("ins", text)), 0.8, math.nan),
    )
    return gate_row(name, **{
        "baseline": 0.8, "candidate": 0.7, "change": -0.1, "low": -0.12, "high": -0.08, "outcome": outcome,
        "lost": 40, "gained": 3, "why": "80.0% to 70.0% (-10.0 points; 2 matter)", "means": means,
        "lost_examples": (LostExample(text, texts),) * 3 if outcome == "block" else (), **more,
    })  # fmt: skip


def results(*rows, outcome="block", partial=(), **more):
    part = PartialGate(tuple(partial), (), f"-m left out {partial[0]}") if partial else None
    against = gate_against(*rows, outcome=outcome, **{"baseline": "production", "partial": part, **more})
    gate = gate_of_one(against)
    run = {
        "exit_status": gate.exit_code,
        "notes": [],
        "versions": {"encheck": "0.1.0"},
        "command": "encheck gate new",
    }
    return {"run": run, "models": [], "gate": gate, "checks": []}


def comment_on(given, **more):
    return gate_comment(run_file(given), **more)


def rendered(text):
    return MarkdownIt("gfm-like", {"linkify": False}).render(text)


def texts_of(page):
    """The text nodes of a page, but for those in code, as a host looks through them."""
    outside = re.sub(r"<code.*?</code>", "<hr>", page, flags=re.DOTALL)
    return [html.unescape(text) for text in re.split(r"<[^>]*>", outside)]


def test_a_block_has_verdict_reason_what_to_do_meaning_and_three_lost_items():
    said = comment_on(results(row()))
    head, reason, to_do, *_ = said.split("\n\n")
    assert (head, reason) == (
        "## GATE: BLOCKED",
        "No: do not replace production with the new model. Opposites got worse: 40 of 456 comparisons lost, 3 won.",
    )
    assert to_do.startswith("**What to do.** Do not merge")
    assert "Results crowd out others." in said
    assert said.count("should be nearer  0.500, was 0.900  a fast car") == 3
    assert "3 of them" in said
    assert "| Opposites | -10.0 points [-12.0, -8.0] | worse |" in said
    assert "`encheck gate new`" in said


def test_a_gate_that_cannot_tell_says_what_would_decide_and_what_it_counts_as():
    open_row = row(outcome="inconclusive", why="may have lost 3 points")
    said = comment_on(results(open_row, outcome="inconclusive", remedies=("twice the items would decide",)))
    assert "### What is open" in said
    assert "- to decide: twice the items would decide" in said
    assert "exit code 10" in said
    assert "lost item" not in said


def test_a_pass_says_to_make_the_baseline_again():
    assert "make the baseline of the new model" in comment_on(results(row(outcome="pass"), outcome="pass"))


def test_a_partial_gate_says_that_it_is_one_and_never_yes():
    said = comment_on(results(row(outcome="pass"), outcome="inconclusive", partial=["antonym"]))
    assert said.startswith("## GATE (partial: opposites): INCONCLUSIVE\n")
    assert "**Partial gate.** It can block but never passes: -m left out antonym. Properties used: antonym." in said
    assert "It counts as exit code 10: a partial gate never passes." in said
    assert "Yes" not in said
    assert "may replace" not in said


def test_a_pass_of_a_run_that_fails_is_not_called_one_to_merge():
    found = results(row(outcome="pass"), outcome="pass")
    found["run"]["exit_status"] = 1
    found["gate"] = replace(found["gate"], exit_code=1)
    said = comment_on(found)
    assert "The run still fails (exit code 1)" in said
    assert "After the merge" not in said


def test_two_baselines_have_a_section_each():
    found = results(row())
    (one,) = found["gate"].against
    found["gate"] = replace(found["gate"], against=(one, replace(one, baseline="anchor")))
    said = comment_on(found)
    assert "### What blocks, against production" in said
    assert "### What blocks, against anchor" in said


def test_whether_to_re_index_and_what_a_threshold_accepts_is_said_where_the_results_say_it():
    found = comment_on(
        results(
            row(),
            reindex=Reindex(False, "no", "same vectors"),
            thresholds=(ThresholdShift("d", 0.5, 99, 9, 0, 0, None, None),),
        )
    )
    assert "**Re-index:** no (same vectors)\n- threshold 0.5 on d: accepted 0.0% of 99 pairs" in found
    assert "Re-index" not in comment_on(results(row()))


def test_a_run_without_a_gate_has_no_verdict():
    found = results() | {"run": results()["run"] | {"exit_status": 4, "notes": ["12 items are others"]}}
    del found["gate"]
    said = comment_on(found)
    assert said.startswith("## GATE: NO VERDICT. Exit code 4\n")
    assert "- 12 items are others" in said
    assert "There was no baseline" in comment_on(found, made="base")
    assert "`base`" in comment_on(found, made="base")
    assert "wrote no results" in gate_comment(None)


def test_it_is_never_longer_than_hosts_take_and_counts_what_it_leaves_out():
    many = [row(f"antonym/probes/{i}", text="\U0001f600$@" * 120, means=HOSTILE * 9) for i in range(250)]
    said = comment_on(results(*many, partial=[HOSTILE] * 500, notes=(HOSTILE,) * 500))
    assert LIMIT * 0.9 < utf16_length(said) <= LIMIT
    assert re.search(r"Too long for a comment: \d{3,4} more entries are left out here\.\n$", said)
    assert rendered(said).count("<details>") == rendered(said).count("</details>")


@given(st.lists(st.lists(st.text(max_size=60), max_size=6), max_size=8), st.integers(120, 400))
def test_sections_that_fit_are_whole_and_never_too_long(parts, limit):
    said = fit_parts([CommentPart("<s>", some, "</s>") for some in parts], limit=limit)
    assert utf16_length(said) <= limit
    assert said.count("<s>") == said.count("</s>")


@pytest.mark.parametrize("place", ["row", "why", "text", "means", "note", "baseline", "partial", "command"])
def test_a_hostile_text_formats_nothing_pings_nobody_and_links_nowhere(place):
    one = {} if place in ("note", "baseline", "partial", "command") else {"name" if place == "row" else place: HOSTILE}
    partial, baseline = [HOSTILE] * (place == "partial"), HOSTILE if place == "baseline" else "production"
    found = results(row(**one), notes=(HOSTILE,) * (place == "note"), partial=partial, baseline=baseline)
    found["run"]["command"] = HOSTILE if place == "command" else "encheck"
    plain = comment_on(results(row(), notes=("x",) * (place == "note"), partial=["x"] * (place == "partial")))
    page = rendered(comment_on(found))
    tags = [re.findall(r"</?(\w+)", re.sub(r"</?span>", "", shown)) for shown in (page, rendered(plain))]
    assert tags[0] == tags[1]
    assert not re.search(r"<a |<img|<!--", page)
    for text in texts_of(page):
        assert not re.search(r"@\w|://|www\.|#\d|GH-\d|!\d|%\d|&\d|:\w+:|\$\w", text), text


@pytest.mark.parametrize("text", ["- x", "1. x", "> x", "# x", "[ ] x", "/close", "===", "---", "a\n/approve", "    x"])
def test_no_text_begins_a_block_or_a_command_of_the_host(text):
    found = comment_on(results(row(outcome="inconclusive"), outcome="inconclusive", notes=(text,), remedies=(text,)))
    assert not any(line.lstrip().startswith("/") for line in found.splitlines())
    page = rendered(found)
    assert page.count("<ul>") == 3  # what to do, reasons, notes: no list in a list
    assert not re.search(r"<(ol|blockquote|h1|input|hr)\b", page)


def test_the_texts_of_a_fence_do_not_end_it():
    page = rendered(comment_on(results(row(text="``` ```` </code> <b>"))))
    assert page.count("<pre>") == 1
    assert "<b>" not in page

"""README and docs quote figures of the default run: they are those that docs/figures.json records."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import differences, figures, read  # noqa: E402

CASE = "sbert-probes-1"
BOTH = "{}_in_both_directions/sbert-probes-1/{}_calibrated"
QUOTED = {
    "comparisons_are_seen": "which of two is more?",
    "order_of_events_is_seen": "what came first?",
    "attributes_are_seen": "which attribute belongs to which thing?",
    "roles_are_seen": "who did what to whom?",
    "number_is_seen": "another number?",
    "negation_is_seen": "which of two things is denied?",
    "modality_is_seen": "which is a must, and which is optional?",
    "antonym_is_seen": "the opposite of a word?",
    "entity_is_seen": "another name?",
    "quantifier_is_seen": "what holds for many, and what for few?",
}


def text(name):
    return " ".join((ROOT / name).read_text("utf-8").split())


@pytest.fixture(scope="module")
def readme():
    return text("README.md")


@pytest.mark.parametrize("name", QUOTED)
def test_the_readme_quotes_what_was_recorded(readme, name):
    row = read()[BOTH.format(name, "both_directions")]
    figure = f"**{row['value']:.0%}** ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
    assert re.search(rf"\| {re.escape(QUOTED[name])} \|[^|]*\|[^|]*\|[^|]*\| {re.escape(figure)} \|", readme)


def test_the_table_has_every_check_in_both_directions_that_was_recorded(readme):
    recorded = {name.partition("_in_both_directions/")[0] for name in read() if "/both_directions_calibrated" in name}
    assert set(QUOTED) == recorded
    assert len(re.findall(r"\*\*\d+%\*\* \(\d+ to \d+\) \|", readme)) == len(recorded)


def test_the_share_of_opposites_is_what_the_margin_rate_leaves():
    row = read()[f"antonym_is_farther_than_paraphrase/{CASE}/margin_rate"]
    value, low, high = (f"{100 - 100 * row[name]:.1f}" for name in ("value", "high", "low"))
    assert f"In **{value}%** of sentences ({low} to {high})" in text("docs/checks.md")


def test_the_two_directions_of_the_order_of_events_are_the_recorded_ones(readme):
    near, far = (read()[BOTH.format("order_of_events_is_seen", f"direction_{n}")]["value"] for n in (1, 2))
    assert f"right in {near:.0%} of the groups in the direction where the wording speaks for the right text" in readme
    assert f"and in {far:.0%} where it speaks against it" in readme


def test_a_figure_that_moved_and_one_that_is_missing_are_told(tmp_path):
    row = {"id": "a/m-d-1/rate", "value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "params": {}}
    (tmp_path / "results.json").write_text(json.dumps({"checks": [row, {**row, "id": "b/m-d-1/rate", "value": None}]}))
    found = figures(tmp_path)
    assert list(differences(found, found)) == []
    assert list(found) == ["a/m-d-1/rate"]
    moved = {"a/m-d-1/rate": {**found["a/m-d-1/rate"], "low": 0.41}}
    assert len(list(differences(found, {**moved, "c": moved["a/m-d-1/rate"]}))) == 2

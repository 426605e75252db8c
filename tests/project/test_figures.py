"""The README quotes figures of the default run: they are those that docs/figures.json records."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import differences, figures, read  # noqa: E402

CASE = "sbert-probes-1"
BOTH = "{}_in_both_directions/sbert-probes-1/{}_calibrated"
QUOTED = {
    "roles_are_seen": "**Who did what to whom:** {}",
    "attributes_are_seen": "**Which attribute belongs to which thing:** {}",
    "order_of_events_is_seen": "**What came first:** {}",
    "comparisons_are_seen": "**Which of two is more:** {}",
    "number_is_seen": '("1.5 kg", "1,500 g", "2,500 g"): {}',
    "negation_is_seen": "against the same statement in other words: {}",
    "quantifier_is_seen": "**Another quantifier:** {}",
    "modality_is_seen": "**Another modality:** {}",
    "entity_is_seen": "**Another name:** {}",
    "antonym_is_seen": "against a synonym of the same word: {}",
}


@pytest.fixture(scope="module")
def readme():
    return " ".join((ROOT / "README.md").read_text("utf-8").split())


@pytest.mark.parametrize("name", QUOTED)
def test_the_readme_quotes_what_was_recorded(readme, name):
    row = read()[BOTH.format(name, "both_directions")]
    figure = f"**{row['value']:.0%}** ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
    assert QUOTED[name].format(figure) in readme


def test_the_share_of_opposites_is_what_the_margin_rate_leaves(readme):
    row = read()[f"antonym_is_farther_than_paraphrase/{CASE}/margin_rate"]
    value, low, high = (f"{100 - 100 * row[name]:.1f}" for name in ("value", "high", "low"))
    assert f"In **{value}%** of sentences ({low} to {high})" in readme


def test_the_two_directions_of_roles_are_the_recorded_ones(readme):
    near, far = (read()[BOTH.format("roles_are_seen", f"direction_{n}")]["value"] for n in (1, 2))
    assert f"favours the right text it is right in {near:.0%}" in readme
    assert f"favours the wrong one in {far:.0%}" in readme


def test_a_figure_that_moved_and_one_that_is_missing_are_told(tmp_path):
    row = {"id": "a/m-d-1/rate", "value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "params": {}}
    (tmp_path / "results.json").write_text(json.dumps({"checks": [row, {**row, "id": "b/m-d-1/rate", "value": None}]}))
    found = figures(tmp_path)
    assert list(differences(found, found)) == []
    assert list(found) == ["a/m-d-1/rate"]
    moved = {"a/m-d-1/rate": {**found["a/m-d-1/rate"], "low": 0.41}}
    assert len(list(differences(found, {**moved, "c": moved["a/m-d-1/rate"]}))) == 2

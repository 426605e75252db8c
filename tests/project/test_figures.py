"""The README quotes figures of the default run: they are those that docs/figures.json records."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import differences, figures, read  # noqa: E402

CASE = "sbert-probes-1"
QUOTED = {
    "exchange_of_roles_is_farther_than_edit_that_keeps_the_meaning/{}/adjusted_rate_calibrated": (
        "It gets **{value:.0%}** right (95% CI {low:.0f} to {high:.0f})"
    ),
    "antonym_is_farther_than_synonym_of_the_same_word/{}/adjusted_rate_calibrated": (
        "the synonym is nearer than the antonym in **{value:.0%}** ({low:.0f} to {high:.0f})"
    ),
    "other_number_is_farther_than_edit_that_keeps_the_meaning/{}/adjusted_rate_calibrated": (
        "another number is farther than the same number written otherwise in **{value:.0%}** ({low:.0f} to {high:.0f})"
    ),
    "other_entity_is_farther_than_edit_that_keeps_the_meaning/{}/adjusted_rate_calibrated": (
        "another name in **{value:.0%}** ({low:.0f} to {high:.0f}; TF-IDF alone gets {tfidf:.0%})"
    ),
    "negation_is_farther_than_edit_that_keeps_the_meaning/{}/adjusted_rate_calibrated": (
        "an added *not* than an added word of emphasis in **{value:.0%}** ({low:.0f} to {high:.0f})"
    ),
}


@pytest.fixture(scope="module")
def readme():
    return " ".join((ROOT / "README.md").read_text("utf-8").split())


@pytest.mark.parametrize("name", QUOTED)
def test_the_readme_quotes_what_was_recorded(readme, name):
    row = read()[name.format(CASE)]
    numbers = {"value": row["value"], "low": 100 * row["low"], "high": 100 * row["high"], "tfidf": row.get("tf-idf")}
    assert QUOTED[name].format(**numbers) in readme


def test_the_share_of_opposites_is_what_the_margin_rate_leaves(readme):
    row = read()[f"antonym_is_farther_than_paraphrase/{CASE}/margin_rate"]
    value, low, high = (f"{100 - 100 * row[name]:.1f}" for name in ("value", "high", "low"))
    assert f"In **{value}%** of sentences ({low} to {high})" in readme


def test_the_strata_of_roles_are_the_recorded_ones(readme):
    params = read()[f"exchange_of_roles_is_farther_than_edit_that_keeps_the_meaning/{CASE}/adjusted_rate_calibrated"]
    assert f"({params['changed_n']:.0f} of {params['n']} sentences, by token edit distance)" in readme
    assert f"the model gets {params['changed_rate']:.0%} right" in readme
    assert f"({params['kept_n']:.0f} sentences), it gets {params['kept_rate']:.0%}" in readme


def test_the_roles_of_fresh_probes_are_those_of_their_table(readme):
    row = next(
        line for line in (ROOT / "docs/probes.md").read_text("utf-8").splitlines() if line.startswith("| roles |")
    )
    value, low, high = (float(number) for number in re.findall(r"\.\d\d", row)[:3])
    assert f"it gets both right in {value:.0%} ({100 * low:.0f} to {100 * high:.0f}); one in four is chance" in readme


def test_a_figure_that_moved_and_one_that_is_missing_are_told(tmp_path):
    row = {"id": "a/m-d-1/rate", "value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "params": {}}
    (tmp_path / "results.json").write_text(json.dumps({"checks": [row, {**row, "id": "b/m-d-1/rate", "value": None}]}))
    found = figures(tmp_path)
    assert list(differences(found, found)) == []
    assert list(found) == ["a/m-d-1/rate"]
    moved = {"a/m-d-1/rate": {**found["a/m-d-1/rate"], "low": 0.41}}
    assert len(list(differences(found, {**moved, "c": moved["a/m-d-1/rate"]}))) == 2

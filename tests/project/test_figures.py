"""README and docs quote figures of the default run: they are those that docs/figures.json records."""

import json
import re
import sys
from pathlib import Path
from typing import get_args

import pytest

from encheck import load_model
from encheck.datasets.probes import embedded
from encheck.reporting import profile, view
from encheck.reporting.gate import rows, words
from encheck.reporting.reference import shipped_peers
from encheck.run_file import ChangeVerdict
from encheck.similarity import cosine

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from figures import differences, figures, read  # noqa: E402

CASE = "sbert-probes-1"
BOTH = "{}_in_both_directions/sbert-probes-1/{}_calibrated"
QUOTED = {
    "modality_is_seen": "what must be, and what may be?",
    "comparisons_are_seen": "which of two is more?",
    "quantifier_is_seen": "all, or some?",
    "order_of_events_is_seen": "what came first?",
    "attributes_are_seen": "which attribute belongs to which thing?",
    "roles_are_seen": "who did what to whom?",
    "negation_is_seen": "which of two things is denied?",
    "number_is_seen": "another number?",
    "antonym_is_seen": "the opposite of a word?",
    "entity_is_seen": "another name?",
}


def text(name):
    return " ".join((ROOT / name).read_text("utf-8").split())


@pytest.fixture(scope="module")
def readme():
    return text("README.md")


@pytest.mark.parametrize("name", QUOTED)
def test_the_readme_quotes_what_was_recorded(readme, name):
    row = read()[BOTH.format(name, "both_directions")]
    known = shipped_peers().figures[f"{name}_in_both_directions/1/both_directions_calibrated"].values
    others = " | ".join(f"{known[peer]:.0%}" for peer in ("e5-small", "USE", "static"))
    figure = f"**{row['value']:.0%}** ({100 * row['low']:.0f} to {100 * row['high']:.0f})"
    assert f"| {QUOTED[name]} | {figure} | {others} |" in readme


def test_the_table_has_every_check_in_both_directions_that_was_recorded(readme):
    recorded = {name.partition("_in_both_directions/")[0] for name in read() if "/both_directions_calibrated" in name}
    assert set(QUOTED) == recorded
    assert len(re.findall(r"\*\*\d+%\*\* \(\d+ to \d+\) \|", readme)) == len(recorded)


def test_the_readme_opens_with_similarities_of_the_default_model(readme):
    table = readme.partition("## Install")[0]
    anchor = re.search(r'cosine with "([^"]+)"', table)[1]
    rows = re.findall(r"\| (After [^|]+) \| \*{0,2}(0\.\d+)\*{0,2} \|", table)
    vectors = load_model("sbert").encode([anchor, *(text for text, _ in rows)])
    assert [f"{cosine(vectors[:1], one[None])[0]:.3f}" for one in vectors[1:]] == [said for _, said in rows]
    item = next(group for group in embedded().groups if group.source == anchor)
    assert [item.variant(name).text for name in ("negation_kept", "negation")] == [text for text, _ in rows]


def test_the_share_of_opposites_is_what_the_margin_rate_leaves():
    row = read()[f"antonym_is_farther_than_paraphrase/{CASE}/margin_rate"]
    value, low, high = (f"{100 - 100 * row[name]:.1f}" for name in ("value", "high", "low"))
    assert f"In **{value}%** of sentences ({low} to {high})" in text("docs/reference/checks.md")


def test_a_figure_that_moved_and_one_that_is_missing_are_told(tmp_path):
    row = {"id": "a/m-d-1/rate", "value": 0.5, "low": 0.4, "high": 0.6, "n": 10, "params": {}}
    (tmp_path / "results.json").write_text(json.dumps({"checks": [row, {**row, "id": "b/m-d-1/rate", "value": None}]}))
    found = figures(tmp_path)
    assert list(differences(found, found)) == []
    assert list(found) == ["a/m-d-1/rate"]
    moved = {"a/m-d-1/rate": {**found["a/m-d-1/rate"], "low": 0.41}}
    assert len(list(differences(found, {**moved, "c": moved["a/m-d-1/rate"]}))) == 2


def test_the_glossary_lists_every_verdict_that_is_printed():
    listed = re.sub(r"\s+", " ", (ROOT / "docs/reference/glossary.md").read_text("utf-8").partition("## Verdicts")[2])
    printed = {
        *view.WORDS.values(),
        *get_args(ChangeVerdict),
        *get_args(profile.Standing),
        *words.WORDS.values(),
        words.YOURS,
    }
    printed |= {verdict for verdict, _ in rows.VERDICTS.values()}
    assert sorted(word for word in printed if word and not re.search(rf"\b{word}\b", listed)) == []

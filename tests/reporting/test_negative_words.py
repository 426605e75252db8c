"""A counter of negative words stands beside what it explains: in figures, verdicts, on the terminal and on the page."""

import json
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

import encheck
from encheck.metrics import adjusted_rate, both_directions_beyond_negative_words
from encheck.metrics.adjusted import meaning
from encheck.reporting import markdown, negative_words, terminal
from encheck.scoring.scores import CrossedScores, Scale
from encheck.scoring.triplets import MarginScores
from encheck.statistics.bootstrap import Resampler
from encheck.surface import NEGATIVE_WORDS
from encheck.types import Estimate

MODEL_SAID = "a counter of negative words in"


def crossed(margins):
    """Groups with these margins of both sides."""
    flat = np.array(margins, float).reshape(-1)
    clusters = [str(i) for i in range(len(margins))]
    resampler = Resampler(clusters)
    twice = resampler.of(np.repeat(np.arange(len(margins)), 2))
    sides = MarginScores(0.5 + flat / 2, 0.5 - flat / 2, twice, Scale(0.0))
    return CrossedScores(sides, resampler, Scale(0.0))


def test_what_is_left_are_the_groups_that_the_counter_does_not_win():
    """It wins the first two, ties in the third on one side, and is wrong in the fourth."""
    model = crossed([(0.2, 0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2)])
    counter = crossed([(0.5, 0.5), (0.5, 0.5), (0.5, 0.0), (-0.5, 0.5)])
    found = both_directions_beyond_negative_words(replace(model, surface={NEGATIVE_WORDS: counter}))
    assert (found.value, found.n, found.clusters) == (0.5, 2, 2)
    assert both_directions_beyond_negative_words(model).missing


@pytest.mark.parametrize(
    ("low", "counted", "said"),
    [
        (0.6, 0.55, "detected"),
        (0.6, 0.7, "not told from a counter of negative words, which has 0.70"),
        (0.45, 0.7, "not told from the surface"),
        (0.6, 0.3, "detected"),
    ],
)
def test_meaning_is_what_a_counter_of_negative_words_does_not_reach(low, counted, said):
    assert meaning(Estimate(adjusted_rate.name, low + 0.05, low, low + 0.1, 100, 100), counted) == said


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Bag-of-words on every eighth group of negation and of roles."""
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").splitlines()
    named = [line for line in lines if '"negation"' in line or '"role_reversal"' in line]
    folder = tmp_path_factory.mktemp("negative")
    (folder / "some.jsonl").write_text("\n".join(named[::8]), "utf-8")
    chosen = "negation or roles"
    found = encheck.run("bag-of-words", data=f"probes:{folder / 'some.jsonl'}", checks=chosen, report_dir=folder / "r")
    return found.raw, (folder / "r" / "report.html").read_text("utf-8")


def test_it_stands_beside_what_it_reads_and_nowhere_else(ran):
    raw, _ = ran
    both = [row for row in raw["checks"] if row["metric"] == "both_directions_calibrated"]
    assert {row["property"]: NEGATIVE_WORDS in row["surface"] for row in both} == {"negation": True, "roles": False}
    row = next(row for row in both if row["property"] == "negation")
    assert row["surface"][NEGATIVE_WORDS]["value"] > row["value"]  # a bag of words is below it
    assert json.dumps(raw).count("both_directions_beyond_negative_words_calibrated") >= 1


def test_terminal_page_and_summary_say_it(ran):
    raw, page = ran
    (said,) = negative_words.lines(raw)
    assert MODEL_SAID in said
    assert said in page
    assert MODEL_SAID in " ".join(" ".join(terminal.lines(raw)).split())
    assert MODEL_SAID in markdown.render(raw)

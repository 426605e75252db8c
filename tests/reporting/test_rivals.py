"""Rivals stand beside what they explain: in figures, verdicts, on the terminal and on the page."""

import json
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

import encheck
from encheck.metrics import adjusted_rate, interaction
from encheck.metrics.adjusted import meaning_in_words
from encheck.reporting import markdown, terminal, view
from encheck.run_file import SurfaceFigure
from encheck.scoring.scores import CrossedScores, Scale
from encheck.scoring.triplets import MarginScores
from encheck.statistics.bootstrap import Resampler
from encheck.surface import POLARITY, POSITION, UNBALANCED_SCORERS
from encheck.types import Estimate

READS_NOTHING = "which reads no meaning, in"
NOUNS = """
    bridge road train ticket room roof door table chair lamp phone screen cable engine wheel tyre mirror carpet curtain
    oven kettle spoon plate glass bottle jacket shirt shoe watch camera
"""


def test_margins_of_both_sides_are_added():
    """The first group wins by more than it loses, the second loses by more, the third is a tie."""
    margins = np.array([0.3, -0.2, -0.3, 0.2, 0.2, -0.2])
    resampler = Resampler(["a", "b", "c"])
    sides = MarginScores(0.5 + margins / 2, 0.5 - margins / 2, resampler.select(np.repeat(np.arange(3), 2)), Scale(0.0))
    found = interaction(CrossedScores(sides, resampler, Scale(0.0)))
    assert (found.value, found.n, found.clusters) == (0.5, 3, 3)


@pytest.mark.parametrize(
    ("low", "rates", "said"),
    [
        (0.6, {"polarity": 0.55}, "detected"),
        (0.6, {"polarity": 0.7, "prefix": 0.8}, "not separable from prefix, which has 0.80"),
        (0.6, {"polarity": 0.52}, "detected"),  # its interval holds one half
        (0.45, {"polarity": 0.7}, "not separable from the surface"),
        (0.6, {"prefix": 0.3}, "detected"),
    ],
)
def test_meaning_is_what_no_rival_reaches(low, rates, said):
    def rate(value):
        return Estimate(adjusted_rate.name, value, value - 0.05, value + 0.05, 100, 100)

    assert meaning_in_words(rate(low + 0.05), {name: rate(value) for name, value in rates.items()}) == said


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Bag-of-words on a tenth of the groups of roles, and on negations that one word gives away."""
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").splitlines()
    groups = [json.loads(line) for line in lines if '"role_reversal"' in line][::10]
    for noun in NOUNS.split():
        first, kept, changed, mirror = (
            f"The {noun} {end}." for end in ("is not new", "isn't new", "is indeed new", "is new")
        )
        texts = {"negation_kept": kept, "negation": changed, "negation_mirror": mirror}
        variants = [
            {"relation": name, "level": 1, "text": text, "edits": [{"start": 0, "end": len(first), "text": text}]}
            for name, text in texts.items()
        ]
        about = {"id": noun, "domain": "news", "split": "gate", "skeleton": noun, "sentence": first}
        groups.append({**about, "variants": variants})
    folder = tmp_path_factory.mktemp("rivals")
    (folder / "some.jsonl").write_text("\n".join(map(json.dumps, groups)), "utf-8")
    chosen = "negation or roles"
    found = encheck.run("bag-of-words", data=f"probes:{folder / 'some.jsonl'}", checks=chosen, report_dir=folder / "r")
    return found.raw, (folder / "r" / "report.html").read_text("utf-8")


def test_they_stand_beside_what_they_read(ran):
    raw, _ = ran
    both = {row.property: row for row in raw.checks if row.metric == "both_directions_calibrated"}
    assert {*POSITION} == {*UNBALANCED_SCORERS} & both["roles"].surface.keys()  # whose words deny nothing
    assert {*UNBALANCED_SCORERS} <= both["negation"].surface.keys()
    assert both["negation"].surface["polarity"].value > both["negation"].value  # a bag of words is below it
    assert {*POLARITY, *POSITION} == {*UNBALANCED_SCORERS}


def test_what_rewards_a_difference_does_not_stand_beside_a_share_of_margins(ran):
    rows = [row for row in ran[0].checks if row.property == "negation"]
    without = {row.metric: {*UNBALANCED_SCORERS} - row.surface.keys() for row in rows}
    assert without["margin_rate_calibrated"] == {"suffix-2-prefix"}
    assert without["adjusted_rate_calibrated"] == set()


def test_terminal_page_and_summary_name_the_best(ran):
    raw, page = ran
    said = [line for line in view.rival_lines(raw.checks) if line.startswith("negation")]
    assert len(said) == 1
    assert READS_NOTHING in said[0]
    assert said[0] in page
    assert READS_NOTHING in " ".join(" ".join(terminal.run_lines(raw)).split())
    assert READS_NOTHING in markdown.render_summary(raw)


@pytest.mark.parametrize(("low", "rival", "count"), [(0.3, 0.3, 1), (0.3, 0.2, 0), (0.7, 0.3, 0)])
def test_a_rival_is_named_above_chance_where_the_model_is_not_above_it(ran, low, rival, count):
    row = next(row for row in ran[0].checks if row.metric == "both_directions_calibrated")
    beside = {name: SurfaceFigure(0.5, at, 0.6) for name, at in (("jaccard", 0.4), ("prefix", rival))}
    assert len(list(view.rival_lines([replace(row, low=low, surface=beside)]))) == count

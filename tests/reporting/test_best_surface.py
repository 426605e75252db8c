"""What surface scorers get stands beside each figure, and the best one is named."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.engine.recorder import result_row
from encheck.metrics.pairs import GRID, margin_rate, mean_margin
from encheck.reporting import view
from encheck.run_file import SurfaceFigure
from encheck.scoring.scores import MarginScores, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.types import CheckResult, Estimate


def margins(near, far, **surface):
    resampler = Resampler([str(i) for i in range(40)])
    return MarginScores(np.full(40, near), np.full(40, far), resampler, Scale(0.0), surface=surface)


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ({"jaccard": 0.1, "bigrams": 0.3, "trigrams": 0.2}, "bigrams"),
        ({"jaccard": 0.1, "bigrams": 0.1}, "jaccard"),
        ({"jaccard": float("nan"), "bigrams": 0.1}, "bigrams"),
        ({"jaccard": float("nan")}, None),
        ({}, None),
    ],
)
def test_the_best_surface_scorer_is_named_and_rows_name_the_same(values, best):
    beside = {name: Estimate("m", value, value, value, n=1, clusters=1) for name, value in values.items()}
    estimate = Estimate("m", 0.9, 0.9, 0.9, n=1, clusters=1, surface=beside)
    in_words = f"{best} {values[best]:.2f}" if best else "-"
    row = result_row(CheckResult("id", "check", "property", "1", "m", "d", estimate, "pass"))
    assert (estimate.best_surface or (None,))[0] == best
    assert view.surface_text(row) == in_words


# Clopper and Pearson's (97.5%) of 40 wins of (z / t)^2 * 40 independent items, with Student's t of 39 degrees
LOWEST = 0.025 ** (1 / (40 * (1.96 / 2.0227) ** 2))


def test_the_curve_of_word_overlap_stands_in_the_results():
    scores = margins(0.9, 0.4, jaccard=margins(0.2, 0.4), bigrams=replace(margins(0.4, 0.2), has_curve=False))
    row = result_row(CheckResult("id", "check", "property", "1", "m", "d", margin_rate(scores), "pass"))
    assert row.surface["bigrams"] == SurfaceFigure(1, pytest.approx(LOWEST, abs=1e-3), 1)
    assert [p.value for p in view.overlap_curve(row)] == [(1 - np.sign(e + 0.2)) / 2 for e in GRID.round(2)]


def test_mean_margins_stand_beside_word_overlap_alone():
    scores = margins(0.9, 0.4, jaccard=margins(0.2, 0.4), bigrams=margins(0.4, 0.2))
    assert list(mean_margin(scores).surface) == ["jaccard"]

"""A metric once: the mean of what the items say is what the check reports."""

from dataclasses import replace

import numpy as np
import pytest
from test_metrics import margins, pairs

from encheck.metrics import adjusted_rate, margin_rate, mean_margin, mean_similarity, similarity_gap
from encheck.metrics.health import recall_at_1
from encheck.metrics.pairs import wins
from encheck.metrics.ranking import mark_falling_rows, mark_first_on_top, mark_rise_at_step
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale

SCALE = Scale(0.1)
NEAR, FAR = np.array([0.9, 0.8, 0.7, 0.6, 0.75]), np.array([0.5, 0.79, 0.7, 0.9, 0.3])
LABELS = (1, 0, 1, 0, 0)


def table(near=NEAR, far=FAR):
    ids = tuple(f"d/{i}" for i in range(len(near)))
    return CaseScores("x/m-d-1", "x", "p", "d", "1", "triplet", ids, ids, ids, ("",) * len(ids), LABELS, near, far)


@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.45, -0.2])
def test_the_share_won_is_the_mean_of_wins(epsilon):
    wins = margin_rate.values(table(), SCALE, epsilon=epsilon)
    assert set(wins.tolist()) <= {0.0, 0.5, 1.0}
    assert wins.mean() == margin_rate(margins(NEAR, FAR).calibrated, epsilon=epsilon).value


def test_the_mean_margin_and_the_mean_similarity_are_means_of_the_items():
    assert mean_margin.values(table(), SCALE).mean() == pytest.approx(mean_margin(margins(NEAR, FAR).calibrated).value)
    expected = mean_similarity(pairs(NEAR, LABELS).calibrated).value
    assert mean_similarity.values(table(), SCALE).mean() == pytest.approx(expected)


def test_the_gap_of_two_labels_is_the_mean_of_what_each_item_says_of_it():
    said = similarity_gap.item_values(table(), SCALE)
    assert said.mean() == pytest.approx(similarity_gap(pairs(NEAR, LABELS).calibrated).value)
    assert similarity_gap.item_values(table(NEAR + 0.05), SCALE) == pytest.approx(said)  # all move: the gap does not


def test_the_curve_of_a_margin_goes_from_minus_three_tenths_to_three_tenths():
    curve = margin_rate(margins(NEAR, FAR)).curve
    assert [point.epsilon for point in curve] == pytest.approx(np.linspace(-0.3, 0.3, 61).tolist())
    assert [point.count for point in curve] == [int((point.epsilon + 1e-12 < NEAR - FAR).sum()) for point in curve]


def test_a_tie_counts_one_half_wherever_something_is_won():
    """Between two texts, of a point of the curve, and of a step of a chain; a search is no contest of two."""
    tied = margins(NEAR[2:3], FAR[2:3])
    assert wins(table(NEAR[2:3], FAR[2:3]), SCALE).tolist() == [0.5]
    assert (margin_rate(tied).value, recall_at_1(tied).value) == (0.5, 0.0)
    assert {p.epsilon: p.value for p in margin_rate(tied).curve}[0.0] == 0.5
    assert (
        mark_first_on_top(np.array([[0.7, 0.7]])).tolist()
        == mark_falling_rows(np.array([[0.7, 0.7]])).tolist()
        == [0.5]
    )
    assert mark_rise_at_step(np.array([[0.7, 0.7]]), 1).tolist() == [0.5]


@pytest.mark.parametrize(("metric", "chance"), [(adjusted_rate, 0.5), (margin_rate, 0.5), (similarity_gap, 0.0)])
def test_a_metric_says_what_chance_gives(metric, chance):
    assert metric.chance == chance


@pytest.mark.parametrize(("unit", "expected"), [(1.0, [0.5, 1.0]), (0.3, [1.0, 1.0])])
def test_scores_are_a_tie_that_differ_by_a_hundred_thousandth_of_the_scale(unit, expected):
    """Of a model whose scores all lie near 1, smaller differences count."""
    near, far, scale = np.array([0.95, 0.95]), np.array([0.95 - 5e-6, 0.95 - 2e-5]), Scale(1 - unit)
    assert wins(table(near, far), scale).tolist() == expected
    assert [
        margin_rate(replace(margins([n], [f]), scale=scale)).value for n, f in zip(near, far, strict=True)
    ] == expected

"""A metric once: the mean of what the items say is what the check reports."""

import numpy as np
import pytest
from test_metrics import margins, pairs

from encheck.metrics import margin_rate, mean_margin, mean_similarity, similarity_gap
from encheck.scoring.scores import Scale
from encheck.scoring.table import Table

SCALE = Scale(0.1)
NEAR, FAR = np.array([0.9, 0.8, 0.7, 0.6, 0.75]), np.array([0.5, 0.79, 0.7, 0.9, 0.3])
LABELS = (1, 0, 1, 0, 0)


def table(near=NEAR, far=FAR):
    ids = tuple(f"d/{i}" for i in range(len(near)))
    return Table("x/m-d-1", "x", "p", "d", "1", "triplet", ids, ids, ids, ("",) * len(ids), LABELS, near, far)


@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.45, -0.2])
def test_the_share_won_is_the_mean_of_wins(epsilon):
    won = margin_rate.values(table(), SCALE, epsilon=epsilon)
    assert set(won.tolist()) <= {0.0, 1.0}
    assert won.mean() == margin_rate(margins(NEAR, FAR).calibrated, epsilon=epsilon).value


def test_the_mean_margin_and_the_mean_similarity_are_means_of_the_items():
    assert mean_margin.values(table(), SCALE).mean() == pytest.approx(mean_margin(margins(NEAR, FAR).calibrated).value)
    expected = mean_similarity(pairs(NEAR, LABELS).calibrated).value
    assert mean_similarity.values(table(), SCALE).mean() == pytest.approx(expected)


def test_the_gap_of_two_labels_is_the_mean_of_what_each_item_says_of_it():
    said = similarity_gap.per_item(table(), SCALE)
    assert said.mean() == pytest.approx(similarity_gap(pairs(NEAR, LABELS).calibrated).value)
    assert similarity_gap.per_item(table(NEAR + 0.05), SCALE) == pytest.approx(said)  # all move: the gap does not


def test_the_curve_of_a_margin_goes_from_minus_three_tenths_to_three_tenths():
    curve = margin_rate(margins(NEAR, FAR)).curve
    assert [point.epsilon for point in curve] == pytest.approx(np.linspace(-0.3, 0.3, 61).tolist())
    assert [point.count for point in curve] == [int((point.epsilon + 1e-12 < NEAR - FAR).sum()) for point in curve]

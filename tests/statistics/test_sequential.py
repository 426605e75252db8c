"""Bounds of several looks, against published tables; the same error rate in all."""

import numpy as np
import pytest

from encheck.statistics.hypothesis_tests import (
    critical_values_of_looks,
    crossing_probability,
    obrien_fleming_spending,
    pocock_spending,
)

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)


@pytest.mark.parametrize(
    ("spending", "published"),
    [
        (obrien_fleming_spending, (4.877, 3.357, 2.680, 2.290, 2.031)),
        (pocock_spending, (2.438, 2.427, 2.410, 2.397, 2.386)),
    ],
)
def test_bounds_that_spend_are_those_of_lan_and_demets(spending, published):
    assert critical_values_of_looks(FIVE, alpha=0.05, spending=spending) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("published", [(4.562, 3.226, 2.634, 2.281, 2.040), (2.413,) * 5])
def test_the_classic_bounds_of_obrien_and_fleming_and_of_pocock_cross_in_five_percent(published):
    assert crossing_probability(FIVE, published)[-1] == pytest.approx(0.05, abs=1e-4)


def test_one_look_is_the_plain_test():
    assert critical_values_of_looks((1.0,), alpha=0.05) == pytest.approx((1.959964,), abs=1e-5)


def test_error_is_spent_as_planned_whatever_the_looks():
    looks = (0.08, 0.16, 0.31, 0.63, 1.0)
    spent = crossing_probability(looks, critical_values_of_looks(looks, alpha=0.05))
    assert spent == pytest.approx([pocock_spending(t, 0.05) for t in looks], abs=1e-6)


def test_crossing_with_a_drift_is_what_simulated_walks_do():
    rng = np.random.default_rng(0)
    limits = critical_values_of_looks(FIVE, alpha=0.05)
    steps = rng.normal(3.0 * 0.2, np.sqrt(0.2), (20_000, 5)).cumsum(axis=1) / np.sqrt(FIVE)
    crossed = np.logical_or.accumulate(np.abs(steps) >= limits, axis=1).mean(axis=0)
    assert crossing_probability(FIVE, limits, drift=3.0) == pytest.approx(crossed, abs=0.012)

"""Weights that put differences alike about zero: against an independent logistic regression, and by their promise."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from encheck.statistics.balancing import (
    balancing_weights,
    effective_clusters,
    mirror_coefficients,
    odd_functions,
    remaining_imbalance,
    weighted_imbalance,
)


@pytest.fixture
def differences():
    rng = np.random.default_rng(0)
    return rng.normal([0.4, -0.2, 0.0], [1.0, 2.0, 0.5], (300, 3)).round(1)


@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_the_coefficients_are_scikit_learns_on_items_and_their_mirror_images(differences, ridge):
    terms = odd_functions(differences)
    theirs = LogisticRegression(C=0.5 / ridge, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(np.concatenate([terms, -terms]), np.repeat([1, 0], len(terms)))
    assert mirror_coefficients(terms, ridge=ridge) == pytest.approx(theirs.coef_[0], abs=1e-5)


def test_steps_that_would_overshoot_are_shortened():
    """Without that, Newton's steps went to and fro for ever on differences of which a few are far from the rest."""
    rng = np.random.default_rng(16)
    wide = rng.standard_t(1.2, (60, 1))
    rare = np.where(rng.random((60, 1)) < 0.8, 0, wide * 0.3 + rng.standard_t(2, (60, 1)) * 0.05)
    alike = rare + rng.normal(size=(60, 1)) * 0.001 * (rng.random((60, 1)) < 0.3)
    terms = odd_functions(np.hstack([wide + np.abs(wide) * 0.4, rare, alike]))
    found = mirror_coefficients(terms)
    slope = (1 / (1 + np.exp(terms @ found))) @ terms - 0.1 * found
    assert slope == pytest.approx(np.zeros(terms.shape[1]), abs=1e-6)


def test_every_difference_is_balanced_in_sign_root_and_size(differences):
    weights = balancing_weights(differences, ridge=1e-6)
    assert weights @ odd_functions(differences) / weights.sum() == pytest.approx(np.zeros(9), abs=1e-6)
    assert weighted_imbalance(differences, weights) == pytest.approx(np.zeros(3), abs=1e-6)


@pytest.mark.parametrize("curve", [np.sign, np.tanh, lambda x: np.tanh(5 * x)])
def test_what_goes_by_a_difference_wins_one_half_though_one_side_lies_farther_from_zero(curve):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.gamma(2, 0.5, 3_000), -rng.gamma(4, 0.5, 1_000)])[:, None]
    weights, wins = balancing_weights(x), (1 + curve(x[:, 0])) / 2
    strata = (wins[:3_000].mean() + wins[3_000:].mean()) / 2
    assert weights @ wins / weights.sum() == pytest.approx(0.5, abs=0.005)
    assert abs(strata - 0.5) > 0.02 or curve is not np.tanh  # a plain mean of strata takes size for meaning


def test_what_is_left_is_said():
    x = np.array([[1.0]] * 30)
    assert weighted_imbalance(x, balancing_weights(x)).item() == 1
    assert remaining_imbalance(x, balancing_weights(x)) == 0.5
    assert remaining_imbalance(np.zeros((4, 2)), np.ones(4)) == 0


def test_equal_weights_are_worth_all_clusters_and_one_heavy_cluster_is_worth_one():
    assert effective_clusters(np.ones(12), np.arange(12) // 2) == 6
    assert effective_clusters(np.array([1e9, 1.0, 1.0]), np.arange(3)) == pytest.approx(1)


def test_imbalance_is_in_units_of_the_root_mean_square():
    assert weighted_imbalance(np.array([[3.0], [-1.0]]), np.ones(2)).item() == pytest.approx(1 / np.sqrt(5))

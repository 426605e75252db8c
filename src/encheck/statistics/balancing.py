"""Compute weights under which signed differences are symmetric about zero in frequency and size.

Items have differences x that favour one of two outcomes. A scorer that decides by these differences alone, with noise
or without, wins at x as often as it loses at -x. So if the weighted differences are symmetric about zero, this scorer
wins one half, whatever the shape of its curve. The method does not assume a model of the wins.

The weights are overlap weights (Li, Morgan and Zaslavsky 2018, JASA 113, "Balancing covariates via propensity score
weighting") for the items and their mirror images: a logistic regression distinguishes x from -x, and an item's weight
is its probability of being a mirror image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RIDGE = 0.1
_STEPS, _LONGEST, _NEAR, _HALVES, _ROUNDED = 100, 2.0, 1e-10, 40, 1e-12


def odd_functions(differences: Floats) -> Floats:
    """Return the sign, the square root and the size of each difference, in units of its root mean square; shape [n,
    3k].

    Each of the three changes its sign with the difference. A difference that is always zero has no terms.

    >>> odd_functions(np.array([[4.0, 0.0], [-4.0, 0.0]])).tolist()
    [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
    """
    size = np.sqrt((differences**2).mean(axis=0))
    x = differences[:, size > 0] / size[size > 0]
    return np.concatenate([np.sign(x), np.sign(x) * np.sqrt(np.abs(x)), x], axis=1)


def mirror_coefficients(terms: Floats, *, ridge: float = RIDGE) -> Floats:
    """Return the coefficients of the logistic regression, without intercept, of items against mirror images; shape [k].

    They maximise the items' log likelihood, sum log sigmoid(terms @ b), less ridge |b|^2 / 2. The method is Newton's,
    with steps that are short enough to raise it.
    """
    from scipy.special import expit

    found = np.zeros(terms.shape[1])
    for _ in range(_STEPS):
        less = expit(-(terms @ found))
        slope = less @ terms - ridge * found
        curve = (terms * (less * (1 - less))[:, None]).T @ terms + ridge * np.eye(len(found))
        step = np.linalg.solve(curve, slope)
        step = step * min(1.0, _LONGEST / max(np.abs(step).max(initial=0), _NEAR))
        before = _penalised_log_likelihood(terms, found, ridge)
        before -= _ROUNDED * abs(before)
        part = step
        for _ in range(_HALVES):  # a whole step can overshoot and oscillate for ever
            if _penalised_log_likelihood(terms, found + part, ridge) >= before:
                break
            part = part / 2
        found = found + part
        if np.abs(step).max(initial=0) < _NEAR:
            break
    return found


def _penalised_log_likelihood(terms: Floats, found: Floats, ridge: float) -> float:
    return float(-np.logaddexp(0.0, -(terms @ found)).sum() - ridge * found @ found / 2)


def balancing_weights(differences: Floats, *, ridge: float = RIDGE) -> Floats:
    """Return a weight from 0 to 1 for each item, shape [n], so that the odd terms of the differences [n, k] sum to 0.

    The sum is not exactly zero because of the ridge, which prevents extreme weights if there are few items.

    >>> balancing_weights(np.array([[1.0], [1.0], [1.0], [-1.0]]), ridge=1e-9).round(2).tolist()
    [0.25, 0.25, 0.25, 0.75]
    """
    from scipy.special import expit

    terms = odd_functions(differences)
    weights: Floats = expit(-(terms @ mirror_coefficients(terms, ridge=ridge)))
    return weights


def weighted_imbalance(differences: Floats, weights: Floats) -> Floats:
    """Return the weighted mean of each difference, in units of its root mean square; shape [k]."""
    size = np.sqrt((differences**2).mean(axis=0))
    means = np.abs(weights @ differences) / weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(size > 0, means / size, 0.0)
    return found


def remaining_imbalance(differences: Floats, weights: Floats) -> float:
    """Return how far from one half, under the weights, a scorer can be that uses the sign of one difference."""
    signs = np.abs(weights @ np.sign(differences)) / weights.sum()
    return float(signs.max(initial=0)) / 2


def effective_clusters(weights: Floats, clusters: NDArray[np.intp]) -> float:
    """Return the effective number of clusters (Kish 1965): (sum w)^2 / sum w^2, where w is the weight of a cluster.

    >>> effective_clusters(np.ones(4), np.array([0, 0, 1, 1]))
    2.0
    """
    sums = np.bincount(clusters, weights)
    return float(sums.sum() ** 2 / (sums**2).sum())

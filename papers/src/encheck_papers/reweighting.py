"""Weights for training pairs of which some are machine-made: RISE (COLING 2022), its variants, and its controls.

There is one weight per pair, shape [n]. This module only computes with arrays: `encheck_papers.discriminator` gives the
logits, `encheck_papers.reweighted_loss` takes the weights.

A gain of RISE over equal weights has three explanations: the right pairs have larger weights; fewer pairs have any
weight; or the steps are smaller, since the published loss is not divided by the sum of weights (not under Adam, which
removes the scale of the gradients). `permuted` keeps the second and the third, `uniform` the third. Only a gain over
`permuted` shows the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from encheck.errors import UsageError

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
HUMAN = 1  # the class of human text, as in the authors' code
FILTERED = 0.1


def human_probability(logits: ArrayLike, *, temperature: float = 1.0) -> Floats:
    """softmax(logits / temperature) of the class human, which is the second of two; logits have shape [n, 2].

    A temperature below 1 sharpens. The paper's, found by grid search: 0.5 (STS benchmark), 0.9 (QQP), 0.7 (MRPC).
    UsageError for logits of the wrong shape or not finite, and for a temperature that is not above 0.

    >>> human_probability([[2.0, -1.0], [0.0, 0.0]], temperature=0.5).round(4).tolist()
    [0.0025, 0.5]
    """
    from scipy.special import expit

    given = np.asarray(logits, float)
    if given.ndim != 2 or given.shape[1] != 2 or not np.isfinite(given).all():
        raise UsageError(f"logits have shape {given.shape}, but should be finite numbers of shape [n, 2]")
    if not (np.isfinite(temperature) and temperature > 0):
        raise UsageError(f"temperature is {temperature!r}, but should be a number above 0")
    result: Floats = expit((given[:, HUMAN] - given[:, 1 - HUMAN]) / temperature)
    return result


def effective_sample_size(weights: ArrayLike) -> float:
    """How many equally weighted pairs have the variance of these weighted ones: (sum w)^2 / sum w^2 (Kish 1965).

    0 if all weights are 0.

    >>> effective_sample_size([1, 1, 1, 1]), effective_sample_size([1, 1, 0, 0])
    (4.0, 2.0)
    """
    given = checked(weights)
    squares = float((given**2).sum())
    return float(given.sum()) ** 2 / squares if squares else 0.0


def uniform(weights: ArrayLike) -> Floats:
    """A control: equal weights with the mean of these, so that only the size of the steps is kept.

    >>> uniform([0.25, 0.75]).tolist()
    [0.5, 0.5]
    """
    given = checked(weights)
    return np.full(len(given), given.mean() if len(given) else 0.0)


def permuted(weights: ArrayLike, *, seed: int) -> Floats:
    """A control: the same weights in a random order. Mean, spread and effective sample size stay exactly the same.

    >>> sorted(permuted([0.1, 0.2, 0.3], seed=0).tolist())
    [0.1, 0.2, 0.3]
    """
    return np.random.default_rng(seed).permutation(checked(weights))


def random_weights(count: int, *, seed: int) -> Floats:
    """The paper's control: weights drawn from U(0, 1), shape [count]."""
    return np.random.default_rng(seed).random(count)


def kept_by_filter(weights: ArrayLike, *, share: float = FILTERED) -> Positions:
    """The paper's variant: the positions that remain, in order, after dropping the lowest int(share x n) weights.

    Of equal weights the first are dropped first. UsageError for a share outside [0, 1).

    >>> kept_by_filter([0.9, 0.1, 0.5, 0.7], share=0.25).tolist()
    [0, 2, 3]
    """
    if not 0 <= share < 1:
        raise UsageError(f"share is {share!r}, but should be at least 0 and below 1")
    given = checked(weights)
    dropped = np.argsort(given, kind="stable")[: int(share * len(given))]
    return np.setdiff1d(np.arange(len(given)), dropped)


def checked(weights: Any) -> Floats:
    """Weights as an array of shape [n]; UsageError if they are not valid weights."""
    given = np.asarray(weights, float)
    if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any():
        raise UsageError(f"weights have shape {given.shape}, but should be finite numbers of shape [n], none below 0")
    return given

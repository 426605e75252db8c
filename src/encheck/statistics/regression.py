"""Logistic regression on fixed features, with the penalty chosen as in SentEval's toolkit.

The three procedures are those of the toolkit's `validation.py` with scikit-learn (Conneau and Kiela 2018): nested
folds, folds of the training part, and a development part. Features are an array or a sparse matrix of shape [n, d];
classes are numbers, shape [n].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Features = Any  # an array, or a sparse matrix of scipy
Classes = NDArray[np.intp]
Part = tuple[Features, Classes]
SEED = 1111
FOLDS = 10
NESTED = tuple(2.0**k for k in range(-2, 4))  # values of C; the one with the best accuracy is used
ON_TRAINING = tuple(2.0**k for k in range(-1, 6))
STEPS = 1_000  # iterations after which a fit ends


@dataclass(frozen=True)
class ClassifiedTexts:
    """The class that was assigned to each measured text, shape [n], and the fold in which the text was measured.

    `penalties` are the C of the measured classifiers. `held_out` is their mean accuracy on the data that chose C.
    `open_fits` counts the measured classifiers that had not converged.
    """

    classes: Classes
    folds: NDArray[np.intp]
    penalties: tuple[float, ...]
    held_out: float
    open_fits: int


def classify_by_nested_folds(x: Features, y: Classes, *, inner: int | None = None) -> ClassifiedTexts:
    """Classify each text with a classifier fitted on the other folds. C is chosen on `inner` folds of these."""
    classes, numbers = np.empty_like(y), np.empty_like(y)
    chosen: list[tuple[float, float, int]] = []
    for number, (train, test) in enumerate(_stratified_folds(FOLDS).split(y, y)):
        penalty, held_out = _best_penalty(NESTED, _accuracy_over_folds(x[train], y[train], inner))
        fitted = _fit_classifier(x[train], y[train], penalty)
        classes[test], numbers[test] = fitted.predict(x[test]), number
        chosen.append((penalty, held_out, _has_not_converged(fitted)))
    penalties, accuracies, open_fits = zip(*chosen, strict=True)
    return ClassifiedTexts(classes, numbers, penalties, float(np.mean(accuracies)), sum(open_fits))


def classify_by_training_folds(train: Part, test: Features, *, inner: int | None = None) -> ClassifiedTexts:
    """Classify the test part with a classifier of the training part. C is chosen on its `inner` folds."""
    return _classify_test_part(train, test, *_best_penalty(ON_TRAINING, _accuracy_over_folds(*train, inner)))


def classify_by_development_part(train: Part, development: Part, test: Features) -> ClassifiedTexts:
    """Classify the test part with a classifier of the training part. C is chosen on the development part."""

    def accuracy(penalty: float) -> float:
        return float(_fit_classifier(*train, penalty).score(*development))

    return _classify_test_part(train, test, *_best_penalty(NESTED, accuracy))


def _classify_test_part(train: Part, test: Features, penalty: float, held_out: float) -> ClassifiedTexts:
    fitted = _fit_classifier(*train, penalty)
    classes = fitted.predict(test)
    return ClassifiedTexts(classes, np.zeros(len(classes), np.intp), (penalty,), held_out, _has_not_converged(fitted))


def _best_penalty(penalties: Sequence[float], accuracy: Callable[[float], float]) -> tuple[float, float]:
    """Return the C with the best accuracy (to 0.01%), and that accuracy. Of several, the smallest C wins."""
    found = [round(100 * accuracy(penalty), 2) for penalty in penalties]
    return penalties[int(np.argmax(found))], max(found) / 100


def _accuracy_over_folds(x: Features, y: Classes, count: int | None) -> Callable[[float], float]:
    parts = [((x[a], y[a]), (x[b], y[b])) for a, b in _stratified_folds(count or FOLDS).split(y, y)]
    return lambda penalty: float(np.mean([_fit_classifier(*train, penalty).score(*test) for train, test in parts]))


def _stratified_folds(count: int) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(count, shuffle=True, random_state=SEED)


def _fit_classifier(x: Features, y: Classes, penalty: float) -> Any:
    """Return a fitted classifier. Its input is not checked again, which would take longer than a small fit."""
    from sklearn import config_context
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead in `Told.open_fits`
        return LogisticRegression(C=penalty, max_iter=STEPS).fit(x, y)


def _has_not_converged(fitted: Any) -> int:
    return int(np.max(fitted.n_iter_) >= STEPS)


def min_texts_for_folds(*, nested: bool) -> int:
    """Return how many texts the rarest class needs so that each fold has one: FOLDS, or more for nested folds.

    >>> min_texts_for_folds(nested=False), min_texts_for_folds(nested=True)
    (10, 12)
    """
    return next(n for n in range(FOLDS, 3 * FOLDS) if not nested or n - -(-n // FOLDS) >= FOLDS)

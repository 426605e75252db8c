"""Logistic regression as SentEval's toolkit does it: equal to the toolkit, and what its figures rest on."""

import json

import numpy as np
import pytest

from encheck.statistics import regression
from encheck.statistics.regression import (
    classify_by_development_part,
    classify_by_nested_folds,
    classify_by_training_folds,
)


@pytest.fixture(scope="module")
def toolkit():
    """The toolkit's own answers (scikit-learn's path) on fixed vectors, with these vectors."""
    from fixtures import SHARED

    path = SHARED / "oracles" / "senteval_lr.json"
    if not path.is_file():
        pytest.skip(f"needs the toolkit's answers in {path}")
    found = json.loads(path.read_text())
    return found["cases"]["sklearn"], found["inputs"]


def percent(told, right):
    return [round(100 * told.held_out, 2), round(100 * float(np.mean(told.classes == right)), 2)]


def test_nested_folds_are_the_toolkits(toolkit):
    answers, given = toolkit
    x, y = (np.array(given["binary"][name]) for name in "Xy")
    told = classify_by_nested_folds(x, y)
    assert percent(told, y) == pytest.approx(answers["inner_kfold_binary"], abs=0.01)
    assert sorted(np.bincount(told.folds)) == [24] * 10


@pytest.mark.parametrize("case", ["threeclass", "pairs"])
def test_folds_of_the_training_part_are_the_toolkits(toolkit, case):
    answers, given = toolkit
    wanted = answers[{"threeclass": "kfold_train_test_3class", "pairs": "kfold_pairs_mrpc_style"}[case]]
    y, n = np.array(given[case]["y"]), given[case]["n_train"]
    x = np.array(given["threeclass"]["X"]) if case == "threeclass" else _of_pairs(given["pairs"])
    told = classify_by_training_folds((x[:n], y[:n]), x[n:])
    assert percent(told, y[n:]) == wanted[:2]
    assert told.classes.tolist() == wanted[2]


def _of_pairs(given):
    from encheck.scoring.classified import classifier_inputs

    return classifier_inputs(np.array(given["A"]), np.array(given["B"]))


def test_a_development_part_chooses_as_the_toolkit_does(toolkit):
    answers, given = toolkit
    x, y = (np.array(given["split"][name]) for name in "Xy")
    n, m = given["split"]["n_train"], given["split"]["n_train"] + given["split"]["n_valid"]
    told = classify_by_development_part((x[:n], y[:n]), (x[n:m], y[n:m]), x[m:])
    assert percent(told, y[m:]) == answers["split_train_dev_test"]


@pytest.fixture
def easy():
    """Forty points on a line, of two classes."""
    y = np.arange(40) % 2
    return (y - 0.5).reshape(-1, 1) + np.linspace(0, 0.1, 40).reshape(-1, 1), y


def test_of_penalties_that_do_as_well_the_strongest_is_taken(easy):
    x, y = easy
    told = classify_by_training_folds((x, y), x, inner=3)
    assert (told.penalties, told.held_out) == ((regression.ON_TRAINING[0],), 1.0)


def test_classifiers_that_have_not_converged_are_counted(easy, monkeypatch):
    monkeypatch.setattr(regression, "STEPS", 1)
    x, y = easy
    assert classify_by_training_folds((x, y), x, inner=3).open_fits == 1


def test_no_text_is_measured_by_a_classifier_that_has_seen_it():
    """Classes that hang on nothing but the text itself cannot be told."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    told = classify_by_nested_folds(np.eye(60, dtype=np.float32), y, inner=2)
    assert np.mean(told.classes == y) <= 0.6

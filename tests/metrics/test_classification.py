"""Accuracy and F1 at thresholds that were chosen elsewhere."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from encheck.metrics import thresholds
from encheck.metrics.classification import accuracy, f1, head_figures
from encheck.scoring.pairs import SentencePair
from encheck.scoring.scores import PairScores, Scale
from encheck.statistics.bootstrap import Resampler


@pytest.fixture
def scores():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 300).astype(np.int8)
    values = labels * 0.5 + rng.normal(0, 0.4, 300)
    splits = ["validation"] * 100 + ["test"] * 200
    items = tuple(SentencePair(str(i), "a", "b", int(labels[i]), str(i), splits[i]) for i in range(300))
    return PairScores(values, labels, Resampler([i.cluster for i in items]), Scale(0.0), items=items)


def best_on_validation(scores, metric):
    values, labels = scores.values[:100], scores.labels[:100]
    return max(metric(labels, values >= cut) for cut in values)


@pytest.mark.parametrize(("figure", "metric"), [(accuracy, accuracy_score), (f1, f1_score)])
def test_the_threshold_is_the_best_on_validation_and_the_figure_is_that_of_the_test_part(scores, figure, metric):
    found = figure(scores)
    cut = found.params["threshold"]
    assert metric(scores.labels[:100], scores.values[:100] >= cut) == best_on_validation(scores, metric)
    assert found.value == pytest.approx(metric(scores.labels[100:], scores.values[100:] >= cut))
    assert found.low < found.value < found.high
    assert found.n == 200


OBJECTIVES = {"acc": thresholds.accuracy_objective, "f1": thresholds.f1_objective}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_published_threshold_is_that_of_the_authors_for_each_objective(shared_data, name):
    told = json.loads((shared_data.parent / "oracles/rise.json").read_text("utf-8"))["threshold_cases"]
    assert len(told) == 6
    for case in told.values():
        values, labels = np.array(case["dev_scores"]), np.array(case["dev_labels"], np.int8)
        cut = thresholds.rise_threshold(values, labels, objective=OBJECTIVES[name])
        assert cut == pytest.approx(case[f"{name}_threshold"], abs=1e-12)
        predicted = np.array(case["test_scores"]) > cut
        metric = accuracy_score if name == "acc" else f1_score
        assert metric(case["test_labels"], predicted) == pytest.approx(case[f"test_{name}"])


def test_the_published_threshold_cannot_call_everything_positive_and_ours_can():
    values, labels = np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4, np.int8)
    assert thresholds.rise_threshold(values, labels) == pytest.approx(0.15)
    assert thresholds.best_threshold(values, labels) == pytest.approx(0.1)
    assert thresholds.rise_threshold(values, 1 - labels, objective=thresholds.f1_objective) == 0
    assert thresholds.rise_threshold(values[:1], labels[:1], objective=thresholds.accuracy_objective) == -1


def test_test_scores_do_not_move_the_threshold(scores):
    before = f1(scores).params["threshold"]
    scores.values[100:] += 5
    assert f1(scores).params["threshold"] == before


def test_a_head_of_two_classes_is_measured_at_its_own_argmax(scores):
    with_head = replace(scores, head_threshold=0.5)
    said = scores.values[100:] >= 0.5
    found = {e.metric: e for e in head_figures(with_head)}
    assert found["head_accuracy"].value == pytest.approx(accuracy_score(scores.labels[100:], said))
    assert found["head_f1"].value == pytest.approx(f1_score(scores.labels[100:], said))
    assert found["head_f1"].params == {"threshold": 0.5, "folds": 0}


def test_a_model_without_a_head_has_no_argmax(scores):
    assert head_figures(scores) == []

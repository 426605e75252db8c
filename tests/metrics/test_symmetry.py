"""Pairs in both orders: what flips, at which threshold, and what that says of symmetric and of lopsided scorers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from encheck.claims import Claim
from encheck.cli import app
from encheck.datasets.dataset import dataset_from_rows
from encheck.datasets.load import load
from encheck.datasets.reader import PairRow
from encheck.encoders.fake import BagOfWords, Lopsided, Overlap
from encheck.encoders.model_config import ModelConfig
from encheck.errors import NothingToMeasure
from encheck.items.builders import pairs_in_both_orders
from encheck.items.variants import VariantMaker
from encheck.metrics.symmetry import (
    choose_decision_thresholds,
    consistency,
    decision_threshold,
    flip_rate,
    largest_asymmetry,
)
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.both_orders import BothOrders
from encheck.scoring.frame import item_table
from encheck.scoring.pairs import TuningScores
from encheck.scoring.scores import BothOrdersScores, Scale
from encheck.scoring.splits import assign_folds
from encheck.statistics.bootstrap import Resampler
from encheck.store import Store
from encheck.system.lock import no_locks
from encheck.system.terminal import Progress

CLAIM = "prediction_stays_when_the_sentences_are_exchanged"
SCORE = st.integers(0, 100).map(lambda x: x / 100)


def scored(forward, backward, labels, **more):
    """Pairs of which each is a cluster."""
    names = [str(i) for i in range(len(forward))]
    items = tuple(BothOrders(n, n, n, label, n) for n, label in zip(names, labels, strict=True))
    both, labels = (np.array(forward, float), np.array(backward, float)), np.array(labels, np.int8)
    return BothOrdersScores(*both, labels, Resampler(names), Scale(0.0), items=items, **more)


def learned(values, labels):
    return TuningScores(np.array(values, float), np.array(labels, np.int8))


def measured(model, data, tmp_path):
    session = ScoringSession(
        {"m": ModelUnderTest("m", ModelConfig("m"), model)},
        {"d": data},
        Store(tmp_path / "s.sqlite"),
        maker=VariantMaker(),
    )
    claim = Claim(pairs_in_both_orders)
    session.prepare([("m", "d", claim, 1)], locks=no_locks, progress=Progress(quiet=True))
    items = session.items("d", claim, 1)
    return items, session.scores("m", "d", items)


def test_the_gate_part_of_the_probes_is_measured_and_the_dev_part_gives_the_threshold(tmp_path):
    items, scores = measured(Lopsided(), load("probes"), tmp_path)
    assert {i.split for i in items.included} == {"gate"}
    assert {p.split for p in items.tuning} == {"dev"}
    assert scores.tuning.labels.tolist() == [p.label for p in items.tuning]
    assert flip_rate(scores).params["decided_by"] == "the validation part"


def test_a_pair_is_scored_in_both_orders():
    item = BothOrders("1", "a dog", "a cat", 0, "c")
    assert item.pairs_to_score == (("a dog", "a cat"), ("a cat", "a dog"))


def test_pairs_without_a_label_and_identical_sentences_are_left_out_and_counted():
    rows = [PairRow("a", "b", 1), PairRow("c", "d", 0), PairRow("e", "e", 1), PairRow("f", "g", None)]
    items = pairs_in_both_orders(dataset_from_rows("own", rows), 1, VariantMaker())
    assert [(i.first, i.label) for i in items.included] == [("a", 1), ("c", 0)]
    assert items.excluded == {"no label": 1, "identical sentences": 1}


def test_without_two_labels_there_is_no_threshold_and_nothing_is_measured():
    with pytest.raises(NothingToMeasure, match="not have both labels"):
        pairs_in_both_orders(dataset_from_rows("own", [PairRow("a", "b", 1), PairRow("c", "d", 1)]), 1, VariantMaker())


def test_flips_are_counted_by_hand():
    scores = scored(
        [0.9, 0.8, 0.2, 0.1], [0.9, 0.3, 0.7, 0.1], [1, 1, 0, 0], tuning=learned([0.9, 0.6, 0.4, 0.1], [1, 1, 0, 0])
    )
    rate = flip_rate(scores)
    assert rate.value == 0.5  # the threshold is 0.5: the second pair falls below it, the third rises above it
    assert rate.params == {"threshold": 0.5, "folds": 0, "decided_by": "the validation part"}
    assert consistency(scores).value == 0.5
    assert largest_asymmetry(scores).value == pytest.approx(0.5)


def test_a_trained_head_decides_by_its_argmax_whatever_a_tuned_threshold_would_be():
    forward, backward = [0.9, 0.8, 0.7, 0.2], [0.9, 0.6, 0.6, 0.2]
    tuned = learned([0.9, 0.8, 0.65, 0.1], [1, 1, 0, 0])  # 0.725: the second pair would flip
    assert flip_rate(scored(forward, backward, [1, 1, 0, 0], tuning=tuned)).value == 0.25
    found = flip_rate(scored(forward, backward, [1, 1, 0, 0], tuning=tuned, head_threshold=0.5))
    assert (found.value, found.params["decided_by"]) == (0, "the model's head")


def test_the_threshold_that_a_run_gives_decides_before_anything_else():
    scores = scored([0.9, 0.4], [0.7, 0.4], [1, 0], head_threshold=0.5)
    found = flip_rate(scores, threshold=0.8)
    assert (found.value, found.params["threshold"], found.params["decided_by"]) == (0.5, 0.8, "the threshold given")
    assert consistency(scores, threshold=0.8).value == 0.5


def test_without_a_validation_part_no_pair_is_judged_by_a_threshold_that_it_chose():
    rng = np.random.default_rng(0)
    forward, labels = rng.random(60), [0, 1] * 30
    scores = scored(forward, forward + 0.01, labels)
    found = choose_decision_thresholds(scores)
    assert (found.by, found.folds) == ("the other folds", 10)
    moved = replace(scores, forward=np.r_[5.0, forward[1:]])
    assert choose_decision_thresholds(moved).cuts[0] == found.cuts[0]


def test_the_decision_of_a_head_is_calibrated_with_its_scores():
    scores = replace(scored([0.9, 0.4], [0.7, 0.4], [1, 0], head_threshold=0.5), scale=Scale(0.2, 0.9))
    assert flip_rate(scores.calibrated).value == flip_rate(scores).value
    assert scores.calibrated.head_threshold == pytest.approx(0.3 / 0.7)


@given(st.lists(st.tuples(SCORE, SCORE, st.integers(0, 1)), min_size=2, max_size=30))
def test_consistency_and_flip_rate_add_up_to_1_and_lie_in_their_intervals(rows):
    scores = scored(*zip(*rows, strict=True))
    rate, kept = flip_rate(scores), consistency(scores)
    if np.isnan(rate.value):
        assert np.isnan(choose_decision_thresholds(scores).cuts).any()
        return
    assert rate.value + kept.value == pytest.approx(1)
    assert rate.low <= rate.value <= rate.high
    assert (kept.low, kept.high) == pytest.approx((1 - rate.high, 1 - rate.low))


def test_equal_scores_but_for_rounding_flip_nothing():
    forward = np.linspace(0, 1, 40)
    scores = scored(forward, forward + 1e-7, [0] * 20 + [1] * 20)
    assert (flip_rate(scores).value, consistency(scores).low) == (0, 1)


def test_an_asymmetric_scorer_that_happens_to_flip_nothing_keeps_an_interval():
    forward = np.r_[np.full(20, 0.1), np.full(20, 0.9)]
    found = consistency(scored(forward, forward + 0.05, [0] * 20 + [1] * 20))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(0.025 ** (1 / 40))


def test_a_scorer_that_does_not_vary_has_no_figure():
    scores = scored([0.5] * 30, [0.5] * 30, [0, 1] * 15)
    assert np.isnan(consistency(scores).value)
    assert "threshold" not in flip_rate(scores).params


def test_replicates_that_draw_none_of_the_pairs_are_left_out_of_the_interval():
    few = scored([0.9, 0.1], [0.8, 0.2], [1, 0])
    few = replace(few, resampler=Resampler(["0", "1"], universe=[str(i) for i in range(8)]))
    assert (flip_rate(few, threshold=0.5).value, flip_rate(few, threshold=0.5).low) == (0, 0)


def test_a_threshold_that_predicts_one_class_alone_would_hide_flips_and_is_not_taken():
    rng = np.random.default_rng(0)
    values, labels = rng.random(1000), np.array([1] * 200 + [0] * 800, np.int8)
    share = (values >= decision_threshold(values, labels)).mean()
    assert share == pytest.approx(0.2, abs=0.01)


def test_the_interval_of_the_largest_asymmetry_ends_at_it():
    rng = np.random.default_rng(0)
    forward = rng.random(50)
    found = largest_asymmetry(scored(forward, forward + rng.random(50) / 10, rng.integers(0, 2, 50)))
    assert found.low < found.value == found.high


def test_the_worst_items_are_those_whose_order_matters_most():
    assert scored([0.1, 0.5, 0.3], [0.2, 0.1, 0.3], [0, 1, 1]).positions_worst_first() == [1, 0, 2]


@pytest.mark.parametrize("model", [BagOfWords(), Overlap()])
def test_a_symmetric_scorer_is_symmetric_to_the_bit(model, tmp_path):
    _, scores = measured(model, load("probes"), tmp_path)
    assert (scores.forward == scores.backward).all()
    assert flip_rate(scores).value == 0
    assert consistency(scores).low == 1
    assert flip_rate(scores).surface["jaccard"].value == 0


def test_the_lopsided_scorers_flips_are_those_of_its_own_scores(tmp_path):
    model, data = Lopsided(), load("probes")
    items, scores = measured(model, data, tmp_path)
    first, second = [i.first for i in items.included], [i.second for i in items.included]
    assert scores.forward == pytest.approx(model.score_pairs(first, second), abs=1e-6)
    assert scores.backward == pytest.approx(model.score_pairs(second, first), abs=1e-6)
    assert flip_rate(scores).value > 0.02


def test_the_item_file_holds_both_scores_and_no_far_text(tmp_path):
    items, scores = measured(Lopsided(), load("probes"), tmp_path)
    table = item_table(scores.to_item_frame("x", items.included)).to_pydict()
    assert set(table["far"]) == {None}
    assert table["near_score"] == scores.forward.tolist()
    assert table["far_score"] == scores.backward.tolist()
    assert table["label"] == [i.label for i in items.included]


@pytest.fixture
def encheck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(args))


@pytest.fixture
def run(encheck, plain_probes):
    return lambda *args: encheck("run", "-q", "-m", "symmetry", f"--data={plain_probes}", *args)


def test_the_check_fails_a_lopsided_scorer_and_shows_a_pair_in_both_orders(run, encheck, tmp_path):
    outcome = run("--model=lopsided", "--report-dir=reports/out", "--strict")
    assert outcome.exit_code == 1
    assert "aim 0.97" in outcome.output
    found = json.loads((tmp_path / "reports/out/results.json").read_text("utf-8"))
    rows = {row["metric"]: row for row in found["checks"]}
    assert rows["consistency"]["verdict"] == "fail"
    assert rows["consistency"]["check"] == CLAIM
    assert rows["flip_rate"]["params"]["threshold"] > 0
    shown = encheck("show", "probes/", "--model=lopsided").output
    turned_lines = [line for line in shown.splitlines() if line.startswith("  turned")]
    assert all(line.split()[1].rstrip(",") == line.split()[-1] for line in turned_lines)
    assert len(turned_lines) == rows["consistency"]["n"]


def test_the_check_passes_every_encoder_and_has_no_verdict_for_a_constant_one(run):
    assert run("--model=random", "--model=overlap").exit_code == 0
    assert "could not be measured" in run("--model=constant").output


def test_each_fold_is_cut_where_the_others_are_cut_best():
    rng = np.random.default_rng(1)
    labels = np.arange(60) % 2
    scores = scored(labels + rng.normal(0, 0.8, 60), np.zeros(60), labels)
    fold = assign_folds([item.cluster for item in scores.items])
    expected = [decision_threshold(scores.forward[fold != k], scores.labels[fold != k]) for k in fold]
    assert len(set(expected)) > 2
    assert choose_decision_thresholds(scores).cuts.tolist() == expected


def test_the_largest_asymmetry_of_a_replicate_is_that_of_the_pairs_drawn():
    forward = np.random.default_rng(2).random(12)
    scores = scored(forward, np.zeros(12), [0, 1] * 6)
    drawn = scores.resampler.weights[:, scores.resampler.columns] > 0
    low = np.percentile(np.where(drawn, forward, 0).max(axis=1), 2.5)
    assert largest_asymmetry(scores).low == pytest.approx(low)


def test_where_the_best_cut_calls_nearly_all_pairs_alike_as_many_are_called_paraphrases_as_there_are():
    values, labels = np.arange(100) / 100, np.array([1, 0, 0, 0, 0] * 20, np.int8)
    cut = decision_threshold(values, labels)
    assert (values >= cut).sum() == labels.sum() == 20

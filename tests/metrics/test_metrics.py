"""Every figure against an independent computation, and what calibration must and must not change."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from encheck.metrics.pairs import (
    auc,
    beyond_word_overlap,
    cohens_d,
    margin_rate,
    mean_margin,
    mean_of_label,
    mean_similarity,
    share_above,
    similarity_gap,
    withhold_verdict_if_overlap_separates,
)
from encheck.scoring.scores import MarginScores, PairScores, Scale
from encheck.statistics.bootstrap import Resampler
from encheck.statistics.sharing import Sharing
from encheck.types import FloorAndAim, content_hash
from encheck.verdict import JudgingTerms, decide_verdict, judge_by_terms

SIMILARITY = st.floats(-1, 1).map(lambda x: round(x, 3))


def pairs(values, labels, *, reference=0.1):
    resampler = Resampler([str(i) for i in range(len(values))])
    return PairScores(np.array(values, float), np.array(labels, np.int8), resampler, Scale(reference))


def margins(near, far, *, reference=0.1):
    resampler = Resampler([str(i) for i in range(len(near))])
    return MarginScores(np.array(near, float), np.array(far, float), resampler, Scale(reference))


@pytest.fixture
def two_classes():
    rng = np.random.default_rng(0)
    return pairs(np.r_[rng.normal(0.8, 0.1, 80), rng.normal(0.5, 0.2, 60)], [1] * 80 + [0] * 60)


def test_what_fp32_rounds_is_a_tie_on_either_scale():
    """An encoder without word order gives the same vector but for the order of its sums: a tie counts one half."""
    scores = margins([0.9 + 1e-8, 0.9, 0.9 + 1e-6], [0.9, 0.9 + 5e-8, 0.9], reference=0.99)
    assert margin_rate(scores).value == margin_rate(scores.calibrated).value == pytest.approx(2 / 3)


def test_a_scorer_without_a_scale_has_ties_and_wins_one_half():
    same = margins([1.0] * 30, [1.0] * 30, reference=1.0)
    assert margin_rate(same).value == margin_rate(same.calibrated).value == 0.5
    assert {point.count for point in margin_rate(same.calibrated).curve} == {0}


def test_means_and_gap_are_those_of_numpy(two_classes):
    positive, negative = two_classes.values[:80], two_classes.values[80:]
    assert mean_of_label(two_classes, label=1).value == pytest.approx(positive.mean())
    assert mean_of_label(two_classes, label=0).n == 60
    assert similarity_gap(two_classes).value == pytest.approx(positive.mean() - negative.mean())
    assert mean_similarity(two_classes).value == pytest.approx(two_classes.values.mean())


def test_the_share_above_a_threshold_is_recall_and_false_positive_rate(two_classes):
    recall, false = (share_above(two_classes, label=label, threshold=0.7) for label in (1, 0))
    assert (recall.metric, false.metric) == ("recall", "false_positive_rate")
    assert recall.value == np.mean(two_classes.values[:80] >= 0.7)
    assert false.value == np.mean(two_classes.values[80:] >= 0.7)
    assert recall.low < recall.value < recall.high


def test_the_gaps_interval_agrees_with_the_normal_one(two_classes):
    positive, negative = two_classes.values[:80], two_classes.values[80:]
    half = 1.96 * np.sqrt(positive.var(ddof=1) / 80 + negative.var(ddof=1) / 60)
    gap = similarity_gap(two_classes)
    assert (gap.value - gap.low, gap.high - gap.value) == pytest.approx((half, half), rel=0.1)


def test_auc_is_scikit_learns(two_classes):
    expected = roc_auc_score(two_classes.labels, two_classes.values)
    assert auc(two_classes).value == pytest.approx(expected, abs=1e-6)
    assert auc(two_classes).low < expected < auc(two_classes).high


def beside(values, words, labels):
    """Scores of a model beside those of word overlap, over the same replicates."""
    scores = pairs(values, labels)
    return replace(scores, surface={"jaccard": replace(scores, values=np.array(words, float), scale=Scale(0.0))})


def test_what_a_model_adds_to_word_overlap_is_paired_by_item_and_cluster():
    rng = np.random.default_rng(1)
    labels = np.r_[np.ones(80, int), np.zeros(60, int)]
    words = rng.normal(0.3 + 0.2 * labels, 0.2)
    scores = beside(words + rng.normal(0.1 * labels, 0.02), words, labels)
    gap, area = beyond_word_overlap(scores)
    assert (gap.metric, area.metric) == (
        "similarity_gap_beyond_word_overlap_calibrated", "auc_beyond_word_overlap",
    )  # fmt: skip
    alone = scores.surface["jaccard"]
    assert gap.value == pytest.approx(similarity_gap(scores.calibrated).value - similarity_gap(alone.calibrated).value)
    assert area.value == pytest.approx(auc(scores).value - auc(alone).value)
    assert area.low < area.value < area.high
    assert area.high - area.low < auc(scores).high - auc(scores).low  # both have the same pairs
    assert list(beyond_word_overlap(pairs([0.1, 0.2], [0, 1]))) == []


@pytest.mark.parametrize(("lift", "is_judged"), [(0.0, True), (-0.3, True), (0.3, False)])
def test_where_words_alone_tell_the_labels_apart_a_gap_has_no_verdict(lift, is_judged):
    labels = np.tile([1, 0], 100)
    words = np.repeat(np.linspace(0, 1, 100), 2) + lift * labels
    scores = beside(np.linspace(0, 1, 200), words, labels)
    found = withhold_verdict_if_overlap_separates(similarity_gap.calibrated)(scores)
    assert ("unjudged" not in found.params) is is_judged
    if not is_judged:
        wanted = roc_auc_score(labels, words)
        assert found.params["unjudged"].endswith(f"apart (AUC {wanted:.2f}, above 0.60)")
    assert "unjudged" not in withhold_verdict_if_overlap_separates(similarity_gap)(pairs(words, labels)).params


@pytest.mark.parametrize("figure", [similarity_gap, auc, cohens_d])
def test_a_figure_of_two_labels_rests_on_the_clusters_of_the_one_with_fewer(figure):
    few = pairs(np.linspace(0, 1, 61), [0] * 59 + [1] * 2)
    assert (figure(few).n, figure(few).clusters) == (61, 2)
    assert decide_verdict(figure(few), FloorAndAim(aim=0.1))[0] == "inconclusive"


def test_a_figure_of_one_label_rests_on_the_clusters_of_that_label(two_classes):
    assert mean_of_label(two_classes, label=1).clusters == 80
    assert share_above(two_classes, label=0, threshold=0.5).clusters == 60


def test_cohens_d_is_the_textbooks(two_classes):
    a, b = two_classes.values[:80], two_classes.values[80:]
    pooled = np.sqrt((79 * a.var(ddof=1) + 59 * b.var(ddof=1)) / 138)
    d = cohens_d(two_classes)
    assert d.value == pytest.approx((a.mean() - b.mean()) / pooled)
    assert d.low < d.value < d.high


def test_calibration_leaves_auc_and_effect_size_alone(two_classes):
    assert auc(two_classes.calibrated).value == pytest.approx(auc(two_classes).value)
    assert cohens_d(two_classes.calibrated).value == pytest.approx(cohens_d(two_classes).value)
    assert auc(two_classes.calibrated).metric == "auc_calibrated"


def test_one_constant_added_to_all_embeddings_changes_raw_margins_and_no_calibrated_one():
    rng = np.random.default_rng(1)
    near, far, random = rng.uniform(0.5, 1, 50), rng.uniform(0.3, 0.9, 50), rng.uniform(-0.1, 0.2, 99)
    shrunk = [(x + 3) / 4 for x in (near, far, random)]  # what an offset common to all vectors does to cosines
    before = margins(near, far, reference=random.mean())
    after = margins(shrunk[0], shrunk[1], reference=shrunk[2].mean())
    assert mean_margin(after).value == pytest.approx(mean_margin(before).value / 4)
    assert mean_margin(after.calibrated).value == pytest.approx(mean_margin(before.calibrated).value)


def test_the_calibrated_scale_has_random_pairs_at_0_and_identical_text_at_1():
    scale = Scale(reference=-3.0, identity=0.0)
    assert scale.calibrate(np.array([-3.0, 0.0])).tolist() == [0, 1]


def test_a_scorer_that_cannot_tell_random_from_identical_has_no_scale():
    assert np.isnan(Scale(reference=1.0).calibrate(np.array([1.0]))).all()


@given(st.lists(st.tuples(SIMILARITY, SIMILARITY), min_size=1, max_size=40))
def test_the_margin_curve_falls_from_1_to_0_and_counts_the_items(found):
    near, far = zip(*found, strict=True)
    curve = margin_rate(margins(near, far)).curve
    values = [point.value for point in curve]
    assert values == sorted(values, reverse=True)
    assert all(0 <= point.low <= point.high <= 1 for point in curve)
    for point in curve:
        assert point.count == sum(n - f > point.epsilon + 1e-12 for n, f in found)


@given(st.lists(st.tuples(SIMILARITY, SIMILARITY), min_size=1, max_size=40), st.floats(-0.3, 0.3))
def test_the_rate_lies_in_its_interval_and_falls_with_epsilon(found, epsilon):
    near, far = zip(*found, strict=True)
    rate = margin_rate(margins(near, far), epsilon=epsilon)
    assert rate.low <= rate.value <= rate.high
    assert margin_rate(margins(near, far), epsilon=epsilon + 0.1).value <= rate.value


def test_a_margin_equal_to_epsilon_is_a_tie_though_floats_are_noisy():
    assert margin_rate(margins([0.3] * 30, [0.2] * 30), epsilon=0.1).value == 0.5


def test_where_all_items_agree_the_interval_still_has_width():
    rate = margin_rate(margins([0.9] * 60, [0.1] * 60))
    assert (rate.value, rate.high) == (1, 1)
    assert rate.low == pytest.approx(0.0250 ** (1 / 60), abs=0.003)


def test_a_rate_of_items_that_share_too_much_has_no_interval_and_says_why():
    near, far = np.full(60, 0.9), np.r_[np.full(40, 0.1), np.full(20, 0.95)]
    rate = margin_rate(MarginScores(near, far, Resampler(["a"] * 30 + [str(i) for i in range(30)]), Scale(0.0)))
    assert (rate.low, rate.high) == (0, 1)
    assert rate.params["withheld"].startswith("30 of 60 items share one document")
    assert judge_by_terms(rate, JudgingTerms(own=0.5)).reason.endswith(rate.params["withheld"])


def test_the_rate_of_a_chain_of_items_counts_the_pairs_that_share_something():
    won = np.arange(300) % 3 > 0
    chain = [(f"{i}", f"{i + 1}") for i in range(300)]
    draws = Resampler(["all"] * 300, shares=chain)
    rate = margin_rate(MarginScores(np.full(300, 0.5), np.where(won, 0.1, 0.9), draws, Scale(0.0)))
    wanted = Sharing.of([[i, i + 1] for i in range(300)]).rate_interval(won.astype(float))
    assert (rate.low, rate.high) == (wanted[0][0], wanted[1][0])
    assert rate.clusters == 100
    assert draws.select(np.arange(100)).sharing.independent_clusters < 40


def test_a_selection_without_the_items_that_overlap_counts_its_clusters():
    names = [f"{i // 5}" for i in range(20)]
    shares = [(content_hash(name), *["both"] * (i in (4, 5))) for i, name in enumerate(names)]
    draws = Resampler(names, shares=shares)
    assert draws.overlaps
    assert draws.select(np.flatnonzero([i not in (4, 5) for i in range(20)])).clusters == 4


def test_the_worst_items_come_first(two_classes):
    assert margins([0.5, 0.9, 0.2], [0.4, 0.1, 0.8]).positions_worst_first()[0] == 2
    first = two_classes.positions_worst_first()[0]
    extremes = {int(two_classes.values[:80].argmin()), 80 + int(two_classes.values[80:].argmax())}
    assert first in extremes


def test_the_figures_of_surface_scorers_stand_beside_the_models():
    beside = margins([0.2] * 40, [0.4] * 40)
    model = MarginScores(np.full(40, 0.9), np.full(40, 0.4), beside.resampler, Scale(0.0), surface={"jaccard": beside})
    assert margin_rate(model).value == 1
    assert margin_rate(model).surface["jaccard"].value == 0
    assert mean_margin(model.calibrated).surface["jaccard"].value == pytest.approx(-0.2 / 0.9)

"""What thresholds accept, and which threshold of another model does the same: held to plain computations."""

import numpy as np
import pytest

from encheck.errors import DataError, UsageError
from encheck.operations.threshold.rates import RATES, Pairs, Population, match_threshold


def pairs(labels, clusters):
    n = len(labels)
    texts = tuple(f"text {i}" for i in range(n))
    return Pairs("d", texts, tuple(f"{t} too" for t in texts), np.array(labels, np.int8), tuple(map(str, clusters)))


@pytest.fixture
def sample():
    """300 pairs in 60 clusters, a third of each label, and the scores of two models."""
    rng = np.random.default_rng(0)
    labels, clusters = np.tile([1, 0, -1], 100), rng.integers(0, 60, 300)
    old = rng.normal(labels * 0.5, 1.0)
    return pairs(labels, clusters), old, 0.5 * old + rng.normal(0, 0.3, 300)


def test_false_accepts_and_recall_are_shares_of_pairs_and_hits_are_of_pairs_without_a_label(sample):
    found, scores, _ = sample
    (point,) = Population(found).rates_at(scores, [0.4])
    accepted = scores >= 0.4
    assert point.false_accepts.value == pytest.approx(accepted[found.labels == 0].mean())
    assert point.recall.value == pytest.approx(accepted[found.labels == 1].mean())
    assert point.hits.value == pytest.approx(accepted[found.labels == -1].mean())
    assert point.accepted == accepted[found.labels == -1].sum()
    assert point.precision is None
    for rate in (point.hits, point.recall, point.false_accepts):
        assert rate.low < rate.value < rate.high


def test_precision_is_by_bayes_and_hits_without_unlabelled_pairs_are_weighed(sample):
    found, scores, _ = sample
    labelled = found.select(np.flatnonzero(found.labels >= 0).tolist())
    (point,) = Population(labelled, positives=0.05).rates_at(scores[found.labels >= 0], [0.4])
    recall, false = point.recall.value, point.false_accepts.value
    assert point.precision.value == pytest.approx(0.05 * recall / (0.05 * recall + 0.95 * false))
    assert point.hits.value == pytest.approx(0.05 * recall + 0.95 * false)
    assert point.precision.low < point.precision.value < point.precision.high


def test_a_rate_of_zero_is_no_surer_than_its_clusters_are():
    found = pairs([0] * 50 + [1] * 50, range(100))
    scores = np.repeat([0.0, 1.0], 50)
    (point,) = Population(found, positives=0.5).rates_at(scores, [0.5])
    assert point.false_accepts.value == 0
    assert point.false_accepts.high == pytest.approx(1 - 0.025 ** (1 / 50))
    assert point.precision.value == 1
    assert point.precision.low < 0.95
    reach = point.false_accepts.high / 2, (1 - point.recall.low) / 2
    assert (point.hits.low, point.hits.high) == pytest.approx((0.5 - reach[1], 0.5 + reach[0]))
    match = match_threshold(Population(found), scores, 0.5, scores, "hits")
    assert match.point.recall.low == pytest.approx(point.recall.low)


def test_pairs_that_share_texts_by_chance_are_not_one_item():
    texts = [f"word{i} other{i}" for i in range(502)]
    chain = Pairs(
        "d", tuple(texts[:500]), tuple(texts[1:501]), np.zeros(500, np.int8), ("all",) * 499 + ("last",), by_texts=True
    )
    (point,) = Population(chain).rates_at(np.zeros(500), [0.5])
    independent = 500**2 // (3 * 498 + 2 * 2)  # each depends on its two neighbours and itself, the ends on one
    assert point.false_accepts.value == point.false_accepts.low == 0
    assert point.false_accepts.high == pytest.approx(1 - 0.025 ** (1 / independent))
    assert chain.independent(chain.distinct(0)) == independent
    (point,) = Population(chain).rates_at(np.arange(500) % 20 / 20, [0.95])
    error = (0.05 * 0.95 / 500) ** 0.5
    assert point.false_accepts.value == pytest.approx(0.05)
    assert point.false_accepts.low < 0.05 - 1.7 * error
    assert 0.05 + 1.7 * error < point.false_accepts.high < 0.05 + 4 * error


def test_the_strictest_threshold_accepts_so_many_pairs_and_no_higher_one_does(sample):
    found, scores, _ = sample
    unlabelled, positives = scores[found.labels == -1], scores[found.labels == 1]
    half = Population(found).strictest_threshold(
        scores, step=0.001
    )  # 50 positives come before 30 pairs without a label
    assert (positives >= half).sum() >= 50 > (positives >= half + 0.001).sum()
    assert (unlabelled >= half).sum() < 30
    cut = Population(found.select(np.flatnonzero(found.labels != 1))).strictest_threshold(
        scores[found.labels != 1], step=0.001
    )
    assert (unlabelled >= cut).sum() >= 30 > (unlabelled >= cut + 0.001).sum()
    others = [i for i in range(75) if found.labels[i] != 1]
    assert Population(found.select(others)).strictest_threshold(scores[others], step=0.001) is None


def drawn_by_hand(population, old, cut, new, replicate):
    """The same hits on pairs that are drawn by repeating them."""
    found, weights = population.pairs, population.draws.weights[replicate]
    items = np.repeat(np.arange(len(found.labels)), weights[found.codes].astype(int))
    items = items[found.labels[items] == -1]
    scores, counts = np.unique(new[items], return_counts=True)
    reached = np.cumsum(counts[::-1])[::-1]
    nearest = np.flatnonzero((apart := np.abs(reached - (old[items] >= cut).sum())) == apart.min())[-1]
    return (scores[nearest] + scores[nearest - 1]) / 2


def test_the_threshold_is_chosen_anew_in_every_replicate(sample):
    found, old, new = sample
    population = Population(found)
    match = match_threshold(population, old, 0.3, new, "hits", least=1)
    by_hand = [drawn_by_hand(population, old, 0.3, new, r) for r in range(2_000)]
    unlabelled = found.labels == -1
    accepted = (old[unlabelled] >= 0.3).sum()
    assert match.threshold.value == pytest.approx(
        np.sort(new[unlabelled])[::-1][accepted - 1 : accepted + 1].mean(), abs=0.005
    )
    ends = match.threshold.low, match.threshold.high
    assert ends == pytest.approx(np.percentile(by_hand, [2.5, 97.5]), abs=0.005)
    assert match.point.hits.value == pytest.approx(accepted / unlabelled.sum())
    is_negative = found.labels == 0
    change = (new >= match.threshold.value)[is_negative].mean() - (old >= 0.3)[is_negative].mean()
    assert match.change.false_accepts.value == pytest.approx(change)


@pytest.mark.parametrize(("groups", "hits"), [((59, 10, 31), 0.59), ((51, 10, 39), 0.61), ((95, 5), 0.95)])
def test_equal_scores_match_the_nearest_rate(groups, hits):
    texts = tuple(map(str, range(100)))
    population = Population(Pairs("d", texts, texts, np.full(100, -1, np.int8), texts))
    new = np.repeat([0.9, 0.5, 0.1][: len(groups)], groups)
    match = match_threshold(population, np.arange(100)[::-1], 40, new, "hits")
    assert match.point.hits.value == hits


@pytest.mark.parametrize("way", ["hits", "recall", "false_accepts"])
def test_the_same_model_on_another_scale_is_matched_exactly(sample, way):
    found, old, _ = sample
    match = match_threshold(Population(found), old, 0.3, 2 * old + 1, way, least=1)
    assert match.threshold.low < 1.6 < match.threshold.high
    changes = {base: change for base in RATES if (change := getattr(match.change, base))}
    for change in changes.values():
        assert change.value == pytest.approx(0, abs=0.03)
        assert change.low <= 0 <= change.high
    assert changes.keys() == {"hits", "recall", "false_accepts"} - {way}


def test_too_few_accepted_pairs_are_refused(sample):
    found, old, new = sample
    cut = np.sort(old[found.labels == -1])[::-1][28]
    match = match_threshold(Population(found), old, cut, new, "hits")
    assert match.threshold is None
    assert match.refused == "the old threshold accepts 29 pairs, but 30 are needed to choose a new one"
    negatives = found.select(np.flatnonzero(found.labels <= 0).tolist())
    kept = found.labels <= 0
    assert (
        "no pair is labelled as positive"
        in match_threshold(Population(negatives), old[kept], 0, new[kept], "recall").refused
    )


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(DataError, match="belong to one cluster"):
        Population(pairs([0, 1], ["a", "a"]))
    with pytest.raises(UsageError, match="lack one of them"):
        Population(pairs([0, 0], ["a", "b"]), positives=0.1)
    with pytest.raises(DataError, match="no pair has label 0"):
        Population(pairs([1, -1], ["a", "b"])).negatives(np.zeros(2))

"""Clusters, the bootstrap and the AUC, against independent implementations."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from encheck.statistics.bootstrap import (
    REPLICATES,
    Resampler,
    bootstrap_weights,
    percentile_interval,
    weighted_auc,
    weights_of_clusters,
    widen_share_interval,
)
from encheck.statistics.clusters import component_list

NODE = st.integers(-4, 4)


@given(st.lists(st.tuples(NODE, NODE), max_size=30))
def test_two_pairs_share_a_component_exactly_when_a_path_of_shared_nodes_joins_them(pairs):
    names = component_list(*np.array(pairs, np.int64).reshape(-1, 2).T)
    square = (len(pairs), len(pairs))
    joined = np.array([[bool({*one} & {*other}) for other in pairs] for one in pairs], int).reshape(square)
    for _ in range(5):  # paths of up to 32 steps
        joined = (joined @ joined > 0).astype(int)
    assert [[one == other for other in names] for one in names] == joined.astype(bool).tolist()


@pytest.mark.parametrize("clusters", [1, 7, 400])
def test_each_replicate_draws_as_many_clusters_as_there_are(clusters):
    weights = bootstrap_weights(clusters, 3, 2_000)
    assert (weights.sum(axis=1) == clusters).all()
    assert weights.mean() == pytest.approx(1, abs=1e-6)


def test_weights_depend_on_the_seed_and_on_nothing_else():
    first = bootstrap_weights(50, 1, 600).copy()
    bootstrap_weights.cache_clear()
    assert (bootstrap_weights(50, 1, 600) == first).all()
    assert (bootstrap_weights(50, 2, 600) != first).any()


def test_figures_on_the_same_clusters_take_their_weights_out_of_the_table_once():
    universe = [str(i) for i in range(300)]
    resampler, values = Resampler(universe[:40], universe=universe), np.ones((40, 2))
    weights_of_clusters.cache_clear()
    first = resampler.replicate_totals(values)
    assert (resampler.select(np.arange(40)[::-1]).replicate_totals(values) == first).all()
    assert (first == bootstrap_weights(300, 0)[:, resampler.clusters_of_items].sum(axis=1, keepdims=True)).all()
    assert weights_of_clusters.cache_info().misses == 1
    other = Resampler(universe[:40], universe=universe, seed=1).replicate_totals(values)
    assert (other == bootstrap_weights(300, 1)[:, resampler.clusters_of_items].sum(axis=1, keepdims=True)).all()


@pytest.mark.parametrize("clusters", [4, 60])
@pytest.mark.parametrize("two", ["none", "some", "all"])
def test_an_item_is_drawn_as_often_as_its_cluster_is_or_as_one_times_the_other_is(clusters, two):
    rng = np.random.default_rng(5)
    names = [f"c{i:02}" for i in range(60)]
    first, second = (rng.integers(0, clusters, 50) for _ in range(2))
    hang_on_two = {"none": np.zeros(50, bool), "some": rng.random(50) < 0.5, "all": np.ones(50, bool)}[two]
    others = [names[j] if both else "" for j, both in zip(second, hang_on_two, strict=True)]
    resampler = Resampler([names[i] for i in first], universe=names, others=others)
    values, weights = rng.normal(size=(50, 3)), resampler.weights.astype(float)
    drawn = weights[:, first] * np.where(hang_on_two, weights[:, second], 1)
    np.testing.assert_allclose(resampler.replicate_totals(values), drawn @ values, atol=1e-4)
    some = rng.permutation(50)[:20]
    np.testing.assert_allclose(
        resampler.select(some).replicate_totals(values[some]), drawn[:, some] @ values[some], atol=1e-4
    )
    np.testing.assert_array_equal(np.concatenate(list(resampler.select(some).item_weights())), drawn[:, some])


def test_the_interval_of_a_mean_agrees_with_scipys_bootstrap():
    values = np.random.default_rng(0).exponential(size=300)
    resampler = Resampler([str(i) for i in range(300)])
    totals = resampler.replicate_totals(np.column_stack([values, np.ones(300)]))
    low, high = percentile_interval(totals[:, 0] / totals[:, 1])
    theirs = scipy.stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1))
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.01)


def test_a_hundred_copies_of_each_item_do_not_narrow_the_interval():
    values = np.random.default_rng(0).normal(size=60)
    once = Resampler([str(i) for i in range(60)])
    copies = Resampler([str(i) for i in range(60) for _ in range(100)])
    narrow = percentile_interval(once.replicate_totals(values[:, None])[:, 0] / 60)
    wide = percentile_interval(copies.replicate_totals(np.repeat(values, 100)[:, None])[:, 0] / 6000)
    assert wide == pytest.approx(narrow, abs=1e-4)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    covered = 0
    for trial in range(200):
        means = np.repeat(rng.normal(size=40), 5)
        values = means + rng.normal(size=200)
        resampler = Resampler([str(i // 5) for i in range(200)], seed=trial % 7)
        low, high = percentile_interval(resampler.replicate_totals(values[:, None])[:, 0] / 200)
        covered += low <= 0 <= high
    assert 0.88 <= covered / 200 <= 0.985


def test_figures_over_parts_of_one_universe_share_their_replicates():
    universe = [str(i) for i in range(30)]
    whole, part = Resampler(universe, universe=universe), Resampler(universe[:10], universe=universe)
    values = np.arange(30.0)[:, None]
    some = np.where(np.arange(30)[:, None] < 10, values, 0)
    assert np.allclose(whole.replicate_totals(some), part.replicate_totals(values[:10]))


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.lists(st.integers(-5, 5), min_size=1, max_size=30))
def test_auc_agrees_with_scikit_learn_ties_included(positive, negative):
    expected = roc_auc_score([1] * len(positive) + [0] * len(negative), positive + negative)
    assert weighted_auc(positive, negative)[0] == pytest.approx(expected, abs=1e-6)


def test_auc_of_each_replicate_is_that_of_its_resampled_items():
    rng = np.random.default_rng(2)
    positive, negative = rng.integers(0, 9, 20).astype(float), rng.integers(0, 9, 25).astype(float)
    resampler = Resampler([str(i % 15) for i in range(45)])
    replicates = weighted_auc(positive, negative, resampler)
    for row in (0, 17, 901):
        weights = resampler.weights[row, resampler.columns]
        labels = [1] * 20 + [0] * 25
        expected = roc_auc_score(labels, np.r_[positive, negative], sample_weight=weights)
        assert replicates[row] == pytest.approx(expected, abs=1e-5)


@given(st.integers(1, 500), st.integers(0, 9))
def test_the_interval_near_the_edge_is_clopper_pearsons(n, misses):
    misses = min(misses, n)
    low, high = widen_share_interval(1 - misses / n, 1.0, 0.0, n=n, clusters=n)
    exact = scipy.stats.binomtest(n - misses, n).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))
    assert widen_share_interval(misses / n, 1.0, 0.0, n=n, clusters=n) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("items", "is_widened"), [(9, True), (10, False)])
def test_an_interval_of_a_share_is_widened_where_fewer_than_ten_items_are_on_a_side(items, is_widened):
    for share in (items / 60, 1 - items / 60):
        assert (widen_share_interval(share, share, share, n=60, clusters=60) != (share, share)) is is_widened


@pytest.mark.parametrize("n", [30, 60, 600])
def test_one_miss_more_never_raises_the_interval(n):
    """A perfect score that is inconclusive while one miss passes would be no verdict."""
    weights = bootstrap_weights(n, 0)
    ends = []
    for misses in range(25):
        hits = np.r_[np.zeros(misses), np.ones(n - misses)]
        replicates = weights @ hits / n
        ends.append(widen_share_interval(1 - misses / n, *map(float, percentile_interval(replicates)), n=n, clusters=n))
    lows, highs = np.array(ends).T
    assert (np.diff(lows[:10]) < 0).all()
    assert max(np.diff(lows).max(), np.diff(highs).max()) < 0.003


def test_the_interval_over_random_pairs_covers_though_a_sentence_stands_in_many():
    """A sentence that is near to all raises every pair that it stands in, whichever place it has there."""
    nodes, size, rounds = 60, 300, 80
    names = [str(i) for i in range(nodes)]
    covered = {"one": 0, "both": 0}
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        effects = rng.normal(size=nodes)
        first, second = np.array([rng.choice(nodes, 2, replace=False) for _ in range(size)]).T
        values = (effects[first] + effects[second] + rng.normal(size=size))[:, None]
        for what, others in (("one", ()), ("both", [names[i] for i in second])):
            resampler = Resampler([names[i] for i in first], universe=names, others=others)
            sums, counts = resampler.replicate_totals(np.hstack([values, np.ones_like(values)])).T
            low, high = percentile_interval(sums / counts)
            covered[what] += bool(low <= 0 <= high)
    assert covered["both"] / rounds > 0.9
    assert covered["one"] / rounds < 0.85


def test_an_interval_of_nothing_but_nan_is_nan_and_does_not_warn():
    low, high = percentile_interval(np.full((100, 2), np.nan))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_at_least_five_hundred_replicates_are_drawn():
    assert bootstrap_weights(7, 0, 100).shape == (500, 7)


@pytest.mark.parametrize(("items", "replicates"), [(100, REPLICATES), (500, 4_000), (5_000, 2_000)])
def test_item_weights_are_of_all_replicates_but_for_many_items(items, replicates):
    resampler = Resampler([str(i % 5) for i in range(items)])
    assert sum(len(chunk) for chunk in resampler.item_weights()) == min(replicates, REPLICATES)


def test_replicates_that_are_no_number_are_left_out_of_an_interval():
    replicates = np.random.default_rng(0).normal(size=1_000)
    some = np.where(np.arange(1_000) % 4 == 0, np.nan, replicates)
    assert percentile_interval(some) == pytest.approx(np.nanpercentile(some, [2.5, 97.5]))

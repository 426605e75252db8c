"""Figures of very many items: groups of clusters are drawn, and ranks are moved by influence. Both say the same."""

import numpy as np
import pytest

from encheck.metrics import correlation
from encheck.statistics import bootstrap
from encheck.statistics import clusters as numbered_clusters
from encheck.statistics.bootstrap import ClusterNumbers, Resampler, auc_with_replicates, percentile_interval

SIZE, CLUSTERS = 3_000, 1_200


@pytest.fixture
def items():
    """Two correlated scores, with a share of ties, and labels; of items in clusters that matter."""
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, CLUSTERS, SIZE)
    of_cluster = rng.standard_normal(CLUSTERS)[clusters]
    first = (of_cluster + rng.standard_normal(SIZE)).round(1)
    second = (first / 2 + of_cluster / 2 + rng.standard_normal(SIZE)).round(1)
    labels = first + rng.standard_normal(SIZE) > 0
    return clusters, first, second, labels


def hashes(count, seed=0):
    return np.random.default_rng(seed).integers(0, 2**63, count).astype(np.uint64)


def drawn(clusters):
    return Resampler(ClusterNumbers(clusters, CLUSTERS, None, hashes(CLUSTERS)))


@pytest.fixture
def few(monkeypatch):
    """Limits that these items are beyond."""
    monkeypatch.setattr(bootstrap, "MAX_CLUSTERS", 1_000)
    monkeypatch.setattr(bootstrap, "GROUPS", 400)


def width(replicates):
    low, high = percentile_interval(replicates)
    return float(high - low)


def test_groups_of_clusters_give_the_interval_of_clusters(items, few, monkeypatch):
    clusters, first, _, _ = items
    grouped = drawn(clusters)
    assert grouped.is_grouped
    assert grouped.weights.shape[1] == 400
    monkeypatch.setattr(bootstrap, "MAX_CLUSTERS", 10**6)
    exact = drawn(clusters)
    assert not exact.is_grouped
    table = np.column_stack([first, np.ones(SIZE)])
    one, other = (sums[:, 0] / sums[:, 1] for sums in (grouped.replicate_totals(table), exact.replicate_totals(table)))
    assert width(one) == pytest.approx(width(other), rel=0.08)
    assert one.mean() == pytest.approx(other.mean(), abs=width(other) / 20)
    assert grouped.clusters == exact.clusters == len(np.unique(clusters))


def test_the_variance_of_groups_is_right_on_average(few):
    """Over many data sets: the mean of the variances is that of the mean itself, of clusters of unequal sizes."""
    rng, found, means = np.random.default_rng(0), [], []
    sizes = rng.integers(1, 4, CLUSTERS)
    clusters = np.repeat(np.arange(CLUSTERS), sizes)
    for seed in range(60):
        values = rng.standard_normal(CLUSTERS)[clusters] + rng.standard_normal(len(clusters)) / 2
        resampler = Resampler(ClusterNumbers(clusters, CLUSTERS, None, hashes(CLUSTERS, seed)))
        sums = resampler.replicate_totals(np.column_stack([values, np.ones(len(values))]))
        found.append(np.var(sums[:, 0] / sums[:, 1]))
        means.append(values.mean())
    expected = ((sizes**2).sum() + len(clusters) / 4) / len(clusters) ** 2
    assert np.mean(found) == pytest.approx(expected, rel=0.05)
    assert np.var(means) == pytest.approx(expected, rel=0.5)


def test_totals_of_groups_are_sums_over_drawn_clusters(few):
    clusters = np.arange(CLUSTERS)
    others = np.where(clusters < 10, (clusters + 5) % CLUSTERS, -1)
    known = hashes(CLUSTERS)
    resampler = Resampler(ClusterNumbers(clusters, CLUSTERS, others, known))
    values = np.random.default_rng(1).random((CLUSTERS, 2))
    group = (known % np.uint64(bootstrap.GROUPS)).astype(int)
    weights = resampler.weights[:, group].astype(float)
    weights[:, :10] *= resampler.weights[:, group[others[:10]]]
    assert resampler.replicate_totals(values) == pytest.approx(weights @ values)


def test_a_selection_of_grouped_items_counts_its_own_clusters(items, few):
    clusters, *_ = items
    chosen = np.flatnonzero(clusters < 50)
    assert drawn(clusters).select(chosen).clusters == len(np.unique(clusters[chosen]))


def test_an_auc_moved_by_placements_has_the_interval_of_ranked_replicates(items, monkeypatch):
    clusters, first, _, labels = items
    value, ranked = auc_with_replicates(first, labels, drawn(clusters))
    monkeypatch.setattr(bootstrap, "MANY_ITEMS", 100)
    monkeypatch.setattr(numbered_clusters, "ITEMS_AT_ONCE", 70)
    again, moved = auc_with_replicates(first, labels, drawn(clusters))
    assert again == pytest.approx(value, abs=1e-12)
    assert moved[: len(ranked)] == pytest.approx(ranked, abs=width(ranked) / 10)
    assert width(moved[: len(ranked)]) == pytest.approx(width(ranked), rel=0.01)


@pytest.mark.parametrize("correlate", [correlation.weighted_spearman, correlation.weighted_pearson])
def test_a_correlation_moved_by_influence_has_the_interval_of_ranked_replicates(items, correlate, monkeypatch):
    clusters, first, second, _ = items
    resampler = drawn(clusters)
    ranked = correlation._replicates(first, second, resampler, correlate)
    monkeypatch.setattr(correlation, "MANY_ITEMS", 100)
    moved = correlation._replicates(first, second, resampler, correlate)[: len(ranked)]
    assert moved == pytest.approx(ranked, abs=width(ranked) / 8)
    assert width(moved) == pytest.approx(width(ranked), rel=0.03)


@pytest.mark.parametrize("correlate", [correlation.weighted_spearman, correlation.weighted_pearson])
def test_influence_is_the_derivative_of_the_correlation(items, correlate):
    _, first, second, _ = items
    first, second = first[:200], second[:200]
    weights = np.ones((2, 200))
    at, step = 7, 1e-5
    weights[0, at] += step
    weights[1, at] -= step
    up, down = correlate(first, second, weights)
    if correlate is correlation.weighted_spearman:
        influence = correlation._spearman_influence(correlation.centred_ranks(first), correlation.centred_ranks(second))
    else:
        influence = correlation._pearson_influence(first, second)
    assert influence[at] == pytest.approx((up - down) / (2 * step), rel=1e-5)
    assert influence.sum() == pytest.approx(0, abs=1e-9)

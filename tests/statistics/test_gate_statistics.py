"""The statistics of the gate, against statsmodels, scipy and brute force."""

import numpy as np
import pytest
import statsmodels.api
from scipy import linalg, optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_table
from statsmodels.stats.multitest import multipletests

from encheck.statistics import paired as gs

TABLES = [(100, 5, 15), (400, 0, 9), (400, 9, 0), (1_000, 40, 25), (50, 0, 0), (60, 1, 1)]


def restricted_z(n, x, y, theta):
    """The score statistic with the constrained likelihood maximised by a general optimiser."""

    def minus_log(q):
        parts = ((x, q + theta), (y, q), (n - x - y, 1 - 2 * q - theta))
        return -sum(k * np.log(max(p, 1e-300)) for k, p in parts if k)

    ends = (max(0.0, -theta), (1 - theta) / 2)
    q = optimize.minimize_scalar(minus_log, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    return (x - y - n * theta) / np.sqrt(n * (2 * q + theta - theta**2))


@pytest.mark.parametrize(("n", "up", "down"), TABLES)
@pytest.mark.parametrize("theta", [-0.1, -0.02, 0.03])
def test_tangos_statistic_is_that_of_the_constrained_likelihood(n, up, down, theta):
    assert gs.tango_z(n, up, down, theta) == pytest.approx(restricted_z(n, up, down, theta), rel=1e-3)


@pytest.mark.parametrize(("n", "up", "down"), TABLES[:4])
def test_at_zero_tangos_statistic_is_mcnemars(n, up, down):
    table = [[n - up - down, up], [down, 0]]
    expected = mcnemar_table(table, exact=False, correction=False).statistic
    assert gs.tango_z(n, up, down, 0.0) ** 2 == pytest.approx(expected)


def test_a_bound_is_where_the_statistic_is_the_quantile():
    low = gs.tango_bound(1_000, 40, 25, 1.645)
    assert gs.tango_z(1_000, 40, 25, low) == pytest.approx(1.645, abs=1e-4)


@pytest.mark.parametrize(("up", "down"), [(2, 8), (0, 0), (7, 7), (30, 12)])
def test_mcnemar_agrees_with_statsmodels_and_scipy(up, down):
    assert gs.mcnemar(up, down) == pytest.approx(mcnemar_table([[9, up], [down, 9]], exact=True).pvalue)
    assert gs.mcnemar(up, down) == pytest.approx(stats.binomtest(up, max(up + down, 1)).pvalue if up + down else 1)


def test_holm_agrees_with_statsmodels():
    p = np.random.default_rng(0).uniform(0, 0.1, 25)
    np.testing.assert_allclose(gs.holm(p), multipletests(p, method="holm")[1])


def by_matrices(clusters, values):
    """(CR2 error, Satterthwaite's degrees of freedom) of a mean, by the matrices of Bell and McCaffrey 2002."""
    n, labels = len(values), np.unique(clusters)
    off = np.eye(n) - np.full((n, n), 1 / n)
    weights = []  # of each cluster, what the residuals are multiplied by
    for label in labels:
        own = clusters == label
        m = own.sum()
        root = linalg.fractional_matrix_power(np.eye(m) - np.full((m, m), 1 / n), -0.5)
        weights.append(off[:, own] @ root @ np.full(m, 1 / n))
    found = np.array(weights)
    eigenvalues = np.linalg.eigvalsh(found @ found.T)
    return np.sqrt(((found @ values) ** 2).sum()), eigenvalues.sum() ** 2 / (eigenvalues**2).sum()


@pytest.mark.parametrize("sizes", [[6] * 8, [30, 9, 6, 4, 3, 2, 1, 1], [1] * 12])
def test_error_and_degrees_of_freedom_are_those_of_bell_and_mccaffrey(sizes):
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(1).normal(size=len(clusters))
    error, free = by_matrices(clusters, values)
    assert gs.clustered_error(gs.influence(values, clusters, len(sizes))) == pytest.approx(error)
    assert gs.degrees_of_freedom(sizes) == pytest.approx(free)


def test_clusters_of_one_size_have_the_error_that_statsmodels_gives_with_its_correction():
    rng = np.random.default_rng(1)
    clusters = np.arange(300) // 10
    values = rng.normal(size=300) + rng.normal(size=30)[clusters]
    fit = statsmodels.api.OLS(values, np.ones(300)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    found = gs.clustered_error(gs.influence(values, clusters, 30))
    assert found == pytest.approx(fit.bse[0] * np.sqrt(30 / 29))


def test_one_cluster_tells_no_error():
    assert np.isnan(gs.clustered_error(gs.influence(np.arange(5.0), np.zeros(5, int), 1)))
    assert np.isnan(gs.degrees_of_freedom([5]))


def test_with_a_cluster_an_item_the_error_and_the_bound_are_those_of_the_paired_t_test():
    rng = np.random.default_rng(2)
    before, after = rng.normal(size=(2, 200))
    gain = after - before
    error = gs.clustered_error(gs.influence(gain, np.arange(200), 200))
    assert error == pytest.approx(stats.sem(gain))
    low = gain.mean() - gs.t_quantile(0.95, 199) * error
    assert low == pytest.approx(stats.ttest_rel(after, before, alternative="greater").confidence_interval(0.95).low)


def test_t_agrees_with_scipys_distribution():
    assert gs.t_cdf(-2.1, 29) == pytest.approx(stats.t.cdf(-2.1, 29))
    assert gs.t_quantile(0.99, 29) == pytest.approx(stats.t.ppf(0.99, 29))


def exact_by_hand(n, up, down, theta):
    """Sum over all tables, one by one, with scipy's multinomial."""
    seen = gs.tango_z(n, up, down, theta)
    tables = [(x, y) for x in range(n + 1) for y in range(n + 1 - x) if gs.tango_z(n, x, y, theta) <= seen + 1e-9]
    shares = np.linspace(max(0, -theta), (1 - theta) / 2, 201)
    return max(
        sum(stats.multinomial.pmf([x, y, n - x - y], n, [q + theta, q, max(0, 1 - 2 * q - theta)]) for x, y in tables)
        for q in shares
    )


@pytest.mark.parametrize("theta", [-0.1, 0.0])
def test_the_exact_p_is_the_largest_over_the_nuisance(theta):
    assert gs.exact_p(12, 1, 5, theta) == pytest.approx(exact_by_hand(12, 1, 5, theta), rel=0.02)


def test_exact_bounds_are_wider_than_tangos():
    low, high = gs.exact_bounds(60, 3, 9)
    assert low < gs.tango_bound(60, 3, 9, 1.645)
    assert high > gs.tango_bound(60, 3, 9, -1.645)
    assert gs.exact_bounds(60, 9, 3) == pytest.approx((-high, -low))


@pytest.mark.parametrize("n", [5, 10, 60])
def test_where_no_item_flips_the_exact_bound_is_the_change_that_shows_none_in_one_case_of_twenty(n):
    largest = 1 - 0.05 ** (1 / n)
    assert gs.exact_bounds(n, 0, 0) == pytest.approx((-largest, largest), abs=2 / 2**12)


def test_the_exact_bound_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(3)
    draws = rng.multinomial(50, [0.05, 0.11, 0.84], size=400)
    tables, times = np.unique(draws, axis=0, return_counts=True)
    holds = [gs.exact_bounds(50, int(up), int(down))[0] <= -0.06 for up, down, _ in tables]
    covered = np.average(holds, weights=times)
    assert covered >= 0.93


def test_tangos_bound_covers_rare_flips_in_clusters():
    """400 items, 2% discordance, 95% one-sided: a percentile bootstrap covers less."""
    rng = np.random.default_rng(4)
    draws = rng.multinomial(400, [0.01, 0.01, 0.98], size=2_000)
    covered = np.mean(gs.tango_bound(400, draws[:, 0], draws[:, 1], 1.645) <= 0)
    assert covered == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("up", "down", "theta"), [(0, 12, -0.8), (3, 2, 0.6), (1, 4, -0.5), (12, 0, 0.9)])
def test_the_exact_p_is_the_largest_far_from_zero_and_where_every_item_is_lost(up, down, theta):
    assert gs.exact_p(12, up, down, theta) == pytest.approx(exact_by_hand(12, up, down, theta), rel=0.02)


def test_the_error_of_strata_is_that_of_their_means_together():
    """Of unequal strata, each of items that are all apart: shares squared times the variance of each mean."""
    rng = np.random.default_rng(5)
    strata = np.repeat([0, 1], [100, 300])
    values = np.where(strata == 0, rng.normal(3, 1, 400), rng.normal(0, 0.2, 400))
    error = gs.clustered_error(gs.influence(values, np.arange(400), 400, strata=strata))
    wanted = sum(((strata == s).mean() ** 2) * values[strata == s].var(ddof=1) / (strata == s).sum() for s in (0, 1))
    assert error == pytest.approx(wanted**0.5)
    assert error < 0.6 * gs.clustered_error(gs.influence(values, np.arange(400), 400))


def test_a_stratum_of_one_cluster_leaves_the_error_of_all():
    values, clusters = np.arange(8.0), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    strata = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    assert np.array_equal(gs.influence(values, clusters, 4, strata=strata), gs.influence(values, clusters, 4))

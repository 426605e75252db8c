"""The statistics of the gate, against statsmodels, scipy and brute force."""

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_table
from statsmodels.stats.multitest import multipletests

from encheck.statistics import hypothesis_tests as gs

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
    assert gs.mcnemar_p(up, down) == pytest.approx(mcnemar_table([[9, up], [down, 9]], exact=True).pvalue)
    assert gs.mcnemar_p(up, down) == pytest.approx(stats.binomtest(up, max(up + down, 1)).pvalue if up + down else 1)


def test_holm_agrees_with_statsmodels():
    p = np.random.default_rng(0).uniform(0, 0.1, 25)
    np.testing.assert_allclose(gs.holm_adjusted_p(p), multipletests(p, method="holm")[1])


def test_t_agrees_with_scipys_distribution():
    assert gs.t_cdf(-2.1, 29) == pytest.approx(stats.t.cdf(-2.1, 29))
    assert gs.t_quantile(0.99, 29) == pytest.approx(stats.t.ppf(0.99, 29))


def test_tangos_bound_covers_rare_flips_in_clusters():
    """400 items, 2% discordance, 95% one-sided: a percentile bootstrap covers less."""
    rng = np.random.default_rng(4)
    draws = rng.multinomial(400, [0.01, 0.01, 0.98], size=2_000)
    covered = np.mean(gs.tango_bound(400, draws[:, 0], draws[:, 1], 1.645) <= 0)
    assert covered == pytest.approx(0.95, abs=0.02)

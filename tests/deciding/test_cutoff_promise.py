"""The promise of a cut-off: its bounds are exact, they hold in samples, and what cannot be shown is not promised."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from encheck.deciding.promise import (
    BOUNDS,
    Negatives,
    above,
    bound_at,
    lowest_cutoff,
    naive_cutoff,
    promise,
    step_of,
)
from encheck.statistics.bounds import most_hits, units_needed, upper_of_share, wealth


def negatives(scores, clusters=None, seed=0):
    scores = np.asarray(scores, float)
    codes = np.arange(len(scores)) if clusters is None else np.asarray(clusters)
    return Negatives(scores, codes, np.random.default_rng(seed).random(len(scores)))


@pytest.mark.parametrize(("hits", "n"), [(0, 299), (1, 473), (7, 100), (40, 40)])
def test_the_exact_bound_is_scipys(hits, n):
    exact = stats.binomtest(hits, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert upper_of_share(hits, n) == pytest.approx(exact)


@pytest.mark.parametrize("budget", [0.01, 0.05, 0.2])
def test_as_many_units_as_the_bound_needs_and_not_one_fewer(budget):
    for hits in range(4):
        n = units_needed(hits, budget)
        assert most_hits(n, budget) == hits
        assert most_hits(n - 1, budget) == hits - 1
        assert upper_of_share(hits, n) <= budget < upper_of_share(hits, n - 1)


def test_a_bet_is_the_mean_of_its_products():
    units = np.array([0.0, 0.5, 0.0, 0.02])
    stakes = np.arange(10, 0, -1) / 10 / 0.9
    each = [float(np.prod(1 + stake * (0.1 - units))) for stake in stakes]
    assert wealth(units, 0.1) == pytest.approx(each[0] / 2 + sum(each[1:]) / 18)
    assert wealth(np.ones(3), 0.1) < 0.2


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_the_lowest_cut_off_accepts_as_many_as_the_bound_allows_and_no_more(allowed):
    scores = np.random.default_rng(1).random(units_needed(allowed, 0.05))
    found = lowest_cutoff(negatives(scores), budget=0.05)
    assert (scores >= found).sum() == allowed
    assert bound_at(negatives(scores), found) <= 0.05 < bound_at(negatives(scores), found - 0.01)
    assert lowest_cutoff(negatives(scores[:-1]), budget=0.05) is None or allowed
    assert lowest_cutoff(negatives(scores[: units_needed(0, 0.05) - 1]), budget=0.05) is None


@pytest.mark.parametrize("bound", BOUNDS)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.5))
def test_no_score_that_rises_lets_the_cut_off_fall(bound, seed, rise):
    rng = np.random.default_rng(seed)
    clusters = np.sort(rng.integers(0, 90, 200))
    scores, ranks = rng.random(200).round(2), rng.random(200)
    raised = np.where(rng.random(200) < 0.2, scores + rise, scores)
    before, after = (lowest_cutoff(Negatives(s, clusters, ranks), budget=0.1, bound=bound) for s in (scores, raised))
    assert before is not None
    assert after >= before


def test_betting_rejects_every_cut_off_down_to_its_own_and_none_below():
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(150), 4)
    found = negatives(rng.random(600), clusters)
    cutoff = lowest_cutoff(found, budget=0.1, bound="betting")
    for score in np.unique(found.scores):
        shown = wealth(found.rates(found.scores >= score), 0.1) >= 20
        assert shown == (score >= cutoff)


def test_one_negative_stands_for_its_cluster_whatever_the_order():
    found = negatives([0.9, 0.1, 0.5, 0.6], [7, 7, 7, 3])
    turned = np.array([2, 3, 0, 1])
    other = Negatives(found.scores[turned], found.clusters[turned], found.ranks[turned])
    assert len(found.drawn) == 2
    assert sorted(found.drawn) == sorted(other.drawn)
    means = np.mean([negatives([1.0, 0.0, 0.0], [0, 0, 0], seed=seed).drawn[0] for seed in range(300)])
    assert means == pytest.approx(1 / 3, abs=0.08)


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_promise_is_kept_in_samples_of_correlated_clusters_and_the_naive_choice_is_not(bound):
    rng, broken, naive = np.random.default_rng(3), 0, 0
    for _ in range(300):
        sizes = rng.integers(1, 11, 150)
        codes = np.repeat(np.arange(150), sizes)
        scores = 0.7**0.5 * rng.standard_normal(150)[codes] + 0.3**0.5 * rng.standard_normal(len(codes))
        sample = Negatives(scores, codes, rng.random(len(codes)))
        broken += stats.norm.sf(lowest_cutoff(sample, budget=0.05, bound=bound)) > 0.05
        naive += stats.norm.sf(naive_cutoff(sample, budget=0.05)) > 0.05
    assert broken <= 23  # 15 are expected at most; more than 23 come in one of 50 such tests
    assert naive > 100


def test_cut_offs_lie_on_a_grid_above_what_they_do_not_accept():
    for score in (0.0, 0.7123, 0.71234, -0.3, 1.0):
        found = above(score, 0.0001)
        assert score < found <= score + 0.0001 + 1e-9
    assert above(312.0, 0.1) == 312.1
    assert above(31_200.0, 10.0) == 31_210.0
    assert step_of(np.array([0.3, 0.3])) == 0.0001


def test_too_few_negatives_are_refused_with_the_number_that_is_missing():
    few = promise(negatives(np.zeros(298)), budget=0.01, strictest=0.5, step=0.0001)
    assert (few.outcome, few.cutoff, few.clusters, few.allowed, few.needed) == ("undecided", None, 298, -1, 299)
    with_one = np.append(np.zeros(399), 0.9)
    one = promise(negatives(with_one), budget=0.01, strictest=0.5, step=0.0001)
    assert (one.outcome, one.needed) == ("undecided", 521)
    many = promise(negatives(np.append(np.zeros(396), np.full(4, 0.9))), budget=0.01, strictest=0.5, step=0.0001)
    assert (many.outcome, many.needed) == ("undecided", None)


def test_a_cut_off_above_the_strictest_useful_one_is_none():
    scores = np.append(np.zeros(380), np.full(20, 0.9))
    kept = promise(negatives(scores), budget=0.01, strictest=0.95, step=0.0001)
    broken = promise(negatives(scores), budget=0.01, strictest=0.9, step=0.0001)
    assert 0.01 < broken.lower < 20 / 400
    assert (kept.outcome, kept.cutoff) == ("kept", 0.9001)
    assert (broken.outcome, broken.cutoff) == ("broken", None)
    assert promise(negatives(scores), budget=0.01, strictest=None, step=0.0001).outcome == "undecided"


ORDER = ("kept", "undecided", "broken")


@pytest.mark.parametrize("bound", BOUNDS)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 400),
    worst=st.floats(0.0, 1.0),
    budgets=st.lists(st.floats(0.001, 0.6), min_size=2, max_size=5, unique=True),
)
def test_a_larger_budget_never_has_a_worse_answer_or_a_higher_cut_off(bound, seed, n, worst, budgets):
    rng = np.random.default_rng(seed)
    found = negatives(rng.random(n).round(2), rng.integers(0, n, n), seed)
    strictest = float(np.quantile(found.scores, worst).round(2))
    made = [promise(found, budget=b, strictest=strictest, step=0.01, bound=bound) for b in sorted(budgets)]
    places = [ORDER.index(one.outcome) for one in made]
    assert places == sorted(places, reverse=True)
    kept = [one.cutoff for one in made if one.outcome == "kept"]
    assert kept == sorted(kept, reverse=True)

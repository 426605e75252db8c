"""The gate's alpha is shared out: a search's primary endpoint, behaviour and slices take nothing from each other."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.gating import decision
from encheck.gating.advice import suggest_remedies
from encheck.gating.decision import decide_by_rows
from encheck.gating.types import BUDGETS, DEFAULT, PairedRow, Remedy, Rule
from encheck.statistics import hypothesis_tests as stats

DELTA = 0.02


def search(lost, *, name="search", clusters=60, each=5, budget="primary", gained=0):
    """A search that loses and wins so many queries, each in a cluster of its own as far as they go."""
    n = clusters * each
    labels = np.arange(n) % clusters
    baseline = (np.arange(n) >= gained).astype(float)
    candidate = np.where(np.arange(n) < gained, 1.0, (np.arange(n) >= gained + lost).astype(float))
    return PairedRow(name, "retrieval", "rate", baseline, candidate, labels, DELTA, budget=budget, endpoint="recall@1")


def behaviour(lost, name="antonym", n=400):
    baseline = np.ones(n)
    return PairedRow(name, "order", "rate", baseline, (np.arange(n) >= lost).astype(float), np.arange(n))


def columns(count, *, lost=4, clusters=40):
    return [search(lost, name=f"search/c={i}", clusters=clusters, budget="slices") for i in range(count)]


def by_name(*paired, rule=DEFAULT):
    return {row.name: row for row in decide_by_rows(paired, rule=rule).rows}


@pytest.mark.quick
def test_three_of_the_five_percent_are_the_primary_endpoints_and_one_each_behaviours_and_the_slices():
    rows = by_name(search(0), behaviour(0), *columns(1))
    assert [rows[name].alpha for name in ("search", "antonym", "search/c=0")] == pytest.approx([0.03, 0.01, 0.01])
    assert sum(DEFAULT.split[one] for one in BUDGETS) == pytest.approx(1)


@pytest.mark.quick
@pytest.mark.parametrize("lost", [5, 9, 30])
def test_slices_however_many_change_nothing_of_the_primary_endpoint_and_of_behaviour(lost):
    plain = decide_by_rows([search(lost), behaviour(3)])
    more = decide_by_rows([search(lost), behaviour(3), *columns(12)])
    assert more.rows[:2] == plain.rows[:2]
    assert more.families == plain.families


@pytest.mark.quick
def test_behaviour_however_much_changes_nothing_of_the_primary_endpoint():
    assert by_name(search(9), *(behaviour(6, str(i)) for i in range(20)))["search"] == by_name(search(9))["search"]


def test_what_would_block_at_five_percent_and_not_at_three_does_not_block():
    """At 3% of 300 queries the loss that blocks lies between 8 and 9 of them."""
    p = {lost: by_name(search(lost))["search"].p for lost in range(5, 13)}
    edge = min(lost for lost in p if p[lost] <= 0.03)
    assert p[edge - 1] > 0.03
    assert [by_name(search(lost))["search"].outcome == "block" for lost in (edge, edge - 1)] == [True, False]
    loose = Rule(alpha=0.05 / 0.03 * max(p[edge - 1], 0.03))
    assert by_name(search(edge - 1), rule=loose)["search"].outcome == "block"


def test_behaviour_has_all_five_percent_without_a_search_that_gates():
    lost = next(n for n in range(5, 40) if by_name(behaviour(n))["antonym"].p <= 0.04)
    few = search(0, clusters=DEFAULT.primary_clusters - 1, each=12)
    assert by_name(behaviour(lost))["antonym"].outcome == "block"
    assert by_name(behaviour(lost), few)["antonym"].outcome == "block"
    beside = by_name(behaviour(lost), search(0))["antonym"]
    assert 0.01 < beside.adjusted <= 0.05
    assert beside.outcome != "block"


def test_holm_corrects_within_a_budget_and_not_beyond_it():
    rows = by_name(search(16), behaviour(14), behaviour(0, "number"), *columns(3, lost=30))
    assert rows["search"].adjusted == rows["search"].p
    assert rows["antonym"].adjusted == pytest.approx(2 * rows["antonym"].p)
    assert rows["search/c=0"].adjusted == pytest.approx(3 * rows["search/c=0"].p)


def test_a_slice_alone_can_block_and_its_share_is_a_fifth():
    lost, *others = columns(12, lost=0)
    decision = decide_by_rows([search(0), replace(search(60, name=lost.name, clusters=40), budget="slices"), *others])
    assert decision.outcome == "block"
    assert decision.reasons[0].startswith("search/c=0: ")


def test_a_slice_is_no_evidence_and_keeps_nothing_from_passing():
    decision = decide_by_rows([search(0, clusters=300, each=1), *columns(12, lost=4, clusters=20)])
    assert decision.outcome == "pass"
    assert {row.evidence for row in decision.rows if row.budget == "slices"} == {False}
    assert "a slice of the queries" in decision.rows[1].why


@pytest.mark.parametrize(("clusters", "each", "gates"), [(19, 6, False), (20, 4, False), (20, 5, True)])
def test_a_hundred_queries_in_twenty_clusters_gate(clusters, each, gates):
    assert by_name(search(0, clusters=clusters, each=each))["search"].gates == gates


@pytest.mark.parametrize(("clusters", "gates"), [(19, False), (20, True)])
def test_slices_of_twenty_clusters_gate(clusters, gates):
    assert by_name(search(0), *columns(1, clusters=clusters))["search/c=0"].gates == gates


def test_slices_of_a_search_that_does_not_gate_do_not():
    few = search(0, clusters=DEFAULT.primary_clusters - 1, each=20)
    assert not by_name(few, *columns(1))["search/c=0"].gates


def test_a_search_that_is_too_small_keeps_the_gate_open_and_says_what_to_add():
    few = search(60, clusters=DEFAULT.primary_clusters - 5, each=8)
    decision = decide_by_rows([few, behaviour(0)])
    assert decision.outcome == "inconclusive"
    assert decision.rows[0].remedy == Remedy(5, 8)
    assert decision.reasons[0].endswith("5 more right documents (or clusters) with 8 queries each would decide")


def test_queries_that_no_flip_tells_apart_need_no_fewer_clusters_than_gate():
    few = search(0, clusters=DEFAULT.primary_clusters - 5, each=8)
    assert decide_by_rows([few]).rows[0].remedy.clusters >= 5


def test_so_many_queries_more_do_decide_in_most_cases():
    """The remedy of a search that is open, tried: the same change in as many clusters as it asks for."""
    row = by_name(search(24, clusters=30, gained=10))["search"]
    assert row.outcome == "inconclusive"
    clusters = 30 + row.remedy.clusters
    assert row.remedy.queries == 5
    factor = clusters / 30
    more = search(round(24 * factor), clusters=clusters, gained=round(10 * factor))
    assert by_name(more)["search"].outcome != "inconclusive"


@pytest.mark.parametrize(("few", "outcome"), [(20, "inconclusive"), (67, "pass")])  # of the row; the family is open
def test_without_a_flip_the_remedy_is_the_first_number_of_clusters_that_passes(few, outcome):
    open_ = decide_by_rows([search(0, clusters=few, each=6)])
    assert (open_.rows[0].outcome, open_.outcome, suggest_remedies(open_)) == (outcome, "inconclusive", ())
    clusters = few + open_.rows[0].remedy.clusters
    outcomes = [decide_by_rows([search(0, clusters=count, each=6)]).outcome for count in (clusters - 2, clusters)]
    assert outcomes == ["inconclusive", "pass"]


def test_the_smallest_loss_that_is_seen_is_the_one_that_blocks_with_that_power():
    error, free = np.array([0.02]), np.array([24.0])
    loss = decision.detectable_loss(error, np.array([DELTA]), free, alpha=np.array([0.03]), rule=DEFAULT)
    beyond = (loss - DELTA / 2) / error - stats.t_quantile(1 - 0.03 / 2, free)
    assert stats.t_cdf(beyond, free) == pytest.approx([0.8])


def test_the_loss_that_behaviour_could_show_is_larger_among_more_of_it():
    """Holm asks the first of k rows for a k-th of the budget's 1%."""
    for k in (1, 4):
        values = np.random.default_rng(0).normal(0, 0.05, 400)
        means = [PairedRow(str(i), "health", "mean", values * 0, values, np.arange(400)) for i in range(k)]
        row = by_name(search(0), *means)["0"]
        demand = stats.t_quantile(1 - 0.01 / k / 2, 399) + stats.t_quantile(0.8, 399)
        assert row.detectable == pytest.approx(row.delta / 2 + demand * row.error)


def test_all_queries_in_one_cluster_are_told_how_many_clusters_gate():
    row = by_name(search(9, clusters=1, each=1_000))["search"]
    assert (row.gates, row.remedy) == (False, Remedy(DEFAULT.primary_clusters - 1, 1_000))

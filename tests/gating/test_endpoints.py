"""What decides in a gate: of searches with labels the primary endpoint, with slices and lost queries, and of graded
pairs the correlation.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from encheck.gating.gate_rows import choose_slices, group_into_rows, pool_rows, worst_lost_queries
from encheck.gating.pairing import ENDPOINTS, compare_case, graded_endpoint, primary_metric, secondary_metrics
from encheck.gating.types import DEFAULT
from encheck.scoring.documents import Answers
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics.sharing import cached_sharing, mean_interval
from encheck.types import Declaration

DECLARED = Declaration("retrieval", "retrieval", "ndcg_at_10", "ndcg_at_10", primary=True)
RANKS = (Scale(0.0), Scale(0.0))


def table(ranks, *, clusters=None, slices=(), more=(), declared=DECLARED):
    """Queries whose right document stands at these ranks; those in `more` have a second one, at the next rank."""
    n = len(ranks)
    names = tuple(f"q{i}" for i in range(n))
    answers = tuple(
        str(Answers(((rank, 1), *([(rank + 1, 1)] if i in more else [])), first=(100 + i if rank == 1 else rank, 7)))
        for i, rank in enumerate(ranks)
    )
    return CaseScores(
        "finds/own/1", "finds", "retrieval", "own", "1", "triplet", names, names,
        tuple(f"c{i}" for i in (range(n) if clusters is None else clusters)), ("",) * n, (None,) * n, np.full(n, 0.5),
        np.full(n, 0.4), declared, answers, slices=tuple(map(json.dumps, slices)),
    )  # fmt: skip


def compared(before, after, **how):
    return compare_case(before, after, RANKS, **how)


def test_where_one_document_is_right_the_endpoint_is_recall_at_1_and_a_rate():
    found = compared(table([1, 1, 2]), table([1, 3, 1]))
    assert (found.metric.label, found.metric.kind, found.metric.delta, found.budget) == (
        "recall@1", "rate", 0.02, "primary",
    )  # fmt: skip
    assert (found.old.tolist(), found.new.tolist()) == ([1, 1, 0], [1, 0, 1])
    assert (found.flipped_items(-1), found.flipped_items(1)) == (["q1"], ["q2"])


def test_where_a_query_has_two_right_documents_it_is_ndcg_at_10():
    found = compared(table([1, 1], more=[1]), table([1, 1], more=[1]))
    assert (found.metric.label, found.metric.kind, found.budget) == ("nDCG@10", "mean", "primary")


@pytest.mark.parametrize("name", ENDPOINTS)
def test_the_user_may_name_another_one(name):
    found = primary_metric(table([1, 4], more=[0]), name)
    assert (found.name, found.delta, found.kind, found.why_reported) == (ENDPOINTS[name].name, 0.02, "mean", "")


def test_a_share_of_right_documents_is_a_rate_only_where_one_is_right():
    assert [primary_metric(table([1, 4], more=more), "recall@10").kind for more in ([], [1])] == ["rate", "mean"]


def test_other_checks_of_search_have_no_endpoint():
    assert primary_metric(table([1], declared=replace(DECLARED, primary=False))) is None
    assert primary_metric(replace(table([1]), answers=())) is None


def test_the_other_rank_metrics_stand_beside_it_with_their_change():
    before, after = table([1] * 40), table([1] * 30 + [2] * 10)
    found = {one.metric: one for one in secondary_metrics(before, after, primary_metric(before))}
    assert set(found) == {"nDCG@10", "recall@10", "recall@100", "MRR@10", "MAP"}
    mrr = found["MRR@10"]
    assert (mrr.baseline, mrr.candidate, mrr.change) == (1, 0.875, -0.125)
    values = np.r_[np.zeros(30), np.full(10, -0.5)]
    assert mrr.high - mrr.low == pytest.approx(2 * 2.0227 * values.std(ddof=1) / np.sqrt(40), rel=1e-4)


def languages(n, count):
    return [{"language": "de" if i % 2 else "en", "rare": "yes" if i < count else "no"} for i in range(n)]


def cut(slices, *, n=120, clusters=None):
    before = table([1] * n, slices=slices, clusters=clusters)
    after = table([1] * (n - 20) + [2] * 20, slices=slices, clusters=clusters)
    named = group_into_rows([compared(before, after)])
    return (named, *choose_slices(named, DEFAULT))


def test_the_values_of_a_column_are_slices_with_a_budget_of_their_own():
    named, tested, left_out = cut(languages(120, 5))
    assert list(tested) == [
        "retrieval/own/1/rare=no", "retrieval/own/1/language=de", "retrieval/own/1/language=en",
    ]  # fmt: skip
    assert left_out == {"retrieval/own/1/rare": "1 of its slices have fewer than 20 clusters of queries"}
    whole, *parts = pool_rows([one for some in named.values() for one in some], tested)
    assert [(p.budget, len(p.baseline), p.endpoint) for p in (whole, *parts)] == [
        ("primary", 120, "recall@1"), ("slices", 115, "recall@1"), ("slices", 60, "recall@1"),
        ("slices", 60, "recall@1"),
    ]  # fmt: skip
    assert (parts[1].candidate - parts[1].baseline).sum() == -10


def test_a_slice_of_all_queries_is_none_and_two_of_the_same_queries_are_one():
    slices = [{"all": "1", "a": "x" if i < 60 else "y", "b": "p" if i < 60 else "q"} for i in range(120)]
    assert list(cut(slices)[1]) == ["retrieval/own/1/a=x", "retrieval/own/1/a=y"]


def test_at_most_twelve_slices_are_tested_those_of_most_clusters_whatever_their_scores():
    slices = [{"c": f"{i % 5}", "d": f"{i % 4}", "e": f"{i % 3}", "f": f"{i % 6}"} for i in range(132)]
    _, tested, left_out = cut(slices, n=132)
    assert len(tested) == 12
    assert [name.split("/")[-1][0] for name in tested] == ["e"] * 3 + ["d"] * 4 + ["c"] * 5
    assert left_out["retrieval/own/1/slices"].startswith(
        "at most 12 are tested, those with the most clusters; not tested: f=0, f=1"
    )


def test_queries_of_few_clusters_make_no_slice_however_many_they_are():
    slices = [{"a": "x" if i % 19 < 10 else "y"} for i in range(190)]
    assert cut(slices, n=190, clusters=[i % 19 for i in range(190)])[1] == {}


def test_a_long_value_is_cut_and_keeps_its_own_name():
    slices = [{"why": f"{'long ' * 20}{i % 2}"} for i in range(120)]
    names = list(cut(slices)[1])
    assert len(set(names)) == 2
    assert max(map(len, names)) < 80


def test_lost_queries_are_of_several_clusters_and_those_whose_first_answer_changed_come_first():
    before = table([1, 1, 1, 1, 1], clusters=[0, 0, 0, 1, 2])
    after = table([2, 2, 2, 2, 1], clusters=[0, 0, 0, 1, 2])
    same_first = replace(after, answers=(str(Answers(((3, 1),), first=(100, 7))), *after.answers[1:]))
    found = worst_lost_queries({"row": [compared(before, same_first)]})["row"]
    assert [one.item for one in found] == ["q1", "q3", "q2"]
    assert [(one.before, one.now) for one in found] == [(101, 2), (103, 2), (102, 2)]


@pytest.mark.parametrize("text", ["", "language: de; team: x", "[1]", "7"])
def test_what_an_older_run_says_of_slices_makes_none(text):
    before = replace(table([1] * 40), slices=(text,) * 40)
    assert choose_slices(group_into_rows([compared(before, before)]), DEFAULT) == ({}, {})


GRADED = Declaration("sts", "meaning kept", "spearman", reported="it decides with --for similarity")


def graded(scores, gold, clusters=None):
    """Graded pairs with these scores."""
    n = len(scores)
    names = tuple(f"p{i}" for i in range(n))
    return CaseScores(
        "ranks/own/1", "ranks", "sts", "own", "1", "pair", names, names,
        tuple(f"c{i}" for i in (range(n) if clusters is None else clusters)), ("",) * n, (None,) * n,
        np.asarray(scores), np.full(n, np.nan), GRADED, gold=tuple(gold),
    )  # fmt: skip


def judged(n, *, per_cluster=1, ties=True, seed=0):
    """Gold scores, the scores of two models, and clusters: pairs of one cluster are alike, and so are the models."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n) // per_cluster
    gold, own, old, new = rng.normal(size=(4, clusters[-1] + 1))[:, clusters] * 0.6 + rng.normal(size=(4, n)) * 0.8
    gold_ = np.clip(np.round(gold + 2.5), 0, 5) if ties else gold
    return gold_, gold + (own + old) / 2, gold + (own + new) / 2, clusters


@pytest.mark.parametrize("ties", [False, True])
def test_the_figures_of_graded_pairs_are_scipys(ties):
    gold, old, new, clusters = judged(120, per_cluster=3, ties=ties)
    found = graded_endpoint(graded(old, gold, clusters), graded(new, gold, clusters))
    wanted = [spearmanr(some, gold).statistic for some in (old, new)]
    assert [found.baseline.mean(), found.candidate.mean()] == pytest.approx(wanted)
    assert (found.kind, found.budget, found.endpoint, found.same) == ("mean", "primary", "Spearman", False)


@pytest.mark.parametrize("per_cluster", [1, 4])
def test_the_error_of_a_change_of_correlations_is_that_of_a_bootstrap_of_clusters(per_cluster):
    gold, old, new, clusters = judged(400, per_cluster=per_cluster)
    found = graded_endpoint(graded(old, gold, clusters), graded(new, gold, clusters))
    errors = cached_sharing(found.things).estimate_errors(found.candidate - found.baseline)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(500):
        rows = np.concatenate([np.flatnonzero(clusters == c) for c in rng.choice(clusters[-1] + 1, clusters[-1] + 1)])
        drawn.append(spearmanr(new[rows], gold[rows]).statistic - spearmanr(old[rows], gold[rows]).statistic)
    assert errors.error[0] == pytest.approx(np.std(drawn), rel=0.12)
    low, high = mean_interval(errors)
    assert [low[0], high[0]] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.25 * (high[0] - low[0]) / 2)


def test_a_model_that_ranks_nothing_has_no_correlation_and_rounding_moves_none():
    gold, old, _, _ = judged(60)
    flat = graded_endpoint(graded(old, gold), graded(np.full(60, 0.5), gold))
    assert flat.candidate.tolist() == [0.0] * 60
    noise = np.where(np.arange(60) % 2, 4e-6, -4e-6)
    same = graded_endpoint(graded(old, gold), graded(old + noise, gold))
    assert same.same
    assert (same.candidate == same.baseline).all()

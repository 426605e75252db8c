"""Figures of search, query by query, against trec_eval itself."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from encheck.metrics.search import (
    average_precision_by_query,
    hard_negatives_beaten,
    ndcg_at_10,
    ndcg_by_query,
    recall_by_query,
    reciprocal_rank_by_query,
)
from encheck.scoring.documents import Answers, Documents, Ranks
from encheck.scoring.scores import Scale
from encheck.scoring.searches import RankedScores
from encheck.scoring.vector_search import search_exactly
from encheck.statistics.bootstrap import Resampler

names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)


@st.composite
def searches(draw):
    """Scores of some queries for documents with graded judgements; many scores are equal."""
    ids = draw(st.lists(names, min_size=2, max_size=30, unique=True))
    grades, scores = [], []
    for _ in range(draw(st.integers(1, 4))):
        judged = draw(st.dictionaries(st.sampled_from(ids), st.integers(-1, 3), min_size=1))
        grades.append(judged | {draw(st.sampled_from(ids)): draw(st.integers(1, 3))})
        scores.append([draw(st.integers(0, 6)) / 8 for _ in ids])
    return ids, grades, np.array(scores, np.float32)


def answers_of(ids, grades, scores, *, count=1_000):
    """What exact search answers where the score of document i for query j is scores[j, i]."""
    documents = Documents.of({name: name for name in ids})
    order = [ids.index(name) for name in documents.ids]
    found = search_exactly(np.eye(len(scores), dtype=np.float32), scores[:, order].T, similarity="dot", count=count)
    for judged, (rows, _) in zip(grades, found, strict=True):
        rank = {documents.ids[row]: place for place, row in enumerate(rows, 1)}
        yield Answers(tuple((rank.get(name, 0), grade) for name, grade in judged.items() if grade > 0))


def of_trec_eval(ids, grades, scores, measures):
    qrels = {f"q{i}": judged for i, judged in enumerate(grades)}
    runs = {f"q{i}": dict(zip(ids, row.tolist(), strict=True)) for i, row in enumerate(scores)}
    found = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(runs)
    return {name: [found[f"q{i}"][name] for i in range(len(grades))] for name in found["q0"]}


@given(searches())
def test_figures_are_those_of_trec_eval_with_ties_and_grades(given):
    answers = list(answers_of(*given))
    theirs = of_trec_eval(*given, {"ndcg_cut.10", "map", "recall.1,10,100", "recip_rank"})
    ours = {
        "ndcg_cut_10": ndcg_by_query(answers),
        "map": average_precision_by_query(answers),
        "recall_1": recall_by_query(answers, cut=1),
        "recall_10": recall_by_query(answers, cut=10),
        "recall_100": recall_by_query(answers, cut=100),
        "recip_rank": reciprocal_rank_by_query(answers, cut=1_000),
    }
    for name, values in ours.items():
        np.testing.assert_allclose(values, theirs[name], atol=1e-6, err_msg=name)


@given(searches())
def test_mrr_at_10_is_that_of_the_first_ten_answers(given):
    ids, grades, scores = given
    ten = [sorted(zip(row, (n.encode() for n in ids), strict=True), reverse=True)[:10] for row in scores]
    runs = {f"q{i}": {name.decode(): float(score) for score, name in some} for i, some in enumerate(ten)}
    qrels = {f"q{i}": judged for i, judged in enumerate(grades)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(runs)
    expected = [theirs[f"q{i}"]["recip_rank"] for i in range(len(grades))]
    np.testing.assert_allclose(reciprocal_rank_by_query(list(answers_of(*given))), expected, atol=1e-6)


def test_figures_of_an_example_worked_by_hand():
    answers = [Answers(((2, 1), (3, 3), (0, 1)), won=1, duels=4)]
    gained = 1 / np.log2(3) + 3 / np.log2(4)
    assert ndcg_by_query(answers).tolist() == pytest.approx([gained / (3 + 1 / np.log2(3) + 1 / np.log2(4))])
    assert reciprocal_rank_by_query(answers).tolist() == [0.5]
    assert recall_by_query(answers, cut=2).tolist() == pytest.approx([1 / 3])
    assert average_precision_by_query(answers).tolist() == pytest.approx([(1 / 2 + 2 / 3) / 3])
    assert hard_negatives_beaten(answers).tolist() == [0.25]


def test_answers_are_read_as_they_were_written_and_nothing_else_is():
    one = Answers(((3, 2), (0, 1)), 2, 6)
    assert Answers.parse(str(one)) == one
    with pytest.raises(ValueError, match="the answers of a query are '\\[1\\]'"):
        Answers.parse("[1]")


def test_ranks_of_no_query_are_empty():
    assert Ranks.of([]).sum_by_query(np.zeros(0)).tolist() == []


def scores_of(answers, clusters):
    zeros = np.zeros(len(answers))
    return RankedScores(zeros, zeros, Resampler(clusters), Scale(0.0), answers=tuple(answers))


def test_the_interval_draws_clusters_and_one_cluster_says_nothing():
    answers = [Answers(((1, 1),)), Answers(((0, 1),))] * 20
    apart = ndcg_at_10(scores_of(answers, [str(i) for i in range(40)]))
    together = ndcg_at_10(scores_of(answers, [str(i // 10) for i in range(40)]))
    alone = ndcg_at_10(scores_of(answers, ["a"] * 40))
    assert (apart.value, apart.n, apart.clusters, together.clusters) == (0.5, 40, 40, 4)
    assert apart.high - apart.low > 0.2
    assert (alone.low, alone.high) == (0.0, 1.0)


def vectors(rows, seed, width=5):
    return np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
def test_search_in_blocks_from_a_memory_map_is_the_sort_of_all_similarities(tmp_path, monkeypatch, similarity):
    from encheck.scoring import vector_search as module
    from encheck.similarity import SIMILARITIES

    queries, documents = vectors(7, 1), vectors(300, 2)
    documents[250:260] = documents[:10]
    np.save(tmp_path / "documents.npy", documents)
    monkeypatch.setattr(module, "SCORES_AT_ONCE", 7 * 64)
    mapped = np.load(tmp_path / "documents.npy", mmap_mode="r")
    found = list(search_exactly(queries, mapped, similarity=similarity, count=40))
    for query, (rows, values) in zip(queries, found, strict=True):
        expected = SIMILARITIES[similarity](np.broadcast_to(query, documents.shape), documents)
        order = np.lexsort((np.arange(300), -expected.round(6)))[:40]
        assert rows.tolist() == order.tolist()
        np.testing.assert_allclose(values, expected[order], atol=1e-5)

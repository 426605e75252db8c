"""The approximate first stage: what it finds, that all lists find everything, and that it is measured rightly."""

import numpy as np
import pytest

from encheck.errors import UsageError
from encheck.ids import ItemId
from encheck.metrics.search import index_recall_figures
from encheck.scoring.documents import Documents
from encheck.scoring.scores import Scale
from encheck.scoring.searches import LoggedQuery, RankedScores
from encheck.scoring.vector_search import (
    SUPPORTED_SIMILARITIES,
    IndexRecall,
    InvertedLists,
    ListCounts,
    compare_with_exact,
    refuse_missing_faiss,
    refuse_unsupported_similarity,
    sample_queries,
    search_exactly,
)
from encheck.statistics.bootstrap import Resampler

pytest.importorskip("faiss")
NO_JUDGEMENTS = [frozenset()] * 40


@pytest.fixture(scope="module")
def vectors():
    """(40 queries, 600 documents) of several lengths; no two scores are tied."""
    rng = np.random.default_rng(3)
    documents = rng.standard_normal((600, 16)) * rng.lognormal(0, 0.4, (600, 1))
    return rng.standard_normal((40, 16)).astype(np.float32), documents.astype(np.float32)


def made(documents, similarity="cosine", *, lists=12, probes=3, seed=0):
    return InvertedLists(documents, similarity=similarity, size=ListCounts(lists, probes), seed=seed)


@pytest.mark.parametrize("similarity", SUPPORTED_SIMILARITIES)
@pytest.mark.parametrize("count", [10, 1_000])
def test_all_lists_give_exactly_the_exact_answers(vectors, similarity, count):
    queries, documents = vectors
    exact = list(search_exactly(queries, documents, similarity=similarity, count=count))
    index = made(documents, similarity, probes=12)
    for one, other in zip(exact, index.search(queries, count=count), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
    for (rows, _), candidates in zip(exact, index._candidates(queries, count + 100), strict=True):
        assert set(rows.tolist()) <= set(candidates.tolist())  # of the index itself, which rounds to 8 bits


@pytest.mark.parametrize("similarity", SUPPORTED_SIMILARITIES)
def test_what_is_found_has_its_exact_score_and_no_document_twice(vectors, similarity):
    queries, documents = vectors
    everything = search_exactly(queries, documents, similarity=similarity, count=len(documents))
    for (rows, values), (every, scores) in zip(
        made(documents, similarity).search(queries, count=20), everything, strict=True
    ):
        known = dict(zip(every.tolist(), scores.tolist(), strict=True))
        assert len(set(rows.tolist())) == len(rows) == 20
        np.testing.assert_allclose(values, [known[row] for row in rows.tolist()], atol=2e-5)
        assert (np.diff(values) <= 1e-6).all()


def test_the_share_found_is_that_of_a_recount(vectors):
    queries, documents = vectors
    index = made(documents)
    stage = compare_with_exact(index, queries, NO_JUDGEMENTS, count=100)
    cosines = (queries @ documents.T) / np.linalg.norm(documents, axis=1)
    for column, depth in enumerate(stage.depths):
        first = [set(np.argsort(-row)[:depth].tolist()) for row in cosines]
        found = [set(rows[:depth].tolist()) for rows, _ in index.search(queries, count=100)]
        recount = [len(one & other) / depth for one, other in zip(first, found, strict=True)]
        np.testing.assert_allclose(stage.found[:, column], recount)
    assert stage.depths == (10, 100)
    assert 0.1 < stage.found.mean() < 0.99


def test_lost_and_raised_right_documents_are_those_of_a_recount(vectors):
    queries, documents = vectors
    index = made(documents, probes=2)
    cosines = (queries @ documents.T) / np.linalg.norm(documents, axis=1)
    order = np.argsort(-cosines, axis=1)
    right = [frozenset(row[[0, 4, 11]].tolist()) for row in order]
    stage = compare_with_exact(index, queries, right, count=50)
    lost = raised = 0
    for row, (rows, _) in zip(order, index.search(queries, count=50), strict=True):
        place = {one: i for i, one in enumerate(rows[:10].tolist())}
        lost += sum(one not in place for one in row[[0, 4]].tolist())
        raised += sum(place.get(int(row[i]), 10) < min(i, 10) for i in (0, 4, 11))
    assert (stage.right, stage.lost, stage.raised) == (80, lost, raised)
    assert min(lost, raised) > 0


def test_documents_that_tie_with_the_last_answer_count_as_found():
    documents = np.repeat(np.eye(4, dtype=np.float32), 30, axis=0)  # 30 equal documents around each of four
    stage = compare_with_exact(
        made(documents, lists=4, probes=1), np.eye(4, dtype=np.float32), NO_JUDGEMENTS[:4], count=10
    )
    assert stage.found.tolist() == [[1.0]] * 4


def test_the_same_seed_gives_the_same_answers_with_any_number_of_threads(vectors):
    import faiss

    queries, documents = vectors
    threads = faiss.omp_get_max_threads()
    try:
        found = []
        for count in (1, 2, threads):
            faiss.omp_set_num_threads(count)
            found.append([rows.tolist() for rows, _ in made(documents).search(queries, count=30)])
    finally:
        faiss.omp_set_num_threads(threads)
    assert found[0] == found[1] == found[2]
    assert found[0] != [rows.tolist() for rows, _ in made(documents, seed=1).search(queries, count=30)]


def test_a_query_whose_lists_hold_too_few_documents_is_searched_exactly(vectors):
    queries, documents = vectors
    index = made(documents, lists=60, probes=1)
    exact = search_exactly(queries, documents, similarity="cosine", count=400)
    for one, other in zip(exact, index.search(queries, count=400, fewest=300), strict=True):
        np.testing.assert_array_equal(one[0], other[0])
    assert min(len(rows) for rows, _ in index.search(queries, count=400)) < 300


def test_documents_in_a_memory_map_and_vectors_of_zeros_are_searched(vectors, tmp_path):
    queries, documents = vectors
    documents = np.concatenate([documents, np.zeros((3, 16), np.float32)])
    documents.tofile(tmp_path / "v")
    mapped = np.memmap(tmp_path / "v", np.float32, "r", shape=documents.shape)
    both = [list(made(some).search(queries, count=700)) for some in (documents, mapped)]
    assert [rows.tolist() for rows, _ in both[0]] == [rows.tolist() for rows, _ in both[1]]
    assert all(np.isfinite(values).all() for _, values in both[0])


def test_more_lists_than_documents_are_as_many_as_documents(vectors):
    queries, documents = vectors
    assert ListCounts(1_000, 2_000).resolve_sizes(5) == ListCounts(5, 5)
    (first, *_), *_ = made(documents[:5], lists=1_000).search(queries, count=5)
    assert len(first) <= 5


def test_the_figure_has_an_interval_over_queries():
    stage = IndexRecall(ListCounts(30, 16), 900, (10, 100), np.column_stack([np.ones(300), np.full(300, 0.5)]), 7, 2, 1)
    scores = RankedScores(np.zeros(1), np.zeros(1), Resampler(["a"]), Scale(0.0), first_stage=stage)
    ten, hundred = index_recall_figures(scores)
    assert (ten.metric, ten.value, ten.high, ten.n) == ("first_stage_recall_at_10", 1.0, 1.0, 300)
    assert ten.low == pytest.approx(0.025 ** (1 / 300))  # Clopper-Pearson's, of 300 queries that all agree
    assert (hundred.value, hundred.low, hundred.high) == pytest.approx((0.5, 0.5, 0.5))
    assert ten.params == {
        "documents": 900, "lists": 30, "probes": 16, "right": 7, "right_lost": 2, "right_raised": 1
    }  # fmt: skip
    exact = RankedScores(np.zeros(1), np.zeros(1), Resampler(["a"]), Scale(0.0))
    assert index_recall_figures(exact) == []


def test_queries_are_drawn_by_their_texts_whatever_their_order():
    documents = Documents.of({"a": "one"})
    queries = [LoggedQuery(ItemId(f"x/{i}"), f"query {i}", documents, 1, "") for i in range(50)]
    drawn = {queries[i].source for i in sample_queries(queries, 10)}
    assert drawn == {queries[::-1][i].source for i in sample_queries(queries[::-1], 10)}
    assert len(drawn) == 10
    assert sample_queries(queries) == list(range(50))


def test_what_the_index_cannot_serve_is_refused_in_one_sentence(monkeypatch):
    with pytest.raises(UsageError, match=r"can search by cosine, dot, euclidean, but m compares by manhattan"):
        refuse_unsupported_similarity("m", "manhattan")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"Remedy: pip install 'encheck\[ann\]'"):
        refuse_missing_faiss()

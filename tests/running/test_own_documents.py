"""Queries that stand among the documents do not find themselves, whichever way documents are searched (as in BEIR)."""

import json

import numpy as np
import pytest

import encheck
from encheck.datasets.collection import find_data_warnings
from encheck.datasets.load import load

COUNT = 40
SAID = "40 of its 40 queries are also documents, with the same id and text"


def words(number, start=0):
    return [f"w{number}x{i}" for i in range(start, start + 8)]


def beir(folder, documents, queries, qrels):
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", documents), ("queries", queries)):
        text = "".join(json.dumps({"_id": i, **one}) + "\n" for i, one in rows.items())
        (folder / f"{name}.jsonl").write_text(text)
    rows = ["query-id\tcorpus-id\tscore", *(f"{q}\t{d}\t1" for q, d in qrels)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n")
    return folder


def duplicates(folder, *, query_id="q{}", change=lambda text: text):
    """Questions among which each looks for its duplicate, which has six of its eight words."""
    asked = {i: " ".join(words(i)) for i in range(COUNT)}
    documents = {f"q{i}": {"title": "", "text": text} for i, text in asked.items()}
    documents |= {f"d{i}": {"text": " ".join([*words(i)[:6], f"other{i}", f"more{i}"])} for i in asked}
    queries = {query_id.format(i): {"text": change(text)} for i, text in asked.items()}
    return beir(folder, documents, queries, [(query_id.format(i), f"d{i}") for i in asked])


def searched(model, path, **options):
    """recall@1 of the model and of BM25, and the raw results."""
    raw = encheck.run(model, data=f"retrieval:{path}", checks="retrieval", **options).raw
    row = next(r for r in raw.checks if r.metric == "document_recall_at_1")
    return row.value, row.surface["bm25"].value if row.surface else None, raw


@pytest.mark.parametrize("model", ["bag-of-words", "jaccard"])
def test_a_query_does_not_find_itself(tmp_path, model):
    recall, of_bm25, raw = searched(model, duplicates(tmp_path / "data"), report_dir=tmp_path / "report")
    assert (recall, of_bm25) == (1.0, 1.0)
    assert raw.data[0].own_documents == COUNT
    assert any(SAID in note for note in raw.run.notes)
    assert SAID in (tmp_path / "report" / "report.html").read_text("utf-8")


def test_an_approximate_search_does_not_count_it_either():
    """Nor does the sample that says what an index misses."""
    pytest.importorskip("faiss")
    from encheck.scoring.vector_search import InvertedLists, ListCounts, compare_with_exact

    documents = np.random.default_rng(0).standard_normal((400, 8)).astype(np.float32)
    index = InvertedLists(documents, similarity="cosine", size=ListCounts(lists=4, probes=1))
    right, own = [frozenset({row}) for row in range(20)], list(range(20))
    found, others = (compare_with_exact(index, documents[:20], right, count=10, own=some) for some in (own, ()))
    assert (others.right, found.right, found.lost) == (20, 0, 0)
    assert found.found.shape == (20, 1)


@pytest.mark.parametrize(
    "how", [{"query_id": "other{}"}, {"change": lambda text: f"{text} please"}], ids=["another id", "another text"]
)
def test_another_id_or_another_text_is_another_document(tmp_path, how):
    """It is searched; `encheck data` counts the same text under another id."""
    found = load(f"retrieval:{duplicates(tmp_path / 'data', **how)}", sample=None).collection
    assert found.own_document_count == 0
    odd = {one.what: one.count for one in find_data_warnings(found)}
    same = "queries with the same text as a document of another id, which is searched"
    assert odd.get(same, 0) == (COUNT if "query_id" in how else 0)


def test_a_question_that_is_the_title_of_its_own_document_is_that_document(tmp_path):
    """A forum: the corpus has titles with bodies, and each title is asked under the id of its thread."""
    documents = {f"t{i}": {"title": f"title {i}", "text": " ".join(words(i))} for i in range(4)}
    queries = {f"t{i}": {"text": f"title {i}"} for i in range(4)}
    path = beir(tmp_path / "data", documents, queries, [(f"t{i}", f"t{(i + 1) % 4}") for i in range(4)])
    assert load(f"retrieval:{path}", sample=None).collection.own_document_count == 4


def test_a_judgement_of_the_query_itself_goes_with_its_document(tmp_path):
    """Where nothing else is right, nothing is measured of the query."""
    documents = {f"a{i}": {"text": f"text {i}"} for i in range(4)}
    queries = {name: documents[name] for name in ("a0", "a1")}
    path = beir(tmp_path / "data", documents, queries, [("a0", "a0"), ("a0", "a2"), ("a1", "a1")])
    first, second = load(f"retrieval:{path}", sample=None).collection.queries
    assert (first.relevant_documents, second.relevant_documents) == ({"a2": 1}, {})


def test_the_texts_of_one_file_are_its_ids(tmp_path):
    """Duplicates both ways round: a text that is right for itself by a row of its own stays."""
    rows = [
        {"query": "one", "document": "two"},
        {"query": "two", "document": "one"},
        {"query": "six", "document": "six"},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = load(f"retrieval:{tmp_path / 'rows.jsonl'}", sample=None).collection
    assert [bool(q.own_document) for q in found.queries] == [True, True, False]
    assert [len(q.relevant_documents) for q in found.queries] == [1, 1, 1]


def test_new_queries_on_an_old_index_leave_it_out_as_a_run_does(tmp_path):
    from encheck.gating.old_index import IndexSearch

    search = IndexSearch.of(load(f"retrieval:{duplicates(tmp_path / 'data')}", sample=None).collection, seed=0)
    encode = encheck.load_model("bag-of-words").encode
    found = search.find_top_documents(encode(list(search.queries)), encode(list(search.documents)), similarity="cosine")
    assert all(rows[0] in grades for rows, grades in zip(found, search.grades, strict=True))
    assert {len(rows) for rows in found} == {10}
    assert not any(mine in rows for mine, rows in zip(search.own, found, strict=True))


def test_what_is_left_out_keeps_the_order_and_the_number():
    from encheck.scoring.vector_search import drop_own_documents, search_exactly

    documents = np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32)
    every = list(search_exactly(documents[:3], documents, similarity="cosine", count=30))
    cut = list(
        drop_own_documents(
            search_exactly(documents[:3], documents, similarity="cosine", count=6), [0, None, 2], count=5
        )
    )
    assert [rows.tolist() for rows, _ in cut] == [
        every[0][0][1:6].tolist(), every[1][0][:5].tolist(), every[2][0][1:6].tolist(),
    ]  # fmt: skip

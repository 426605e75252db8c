"""A collection under a model: roles and their prompts, the store, both kinds of models, and the gate."""

from dataclasses import replace

import numpy as np
import pytest

from encheck.claims import claim_of
from encheck.datasets.collection import ArticlePassage, Collection, CollectionQuery, assign_query_clusters
from encheck.datasets.dataset import Dataset
from encheck.encoders.base import TextEncoder
from encheck.encoders.fake import BagOfWords, Overlap
from encheck.encoders.model_config import ModelConfig
from encheck.errors import NothingToMeasure
from encheck.gating.baseline import make_case_scores
from encheck.gating.pairing import compare_case, unchanged_items
from encheck.ids import CaseId
from encheck.items import ranked_queries
from encheck.items.variants import VariantMaker
from encheck.metrics.search import agreement_with_bm25, ndcg_at_10, search_figures
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.documents import Answers
from encheck.scoring.scores import Scale
from encheck.store import Store
from encheck.system.terminal import Progress
from encheck.types import Declaration

DOCUMENTS = {"a": "tea boils", "b": "rain falls", "c": "snow melts", "d": "tea cools"}
QUERIES = (
    CollectionQuery("1", "when tea boils", {"a": 2, "d": 1}, negatives=("b",)),
    CollectionQuery("2", "when rain falls", {"b": 1}),
    CollectionQuery("3", "about frost", {"c": 1}),
    CollectionQuery("4", "nothing is right", {"c": 0}),
)
CASE = CaseId("query_finds_its_documents", "m", "own", "1")
COLLECTION = Collection(DOCUMENTS, assign_query_clusters(QUERIES))


def dataset_of(collection=COLLECTION):
    return Dataset("own", (), (), "yours", len(collection.queries), universe=collection.clusters, collection=collection)


def retrieval():
    from encheck.checks.test_retrieval import test_query_finds_its_documents

    return claim_of(test_query_finds_its_documents)


class Prompted(TextEncoder):
    """Words after a prompt; a word that stands in the prompt for queries is one more."""

    def __init__(self, **prompts):
        super().__init__(ModelConfig("prompted", prompt=prompts.pop("prompt", ""), prompts=prompts))
        self.asked = []

    @property
    def place(self):
        return "here"

    def fingerprint(self):
        return f"{self.prompt}{sorted(self.prompts.items())}"

    def compute(self, texts, prompt):
        self.asked += [prompt + text for text in texts]
        yield np.arange(len(texts)), BagOfWords().encode([prompt + text for text in texts])


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def measured(store, model, collection=COLLECTION):
    """(session, items, scores) of a model that searched."""
    data = dataset_of(collection)
    session = ScoringSession(
        {"m": ModelUnderTest("m", ModelConfig("m"), model)}, {"own": data}, store, maker=VariantMaker()
    )
    session.prepare([("m", "own", retrieval(), 1)], locks=lambda _: (), progress=Progress(quiet=True))
    items = session.items("own", retrieval(), 1)
    return session, items, session.scores("m", "own", items)


def test_queries_without_a_right_document_are_excluded_and_counted():
    items = ranked_queries(dataset_of(), 1, VariantMaker())
    assert [item.source for item in items.included] == [q.text for q in QUERIES[:3]]
    assert items.excluded == {"no document is right": 1}
    assert items.included[0].near == "tea boils"
    assert items.included[0].documents.ids == ("d", "c", "b", "a")


def test_data_without_a_collection_and_a_corpus_of_one_are_not_measured():
    with pytest.raises(NothingToMeasure, match="has no queries with documents"):
        ranked_queries(replace(dataset_of(), collection=None), 1, VariantMaker())
    alone = Collection({"a": "tea"}, assign_query_clusters([CollectionQuery("1", "tea", {"a": 1})]))
    with pytest.raises(NothingToMeasure, match="has 1 document: a search needs two"):
        ranked_queries(dataset_of(alone), 1, VariantMaker())


def test_a_first_answer_is_unjudged_where_the_judgements_name_wrong_documents_and_not_this_one(store):
    asked = CollectionQuery("3", "when snow cools", {"c": 1, "b": 0})
    with_wrong = Collection(DOCUMENTS, assign_query_clusters([QUERIES[1], asked]))
    _, items, scores = measured(store, BagOfWords(), with_wrong)
    assert [item.wrong for item in items.included] == [(), (2,)]
    assert [answers.first[0] for answers in scores.answers] == [2, 0]  # the right one, and one that nobody judged
    assert [answers.is_unjudged for answers in scores.answers] == [False, True]
    right_alone = Collection(DOCUMENTS, assign_query_clusters([QUERIES[1], replace(asked, relevance={"c": 1})]))
    assert not any(answers.is_unjudged for answers in measured(store, BagOfWords(), right_alone)[2].answers)


def test_an_encoder_finds_documents_and_bm25_stands_beside(store):
    _, _, scores = measured(store, BagOfWords())
    judged = tuple(one.without_first_rows for one in scores.answers[:2])
    assert judged == (Answers(((1, 2), (2, 1)), 2, 2), Answers(((1, 1),)))
    assert scores.answers[0].first == (3, 0, 2, 1)
    estimate = ndcg_at_10(scores)
    assert (estimate.n, estimate.clusters) == (3, 3)
    assert set(estimate.surface) == {"bm25"}
    assert estimate.surface["bm25"].value > 0.5
    names = {one.metric for one in search_figures(scores)}
    assert {"mrr_at_10", "document_recall_at_1", "mean_average_precision", "hard_negative_accuracy"} <= names


def test_queries_and_documents_get_their_own_prompts_and_the_report_says_so(store, caplog):
    model = Prompted(prompt="same: ", query="find: ", document="text: ")
    session, _, _ = measured(store, model)
    assert sorted(model.asked) == sorted(
        [*(f"find: {q.text}" for q in QUERIES[:3]), *(f"text: {text}" for text in DOCUMENTS.values())]
    )
    assert {role: found.prompt for role, found in session.subjects["m"].roles.items()} == {
        "query": "find: ", "document": "text: ",
    }  # fmt: skip
    assert "m: queries were encoded after 'find: ', documents after 'text: '" in caplog.text


def test_the_store_keeps_what_another_prompt_gave_apart(store):
    measured(store, Prompted(query="find: "))
    model = Prompted(query="find: ")
    model.fingerprint = lambda: "the same for all"
    measured(store, model)
    again = Prompted(query="seek: ")
    again.fingerprint = lambda: "the same for all"
    measured(store, again)
    assert again.asked == [f"seek: {q.text}" for q in QUERIES[:3]]
    once_more = Prompted(query="seek: ")
    once_more.fingerprint = lambda: "the same for all"
    measured(store, once_more)
    assert once_more.asked == []


@pytest.mark.parametrize(
    ("prompts", "warned"),
    [
        (
            {"classification": "sort: "},
            "m has prompts (classification), but none for queries, so queries got no prompt",
        ),
        ({}, "m: queries and documents were encoded without a prompt"),
    ],
)
def test_a_model_that_has_prompts_and_got_none_is_warned_of(store, caplog, prompts, warned):
    measured(store, Prompted(**prompts))
    assert warned in caplog.text


@pytest.mark.parametrize("name", ["document", "passage", "corpus"])
def test_documents_get_the_prompt_under_any_name_that_checkpoints_have_for_it(name):
    assert Prompted(**{name: "text: "}).prompt_for("document") == "text: "


class Picky(Overlap):
    """Scores pairs, and remembers them."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def score_pairs(self, first, second):
        self.asked += zip(first, second, strict=True)
        return super().score_pairs(first, second)


def test_a_scorer_of_pairs_reranks_what_bm25_puts_first(store, monkeypatch):
    monkeypatch.setattr("encheck.running.scorer.FIRST_STAGE", 1)
    model = Picky()
    documents = {**DOCUMENTS, **{f"x{i}": f"filler {i}" for i in range(9)}}
    _, _, scores = measured(store, model, replace(COLLECTION, documents=documents))
    assert not [pair for pair in model.asked if pair[1] in ("filler 0", "filler 5")]
    assert ("when rain falls", "rain falls") in model.asked
    assert scores.answers[1].right == ((1, 1),)
    assert scores.answers[2].right == ((0, 1),)  # no word is shared: the first stage does not list it


def results_of(session, items, scores):
    declared = Declaration("retrieval", "retrieval", metric="ndcg_at_10", gates="ndcg_at_10")
    return make_case_scores(CASE, "retrieval", scores.to_item_frame(str(CASE), items.included), declared)


def test_the_gate_weighs_ndcg_query_by_query_and_pairs_the_same_texts(store, tmp_path):
    before = results_of(*measured(store, BagOfWords()))
    worse = results_of(*measured(store, Prompted(query="snow snow snow snow ")))
    assert before.texts == worse.texts
    found = compare_case(before, worse, (Scale(0.0), Scale(0.0)))
    assert found.metric.name == "ndcg_at_10"
    assert found.old.tolist()[:2] == [1.0, 1.0]
    assert found.new[1] < 1.0
    assert unchanged_items(before, before).all()
    assert not unchanged_items(before, worse).all()
    chosen = before.select(np.array([1]))
    assert chosen.answers == before.answers[1:2]


ARTICLES = tuple(ArticlePassage(f"{name}#1", name, "", "", text) for name, text in DOCUMENTS.items())
LOG = (
    CollectionQuery("1", "when tea boils", {}, cluster="x", weight=3),
    CollectionQuery("2", "rain falls", {}, cluster="y"),
)


def logged(store, model, **more):
    """(items, scores) of queries of a log among articles."""
    found = Collection({one.id: one.text for one in ARTICLES}, LOG, passages=ARTICLES, **more)
    data = Dataset("own", (), (), "yours", 2, universe=("x", "y"), collection=found)
    session = ScoringSession(
        {"m": ModelUnderTest("m", ModelConfig("m"), model)}, {"own": data}, store, maker=VariantMaker()
    )
    from encheck.checks.test_retrieval import test_logged_query_keeps_its_answers

    claim = claim_of(test_logged_query_keeps_its_answers)
    session.prepare([("m", "own", claim, 1)], locks=lambda _: (), progress=Progress(quiet=True))
    items = session.items("own", claim, 1)
    return items, session.scores("m", "own", items)


@pytest.mark.parametrize("model", [BagOfWords, Overlap])
def test_queries_of_a_log_keep_the_rows_of_their_answers_under_both_kinds_of_model(store, model):
    items, scores = logged(store, model())
    documents = items.included[0].documents
    assert [documents.texts[one.first[0]] for one in scores.answers] == ["tea boils", "rain falls"]
    assert [len(one.first) for one in scores.answers] == [4, 4]
    assert scores.found == ("tea boils", "rain falls")
    estimate = agreement_with_bm25(scores)
    assert (estimate.value, estimate.n, estimate.clusters) == (1.0, 2, 2)
    assert scores.to_item_frame("case", items.included).weights == (3, 1)


def test_answers_that_count_as_the_same_document_have_one_row(store):
    plain, _ = logged(store, BagOfWords())
    items, scores = logged(store, BagOfWords(), same=(0, 1, 2, 0))  # a, the last, counts as d, the first
    assert scores.answers[0].first == (0, 2, 1)
    assert items.included[0].id != plain.included[0].id

"""Documents that are searched with an index in a run: the figures, the note, and who searches exactly all the same."""

import numpy as np
import pytest

from encheck.claims import claim_of
from encheck.datasets.collection import Collection, CollectionQuery, assign_query_clusters
from encheck.datasets.dataset import Dataset
from encheck.encoders.fake import Overlap
from encheck.encoders.model_config import ModelConfig
from encheck.errors import UsageError
from encheck.items.variants import VariantMaker
from encheck.metrics.search import ndcg_at_10, search_figures
from encheck.options import Settings
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.resources import resolve_list_counts
from encheck.running.scorer import index_recall_note
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.vector_search import IndexRecall, ListCounts
from encheck.store import Store
from encheck.system.terminal import Progress
from encheck.types import Estimate

pytest.importorskip("faiss")
DOCUMENTS = {f"d{i:03}": f"document {i}" for i in range(300)}
QUERIES = [CollectionQuery(str(i), f"query {i}", {f"d{i:03}": 1}) for i in range(0, 300, 10)]
COLLECTION = Collection(DOCUMENTS, assign_query_clusters(QUERIES))


class Noise:
    """A random direction for each number; a query lies near the document of its number."""

    similarity = "cosine"

    def fingerprint(self):
        return "noise"

    def encode(self, texts, *, role=None):
        found = [np.random.default_rng(int(text.split()[1])).standard_normal(12) for text in texts]
        further = [np.random.default_rng(len(text)).standard_normal(12) for text in texts]
        return np.array(found, np.float32) + (0.5 * np.array(further, np.float32) if role == "query" else 0)


def measured(store, index, model=None):
    """The scores of queries that search 300 documents, with this index."""
    from encheck.checks.test_retrieval import test_query_finds_its_documents

    claim = claim_of(test_query_finds_its_documents)
    data = Dataset("own", (), (), "yours", 30, universe=COLLECTION.clusters, collection=COLLECTION)
    subject = ModelUnderTest("m", ModelConfig("m"), model or Noise())
    session = ScoringSession({"m": subject}, {"own": data}, store, maker=VariantMaker(), index=index)
    session.prepare([("m", "own", claim, 1)], locks=lambda _: (), progress=Progress(quiet=True))
    return session.scores("m", "own", session.items("own", claim, 1))


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def test_all_lists_give_the_figures_of_an_exact_search(store, caplog):
    exact, found = measured(store, None), measured(store, ListCounts(15, 15))
    assert found.answers == exact.answers
    assert exact.first_stage is None
    recall = next(one for one in search_figures(found) if one.metric == "first_stage_recall_at_10")
    assert (recall.value, recall.n, recall.params["lists"]) == (1.0, 30, 15)
    assert [one.metric for one in search_figures(exact) if "first_stage" in one.metric] == []
    assert "So few queries cannot show 98%" in caplog.text


def test_what_few_lists_miss_is_counted_and_said(store, caplog):
    exact, found = measured(store, None), measured(store, ListCounts(30, 1))
    assert ndcg_at_10(found).value != ndcg_at_10(exact).value
    share = np.mean([len({*a.first} & {*b.first}) / 10 for a, b in zip(exact.answers, found.answers, strict=True)])
    recall = next(one for one in search_figures(found) if one.metric == "first_stage_recall_at_10")
    assert recall.value == pytest.approx(share)
    assert recall.low < recall.value < recall.high < 1
    assert recall.params["right_lost"] > 0
    assert "m searched own with an index: 1 of 30 lists of 300 documents. It found" in caplog.text
    assert "Remedy: --search-index=faiss:nprobe=2" in caplog.text
    assert set(ndcg_at_10(found).surface) == {"bm25"}


def test_a_model_that_scores_pairs_is_not_served_by_an_index(store, caplog):
    assert measured(store, ListCounts(), Overlap()).first_stage is None
    assert "with an index" not in caplog.text


def estimate(value, low, n):
    return Estimate("first_stage_recall_at_10", value, low, 1.0, n, n)


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ((0, 0, 0), "What it missed is no answer."),
        ((9, 0, 0), "Of 9 right documents among the first 10 exact answers, it lost 0."),
        ((9, 2, 0), "it lost 2, which count as not found. So figures are lower bounds."),
        ((9, 2, 1), "1 rank higher than they should, since it missed a nearer document. So figures may be off in"),
    ],
)
def test_what_is_said_of_right_documents(counts, line):
    stage = IndexRecall(ListCounts(100, 16), 10_000, (10,), np.ones((500, 1)), *counts)
    found = index_recall_note(stage, estimate(0.999, 0.993, 500))
    assert line in found
    assert "Remedy" not in found


def test_too_little_names_more_probes():
    stage = IndexRecall(ListCounts(100, 16), 10_000, (10,), np.ones((500, 1)))
    assert index_recall_note(stage, estimate(0.96, 0.95, 500)).endswith(
        "This does not show 98%. Remedy: --search-index=faiss:nprobe=32"
    )


def test_the_option_names_the_sizes_and_a_similarity_that_is_not_served_is_refused_before_anything_is_encoded():
    data = [Dataset("own", (), (), "yours", 30, collection=COLLECTION)]
    subject = ModelUnderTest("m", ModelConfig("m"), Noise())
    assert resolve_list_counts(Settings(), [subject], data) is None
    chosen = Settings(search_index="faiss:nprobe=8,nlist=40")
    assert resolve_list_counts(chosen, [subject], data) == ListCounts(40, 8)
    subject.model.similarity = "manhattan"
    with pytest.raises(UsageError, match="m compares by manhattan"):
        resolve_list_counts(chosen, [subject], data)
    assert resolve_list_counts(chosen, [subject], [Dataset("pairs", (), (), "yours", 30)]) == ListCounts(40, 8)

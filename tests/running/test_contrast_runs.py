"""Contrasts of queries and documents under a model: roles, both kinds of models, surface scorers, and the gate."""

import pytest
from declared import claim_of
from gate_fakes import given
from recorded import run_file
from test_search_runs import Picky, Prompted

from encheck.datasets.dataset import Dataset
from encheck.encoders.fake import BagOfWords
from encheck.encoders.model_config import ModelConfig
from encheck.errors import NothingToMeasure
from encheck.gating.baseline import model_tables, read_baseline, save_baseline
from encheck.gating.pairing import compare_case
from encheck.ids import CaseId, ItemId
from encheck.items import contrasts
from encheck.items.variants import VariantMaker
from encheck.metrics import both_directions, directions_mean
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.crossed import Contrast
from encheck.scoring.scores import Scale
from encheck.store import Store
from encheck.surface import POSITION, SHARED
from encheck.system.terminal import Progress

TEA = Contrast(ItemId.of("own", "a" * 16, "contrast", 1, "data", 0), ("hot tea", "cold tea"),
               ("tea that is hot", "tea that is cold"), "tea")  # fmt: skip
BUS = Contrast(ItemId.of("own", "b" * 16, "contrast", 1, "data", 0), ("bus on sundays", "no bus on sundays"),
               ("the bus runs on sundays", "the timetable"), "bus")  # fmt: skip
CASE = CaseId("each_query_prefers_its_own_document", "m", "own", "1")


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def the_claim():
    return claim_of("each_query_prefers_its_own_document")


def measured(store, model, *found):
    """(items, scores) of a model on these contrasts."""
    found = found or (TEA, BUS)
    universe = tuple(sorted({one.cluster for one in found}))
    data = Dataset("own", (), (), "yours", len(found), universe=universe, contrasts=found)
    session = ScoringSession(
        {"m": ModelUnderTest("m", ModelConfig("m"), model)}, {"own": data}, store, maker=VariantMaker()
    )
    session.prepare([("m", "own", the_claim(), 1)], locks=lambda _: (), progress=Progress(quiet=True))
    items = session.items("own", the_claim(), 1)
    return items, session.scores("m", "own", items)


def test_a_contrast_is_won_where_both_queries_prefer_their_own_document(store):
    _, scores = measured(store, BagOfWords())
    assert (scores.margins > 0).tolist() == [[True, True], [True, False]]
    assert both_directions(scores).value == 0.5
    assert directions_mean(scores).value == 0.75
    assert scores.positions_worst_first() == [1, 0]


def test_the_surface_stands_beside(store):
    estimate = both_directions(measured(store, BagOfWords())[1])
    assert set(estimate.surface) == {*SHARED, *POSITION, "tf-idf"}
    assert estimate.surface["jaccard"].value == 0.5


def test_queries_and_documents_get_their_own_prompts(store, caplog):
    model = Prompted(prompt="same: ", query="find: ", document="text: ")
    measured(store, model, TEA)
    wanted = [*(f"find: {text}" for text in TEA.queries), *(f"text: {text}" for text in TEA.documents)]
    assert sorted(model.asked) == sorted(wanted)
    assert "m: queries were encoded after 'find: ', documents after 'text: '" in caplog.text


def test_a_model_that_scores_pairs_scores_each_query_with_both_documents(store):
    model = Picky()
    _, scores = measured(store, model, TEA)
    assert sorted(model.asked) == sorted((query, document) for query in TEA.queries for document in TEA.documents)
    assert scores.margins.shape == (1, 2)


class Partial(BagOfWords):
    """Prefers one document whatever is asked: all queries are alike to it."""

    def encode(self, texts, *, role=None):
        return super().encode(["hot"] * len(texts) if role == "query" else texts, role=role)


def test_who_prefers_one_document_whatever_is_asked_wins_none_and_half_of_the_sides(store):
    _, scores = measured(store, Partial(), TEA)
    assert both_directions(scores).value == 0.0
    assert directions_mean(scores).value == 0.5


def test_a_failure_message_shows_both_queries_with_the_right_and_the_wrong_document(store):
    _, scores = measured(store, BagOfWords(), TEA)
    lines = [(line.name, line.text) for line in scores.example_lines(TEA, 0)]
    assert lines == [
        ("query", "hot tea"), ("right", "tea that is hot"), ("wrong", "tea that is cold"),
        ("query", "cold tea"), ("right", "tea that is cold"), ("wrong", "tea that is hot"),
    ]  # fmt: skip


def test_the_gate_weighs_both_queries_of_each_contrast(store):
    items, scores = measured(store, BagOfWords())
    _, worse = measured(store, Partial())
    before, after = (_table(one, items) for one in (scores, worse))
    assert (before.kind, len(before.chain_rows)) == ("triplet", 2)
    found = compare_case(before, after, (Scale(0.0), Scale(0.0)))
    assert found.metric.name == "directions_mean"
    assert (found.old.tolist(), found.new[:2].mean()) == ([1.0, 1.0, 1.0, 0.0], 0.5)
    assert found.sides.tolist() == [1, 2, 1, 2]


def _table(scores, items):
    frame = scores.to_item_frame(str(CASE), items.included)
    assert frame.roles == ("query", "document")
    row = {"check": CASE.check, "data": "own", "property": "contrast"}
    claims = {CASE.check: {"family": "meaning changed", "metric": "both_directions", "gates": "directions_mean"}}
    return model_tables(run_file({"checks": [row], "claims": claims}), {str(CASE): frame}, "m")[CASE.of_any_model]


def test_a_baseline_of_contrasts_is_read_back_though_nothing_calibrates_them(store, tmp_path):
    items, scores = measured(store, BagOfWords())
    kept = _table(scores, items)
    about = given(check=CASE.check, tested="contrast")
    about["data"][0] |= {"name": "own", "calibration": {}}
    about["checks"][0]["data"] = "own"
    save_baseline(tmp_path / "base", run_file(about), {kept.case: kept}, model="m")
    found = read_baseline(tmp_path / "base").cases[kept.case]
    assert found.unscaled
    assert found.align_to(kept).items == kept.items
    assert found.align_to(kept).near.tolist() == kept.near.tolist()


def test_other_data_have_no_contrasts():
    with pytest.raises(NothingToMeasure, match="own has no contrasts of queries: see --data=contrast:PATH"):
        contrasts(Dataset("own", (), (), "yours", 0), 1, VariantMaker())


def test_a_model_that_is_right_of_all_reaches_the_aim(store):
    found = [
        Contrast(
            ItemId.of("own", f"{i:016x}", "contrast", 1, "data", 0),
            (f"w{i} yes", f"w{i} no"),
            (f"it is yes w{i}", f"it is no w{i}"),
            str(i),
        )
        for i in range(40)
    ]
    estimate = both_directions(measured(store, BagOfWords(), *found)[1])
    assert estimate.low >= the_claim().aim
    assert the_claim().declared.chance == 0.25

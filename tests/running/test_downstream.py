"""Downstream tasks under a model: what is learned, what stands beside it, and what cannot be measured."""

import numpy as np
import pytest
from declared import claim_of

from encheck.datasets.dataset import ClassifiedText, Dataset, add_classification_tasks
from encheck.encoders.fake import BagOfWords, Constant, Nan, Overlap
from encheck.encoders.model_config import ModelConfig
from encheck.engine.first_look import missing_task_texts
from encheck.errors import EncoderError, NothingToMeasure, missing_need
from encheck.gating.baseline import make_case_scores
from encheck.gating.pairing import gating_metric
from encheck.ids import CaseId
from encheck.items.variants import VariantMaker
from encheck.metrics.classification import new_texts_accuracy, task_accuracy
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.scoring.frame import item_table, read_item_frame
from encheck.statistics import regression
from encheck.store import Store
from encheck.system.terminal import Progress

THINGS = "otter lantern violin glacier baker comet saddle orchard magnet ferry tunnel parrot".split()
CASE = CaseId("linear_classifier_on_vectors_tells_classes", "m", "own", "TREC")


def questions(split, count):
    """Questions of two classes, which their first word gives away."""
    return [ClassifiedText(f"{w} {t} {i}", w, split) for i in range(count) for t in THINGS for w in ("who", "where")]


def sentences(count=1):
    """Sentences of two classes without parts, of which each class has some that say the other's word as well."""
    return [ClassifiedText(f"{w} {t} {i}", w, "") for i in range(count) for t in THINGS for w in ("good", "bad")]


def pairs(split):
    """A pair is a paraphrase where both sides have the same words."""
    same = [ClassifiedText(f"the {t} sings", "1", split, f"sings the {t}") for t in THINGS]
    other = [ClassifiedText(f"a {t} waits", "0", split, f"no {t[:3]} drifts") for t in THINGS]
    return [*same, *other]


TASKS = {
    "MR": sentences(),
    "SST2": [*questions("train", 1), *questions("validation", 1), *questions("test", 1)],
    "TREC": [*questions("train", 1), *questions("test", 1)],
    "MRPC": [*pairs("train"), *pairs("test")],
}


@pytest.fixture(autouse=True)
def few_folds(monkeypatch):
    monkeypatch.setattr(regression, "FOLDS", 3)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


class Spent(BagOfWords):
    """Knows what `BagOfWords` knows, and encodes nothing."""

    def fingerprint(self):
        return BagOfWords().fingerprint()

    def encode(self, texts, *, role=None):
        raise AssertionError(f"{len(texts)} texts are encoded again")


def the_claim():
    return claim_of("linear_classifier_on_vectors_tells_classes")


def session_of(store, model, tasks, **sample):
    data = add_classification_tasks(Dataset("own", (), (), "yours", 0), tasks, sample=sample.get("sample"), seed=0)
    session = ScoringSession(
        {"m": ModelUnderTest("m", ModelConfig("m"), model)}, {"own": data}, store, maker=VariantMaker()
    )
    session.prepare(
        [("m", "own", the_claim(), name) for name in tasks], locks=lambda _: (), progress=Progress(quiet=True)
    )
    return session


def measured(store, model, task, rows=None, **sample):
    """(items, scores) of a model on a task."""
    session = session_of(store, model, {task: rows or TASKS[task]}, **sample)
    items = session.items("own", the_claim(), task)
    return items, session.scores("m", "own", items)


@pytest.mark.parametrize("task", TASKS)
def test_a_model_that_sees_the_words_tells_what_the_words_tell(store, task):
    items, scores = measured(store, BagOfWords(), task)
    found = task_accuracy(scores)
    assert found.value == 1.0
    assert found.n == len(items.included) == 24


@pytest.mark.parametrize("task", TASKS)
def test_a_model_that_sees_nothing_gets_what_the_largest_class_gets(store, task):
    rows = [row for i, row in enumerate(TASKS[task]) if row.label not in ("where", "bad", "0") or i % 4 < 2]
    found = task_accuracy(measured(store, Constant(), task, rows)[1])
    assert found.value == found.surface["majority-class"].value > 0.5


def test_one_class_to_learn_from_is_a_reason_to_skip_where_there_is_a_development_part(store):
    rows = [row for row in TASKS["SST2"] if row.split == "test" or row.label == "who"]
    with pytest.raises(
        NothingToMeasure, match="SST2 of own has texts of the class who alone to learn from: take a larger"
    ):
        measured(store, BagOfWords(), "SST2", rows)


def test_words_stand_beside_a_text_and_overlap_beside_a_pair(store):
    assert set(task_accuracy(measured(store, Constant(), "TREC")[1]).surface) == {"bag-of-words", "majority-class"}
    pair = task_accuracy(measured(store, Constant(), "MRPC")[1])
    assert {name: one.value for name, one in pair.surface.items()} == {"word-overlap": 1.0, "majority-class": 0.5}


def test_what_the_surface_learns_is_learned_once_for_all_models(store, monkeypatch):
    session = session_of(store, BagOfWords(), {"TREC": TASKS["TREC"]})
    items = session.items("own", the_claim(), "TREC")
    first = session.scores("m", "own", items)
    monkeypatch.setattr("encheck.running.scorer.score_surface_classifiers", None)
    assert session.scores("m", "own", items).surface == first.surface


def test_a_second_run_encodes_nothing(store):
    measured(store, BagOfWords(), "TREC")
    assert task_accuracy(measured(store, Spent(), "TREC")[1]).value == 1.0


def test_texts_are_ordered_as_the_toolkit_orders_them(store):
    kinds = (("a b c", "x"), ("d", "y"), ("e", "x"))
    rows = [ClassifiedText(f"{w} {t}", c, split) for split in ("train", "test") for w, c in kinds for t in THINGS]
    items, _ = measured(store, BagOfWords(), "TREC", rows)
    for some in (items.included, items.tuning):
        order = [(len(one.first.split()), one.label) for one in some]
        assert order == sorted(order)
        assert len(order) == 36


def test_near_duplicates_that_were_learned_from_are_counted_and_left_out_of_a_second_figure(store):
    copies = [ClassifiedText("who otter 0", "who", "test"), ClassifiedText("who lantern 0", "where", "test")]
    rows = [*questions("train", 1), *copies, ClassifiedText("where is the moon", "where", "test")]
    scores = measured(store, BagOfWords(), "TREC", rows)[1]
    whole, new = task_accuracy(scores), new_texts_accuracy(scores)
    assert (whole.params["near_duplicates"], whole.n, new.n) == (2, 3, 1)
    assert (round(whole.value, 2), new.value) == (0.67, 1.0)
    none = new_texts_accuracy(measured(store, BagOfWords(), "TREC", rows[:-1])[1])
    assert none.missing == "each text has a near-duplicate among the training texts"


def test_near_duplicates_in_other_folds_are_counted(store):
    rows = [*sentences(), ClassifiedText("good glacier 0", "good", ""), ClassifiedText("glacier good 0", "good", "")]
    assert 0 < task_accuracy(measured(store, BagOfWords(), "MR", rows)[1]).params["near_duplicates"] <= 3


def test_a_model_that_scores_pairs_is_not_measured(store):
    with pytest.raises(NothingToMeasure, match="m scores pairs and gives no vectors"):
        measured(store, Overlap(), "TREC")


def test_a_vector_that_is_no_number_is_an_error(store):
    with pytest.raises(EncoderError, match=r"NaN|not numbers"):
        measured(store, Nan(), "TREC")


def test_a_sample_that_is_too_small_for_the_folds_says_so(store):
    with pytest.raises(NothingToMeasure, match=r"MR of own has \d texts of the class .*: take a larger --sample"):
        measured(store, BagOfWords(), "MR", sample=4)


def test_data_without_a_task_are_skipped_in_one_line(store):
    session = session_of(store, BagOfWords(), {"TREC": TASKS["TREC"]})
    with pytest.raises(NothingToMeasure, match=r"^own has no task CR"):
        session.items("own", the_claim(), "CR")
    session.data["own"] = Dataset("own", (), (), "yours", 0)
    with pytest.raises(NothingToMeasure) as error:
        session.items("own", the_claim(), "MR")
    assert missing_need(str(error.value)) == "SentEval's downstream tasks"


def test_items_travel_and_pair_by_their_texts(store):
    items, scores = measured(store, BagOfWords(), "MRPC")
    frame = read_item_frame(item_table(scores.to_item_frame(str(CASE), items.included)))
    assert (frame.kind.name, set(frame.near.scores)) == ("classified", {1.0})
    table = make_case_scores(CASE, "downstream", frame, the_claim().declared)
    other = measured(store, Constant(), "MRPC")[1].to_item_frame(str(CASE), items.included)
    assert table.texts == make_case_scores(CASE, "downstream", other, the_claim().declared).texts
    assert gating_metric(table) == (None, the_claim().declared.reported)


def test_an_example_says_what_a_text_was_taken_for(store):
    items, scores = measured(store, Constant(), "TREC")
    (worst, *_) = scores.positions_worst_first()
    line, source = scores.example_lines(items.included[worst], worst)
    item = items.included[worst]
    assert line.name == f"{item.label}, sorted as {'who' if item.label == 'where' else 'where'}"
    assert source.text == item.first


def test_a_selection_keeps_what_belongs_together(store):
    scores = measured(store, BagOfWords(), "TREC")[1]
    some = scores.select(np.array([3, 1]))
    assert [some.predicted_class(0), some.predicted_class(1)] == [scores.predicted_class(3), scores.predicted_class(1)]


def test_what_is_left_after_a_first_look_counts_the_texts_of_tasks(store):
    session, model = session_of(store, BagOfWords(), {"TREC": TASKS["TREC"]}), BagOfWords(other=True)
    requests = [("m", "own", the_claim(), "TREC"), ("m", "own", the_claim(), "CR")]
    assert (
        missing_task_texts(ModelUnderTest("m", ModelConfig("m"), model), session, requests)[0] == 24 * 2 - 24
    )  # both parts are alike
    assert missing_task_texts(session.subjects["m"], session, requests)[0] == 0

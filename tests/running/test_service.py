"""One service asks a model: what it refuses, what it raises, and what it leaves in the store."""

import json

import pytest

from encheck.encoders import fake
from encheck.encoders.model_config import ModelConfig
from encheck.errors import EncoderError, UsageError
from encheck.options import Settings
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.service import EncoderService
from encheck.store import Store

TEXTS = ["a red car", "a red van", "two tall men"]


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def opened(store, model):
    return EncoderService.open(Settings(models=(model,)), store)


@pytest.fixture
def vectors(tmp_path):
    """What --model takes for vectors of these texts alone."""
    rows = [{"text": text, "vector": [0.0] * i + [1.0] + [0.0] * (2 - i)} for i, text in enumerate(TEXTS)]
    (tmp_path / "own.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return f"vectors:{tmp_path / 'own.jsonl'}"


def test_who_asks_for_any_text_gets_no_model_that_learns_or_has_some_vectors_alone(store, vectors):
    assert opened(store, "bag-of-words").taking_any_text().score_pairs([("a b", "a b")]) == [pytest.approx(1)]
    for model in ("bm25", vectors):
        with pytest.raises(UsageError, match="cannot score new texts"):
            opened(store, model).taking_any_text()


def test_the_fixture_is_no_model_that_has_to_learn(store, vectors):
    assert opened(store, vectors).as_fixture().similarity("a red car", "a red van") == 0
    with pytest.raises(UsageError, match="the fixture `encoder` cannot be 'bm25': it learns"):
        opened(store, "bm25").as_fixture()


def test_what_is_scored_anew_reads_and_leaves_nothing(store):
    class Counting(fake.BagOfWords):
        asked = 0

        def encode(self, texts, *, role=None):
            Counting.asked += len(texts)
            return super().encode(texts)

    service = EncoderService(ModelUnderTest("m", ModelConfig("m"), Counting()), store)
    pairs = [(TEXTS[0], TEXTS[1])]
    before = service.similarity_function_uncached(pairs)(*zip(*pairs, strict=True))
    assert not list(store.list_models())
    assert service.score_pairs(pairs) == service.score_pairs(pairs) == before.tolist()
    assert service.similarity_function_uncached(pairs)(*zip(*pairs, strict=True)) == before
    assert Counting.asked == 6


def test_vectors_in_roles_come_together_and_an_error_names_the_model(store):
    found = opened(store, "bag-of-words").encode_in_roles({"document": TEXTS, "query": TEXTS[:1]})
    assert (found["document"].vectors_of(TEXTS)[:1] == found["query"].vectors_of(TEXTS[:1])).all()
    texts = [f"{word} {i}" for i in range(20) for word in "abc"]
    service = opened(store, "nan")
    with pytest.raises(EncoderError, match=r"^nan: encheck.encoders.fake:Nan: the vector"):
        service.encode_in_roles({"query": texts})
    with pytest.raises(EncoderError, match=r"^encheck.encoders.fake:Nan: the vector"):
        service.encode(texts, role="query")

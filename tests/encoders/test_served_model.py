"""A server whose model changes during a run: no vector of the other model reaches the store or the results."""

from concurrent.futures import Future
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from embedding_server import serving

from encheck.encoders import fake
from encheck.encoders.base import PROBE
from encheck.encoders.load import load_model
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.server import OpenAiEncoder
from encheck.errors import EncoderError
from encheck.items.variants import VariantMaker
from encheck.running import service
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.running.service import BatchSaver, EncoderService
from encheck.store import Store, text_key
from encheck.system.terminal import Progress

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = [f"the dog {i} sings" for i in range(100)]
ADAPTERS = ["openai", "tei"]
CHANGED = "answers with another model than at the start of the run"


def first(texts):
    return fake.BagOfWords().encode(texts)[:, :32]


def second(texts):
    return fake.Random().encode(texts)[:, :32]


def near(texts):
    """A version of the first model: a cosine of about 0.96 with it."""
    return first(texts) + 0.3 * np.linalg.norm(first(texts), axis=1, keepdims=True) * unit(second(texts))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def server():
    with serving(first) as (address, state):
        yield SimpleNamespace(address=address, state=state)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = SimpleNamespace(time=0.0)
    parts = SimpleNamespace(monotonic=lambda: now.time, perf_counter=lambda: now.time)
    monkeypatch.setattr(service, "time", parts)
    return now


def opened(server, adapter="openai", **options):
    named = {"model": "tiny"} if adapter == "openai" else {}
    config = ModelConfig("served", name=server.address, adapter=adapter, options=named | {"batch": 8} | options)
    return load_model(config, device=Device())


def encoded(store, model, texts=TEXTS, progress=None):
    subject = ModelUnderTest("served", ModelConfig("served"), model)
    model.fingerprint()
    bench = ScoringSession({"served": subject}, {}, store, maker=VariantMaker())
    bench.encode({"served": [(text, text) for text in texts]}, progress=progress or Progress(quiet=True))
    return subject


def kept(store, model, texts=TEXTS):
    """The texts of which the store has a vector of this model, each of which must be the first model's."""
    vectors, there = store.get("vector", model.fingerprint(), [text_key(text) for text in texts])
    have = [text for text, is_there in zip(texts, there, strict=True) if is_there]
    if have:
        assert np.abs(vectors[there] - first(have)).max() < 1e-6
    return have


def switching(state, clock, *, after, to=second):
    """The first model for so many requests with texts, then another; each of these takes two seconds."""

    def encode(texts):
        if texts == [PROBE]:
            return (first if encode.left > 0 else to)(texts)
        clock.time, encode.left = clock.time + 2, encode.left - 1
        return (first if encode.left >= 0 else to)(texts)

    encode.left = after
    state.encode = encode


HOW = {
    "one request at a time": {"concurrency": 1},
    "several requests": {"concurrency": 4},
    "one text a request": {"batch": 1, "concurrency": 1},
    "one text a request, several": {"batch": 1, "concurrency": 4},
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("how", HOW.values(), ids=HOW.keys())
@pytest.mark.parametrize("after", [0, 1, 7])
def test_after_a_server_has_changed_its_model_no_vector_is_kept(server, store, clock, adapter, how, after):
    model = opened(server, adapter, **how)
    model.fingerprint()
    switching(server.state, clock, after=after)
    subject = encoded(store, model)
    assert CHANGED in str(subject.error)
    assert len(subject.vectors) == 0
    assert len(kept(store, model)) == subject.encoded < 8 * after + 1


def test_what_a_good_check_followed_is_kept_and_the_error_counts_both(server, store, clock):
    model = opened(server, concurrency=1)
    model.fingerprint()
    switching(server.state, clock, after=5)
    subject = encoded(store, model)
    assert len(kept(store, model)) % 7 == 0
    assert f"Saved in this pass: {subject.encoded} vectors that were checked" in str(subject.error)
    assert "that came after the last successful check of the model, and all requests in progress" in str(subject.error)
    again_later = opened(server)
    assert again_later.fingerprint() != model.fingerprint()
    assert encoded(store, again_later).error is None


@pytest.mark.parametrize("how", HOW.values(), ids=HOW.keys())
@pytest.mark.parametrize("other", [second, near], ids=["another model", "a version"])
def test_of_two_models_that_take_turns_under_one_address_nothing_is_kept(server, store, clock, how, other):
    model = opened(server, **how)
    model.fingerprint()
    turns = iter([other, first] * 10_000)
    server.state.encode = lambda texts: next(turns)(texts)
    subject = encoded(store, model)
    assert CHANGED in str(subject.error)
    assert "or two versions stand behind one address. Remedy: one model" in str(subject.error)
    assert kept(store, model) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("other", [second, near], ids=["another model", "a version"])
def test_of_two_models_that_answer_by_chance_nothing_of_the_other_is_kept(server, store, clock, other, seed):
    model = opened(server, concurrency=1)
    model.fingerprint()
    random = np.random.default_rng(seed)

    def either(texts):
        clock.time += 2 * (texts != [PROBE])
        return (first if random.random() < 0.5 else other)(texts)

    server.state.encode = either
    assert CHANGED in str(encoded(store, model).error)
    kept(store, model)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_change_after_the_last_batch_is_found_by_the_check_at_the_end(server, store, clock, adapter):
    model = opened(server, adapter, batch=1, concurrency=1)
    model.fingerprint()
    done = []

    def encode(texts):
        done.extend(texts)
        return (second if done.count(PROBE) > 0 else first)(texts)

    server.state.encode = encode
    assert CHANGED in str(encoded(store, model).error)
    assert kept(store, model) == []


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_noise_is_no_other_model(server, store, adapter):
    noise = np.random.default_rng(0)
    server.state.encode = lambda texts: first(texts) * (1 + noise.normal(0, 0.01, (len(texts), 32)))
    model = opened(server, adapter)
    subject = encoded(store, model)
    assert subject.error is None
    assert subject.encoded == len(TEXTS)


def test_a_model_whose_vectors_depend_on_the_other_texts_of_a_request_is_said_and_not_refused(server, store, caplog):
    def in_company(texts):
        vectors = first(texts)
        return vectors + 0.3 * (len(texts) > 1) * vectors.mean(axis=0)

    server.state.encode = in_company
    subject = encoded(store, opened(server))
    assert subject.error is None
    assert subject.encoded == len(TEXTS)
    assert caplog.text.count("the vector of a text depends on the other texts of its request") == 1


def test_another_revision_that_a_server_names_is_another_model(server, store):
    model = opened(server, "tei")
    model.fingerprint()
    server.state.sha = "def"
    assert f"{CHANGED}: it was owner/tiny@abc, and is owner/tiny@def" in str(encoded(store, model).error)


def test_a_server_that_falls_silent_before_the_check_leaves_nothing_unchecked(server, store, clock):
    model = opened(server, batch=200, concurrency=1, retries=0)
    server.state.largest = 200
    model.fingerprint()
    server.state.faults.extend([None, (503, {"error": "gone"})])
    said = str(encoded(store, model).error)
    assert "the last error: HTTP 503" in said
    assert f"Discarded: {len(TEXTS)} vectors" in said
    assert kept(store, model) == []


class Interrupted(Progress):
    def advance(self, steps):
        raise KeyboardInterrupt


def test_an_interrupted_run_keeps_nothing_that_no_check_followed(server, store):
    model = opened(server, concurrency=1)
    model.fingerprint()
    asked = len(server.state.requests)
    with pytest.raises(KeyboardInterrupt):
        encoded(store, model, progress=Interrupted(quiet=True))
    assert kept(store, model) == []
    assert len(server.state.requests) > asked


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_run_that_finds_all_in_the_store_asks_the_probe_once(server, store, adapter):
    encoded(store, opened(server, adapter))
    server.state.requests.clear()
    assert encoded(store, opened(server, adapter)).error is None
    assert len(server.state.requests) == 1


def test_what_is_encoded_again_is_not_kept_where_the_model_has_changed(server, store):
    model = opened(server, batch=1)
    print_of = model.fingerprint()
    server.state.encode = second
    with pytest.raises(EncoderError, match=CHANGED):
        EncoderService(ModelUnderTest("served", ModelConfig("served"), model), store).encode_again(TEXTS[:4])
    assert not store.get("vector", f"{print_of}/again", [text_key(t) for t in TEXTS[:4]])[1].any()


def test_a_text_that_the_server_takes_alone_only_goes_without_the_probe(server, store):
    server.state.largest = 1
    subject = encoded(store, opened(server, batch=4))
    assert subject.error is None
    assert np.abs(subject.vectors - first(TEXTS)).max() < 1e-6


def test_checks_that_are_slow_take_one_part_in_twenty_of_the_time(store, clock):
    checks = []

    def check():
        checks.append(clock.time)
        clock.time += 3

    saver = BatchSaver(store, "vector", "print", "served", verify=check)
    for i in range(200):
        clock.time += 1
        saver.add([text_key(str(i))], np.ones((1, 4), np.float32))
    assert np.diff(checks).tolist() == [3 + 61] * (len(checks) - 1)
    assert len(checks) == 4


def test_what_is_asked_of_a_server_may_be_let_go_in_one_of_the_threads_that_ask(server):
    begun, told = Event(), Future()

    class LetGo(OpenAiEncoder):
        def request_vectors(self, texts, **how):
            if TEXTS[1] in texts:  # the second request, while the answer to the first is looked at
                begun.wait(5)
                told.set_result(closed(going))
            return super().request_vectors(texts, **how)

    model = LetGo(ModelConfig("served", name=server.address, adapter="openai", options={"model": "tiny", "batch": 2}))
    going = model.compute(TEXTS[:20], "")
    next(going)
    begun.set()
    assert told.result(5) == "closed"


def closed(generator):
    try:
        generator.close()
    except RuntimeError as error:
        return str(error)
    return "closed"

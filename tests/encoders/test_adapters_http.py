"""Encoders behind HTTP, against a real server on loopback: what comes back right, every fault, and where keys show."""

import json
import logging
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from datetime import date
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from embedding_server import serving

from encheck.encoders import fake
from encheck.encoders.http_client import Client, is_size_complaint, max_response_bytes
from encheck.encoders.load import load_model, locate_weights
from encheck.encoders.model_config import Device
from encheck.encoders.models_file import ModelConfig, apply_model_args, known_models, read_models
from encheck.encoders.settings import EncodingSettings
from encheck.errors import EncoderError, ModelError
from encheck.items.variants import VariantMaker
from encheck.running.model_under_test import ModelUnderTest
from encheck.running.scoring_session import ScoringSession
from encheck.store import Store
from encheck.system.terminal import Progress

pytestmark = pytest.mark.xdist_group("encoders")
TEXTS = [f"the dog {i} sings" for i in range(50)]
KEY = "sk-secret-3141592653"
ADAPTERS = ["openai", "tei"]


def vectors(texts):
    return fake.BagOfWords().encode(texts)[:, :32]


@pytest.fixture
def server():
    with serving(vectors) as (address, state):
        yield SimpleNamespace(address=address, state=state)


def opened(server, adapter="openai", **fields):
    options = ({"model": "tiny"} if adapter == "openai" else {}) | fields.pop("options", {})
    model = load_model(
        ModelConfig("served", name=server.address, adapter=adapter, options=options, **fields), device=Device()
    )
    model.waits = []
    object.__setattr__(model.client, "sleep", model.waits.append)
    return model


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_vectors_come_back_in_the_order_of_the_texts(server, adapter):
    assert np.abs(opened(server, adapter).encode(TEXTS) - vectors(TEXTS)).max() < 1e-6


def test_minilm_over_http_gives_what_it_gives_here():
    local = load_model(known_models()["sbert"], device=Device("cpu"))
    texts = [f"A dog number {i} barks at {'the mail carrier ' * (i % 5)}" for i in range(20)]
    with serving(local.encode) as (address, state):
        ours = opened(SimpleNamespace(address=address, state=state))
        assert np.abs(ours.encode(texts) - local.encode(texts)).max() < 1e-5
        state.faults.extend([*FAULTS.values(), None, *FAULTS.values()])
        assert np.abs(ours.encode(texts) - local.encode(texts)).max() < 1e-5
        assert len(ours.waits) == 2 * len(FAULTS)


def test_batches_keep_to_what_the_server_says_it_takes(server):
    opened(server, "tei").encode(TEXTS)
    sizes = [len(body["inputs"]) for _, body, _ in server.state.requests]
    assert max(sizes) == server.state.largest == 8
    assert sum(sizes) == len(TEXTS) + len(sizes)  # a probe sentence goes with each


def test_a_batch_that_is_refused_as_too_large_is_halved(server):
    assert np.abs(opened(server, options={"batch": 50}).encode(TEXTS) - vectors(TEXTS)).max() < 1e-6
    sizes = {len(body["input"]) for _, body, _ in server.state.requests}
    assert max(sizes) == 50
    assert min(sizes) <= 8


def test_several_requests_are_on_their_way_at_a_time():
    met = threading.Barrier(3, timeout=10)

    def slow(texts):
        if "probe" not in texts[0]:
            met.wait()  # nobody gets an answer before three have asked
        return vectors(texts)

    with serving(slow, largest=1) as (address, _):
        ours = opened(SimpleNamespace(address=address), options={"batch": 1, "concurrency": 3})
        assert len(ours.encode(TEXTS[:6])) == 6


FAULTS = {
    "too many requests": (429, {"error": "slow down"}),
    "no server behind it": (503, {"error": "loading"}),
    "a server that failed": (500, {"error": "boom"}),
    "a gateway": (502, "bad gateway"),
    "a broken connection": "cut",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_passing_fault_is_tried_again_with_longer_waits(server, adapter, fault):
    server.state.faults.extend([fault, fault, fault])
    ours = opened(server, adapter, options={"concurrency": 1})
    assert np.abs(ours.encode(TEXTS) - vectors(TEXTS)).max() < 1e-6
    assert ours.waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("after", "wait"), [("7", 7.0), ("999", 60.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("?", 0.5)]
)
def test_the_wait_that_the_server_asks_for_is_kept(server, after, wait):
    ours = opened(server)
    server.state.headers = {"Retry-After": after}
    server.state.faults.append((429, {"error": "slow down"}))
    ours.encode(TEXTS[:2])
    assert ours.waits == [wait]


def test_the_first_wait_is_said_once_and_without_the_key(server, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.state.headers = {"Retry-After": "7"}
    server.state.faults.extend([(429, {"error": f"{KEY} is too fast"})] * 3)
    opened(server, options={"concurrency": 1}).encode(TEXTS[:2])
    assert [record.getMessage() for record in caplog.records] == [
        f'{server.address}: HTTP 429: {{"error": "*** is too fast"}}; retrying in 7 s, later retries are not reported'
    ]


def test_a_server_that_never_recovers_is_an_error_that_names_it_and_what_it_said(server):
    server.state.faults.extend([(503, {"error": "overloaded"})] * 9)
    ours = opened(server, options={"retries": 2, "concurrency": 1})
    with pytest.raises(
        EncoderError, match=r"http://127.*/v1/embeddings did not answer in 3 attempts; the last error: HTTP 503.*overl"
    ):
        ours.encode(TEXTS[:2])
    assert len(server.state.requests) == 3


def test_an_answer_that_takes_too_long_is_asked_for_again(server):
    server.state.faults.append("slow")
    server.state.delay = 1.0
    ours = opened(server, options={"timeout": 0.2})
    assert len(ours.encode(TEXTS[:2])) == 2
    assert ours.waits == [0.5]


def test_an_answer_that_drips_without_an_end_is_given_up_in_time(server):
    server.state.faults.append("drip")
    ours = opened(server, options={"timeout": 1})
    assert len(ours.encode(TEXTS[:2])) == 2
    assert ours.waits == [0.5]


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("fault", ["flood", "chunks", "promise"])
def test_an_answer_of_more_than_the_texts_can_need_is_read_no_further(server, adapter, fault):
    server.state.faults.append(fault)
    with pytest.raises(ModelError, match=r"served: http://127[\d.:]*/\S+ answers with more than 1\.8 MB, the most"):
        opened(server, adapter).fingerprint()
    assert len(server.state.requests) == 1  # not asked again
    until = time.monotonic() + 5
    while (sent := server.state.sent) and time.monotonic() < until:
        time.sleep(0.2)
        if sent == server.state.sent:
            break
    assert server.state.sent < 30e6  # what was under way; without a limit it goes on for the whole timeout


def test_the_room_of_an_answer_is_by_the_dimension_once_it_is_known(server):
    ours = opened(server)
    ours.fingerprint()
    assert max_response_bytes(TEXTS, None) > 50 * 16_384 * 24
    assert 50 * 32 * 24 < max_response_bytes(TEXTS, 32) < 1.3e6
    server.state.faults.append("flood")
    with pytest.raises(EncoderError, match=r"answers with more than 1\.2 MB"):
        ours.encode(TEXTS)


@pytest.mark.parametrize("dimension", [1, 384, 12_288])
def test_an_answer_on_lines_of_its_own_with_all_digits_fits(dimension):
    texts = ["\u00e9" * 500] * 20
    rows = [{"object": "embedding", "index": i, "embedding": [-1.2345678901234567e-308] * dimension} for i in range(20)]
    answer = json.dumps({"object": "list", "data": rows, "echo": texts}, indent=4)
    assert len(answer) <= max_response_bytes(texts, dimension)


def test_an_answer_that_is_packed_is_not_unpacked(server):
    server.state.faults.append("bomb")
    with pytest.raises(ModelError, match=r"/embeddings compresses its answers with 'gzip', which encheck did not"):
        opened(server).fingerprint()


@pytest.mark.parametrize("fault", ["drip", "continue"])
def test_a_request_that_is_given_up_leaves_no_thread_that_reads_on(server, fault):
    server.state.faults.append(fault)
    started = time.monotonic()
    assert len(opened(server, options={"timeout": 0.5}).encode(TEXTS[:2])) == 2
    assert time.monotonic() - started < 5
    until = time.monotonic() + 5
    while reading(server) and time.monotonic() < until:
        time.sleep(0.05)
    assert reading(server) == []


def reading(server):
    """The threads that ask this server: one of an earlier test may still wait for its connection."""
    return [thread for thread in threading.enumerate() if thread.name.startswith(f"encheck asks {server.address}")]


def test_a_run_on_a_server_that_hangs_ends_with_ctrl_c(server, tmp_path):
    server.state.faults.extend([None] * 4 + ["drip"] * 9)
    command = [sys.executable, "-m", "encheck", "run", "-m", "paraphrase", "--model=openai", "--store=kept.sqlite"]
    command += [f"--model-arg=name={server.address}", "--model-arg=model=tiny", "--model-arg=timeout=60"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job in the background is started deaf to Ctrl-C
    with subprocess.Popen(command, **quiet, cwd=tmp_path, preexec_fn=heard) as run:
        until = time.monotonic() + 60
        while len(server.state.requests) < 8 and time.monotonic() < until:
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        try:
            assert run.wait(20) == 130
        finally:
            run.kill()


def test_an_answer_that_is_nested_too_deeply_to_read_is_an_error_that_names_the_server(server):
    server.state.faults.append("deep")
    with pytest.raises(ModelError, match=r"http://127.*did not answer in 1 attempt; the last error: RecursionError"):
        opened(server, options={"retries": 0}).fingerprint()


def test_what_is_still_asked_ends_with_the_first_error(server):
    over = threading.Event()
    server.state.encode = lambda texts: (
        vectors(texts) * np.nan if texts == TEXTS[:1] else over.wait(30) * vectors(texts)
    )
    started = time.monotonic()
    with pytest.raises(EncoderError, match="NaN"):
        opened(server, options={"batch": 1, "timeout": 30}).encode(TEXTS)
    over.set()
    assert time.monotonic() - started < 10


def test_a_server_that_is_not_there_is_an_error_before_the_run(server):
    ours = opened(SimpleNamespace(address="http://127.0.0.1:9"), options={"retries": 1})
    with pytest.raises(
        ModelError,
        match=r"served: http://127.0.0.1:9/v1/embeddings did not answer in 2 attempts.*Remedy: check that",
    ):
        ours.fingerprint()


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY"])
def test_an_error_names_the_proxy_that_was_asked_and_its_variable_without_its_password(server, monkeypatch, variable):
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "http://me:secret@127.0.0.1:9/")
    said = rf"{server.address}/v1/embeddings through the proxy 127.0.0.1:9 \({variable}\) did not answer.*no_proxy"
    with pytest.raises(ModelError, match=said) as caught:
        opened(server, options={"retries": 0}).fingerprint()
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert opened(server).client.proxy_note == ""


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_certificate_that_nobody_signed_is_named_and_ssl_cert_file_lets_it_pass(tmp_path, monkeypatch):
    asked = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -addext subjectAltName=IP:127.0.0.1 -out c -keyout k"
    subprocess.run(asked.split(), cwd=tmp_path, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "c", tmp_path / "k")
    with serving(vectors, tls=tls) as (address, _):
        named = SimpleNamespace(address=address)
        with pytest.raises(ModelError, match=r"in 1 attempt; .*CERTIFICATE_VERIFY_FAILED.*Remedy: .*SSL_CERT_FILE"):
            opened(named, options={"retries": 3}).fingerprint()
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "c"))
        assert opened(named, options={"retries": 0}).encode(["dog"]).shape == (1, 32)


def test_a_refusal_that_will_not_change_is_not_tried_again(server):
    server.state.faults.append((401, {"error": "no such key"}))
    ours = opened(server)
    with pytest.raises(EncoderError, match=r"refuses the request: HTTP 401.*no such key"):
        ours.encode(TEXTS[:2])
    assert ours.waits == []
    assert len(server.state.requests) == 1


def shorter(answer):
    rows = answer["data"] if isinstance(answer, dict) else answer
    for i, row in enumerate(rows):
        if isinstance(row, dict):
            row["embedding"] = row["embedding"][: 32 - i]
        else:
            rows[i] = row[: 32 - i]
    return answer


def first_twice(answer):
    for row in answer["data"]:
        row["index"] = 0
    return answer


def other_width(answer):
    for row in answer["data"]:
        row["embedding"] = row["embedding"][:5]
    return answer


def with_nan(answer):
    answer["data"][0]["embedding"][0] = float("nan")
    return answer


WRONG = {
    "vectors of different dimensions": ("openai", shorter, "vectors of different dimensions"),
    "dimensions that differ, from TEI": ("tei", shorter, "vectors of different dimensions"),
    "one index twice": ("openai", first_twice, "with the indices .*: each should come once"),
    "one vector less": ("openai", lambda a: a | {"data": a["data"][1:]}, "each should come once"),
    "one vector less, from TEI": ("tei", lambda a: a[1:], "does not answer with a list of"),
    "another API": (
        "openai",
        lambda a: {"result": 1},
        "answers without `data` of embeddings: does it speak OpenAI's API",
    ),
    "a list": ("openai", lambda a: [1, 2], "answers without `data`"),
    "text for numbers": ("tei", lambda a: ["x"] * len(a), "vectors of different dimensions, .*or none"),
    "another width than before": (
        "openai",
        other_width,
        r"http://127.* of 5 dimensions before, and now of 32: .*Remedy",
    ),
    "an error with status 200": (
        "openai",
        lambda a: {"error": {"message": "no such model"}},
        "without `data` .*: it says .*no such model",
    ),
    "no number": ("openai", with_nan, "NaN"),
}


@pytest.mark.parametrize(("adapter", "fault", "expected"), WRONG.values(), ids=WRONG.keys())
def test_an_answer_that_is_wrong_is_an_error_that_says_how(server, adapter, fault, expected):
    server.state.faults.append(fault)
    with pytest.raises(EncoderError, match=expected):
        opened(server, adapter, options={"concurrency": 1, "batch": 8}).encode(TEXTS[:16])


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_text_that_the_server_finds_too_long_is_cut_counted_and_said(server, adapter, caplog):
    long = "word " * 1_000
    ours = opened(server, adapter)
    found = ours.encode(["the dog", long, "a cat"])
    assert np.abs(found[[0, 2]] - vectors(["the dog", "a cat"])).max() < 1e-6
    assert ours.truncated == 1
    assert "1 of 3 texts are longer than" in caplog.text
    assert "the rest is truncated" in caplog.text


def test_a_prompt_by_role_stands_before_the_text(server):
    ours = opened(server, prompt="a ", prompts={"query": "query: "})
    assert np.abs(ours.encode(["dog"], role="query") - vectors(["query: dog"])).max() < 1e-6
    assert np.abs(ours.encode(["dog"]) - vectors(["a dog"])).max() < 1e-6


def test_a_dimension_is_asked_of_the_server(server):
    with pytest.raises(
        ModelError, match=r"served: truncate_dim is 16, but http.* gives vectors of 32 dimensions: it ig"
    ):
        opened(server, truncate_dim=16).fingerprint()
    server.state.encode = lambda texts: vectors(texts)[:, :16]
    assert opened(server, truncate_dim=16).encode(["dog"]).shape == (1, 16)
    assert server.state.requests[-1][1]["dimensions"] == 16


@pytest.mark.parametrize(
    ("end", "path"),
    [("", "/v1/embeddings"), ("/v1/", "/v1/embeddings"), ("/v1beta/openai/embeddings", "/v1beta/openai/embeddings")],
)
def test_the_address_may_end_in_v1_or_in_embeddings(server, end, path):
    opened(SimpleNamespace(address=f"{server.address}{end}")).encode(["dog"])
    assert server.state.requests[-1][0] == path


def test_a_host_may_be_called_embeddings(server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address)
    opened(SimpleNamespace(address="http://embeddings")).encode(["dog"])
    assert server.state.requests[-1][0] == "http://embeddings/v1/embeddings"


TOO_LARGE = [
    "This model's maximum context length is 512 tokens. However, you requested 814 tokens in the input.",
    '{"error": {"message": "Invalid \'input\': array too long", "code": "array_above_max_length"}}',
    '{"error": "Input validation error: `inputs` must have less than 512 tokens. Given: 600"}',
    '{"error": "batch size 64 > maximum allowed batch size 32"}',
    '{"error": "the input length exceeds the context length"}',
    "input (900 tokens) is too large to process. increase the physical batch size",
    '{"message": "invalid request: total number of texts must be at most 96"}',
    '{"detail": [{"type": "string_too_long", "loc": ["body", "input", 0], "ctx": {"max_length": 9}, "input": "a b"}]}',
    '{"detail": "Too many tokens in batch. Max is 16384"}',
]
OTHER_REASONS = [
    "",
    "Bad Request",
    '{"error": "model \'tiny\' not found, try pulling it first"}',
    '{"message": "valid input_type must be provided: search_document, search_query"}',
    '{"detail": [{"type": "missing", "loc": ["body", "task"], "input": {"input": ["a text that is too long"]}}]}',
    '{"detail": [{"type": "missing", "msg": "Field required", "input": ["a text that exceeds the maximum, and is cut',
    '{"detail": [{"loc": ["body", "n"], "msg": "Input should be greater than 0", "type": "greater_than"}]}',
    '{"error": "dimensions must be at most 1536, the maximum of this model"}',
    '{"error": "you exceeded your quota of tokens"}',
    "[" * 2_000,
]


@pytest.mark.parametrize("said", TOO_LARGE)
def test_a_message_of_a_size_is_one(said):
    assert is_size_complaint(said)


@pytest.mark.parametrize("said", OTHER_REASONS)
def test_a_message_of_anything_else_is_none(said):
    assert not is_size_complaint(said)


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("texts", [["dog"], ["word " * 1_000], TEXTS], ids=["a text", "a long text", "many"])
def test_a_request_refused_for_another_reason_than_its_size_is_neither_halved_nor_cut(server, adapter, status, texts):
    ours = opened(server, adapter, options={"concurrency": 1})
    ours.fingerprint()
    server.state.requests.clear()
    server.state.before = lambda body: (status, {"error": "no such input_type", "input": texts})
    with pytest.raises(EncoderError, match=rf"refuses the request: HTTP {status}: .*no such input_type.*--model-arg"):
        ours.encode(texts)
    assert len(server.state.requests) == 1
    assert ours.truncated == 0


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize("said", ["your text has more than 100 tokens", {"error": {"code": "context_length_exceeded"}}])
def test_whichever_way_a_server_says_that_a_text_is_too_long_it_is_cut(server, status, said):
    server.state.longest = 10**6

    def refuse_long(body):
        return (status, said) if any(len(text) > 100 for text in body["input"]) else ""

    server.state.before = refuse_long
    ours = opened(server)
    assert np.abs(ours.encode(["dog", "cat " * 200]) - vectors(["dog", "cat " * 16])).max() < 1e-6
    assert ours.truncated == 1


# fields by role


FIELDS = {"default": {"truncate": "END"}, "query": {"input_type": "query"}, "document": {"input_type": "passage"}}
ROLE_FIELDS = {
    "openai": ({"query": {"input_type": "query"}, "passage": {"input_type": "passage"}}, "input_type"),
    "tei": ({"default": {"prompt_name": "sts"}, "query": {"prompt_name": "query"}}, "prompt_name"),
}


@pytest.mark.parametrize(("adapter", "fields", "name"), [(key, *value) for key, value in ROLE_FIELDS.items()])
def test_fields_of_a_role_are_sent_with_its_texts_and_with_no_others(server, adapter, fields, name):
    server.state.before = lambda body: f"{body.get(name, '')} "
    ours = opened(server, adapter, prompts={"query": "find "}, options={"fields": fields})
    for role, before in ((None, ""), ("query", "find "), ("document", "")):
        sent = fields.get(role or "default", fields.get("passage" if role == "document" else "", {})).get(name)
        sent = sent or fields.get("default", {}).get(name, "")
        assert (
            np.abs(
                ours.encode(["dog", "cat"], role=role) - vectors([f"{sent} {before}dog", f"{sent} {before}cat"])
            ).max()
            < 1e-6
        )
        assert server.state.requests[-1][1].get(name, "") == sent


def test_queries_and_documents_with_other_fields_have_rows_of_their_own_in_the_store(server, tmp_path):
    server.state.before = lambda body: f"{body.get('input_type', 'plain')} "
    model = opened(server, options={"fields": FIELDS, "concurrency": 1})
    subject = ModelUnderTest("served", ModelConfig("served"), model)
    model.fingerprint()
    roles = {"query": TEXTS[:9], "document": TEXTS[:9]}
    for _ in range(2):  # the second time from the store
        store = Store(tmp_path / "store.sqlite")
        bench = ScoringSession({"served": subject}, {}, store, maker=VariantMaker())
        bench.encode({"served": [(TEXTS[0], TEXTS[1])]}, roles={"served": roles}, progress=Progress(quiet=True))
        assert subject.error is None
        for role, sent in (("query", "query"), ("document", "passage")):
            assert (
                np.abs(subject.roles[role].vectors_of(TEXTS[:9]) - vectors([f"{sent} {t}" for t in TEXTS[:9]])).max()
                < 1e-6
            )
        assert np.abs(subject.vectors - vectors([f"plain {t}" for t in TEXTS[:2]])).max() < 1e-6
        store.close()
    assert {body["truncate"] for _, body, _ in server.state.requests} == {"END"}
    assert model.about()["fields"] == FIELDS
    assert EncodingSettings.of(model).has_prompt("query")


def test_fields_are_in_the_fingerprint_and_so_is_what_the_server_makes_of_each_roles(server):
    every = [{}, {"query": {"a": 1}}, {"query": {"a": 2}}, {"document": {"a": 1}}, {"default": {"a": 1}}]
    prints = [opened(server, options={"fields": fields}).fingerprint() for fields in every]
    assert len(set(prints)) == len(every)
    server.state.before = lambda body: "other " * ("a" in body)
    again = [opened(server, options={"fields": fields}).fingerprint() for fields in every]
    assert [old == new for old, new in zip(prints, again, strict=True)] == [True, False, False, False, False]


def test_a_model_that_changes_in_one_role_alone_is_another(server):
    ours = opened(server, options={"fields": FIELDS})
    ours.fingerprint()
    ours.verify_fingerprint()
    server.state.before = lambda body: "other words altogether " * (body.get("input_type") == "query")
    with pytest.raises(EncoderError, match="answers with another model than at the start of the run"):
        ours.verify_fingerprint()


def test_fields_can_be_arguments_and_are_read_from_an_entry(server, tmp_path):
    bare = ModelConfig("served", adapter="openai", name=server.address, options={"model": "x"})
    config = apply_model_args(bare, {"fields": "{query: {input_type: query}, document: {input_type: passage}}"})
    assert load_model(config, device=Device()).request_fields_for_role("passage") == {"input_type": "passage"}
    entry = "served: {adapter: tei, name: 'http://a', options: {fields: {query: {prompt_name: query}}}}"
    (tmp_path / "models.yaml").write_text(entry)
    assert read_models(tmp_path / "models.yaml")["served"].options["fields"]["query"] == {"prompt_name": "query"}


WRONG_FIELDS = {
    "a field without a role": (
        "openai",
        {"input_type": "query"},
        "unknown role 'input_type'.*Available: corpus, default",
    ),
    "text for fields": (
        "tei",
        {"query": "input_type"},
        "query is 'input_type', but should map fields to values",
    ),
    "a list": ("openai", ["query"], "should map roles to fields"),
    "the texts": (
        "openai",
        {"query": {"input": "x"}},
        "query sets input, which is encheck's own. Remedy: leave it out",
    ),
    "the texts of TEI": ("tei", {"default": {"truncate": True}}, "default sets truncate, which is encheck's own"),
    "the dimension": ("openai", {"document": {"dimensions": 8}}, "Remedy: --model-arg truncate_dim=N"),
    "a date": ("openai", {"query": {"since": date(2024, 1, 1)}}, "query: 'since': .* is not JSON"),
    "no number": ("openai", {"query": {"weight": float("nan")}}, "'weight': nan is not JSON"),
    "a name that is a number": ("openai", {"query": {1: "a"}}, "query: 1: 'a' is not JSON"),
    "one role twice": ("openai", {"document": {}, "passage": {"a": 1}}, "names one role twice"),
}


@pytest.mark.parametrize(("adapter", "fields", "expected"), WRONG_FIELDS.values(), ids=WRONG_FIELDS.keys())
def test_fields_of_a_wrong_form_are_refused_before_any_request(server, adapter, fields, expected):
    with pytest.raises(ModelError, match=f"served: options.fields.*{expected}"):
        opened(server, adapter, options={"fields": fields})
    assert server.state.requests == []


def test_a_key_in_a_field_is_refused_without_repeating_it(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ModelError, match=r"fields.query.token holds the key in OPENAI_API_KEY: leave it out") as caught:
        opened(server, options={"fields": {"query": {"token": f"Bearer {KEY}"}}})
    assert KEY not in str(caught.value)


# one vector for every text


def of_a_request(texts):
    """A server that joins the texts of a request."""
    return np.repeat(vectors([" ".join(texts)]), len(texts), axis=0)


CONSTANT = {
    "one vector": lambda texts: np.ones((len(texts), 8)) + 1e-9 * np.arange(len(texts))[:, None],
    "one a request": of_a_request,
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("encode", CONSTANT.values(), ids=CONSTANT.keys())
def test_a_server_that_gives_different_texts_one_vector_is_refused_at_the_first_texts(server, adapter, encode):
    server.state.encode = encode
    ours = opened(server, adapter, options={"concurrency": 1})
    ours.fingerprint()
    server.state.requests.clear()
    expected = r"http://127\S+ returns the same vector for different texts, so it ignores its input: '.*Remedy: name"
    with pytest.raises(EncoderError, match=expected):
        ours.encode(TEXTS[:2])
    assert len(server.state.requests) == 1


def test_without_a_probe_beside_them_texts_with_one_vector_are_refused_too(server):
    server.state.encode = CONSTANT["one vector"]
    ours = opened(server, options={"batch": 1, "concurrency": 1})
    ours.fingerprint()
    with pytest.raises(EncoderError, match="the same vector for different texts"):
        ours.encode(TEXTS)
    probe, *others = (body["input"] for _, body, _ in server.state.requests)
    assert len([some for some in others if some != probe]) == 2  # a slow machine asks for the probe again


def test_a_server_that_gives_one_vector_in_one_role_is_refused_there(server):
    server.state.before = lambda body: (body.get("input_type") == "query") * "same "
    server.state.encode = lambda texts: np.stack([vectors([t[:5] if t[:5] == "same " else t])[0] for t in texts])
    ours = opened(server, options={"fields": FIELDS})
    assert len(ours.encode(TEXTS, role="document")) == len(TEXTS)
    with pytest.raises(EncoderError, match="the same vector for different texts"):
        ours.encode(TEXTS, role="query")


@pytest.mark.parametrize("batch", [1, 8])
def test_equal_texts_and_texts_of_the_same_words_may_have_one_vector(server, batch):
    same = ["the dog sings"] * 20 + ["sings dog the", "dog the sings", "the sings dog", "dog sings the"]
    found = opened(server, options={"batch": batch}).encode(same)
    assert np.abs(found - vectors(same)).max() < 1e-6


def test_words_that_a_model_does_not_know_may_have_one_vector_once_others_have_another(server):
    server.state.encode = lambda texts: vectors([t if "dog" in t else "unknown" for t in texts])
    ours = opened(server, options={"concurrency": 1})
    ours.fingerprint()
    assert len(ours.encode([*TEXTS[:8], *(f"word {i}" for i in range(30))])) == 38


# the fingerprint


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_another_model_under_the_same_address_has_another_fingerprint_and_noise_has_not(server, adapter):
    before = opened(server, adapter).fingerprint()
    noise = np.random.default_rng(0)
    server.state.encode = lambda texts: vectors(texts) + noise.normal(0, 1e-6, (len(texts), 32))
    assert opened(server, adapter).fingerprint() == before
    server.state.encode = lambda texts: fake.Random().encode(texts)[:, :32]
    assert opened(server, adapter).fingerprint() != before


def test_what_changes_vectors_is_in_the_fingerprint(server):
    every = [{}, {"prompt": "a "}, {"prompts": {"query": "q "}}, {"truncate_dim": 32}, {"options": {"model": "other"}}]
    assert len({opened(server, **fields).fingerprint() for fields in every}) == len(every)
    before = {similarity: opened(server, similarity=similarity).fingerprint() for similarity in ("cosine", "dot")}
    server.state.encode = lambda texts: 2 * vectors(texts)
    assert opened(server, similarity="cosine").fingerprint() == before["cosine"]
    assert opened(server, similarity="dot").fingerprint() != before["dot"]


# keys


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_the_key_is_sent_and_stands_nowhere_else(server, key, caplog):
    caplog.set_level(logging.DEBUG)
    ours = opened(server)
    ours.encode(TEXTS[:2])
    assert server.state.requests[-1][2] == f"Bearer {KEY}"
    seen = [repr(ours.client), str(vars(ours)), str(ours.about()), ours.fingerprint(), caplog.text, str(ours.config)]
    assert not any(KEY in text for text in seen)


def test_what_stands_around_a_key_is_left_out(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n")
    opened(server).encode(["dog"])
    assert server.state.requests[-1][2] == f"Bearer {KEY}"


@pytest.mark.parametrize("broken", [f"{KEY}\nX-Other: 1", f"{KEY}\u2026"])
def test_a_key_that_no_header_takes_is_refused_without_repeating_it(server, monkeypatch, broken):
    monkeypatch.setenv("OPENAI_API_KEY", broken)
    with pytest.raises(EncoderError, match="the key in OPENAI_API_KEY holds a character that is not allowed") as caught:
        opened(server).encode(["dog"])
    assert KEY not in str(caught.value)
    assert server.state.requests == []


def test_a_run_leaves_the_key_in_no_report_log_store_or_error(server, tmp_path):
    server.state.faults.extend([None, None, *[(401, {"error": f"the key {KEY} is not known"})] * 50])
    arguments = {"name": server.address, "model": "tiny", "concurrency": "1"}
    command = [sys.executable, "-m", "encheck", "run", "-m", "paraphrase", "--model=openai", "--store=kept.sqlite"]
    command += ["--report-dir=out", *(f"--model-arg={key}={value}" for key, value in arguments.items())]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=os.environ | {"OPENAI_API_KEY": KEY})
    assert done.returncode == 1, done.stderr
    assert {said for _, _, said in server.state.requests} == {f"Bearer {KEY}"}
    left = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert b"the key *** is not known" in left["results.json"]
    assert {"report.html", "kept.sqlite"} < set(left)
    assert not any(KEY.encode() in data for data in [*left.values(), done.stdout, done.stderr])


def test_a_server_that_sends_the_key_back_does_not_bring_it_into_an_error(server, key):
    server.state.faults.append((401, {"error": f"the key {KEY} is not known"}))
    with pytest.raises(EncoderError, match=r"the key \*\*\* is not known") as caught:
        opened(server).encode(["dog"])
    said = caught.value
    while said is not None:
        assert KEY not in f"{said!r} {said}"
        said = said.__cause__ or said.__context__


@pytest.mark.parametrize("before", ["x" * 280, " " * 1_985, "x" * 100 + " " * 1_890], ids=["300", "2,000", "both"])
def test_no_part_of_a_key_that_is_sent_back_where_the_answer_is_cut_stands_in_an_error(server, key, before):
    server.state.faults.append((401, f"{before}{KEY} {KEY} is not known"))
    with pytest.raises(EncoderError, match=r"HTTP 401: ") as caught:
        opened(server).encode(["dog"])
    assert KEY[:4] not in str(caught.value)


def test_a_redirect_does_not_carry_the_key_elsewhere(server, key):
    server.state.headers = {"Location": "http://127.0.0.1:9/elsewhere"}
    server.state.faults.append((302, {}))
    with pytest.raises(EncoderError, match="refuses the request: HTTP 302"):
        opened(server).encode(["dog"])


def test_without_a_key_none_is_sent(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    opened(server).encode(["dog"])
    assert server.state.requests[-1][2] is None


def test_another_variable_can_hold_the_key(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    opened(server, options={"key_env": "MY_KEY"}).encode(["dog"])
    assert server.state.requests[-1][2] == f"Bearer {KEY}"


ADDRESSES = {
    "no address": ("localhost:8080", "begins with http:// or https://"),
    "a file": ("file:///etc/passwd", "begins with http:// or https://"),
    "an open bracket": ("http://[::1", "begins with http:// or https:// and names a host"),
    "a port that is no number": ("http://localhost:http", "names a host: http://localhost:8080"),
    "a port alone": ("http://:8080", "names a host"),
    "a password": (f"https://user:{KEY}@example.org", "holds a user, a password or a query"),
    "a key as a query": (f"https://example.org/v1?key={KEY}", "holds a user, a password or a query"),
}


@pytest.mark.parametrize(("address", "expected"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_an_address_that_is_none_or_shows_a_key_is_refused_without_repeating_it(address, expected):
    with pytest.raises(ModelError, match=expected) as caught:
        Client(address, "OPENAI_API_KEY")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("given", [KEY, "sk_live_12345", ""])
def test_a_key_in_the_place_of_its_variable_is_refused_without_repeating_it(given):
    with pytest.raises(ModelError, match="key_env must be the name of an environment variable") as caught:
        Client("http://example.org", given)
    assert not given or given not in str(caught.value)


# settings


def test_the_model_must_be_named(server):
    with pytest.raises(ModelError, match="served: name the model for the server: --model-arg model=NAME"):
        load_model(ModelConfig("served", name=server.address, adapter="openai"), device=Device())


@pytest.mark.parametrize("options", [{"batch": 0}, {"concurrency": 0}])
def test_numbers_that_make_no_sense_are_refused(server, options):
    with pytest.raises(ModelError, match="batch and concurrency should be at least 1"):
        opened(server, options=options)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_out_of_its_range_is_refused(server, timeout):
    with pytest.raises(ModelError, match=r"timeout is .*, but should be seconds, more than 0 and at most 86400"):
        opened(server, options={"timeout": timeout})


def test_fewer_retries_than_none_are_refused(server):
    with pytest.raises(ModelError, match="retries is -1, but should be 0 or more"):
        opened(server, options={"retries": -1})


def test_a_server_whose_dimension_changes_between_two_calls_is_named(server):
    ours = opened(server, options={"concurrency": 1})
    ours.encode(TEXTS[:2])
    server.state.faults.append(other_width)
    with pytest.raises(EncoderError, match=r"http://127.* of 32 dimensions before, and now of 5: another model"):
        ours.encode(TEXTS[:2])


def test_a_server_of_something_else_is_said_to_be_none_of_tei(server):
    with pytest.raises(ModelError, match=r"/info: .*Is it text-embeddings-inference\?"):
        opened(SimpleNamespace(address="http://127.0.0.1:9"), "tei", options={"retries": 0}).fingerprint()


def test_an_entry_can_be_made_of_arguments(server):
    bare = ModelConfig("served", adapter="openai", name="http://example.org", options={"model": "x"})
    config = apply_model_args(bare, {"name": server.address, "model": "tiny", "batch": "3"})
    assert config.options == {"model": "tiny", "batch": 3}
    assert load_model(config, device=Device()).encode(TEXTS[:7]).shape == (7, 32)
    assert locate_weights(config) == (False, f"a server at {server.address}, with the key in OPENAI_API_KEY")

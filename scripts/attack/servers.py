"""Servers on loopback that answer as no embedding server should.

A model behind one gives the right vectors, or an error that names the server, in time, in bounded memory, and with
nothing in it that a terminal would obey. No vector of another model is kept.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attacks import Failed, add_cases
from reading import hidden_in

TEXTS = [f"the dog {i} sings" for i in range(20)]
KEY = "sk-attack-0123456789"
SECONDS = 2.0  # that a request may take: `timeout` of these models
MEGABYTES = 200  # that an answer of twenty vectors may cost
ESCAPES = "\x1b]0;x\x07\x1b[31mred \u202eevil"
Fault = Callable[[Any, Any], object]  # of the request's handler and the right answer


def vectors(texts: list[str]) -> Any:
    from encheck.encoders import fake

    return fake.BagOfWords().encode(texts)[:, :32]


def sent(handler: Any, head: bytes, pieces: Any = (), *, pause: float = 0.0) -> None:
    """Raw bytes to the client, until it goes or has had enough."""
    handler.close_connection = True
    end = time.monotonic() + 4 * SECONDS
    with suppress(OSError):
        handler.wfile.write(head)
        for piece in pieces:
            handler.wfile.write(piece)
            time.sleep(pause)
            if time.monotonic() > end:
                return


def http(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body) if length is None else length}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def said(body: bytes | str, *headers: str, **more: Any) -> Fault:
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    return lambda handler, right: sent(handler, http(data, *headers, **more))


def endless(head: bytes, piece: bytes, *, pause: float = 0.0) -> Fault:
    return lambda handler, right: sent(handler, head, itertools.repeat(piece), pause=pause)


def spoilt(change: Callable[[Any], Any]) -> Fault:
    """The right answer with a change, as JSON."""

    def answer(handler: Any, right: Any) -> None:
        sent(handler, http(json.dumps(change(right)).encode("utf-8", "surrogatepass")))

    return answer


def rows_of(answer: Any) -> list[Any]:
    """The vectors of an answer of either kind, to be changed."""
    return [row["embedding"] for row in answer["data"]] if isinstance(answer, dict) else answer


def each(change: Callable[[list[Any]], None]) -> Fault:
    def changed(answer: Any) -> Any:
        for row in rows_of(answer):
            change(row)
        return answer

    return spoilt(changed)


def first(change: Callable[[list[Any]], None]) -> Fault:
    def changed(answer: Any) -> Any:
        change(rows_of(answer)[0])
        return answer

    return spoilt(changed)


def fewer(answer: Any) -> Any:
    return answer | {"data": answer["data"][1:]} if isinstance(answer, dict) else answer[1:]


def more(answer: Any) -> Any:
    return answer | {"data": [*answer["data"], answer["data"][0]]} if isinstance(answer, dict) else [*answer, answer[0]]


def indices(*found: Any) -> Fault:
    def changed(answer: Any) -> Any:
        for row, index in zip(answer["data"] if isinstance(answer, dict) else (), itertools.cycle(found), strict=False):
            row["index"] = index
        return answer if isinstance(answer, dict) else [dict.fromkeys("ab", row) for row in answer]

    return spoilt(changed)


def alike(answer: Any) -> Any:
    for row in rows_of(answer):
        row[:] = rows_of(answer)[0]
    return answer


def reset(handler: Any, right: Any) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def bomb(handler: Any, right: Any) -> None:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)  # in pieces, for the server is in this process
    packed = b"".join([*(packer.compress(b" " * 1_000_000) for _ in range(300)), packer.flush()])
    sent(handler, http(packed, "Content-Encoding: gzip", "Content-Type: application/json"))


def silent(handler: Any, right: Any) -> None:
    time.sleep(2 * SECONDS)
    handler.close_connection = True


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
FAULTS: dict[str, Fault] = {
    "an empty body": said(""),
    "no JSON": said("<html>hello</html>", "Content-Type: text/html"),
    "another type": said(b"\x89PNG\r\n\x1a\n", "Content-Type: image/png"),
    "a drip without an end": endless(OK + b"\r\n", b" ", pause=0.05),
    "a drip in the header": endless(OK, b"X-A: b\r\n", pause=0.05),
    "a drip in the first line": endless(b"HTTP/1.1 200 ", b"O", pause=0.05),
    "a body without an end": endless(OK + b"\r\n[", b"0," * 500_000),
    "blanks without an end": endless(OK + b"\r\n", b" " * 1_000_000),
    "chunks without an end": endless(CHUNKED, b"f4240\r\n" + b"1" * 1_000_000 + b"\r\n"),
    "a header without an end": endless(OK + b"X-A: ", b"b" * 100_000),
    "headers without an end": endless(OK, b"X-A: b\r\n" * 1_000),
    "a first line without an end": endless(b"HTTP/1.1 200 ", b"O" * 100_000),
    "a body of an error without an end": endless(b"HTTP/1.1 400 No\r\n\r\n", b"x" * 1_000_000),
    "a gzip bomb": bomb,
    "gzip that is none": said(b"no gzip", "Content-Encoding: gzip"),
    "a length that is too long": said("[", length=10**9),
    "a length that is too short": said("[1, 2, 3]", length=2),
    "a length below nothing": said("[]", length=-5),
    "a length that is no number": lambda handler, right: sent(handler, OK + b"Content-Length: many\r\n\r\n[]"),
    "no first line": lambda handler, right: sent(handler, b"hello\r\n\r\n"),
    "no status": lambda handler, right: sent(handler, b"HTTP/1.1 abc\r\n\r\n"),
    "a wrong chunk": lambda handler, right: sent(handler, CHUNKED + b"zz\r\nhello\r\n"),
    "a chunk of great size": lambda handler, right: sent(handler, CHUNKED + b"ffffffffffffffff\r\n[]\r\n"),
    "a reset": reset,
    "nothing at all": lambda handler, right: setattr(handler, "close_connection", True),
    "silence": silent,
    "status 100 for ever": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "status 204": said("", status="204 No Content"),
    "status 999": said("{}", status="999 Odd"),
    "a redirect to itself": said("", "Location: /v1/embeddings", status="302 Found"),
    "a redirect elsewhere": said("", "Location: http://192.0.2.1/v1", status="307 Temporary Redirect"),
    "a redirect to a file": said("", "Location: file:///etc/passwd", status="302 Found"),
    "a Retry-After that is long": said("", "Retry-After: 99999", status="429 Too Many Requests"),
    "a Retry-After that is no number": said("", "Retry-After: nan", status="503 No"),
    "a Retry-After in a far year": said("", "Retry-After: Fri, 31 Dec 99999 23:59:59 GMT", status="503 No"),
    "escapes in an error": said(json.dumps({"error": ESCAPES}, ensure_ascii=False), status="400 Bad"),
    "escapes in an error that passes": said(ESCAPES, status="503 No"),
    "escapes in the reason": said("", status="400 \x1b[31mred"),
    "escapes in a good answer": said(json.dumps({"error": {"message": ESCAPES}})),
    "half a surrogate in an error": said(json.dumps({"error": "\ud800"}), status="422 No"),
    "a header with escapes": said("[]", "X-A: \x1b[31m"),
    "the key in an error": said(json.dumps({"error": f"key {KEY} is wrong"}), status="401 No"),
    "brackets in brackets": said("[" * 200_000),
    "mappings in mappings": said('{"a":' * 200_000),
    "a number of many digits": said('{"data": [' + "9" * 100_000 + "]}"),
    "UTF-16": said('{"data": []}'.encode("utf-16")),
    "no UTF-8": said(b'{"data": "\xff\xfe"}'),
    "null": said("null"),
    "a number": said("7"),
    "a text": said('"vectors"'),
    "one key twice": said('{"data": [], "data": [1]}'),
    "NaN": first(lambda row: row.__setitem__(0, float("nan"))),
    "infinity": first(lambda row: row.__setitem__(0, float("inf"))),
    "a number beyond fp32": first(lambda row: row.__setitem__(0, 1e300)),
    "text for a number": first(lambda row: row.__setitem__(0, "1.0; DROP")),
    "null for a number": first(lambda row: row.__setitem__(0, None)),
    "a list for a number": first(lambda row: row.__setitem__(0, [1.0])),
    "a vector that is shorter": first(lambda row: row.pop()),
    "vectors without a number": each(lambda row: row.clear()),
    "vectors of zeros": each(lambda row: row.__setitem__(slice(None), [0.0] * len(row))),
    "a vector of great length": first(lambda row: row.extend([0.0] * 2_000_000)),
    "one vector for all texts": each(lambda row: row.__setitem__(slice(None), [1.0] * len(row))),
    "one vector for the texts of a request": spoilt(alike),
    "a 400 that says nothing": said("", status="400 Bad Request"),
    "a 400 for another reason, with the texts": said(
        json.dumps({"detail": [{"msg": "Field required", "input": {"input": ["too long"] * 20}}]}), status="400 No"
    ),
    "a 422 that always finds texts too long": said(json.dumps({"error": "the input is too long"}), status="422 No"),
    "a vector less": spoilt(fewer),
    "a vector more": spoilt(more),
    "one index twice": indices(0),
    "indices below nothing": indices(-1, -2, -3),
    "indices that are text": indices("0", "1", "x"),
    "an index of many digits": indices(10**400),
    "true for an index": indices(True, False),
}  # fmt: skip


def faulty(adapter: str, fault: Fault, *, after: int, folder: Path) -> None:
    """The model behind a server that answers rightly `after` times."""
    from embedding_server import Handler, serving

    from encheck.errors import EncheckError

    class Faulty(Handler):
        def answer(self, made: Any, **named: Any) -> None:
            state = self.server.state
            state.answered = getattr(state, "answered", 0) + 1
            if state.answered > after and self.command == "POST":
                fault(self, made)
            else:
                super().answer(made, **named)

    with serving(vectors, handler=Faulty) as (address, _):
        before = megabytes()
        try:
            found = asked(adapter, address, folder)
        except EncheckError as error:
            refuse_message(error, address)
        else:
            refuse_wrong(found)
        if (more := megabytes() - before) > MEGABYTES:
            raise Failed(f"it took {more} MB")


def asked(adapter: str, address: str, folder: Path) -> Any:
    """What a run has from the server, and what it keeps of it."""
    from encheck.encoders.load import load_model
    from encheck.encoders.model_config import Device, ModelConfig
    from encheck.items.variants import VariantMaker
    from encheck.running.model_under_test import ModelUnderTest
    from encheck.running.scoring_session import ScoringSession
    from encheck.store import Store
    from encheck.system.terminal import Progress

    os.environ["OPENAI_API_KEY"] = KEY
    options = {"batch": 8, "timeout": SECONDS, "retries": 1, "concurrency": 2} | (
        {"model": "tiny"} if adapter == "openai" else {}
    )
    config = ModelConfig("served", name=address, adapter=adapter, options=options)
    store = Store(folder / "store.sqlite")
    try:
        model = load_model(config, device=Device())
        model.client.__dict__["sleep"] = lambda seconds: None  # its waits are tested elsewhere
        subject = ModelUnderTest("served", config, model)
        fingerprint = subject.fingerprint
        bench = ScoringSession({"served": subject}, {}, store, maker=VariantMaker())
        bench.encode({"served": [(text, text) for text in TEXTS]}, progress=Progress(quiet=True))
        refuse_kept(store, fingerprint)
        if subject.error:
            raise subject.error
        return subject.state.vectors[[subject.state.rows[text] for text in TEXTS]]
    finally:
        store.close()


def refuse_kept(store: Any, fingerprint: str) -> None:
    """Failed where the store has another vector under this model's fingerprint than the model's own."""
    import numpy as np

    from encheck.store import text_key

    found, there = store.get("vector", fingerprint, [text_key(text) for text in TEXTS])
    right = vectors(TEXTS)
    if there.any() and (found.shape[1] != right.shape[1] or np.abs(found - right)[there].max() > 1e-5):
        raise Failed("the store keeps a vector that the model does not have")


def refuse_wrong(found: Any) -> None:
    import numpy as np

    right = vectors(TEXTS)
    if found.shape != right.shape or np.abs(found - right).max() > 1e-5:
        raise Failed("other vectors than the model's were taken")


def refuse_message(error: Exception, address: str) -> None:
    """The message names the server, holds no key, and is shown without what a terminal obeys."""
    from encheck.reporting.text import LINES, make_visible

    text = str(error)
    if address not in text:
        raise Failed(f"the message does not name the server: {text[:300]}")
    if KEY in text:
        raise Failed("the message holds the key")
    if hidden := hidden_in(make_visible(text, keep=LINES)):
        raise Failed(f"{hidden} is in the message as it is shown")


def megabytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024


def changing(adapter: str, after: int, folder: Path) -> None:
    """The server has another model after some requests."""
    from embedding_server import serving

    from encheck.encoders import fake
    from encheck.errors import EncheckError

    calls = itertools.count()

    def encode(texts: list[str]) -> Any:
        return vectors(texts) if next(calls) < after else fake.Random().encode(texts)[:, :32]

    with serving(encode) as (address, _), suppress(EncheckError):
        refuse_wrong(asked(adapter, address, folder))


def cases() -> Iterator[Callable[[Path], None]]:
    """Each fault from the first answer on and in the middle of a run, behind one API or the other."""
    for i, fault in enumerate(FAULTS.values()):
        for after in (0, 3):
            adapter = ("openai", "tei")[(i + after) % 2]
            yield lambda folder, a=adapter, f=fault, n=after: faulty(a, f, after=n, folder=folder)
    for adapter in ("openai", "tei"):
        yield from (partial(changing, adapter, after) for after in (1, 2, 3, 5))


def ready() -> None:
    vectors(TEXTS)
    import encheck.running.scoring_session  # noqa: F401


add_cases("servers", "answers", list(cases()), ready=ready, seconds=30.0)

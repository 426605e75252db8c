"""An embedding server on loopback for tests: OpenAI's API and text-embeddings-inference's, with faults on demand.

It serves any encoder. `faults` holds what the next requests get instead of an answer: a status, `cut` (the connection
breaks in the middle), `slow`, `drip` (a blank now and then, and no end), `deep` (brackets in brackets), `flood` (digits
and no end), `chunks` (the same, chunked), `promise` (a Content-Length of a terabyte), `bomb` (zeros, packed by gzip),
`continue` (headers and no end), or a function that spoils the answer. `sent` counts the bytes of a flood. `before` gets
the JSON of each request: it returns what the model puts before its texts, or the status and the JSON of a refusal.
"""

import gzip
import json
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

CHUNKED = [("Transfer-Encoding", "chunked")]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        state = self.server.state
        self.answer({"model_id": "owner/tiny", "model_sha": state.sha, "max_client_batch_size": state.largest})

    def do_POST(self):
        state = self.server.state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state.requests.append((self.path, body, self.headers.get("Authorization")))
        fault = state.faults.popleft() if state.faults else None
        if isinstance(fault, tuple):
            return self.answer(fault[1], status=fault[0], headers=state.headers)
        if fault in WHOLE_ANSWERS:
            return WHOLE_ANSWERS[fault](self)
        if fault == "slow":
            time.sleep(state.delay)
        texts = body["input"] if "input" in body else body["inputs"]
        before = state.before(body)
        if isinstance(before, tuple):
            return self.answer(before[1], status=before[0])
        if len(texts) > state.largest:
            return self.answer({"error": f"batch size {len(texts)} > maximum allowed batch size"}, status=413)
        if not body.get("truncate") and any(len(t) > state.longest for t in texts):
            return self.answer({"error": "an input is too long"}, status=400)
        vectors = state.encode([before + t[: state.longest] for t in texts]).tolist()
        rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        made = {"object": "list", "data": rows[::-1]} if "input" in body else vectors  # indices out of order
        return self.answer(fault(made) if callable(fault) else made)

    def hang_up(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"data": [')
        self.close_connection = True

    def flood(self, head=(), piece=b"0.1234," * 10_000, frame=None):
        if head is not None:
            self.send_response(200)
            for name, value in head:
                self.send_header(name, value)
            self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(frame % (len(piece), piece) if frame else piece)
                self.server.state.sent += len(piece)

    def drip(self):
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b" ")
                time.sleep(0.05)

    def answer(self, said, *, status=200, headers=None):
        self.answer_bytes(json.dumps(said).encode(), status=status, headers=headers)

    def answer_bytes(self, data, *, status=200, headers=None):
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(data))} | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # who asked has enough
            self.wfile.write(data)

    def log_message(self, *args):
        pass


WHOLE_ANSWERS = {
    "cut": Handler.hang_up,
    "drip": Handler.drip,
    "deep": lambda to: to.answer_bytes(b"[" * 100_000),
    "flood": Handler.flood,
    "chunks": lambda to: to.flood(head=CHUNKED, frame=b"%x\r\n%b\r\n"),
    "continue": lambda to: to.flood(head=None, piece=b"HTTP/1.1 100 Continue\r\n\r\n"),
    "promise": lambda to: to.answer_bytes(b"[", headers={"Content-Length": str(10**12)}),
    "bomb": lambda to: to.answer_bytes(gzip.compress(b"0" * 10**7), headers={"Content-Encoding": "gzip"}),
}


@contextmanager
def serving(encode, *, largest=8, longest=400, tls=None, handler=Handler):
    """The server's address and its state, while it runs; over https where `tls` is an SSLContext.

    `handler` is a kind of `Handler`, where the server should do worse than `faults` can say.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    state = SimpleNamespace(encode=encode, largest=largest, longest=longest, faults=deque(), requests=[])
    state.delay, state.headers, state.sha, state.sent, state.before = 1.0, {}, "abc", 0, lambda body: ""
    server.state = state
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}", state
    finally:
        server.shutdown()
        server.server_close()

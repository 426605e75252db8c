"""A small HTTP client for embedding servers, with retries, backoff, Retry-After and timeouts.

No message contains the key. The client limits the size of a response, does not follow redirects, and can abort a
request.
"""

from __future__ import annotations

import email.utils
import json
import logging
import os
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection, IncompleteRead
from typing import Any

from encheck.errors import EncheckError, EncoderError, ModelError

MIN_RESPONSE_LIMIT = 1 << 20  # bytes allowed for any answer: names, counts, information about the server
MAX_DIMENSION = 16_384  # of the first answer: no embedding model known here has more than 12,288
BYTES_A_NUMBER = 48  # 24 for the longest fp64 in JSON, and as many for indenting it on a line of its own
BYTES_A_TEXT = 1_024  # for the fields around a vector
BYTES_A_CHARACTER = 6  # of a returned text, escaped
PIECE = 1 << 16
MAX_WAIT_SECONDS = 60.0
MAX_TIMEOUT_SECONDS = 86_400.0
UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
UNSIGNED = ("self-signed", "self signed", "issuer certificate")  # of a certificate with an unknown signer
RETRIED_STATUSES = {408, 409, 425, 429, 500, 502, 503, 504}
log = logging.getLogger("encheck")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ECHOES = ("input", "inputs", "text", "texts", "body")  # keys under which servers return their input
ECHO = re.compile(rf'"(?:{"|".join(ECHOES)})"\s*:')
MEASURED = re.compile(
    r"token|\btexts?\b|\binputs?\b|input[_ ]length|sequence|prompt|context|batch|length|character|array|\bitems?\b|"
    r"\blist\b|payload|request body|document|string|\bwords?\b",
    re.IGNORECASE,
)
EXCESS = re.compile(
    r"too[ _-](?:long|large|big|many)|exceed|(?:longer|larger|greater|more) than|(?:less|fewer) than \d+ |at[ _]most|"
    r"maximum|\bmax\b|max_|maxlength|\blimit|up to|above_max|reduce|shorten|\d\s*>\s*\w",
    re.IGNORECASE,
)
OTHER_LIMIT = re.compile(r"dimension|rate[ _-]?limit|quota", re.IGNORECASE)


def max_response_bytes(texts: list[str], dimension: int | None) -> int:
    """Return the maximum size of a response to these texts, in bytes: about three times what servers send.

    >>> max_response_bytes(["a text"], 384) < 1.1 * MIN_RESPONSE_LIMIT
    True
    """
    numbers = len(texts) * (dimension or MAX_DIMENSION)
    text_bytes = sum(map(len, texts)) * BYTES_A_CHARACTER + len(texts) * BYTES_A_TEXT
    return MIN_RESPONSE_LIMIT + numbers * BYTES_A_NUMBER + text_bytes


class RefuseRedirects(urllib.request.HTTPRedirectHandler):
    """Treats a redirect as an error, because a key must go only to its own host."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        """Return None, so that the redirect becomes an error."""


class AbortableRequest:
    """The connection of one request. Any thread can call `abort` to end it."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._ended = False

    def open(self, request: urllib.request.Request, *, timeout: float) -> Any:
        """Send the request. Return the response when its headers have arrived."""
        handlers: list[Any] = [RefuseRedirects()]
        for handler, scheme, kind in (
            (urllib.request.HTTPHandler(), "http", HTTPConnection),
            (urllib.request.HTTPSHandler(), "https", HTTPSConnection),
        ):
            opens = partial(handler.do_open, partial(self._connection, kind))
            setattr(handler, f"{scheme}_open", opens)
            handlers.append(handler)
        return urllib.request.build_opener(*handlers).open(request, timeout=timeout)

    def _connection(self, kind: type[HTTPConnection], host: str, **how: Any) -> HTTPConnection:
        """Return a connection that stores its socket in this object."""
        connection = kind(host, **how)
        connect = connection.connect

        def connect_noted() -> None:
            connect()
            self._sockets.append(connection.sock)
            if self._ended:
                self.abort()

        connection.connect = connect_noted  # type: ignore[method-assign]
        return connection

    def abort(self) -> None:
        """Close the connection. Any read from it ends at once."""
        self._ended = True
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def read_response(answer: Any, max_bytes: int, place: str) -> Iterator[bytes]:
    """Yield the bytes of the response as they arrive.

    Reading all at once would restart the timeout at each byte. Raise EncoderError if the bytes are compressed, because
    encheck did not ask for that. Raise it also once they exceed `max_bytes`.
    """
    if (packed := answer.headers.get("Content-Encoding", "identity").strip().lower()) not in ("identity", ""):
        raise EncoderError(
            f"{place} compresses its answers with {packed[:40]!r}, which encheck did not request and does not "
            "decompress. Remedy: configure the server, or the proxy in front of it, to answer without Content-Encoding"
        )
    come, announced = 0, answer.length or 0
    while max(come, announced) <= max_bytes and (piece := answer.read1(PIECE)):
        come += len(piece)
        yield piece
    if max(come, announced) > max_bytes:
        raise EncoderError(
            f"{place} answers with more than {max_bytes / 1e6:.1f} MB, the most that this request can need; reading "
            "stopped there. Remedy: check that the address is that of an embedding server"
        )
    if answer.length:
        raise IncompleteRead(b"", answer.length)


class RequestRefused(EncheckError):  # noqa: N818 - a server's answer, turned into an EncoderError by the caller
    """The server refused a request.

    Messages show 300 characters of the server's message. `retry_after_seconds` is the delay in the `Retry-After` header
    (a number or a date), or None if it states none.

    >>> dates = ("3", "Thu, 01 Jan 1970 00:00:00 GMT", "soon", None)
    >>> [RequestRefused(503, "", after).retry_after_seconds for after in dates]
    [3.0, 0.0, None, None]
    """

    def __init__(self, status: int, message: str, retry_after: str | None = None) -> None:
        super().__init__(f"HTTP {status}: {message[:300]}")
        self.status, self.message = status, message
        self.retry_after_seconds: float | None = None
        with suppress(ValueError):
            self.retry_after_seconds = max(0.0, float(retry_after or ""))
            return
        with suppress(ValueError):
            date = email.utils.parsedate_to_datetime(retry_after or "")
            self.retry_after_seconds = max(0.0, date.timestamp() - time.time())

    @property
    def is_about_size(self) -> bool:
        """Whether the server might accept fewer or shorter texts.

        That is so for status 413, and for 400 and 422 with a message about size.
        """
        return self.status == 413 or (self.status in (400, 422) and is_size_complaint(self.message))


def is_size_complaint(message: str) -> bool:
    """Return whether a server's message says that texts are too long or too many.

    Texts that the message quotes do not count.

    >>> is_size_complaint("This model's maximum context length is 512 tokens, however you requested 600")
    True
    >>> is_size_complaint('{"detail": [{"msg": "Field required", "input": "texts that are too long"}]}')
    False
    """
    try:
        pruned = json.loads(message, object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k not in ECHOES})
        own = json.dumps(pruned, ensure_ascii=False)
    except (ValueError, RecursionError):  # not JSON, or cut off
        own = ECHO.split(message)[0]
    own = own.replace("Input should be", "")  # of any field, in pydantic's messages
    return bool(MEASURED.search(own) and EXCESS.search(own) and not OTHER_LIMIT.search(own))


@dataclass(frozen=True)
class Client:
    """Sends requests to one server.

    The client reads the key from the environment variable `key_env` at each request and stores it nowhere. `timeout` is
    the maximum duration of a request, in seconds.
    """

    url: str
    key_env: str
    timeout: float = 60.0
    retries: int = 6
    sleep: Callable[[float], object] | None = field(default=None, repr=False)
    _untold: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)
    _here: threading.local = field(default_factory=threading.local, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            parts = urllib.parse.urlsplit(self.url)
            _ = parts.port
        except ValueError:  # a bracket is open, or the port is no number
            parts = None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(
                "a server's address begins with http:// or https:// and names a host: http://localhost:8080, "
                "http://[::1]:8080"
            )
        if parts.username or parts.password or parts.query:
            raise ModelError(
                f"the address of {parts.hostname} holds a user, a password or a query, which would expose keys: "
                f"remove it and put the key into the environment variable {self.key_env}"
            )
        if not VARIABLE.fullmatch(self.key_env) or self.key_env.startswith("sk_"):
            raise ModelError("key_env must be the name of an environment variable, not the key itself")
        if not 0 < self.timeout <= MAX_TIMEOUT_SECONDS:
            raise ModelError(
                f"timeout is {self.timeout}, but should be seconds, more than 0 and at most {MAX_TIMEOUT_SECONDS:.0f}"
            )
        if self.retries < 0:
            raise ModelError(f"retries is {self.retries}, but should be 0 or more")

    def request_json(self, path: str, body: object = None, *, max_bytes: int = MIN_RESPONSE_LIMIT) -> Any:
        """Return the JSON at this path, or the server's response to `body`.

        Raise EncoderError if the response is longer than `max_bytes`.
        """
        data = None if body is None else json.dumps(body).encode("utf-8")
        problem, attempt = "", 0
        for attempt in range(self.retries + 1):
            try:
                return self._send_once(path, data, max_bytes)
            except RequestRefused as refused:
                if refused.status not in RETRIED_STATUSES:
                    raise
                problem, after = str(refused), refused.retry_after_seconds
            except (urllib.error.URLError, HTTPException, OSError, ValueError, RecursionError) as error:
                problem, after = self.hide_key(f"{type(error).__name__}: {error}"), None
                if UNTRUSTED in problem:  # a retry would get the same certificate
                    break
            if attempt < self.retries:
                seconds = min(MAX_WAIT_SECONDS, 0.5 * 2**attempt if after is None else after)
                if self._untold.acquire(blocking=False):  # only the first wait is reported: a busy server causes many
                    template = "%s%s: %s; retrying in %g s, later retries are not reported"
                    log.warning(template, self.url, self.proxy_note, problem, seconds)
                if self.sleep is not None:
                    self.sleep(seconds)
                else:
                    self._wait_for(Future(), seconds)
        tries = "1 attempt" if attempt == 0 else f"{attempt + 1} attempts"
        there = "the server is running"
        if self.proxy_note:
            there = "the proxy is running and reaches the server, or put the server's host into no_proxy"
        remedy = f"check that {there} and {self.key_env} is set; or --model-arg retries=N, timeout=SECONDS"
        if UNTRUSTED in problem and any(signed in problem for signed in UNSIGNED):
            remedy = "if you trust the server's certificate, set SSL_CERT_FILE to a file with its issuer's certificate"
        elif UNTRUSTED in problem:
            remedy = "check that the address matches the server's certificate, and that the certificate is still valid"
        raise EncoderError(
            f"{self.url}{path}{self.proxy_note} did not answer in {tries}; the last error: {problem}. Remedy: {remedy}"
        )

    def stop_requests_when(self, stop: Future[None]) -> None:
        """Make all later requests of this thread raise EncoderError as soon as `stop` is done."""
        self._here.stop = stop

    def _wait_for(self, awaited: Future[Any], seconds: float) -> bool:
        """Return whether `awaited` is done within these seconds. Raise EncoderError if this thread should stop."""
        stop: Future[None] = getattr(self._here, "stop", None) or Future()
        wait({awaited, stop}, seconds, FIRST_COMPLETED)
        if stop.done():
            raise EncoderError(f"{self.url} gets no more requests: the run was stopped")
        return awaited.done()

    @property
    def proxy_note(self) -> str:
        """The proxy for requests and where it is set, without its password, for messages; "" if there is no proxy."""
        parts = urllib.parse.urlsplit(self.url)
        proxy = urllib.request.getproxies().get(parts.scheme)
        if not proxy or urllib.request.proxy_bypass(parts.netloc):
            return ""
        host = proxy.rpartition("@")[2].rpartition("//")[2].partition("/")[0]
        named = [name for name in sorted(os.environ, reverse=True) if name.lower() == f"{parts.scheme}_proxy"]
        return f" through the proxy {host} ({named[0] if named else 'set in the system'})"

    def _send_once(self, path: str, body: bytes | None, max_bytes: int) -> Any:
        """Send one request in a thread that can be abandoned, so that no run waits for a server forever."""
        answer: Future[bytes] = Future()
        wire = AbortableRequest()

        def request() -> bytes:
            headers = {"Content-Type": "application/json", "User-Agent": "encheck"}
            signed = urllib.request.Request(f"{self.url}{path}", body, headers)  # noqa: S310 - http and https alone
            self._add_key(signed)
            try:
                with wire.open(signed, timeout=self.timeout) as response:
                    return b"".join(read_response(response, max_bytes, f"{self.url}{path}{self.proxy_note}"))
            except urllib.error.HTTPError as error:
                with error:
                    raise RequestRefused(
                        error.code, self._message_start(error), error.headers.get("Retry-After")
                    ) from None

        def fulfil() -> None:
            try:
                answer.set_result(request())
            except BaseException as error:  # raised again in the waiting thread
                answer.set_exception(error)

        threading.Thread(target=fulfil, daemon=True, name=f"encheck asks {self.url}").start()
        try:
            if not self._wait_for(answer, self.timeout):
                raise TimeoutError(f"no complete answer in {self.timeout:g} s")
        finally:
            wire.abort()
        return json.loads(answer.result())

    def _add_key(self, request: urllib.request.Request) -> None:
        """Put the key into the request.

        This is a separate function, so that no frame in an error's traceback has a variable with the key.
        """
        key = os.environ.get(self.key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise EncoderError(
                f"the key in {self.key_env} holds a character that is not allowed in a header, such as a line break. "
                f"Remedy: set "
                "it to the key alone"
            )
        if key:
            request.add_unredirected_header("Authorization", f"Bearer {key}")

    def hide_key(self, text: str) -> str:
        """Return the text without the key, because some servers repeat it."""
        key = os.environ.get(self.key_env, "").strip()
        return text.replace(key, "***") if key else text

    def _message_start(self, error: urllib.error.HTTPError) -> str:
        """Return the first 2,000 characters of the server's message.

        The key is hidden before the cut. Otherwise a part of it might remain.
        """
        room = len(os.environ.get(self.key_env, "").strip())
        try:
            content = error.read(2_000 + room)
        except (OSError, HTTPException):
            return self.hide_key(str(error.reason))
        text = self.hide_key(content.decode("utf-8", "replace"))
        if len(content) == 2_000 + room:  # the end may be half a key
            text = text[: len(text) - room]
        return " ".join(text.split())

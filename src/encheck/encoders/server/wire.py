"""One HTTP request: no more bytes than the answer can need, no redirects, and it can be aborted."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any

from encheck.errors import EncoderError

FLOOR = 1 << 20  # bytes that any answer may have: names, counts, what a server says of itself
MAX_DIMENSION = 16_384  # of the first answer: no embedding model known here has more than 12,288
BYTES_A_NUMBER = 48  # 24 for the longest fp64 in JSON, and as many for indenting it on a line of its own
BYTES_A_TEXT = 1_024  # for what stands around a vector
BYTES_A_CHARACTER = 6  # of a text that comes back, escaped
PIECE = 1 << 16


def room(texts: list[str], dimension: int | None) -> int:
    """The bytes that the answer to these texts can need: about three times what servers send.

    >>> room(["a text"], 384) < 1.1 * FLOOR
    True
    """
    numbers = len(texts) * (dimension or MAX_DIMENSION)
    said = sum(map(len, texts)) * BYTES_A_CHARACTER + len(texts) * BYTES_A_TEXT
    return FLOOR + numbers * BYTES_A_NUMBER + said


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key elsewhere."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        """Follow none."""
        return


class Wire:
    """The connection of one request; `end` breaks it off, from any thread."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._ended = False

    def open(self, request: urllib.request.Request, *, timeout: float) -> Any:
        """Send the request; what comes back, once its headers are there."""
        return urllib.request.build_opener(NoRedirect, _Http(self), _Https(self)).open(request, timeout=timeout)

    def connection(self, kind: type[HTTPConnection]) -> Callable[..., HTTPConnection]:
        """Makes a connection whose socket is noted here when it is there."""

        def made(host: str, **how: Any) -> HTTPConnection:
            found = kind(host, **how)
            connect = found.connect

            def noted() -> None:
                connect()
                self._sockets.append(found.sock)
                if self._ended:
                    self.end()

            found.connect = noted  # type: ignore[method-assign]
            return found

        return made

    def end(self) -> None:
        """Break the connection off: whatever is read from it ends at once."""
        self._ended = True
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(self._wire.connection(HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(self._wire.connection(HTTPSConnection), req)


def pieces(answer: Any, most: int, place: str) -> Iterator[bytes]:
    """The answer's bytes as they come; a read of all would wait for each byte anew.

    EncoderError if they are packed, which was not asked for, or more than `most`: reading stops there.
    """
    if (packed := answer.headers.get("Content-Encoding", "identity").strip().lower()) not in ("identity", ""):
        raise EncoderError(
            f"{place} compresses its answers with {packed[:40]!r}, which was not asked for and is not decompressed. "
            f"Remedy: have the "
            "server, or the proxy before it, answer without Content-Encoding"
        )
    come, told = 0, answer.length or 0
    while max(come, told) <= most and (piece := answer.read1(PIECE)):
        come += len(piece)
        yield piece
    if max(come, told) > most:
        raise EncoderError(
            f"{place} answers with more than {most / 1e6:.1f} MB, the most that this request can need; reading stopped "
            "there. Remedy: see that the address is that of an embedding server"
        )
    if answer.length:
        raise IncompleteRead(b"", answer.length)

"""Which files an ONNX model refers to: the part of protobuf's wire format that this takes, read strictly.

A tensor can keep its numbers in a file beside the model (`TensorProto.external_data`). Tensors stand in the graph, in
nodes, in the graphs that nodes hold, in functions and in training information; fields come in any order. Fields that
lead to no tensor are skipped unread. https://protobuf.dev/programming-guides/encoding/, onnx.proto of ONNX 1.19.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from encheck.encoders.files import CUT_OFF
from encheck.errors import ModelError

HOLDS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
KEY, VALUE = 1, 2  # of an entry
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
WIDTH = {FIXED64: 8, FIXED32: 4}
MAX_DEPTH = 100  # as protobuf's own readers
MAX_FIELDS = 2_000_000  # a graph of 10,000 nodes has about 200,000
Span = tuple[int, int]


class DamagedError(ValueError):
    """The bytes are no protobuf."""


def locations(file: Path) -> list[str]:
    """The names of the files that tensors of this model are kept in, sorted; ModelError if it is no ONNX model."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return sorted(set(_locations(data)))
        except DamagedError as error:
            raise ModelError(f"{file} is not an ONNX model ({error}): {CUT_OFF}") from error


def _locations(data: mmap.mmap) -> Iterator[str]:
    left = MAX_FIELDS
    stack = [("model", (0, len(data)), 0)]
    while stack:
        kind, span, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise DamagedError(f"messages lie {MAX_DEPTH} deep in each other")
        if kind == "entry":
            yield from _location(data, span)
            continue
        for number, inner in _fields(data, span):
            left -= 1
            if left < 0:
                raise DamagedError(f"it has more than {MAX_FIELDS:,} fields")
            if inner is not None and (held := HOLDS[kind].get(number)):
                stack.append((held, inner, depth + 1))


def _location(data: mmap.mmap, span: Span) -> Iterator[str]:
    """The value of an entry whose key is `location`; the last one counts, as for all readers of protobuf."""
    entry = {number: data[slice(*inner)] for number, inner in _fields(data, span) if inner is not None}
    if entry.get(KEY) == b"location":
        yield os.fsdecode(entry.get(VALUE, b""))


def _fields(data: mmap.mmap, span: Span) -> Iterator[tuple[int, Span | None]]:
    """Number of each field of a message, and where its bytes lie where it has some."""
    at, end = span
    while at < end:
        tag, at = _number(data, at, end)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise DamagedError(f"there is no field {number}")
        if wire == VARINT:
            _, at = _number(data, at, end)
            yield number, None
        elif wire == BYTES:
            size, at = _number(data, at, end)
            yield number, (at, _within(at + size, end))
            at += size
        elif wire in WIDTH:
            at = _within(at + WIDTH[wire], end)
            yield number, None
        else:
            raise DamagedError(f"wire type {wire} of field {number} is not part of ONNX")


def _number(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """A number of base 128, the lowest digits first, and where the next byte lies."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[_within(at + 1, end) - 1]
        value, at = value | (byte & 127) << shift, at + 1
        if byte < 128:
            return value, at
    raise DamagedError("a number has more than ten bytes")


def _within(at: int, end: int) -> int:
    if at > end:
        raise DamagedError("it ends in the middle of a field")
    return at

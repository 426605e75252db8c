"""The files that a bare .onnx needs next to it: the tokenizer, and weights in separate files.

A tensor can keep its numbers in a separate file (`TensorProto.external_data`). Tensors are in the graph, in
nodes, in the graphs inside nodes, in functions and in training information; fields come in any order. This module reads
the file names strictly from the part of protobuf's wire format that they need, and skips fields that lead to no tensor.
https://protobuf.dev/programming-guides/encoding/, onnx.proto of ONNX 1.19.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from encheck.encoders.checkpoints.folders import check_vocabulary
from encheck.encoders.files import COPY, CUT_OFF, read_json, require_file
from encheck.errors import EncheckError, ModelError

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
MAX_DEPTH = 100  # as in protobuf's own readers
MAX_FIELDS = 2_000_000  # a graph of 10,000 nodes has about 200,000
Span = tuple[int, int]
FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER = ("tokenizer.json", "tokenizer_config.json")


class DamagedError(EncheckError):
    """The bytes are not valid protobuf."""


def read_external_locations(file: Path) -> list[str]:
    """The sorted names of the files that hold this model's tensors; ModelError if it is not an ONNX model."""
    names: set[str] = set()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            left = MAX_FIELDS
            stack = [("model", (0, len(data)), 0)]
            while stack:
                kind, span, depth = stack.pop()
                if depth > MAX_DEPTH:
                    raise DamagedError(f"messages are nested {MAX_DEPTH} deep")
                if kind == "entry":
                    entry = {
                        number: data[slice(*inner)] for number, inner in _read_fields(data, span) if inner is not None
                    }
                    if entry.get(KEY) == b"location":  # the last value counts, as for all readers of protobuf
                        names.add(os.fsdecode(entry.get(VALUE, b"")))
                    continue
                for number, inner in _read_fields(data, span):
                    left -= 1
                    if left < 0:
                        raise DamagedError(f"it has more than {MAX_FIELDS:,} fields")
                    if inner is not None and (inner_kind := HOLDS[kind].get(number)):
                        stack.append((inner_kind, inner, depth + 1))
        except DamagedError as error:
            raise ModelError(f"{file} is not an ONNX model ({error}): {CUT_OFF}") from error
    return sorted(names)


def _read_fields(data: mmap.mmap, span: Span) -> Iterator[tuple[int, Span | None]]:
    """The number of each field of a message, and the span of its bytes if it has some."""
    at, end = span
    while at < end:
        tag, at = _read_varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise DamagedError(f"there is no field {number}")
        if wire == VARINT:
            _, at = _read_varint(data, at, end)
            yield number, None
        elif wire == BYTES:
            size, at = _read_varint(data, at, end)
            yield number, (at, _require_within(at + size, end))
            at += size
        elif wire in WIDTH:
            at = _require_within(at + WIDTH[wire], end)
            yield number, None
        else:
            raise DamagedError(f"wire type {wire} of field {number} is not part of ONNX")


def _read_varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """A number in base 128, lowest digits first, and the position of the next byte."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[_require_within(at + 1, end) - 1]
        value, at = value | (byte & 127) << shift, at + 1
        if byte < 128:
            return value, at
    raise DamagedError("a number has more than ten bytes")


def _require_within(at: int, end: int) -> int:
    if at > end:
        raise DamagedError("it ends in the middle of a field")
    return at


def find_onnx_file(source: Path) -> Path:
    """The .onnx of a file or folder; ModelError if there is none, or it is empty."""
    candidates = [source] if source.is_file() else [source / name for name in FILES if (source / name).is_file()]
    candidates = candidates or sorted(source.glob("*.onnx"))
    if not candidates:
        raise ModelError(f"{source} has no .onnx file. Remedy: name the file, or a folder that holds model.onnx")
    if candidates[0].stat().st_size == 0:
        raise ModelError(f"{candidates[0]} is empty: {CUT_OFF}")
    return candidates[0]


def find_tokenizer_folder(file: Path) -> Path:
    """The folder with the tokenizer: the model's or the one above; ModelError if it is missing or not this model's."""
    around = (file.parent, file.parent.parent)
    folder = next((p for p in around if (p / "tokenizer.json").is_file()), file.parent)
    require_file(folder / "tokenizer.json", "the tokenizer", "Remedy: put it beside the .onnx")
    read_json(folder / "tokenizer.json", dict)
    check_vocabulary(folder)
    return folder


def find_external_weights(file: Path) -> Mapping[str, Path]:
    """The separate files that hold the model's weights; ModelError if one is missing, or is elsewhere."""
    files, what = {}, f"{file} keeps weights in a file that is not beside it:"
    for name in read_external_locations(file):
        if any(path.anchor or ".." in path.parts for path in (PurePosixPath(name), PureWindowsPath(name))):
            raise ModelError(
                f"{file} points outside its folder ({name}), which is not followed. {COPY}, with its weights"
            )
        try:
            files[name] = require_file(file.parent / name, what, COPY)
        except OSError as error:  # a name that no file can have, or a folder that cannot be read
            raise ModelError(f"{what} {name[:200]!r}: {error.strerror}. {COPY}") from error
    return files

"""Files made wrong: bytes at random, words that are known to hurt, and JSON of another shape."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DEEP = 100_000  # brackets in brackets
WORDS = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b]0;x\x07", b"\xe2\x80\xae", b"\xed\xa0\x80", b"nan", b"1e999", b"-1",
    b"{", b"[", b'"', b"'", b"\t", b"\n", b"\r", b",", b"9" * 5_000, b"&e;", b"<!DOCTYPE x>",
    b"!!python/object/apply:os.abort",
    b"<<: *a", b"../../../etc/passwd", b"/dev/zero", b"inf", b"true", b"null", b" " * 1_000, b"\x1b[31m",
)  # fmt: skip
SIZES = (b"\xff" * 4, b"\x7f" + b"\xff" * 7, b"\0" * 8, b"\x80" * 8, b"\xff" * 8)
VALUES = (
    None, True, False, 0, -1, 1, 10**400, 1e308, float("nan"), float("inf"), "", "x", "\x1b[31mred", "\u202eevil",
    "\ud800", "../../elsewhere", "/dev/zero", [], {}, [[]], [None], {"": None}, "9" * 5_000, 2**31, 2**63, 0.5,
    "0", "os.abort",
)  # fmt: skip
PLACE = "here it goes deep"


def spoilt(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(CHANGES)(data, rng)
    return data


def _at(data: bytes, rng: random.Random) -> int:
    """A position; half of the time near an end, where headers and footers are."""
    place = rng.randrange(len(data) + 1)
    return rng.choice((place, place, place % 64, max(0, len(data) - place % 64)))


def _flip(data: bytes, rng: random.Random) -> bytes:
    at = _at(data, rng)
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :] if at < len(data) else data + b"\1"


def _junk(data: bytes, rng: random.Random) -> bytes:
    at, size = _at(data, rng), rng.choice((1, 4, 20, 500))
    return data[:at] + rng.randbytes(size) + data[at + size :]


def _word(data: bytes, rng: random.Random) -> bytes:
    at, word = _at(data, rng), rng.choice(WORDS)
    return data[:at] + word + data[at + rng.choice((0, len(word))) :]


def _size(data: bytes, rng: random.Random) -> bytes:
    at, word = _at(data, rng), rng.choice(SIZES)
    return data[:at] + word + data[at + len(word) :]


def _without(data: bytes, rng: random.Random) -> bytes:
    at = _at(data, rng)
    return data[:at] + data[at + rng.choice((1, 10, 100, 5_000)) :]


def _twice(data: bytes, rng: random.Random) -> bytes:
    at, size = _at(data, rng), rng.choice((1, 30, 1_000))
    return data[: at + size] + data[at:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _at(data, rng)]


def _line(data: bytes, rng: random.Random) -> bytes:
    """A line is lost, stands twice, or takes another's place."""
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[at : at + 1] = rng.choice(([], [lines[at], lines[at]], [lines[other]]))
    return b"\n".join(lines)


def _other(data: bytes, rng: random.Random) -> bytes:
    """Another file altogether."""
    return rng.choice(
        (b"", b"\x89PNG\r\n\x1a\n" * 20, rng.randbytes(len(data)), b"[" * DEEP, b"<html>no</html>", b"\0" * 999)
    )


CHANGES: Sequence[Callable[[bytes, random.Random], bytes]] = (
    *(_flip, _flip, _junk, _junk, _word, _word, _word, _size, _without, _without, _twice, _cut, _line, _line), _other,
)  # fmt: skip


def other_json(found: Any, rng: random.Random) -> bytes:
    """A JSON with one to three of its values, keys or members changed, and now and then one nested very deep."""
    found = json.loads(json.dumps(found))
    for _ in range(rng.choice((1, 1, 2, 3))):
        found = _changed(found, rng)
    text = json.dumps(found, ensure_ascii=rng.random() < 0.5)
    deep = rng.choice(("[", '{"a":')) * DEEP
    return text.replace(json.dumps(PLACE), deep).encode("utf-8", "surrogatepass")


def _changed(found: Any, rng: random.Random) -> Any:
    """The value with a change at one place of it; the deeper, the fewer places there are."""
    nodes = [*_nodes(found)]
    if not nodes:
        return _value(rng)
    holder, key = rng.choice(nodes)
    if rng.random() < 0.7:
        holder[key] = _value(rng)
    elif isinstance(holder, dict):
        kept = holder.pop(key)
        if rng.random() < 0.5:
            holder[rng.choice((f"{key}x", "", "\x1b[31m", "1"))] = kept
    else:
        holder[key : key + 1] = rng.choice(([], [holder[key], holder[key]]))
    return found


def _nodes(found: Any) -> list[tuple[Any, Any]]:
    """(holder, key) of every value within."""
    nodes, waiting = [], [found]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        nodes += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return nodes


def _value(rng: random.Random) -> Any:
    return PLACE if rng.random() < 0.03 else json.loads(json.dumps(rng.choice(VALUES)))


def other_file(path: Path, rng: random.Random) -> None:
    """Change a file in its place: JSON by its values half of the time, each line of JSON Lines too."""
    data = path.read_bytes()
    made = _as_json(path, data, rng) if rng.random() < 0.6 else None
    path.write_bytes(spoilt(data, rng) if made is None else made)


def _as_json(path: Path, data: bytes, rng: random.Random) -> bytes | None:
    is_lines = path.suffix in (".jsonl", ".lock") or path.name == "one.json"
    if path.suffix == ".json" and not is_lines:
        return other_json(json.loads(data), rng)
    if is_lines:
        lines = data.rstrip(b"\n").split(b"\n")
        at = rng.randrange(len(lines))
        lines[at] = other_json(json.loads(lines[at]), rng)
        return b"\n".join(lines) + b"\n"
    if path.suffix == ".safetensors":
        size = int.from_bytes(data[:8], "little")
        head = other_json(json.loads(data[8 : 8 + size]), rng)
        return len(head).to_bytes(8, "little") + head + data[8 + size :]
    return None

"""Find the line of a key in a TOML file, which Python's own reader does not give."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence

_PART = r"""(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEY = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_HEADER, _ASSIGNED = re.compile(rf"\s*\[\[?\s*{_KEY}\s*\]"), re.compile(rf"\s*{_KEY}\s*=")


def line_of(text: str, place: Sequence[str | int]) -> int:
    """The line of the key, or of the nearest one around it.

    >>> line_of("[tool.encheck]\\nmodels = 1", ("tool", "encheck", "models"))
    2
    """
    lines: dict[tuple[str, ...], int] = {}
    for path, line in _keys(text):
        for end in range(1, len(path) + 1):
            lines.setdefault(path[:end], line)
    around = (tuple(map(str, place[:end])) for end in range(len(place), 0, -1))
    return next((lines[path] for path in around if path in lines), 1)


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """(path, line) of what looks like a key; a line inside a text of several lines may."""
    table: tuple[str, ...] = ()
    for line, content in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(content):
            table = _path(header[1])
            yield table, line
        elif assigned := _ASSIGNED.match(content):
            yield (*table, *_path(assigned[1])), line


def _path(key: str) -> tuple[str, ...]:
    """The parts of a dotted key, read as TOML reads them."""
    parts = re.findall(_PART, key)
    return tuple(next(iter(tomllib.loads(f"{part} = 0"))) for part in parts)

"""Read JSON and text files that people or other programs wrote, with limits and errors in plain words.

A JSON file has at most 256 MB and 100 levels; a text file has the limit that its reader gives. What is wrong is a
ValueError, whose text the readers of each kind of file put behind its name; an OSError is the system's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

MOST_BYTES, MOST_DEPTH = 256 * 10**6, 100


class TextError(ValueError):
    """A file that is no UTF-8, or is too long; `place` is ":" and its line, empty if the whole file is meant."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.problem, self.place = problem, f":{line}" if line else ""


def bytes_of(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; ValueError if there are too many, OSError if it cannot be read."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise TextError(f"is longer than {most:,} bytes, which is the limit")
    return data


def text_of(path: Path, *, most: int = MOST_BYTES) -> str:
    """The text of a UTF-8 file; ValueError names the line that is not."""
    data = bytes_of(path, most=most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextError(f"is not UTF-8 (byte {error.start})", line) from error


def json_of(path: Path, *, most: int = MOST_BYTES, infinite: bool = False) -> Any:
    """What a JSON file holds; ValueError for what `parsed` refuses."""
    return parsed(text_of(path, most=most), infinite=infinite)


def parsed(text: str, *, infinite: bool = False) -> Any:
    """What a JSON text holds; ValueError if it is not one, is nested too deep, or has NaN or infinity.

    Configurations of checkpoints may be `infinite`: Python writes such numbers.

    >>> parsed('{"a": [1]}')
    {'a': [1]}
    """
    too_deep = f"is nested deeper than {MOST_DEPTH} levels"
    try:
        found = json.loads(text, parse_constant=None if infinite else _refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}: is not JSON: {error.msg} (column {error.colno})") from error
    except RecursionError as error:
        raise ValueError(too_deep) from error
    if text.count("[") + text.count("{") > MOST_DEPTH and _is_deep(found):
        raise ValueError(too_deep)
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not a JSON number")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_DEPTH):
        containers = (inner.values() if isinstance(inner, dict) else inner for inner in level if _holds_more(inner))
        level = [one for some in containers for one in some]
    return any(map(_holds_more, level))


def _holds_more(value: Any) -> bool:
    return isinstance(value, dict | list)

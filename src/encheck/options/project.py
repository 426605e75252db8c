"""[tool.encheck] of pyproject.toml: the settings of a project for every run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from encheck.errors import ConfigError
from encheck.system.config_text import config_text
from encheck.system.schema import Place, problems, shown

if TYPE_CHECKING:
    from pydantic import BaseModel

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


MAX_MEGABYTES = 1_000_000_000
WANTED = {
    "thresholds": "a table of checks and numbers",
    "thresholds.*": "a number",
    "known_failures": "a table of models",
    "known_failures.*": "a table of checks and reasons",
    "known_failures.*.*": "a reason",
    "models": "the path of a file",
    "store-limit-mb": "a whole number of megabytes",
    "check-packages": "a list of names of packages",
    "check-packages.*": "the name of a package",
}


def wrong_values(table: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """(where, what is wrong), for each value that its key does not take, and for unknown keys."""
    return problems(_schema(), table, WANTED, kind="key")


def keys() -> set[str]:
    """The keys that there are."""
    return {field.alias or name for name, field in _schema().model_fields.items()}


@cache
def _schema() -> type[BaseModel]:
    from pydantic import ConfigDict, Field, create_model

    text = Annotated[str, Field(pattern=r"\S")]
    fields: dict[str, Any] = {
        "thresholds": (dict[str, float], {}),
        "known_failures": (dict[str, dict[str, text]], {}),
        "models": (text, "models.yaml"),
        "check_packages": (list[text], Field([], alias="check-packages")),
        "store_limit_mb": (int, Field(0, alias="store-limit-mb", ge=0, le=MAX_MEGABYTES)),
    }
    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    return create_model("Project", __config__=strict, **fields)


TABLE = ("tool", "encheck")
MOST_BYTES, MOST_DOTS = 10**6, 50  # the time that Python's reader takes grows with the square of a key's parts
KEY = re.compile(r"""[\s\w.\["'\]-]+""")


def project_table(path: Path) -> dict[str, Any]:
    """[tool.encheck] of a pyproject.toml, checked; empty if there is none. ConfigError names file, line and key."""
    if not path.exists():
        return {}
    text = config_text(path, most=MOST_BYTES)
    _refuse_long_keys(path, text)
    table: Any = _parsed(path, text)
    for depth, name in enumerate(TABLE, 1):
        table = table.get(name, {})
        if not isinstance(table, dict):
            where, problem = TABLE[:depth], f"{name} is {shown(table)}, but should be a table"
            raise ConfigError(f"{path}:{line_of(text, where)}: {problem}")
    if table:
        _refuse_wrong(path, text, table)
    return dict(table)


def _refuse_long_keys(path: Path, text: str) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS and KEY.fullmatch(line.partition("=")[0]):
            raise ConfigError(f"{path}:{number}: a key has more than {MOST_DOTS} parts, which is the limit")


def _refuse_wrong(path: Path, text: str, table: Mapping[str, Any]) -> None:

    for place, problem in wrong_values(table):
        inside = ".".join(map(str, (*TABLE, *place[:-1])))
        said = problem.removeprefix(f"{'.'.join(map(str, place[:-1]))}.")
        raise ConfigError(f"{path}:{line_of(text, (*TABLE, *place))}: [{inside}] {said}")


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, at = str(error).partition(" (at ")
        line = re.match(r"line (\d+)", at)
        raise ConfigError(f"{path}:{line[1] if line else text.count(chr(10)) + 1}: is not TOML: {what}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: is nested too deeply") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from error

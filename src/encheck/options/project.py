"""[tool.encheck] of pyproject.toml: the settings of a project for every run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from encheck.errors import ConfigError
from encheck.options.toml_lines import line_of
from encheck.system.documents import config_text
from encheck.system.typed_files import shorten_value

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
            where, problem = TABLE[:depth], f"{name} is {shorten_value(table)}, but should be a table"
            raise ConfigError(f"{path}:{line_of(text, where)}: {problem}")
    if table:
        _refuse_wrong(path, text, table)
    return dict(table)


def _refuse_long_keys(path: Path, text: str) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS and KEY.fullmatch(line.partition("=")[0]):
            raise ConfigError(f"{path}:{number}: a key has more than {MOST_DOTS} parts, which is the limit")


def _refuse_wrong(path: Path, text: str, table: Mapping[str, Any]) -> None:
    from encheck.options.project_schema import wrong_values

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

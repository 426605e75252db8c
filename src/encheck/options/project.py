"""[tool.encheck] of pyproject.toml: the settings of a project for every run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from encheck.errors import ConfigError
from encheck.system.documents import read_config_text
from encheck.system.typed_files import invalid_values, shorten_value

if TYPE_CHECKING:
    from pydantic import BaseModel

TABLE = ("tool", "encheck")
MOST_BYTES, MOST_DOTS = 10**6, 50  # Python's parser takes time quadratic in the parts of a key
KEY = re.compile(r"""[\s\w.\["'\]-]+""")
MAX_MEGABYTES = 1_000_000_000
WANTED = {
    "thresholds": "a table of checks and numbers",
    "thresholds.*": "a number",
    "known_failures": "a table of models",
    "known_failures.*": "a table of checks and reasons",
    "known_failures.*.*": "a reason",
    "models": "the path of a file",
    "store-limit-mb": "a whole number of megabytes",
    "check-packages": "a list of package names",
    "check-packages.*": "the name of a package",
}
_PART = r"""(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_NAME = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_HEADER, _ASSIGNED = re.compile(rf"\s*\[\[?\s*{_NAME}\s*\]"), re.compile(rf"\s*{_NAME}\s*=")


@dataclass(frozen=True)
class Project:
    """The settings of a project. `known_failures` are by model. `check_packages` is None if the project names none.

    `store_limit_mb` is None for the store's default limit.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)
    known_failures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    models: str = "models.yaml"
    check_packages: tuple[str, ...] | None = None
    store_limit_mb: int | None = None


def project_table(path: Path) -> Project:
    """Read [tool.encheck] from pyproject.toml, with defaults for missing keys.

    Raise ConfigError, which names file, line and key, for an invalid value.
    """
    if not path.exists():
        return Project()
    text = read_config_text(path, max_bytes=MOST_BYTES)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS and KEY.fullmatch(line.partition("=")[0]):
            raise ConfigError(f"{path}:{number}: a key has more than {MOST_DOTS} parts, which is the limit")
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, at = str(error).partition(" (at ")
        found = re.match(r"line (\d+)", at)
        number = int(found[1]) if found else text.count("\n") + 1
        raise ConfigError(f"{path}:{number}: is not TOML: {what}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: is nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise ConfigError(f"{path}: cannot be read as TOML: {error}") from error
    for depth, name in enumerate(TABLE, 1):
        table = table.get(name, {})
        if not isinstance(table, dict):
            where, problem = TABLE[:depth], f"{name} is {shorten_value(table)}, but should be a table"
            raise ConfigError(f"{path}:{line_of(text, where)}: {problem}")
    if not table:
        return Project()
    for place, problem in invalid_values(_table_schema(), table, WANTED, kind="key"):
        inside = ".".join(map(str, (*TABLE, *place[:-1])))
        what = problem.removeprefix(f"{'.'.join(map(str, place[:-1]))}.")
        raise ConfigError(f"{path}:{line_of(text, (*TABLE, *place))}: [{inside}] {what}")
    named: dict[str, Any] = {name.replace("-", "_"): value for name, value in table.items()}
    if "check_packages" in named:
        named["check_packages"] = tuple(named["check_packages"])
    return Project(**named)


def allowed_keys() -> set[str]:
    """Return the keys that [tool.encheck] may have."""
    return {field.alias or name for name, field in _table_schema().model_fields.items()}


@cache
def _table_schema() -> type[BaseModel]:
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
    return create_model("ProjectTable", __config__=strict, **fields)


def line_of(text: str, place: Sequence[str | int]) -> int:
    """Return the line of a key in a TOML file, or of the nearest key around it. Python's parser does not report lines.

    A line inside a multi-line string that looks like a key also counts.

    >>> line_of("[tool.encheck]\\nmodels = 1", ("tool", "encheck", "models"))
    2
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for line, content in enumerate(text.splitlines(), 1):
        header, assigned = _HEADER.match(content), _ASSIGNED.match(content)
        if header or assigned:
            parts = re.findall(_PART, (header or assigned)[1])  # type: ignore[index]
            path = tuple(next(iter(tomllib.loads(f"{part} = 0"))) for part in parts)  # parsed as TOML
            table, path = (path, path) if header else (table, (*table, *path))
            for end in range(1, len(path) + 1):
                lines.setdefault(path[:end], line)
    around = (tuple(map(str, place[:end])) for end in range(len(place), 0, -1))
    return next((lines[path] for path in around if path in lines), 1)

"""[tool.encheck] of pyproject.toml: what a project says for every run."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

from encheck.errors import ConfigError, unknown

KEYS = {"thresholds": dict, "known_failures": dict, "store-limit-mb": int, "models": str}


def project_table(path: Path) -> dict[str, Any]:
    """[tool.encheck] of a pyproject.toml, its keys and types checked; empty where there is none."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("encheck", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{path}: [tool.encheck] {unknown('key', key, KEYS)}")
        if not isinstance(value, KEYS[key]):
            raise ConfigError(f"{path}: [tool.encheck] {key} is {value!r}, but should be of type {KEYS[key].__name__}")
    for key, value in table.get("thresholds", {}).items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise ConfigError(f"{path}: [tool.encheck.thresholds] {key} is {value!r}, but should be a number")
    for model, reasons in table.get("known_failures", {}).items():
        if not isinstance(reasons, dict) or not all(isinstance(reason, str) for reason in reasons.values()):
            raise ConfigError(
                f"{path}: [tool.encheck.known_failures] {model} is {reasons!r}, but should be a table of checks "
                "and reasons"
            )
    return dict(table)

"""Refuse thresholds and known failures for checks that do not exist."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from encheck.encoders.model_config import ModelConfig
from encheck.errors import ConfigError, unknown_name_message
from encheck.ids import split_check_key
from encheck.options.settings import Settings

OF_PROPERTIES = "test_own.py"  # holds templates of the checks for properties of the user's own


def refuse_unknown_thresholds(
    settings: Settings,
    models: Mapping[str, ModelConfig],
    offered: Mapping[str, Collection[str]],
    *,
    places: Iterable[Path] = (),
) -> None:
    """Raise ConfigError if a threshold or known failure of the project or of a model names a check that does not exist.

    A threshold under a misspelt name would silently decide nothing. `models` are by label; `offered` has the levels of
    each check that can run. These names are valid too: encheck's own checks, the tests of any Python file below
    `places` or in the project, and the checks for properties of the user's own, which other data may have. The keys of
    known failures may be patterns; those of thresholds may not.
    """
    here = "[tool.encheck] of pyproject.toml"
    tables: dict[str, Iterable[str]] = {f"{here}: thresholds": settings.project.thresholds}
    tables |= {f"{here}: {model}'s known_failures": table for model, table in settings.project.known_failures.items()}
    for label, config in models.items():
        tables[f"models.yaml: {label}'s thresholds"] = config.thresholds
        tables[f"models.yaml: {label}'s known_failures"] = config.known_failures or {}
    if not any(tables.values()):
        return
    files = list(resources.files("encheck.checks").iterdir())
    own_stems = tuple(f"_{name}" for name in _test_names_in(file for file in files if file.name == OF_PROPERTIES))
    known = {*offered, *_test_names_in(files)}
    named = [(where, *split_check_key(key)) for where, keys in tables.items() for key in keys]
    thresholds = [(where, name, level) for where, name, level in named if not where.endswith("known_failures")]
    for where, name, level in thresholds:
        if re.search(r"[*?\[]", name) or (re.search(r"[*?\[/]", level) and level not in offered.get(name, ())):
            key = f"{name}/{level}" if level else name
            raise ConfigError(
                f"{where}: {key!r} would decide nothing: name a threshold in full, CHECK or CHECK/LEVEL. Only "
                f"known_failures accept patterns and names of data"
            )
    strange = [(where, n) for where, n, _ in named if not (fnmatch.filter(known, n) or n.endswith(own_stems))]
    own = (
        _test_names_in(file for place in (settings.root, *places) for file in _python_files(place))
        if strange
        else set()
    )
    for where, name in strange:
        if not fnmatch.filter(own, name):
            raise ConfigError(f"{where}: {unknown_name_message('check', name, known)}")
    for where, name, level in thresholds:
        levels = offered.get(name, ())
        if levels and level and level not in levels:
            raise ConfigError(f"{where}: {unknown_name_message(f'level of {name}', level, levels)}")


def _test_names_in(files: Iterable[Any]) -> set[str]:
    """Return the names of the tests in these Python files, without `test_`."""
    texts = (file.read_text("utf-8", errors="replace") for file in files if file.name.endswith(".py"))
    return {name for text in texts for name in re.findall(r"^\s*def test_(\w+)", text, re.MULTILINE)}


def _python_files(place: Path) -> Iterator[Path]:
    """Yield a Python file, or every Python file below a folder, except for hidden and installed files."""
    if place.is_file():
        yield place
    for folder, below, names in os.walk(place):
        below[:] = [
            name for name in below if not name.startswith(".") and name not in ("site-packages", "node_modules")
        ]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))

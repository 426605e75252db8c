"""Refuse unknown names of markers, checks and relations before anything runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from encheck import options
from encheck.errors import UsageError, unknown
from encheck.ids import PYTEST_MARKERS
from encheck.options import Settings

if TYPE_CHECKING:
    from encheck.claims import Claim
    from encheck.datasets.dataset import Dataset
    from encheck.running.subject import Subject

OPERATORS = {"and", "or", "not", "True", "False", "None"}


def refuse_unknown_markers(config: pytest.Config, checks: Iterable[pytest.Item]) -> None:
    """UsageError for a marker of -m that nothing registers: it would select nothing in silence."""
    registered = {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")}
    offered = {m.name for item in checks for m in item.iter_markers()} - PYTEST_MARKERS
    for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"\(.*?\)", "", config.option.markexpr or "")):
        if name not in registered | OPERATORS:
            raise UsageError(
                f"the marker {name!r} is not registered. Remedy: [tool.pytest.ini_options] of pyproject.toml, or "
                f'[pytest] of pytest.ini, should name it: markers = ["{name}: what it is about"]'
                if name in offered
                else unknown("marker", name, offered)
            )


def refuse_unknown_checks(
    config: pytest.Config, settings: Settings, subjects: Mapping[str, Subject], offered: Mapping[str, set[str]]
) -> None:
    """ConfigError for thresholds and known failures of checks that do not exist: the project's and the models'."""
    configs = {label: subject.config for label, subject in subjects.items()}
    options.refuse_unknown_thresholds(settings, configs, offered, places=_places(config))


def refuse_unread_variants(data: Iterable[Dataset], claims: Iterable[Claim]) -> None:
    """DataError for written variants that neither these claims read, of all collected checks, nor those that ship."""
    from encheck.items.variants import refuse_unread_variants
    from encheck.running.shipped import shipped_checks

    known = list(claims)
    for dataset in data:
        refuse_unread_variants(dataset, known, lambda: (claim for _, claim in shipped_checks()))


def _places(config: pytest.Config) -> Iterator[Path]:
    """The files and directories that pytest was given, also as names of modules."""
    for arg in (text.partition("::")[0] for text in config.args):
        with suppress(ImportError, ValueError):  # pytest says what is wrong with it
            found = find_spec(arg) if config.option.pyargs and not Path(arg).exists() else None
            yield Path(found.origin).parent if found and found.origin else Path(arg)

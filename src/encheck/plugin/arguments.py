"""Check pytest's arguments before collection: paths outside the project, misspelt options."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import pytest

from encheck import options
from encheck.errors import UsageError

SHORT = "encheck.short_options"


def refuse_outside_paths(config: pytest.Config, args: list[str]) -> None:
    """UsageError for a path outside the project after a blank: pytest takes it for a test path."""
    for option, path in options.given_after_a_blank(args, prefix=options.PREFIX):
        _refuse_outside(config, option, path)
    for option, path in options.given_after_a_blank(args):
        if _has_short_options(config):
            _refuse_outside(config, option, path)


def refuse_misspelt(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """UsageError for an option that nobody knows and that looks like one of ours."""
    if config.known_args_namespace.help:
        return
    options.refuse_baseline(args, prefix=options.PREFIX)
    if config.pluginmanager.has_plugin(SHORT):
        options.refuse_baseline(args)
    unknown = parser.parse_known_and_unknown_args(list(args), copy(config.option))[1]
    options.refuse_misspelt(unknown, prefix=options.PREFIX)
    if config.pluginmanager.has_plugin(SHORT):
        options.refuse_misspelt(unknown)


def _has_short_options(config: pytest.Config) -> bool:
    """Whether this run has the short options, or would have them: a path after a blank hides the project's settings."""
    here = config.invocation_params.dir
    files = (folder / "pyproject.toml" for folder in (here, *here.parents))
    return config.pluginmanager.has_plugin(SHORT) or any(
        SHORT in file.read_text("utf-8", "replace") for file in files if file.is_file()
    )


def _refuse_outside(config: pytest.Config, option: str, path: str) -> None:
    """UsageError for a path outside the project: pytest has looked there for its settings, and for conftest.py."""
    if not _in_project(config, Path(path)):
        raise UsageError(
            f"use {option}={path}, not {option} {path}, for a path outside the project: pytest treats a separate "
            f"path as a test, and would run the code there"
        )


def _in_project(config: pytest.Config, path: Path) -> bool:
    """Whether the project's own settings were found although this path stood among the arguments."""
    here, known = config.invocation_params.dir, config.known_args_namespace
    if known.inifilename and known.rootdir:
        return True  # nothing was looked for
    return config.inipath is not None and all(
        p.is_relative_to(config.rootpath) for p in (here, (here / path).resolve())
    )

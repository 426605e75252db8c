"""Select the checks that run: refuse wrong arguments and unknown names, open an evaluation for the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from encheck import options
from encheck.errors import UsageError, unknown
from encheck.ids import PYTEST_MARKERS
from encheck.options import Settings
from encheck.plugin import collection
from encheck.plugin.process import Process, settings_of, usage_errors
from encheck.system.terminal import visible

if TYPE_CHECKING:
    from encheck.claims import Claim
    from encheck.datasets.dataset import Dataset
    from encheck.engine.checks import Case
    from encheck.engine.evaluation import Evaluation
    from encheck.options import Settings
    from encheck.running.subject import Subject

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
    from encheck.engine.checks import shipped_checks
    from encheck.items.reading import refuse_unread

    known = list(claims)
    for dataset in data:
        refuse_unread(dataset, known, lambda: (claim for _, claim in shipped_checks()))


def _places(config: pytest.Config) -> Iterator[Path]:
    """The files and directories that pytest was given, also as names of modules."""
    for arg in (text.partition("::")[0] for text in config.args):
        with suppress(ImportError, ValueError):  # pytest says what is wrong with it
            found = find_spec(arg) if config.option.pyargs and not Path(arg).exists() else None
            yield Path(found.origin).parent if found and found.origin else Path(arg)


EVALUATION: pytest.StashKey[Evaluation] = pytest.StashKey()
CLASH: pytest.StashKey[str] = pytest.StashKey()  # of a check that has the name of another one: what is wrong


def selecting(config: pytest.Config, process: Process, items: list[pytest.Item]) -> Iterator[None]:
    """Around pytest's own selection by -m and -k: `items` is changed in place, and the stash gets the evaluation."""
    checks = collection.checks_among(items)
    with process.refusing(items):
        if checks:
            refuse_unknown_markers(config, checks)
    offered = collection.claims_offered(checks)
    yield
    process.selected(item.nodeid for item in collection.checks_among(items))
    _open_session(config, process, items, checks, offered)


def _open_session(
    config: pytest.Config,
    process: Process,
    items: list[pytest.Item],
    collected: list[pytest.Item],
    offered: Mapping[str, Claim],
) -> None:
    """Load the data and find the models of the checks that run, or say what is wrong with them."""
    checks = collection.checks_among(items)
    if not checks or config.option.collectonly:
        return
    with process.refusing(items):
        settings = settings_of(config, process.store)
        existing = collection.existing_cases(settings, collected)
        evaluation = config.stash[EVALUATION] = _evaluation_of(settings, process, checks, existing)
        process.refuse_models(evaluation)
        levels = {check: set(map(str, claim.levels)) for check, claim in offered.items()}
        refuse_unknown_checks(config, evaluation.settings, evaluation.bench.subjects, levels)
        refuse_unread_variants(evaluation.bench.data.values(), offered.values())


def _evaluation_of(
    settings: Settings, process: Process, checks: list[pytest.Item], existing: Mapping[str, Case]
) -> Evaluation:
    """The evaluation of these checks; those that have the name of another one are marked."""
    from encheck.engine.checks import clashes
    from encheck.engine.evaluation import Evaluation
    from encheck.engine.first_look import mode_of

    for item, problem in clashes([(item, item.nodeid, collection.case_of(item)) for item in checks]):
        item.stash[CLASH] = problem
    mode = mode_of(settings, is_junit=process.is_junit)
    cases = list(map(collection.case_of, checks))
    return Evaluation.open(settings, cases, existing=existing, run=process.run, mode=mode)


def forecast(config: pytest.Config, process: Process, items: list[pytest.Item]) -> list[str]:
    """With --collect-only: what would run, and roughly how long."""
    found = list(map(collection.case_of, collection.checks_among(items)))
    if not found or not config.option.collectonly:
        return []
    from encheck.engine.checks import roughly
    from encheck.running.resources import in_shards, resolve_data

    with usage_errors():
        settings = settings_of(config, process.store)
        data = resolve_data(settings, in_shards=in_shards(settings))
        return [visible(f"encheck: {roughly(found, data)}")]


def prepare(session: pytest.Session, process: Process) -> None:
    """Encode what the selected checks declared, before the first of them runs."""
    config = session.config
    if EVALUATION in config.stash and not session.testsfailed:
        with process.preparing():
            _clear_report(config, settings_of(config, process.store).root)
            checks = collection.checks_among(session.items)
            functions = {str(collection.case_of(one).id): one.function for one in checks}  # type: ignore[attr-defined]

            def show(evaluation: Evaluation) -> None:
                from encheck.engine.conclusion import first_profile
                from encheck.running.notes import tell

                for line in first_profile(evaluation, functions):
                    tell(line)

            config.stash[EVALUATION] = config.stash[EVALUATION].prepare(show)


def _clear_report(config: pytest.Config, root: Path) -> None:
    """Remove what an earlier run left in --report-dir; workers of xdist do, long before the controller writes.

    UsageError where the report cannot be written, or would replace what is no run.
    """
    from encheck.options import refuse_place

    if folder := config.option.encheck_report_dir:
        from encheck.engine.folder import clear

        clear(Path(folder))
    else:
        refuse_place(str(root / "reports"))

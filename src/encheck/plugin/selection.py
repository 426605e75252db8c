"""Select the checks that run: refuse wrong arguments and unknown names, and open an evaluation for the others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from encheck import options
from encheck.errors import UsageError, unknown_name_message
from encheck.ids import PYTEST_MARKERS
from encheck.plugin.collection import case_of, checks_among
from encheck.plugin.process import Process, as_pytest_usage_error, refuse_unknown_checks, settings_of
from encheck.system.terminal import make_visible

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation

SHORT = "encheck.short_options"
OPERATORS = {"and", "or", "not", "True", "False", "None"}
ARGUMENTS = re.compile(r"\b(?!(?:and|or|not)\b)(\w+)\s*\(.*?\)")  # a marker with arguments, not a group in brackets
EVALUATION: pytest.StashKey[Evaluation] = pytest.StashKey()
CLASH: pytest.StashKey[str] = pytest.StashKey()  # the error of a check with a duplicate name


def refuse_ambiguous_paths(config: pytest.Config, args: list[str]) -> None:
    """Raise UsageError for an option's path after a blank, outside a project with settings: to pytest, a test path.

    Pytest has already searched that path for settings and conftest.py. Short options count if this run has them, or
    would have them without that path, which hides the project's settings.
    """
    here, known = config.invocation_params.dir, config.known_args_namespace
    paths = list(options.paths_after_a_blank(args, prefix=options.PREFIX))
    if short := list(options.paths_after_a_blank(args)):
        files = (folder / "pyproject.toml" for folder in (here, *here.parents))
        named = (SHORT in file.read_text("utf-8", "replace") for file in files if file.is_file())
        paths += short if config.pluginmanager.has_plugin(SHORT) or any(named) else []
    if known.inifilename and known.rootdir:
        return  # pytest searched nothing
    for option, path in paths:
        places = (here, (here / path).resolve())
        if config.inipath is None or not all(place.is_relative_to(config.rootpath) for place in places):
            raise UsageError(
                f"use {option}={path}, not {option} {path}: pytest treats a separate path as a test, and would run the "
                "code there"
            )


def refuse_misspelt(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Raise UsageError for an unknown option that resembles one of encheck's."""
    if config.known_args_namespace.help:
        return
    prefixes = (options.PREFIX, "") if config.pluginmanager.has_plugin(SHORT) else (options.PREFIX,)
    for prefix in prefixes:
        _refuse_baseline(args, prefix=prefix)
    strange = parser.parse_known_and_unknown_args(list(args), copy(config.option))[1]
    for prefix in prefixes:
        options.refuse_misspelt(strange, prefix=prefix)


def _refuse_baseline(args: Sequence[str], *, prefix: str) -> None:
    """Raise UsageError for --baseline, which belongs to a gate. The message has the command to type."""

    def values(option: str) -> list[str]:
        named = ((*arg.partition("="), following) for arg, following in pairwise([*args, ""]))
        return [text if equals else after for name, equals, text, after in named if name == f"--{prefix}{option}"]

    if any(arg.partition("=")[0] == f"--{prefix}baseline" for arg in args):
        from encheck.running.labels import model_labels

        new, old = [*values("model"), "NEW"][0], [*values("baseline"), "OLD"][0]
        more = [f"--{name}={value}" for name in ("data", "queries") for value in values(name)]
        of_new = options.model_options_of_gate(next(iter(model_labels([new]))), values("model-arg"))
        typed = f"{shlex.join([new, old, *more])}{of_new}"
        raise UsageError(f"--baseline is for a gate, not for a run. Type: encheck gate {typed}")


def open_evaluation(config: pytest.Config, process: Process, items: list[pytest.Item]) -> Iterator[None]:
    """Wrap pytest's selection by -m and -k. Change `items` in place, and put the evaluation into the stash.

    Raise UsageError for an unknown property or an unregistered marker in -m, because it would silently select nothing.
    """
    collected = checks_among(items)
    with process.user_errors(items):
        registered = {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")}
        offered = {mark.name for item in collected for mark in item.iter_markers()} - PYTEST_MARKERS
        for name in re.findall(r"[A-Za-z_]\w*", ARGUMENTS.sub(r"\1", config.option.markexpr or "")):
            if collected and name not in registered | OPERATORS:
                raise UsageError(
                    f"the marker {name!r} is not registered. Remedy: [tool.pytest.ini_options] of pyproject.toml, or "
                    f'[pytest] of pytest.ini, should name it: markers = ["{name}: description"]'
                    if name in offered
                    else f"{unknown_name_message('property', name, offered)}. To name a property of your own, use "
                    "--property or a column `property` in your data"
                )
    claims = {case.check: case.claim for case in map(case_of, collected)}
    yield
    checks = checks_among(items)
    process.record_selected(item.nodeid for item in checks)
    if not checks or config.option.collectonly:
        return
    from encheck.engine.checks import find_name_clashes, packaged_checks, shipped_checks
    from encheck.engine.evaluation import Evaluation
    from encheck.engine.first_look import first_look_mode
    from encheck.items.variants import refuse_unread_variants

    with process.user_errors(items):
        settings = settings_of(config, process.store)
        packaged = packaged_checks(settings.data, settings.chosen_packages)
        shipped = (case for check in packaged for case in check.cases(settings))
        existing = {case.id.of_any_model: case for case in (*shipped, *map(case_of, collected))}
        for item, problem in find_name_clashes([(item, item.nodeid, case_of(item)) for item in checks]):
            item.stash[CLASH] = problem
        mode, cases = first_look_mode(settings, is_junit=process.is_junit), list(map(case_of, checks))
        evaluation = Evaluation.open(settings, cases, existing=existing, run=process.run, mode=mode)
        config.stash[EVALUATION] = evaluation
        process.refuse_models(evaluation)
        levels = {check: set(map(str, claim.levels)) for check, claim in claims.items()}
        refuse_unknown_checks(config, settings, evaluation.session.subjects, levels)
        for dataset in evaluation.session.data.values():
            refuse_unread_variants(dataset, list(claims.values()), lambda: (claim for _, claim in shipped_checks()))


def estimate_collection(config: pytest.Config, process: Process, items: list[pytest.Item]) -> list[str]:
    """Return, with --collect-only, what would run and roughly how long."""
    cases = list(map(case_of, checks_among(items)))
    if not cases or not config.option.collectonly:
        return []
    from encheck.engine.checks import estimate_work
    from encheck.running.resources import resolve_data, shard_loader

    with as_pytest_usage_error():
        settings = settings_of(config, process.store)
        data = resolve_data(settings, in_shards=shard_loader(settings))
        return [make_visible(f"encheck: {estimate_work(cases, data)}")]


def prepare_evaluation(session: pytest.Session, process: Process) -> None:
    """Encode the texts that the selected checks declare, before the first check runs.

    Remove an earlier run's files in --report-dir. Xdist workers do so too, long before the controller writes. Raise
    UsageError if the report cannot be written, or would replace files that are not a run.
    """
    config = session.config
    if EVALUATION not in config.stash or session.testsfailed:
        return
    from encheck.engine.folder import remove_earlier_report

    with process.preparation_errors():
        settings = settings_of(config, process.store)
        if settings.report_dir:
            remove_earlier_report(settings.report_dir)
        else:
            options.refuse_unwritable_folder(str(settings.root / "reports"))
        checks = checks_among(session.items)
        functions = {str(case_of(one).id): one.function for one in checks}  # type: ignore[attr-defined]

        def show(evaluation: Evaluation) -> None:
            from encheck.engine.conclusion import first_look_lines
            from encheck.system.terminal import write_to_stderr

            for line in first_look_lines(evaluation, functions):
                write_to_stderr(line)

        config.stash[EVALUATION] = config.stash[EVALUATION].prepare(show)

"""Select the checks that run: refuse unknown names, leave out what cannot decide, open an evaluation for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from encheck.plugin import collection, unknown_names
from encheck.plugin.process import Process, settings_of, usage_errors
from encheck.system.terminal import visible

if TYPE_CHECKING:
    from encheck.claims import Claim
    from encheck.engine.checks import CheckFunction
    from encheck.engine.evaluation import Evaluation
    from encheck.options import Settings
    from encheck.running.case import Case

EVALUATION: pytest.StashKey[Evaluation] = pytest.StashKey()
CLASH: pytest.StashKey[str] = pytest.StashKey()  # of a check that has the name of another one: what is wrong


def selecting(config: pytest.Config, process: Process, items: list[pytest.Item]) -> Iterator[None]:
    """Around pytest's own selection by -m and -k: `items` is changed in place, and the stash gets the evaluation."""
    checks = collection.checks_among(items)
    with process.refusing(items):
        if checks:
            unknown_names.refuse_unknown_markers(config, checks)
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
        unknown_names.refuse_unknown_checks(config, evaluation.settings, evaluation.bench.subjects, levels)
        unknown_names.refuse_unread_variants(evaluation.bench.data.values(), offered.values())


def _evaluation_of(
    settings: Settings, process: Process, checks: list[pytest.Item], existing: Mapping[str, Case]
) -> Evaluation:
    """The evaluation of these checks; those that have the name of another one are marked."""
    from encheck.engine.cases import clashes
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
    from encheck.engine.cases import roughly
    from encheck.engine.shards import in_shards
    from encheck.running.resources import resolve_data

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
            config.stash[EVALUATION] = config.stash[EVALUATION].prepare(lambda looked: _show(looked, checks))


def _show(evaluation: Evaluation, checks: list[pytest.Item]) -> None:
    from encheck.engine.first_profile import show

    show(evaluation, _functions(checks))


def _functions(checks: list[pytest.Item]) -> dict[str, CheckFunction]:
    """The checks by their cases' ids."""
    return {str(collection.case_of(one).id): one.function for one in checks}  # type: ignore[attr-defined]


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

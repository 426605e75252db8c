"""The pytest plugin: hooks and fixtures, which delegate to `encheck.controller`.

It claims the options `--encheck-*`; `-p encheck.short_options` adds the short spellings, in a clone and for
`encheck run`. Nothing heavy is imported before a check was collected.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck import options
from encheck.claims import lines_of
from encheck.controller import arguments, canaries, collection, outcomes, unknown_names
from encheck.controller.process import Controller, Process, Worker, settings_of, usage_errors
from encheck.errors import CheckError, EncheckError, NothingToMeasure, UsageError
from encheck.system.terminal import guard_log, visible

if TYPE_CHECKING:
    from encheck.controller.session import Session
    from encheck.running.case import Case
    from encheck.scoring.scores import Scores
    from encheck.types import Estimate

PROCESS: pytest.StashKey[Process] = pytest.StashKey()
SESSION: pytest.StashKey[Session] = pytest.StashKey()
CLASH: pytest.StashKey[str] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:  # noqa: D103
    group = parser.getgroup("encheck", "behavioural tests for sentence encoders")
    options.add_options(group, prefix=options.PREFIX)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """Refuse a path outside the project that was given after a blank, and options that nobody knows."""
    with usage_errors():
        arguments.refuse_outside_paths(early_config, args)
    yield
    with usage_errors():
        arguments.refuse_misspelt(early_config, parser, args)


def pytest_configure(config: pytest.Config) -> None:  # noqa: D103
    collection.register_markers(config)
    canaries.register_marker(config)
    guard_log()
    with usage_errors():
        options.refuse_wrong(config.option)
    config.stash[PROCESS] = Worker(config) if hasattr(config, "workerinput") else Controller(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker where the store of a run without a store is."""
    _controller(node.config).node_configured(node)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a check the marker of its property, so that -m selects it."""
    collection.mark(item)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one case of each model x data x level."""
    collection.parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Find out what is wrong before any worker starts."""
    session.config.stash[PROCESS].start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Once it is known which checks run: load the data and find the models, or say what is wrong with them."""
    process, checks = config.stash[PROCESS], collection.checks_among(items)
    with process.refusing(items):
        if checks:
            unknown_names.refuse_unknown_markers(config, checks)
    offered = collection.levels_offered(checks)
    contracts = collection.take_contracts(items) if config.option.encheck_baseline else []
    yield
    collection.give_back_contracts(config, items, contracts)
    unweighed = _leave_out_reported(config, items) if config.option.encheck_weighed_only else []
    checks = collection.checks_among(items)
    process.selected(item.nodeid for item in checks)
    if checks and not config.option.collectonly:
        with process.refusing(items):
            config.stash[SESSION] = _open_session(config, checks)
            config.stash[SESSION].unweighed = unweighed
            process.refuse_models(config.stash[SESSION])
            unknown_names.refuse_unknown_checks(
                config, config.stash[SESSION].settings, config.stash[SESSION].bench.subjects, offered
            )


def _leave_out_reported(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """Deselect what a gate only reports, but for checks with a threshold of the user's; the names of these checks."""
    from encheck.running.resources import checks_with_thresholds

    with usage_errors():
        return collection.leave_out_reported(config, items, checks_with_thresholds(_settings(config)))


def _open_session(config: pytest.Config, checks: list[pytest.Item]) -> Session:
    """The session of these checks; those that have the name of another one are marked."""
    from encheck.controller.cases import clashes
    from encheck.controller.session import Session

    for item, problem in clashes([(item, item.nodeid, collection.case_of(item)) for item in checks]):
        item.stash[CLASH] = problem
    return Session(_settings(config), list(map(collection.case_of, checks)), run=config.stash[PROCESS].run)


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """With --collect-only: what would run, and roughly how long."""
    found = list(map(collection.case_of, collection.checks_among(items)))
    if not found or not config.option.collectonly:
        return []
    from encheck.controller.cases import roughly
    from encheck.running.resources import resolve_data

    with usage_errors():
        return [visible(f"encheck: {roughly(found, resolve_data(_settings(config)))}")]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Encode what the selected checks declared, before the first of them runs."""
    config = session.config
    if SESSION in config.stash and not session.testsfailed:
        with config.stash[PROCESS].preparing():
            _clear_report(config)
            config.stash[SESSION].prepare()


def _clear_report(config: pytest.Config) -> None:
    """Remove what an earlier run left in --report-dir; workers of xdist do, long before the controller writes."""
    if folder := config.option.encheck_report_dir:
        from encheck.controller.write import clear

        clear(Path(folder))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hold the models of tests that are marked `encheck_canary` against their canaries."""
    canaries.hold(item)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Hold every check to a judgement."""
    return (yield from outcomes.called(pyfuncitem)) if collection.claim_at(pyfuncitem) else (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Send the rows and the items of a check along with its report."""
    report = yield
    if collection.claim_at(item):
        outcomes.make_visible(report)
        if SESSION in item.config.stash:
            outcomes.attach(report, item, call, item.config.stash[SESSION])
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> Any:
    """Known failures, stale ones, what is below its aim and what is inconclusive have letters of their own."""
    return outcomes.status(report)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Note what an xdist worker selected."""
    _controller(node.config).selected(ids)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what an xdist worker sent."""
    _controller(node.config).node_down(node)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the results, after the gate has decided; a worker sends its part to the controller."""
    here = session.config.stash.get(SESSION, None)
    described = here.describe() if here else None
    if here:
        here.close()
    session.config.stash[PROCESS].finish(session, described)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table of verdicts, and where the report is."""
    config.stash[PROCESS].summarize(terminalreporter)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """The gate's verdict, below pytest's own last line."""
    if process := config.stash.get(PROCESS, None):
        process.tell_verdict(config.pluginmanager.get_plugin("terminalreporter"))


@pytest.fixture
def encheck_case(request: pytest.FixtureRequest) -> Case:
    """The model, data and level of this check; an error where another check has the same name for its results."""
    if problem := request.node.stash.get(CLASH, ""):
        pytest.fail(problem, pytrace=False)
    case: Case = request.param
    return case


@pytest.fixture
def epsilon(pytestconfig: pytest.Config) -> float:
    """The margin that --epsilon asks for."""
    return float(pytestconfig.option.encheck_epsilon)


@pytest.fixture
def threshold(pytestconfig: pytest.Config) -> float | None:
    """The cut-off of the user's own that --cutoff names."""
    cut: float | None = pytestconfig.option.encheck_cutoff
    return cut


@pytest.fixture
def median_scope(pytestconfig: pytest.Config) -> str | float:
    """Where --median-scope cuts between obvious and non-obvious pairs."""
    return options.scope_of(pytestconfig.option.encheck_median_scope)


@pytest.fixture
def scores(request: pytest.FixtureRequest, encheck_case: Case) -> Scores:
    """The similarities of this check's items; skips where the data has none, fails where the model did."""
    session = request.config.stash[SESSION]
    try:
        return session.scores(encheck_case)
    except NothingToMeasure as nothing:
        pytest.skip(str(nothing))
    except CheckError as error:
        problem = str(error)
    except EncheckError as error:
        problem = f"{encheck_case.model} cannot be measured: {error}"
    pytest.fail(problem, pytrace=False)


@pytest.fixture
def report(request: pytest.FixtureRequest, encheck_case: Case) -> Callable[..., None]:
    """Report figures that decide nothing: `report(mean_margin(scores), ...)`."""
    session = request.config.stash[SESSION]

    def add(*estimates: Estimate) -> None:
        for estimate in estimates:
            outcomes.record(request.node, session.row(encheck_case, estimate, None, None, ""))

    return add


@pytest.fixture
def judge(request: pytest.FixtureRequest, encheck_case: Case) -> Callable[..., None]:
    """Hold the figure that decides against the claim's lines, `judge(margin_rate(scores))`, or against `at_least`."""
    session = request.config.stash[SESSION]

    def decide(estimate: Estimate, *, at_least: float | None = None) -> None:
        try:
            declared = lines_of(encheck_case.claim, estimate.metric, at_least)
        except UsageError as error:
            pytest.fail(f"{encheck_case.check}: {error}", pytrace=False)
        row = session.judged(encheck_case, estimate, declared)
        outcomes.record(request.node, row)
        if row.verdict in ("fail", "error"):
            pytest.fail(session.message(encheck_case, row), pytrace=False)
        if row.verdict == "known_failure":
            pytest.xfail(row.reason)

    return decide


def _controller(config: pytest.Config) -> Controller:
    process = config.stash[PROCESS]
    assert isinstance(process, Controller)
    return process


def _settings(config: pytest.Config) -> options.Settings:
    return settings_of(config, config.stash[PROCESS].store)

"""The pytest plugin: hooks and fixtures, which delegate to the modules of this package.

It adds the options `--encheck-*`. `-p encheck.short_options` adds the short spellings, in a clone and for `encheck
run`. Heavy imports wait until a check is collected.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from encheck import options
from encheck.engine.judgement import Judgement
from encheck.errors import CheckError, NothingToMeasure
from encheck.plugin import collection, outcomes, selection
from encheck.plugin.process import PROCESS, Controller, XdistWorker, as_pytest_usage_error, open_encoder
from encheck.plugin.selection import CLASH, EVALUATION
from encheck.system.terminal import make_log_visible

if TYPE_CHECKING:
    from encheck.engine.checks import Case
    from encheck.running.service import EncoderService
    from encheck.scoring.scores import Scores
    from encheck.types import Estimate


def pytest_addoption(parser: pytest.Parser) -> None:  # noqa: D103
    group = parser.getgroup("encheck", "behavioural tests for sentence encoders")
    options.add_options(group, prefix=options.PREFIX)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """Refuse unknown options, and paths after a blank that pytest would search."""
    with as_pytest_usage_error():
        selection.refuse_ambiguous_paths(early_config, args)
    yield
    with as_pytest_usage_error():
        selection.refuse_misspelt(early_config, parser, args)


def pytest_configure(config: pytest.Config) -> None:  # noqa: D103
    make_log_visible()
    with as_pytest_usage_error():
        collection.register_markers(config)
        options.refuse_invalid_options(config.option)
        collection.refuse_wrong_properties(config)
    config.stash[PROCESS] = XdistWorker(config) if hasattr(config, "workerinput") else Controller(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the temporary store of a run without a store to an xdist worker."""
    _controller(node.config).node_configured(node)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module, obj: object) -> list[pytest.Item] | None:
    """Collect a check of the user's own properties only if the data have some."""
    return [] if collection.lacks_own_properties(collector.config, obj) else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a check the marker of its property, so that -m selects it. Lift deadlines for tests of a model."""
    collection.add_property_marker(item)
    collection.lift_deadline_of_model_test(item)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one case of each model x data x level. A test of the fixture `encoder` runs once for each model."""
    collection.parametrize_check(metafunc)
    collection.parametrize_encoder(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Report wrong settings before any worker starts."""
    session.config.stash[PROCESS].start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Load the data and find the models after the checks are selected, or report their errors."""
    yield from selection.open_evaluation(config, config.stash[PROCESS], items)


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """Return, with --collect-only, what would run and roughly how long."""
    return selection.estimate_collection(config, config.stash[PROCESS], items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Encode the texts that the selected checks declare, before the first check runs."""
    selection.prepare_evaluation(session, session.config.stash[PROCESS])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Make sure that every check calls `judge`."""
    return (yield from outcomes.refuse_unjudged(pyfuncitem)) if collection.claim_at(pyfuncitem) else (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the rows and the items of a check along with its report."""
    report = yield
    if collection.claim_at(item):
        outcomes.make_report_visible(report)
        if EVALUATION in item.config.stash:
            outcomes.attach_measurements(report, item, call, item.config.stash[EVALUATION])
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> object:
    """Give known failures, stale ones, below aim and inconclusive their own letters. A failed model is one error.

    A run with short output has no letters.
    """
    is_short = isinstance(process := config.stash[PROCESS], Controller) and process.is_short
    return (
        (report.outcome, "", "") if is_short and hasattr(report, "encheck") else outcomes.report_status(report, config)
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Record the checks that an xdist worker selected."""
    _controller(node.config).record_selected(ids)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Receive an xdist worker's data."""
    _controller(node.config).node_down(node)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the results. A worker sends its part to the controller."""
    here = session.config.stash.get(EVALUATION, None)
    described = here.describe() if here else None
    if here:
        here.close()
    session.config.stash[PROCESS].finish(session, described)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table of verdicts and the path of the report."""
    config.stash[PROCESS].summarize(terminalreporter)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the rest after a first look, below pytest's own last line."""
    if process := config.stash.get(PROCESS, None):
        process.print_last_lines(config.pluginmanager.get_plugin("terminalreporter"))


@pytest.fixture
def encheck_case(request: pytest.FixtureRequest) -> Case:
    """Return the model, data and level of this check. Raise an error if another check has the same name."""
    if problem := request.node.stash.get(CLASH, ""):
        pytest.fail(problem, pytrace=False)
    case: Case = request.param
    return case


@pytest.fixture(scope="session")
def encheck_model(request: pytest.FixtureRequest) -> str:
    """Return the model of the fixture `encoder`, by its name in --encheck-model."""
    return collection.model_name(request)


@pytest.fixture(scope="session")
def encoder(request: pytest.FixtureRequest, encheck_model: str) -> Iterator[EncoderService]:
    """Yield the model under test, with similarity(a, b), similarities([...], [...]) and encode([...]), through the
    store.
    """
    found = open_encoder(request.config, request.config.stash[PROCESS], encheck_model)
    yield found
    found.store.close()


@pytest.fixture
def epsilon(pytestconfig: pytest.Config) -> float:
    """Return the margin from --epsilon."""
    return float(pytestconfig.option.encheck_epsilon)


@pytest.fixture
def threshold(pytestconfig: pytest.Config) -> float | None:
    """Return the user's own threshold, from --threshold."""
    cut: float | None = pytestconfig.option.encheck_threshold
    return cut


@pytest.fixture
def median_scope(pytestconfig: pytest.Config) -> str | float:
    """Return the boundary between obvious and non-obvious pairs, from --median-scope."""
    return options.parse_median_scope(pytestconfig.option.encheck_median_scope)


@pytest.fixture
def encheck_judgement(request: pytest.FixtureRequest, encheck_case: Case) -> Judgement:
    """Return the measurement and judgement of this check, shared by its fixtures."""
    judgement = Judgement(encheck_case, request.config.stash[EVALUATION])
    request.node.stash[outcomes.JUDGEMENT] = judgement
    return judgement


@pytest.fixture
def scores(encheck_judgement: Judgement) -> Scores:
    """Return the similarities of this check's items. Skip the check if there are none, and fail if the model failed."""
    try:
        return encheck_judgement.scores
    except NothingToMeasure as nothing:
        pytest.skip(str(nothing))
    except CheckError as error:
        problem = str(error)
    pytest.fail(problem, pytrace=False)


@pytest.fixture
def report(request: pytest.FixtureRequest, encheck_judgement: Judgement) -> Callable[..., None]:
    """Report further figures without a verdict: `report(mean_margin(scores), ...)`."""

    def add(*estimates: Estimate) -> None:
        with outcomes.pytest_outcomes(request.node, encheck_judgement):
            encheck_judgement.report(*estimates)

    return add


@pytest.fixture
def judge(request: pytest.FixtureRequest, encheck_judgement: Judgement, scores: Scores) -> Callable[..., None]:
    """Judge the metric of `@claim` by its floor and aim, or by `at_least`. See `Judgement.judge`."""

    def decide(given: Estimate | Scores | None = None, *, at_least: float | None = None) -> None:
        with outcomes.pytest_outcomes(request.node, encheck_judgement):
            encheck_judgement.judge(scores if given is None else given, at_least=at_least)

    return decide


def _controller(config: pytest.Config) -> Controller:
    process = config.stash[PROCESS]
    assert isinstance(process, Controller)
    return process

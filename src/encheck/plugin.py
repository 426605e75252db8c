"""The pytest plugin: hooks and fixtures, which delegate to `encheck.controller`.

It claims the options `--encheck-*`; a clone's conftest.py and the `encheck` command add the short spellings. Nothing
heavy is imported before a check was collected.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck import options as settings
from encheck.controller import collection, outcomes
from encheck.controller.process import Controller, Process, Worker, settings_of, usage_errors
from encheck.errors import CheckError, EncheckError, NothingToMeasure
from encheck.reporting.text import LINES, visible

if TYPE_CHECKING:
    from encheck.controller.session import Session
    from encheck.running.case import Case
    from encheck.scoring.scores import Scores
    from encheck.types import Estimate

PROCESS: pytest.StashKey[Process] = pytest.StashKey()
SESSION: pytest.StashKey[Session] = pytest.StashKey()
CLASH: pytest.StashKey[str] = pytest.StashKey()
MARKERS = {
    "paraphrase": "criterion 1: paraphrases are nearer than non-paraphrases",
    "synonym": "criterion 2: words give way to synonyms and the meaning stays",
    "antonym": "criterion 3: an antonym is farther than a paraphrase, or than a synonym of the same word",
    "jumble": "criterion 4: words in another order are farther than a paraphrase, or than a harmless reorder",
    "nonobvious": "where word overlap misleads: a paraphrase in other words is nearer than a look-alike",
    "sts": "similarity is graded as people grade it",
    "negation": "a negation turns the meaning, a word of emphasis does not",
    "number": "another number is another fact, the same number written otherwise is not",
    "roles": "who does what to whom decides the meaning",
    "temporal": "what came first decides the meaning",
    "quantifier": "how many of them decides the meaning",
    "modality": "must and may are not the same",
    "entity": "another name is another thing, another name of the same thing is not",
    "dilution": "an edit still shows when the sentence stands in a longer text",
    "swapchain": "a paraphrase ranks above the same paraphrase with pairs of its words exchanged",
    "continuation": "a sentence that goes on to say more is farther the more it says",
    "retrieval": "a sentence finds its paraphrase among all texts and look-alikes",
    "invariance": "case, blanks and contractions change no meaning",
    "health": "the space is sound: room between texts, no noise, no hubs",
    "contract": "finite, of one shape, the same twice, nothing cut off",
    "symmetry": "the prediction stays when the two sentences are exchanged",
}


def pytest_addoption(parser: pytest.Parser) -> None:  # noqa: D103
    settings.add_options(parser.getgroup("encheck", "behavioural tests for sentence encoders"), prefix="encheck-")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Take what was given after a blank for the value of its option, where pytest takes it for a test path.

    The short options are not known to pytest yet. A folder would be run; anything else would have pytest load the
    conftest.py of every folder that is called test..., for want of a path. The root of the project has been looked for
    already: a folder outside of it is refused.
    """
    tests, valued = early_config.known_args_namespace.file_or_dir, settings.valued_options()
    for at in reversed(range(len(args) - 1)):
        option, value = args[at : at + 2]
        if value.startswith("-"):
            continue
        if option in settings.TAKE_PATHS and Path(value.partition("::")[0]).exists():
            if not _in_project(early_config, Path(value)):
                raise pytest.UsageError(
                    f"write {option}={value} with an equals sign: after a blank, pytest takes {value!r} for a test "
                    "path and would run what lies in it"
                )
            args[at : at + 2] = [f"{option}={value}"]
        if option in valued and value in tests:
            tests.remove(value)


def _in_project(config: pytest.Config, path: Path) -> bool:
    """Whether the project's own settings were found although this path stood among the arguments."""
    here = config.invocation_params.dir
    return config.inipath is not None and all(
        p.is_relative_to(config.rootpath) for p in (here, (here / path).resolve())
    )


def pytest_configure(config: pytest.Config) -> None:  # noqa: D103
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    with usage_errors():
        settings.refuse_empty(config.option)
        settings.refuse_contradictions(config.option)
    config.stash[PROCESS] = Worker(config) if hasattr(config, "workerinput") else Controller(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker where the store of a run without a store is."""
    _controller(node.config).node_configured(node)


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
            collection.refuse_unknown_markers(config, checks)
    offered = collection.levels_offered(checks)
    yield
    checks = collection.checks_among(items)
    process.selected(item.nodeid for item in checks)
    if checks and not config.option.collectonly:
        with process.refusing(items):
            config.stash[SESSION] = _open_session(config, checks)
            process.refuse_models(config.stash[SESSION])
            collection.refuse_unknown_checks(
                config, config.stash[SESSION].settings, config.stash[SESSION].bench.subjects, offered
            )


def _open_session(config: pytest.Config, checks: list[pytest.Item]) -> Session:
    """The session of these checks; those that have the name of another one are marked."""
    from encheck.controller.cases import clashes
    from encheck.controller.session import Session

    for item, problem in clashes([(item, item.nodeid, collection.case_of(item)) for item in checks]):
        item.stash[CLASH] = problem
    return Session(_settings(config), list(map(collection.case_of, checks)))


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """With --collect-only: what would run, and roughly how long."""
    found = list(map(collection.case_of, collection.checks_among(items)))
    if not found or not config.option.collectonly:
        return []
    from encheck.controller.cases import roughly
    from encheck.running.resources import resolve_data

    with usage_errors():
        return [f"encheck: {roughly(found, resolve_data(_settings(config)))}"]


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


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Hold every check to a judgement."""
    return (yield from outcomes.called(pyfuncitem)) if collection.claim_at(pyfuncitem) else (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Send the rows and the items of a check along with its report."""
    report = yield
    if collection.claim_at(item) and SESSION in item.config.stash:
        outcomes.attach(report, item, call, item.config.stash[SESSION])
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> Any:
    """Known failures, stale ones and inconclusive checks have letters of their own."""
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
    """The cut-off of the user's own that --threshold names."""
    cut: float | None = pytestconfig.option.encheck_threshold
    return cut


@pytest.fixture
def median_scope(pytestconfig: pytest.Config) -> str | float:
    """Where --median-scope cuts between obvious and non-obvious pairs."""
    return settings.scope_of(pytestconfig.option.encheck_median_scope)


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
    """Hold the figure that decides against its threshold: `judge(margin_rate(scores), at_least=0.9)`."""
    session = request.config.stash[SESSION]

    def decide(estimate: Estimate, *, at_least: float) -> None:
        row = session.judged(encheck_case, estimate, at_least)
        outcomes.record(request.node, row)
        if row.verdict in ("fail", "error"):
            pytest.fail(session.message(encheck_case, row), pytrace=False)
        if row.verdict == "known_failure":
            pytest.xfail(visible(row.reason, keep=LINES))

    return decide


def _controller(config: pytest.Config) -> Controller:
    process = config.stash[PROCESS]
    assert isinstance(process, Controller)
    return process


def _settings(config: pytest.Config) -> settings.Settings:
    return settings_of(config, config.stash[PROCESS].store)

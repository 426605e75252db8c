"""The pytest plugin: hooks and fixtures only. Nothing heavy is imported before a check was collected.

It claims the options `--encheck-*`; `-p encheck.short_options` adds the short spellings, in a clone and for `encheck
run`. What a
run keeps lives in `encheck.controller.session`; what becomes of its rows in `encheck.reporting`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck import options as settings
from encheck.claims import Claim, claim_of, told_of
from encheck.errors import CheckError, EncheckError, NothingToMeasure, UsageError, unknown
from encheck.reporting.text import LINES, visible

if TYPE_CHECKING:
    from encheck.controller.recorder import Recorder
    from encheck.controller.session import Session
    from encheck.running.case import Case
    from encheck.running.subject import Subject
    from encheck.scoring.scores import Scores
    from encheck.types import CheckResult, Estimate

SESSION: pytest.StashKey[Session] = pytest.StashKey()
RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
STORE: pytest.StashKey[str] = pytest.StashKey()
ROWS: pytest.StashKey[list[CheckResult]] = pytest.StashKey()
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
SHORT = "encheck.short_options"
PYTEST_MARKERS = {"parametrize", "usefixtures", "skip", "skipif", "xfail", "filterwarnings"}
STATUS = {
    "known_failure": ("known failures", "k", ("KNOWN FAILURE", {"yellow": True})),
    "stale_known_failure": ("stale known failures", "S", ("STALE KNOWN FAILURE", {"yellow": True})),
    "inconclusive": ("inconclusive", "?", ("INCONCLUSIVE", {"yellow": True})),
}


def pytest_addoption(parser: pytest.Parser) -> None:  # noqa: D103
    group = parser.getgroup("encheck", "behavioural tests for sentence encoders")
    settings.add_options(group, prefix=settings.PREFIX)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """Refuse a path outside the project that was given after a blank, and options that nobody knows."""
    with _usage_errors():
        for option, path in settings.given_after_a_blank(args, prefix=settings.PREFIX):
            _refuse_outside(early_config, option, path)
        for option, path in settings.given_after_a_blank(args):
            if _has_short_options(early_config):
                _refuse_outside(early_config, option, path)
    yield
    if not early_config.known_args_namespace.help:
        unknown_args = parser.parse_known_and_unknown_args(list(args), copy(early_config.option))[1]
        with _usage_errors():
            settings.refuse_misspelt(unknown_args, prefix=settings.PREFIX)
            if early_config.pluginmanager.has_plugin(SHORT):
                settings.refuse_misspelt(unknown_args)


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
            f"use {option}={path}, not {option} {path}, for a path outside the project: pytest treats a path that "
            "stands alone as a test, and would run what lies there"
        )


def _in_project(config: pytest.Config, path: Path) -> bool:
    """Whether the project's own settings were found although this path stood among the arguments."""
    here, known = config.invocation_params.dir, config.known_args_namespace
    if known.inifilename and known.rootdir:
        return True  # nothing was looked for
    return config.inipath is not None and all(
        p.is_relative_to(config.rootpath) for p in (here, (here / path).resolve())
    )


def pytest_configure(config: pytest.Config) -> None:  # noqa: D103
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    with _usage_errors():
        settings.refuse_wrong(config.option)
    if config.option.encheck_no_store:
        worker = getattr(config, "workerinput", None)
        if worker is None:
            folder = tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True)
            config.add_cleanup(folder.cleanup)
        config.stash[STORE] = worker["encheck_store"] if worker else str(Path(folder.name) / "store.sqlite")
    if not hasattr(config, "workerinput"):
        from encheck.controller.recorder import Recorder

        config.stash[RECORDER] = Recorder()
        config.pluginmanager.register(_Reports(config.stash[RECORDER]), "encheck.reports")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker where the store of a run without a store is."""
    if STORE in node.config.stash:
        node.workerinput["encheck_store"] = node.config.stash[STORE]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one case of each model x data x level; nothing is loaded or checked yet."""
    claim = claim_of(metafunc.function)
    if claim is None:
        return
    from encheck.controller.cases import cases

    name = metafunc.definition.originalname or metafunc.function.__name__
    found = cases(metafunc.config.option, name, claim, _marker(metafunc.definition))
    metafunc.parametrize("encheck_case", found, ids=[case.name for case in found], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Read the baselines; find out in the controller of xdist what is wrong, before any worker starts."""
    config = session.config
    if RECORDER in config.stash and config.option.encheck_report_dir:
        with _usage_errors():
            settings.refuse_place(config.option.encheck_report_dir)
    if RECORDER in config.stash and (config.option.encheck_baseline or config.option.encheck_save_baseline):
        from encheck.controller.gate import read_baselines

        with _usage_errors():
            config.stash[RECORDER].baselines = read_baselines(_settings(config))
    if getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput"):
        with _usage_errors():
            _find_faults(config)


def _find_faults(config: pytest.Config) -> None:
    """UsageError for what is wrong with models, data and thresholds, before any worker of xdist starts."""
    asked, subjects = _settings(config), {}
    if config.option.encheck_model or config.option.encheck_data:
        from encheck.running.notes import store_notes
        from encheck.running.resources import open_store, resolve_data, resolve_models

        with store_notes() as config.stash[RECORDER].notes:
            subjects = resolve_models(asked, open_store(asked))
        _refuse_models(config, subjects)
        resolve_data(asked)
    _refuse_unknown_checks(config, subjects, {})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Once it is known which checks run: load the data and find the models, or say what is wrong with them."""
    with _usage_errors(config, items):
        if any(map(_claim, items)):
            _refuse_unknown_markers(config, items)
    offered = {_case(item).claim_name: set(map(str, _case(item).claim.levels)) for item in items if _claim(item)}
    yield
    found = [_case(item) for item in items if _claim(item)]
    if RECORDER in config.stash:
        config.stash[RECORDER].select(item.nodeid for item in items if _claim(item))
    if found and not config.option.collectonly:
        from encheck.controller.cases import clashes
        from encheck.controller.session import Session

        for item, problem in clashes([(item, item.nodeid, _case(item)) for item in items if _claim(item)]):
            item.stash[CLASH] = problem
        with _usage_errors(config, items):
            config.stash[SESSION] = Session(_settings(config), found)
            subjects = config.stash[SESSION].bench.subjects
            _refuse_models(config, subjects)
            _refuse_unknown_checks(config, subjects, offered)


def _refuse_unknown_checks(
    config: pytest.Config, subjects: Mapping[str, Subject], offered: Mapping[str, set[str]]
) -> None:
    """Refuse thresholds and known failures of checks that there are not: of the project, and of the models that run."""
    asked = _settings(config)
    place, known = "[tool.encheck] of pyproject.toml", asked.project.get("known_failures", {})
    tables = {f"{place}: thresholds": asked.project.get("thresholds", {})}
    tables |= {f"{place}: {model}'s known_failures": keys for model, keys in known.items()}
    for label, subject in subjects.items():
        tables[f"models.yaml: {label}'s thresholds"] = subject.config.thresholds
        tables[f"models.yaml: {label}'s known_failures"] = subject.config.known_failures or {}
    if any(tables.values()):
        settings.refuse_unknown_checks(tables, offered, places=[asked.root, *_places(config)])


def _places(config: pytest.Config) -> Iterator[Path]:
    """The files and folders that pytest was given, also as the names of modules."""
    for arg in (text.partition("::")[0] for text in config.args):
        with suppress(ImportError, ValueError):  # pytest says what is wrong with it
            found = find_spec(arg) if config.option.pyargs and not Path(arg).exists() else None
            yield Path(found.origin).parent if found and found.origin else Path(arg)


def _refuse_models(config: pytest.Config, subjects: Mapping[str, Subject]) -> None:
    """Refuse what a gate cannot weigh, before anything is encoded."""
    if RECORDER in config.stash and (config.option.encheck_baseline or config.option.encheck_save_baseline):
        from encheck.controller.gate import refuse_models

        refuse_models(config.stash[RECORDER].baselines, subjects)


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """With --collect-only: what would run, and roughly how long."""
    found = [_case(item) for item in items if _claim(item)]
    if not found or not config.option.collectonly:
        return []
    from encheck.controller.cases import roughly
    from encheck.running.resources import resolve_data

    with _usage_errors():
        return [f"encheck: {roughly(found, resolve_data(_settings(config)))}"]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Encode what the selected checks declared, before the first of them runs."""
    if SESSION in session.config.stash and not session.testsfailed:
        is_worker = hasattr(session.config, "workerinput")  # its checks fail with the same message, one by one
        with suppress(EncheckError) if is_worker else _usage_errors():
            _clear_report(session.config)
            session.config.stash[SESSION].prepare()


def _clear_report(config: pytest.Config) -> None:
    """Remove what an earlier run left in --report-dir; workers of xdist do, long before the controller writes."""
    if folder := config.option.encheck_report_dir:
        from encheck.controller.write import clear

        clear(Path(folder))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Skip a check that found that there is nothing to measure; one that ended without a judgement is an error."""
    try:
        result = yield
    except NothingToMeasure as nothing:
        if not _claim(pyfuncitem):
            raise
        pytest.skip(str(nothing))
    if _claim(pyfuncitem) and all(row.threshold is None for row in pyfuncitem.stash.get(ROWS, [])):
        pytest.fail(
            f"{pyfuncitem.name} ended without a judgement and holds the model to nothing. "
            "Remedy: let it end with judge(FIGURE, at_least=THRESHOLD)",
            pytrace=False,
        )
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Send the rows and the item scores of a check along with its report, which reaches the xdist controller."""
    report: Any = yield
    if _claim(item) and SESSION in item.config.stash and (call.when == "call" or not report.passed):
        from encheck.controller.recorder import payload

        rows = item.stash.setdefault(ROWS, [])
        if call.excinfo and not any(row.verdict for row in rows):
            rows.append(_outcome(item, call.excinfo))
        told = told_of(item.function)  # type: ignore[attr-defined]
        report.encheck = payload(item.config.stash[SESSION], _case(item), rows, told)
        _attach(report, item.config)
    return report


def _attach(report: Any, config: pytest.Config) -> None:
    """Figures, curves and items for pytest-html, where a report of it is asked for."""
    if config.getoption("htmlpath", None) is None:
        return
    from encheck.reporting.html.fragment import fragment

    content = fragment(report.encheck["rows"], report.encheck["items"])
    extra = {"name": "encheck", "format_type": "html", "content": content, "mime_type": None, "extension": None}
    report.extras = [*getattr(report, "extras", []), extra]


def _outcome(item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> CheckResult:
    """The row of a check that gave no verdict: skipped, failed by a bare assert, or not able to measure."""
    session, case = item.config.stash[SESSION], _case(item)
    if excinfo.errisinstance(pytest.skip.Exception):
        return session.row(case, None, "skipped", None, str(excinfo.value))
    verdict: Any = "fail" if excinfo.errisinstance(AssertionError) else "error"
    return session.row(case, None, verdict, None, str(excinfo.value))


def pytest_report_teststatus(report: pytest.TestReport) -> Any:
    """Known failures, stale ones and inconclusive checks have letters of their own: k, S, ?."""
    rows = getattr(report, "encheck", {}).get("rows", [])
    verdicts = [row["verdict"] for row in rows if row["verdict"]]
    return STATUS.get(verdicts[0]) if verdicts else None


class _Reports:
    """Hands every report of this process, or of its xdist workers, to the recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.recorder.add(report)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Note what an xdist worker selected."""
    node.config.stash[RECORDER].select(ids)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what an xdist worker says of models, data and times, and why it refused to run."""
    recorder, said = node.config.stash[RECORDER], getattr(node, "workeroutput", {})
    if described := said.get("encheck"):
        recorder.described.append(described)
    recorder.refusal = recorder.refusal or said.get("encheck_refusal", "")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the results, after the gate has spoken; a worker sends its part to the controller."""
    config = session.config
    here = config.stash.get(SESSION, None)
    described = here.describe() if here else None
    if here:
        here.close()
    if hasattr(config, "workeroutput"):
        config.workeroutput["encheck"] = described
        return
    recorder = config.stash[RECORDER]
    recorder.described += [described] if described else []
    if recorder.refusal:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR
    if recorder.measured_nothing and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    if recorder.rows:
        from encheck.controller.write import write_run

        try:
            asked = _settings(config)
            session.exitstatus = _gated(session, recorder, asked)
            write_run(recorder, asked, config.option.encheck_report_dir, sys.argv, int(session.exitstatus))
        except EncheckError as error:
            recorder.problems.append(str(error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR


def _gated(session: pytest.Session, recorder: Recorder, asked: settings.Settings) -> int:
    """The exit status after the gate; that of wrong use where the run and a baseline cannot be compared."""
    from encheck.controller.gate import conclude

    option = session.config.option
    selected = recorder.selected if option.markexpr or option.keyword else None
    try:
        status = conclude(recorder, asked, int(session.exitstatus), selected=selected)
    except UsageError as error:
        recorder.problems.append(str(error))
        status = int(pytest.ExitCode.USAGE_ERROR)
    _note_properties(session.config, recorder)
    return status


def _note_properties(config: pytest.Config, recorder: Recorder) -> None:
    """Hand the capabilities of a gate to --junitxml, where it is asked for."""
    if recorder.gate:
        from encheck.reporting.gate import properties

        files = [p for p in config.pluginmanager.get_plugins() if hasattr(p, "add_global_property")]
        for file in files:
            for name, value in properties(recorder.gate):
                file.add_global_property(name, value)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table of verdicts, and where the report is."""
    recorder = config.stash.get(RECORDER, None)
    if recorder and recorder.refusal:
        terminalreporter.write_line(f"ERROR: {visible(recorder.refusal, keep=LINES)}", red=True)
    if recorder and recorder.told and recorder.folder:
        from encheck.reporting.terminal import lines

        terminalreporter.section("encheck")
        for line in lines(recorder.told):
            terminalreporter.write_line(line)
        for problem in recorder.problems:
            terminalreporter.write_line(problem)
        if (recorder.folder / "report.html").exists():
            terminalreporter.write_line(f"report: {recorder.folder / 'report.html'}")


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
            _record(request.node, session.row(encheck_case, estimate, None, None, ""))

    return add


@pytest.fixture
def judge(request: pytest.FixtureRequest, encheck_case: Case) -> Callable[..., None]:
    """Hold the figure that decides against its threshold: `judge(margin_rate(scores), at_least=0.9)`."""
    session = request.config.stash[SESSION]

    def decide(estimate: Estimate, *, at_least: float) -> None:
        row = session.judged(encheck_case, estimate, at_least)
        _record(request.node, row)
        if row.verdict in ("fail", "error"):
            pytest.fail(session.message(encheck_case, row), pytrace=False)
        if row.verdict == "known_failure":
            pytest.xfail(visible(row.reason, keep=LINES))

    return decide


def _record(item: pytest.Item, row: CheckResult) -> None:
    from encheck.reporting.failures import figure_line

    item.stash.setdefault(ROWS, []).append(row)
    assert row.estimate is not None
    item.user_properties.append((row.id.rpartition("/")[2], figure_line(row.estimate)))
    if row.verdict:
        item.user_properties += [("verdict", row.verdict), ("threshold", f"{row.threshold:g}")]


def _claim(item: pytest.Item) -> Claim | None:
    return claim_of(getattr(item, "function", None))


def _case(item: pytest.Item) -> Case:
    case: Case = item.callspec.params["encheck_case"]  # type: ignore[attr-defined]
    return case


def _marker(definition: pytest.Item) -> str:
    """The check's own marker: its nearest one that is not pytest's."""
    return next((m.name for m in definition.iter_markers() if m.name not in PYTEST_MARKERS), "unmarked")


def _settings(config: pytest.Config) -> settings.Settings:
    return settings.from_options(config.option, root=config.rootpath, store=config.stash.get(STORE, None))


@contextmanager
def _usage_errors(config: pytest.Config | None = None, items: list[pytest.Item] | None = None) -> Iterator[None]:
    """Turn what the user got wrong into pytest's own usage error: one message, exit code 4.

    A worker of xdist that raised one would break the run: it runs none of its `items`, and its controller says why.
    """
    try:
        yield
    except EncheckError as error:
        if items is None or config is None or not hasattr(config, "workeroutput"):
            raise pytest.UsageError(str(error)) from error
        config.workeroutput["encheck_refusal"] = str(error)
        items.clear()


def _refuse_unknown_markers(config: pytest.Config, items: list[pytest.Item]) -> None:
    registered = {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")}
    offered = {m.name for item in items if _claim(item) for m in item.iter_markers()} - PYTEST_MARKERS
    for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"\(.*?\)", "", config.option.markexpr or "")):
        if name not in registered | {"and", "or", "not", "True", "False", "None"}:
            raise UsageError(
                f"the marker {name!r} is not registered. Remedy: [tool.pytest.ini_options] of pyproject.toml, or "
                f'[pytest] of pytest.ini, should name it: markers = ["{name}: what it is about"]'
                if name in offered
                else unknown("marker", name, offered)
            )

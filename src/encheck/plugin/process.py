"""The role of this process in a run: xdist's controller or a worker. A run without xdist is its own controller."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck import options
from encheck.engine.recorder import Conclusion, Recorder
from encheck.errors import EncheckError, UsageError
from encheck.options import Settings
from encheck.system.files import Scratch, is_file
from encheck.system.memory import without_collection
from encheck.system.terminal import LINES, make_visible

if TYPE_CHECKING:
    from encheck.engine.case_outcome import ProcessDescription
    from encheck.engine.evaluation import Evaluation
    from encheck.run_file import RunFile
    from encheck.running.model_under_test import ModelUnderTest
    from encheck.running.service import EncoderService

WARM = "The harbour lay quiet."  # encoded before the first test, so that no test waits for the weights
MODEL_FILES = ("modules.json", "adapter_config.json", "saved_model.pb", "model.onnx")
DESCRIBED, REFUSED = "encheck_described", "encheck_refused"  # types that xdist can send
STORE, RUN = "encheck_store", "encheck_run"


class XdistWorker:
    """An xdist worker: it measures and sends the results to the controller."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.output = config, config.workeroutput  # type: ignore[attr-defined]
        self.store: str | None = config.workerinput.get(STORE)  # type: ignore[attr-defined]
        self.run: str | None = config.workerinput.get(RUN)  # type: ignore[attr-defined]
        self.is_junit = bool(getattr(config.option, "xmlpath", None))

    def start(self) -> None:
        """Do nothing: the controller has already checked the settings."""

    def record_selected(self, ids: Iterable[str]) -> None:
        """Do nothing: xdist tells the controller which checks were selected."""

    def refuse_models(self, evaluation: Evaluation) -> None:
        """Do nothing: the controller refuses models that cannot be a baseline."""

    @contextmanager
    def user_errors(self, items: list[pytest.Item]) -> Iterator[None]:
        """Clear `items` on a user's error, because raising the error here would break xdist's run."""
        try:
            yield
        except EncheckError as error:
            self.output[REFUSED] = str(error)
            items.clear()

    @contextmanager
    def preparation_errors(self) -> Iterator[None]:
        """Suppress the error of a failed preparation, because each check reports it."""
        with suppress(EncheckError):
            yield

    def finish(self, _session: pytest.Session, described: ProcessDescription | None) -> None:
        """Send this worker's models, data and times."""
        self.output[DESCRIBED] = described.serialise() if described else ""

    def summarize(self, terminal: pytest.TerminalReporter) -> None:
        """Do nothing: the controller prints the summary."""

    def print_last_lines(self, terminal: pytest.TerminalReporter | None) -> None:
        """Do nothing: the controller prints the last lines."""


class Controller:
    """The reporting process: it gathers, writes and prints the results."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.recorder = config, Recorder()
        self.reports = _Reports(self.recorder)
        self.notes: list[str] = []
        self.problems: list[str] = []
        self.refusal = ""
        self.results: RunFile | None = None
        self.page: Path | None = None
        self.last: list[str] = []  # lines below pytest's own last one
        self.store = self._temporary_file("store.sqlite") if config.option.encheck_no_store else None
        self.run: str | None = None
        self.is_junit = bool(getattr(config.option, "xmlpath", None))
        config.pluginmanager.register(self.reports, "encheck.reports")

    def _temporary_file(self, name: str) -> str:
        folder = Scratch()
        self.config.add_cleanup(folder.cleanup)
        return str(folder.path / name)

    def start(self) -> None:
        """Report wrong options before any worker starts."""
        option = self.config.option
        with as_pytest_usage_error():
            if option.encheck_look_first:  # `encheck run`
                from encheck.encoders.models_file import known_models

                known = known_models(settings_of(self.config, self.store).models_file)
                for arg in self.config.args:
                    config = b""  # of transformers, or a config.json of tests
                    with suppress(OSError):
                        config = Path(arg, "config.json").read_bytes()
                    is_model = arg in known or b'"model_type"' in config or b'"architectures"' in config
                    if is_model or any(is_file(Path(arg, name)) for name in MODEL_FILES):
                        raise UsageError(f"{arg} is a model, not a test. Type: encheck run --model={shlex.quote(arg)}")
            if option.encheck_report_dir:
                options.refuse_unwritable_folder(option.encheck_report_dir)
            if self.is_junit:
                from encheck.reporting.results import refuse_over

                refuse_over(Path(option.xmlpath), (".xml",), option="--junitxml")
            if option.encheck_save_baseline:
                from encheck.engine.conclusion import refuse_unusable_options

                settings = settings_of(self.config, self.store)
                refuse_unusable_options(settings.queries, len(settings.seed_replicates), settings.save_baseline)
            if getattr(option, "dist", "no") != "no":
                self._refuse_wrong_settings()

    def _refuse_wrong_settings(self) -> None:
        """Raise UsageError for wrong models, data and thresholds, before any xdist worker starts."""
        settings, subjects = settings_of(self.config, self.store), {}
        if self.config.option.encheck_model or self.config.option.encheck_data:
            from encheck.running.resources import open_store, resolve_data, resolve_models, shard_loader
            from encheck.system.terminal import store_notes

            with store_notes() as self.notes:
                subjects = resolve_models(settings, open_store(settings))
            self._refuse_models(subjects)
            self.run = self._temporary_file("run.lock")
            resolve_data(settings, shared=self.run, in_shards=shard_loader(settings, quiet=True))
        refuse_unknown_checks(self.config, settings, subjects, {})

    def record_selected(self, ids: Iterable[str]) -> None:
        """Record the selected checks, because checks that a crash cuts short have no report."""
        self.recorder.note_selected(ids)

    def refuse_models(self, evaluation: Evaluation) -> None:
        """Refuse models that cannot be a baseline, before encoding."""
        self._refuse_models(evaluation.session.subjects)

    def _refuse_models(self, subjects: Mapping[str, ModelUnderTest]) -> None:
        if self.config.option.encheck_save_baseline:
            from encheck.engine.conclusion import refuse_models

            refuse_models((), subjects)

    @contextmanager
    def user_errors(self, _items: list[pytest.Item]) -> Iterator[None]:
        """End the run with one message on a user's error."""
        with as_pytest_usage_error():
            yield

    @contextmanager
    def preparation_errors(self) -> Iterator[None]:
        """End the run with one message if the preparation fails."""
        with as_pytest_usage_error():
            yield

    def node_configured(self, node: Any) -> None:
        """Give a worker the shared lock, and the temporary store of a run without a store."""
        self.run = self.run or self._temporary_file("run.lock")
        node.workerinput[RUN] = self.run
        if self.store is not None:
            node.workerinput[STORE] = self.store

    def node_down(self, node: Any) -> None:
        """Receive a worker's models, data and times, and the reason if the worker refused to run."""
        sent = getattr(node, "workeroutput", {})
        if described := sent.get(DESCRIBED):
            from encheck.engine.case_outcome import ProcessDescription

            self.recorder.described.append(ProcessDescription.deserialise(described))
        self.refusal = self.refusal or sent.get(REFUSED, "")

    @property
    def is_short(self) -> bool:
        """Whether `encheck run` prints a short summary in place of pytest's output per check."""
        return bool(self.config.option.encheck_look_first) and self.config.get_verbosity() < 0

    def finish(self, session: pytest.Session, described: ProcessDescription | None) -> None:
        """Write the results."""
        option = self.config.option
        if self.is_short and (terminal := self.config.pluginmanager.get_plugin("terminalreporter")):
            for name, reports in terminal.stats.items():
                terminal.stats[name] = [one for one in reports if not hasattr(one, "encheck")]
        self.recorder.described += [described] if described else []
        if self.refusal:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        is_lacking = self.recorder.measured_nothing or self.recorder.left_data_unmeasured
        if is_lacking and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        if self.recorder.rows:
            self._conclude(session)
        elif session.exitstatus in (0, 1, 5) and option.encheck_save_baseline and not option.collectonly:
            self.problems.append("no check was run: no baseline was saved")
            session.exitstatus = session.exitstatus or pytest.ExitCode.NO_TESTS_COLLECTED

    @without_collection()
    def _conclude(self, session: pytest.Session) -> None:
        """Conclude the run and write it. The terminal shows the results even if the disk is full."""
        from encheck.engine.conclusion import INTERRUPTED, GateOptions, add_references, conclude
        from encheck.engine.folder import report_folder, write_report
        from encheck.reporting.terminal import rest_lines, verdict_lines
        from encheck.reporting.view import unused_threshold

        recorder = self.recorder
        try:
            settings = settings_of(self.config, self.store)
            place = report_folder(settings, started=recorder.started)
            status = int(session.exitstatus)
            is_stopped = session.shouldfail or session.shouldstop  # by -x or --maxfail, perhaps after the last test
            is_cut = is_stopped and len(self.reports.finished) < session.testscollected
            try:
                end = conclude(
                    recorder, settings, INTERRUPTED if is_cut else status, GateOptions(save=settings.save_baseline)
                )
                end = replace(end, status=status) if is_cut else end
            except UsageError as error:
                end = Conclusion(int(pytest.ExitCode.USAGE_ERROR), problems=(str(error),))
            end = add_references(end, recorder, settings)
            session.exitstatus, self.problems = end.status, [*end.problems]
            script = Path(sys.argv[0])
            program = script.parent.name if script.stem == "__main__" else script.name  # python -m
            self.results = recorder.results(
                settings=options.settings_for_results(settings), end=end, folder=place.name,
                command=shlex.join([program, *sys.argv[1:]]),
                notes=[*self.notes, *unused_threshold(settings.threshold, recorder.rows.values())],
                for_the_rest=options.command_to_continue(sys.argv) if recorder.first_look else "",
            )  # fmt: skip
            self.page = place / "report.html"
            self.last += rest_lines(self.results)  # the rest after a first look comes last
            if self.is_short:
                self.last += verdict_lines(self.results)
            elif self.results.run.rest:
                self.last += filter(None, [self.results.run.rest.command])
            write_report(place, self.results, recorder.items, documents=recorder.documents)
        except EncheckError as error:
            self.problems.append(str(error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def summarize(self, terminal: pytest.TerminalReporter) -> None:
        """Print the table of verdicts and the path of the report."""
        if self.refusal:
            _write_line(terminal, f"ERROR: {self.refusal}", red=True)
        if self.results:
            from encheck.reporting.terminal import run_lines, short_run_lines

            if self.is_short:
                first = 1 if self.results.first_look else 2  # pytest's blank line, and the first look's line
                others = [*self.recorder.cut_short, *self.problems, *self.last, f"report: {self.page}"]
                lines = short_run_lines(self.results, self.recorder.items, others=first + len(others))
            else:
                terminal.section("encheck")
                is_verbose = terminal.config.get_verbosity() > 0
                lines = run_lines(self.results, self.recorder.items, verbose=is_verbose)
            for line in lines:
                _write_line(terminal, line)
        for problem in (*self.recorder.cut_short, *self.problems):
            _write_line(terminal, problem)
        if self.page and self.page.exists():
            _write_line(terminal, f"report: {self.page}")

    def print_last_lines(self, terminal: pytest.TerminalReporter | None) -> None:
        """Print the rest after a first look as the last lines of the output."""
        for line in self.last:
            _write_line(terminal, line)
        self.last = []


def _write_line(terminal: pytest.TerminalReporter | None, message: str, **markup: bool) -> None:
    """Write encheck's own output to pytest's terminal."""
    if terminal:
        terminal.write_line(make_visible(message, keep=LINES), **markup)


class _Reports:
    """Passes every report of this process or of its xdist workers to the recorder.

    `finished` has the ids of the tests that have ended.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.finished = recorder, set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.recorder.add_report(report)
        if report.when == "teardown":
            self.finished.add(report.nodeid)


Process = Controller | XdistWorker
PROCESS: pytest.StashKey[Process] = pytest.StashKey()


def settings_of(config: pytest.Config, store: str | None) -> Settings:
    """Return the settings from the options. `store` overrides their store."""
    return options.settings_from_options(config.option, root=config.rootpath, store=store)


@contextmanager
def as_pytest_usage_error() -> Iterator[None]:
    """Turn a user's error into pytest's usage error: one message, exit code 4."""
    try:
        yield
    except EncheckError as error:
        raise pytest.UsageError(make_visible(str(error), keep=LINES)) from error


def open_encoder(config: pytest.Config, process: Process, name: str) -> EncoderService:
    """Load the model of this name. The test fails with one message if the model is missing or does not compute."""
    from encheck.encoders.protocol import PartialEncoder
    from encheck.running.labels import model_labels
    from encheck.running.resources import open_store, resolve_models
    from encheck.running.service import EncoderService

    try:
        settings = settings_of(config, process.store)
        store = open_store(settings)
        label = next(label for label, spec in model_labels(settings.models).items() if spec == name)
        service = EncoderService(resolve_models(settings, store)[label], store).as_fixture()
        if not isinstance(service.model, PartialEncoder):
            service.similarity(WARM, WARM)
    except EncheckError as error:
        pytest.fail(f"encheck: {error}", pytrace=False)
    return service


def refuse_unknown_checks(
    config: pytest.Config, settings: Settings, subjects: Mapping[str, ModelUnderTest], offered: Mapping[str, set[str]]
) -> None:
    """Raise ConfigError if a threshold or known failure of the project or of a model names a check that does not exist.

    Checks in pytest's arguments (files, directories, or module names) exist.
    """
    places = []
    for arg in (text.partition("::")[0] for text in config.args):
        with suppress(ImportError, ValueError):  # pytest reports the error
            spec = find_spec(arg) if config.option.pyargs and not Path(arg).exists() else None
            places.append(Path(spec.origin).parent if spec and spec.origin else Path(arg))
    configs = {label: subject.config for label, subject in subjects.items()}
    options.refuse_unknown_thresholds(settings, configs, offered, places=places)

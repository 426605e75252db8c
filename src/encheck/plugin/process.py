"""The role of this process in a run: xdist's controller or a worker. A run without xdist is its own controller."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from encheck import options
from encheck.engine.recorder import Conclusion, Recorder
from encheck.errors import EncheckError, UsageError
from encheck.options import Settings
from encheck.system.garbage import uncollected
from encheck.system.terminal import LINES, visible

if TYPE_CHECKING:
    from encheck.engine.evaluation import Evaluation
    from encheck.gating.baseline import Baseline

DESCRIBED, REFUSED = "encheck_described", "encheck_refused"  # what xdist carries
STORE, RUN = "encheck_store", "encheck_run"
UNDECIDED = (
    "the gate did not decide: pytest ended without measuring, as with --collect-only, --setup-plan or --help. "
    "Remedy: leave such options out, also in PYTEST_ADDOPTS"
)


class Worker:
    """A worker of xdist: it measures, and sends what it found to the controller."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.output = config, config.workeroutput  # type: ignore[attr-defined]
        self.store: str | None = config.workerinput.get(STORE)  # type: ignore[attr-defined]
        self.run: str | None = config.workerinput.get(RUN)  # type: ignore[attr-defined]
        self.is_junit = bool(getattr(config.option, "xmlpath", None))

    def start(self) -> None:
        """The controller has looked for faults already."""

    def selected(self, ids: Iterable[str]) -> None:
        """The controller learns from xdist which checks were selected."""

    def refuse_models(self, evaluation: Evaluation) -> None:
        """The controller refuses what a gate cannot weigh."""

    @contextmanager
    def refusing(self, items: list[pytest.Item]) -> Iterator[None]:
        """Run none of the `items` where the user got something wrong: an error raised here would break xdist's run."""
        try:
            yield
        except EncheckError as error:
            self.output[REFUSED] = str(error)
            items.clear()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Whatever cannot be prepared is the error of each check."""
        with suppress(EncheckError):
            yield

    def finish(self, _session: pytest.Session, described: dict[str, Any] | None) -> None:
        """Send what this worker says of models, data and times."""
        self.output[DESCRIBED] = described

    def summarize(self, terminal: pytest.TerminalReporter) -> None:
        """The controller tells."""

    def tell_verdict(self, terminal: pytest.TerminalReporter | None) -> None:
        """The controller tells."""


class Controller:
    """The process that reports: it gathers what was measured, has the gate decide, writes and tells."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.recorder = config, Recorder()
        self.baselines: list[Baseline] = []
        self.notes: list[str] = []
        self.problems: list[str] = []
        self.refusal = ""
        self.results: dict[str, Any] = {}
        self.gate: Mapping[str, Any] | None = None  # what the gate of this run decided
        self.page: Path | None = None
        self.verdict: list[str] = []
        self.store = self._temporary("store.sqlite") if config.option.encheck_no_store else None
        self.run: str | None = None
        self.is_junit = bool(getattr(config.option, "xmlpath", None))
        config.pluginmanager.register(_Reports(self.recorder), "encheck.reports")

    def _temporary(self, name: str) -> str:
        folder = tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True)
        self.config.add_cleanup(folder.cleanup)
        return str(Path(folder.name) / name)

    def start(self) -> None:
        """Read the baselines, and find what is wrong before any worker starts."""
        option = self.config.option
        with usage_errors():
            if option.encheck_report_dir:
                options.refuse_place(option.encheck_report_dir)
            if self._gates:
                from encheck.engine.conclusion import read_baselines

                self.baselines = read_baselines(settings_of(self.config, self.store))
            if getattr(option, "dist", "no") != "no":
                self._find_faults()

    @property
    def _gates(self) -> bool:
        return bool(self.config.option.encheck_baseline or self.config.option.encheck_save_baseline)

    def _find_faults(self) -> None:
        """UsageError for what is wrong with models, data and thresholds, before any worker of xdist starts."""
        from encheck.plugin.unknown_names import refuse_unknown_checks

        settings, subjects = settings_of(self.config, self.store), {}
        if self.config.option.encheck_model or self.config.option.encheck_data:
            from encheck.engine.shards import large_of
            from encheck.running.notes import store_notes
            from encheck.running.resources import open_store, resolve_data, resolve_models

            with store_notes() as self.notes:
                subjects = resolve_models(settings, open_store(settings))
            self._refuse_models(subjects)
            self.run = self._temporary("run.lock")
            resolve_data(settings, shared=self.run, in_shards=large_of(settings, quiet=True).load)
        refuse_unknown_checks(self.config, settings, subjects, {})

    def selected(self, ids: Iterable[str]) -> None:
        """Note which checks were selected: what a crash cuts short has no report."""
        self.recorder.select(ids)

    def refuse_models(self, evaluation: Evaluation) -> None:
        """Refuse what a gate cannot weigh, before anything is encoded."""
        self._refuse_models(evaluation.bench.subjects)

    def _refuse_models(self, subjects: Any) -> None:
        if self._gates:
            from encheck.engine.conclusion import refuse_models

            refuse_models(self.baselines, subjects)

    @contextmanager
    def refusing(self, _items: list[pytest.Item]) -> Iterator[None]:
        """What the user got wrong ends the run with one message."""
        with usage_errors():
            yield

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """What cannot be prepared ends the run with one message."""
        with usage_errors():
            yield

    def node_configured(self, node: Any) -> None:
        """Tell a worker which lock the run's workers share, and where the store of a run without a store is."""
        self.run = self.run or self._temporary("run.lock")
        node.workerinput[RUN] = self.run
        if self.store is not None:
            node.workerinput[STORE] = self.store

    def node_down(self, node: Any) -> None:
        """Take what a worker says of models, data and times, and why it refused to run."""
        sent = getattr(node, "workeroutput", {})
        if described := sent.get(DESCRIBED):
            self.recorder.described.append(described)
        self.refusal = self.refusal or sent.get(REFUSED, "")

    def finish(self, session: pytest.Session, described: dict[str, Any] | None) -> None:
        """Have the gate decide, then write the results."""
        self.recorder.described += [described] if described else []
        if self.refusal:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        is_lacking = self.recorder.measured_nothing or self.recorder.left_data_unmeasured
        if is_lacking and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        if self.recorder.rows:
            self._conclude(session)
        decided = self.gate is not None and not self.gate["exit_code"]
        if session.exitstatus == 0 and self.config.option.encheck_baseline and not decided:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
            self.problems.append(UNDECIDED)
            self.verdict = [f"GATE: NO VERDICT (exit code {int(session.exitstatus)})"]

    @uncollected()
    def _conclude(self, session: pytest.Session) -> None:
        try:
            from encheck.engine.conclusion import with_references
            from encheck.engine.folder import place_of

            settings = settings_of(self.config, self.store)
            place = place_of(settings, self.config.option.encheck_report_dir, started=self.recorder.started)
            end = self._decide(settings, int(session.exitstatus), place)
            end = with_references(end, self.recorder, settings, self.baselines)
            session.exitstatus, self.problems, self.gate = end.status, [*end.problems], end.gate
            self._note_properties(end)
            self._write(settings, end, place)
        except EncheckError as error:
            self.problems.append(str(error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def _write(self, settings: Settings, end: Conclusion, place: Path) -> None:
        """Write the run; the terminal shows its results even where the disk is full."""
        from encheck.engine.folder import write
        from encheck.reporting.cut_offs import unanswered

        recorder = self.recorder
        notes = [*self.notes, *unanswered(settings.cutoff, recorder.rows.values())]
        script = Path(sys.argv[0])
        program = script.parent.name if script.stem == "__main__" else script.name  # python -m
        command = shlex.join([program, *sys.argv[1:]])
        self.results = recorder.results(
            settings=options.described(settings), end=end, folder=place.name, command=command, notes=notes,
            for_the_rest=options.without_quick(sys.argv) if recorder.first_look else "",
        )  # fmt: skip
        self.page = place / "report.html"
        self._tell_rest()
        write(place, self.results, recorder.items, searched=end.searched, documents=recorder.documents)

    def _tell_rest(self) -> None:
        """Keep what is left after a first look for the last lines."""
        from encheck.reporting.first_look import rest_lines

        self.verdict += rest_lines(self.results)

    def _decide(self, settings: Settings, status: int, place: Path) -> Conclusion:
        """What the gate concludes; wrong use where the run and a baseline cannot be compared."""
        from encheck.engine.conclusion import conclude

        try:
            return conclude(self.recorder, settings, status, baselines=self.baselines, folder=_from_here(place))
        except UsageError as error:
            return Conclusion(int(pytest.ExitCode.USAGE_ERROR), problems=(str(error),))

    def _note_properties(self, end: Conclusion) -> None:
        """Hand the gate to --junitxml, where it is asked for, and keep its verdict for the last line."""
        if end.gate:
            from encheck.plugin.junit import note_gate
            from encheck.reporting.gate.words import headline

            self.verdict = [*headline(end.gate)]
            note_gate(self.config.pluginmanager.get_plugins(), end.gate)
        elif self.config.option.encheck_baseline:
            self.verdict = [f"GATE: NO VERDICT (exit code {end.status})"]

    def summarize(self, terminal: pytest.TerminalReporter) -> None:
        """The table of verdicts, and where the report is."""
        if self.refusal:
            _tell(terminal, f"ERROR: {self.refusal}", red=True)
        if self.results:
            from encheck.reporting.terminal import lines

            terminal.section("encheck")
            is_verbose = terminal.config.get_verbosity() > 0
            for line in lines(self.results, self.recorder.items, verbose=is_verbose):
                _tell(terminal, line)
        for problem in (*self.recorder.cut_short, *self.problems):
            _tell(terminal, problem)
        if self.page and self.page.exists():
            _tell(terminal, f"report: {self.page}")
            if self.results.get("gate"):
                from encheck.engine.folder import GATE

                _tell(terminal, f"gate: {self.page.with_name(GATE)}")

    def tell_verdict(self, terminal: pytest.TerminalReporter | None) -> None:
        """The verdict of the gate, as the last line of the output."""
        for line in self.verdict:
            _tell(terminal, line)
        self.verdict = []


def _tell(terminal: pytest.TerminalReporter | None, message: str, **markup: bool) -> None:
    """All that encheck itself writes to pytest's terminal."""
    if terminal:
        terminal.write_line(visible(message, keep=LINES), **markup)


def _from_here(place: Path) -> str:
    """The path as one would type it."""
    return str(place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place)


class _Reports:
    """Hands every report of this process, or of its xdist workers, to the recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.recorder.add(report)


Process = Controller | Worker
PROCESS: pytest.StashKey[Process] = pytest.StashKey()


def settings_of(config: pytest.Config, store: str | None) -> Settings:
    """The settings that the options ask for; `store` goes before theirs."""
    return options.from_options(config.option, root=config.rootpath, store=store)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn what the user got wrong into pytest's own usage error: one message, exit code 4."""
    try:
        yield
    except EncheckError as error:
        raise pytest.UsageError(visible(str(error), keep=LINES)) from error

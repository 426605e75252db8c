"""`run`: run the checks in this process and get their results as Python values."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from encheck.api.loading import Spec, as_option
from encheck.api.packaged import packaged
from encheck.api.results import Results, read
from encheck.errors import EncheckError, UsageError, unknown
from encheck.options import add_options

Option = str | float | bool | Path | Sequence[str] | None
INTERRUPTED, WRONG_USE = 2, 4  # exit codes of pytest
FINISHED = (0, 1, 5, 10)


def run(
    model: Spec | Sequence[Spec] = "sbert",
    *,
    data: str | Sequence[str] = "probes",
    checks: str = "",
    report_dir: Spec | None = None,
    verbose: bool = False,
    **options: Option,
) -> Results:
    """Run the checks on one model or several, as `encheck run` does.

    The store keeps the vectors, so a second run encodes nothing.

    Args:
        model: a model, as in `load_model`, or a sequence of models.
        data: a data set, as in `load_data`, or a sequence of them.
        checks: which checks, by their properties: "antonym", "antonym or jumble". Default: all.
        report_dir: a folder for results.json, items.parquet, report.html and summary.md. Default: no report.
        verbose: print what `encheck run` prints. Default: print nothing.
        options: other options of `encheck run`, with underscores: epsilon=0.1, sample=500, no_store=True,
            model_arg=["dtype=bfloat16"]. A sequence repeats the option.

    Returns:
        The metrics of every case, with intervals and verdicts. A failing check is a verdict, not an exception.

    Raises:
        UsageError: `checks` or an option is wrong. Subclasses such as ModelError and DataError say what is wrong.
        EncheckError: the run stopped early.
        KeyboardInterrupt: the run was interrupted.
    """
    if options.get("dry_run"):
        raise UsageError("a dry run has no results to return. Remedy: encheck run --dry-run --json=FILE")
    arguments = [f"--encheck-model={as_option(one)}" for one in _several(model)]
    arguments += [f"--encheck-data={one}" for one in _several(data)]
    arguments += [*arguments_of(options), *(["-m", checks] if checks else [])]
    with tempfile.TemporaryDirectory(prefix="encheck-", ignore_cleanup_errors=True) as scratch:
        folder = Path(report_dir or scratch).expanduser()
        _pytest([*arguments, f"--encheck-report-dir={folder}"], verbose=verbose)
        return read(folder)


def _several(one: Any) -> list[Any]:
    return [one] if isinstance(one, str | Path) else list(one)


class _Switches:
    """Whether an option takes no value, by the option's name."""

    def __init__(self) -> None:
        self.found: dict[str, bool] = {}
        add_options(self)

    def addoption(self, *names: str, **attributes: Any) -> None:
        self.found[names[0].removeprefix("--")] = attributes.get("action") == "store_true"


def arguments_of(options: Mapping[str, Option]) -> list[str]:
    """The options as pytest's arguments; UsageError for one that does not exist."""
    switches, found = _Switches().found, []
    for key, value in options.items():
        name = key.replace("_", "-")
        if name not in switches:
            raise UsageError(unknown("option", key, [known.replace("-", "_") for known in switches]))
        if switches[name]:
            found += [f"--encheck-{name}"] * bool(value)
        elif value is not None:
            found += [f"--encheck-{name}={one}" for one in (value if isinstance(value, list | tuple) else [value])]
    return found


def _pytest(arguments: Sequence[str], *, verbose: bool) -> None:
    """Run the packaged checks in this process; UsageError, EncheckError or KeyboardInterrupt where that broke off."""
    import pytest

    class Watch:
        """Notes what pytest only prints."""

        refusal: EncheckError | None = None
        selected = 0
        config: pytest.Config | None = None

        def pytest_configure(self, config: pytest.Config) -> None:
            self.config = config

        @pytest.hookimpl(wrapper=True)
        def pytest_cmdline_main(self) -> Any:
            try:
                return (yield)
            except pytest.UsageError as error:
                cause = error.__cause__
                self.refusal = cause if isinstance(cause, EncheckError) else UsageError(_said(str(error)))
                raise

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            self.selected = len(session.items)

    watch, printed = Watch(), io.StringIO()
    with ExitStack() as stack:
        if not verbose:
            stack.enter_context(redirect_stdout(printed))
            stack.enter_context(redirect_stderr(printed))
        code = int(pytest.main(packaged(arguments, plugins=["encheck.plugin"]), plugins=[watch]))
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code == WRONG_USE:
        raise watch.refusal or UsageError(_said(printed.getvalue()))
    if code not in FINISHED:
        raise EncheckError(f"the run stopped with exit code {code}: {printed.getvalue().strip()[-2_000:]}")
    if not watch.selected:
        raise UsageError("no check is selected. Remedy: name a property that has checks: checks='antonym or jumble'")
    _refuse_unmeasured(watch.config)


def _refuse_unmeasured(config: Any) -> None:
    """UsageError where pytest measured nothing: a report that lies in the folder is that of an earlier run."""
    from encheck.plugin.process import PROCESS

    process = config.stash.get(PROCESS, None) if config else None
    if not getattr(process, "results", None):
        raise UsageError(
            "pytest ended without measuring. Remedy: leave --collect-only, --setup-plan and the like out of "
            "PYTEST_ADDOPTS"
        )


def _said(printed: str) -> str:
    """What is wrong, without the usage of a command that nobody gave."""
    return printed.rpartition("error: ")[2].partition("\n  inifile: ")[0].strip().removeprefix("ERROR: ")

"""`encheck run`: run the checks from a plain install, or score another system's file with --predictions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from encheck.cli.shared import (
    COMMON,
    MORE,
    CommonOptions,
    DataSpec,
    Scope,
    SkipBadRows,
    Split,
    app,
    print_lines,
    print_message,
    project,
    report_errors,
    shows_options,
)
from encheck.errors import STOPPED, UsageError
from encheck.options import GROUPS

# After the user's own: with -W error, pytest's warning about how encheck was started would end the run.
NO_WARNING = ("-W", "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning")


def pytest_arguments(arguments: Sequence[str], *, plugins: Sequence[str], modules: Iterable[str] = ()) -> list[str]:
    """Return the pytest arguments that run encheck's checks and those of `modules` in any working directory.

    `plugins` are the names of their entry points. Naming them loads them even if plugin autoloading is off, and
    registers each only once.
    """
    ini = str(resources.files("encheck") / "run.ini")
    named = [part for plugin in plugins for part in ("-p", plugin)]
    where = ["-c", ini, f"--rootdir={Path.cwd()}", "--noconftest", "--pyargs", "encheck.checks", *modules]
    at = list(arguments).index("--") if "--" in arguments else len(arguments)  # only names of tests follow it
    return [*named, *where, *arguments[:at], *NO_WARNING, *arguments[at:]]


END = "--"


def split_at_end_of_options(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the arguments at the first `--`. Arguments after `--` are never options.

    >>> split_at_end_of_options(["--model=old", "--", "-new"])
    (['--model=old'], ['-new'])
    """
    at = list(args).index(END) if END in args else len(args)
    return list(args[:at]), list(args[at + 1 :])


class PassesArguments(CommonOptions):
    """A command that passes all arguments on unparsed, except --help and --help-all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store the arguments in `ctx.args`."""
        if asked := [arg for arg in split_at_end_of_options(args)[0] if arg in ("--help", "--help-all")]:
            return list(super().parse_args(ctx, asked))
        ctx.args = list(args)
        return args


CACHED = (
    "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first", "--sw", "--stepwise",
    "--lfnf", "--last-failed-no-failures", "--sw-skip", "--stepwise-skip", "--sw-reset", "--stepwise-reset",
    "--cache-show", "--cache-clear",
)  # fmt: skip


QUIETLY = ("-qq",)  # pytest prints nothing itself; encheck ends the run with a few lines
LOUD = (
    "--verbose", "--verbosity", "--collect-only", "--co", "--markers", "--fixtures", "--fixtures-per-test", "--pdb",
    "--trace", "--setup-plan", "--setup-only", "--setup-show", "--version", "-V", "-h",
)  # fmt: skip


@app.command(cls=PassesArguments, options_metavar="[OPTIONS] [OPTIONS OF PYTEST]")
@shows_options
def run(
    context: typer.Context,
    *,
    m: Annotated[
        str | None,
        typer.Option("-m", metavar="PROPERTIES", rich_help_panel=COMMON,
                     help="Select properties: 'antonym or number'."),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option("-k", metavar="NAMES", rich_help_panel=COMMON,
                     help="Only checks with these words in their names."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("-n", metavar="N", rich_help_panel=COMMON, help="Run in N processes."),
    ] = None,
    junitxml: Annotated[
        str | None,
        typer.Option("--junitxml", metavar="FILE", rich_help_panel=COMMON, help="Write JUnit XML."),
    ] = None,
    predictions: Annotated[
        str | None,
        typer.Option("--predictions", metavar="FILE", rich_help_panel=f"{MORE}{GROUPS['what'].lower()}",
                     help="Score a file of predictions instead of a model. Goes with --data, --threshold, --split, "
                     "--median-scope, --seed, --json FILE and --skip-bad-rows."),
    ] = None,
    **_shown: object,
) -> None:  # fmt: skip
    """Test a model: run all checks, or those that you select.

    A run first shows a profile from at most 2,500 texts (the first look), then goes on. It stops there with --quick,
    or if the rest takes over 5 minutes or models.yaml gives the model a price; --full, --save-baseline and --junitxml
    prevent that. Other options go to pytest: -x, --collect-only.

    Exit code: 0 passed, 1 a check failed, 4 wrong usage or bad input, 5 nothing was measured.

    Examples:

        encheck run
        encheck run -m antonym --model=./checkpoint-5000
        encheck run -m "paraphrase or jumble" --data mrpc:path/to/MRPC -n 2
        encheck run --model sbert --save-baseline=reports/baselines/sbert
    """
    del m, k, n, junitxml, predictions  # they are in context.args
    if any(arg.partition("=")[0] == "--predictions" for arg in split_at_end_of_options(context.args)[0]):
        command: Any = typer.main.get_command(predictions_app)
        with command.make_context("run", list(context.args), parent=context.parent) as scoring:
            command.invoke(scoring)
        return
    options = split_at_end_of_options(context.args)[0]
    is_loud = any(arg.partition("=")[0] in LOUD or re.fullmatch("-v+", arg) for arg in options)
    raise typer.Exit(run_checks([*QUIETLY[is_loud:], "--look-first", *context.args]))


def run_checks(args: Sequence[str]) -> int:
    """Run encheck's checks and those of installed packages with pytest, and return the exit code."""
    import pytest

    from encheck.engine.checks import checks_of_packages
    from encheck.options import Settings

    with report_errors():
        for option in (arg.partition("=")[0] for arg in args):
            if option in CACHED:  # `encheck run` leaves no cache behind
                raise UsageError(
                    f"{option} needs pytest's cache of earlier runs, which `encheck run` does not keep. "
                    f"Remedy: pytest --pyargs encheck.checks {option}, with --encheck-model and the like"
                )
        packages = Settings(project=project()).chosen_packages
        added = checks_of_packages(packages) if packages else ()
    modules = dict.fromkeys(function.__module__ for function, _ in added)
    try:
        return int(
            pytest.main(pytest_arguments(args, plugins=["encheck.plugin", "encheck.short_options"], modules=modules))
        )
    except KeyboardInterrupt:  # pytest catches only the first one, and none while the report is written
        print_message("encheck: interrupted. The report is missing or incomplete; run again", err=True)
        return STOPPED


predictions_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@predictions_app.command()
def score(
    data: DataSpec,
    predictions: Annotated[
        Path, typer.Option(help="CSV, TSV or JSONL with a column prediction or score, or a SemEval run.")
    ],
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Predict 1 for scores at or above this value.")
    ] = None,
    split: Split = None,
    median_scope: Scope = "split",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures to this file, as JSON.")
    ] = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Score a file of predictions on a data set: obvious and non-obvious F1, MAP, and the figures of constant
    predictions.

    Examples:

        encheck run --data pairs:mine.csv --predictions theirs.csv

        encheck run --data semeval-cqa:FOLDER --predictions subtask_B_primary.txt --json b.json
    """
    from encheck.comparing.predictions import (
        prediction_lines,
        read_predictions,
        score_predictions,
        write_scored_predictions,
    )
    from encheck.datasets.load import load
    from encheck.options import parse_median_scope, parse_threshold

    with report_errors():
        scope, cut, read = parse_median_scope(median_scope), parse_threshold(threshold), read_predictions(predictions)
        loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
        found = score_predictions(read, loaded, threshold=cut, split=split, scope=scope, seed=seed)
        if json_file:
            write_scored_predictions(json_file, found, data=loaded, predictions=read)
    print_lines(prediction_lines(found))

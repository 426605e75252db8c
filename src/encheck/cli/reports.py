"""What is made of results: of runs that are over, or of predictions that somebody else made."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from encheck.cli.shared import DataSpec, Scope, SkipBadRows, Split, StorePath, app, project, say, tell, told

if TYPE_CHECKING:
    from encheck.reporting.where import Search

predictions_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def report(
    run_folder: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="Run directory. Default: the newest in reports/.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Page to write. Default: RUN/report.html.")] = None,
    card: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a card instead: the model's profile, as .svg or .png.")
    ] = None,
    badge: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a badge instead, as .svg or .png.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of the card or badge. Default: the first.")] = None,
    data: Annotated[str | None, typer.Option(help="Data set of the card or badge. Default: the first.")] = None,
    where: Annotated[
        bool, typer.Option("--where", help="Also say, here and on the page, which kinds of items are wrong more often.")
    ] = False,
    store: StorePath = None,
) -> None:
    """Write a run's report again from its results, or a card or badge for it, or say where its models fail.

    A card is one picture for a README or a model card. PNG needs the extra "png".

    Examples:

        encheck report reports/my-run --card card.svg --badge badge.svg

        encheck report reports/my-run --where
    """
    from encheck.reporting.rebuild import pictures, rebuild
    from encheck.reporting.results import newest_run

    with told():
        folder = run_folder or newest_run(Path("reports"))
        if where:
            from encheck.reporting.where import blocks, lines

            found = _where(folder, store)
            say(lines(found))
            tell(f"report: {rebuild(folder, out or folder / 'report.html', where=blocks(found))}")
        elif card or badge:
            say(map(str, pictures(folder, card=card, badge=badge, model=model, data=data)))
        else:
            tell(rebuild(folder, out or folder / "report.html"))


def _where(folder: Path, store: Path | None) -> list[Search]:
    from encheck.options import Settings
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.where import where
    from encheck.running.resources import open_store, resolve_english

    settings = Settings(store=store, project=project())
    with as_written(folder), closing(open_store(settings)) as opened:
        return where(folder, resolve_english(settings, opened))


@app.command()
def export(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")],
    out: Annotated[Path | None, typer.Option(help="Directory for the files. Default: RUN/exports.")] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="model-index, eval-results, mteb, csv, parquet or card; repeatable. Default: all."
        ),
    ] = None,
) -> None:
    """Export a run as model-card metadata, hub evaluation results, MTEB-style JSON, tables or a card.

    Files are only written, never uploaded.

    Example:

        encheck export reports/my-run --format csv
    """
    from encheck.reporting.exports.formats import FORMATS
    from encheck.reporting.exports.formats import export as write
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.results import read_results, read_splits

    with told():
        results, splits, folder = read_results(run_folder), read_splits(run_folder), out or run_folder / "exports"
        with as_written(run_folder):
            written = write(results, folder, formats=formats or list(FORMATS), splits=splits)
        say(map(str, written))


@app.command()
def comment(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")],
    to: Annotated[
        str | None, typer.Option("--to", help="Post it with the host's API: github or gitlab. Default: print it.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the comment. A comment of this name is replaced.")] = "gate",
    pull: Annotated[
        int | None, typer.Option(min=1, help="Number of the pull or merge request. Default: the one of the CI job.")
    ] = None,
    made: Annotated[
        str, typer.Option("--made-baseline", metavar="DIR", help="Baseline that this run saved because none existed.")
    ] = "",
) -> None:
    """Write a run's gate as a comment for a pull or merge request: verdict, what to do, lost items.

    With --to the comment is posted; an earlier one is replaced. The token is read from GITHUB_TOKEN or GITLAB_TOKEN,
    and the rest from the variables that the CI job sets. If the token may not comment, as on the branch of a fork, the
    command says so and exits with 0.

    Examples:

        encheck comment gate

        encheck comment gate --to github
    """
    from encheck.reporting.comment import comment as written
    from encheck.reporting.posting import NotPosted, named
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.results import RESULTS, read_results

    with told():
        found = read_results(run_folder) if (run_folder / RESULTS).exists() or not to else None
        with as_written(run_folder):
            body = written(found, made=made)
        if to is None:
            say(body.splitlines())
            return
        try:
            tell(_posted(body, to, named(name), pull))
        except NotPosted as why:
            tell(f"No comment was posted: {why}. The gate's result is in {run_folder / 'summary.md'}.")


def _posted(body: str, to: str, name: str, pull: int | None) -> str:
    from encheck.errors import UsageError, unknown
    from encheck.reporting.posting import HOSTS, post

    if to not in HOSTS:
        raise UsageError(unknown("host", to, HOSTS))
    address = post(body, HOSTS[to](os.environ, pull=pull), name=name)
    return f"The comment {name!r} was posted: {address}" if address else f"The comment {name!r} was posted."


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
    """Score a file of predictions on a data set: obvious and non-obvious F1, MAP, and the figures of constants.

    Examples:

        encheck run --data pairs:mine.csv --predictions theirs.csv

        encheck run --data semeval-cqa:FOLDER --predictions subtask_B_primary.txt --json b.json
    """
    from encheck.comparing import scored
    from encheck.comparing.predictions import read_predictions
    from encheck.datasets.load import load
    from encheck.options import scope_of, threshold_of

    with told():
        scope, cut, read = scope_of(median_scope), threshold_of(threshold), read_predictions(predictions)
        loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
        found = scored.score(read, loaded, threshold=cut, split=split, scope=scope, seed=seed)
        if json_file:
            scored.write(json_file, found, data=loaded, predictions=read)
    say(scored.lines(found))

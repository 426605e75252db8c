"""`encheck export`: write a finished run in other formats. Also scores prediction files of other systems."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import DataSpec, Scope, SkipBadRows, Split, StorePath, app, project, say, tell, told
from encheck.errors import UsageError, unknown_name_message

predictions_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

TABLES = ("model-index", "eval-results", "mteb", "csv", "parquet")
FORMATS = ("page", "card", "badge", "comment", "junit", *TABLES)
TAKEN_BY = {
    "--where": ("page",), "--model": ("card", "badge"), "--data": ("card", "badge"), "--post": ("comment",),
    "--name": ("comment",), "--pull": ("comment",), "--made-baseline": ("comment",),
}  # fmt: skip
WRITTEN_AS = {
    "page": (".html",), "comment": (".md", ".txt"), "card": (".svg", ".png"),
    "badge": (".svg", ".png"), "junit": (".xml",),
}  # fmt: skip


@app.command()
def export(
    run_folder: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="Run directory. Default: the newest in reports/.")
    ] = None,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)}.")] = "page",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write, or directory of tables. Default: in RUN; a comment is printed."),
    ] = None,
    where: Annotated[
        bool, typer.Option("--where", help="page: also show which kinds of items are wrong more often.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="card, badge: the model. Default: the first.")] = None,
    data: Annotated[str | None, typer.Option(help="card, badge: the data set. Default: the first.")] = None,
    post: Annotated[
        str | None, typer.Option(metavar="HOST", help="comment: post it with the API of github or gitlab.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="comment: its name, gate by default. A comment of this name is replaced.")
    ] = None,
    pull: Annotated[
        int | None,
        typer.Option(min=1, help="comment: number of the pull or merge request. Default: the one of the CI job."),
    ] = None,
    made: Annotated[
        str | None,
        typer.Option("--made-baseline", metavar="DIR", help="comment: baseline that this run saved for lack of one."),
    ] = None,
    store: StorePath = None,
) -> None:
    """Write a finished run in another format: its page again, a picture, a comment, JUnit, or tables.

    page is RUN/report.html. card and badge are pictures of the model's profile for a README or a model card, .svg or
    .png (PNG needs the extra "png"). junit is RUN/junit.xml. The other formats write files into RUN/exports, or into
    the directory that --out names: metadata of a model card, evaluation results of the hub, MTEB's JSON, tables.

    comment is the gate's verdict for a pull or merge request. With --post it is posted, and an earlier one is replaced.
    The token is read from GITHUB_TOKEN or GITLAB_TOKEN, and the rest from the variables that the CI job sets. If the
    token may not comment, as on the branch of a fork, the command says so and exits with 0.

    Examples:

        encheck export reports/my-run --where

        encheck export reports/my-run --to card --out card.svg

        encheck export gate --to comment --post github

        encheck export reports/my-run --to csv
    """
    from encheck.reporting.rebuild import as_written, write_picture
    from encheck.reporting.results import newest_run, read_results, read_splits, refuse_over

    with told():
        if to not in FORMATS:
            raise UsageError(unknown_name_message("format", to, FORMATS))
        given = {"--where": where, "--model": model, "--data": data, "--post": post, "--name": name, "--pull": pull,
                 "--made-baseline": made}  # fmt: skip
        if wrong := next((one for one, value in given.items() if value and to not in TAKEN_BY[one]), None):
            raise UsageError(f"{wrong} is for --to {' or '.join(TAKEN_BY[wrong])}, not for --to {to}")
        if post and out:
            raise UsageError("--post sends the comment and --out writes it: use only one of them")
        refuse_over(out, WRITTEN_AS.get(to, ()))
        folder = run_folder or newest_run(Path("reports"))
        if to == "page":
            _page(folder, out or folder / "report.html", store, where=where)
        elif to == "comment":
            _comment(folder, out, post=post, name=name or "gate", pull=pull, made=made or "")
        elif to in ("card", "badge"):
            tell(write_picture(folder, to, out or folder / f"{to}.svg", model=model, data=data))
        elif to == "junit":
            from encheck.reporting.junit import write_junit

            results, place = read_results(folder), out or folder / "junit.xml"
            with as_written(folder):
                write_junit(place, results)
            tell(place)
        else:
            from encheck.reporting.formats import export as write

            results, splits = read_results(folder), read_splits(folder)
            with as_written(folder):
                written = write(results, out or folder / "exports", formats=[to], splits=splits)
            say(map(str, written))


def _page(folder: Path, out: Path, store: Path | None, *, where: bool) -> None:
    from encheck.reporting.rebuild import as_written, rebuild

    if not where:
        tell(rebuild(folder, out))
        return
    from encheck.options import Settings
    from encheck.reporting.where import find_failing_kinds as kinds_that_fail
    from encheck.reporting.where import kind_blocks, kind_lines
    from encheck.running.resources import open_store, resolve_english

    settings = Settings(store=store, project=project())
    with as_written(folder), closing(open_store(settings)) as opened:
        found = kinds_that_fail(folder, resolve_english(settings, opened))
    say(kind_lines(found))
    tell(f"page: {rebuild(folder, out, where=kind_blocks(found))}")


def _comment(folder: Path, out: Path | None, *, post: str | None, name: str, pull: int | None, made: str) -> None:
    from encheck.reporting.comment import comment
    from encheck.reporting.posting import HOSTS, NotPosted, checked_name
    from encheck.reporting.posting import post_comment as send
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.results import RESULTS, read_results, write_named

    if post and post not in HOSTS:
        raise UsageError(unknown_name_message("host", post, HOSTS))
    checked_name(name)
    results = read_results(folder) if (folder / RESULTS).exists() or not post else None
    with as_written(folder):
        body = comment(results, made=made)
    if out:
        write_named(out, body)
        tell(out)
    elif not post:
        say(body.splitlines())
    else:
        try:
            address = send(body, HOSTS[post](os.environ, pull=pull), name=name)
            tell(f"The comment {name!r} was posted{f': {address}' if address else '.'}")
        except NotPosted as why:
            tell(f"No comment was posted: {why}. The gate's result is in {folder / 'summary.md'}.")


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
    from encheck.comparing.predictions import lines, read_predictions, score, write
    from encheck.datasets.load import load
    from encheck.options import parse_median_scope, parse_threshold

    with told():
        scope, cut, read = parse_median_scope(median_scope), parse_threshold(threshold), read_predictions(predictions)
        loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
        found = score(read, loaded, threshold=cut, split=split, scope=scope, seed=seed)
        if json_file:
            write(json_file, found, data=loaded, predictions=read)
    say(lines(found))

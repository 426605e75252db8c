"""`encheck export`: write a finished run in other formats."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import (
    StorePath,
    app,
    print_lines,
    print_message,
    project,
    report_errors,
)
from encheck.errors import UsageError, unknown_name_message

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
        typer.Option(
            "--made-baseline", metavar="DIR", help="comment: baseline that this run saved because there was none."
        ),
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
    from encheck.reporting.rebuild import reject_invalid_results, write_picture
    from encheck.reporting.results import newest_run, read_results, read_splits, refuse_over

    with report_errors():
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
            _export_page(folder, out or folder / "report.html", store, where=where)
        elif to == "comment":
            _export_comment(folder, out, post=post, name=name or "gate", pull=pull, made=made or "")
        elif to in ("card", "badge"):
            print_message(write_picture(folder, to, out or folder / f"{to}.svg", model=model, data=data))
        elif to == "junit":
            from encheck.reporting.junit import write_junit

            results, place = read_results(folder), out or folder / "junit.xml"
            with reject_invalid_results(folder):
                write_junit(place, results)
            print_message(place)
        else:
            from encheck.reporting.formats import export_run as write

            results, splits = read_results(folder), read_splits(folder)
            with reject_invalid_results(folder):
                written = write(results, out or folder / "exports", formats=[to], splits=splits)
            print_lines(map(str, written))


def _export_page(folder: Path, out: Path, store: Path | None, *, where: bool) -> None:
    from encheck.reporting.rebuild import rebuild_page, reject_invalid_results

    if not where:
        print_message(rebuild_page(folder, out))
        return
    from encheck.options import Settings
    from encheck.reporting.where import find_failing_kinds as kinds_that_fail
    from encheck.reporting.where import kind_blocks, kind_lines
    from encheck.running.resources import open_store, resolve_english

    settings = Settings(store=store, project=project())
    with reject_invalid_results(folder), closing(open_store(settings)) as opened:
        found = kinds_that_fail(folder, resolve_english(settings, opened))
    print_lines(kind_lines(found))
    print_message(f"page: {rebuild_page(folder, out, where=kind_blocks(found))}")


def _export_comment(
    folder: Path, out: Path | None, *, post: str | None, name: str, pull: int | None, made: str
) -> None:
    from encheck.reporting.comment import gate_comment
    from encheck.reporting.posting import HOSTS, NotPosted, checked_name
    from encheck.reporting.posting import post_comment as send
    from encheck.reporting.rebuild import reject_invalid_results
    from encheck.reporting.results import RESULTS, read_results, write_named

    if post and post not in HOSTS:
        raise UsageError(unknown_name_message("host", post, HOSTS))
    checked_name(name)
    results = read_results(folder) if (folder / RESULTS).exists() or not post else None
    with reject_invalid_results(folder):
        body = gate_comment(results, made=made)
    if out:
        write_named(out, body)
        print_message(out)
    elif not post:
        print_lines(body.splitlines())
    else:
        try:
            address = send(body, HOSTS[post](os.environ, pull=pull), name=name)
            print_message(f"The comment {name!r} was posted{f': {address}' if address else '.'}")
        except NotPosted as why:
            print_message(f"No comment was posted: {why}. The gate's result is in {folder / 'summary.md'}.")

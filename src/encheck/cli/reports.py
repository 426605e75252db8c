"""What is made of runs that are over, and of other people's predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import DataSpec, SkipBadRows, Split, app, say, told


@app.command()
def report(
    run_folder: Annotated[Path | None, typer.Argument(metavar="RUN", help="Default: the newest in reports/.")] = None,
    out: Annotated[Path | None, typer.Option(help="The page to write. Default: RUN/report.html.")] = None,
) -> None:
    """Make the report of a run again from its raw results."""
    from encheck.reporting.again import make_again
    from encheck.reporting.results import newest_run

    with told():
        folder = run_folder or newest_run(Path("reports"))
        typer.echo(make_again(folder, out or folder / "report.html"))


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs; the first is held against.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("compare.html"),
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the differences to this file too.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
) -> None:
    """Compare the models of runs on the items they share: differences with intervals, flips, pictures. Judges nothing.

    Example:

        encheck compare reports/monday reports/tuesday --out compare.html
    """
    from encheck.comparing import page as side_by_side
    from encheck.reporting.again import as_written
    from encheck.reporting.results import write_named

    with told():
        with as_written(*runs):
            found = side_by_side.compare(runs, seed=seed)
            page = side_by_side.render(found)
        write_named(out, page)
        if json_file:
            side_by_side.write_json(json_file, found)
    say(side_by_side.lines(found))
    typer.echo(f"page: {out}")


@app.command()
def seeds(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    everything: Annotated[bool, typer.Option("--all", help="Every figure, not those that decide alone.")] = False,
) -> None:
    """Show each figure's mean and standard error over checkpoints that differ in their seed alone.

    Example:

        encheck run --model=./seed-1 --model=./seed-2 --model=./seed-3 --report-dir reports/seeds

        encheck seeds reports/seeds
    """
    from encheck.comparing.seeds import lines, over_seeds
    from encheck.reporting.again import as_written

    with told(), as_written(*runs):
        found = over_seeds(runs, everything=everything)
    say(lines(found))


@app.command()
def export(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Where the files go. Default: RUN/exports.")] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="model-index, eval-results, mteb, csv, parquet or sarif; repeatable. Default: all."
        ),
    ] = None,
) -> None:
    """Write a run as model-card metadata, the hub's evaluation results, MTEB-style JSON, CSV, Parquet and SARIF.

    Nothing is pushed anywhere.

    Example:

        encheck export reports/my-run --format csv
    """
    from encheck.reporting.exports.formats import FORMATS
    from encheck.reporting.exports.formats import export as write
    from encheck.reporting.results import read_results, read_splits

    with told():
        results, splits, folder = read_results(run_folder), read_splits(run_folder), out or run_folder / "exports"
        for path in write(results, folder, formats=formats or list(FORMATS), splits=splits):
            typer.echo(path)


@app.command()
def score(
    data: DataSpec,
    predictions: Annotated[Path, typer.Option(help="CSV, TSV or JSONL with prediction or score; or a SemEval run.")],
    threshold: Annotated[float | None, typer.Option(help="Cut the file's scores here: at least it is 1.")] = None,
    split: Split = None,
    median_scope: Annotated[str, typer.Option(help="Obvious or not: by split, by dataset, or at a number.")] = "split",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
    skip_bad_rows: SkipBadRows = False,
) -> None:
    """Score a file of predictions on a data set: obvious and non-obvious F1, MAP, and what constants would get.

    Examples:

        encheck score --data pairs:mine.csv --predictions theirs.csv

        encheck score --data semeval-cqa:FOLDER --predictions subtask_B_primary.txt --json b.json
    """
    from encheck.comparing import scored
    from encheck.comparing.predictions import read_predictions
    from encheck.datasets.base import load
    from encheck.options import cutoff_of, scope_of

    with told():
        scope, cut, read = scope_of(median_scope), cutoff_of(threshold), read_predictions(predictions)
        loaded = load(data, sample=None, skip_bad_rows=skip_bad_rows)
        found = scored.score(read, loaded, threshold=cut, split=split, scope=scope, seed=seed)
        if json_file:
            scored.write(json_file, found, data=loaded, predictions=read)
    say(scored.lines(found))

"""`encheck compare`: runs side by side, runs across seeds, and models with their costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from encheck.cli.shared import ModelArgs, StorePath, app, as_option, print_lines, print_message, report_errors

PAIRS = ("reference", "all")
FORMATS = {"html": ".html", "latex": ".tex", "csv": ".csv"}


@app.command()
def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Run directories. With --cost: models."),
    ],
    reference: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model or run to compare the others with. Default: the first.")
    ] = None,
    behaviour: Annotated[
        str | None,
        typer.Option(
            metavar="PROPERTY",
            help="Property on the behaviour axis of the benchmark picture. Default: the mean of meaning and order.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write. Default: compare.html, compare.tex or compare.csv."),
    ] = None,
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="Format of the file: html, latex (booktabs) or csv (tidy)."),
    ] = "html",
    cite: Annotated[
        bool, typer.Option("--cite", help="With --format latex: cite each source, and write the BibTeX entries.")
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--names",
            metavar="NAME=TEXT",
            help="With --format latex or --figure: the name to print for a model. Repeatable.",
        ),
    ] = None,
    pairs: Annotated[
        str,
        typer.Option(
            metavar="PAIRS", help="With --format latex: compare models with the `reference` only, or in `all` pairs."
        ),
    ] = "reference",
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw the differences to this file, .svg or .pdf (extra: figure)."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every check of every model.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the differences to this file, as JSON.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    across_seeds: Annotated[
        bool, typer.Option("--across-seeds", help="Show the mean and standard error over models that differ in seed.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --across-seeds: show all metrics, not only those with a threshold.")
    ] = False,
    cost: Annotated[
        bool,
        typer.Option(
            "--cost", help="Compare models by quality, behaviour, speed, size and price, and show the Pareto front."
        ),
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="With --cost: measure quality on a search with labels, retrieval:PATH."),
    ] = None,
    checks: Annotated[
        str | None,
        typer.Option(
            "-m", metavar="PROPERTIES", help="With --cost: run only checks of these properties: 'antonym or number'."
        ),
    ] = None,
    model_arg: ModelArgs = None,
    store: StorePath = None,
    device: Annotated[str, as_option("device")] = "auto",
) -> None:
    """Compare models on the items that their runs share, without a verdict: a table of properties, pictures, and flips.

    A flip is an item that some models get right and others wrong.

    With --cost, run the models and show which of them are worth their cost.

    Examples:

        encheck compare reports/monday reports/tuesday --out compare.html

        encheck compare reports/sbert reports/mine --format latex --cite --pairs all --figure forest.pdf

        encheck compare --across-seeds reports/seeds

        encheck compare sbert ./small ./large --cost --data retrieval:labels.jsonl
    """
    from encheck.api import compare_costs
    from encheck.comparing.costs import cost_lines, render_costs
    from encheck.comparing.seeds import compare_seeds, seed_lines
    from encheck.errors import UsageError, unknown_name_message
    from encheck.reporting.rebuild import reject_invalid_results
    from encheck.reporting.results import refuse_over, write_named
    from encheck.system.typed_files import as_json

    folders = [Path(one) for one in runs]
    with report_errors():
        if form not in FORMATS:
            raise UsageError(unknown_name_message("format", form, FORMATS))
        if cost and (across_seeds or everything):
            raise UsageError("--cost compares models and --across-seeds compares runs: use only one of them")
        only = {"--reference": reference is not None, "--behaviour": behaviour is not None, "--format": form != "html",
                "--cite": cite, "--names": names, "--pairs": pairs != "reference", "--figure": figure}  # fmt: skip
        if (cost or across_seeds) and any(only.values()):
            other = "--cost" if cost else "--across-seeds"
            raise UsageError(f"{next(name for name, is_given in only.items() if is_given)} does not go with {other}")
        if cite and form != "latex":
            raise UsageError("--cite requires --format latex")
        if pairs not in PAIRS:
            raise UsageError(unknown_name_message("choice of --pairs", pairs, PAIRS))
        if pairs == "all" and form != "latex":
            raise UsageError("--pairs=all requires --format latex")
        if names and form != "latex" and not figure:
            raise UsageError("--names requires --format latex or --figure")
        refuse_over(out, [FORMATS[form]])
        refuse_over(figure, [".svg", ".pdf"])
        refuse_over(json_file, [".json"], option="--json")
        if cost:
            report = compare_costs(
                runs, data=data, checks=checks, model_arg=model_arg or (), store=store, device=device, seed=seed
            ).report
            page = out or Path("compare.html")
            write_named(page, render_costs(report))
            if json_file:
                write_named(json_file, as_json(report))
            print_lines(cost_lines(report))
            print_message(f"page: {page}")
        elif data or checks:
            raise UsageError(f"{'--data' if data else '-m'} requires --cost")
        elif across_seeds:
            with reject_invalid_results(*folders):
                lines = list(seed_lines(compare_seeds(folders, everything=everything)))
            print_lines(lines)
        elif everything:
            raise UsageError("--all requires --across-seeds")
        else:
            _compare(folders, reference, form, out or Path(f"compare{FORMATS[form]}"), json_file, seed,
                     cite=cite, verbose=verbose, behaviour=behaviour, names=names or (), pairs=pairs,
                     figure=figure)  # fmt: skip


def _compare(
    runs: list[Path], reference: str | None, form: str, out: Path, json_file: Path | None, seed: int,
    *, cite: bool, verbose: bool, behaviour: str | None, names: Sequence[str], pairs: Any, figure: Path | None,
) -> None:  # fmt: skip
    from encheck.comparing import exports, forest, page
    from encheck.comparing.comparison import ModelComparison
    from encheck.comparing.comparison import compare as compare_models
    from encheck.comparing.exports import write_comparison_json
    from encheck.comparing.terminal import comparison_lines
    from encheck.reporting.rebuild import reject_invalid_results
    from encheck.reporting.results import write_named

    makers: dict[str, Callable[[ModelComparison], str]] = {
        "html": page.render_comparison, "csv": exports.tidy_csv,
        "latex": lambda found: exports.latex_table(found, cite=cite, names=names, pairs=pairs),
    }  # fmt: skip
    with reject_invalid_results(*runs):
        found = compare_models(runs, reference=reference, behaviour=behaviour, seed=seed)
        made, said = makers[form](found), list(comparison_lines(found, everything=verbose))
    write_named(out, made)
    if json_file:
        write_comparison_json(json_file, found)
    print_lines(said)
    if figure:
        forest.write_forest_figure(figure, found, exports.display_names(found, names))
        print_message(f"figure: {figure}")
    print_message(f"{'page' if form == 'html' else 'table'}: {out}")
    if cite:
        write_named(out.with_suffix(".bib"), exports.bibtex(found))
        print_message(f"references: {out.with_suffix('.bib')}")

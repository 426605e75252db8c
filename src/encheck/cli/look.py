"""A look at what there is: models, or the items of past runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import ModelArgs, StorePath, app, print_table, project, say, tell, told


@app.command()
def models() -> None:
    """List the models that --model knows by name: whether they can be loaded here, where from, and what pins them."""
    from encheck.encoders.hub import describe_pin
    from encheck.encoders.load import find_weights
    from encheck.encoders.models_file import known_models
    from encheck.options import Settings

    with told():
        known = known_models(Settings(project=project()).models_file)
        rows = [("name", "loadable", "from, or what it lacks", "pinned", "licence", "what")]
        for config in known.values():
            ready, source = find_weights(config)
            is_ready, licence = "yes" if ready else "no", config.licence or "-"
            rows.append((config.label, is_ready, source, describe_pin(config), licence, config.description))
    print_table(rows)
    tell("A directory or file (--model=./checkpoint) and a hub id (--model=owner/name) need no entry.")


@app.command()
def show(
    item: Annotated[str, typer.Argument(help="Id of an item, or the start of it.")],
    run_folder: Annotated[
        Path | None, typer.Option("--run", help="Run directory. Default: the newest in reports/.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Also score the item with this model now.")] = None,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Also show the shortest form that --model still gets wrong.")
    ] = False,
    model_arg: ModelArgs = None,
    store: StorePath = None,
) -> None:
    """Show one item of a past run with its texts and scores, and with --model its scores now.

    With --shrink, also show the shortest, plainest form of it that the model still gets wrong.

    Example:

        encheck show probes/0b7d59ab9a4a7370 --model sbert --shrink
    """
    from encheck.cli.showing import describe, rescore
    from encheck.errors import UsageError
    from encheck.options import Settings
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.results import find_item, newest_run

    with told():
        if shrink and not model:
            raise UsageError("--shrink needs a model to ask: name it with --model")
        folder = run_folder or newest_run(Path("reports"))
        asked = Settings(models=(model or "",), model_args=tuple(model_arg or ()), store=store, project=project())
        rows = find_item(folder, item)
        if not rows:
            raise UsageError(f"no item of {folder} begins with {item!r}")
        scorer = rescore(asked, rows) if model else None
        with as_written(folder):
            lines = list(describe(rows, scorer))
        if shrink:
            from encheck.cli import shrinking
            from encheck.reporting.shrunk import shrunk_lines

            lines += shrunk_lines(rows, shrinking.shrinker(asked, shrinking.run_settings(folder)))
        say(lines)

"""`encheck canary`: is the model behind this name still the one that the index was made with?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from encheck.cli.shared import ModelArgs, app, project, say, tell, told
from encheck.cli.table import as_option

canary_app = typer.Typer(
    no_args_is_help=True,
    help="Save a model's output for 200 fixed texts, and check later whether the same model still answers.",
)
app.add_typer(canary_app, name="canary")
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model, as for --model of `encheck run`, or vectors:FILE.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The canary file.")]
DeviceName = Annotated[str, as_option("device")]
Dtype = Annotated[str | None, as_option("dtype")]


@canary_app.command()
def save(
    model: Model,
    file: File,
    role: Annotated[
        str | None,
        typer.Option(metavar="query|document", help="Role to encode the texts in: the one that the index uses."),
    ] = None,
    model_arg: ModelArgs = None,
    device: DeviceName = "auto",
    dtype: Dtype = None,
) -> None:
    """Encode the texts five times in different batches, and write MODEL's output and its own noise to FILE.

    Examples:

        encheck canary save sbert index.canary.json

        encheck canary save openai index.canary.json --model-arg model=text-embedding-3-large --role document
    """
    from encheck.deciding.canary import named
    from encheck.deciding.canary import save as save_canary
    from encheck.options import Settings

    with told():
        asked = Settings(
            models=(model,), model_args=tuple(model_arg or ()), device=device, dtype=dtype, project=project()
        )
        saved = save_canary(named(asked), file, role=role)
    size, noise = file.stat().st_size / 1000, f"{saved.loudest:.1g} of a vector's length"
    tell(f"{file}: {saved.label}, {saved.dimension} dimensions, {size:,.0f} kB; the model's own noise is up to {noise}")


@canary_app.command()
def check(
    model: Model,
    file: File,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write an HTML page to this file.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON to this file.")
    ] = None,
    model_arg: ModelArgs = None,
    device: DeviceName = "auto",
    dtype: Dtype = None,
) -> None:
    """Encode the texts again, and say whether MODEL is still the model of the canary. The store is not used.

    Exit code: 0 the same model, 1 another model, 4 wrong usage or the model cannot be loaded, 10 cannot tell.

    Examples:

        encheck canary check sbert index.canary.json

        encheck canary check ./checkpoint index.canary.json --page canary.html --json canary-check.json
    """
    from encheck.deciding.canary import check as check_canary
    from encheck.deciding.canary import named
    from encheck.deciding.canary_report import terminal, write_json, write_page
    from encheck.options import Settings
    from encheck.running.labels import labels

    with told():
        asked = Settings(
            models=(model,), model_args=tuple(model_arg or ()), device=device, dtype=dtype, project=project()
        )
        canary, answer = check_canary(named(asked), file)
        (label,) = labels([model])
        if page:
            write_page(page, label, canary, answer)
        if json_file:
            write_json(json_file, label, canary, answer)
    say(terminal(label, canary, answer))
    raise typer.Exit(answer.exit_code)


@canary_app.command()
def texts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, as JSON lines: id, kind, text.")],
) -> None:
    """Write the 200 texts to FILE, to encode them yourself and pass the result to `save vectors:mine.parquet`."""
    from encheck.deciding.canary_texts import write

    with told():
        write(file)

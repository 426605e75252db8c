"""The command `encheck same`: check whether two models, or a model and a saved file, are the same model in use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from encheck.cli.shared import ModelArgs, app, as_option, print_lines, print_message, report_errors

if TYPE_CHECKING:
    from encheck.running.model_under_test import Role


@app.command()
def same(
    a: Annotated[
        str, typer.Argument(metavar="A", help="Model, as for --model of `encheck run`, or a saved FILE.json.")
    ],
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="The other model. Default: only save A.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Save A's vectors or scores for later comparisons.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(metavar="query|document", help="Compare in this role alone. Default: all that differ."),
    ] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write an HTML page to this file.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write JSON to this file.")
    ] = None,
    model_arg: ModelArgs = None,
    device: Annotated[str, as_option("device")] = "auto",
    dtype: Annotated[str | None, as_option("dtype")] = None,
) -> None:
    """Encode 200 texts with A and B, and report whether they are the same model in use; if not, what was changed.

    The causes that it names: prompt, pooling, truncation, normalisation, precision, padding, a missing layer,
    tokenizer, template. Rerankers score 200 pairs. --model-arg takes A:KEY=VALUE and B:KEY=VALUE.

    Exit code: 0 same or same for use, 1 another model, 4 wrong usage or a model fails, 10 cannot tell.

    Examples:

        encheck same sbert ./checkpoint

        encheck same openai --save index.json --model-arg model=text-embedding-3-large

        encheck same index.json openai --model-arg model=text-embedding-3-large --page same.html
    """
    from encheck.operations.same.api import same as compare
    from encheck.operations.same.comparison import same_lines, write_same_page
    from encheck.reporting.results import refuse_over, write_named
    from encheck.system.typed_files import as_json

    with report_errors():
        refuse_over(page, [".html"], option="--page")
        for option, path in (("--json", json_file), ("--save", save)):
            refuse_over(path, [".json"], option=option, reads=[a, b])
        found = compare(
            a, b, save=save, role=cast("Role | None", role), model_args=tuple(model_arg or ()), device=device,
            dtype=dtype,
        )  # fmt: skip
        if save:
            print_message(f"{save}: {found.a}, {save.stat().st_size / 1000:,.0f} kB")
        if b is not None or found.exit_code:
            print_lines(same_lines(found))
        if page:
            write_same_page(page, found)
        if json_file:
            write_named(json_file, as_json(found))
    raise typer.Exit(found.exit_code)

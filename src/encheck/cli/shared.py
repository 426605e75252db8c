"""What the commands share: the application, options that mean the same everywhere, errors and output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from encheck.errors import EncheckError
from encheck.reporting.text import LINES, visible

WrongUse: Any = typer.BadParameter.__base__  # of click, or of the copy of it that newer typers carry


class Commands(typer.core.TyperGroup):
    """The commands; wrong use ends with exit code 4, as where encheck finds it: 2 is an interrupted run."""

    def invoke(self, ctx: Any) -> Any:
        """As typer's."""
        try:
            return super().invoke(ctx)
        except WrongUse as error:
            error.exit_code = 4
            raise


app = typer.Typer(
    name="encheck",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Behavioural tests for sentence encoders. Start with: encheck run",
)
DataSpec = Annotated[str, typer.Option("--data", help="NAME or NAME:PATH; `encheck data` lists them.")]
SkipBadRows = Annotated[bool, typer.Option("--skip-bad-rows", help="Leave malformed rows out.")]
Split = Annotated[str | None, typer.Option(help="One split of the data alone: train, validation, test ...")]
Variants = Annotated[bool, typer.Option("--variants", help="Sentences and their variants, in place of pairs.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="A name in models.yaml, a folder or a hub id; repeatable. Default: sbert."),
]
ModelArgs = Annotated[
    list[str] | None,
    typer.Option("--model-arg", help="[MODEL:]KEY=VALUE: a field of models.yaml, or an option of the adapter."),
]
SpacyModel = Annotated[
    str | None, typer.Option(help="An installed spaCy pipeline, or a folder, in place of the bundled one.")
]
LexiconName = Annotated[str, typer.Option(help="embedded, nltk, or a folder of WordNet's files.")]
BackTranslate = Annotated[
    str | None, typer.Option(help="Rewrite sentences by way of this language (de), or by two models: ./en-de,./de-en.")
]
ContinuationModel = Annotated[
    str | None, typer.Option(help="A causal language model that goes on with sentences: a folder or a hub id.")
]
GeneratorMode = Annotated[str, typer.Option(help="careful, or paper: by the published recipe.")]
StorePath = Annotated[
    Path | None, typer.Option("--store", help="The store. Default: $ENCHECK_STORE or the user's cache.")
]


@contextmanager
def told() -> Iterator[None]:
    """Say what the user got wrong in one line, and leave with exit code 4."""
    try:
        yield
    except EncheckError as error:
        typer.echo(f"encheck: {visible(str(error), keep=LINES)}", err=True)
        raise typer.Exit(4) from error


def project() -> dict[str, Any]:
    """[tool.encheck] of the working folder's pyproject.toml, as `encheck run` reads it."""
    from encheck.options import project_table

    return project_table(Path("pyproject.toml"))


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows as aligned columns, the first one being the heading."""
    from encheck.reporting.text import table

    say(table(rows))


def say(lines: Iterable[str]) -> None:
    """Print lines, with what nobody sees made visible."""
    for line in lines:
        typer.echo(visible(line))

"""What the commands share: the application, options that mean the same everywhere, errors and output."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from encheck.cli.table import as_option
from encheck.errors import EncheckError, UsageError, unknown
from encheck.system import entry_points
from encheck.system.terminal import LINES, visible

WrongUse: Any = typer.BadParameter.__base__  # of click, or of the copy of it that newer typers carry


PANELS = {
    "Decide": ("run", "gate", "threshold", "index", "same", "compare"),
    "Look": ("show", "judge", "data", "models", "export"),
    "More": ("explore", "store"),
}


STOPPED = 130  # exit code of what Ctrl-C or SIGTERM ended


def _unwrap(command: Any) -> None:
    """Put each paragraph of a command's help on one line, and of its subcommands'; indented examples stay."""
    if command is not None and command.help:
        parts = command.help.split("\n\n")
        command.help = "\n\n".join(part if part[:1].isspace() else " ".join(part.split()) for part in parts)
    for one in getattr(command, "commands", {}).values():
        _unwrap(one)


class Commands(typer.core.TyperGroup):
    """The commands, in the panels of `PANELS`; those of installed packages are in "More".

    Wrong use ends with exit code 4, as where encheck finds it.
    """

    def _packaged(self) -> dict[str, EntryPoint]:
        return entry_points.entry_points_of(entry_points.COMMANDS, ours=self.commands)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The commands in the order of the panels."""
        panels = {name: panel for panel, names in PANELS.items() for name in names}
        for name, command in self.commands.items():
            command.rich_help_panel = panels[name]  # type: ignore[attr-defined]
        return [*(name for name in panels if name in self.commands), *self._packaged()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """As typer's, with each paragraph of the help on one line, so that it wraps at the terminal's width.

        What stands in the list for a command of a package imports nothing, and says where it is from.
        """
        command = super().get_command(ctx, cmd_name)
        if command is None and (point := self._packaged().get(cmd_name)):
            said = f"From the package {entry_points.package_of(point)}."
            return typer.core.TyperCommand(cmd_name, help=said, rich_help_panel="More")
        _unwrap(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer's; an unknown name lists what exists, and the nearest. That of a package is imported here."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            if point := self._packaged().get(args[0]):
                return args[0], _command_of(point), args[1:]
            ctx.fail(unknown("command", args[0], [*self.commands, *self._packaged()]))
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """As typer's."""
        try:
            with told():
                return super().make_context(*args, **extra)
        except WrongUse as error:
            error.exit_code = 4
            raise

    def invoke(self, ctx: Any) -> Any:
        """As typer's."""
        try:
            with told():
                return super().invoke(ctx)
        except WrongUse as error:
            error.exit_code = 4
            raise
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            wrong = WrongUse(
                f"{error.filename!s:.80}... is not a valid path: a part of it is too long for a file name", ctx
            )
            wrong.exit_code = 4
            raise wrong from error


def _command_of(point: EntryPoint) -> Any:
    """The command that a package adds: a typer application, or a function of which typer makes one."""
    found = entry_points.load_entry_point(point)
    if not isinstance(found, typer.Typer):
        if not callable(found):
            package = entry_points.package_of(point)
            raise UsageError(f"the package {package}: {point.value} should be a typer.Typer() or a function")
        function, found = found, typer.Typer(add_completion=False)
        found.command()(function)
    command: Any = typer.main.get_command(found)
    command.name = point.name
    command.params = [one for one in command.params if one.name not in ("install_completion", "show_completion")]
    _unwrap(command)
    return command


app = typer.Typer(
    name="encheck",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Behavioural tests for sentence encoders. Start with: encheck run",
)
DataSpec = Annotated[str, typer.Option("--data", help="NAME or NAME:PATH. `encheck data` lists the names.")]
SkipBadRows = Annotated[bool, as_option("skip_bad_rows")]
Split = Annotated[str | None, typer.Option(help="Use only one split of the data: train, validation, test ...")]
ModelArgs = Annotated[list[str] | None, as_option("model_args")]
Sample = Annotated[str, as_option("sample")]
SpacyModel = Annotated[str | None, as_option("spacy_model")]
LexiconName = Annotated[str, as_option("lexicon")]
BackTranslate = Annotated[str | None, as_option("back_translate")]
ContinuationModel = Annotated[str | None, as_option("continuation_model")]
GeneratorMode = Annotated[str, as_option("generator_mode")]
StorePath = Annotated[Path | None, as_option("store")]
Scope = Annotated[str, as_option("median_scope")]


@contextmanager
def told() -> Iterator[None]:
    """Say what the user got wrong in one line, and leave with exit code 4."""
    try:
        yield
    except EncheckError as error:
        tell(f"encheck: {error}", err=True)
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
    """Print lines, each in its own."""
    for line in lines:
        typer.echo(visible(line))


def tell(message: object, *, err: bool = False) -> None:
    """Print a message, which may have lines; nothing else of the commands prints."""
    typer.echo(visible(str(message), keep=LINES), err=err)

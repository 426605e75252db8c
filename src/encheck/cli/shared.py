"""The application, common options, errors and output that all commands share."""

from __future__ import annotations

import errno
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import typer.core

from encheck.errors import STOPPED, EncheckError, UsageError, unknown_name_message
from encheck.options import GROUPS, OPTIONS, Option, Project, parse_path
from encheck.system import imports
from encheck.system.terminal import LINES, make_visible

Command = TypeVar("Command", bound=Callable[..., Any])


def as_option(setting: str, **attributes: Any) -> Any:
    """Return the typer option for a setting of a run, with the same help in every command."""
    return _typer_option(OPTIONS[setting], **attributes)


def shows_options(command: Command, *, but: Collection[str] = (), common: bool = True) -> Command:
    """Add the options of a run, except those in `but`, to a command's own typer options.

    The command's own keyword-only options come after those of a run. With `common`, --help of a `CommonOptions` command
    shows only the common options; --help-all always shows every option.
    """
    listed = [option for name, option in OPTIONS.items() if not option.hidden and name not in but]
    options = sorted(listed, key=lambda option: (not option.is_common, list(GROUPS).index(option.group)))
    keyword = inspect.Parameter.KEYWORD_ONLY
    declared = inspect.signature(command, eval_str=True).parameters.values()
    first = [one for one in declared if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    shown = [
        inspect.Parameter(
            option.name.replace("-", "_"), keyword, default=None,
            annotation=Annotated[_option_type(option), _typer_option(option, rich_help_panel=panel)],
        )
        for option in options
        for panel in [COMMON if common and option.is_common else f"{MORE}{GROUPS[option.group].lower()}"]
    ]  # fmt: skip
    last = [one for one in declared if one.kind is keyword]
    help_all = inspect.Parameter("help_all", keyword, default=False, annotation=HelpAll)
    every = [*first, *shown, *last, help_all]
    command.__annotations__ = {one.name: one.annotation for one in every}
    command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    return command


COMMON = "Common options"
MORE = "More: "  # the start of the names of panels that --help leaves out


class CommonOptions(typer.core.TyperCommand):
    """A command whose --help leaves out the panels that begin with `MORE`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Format the help like typer, but only with the common options."""
        shown = copy(self)
        shown.params = [one for one in self.params if not str(getattr(one, "rich_help_panel", "")).startswith(MORE)]
        super(CommonOptions, shown).format_help(ctx, formatter)


def _print_all_help(ctx: typer.Context, asked: bool) -> None:
    if asked:
        command, formatter = ctx.command, ctx.make_formatter()
        typer.core.TyperCommand.format_help(command, ctx, formatter)  # type: ignore[arg-type]
        print_message(formatter.getvalue().rstrip())  # empty where rich has printed it
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_print_all_help, help="Show every option, and exit.")
]


def _option_type(option: Option) -> Any:
    if option.is_flag:
        return bool | None
    return list[str] | None if option.repeatable else str | None


def _typer_option(option: Option, **attributes: Any) -> Any:
    metavar = None if option.is_flag else option.metavar or "|".join(option.choices)
    return typer.Option(f"--{option.name}", help=option.text, metavar=metavar, show_default=False, **attributes)


WrongUse: Any = typer.BadParameter.__base__  # from click, or from its copy in newer versions of typer


PANELS = {
    "Decide": ("run", "gate", "threshold", "index", "same", "compare"),
    "Look": ("show", "judge", "data", "models", "export"),
    "More": ("explore", "store"),
}


def _unwrap_help(command: Any) -> None:
    """Join each paragraph of the help of a command and its subcommands into one line, except for indented examples."""
    if command is not None and command.help:
        parts = command.help.split("\n\n")
        command.help = "\n\n".join(part if part[:1].isspace() else " ".join(part.split()) for part in parts)
    for one in getattr(command, "commands", {}).values():
        _unwrap_help(one)


class CommandGroup(typer.core.TyperGroup):
    """The commands, in the panels of `PANELS`. Commands of installed packages are in "More".

    Wrong usage ends with exit code 4, even if typer detects it.
    """

    def _packaged(self) -> dict[str, EntryPoint]:
        return imports.entry_points_of(imports.COMMANDS, ours=self.commands)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in the order of the panels."""
        panels = {name: panel for panel, names in PANELS.items() for name in names}
        for name, command in self.commands.items():
            command.rich_help_panel = panels[name]  # type: ignore[attr-defined]
        return [*(name for name in panels if name in self.commands), *self._packaged()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command like typer, but join each paragraph of its help so that it wraps at the terminal's width.

        For a package's command, return a stub that names the package and imports nothing. `resolve_command` imports it.
        """
        command = super().get_command(ctx, cmd_name)
        if command is None and (point := self._packaged().get(cmd_name)):
            summary = (point.dist.metadata["Summary"] if point.dist else "") or ""
            said = f"From the package {imports.package_of(point)}{f': {summary}' if summary else ''}"
            said = f"{said.rstrip('.')}."
            return typer.core.TyperCommand(cmd_name, help=said, rich_help_panel="More")
        _unwrap_help(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve like typer, and import a package's command. For an unknown name, list the commands and the nearest
        match.
        """
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            if point := self._packaged().get(args[0]):
                return args[0], _load_command(point), args[1:]
            ctx.fail(unknown_name_message("command", args[0], [*self.commands, *self._packaged()]))
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Do what typer does, but exit with code 4 on wrong usage."""
        try:
            with report_errors():
                return super().make_context(*args, **extra)
        except WrongUse as error:
            error.exit_code = 4
            raise

    def invoke(self, ctx: Any) -> Any:
        """Do what typer does, but exit with code 4 on wrong usage and report Ctrl-C in one line."""
        try:
            with report_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            print_message("encheck: interrupted", err=True)
            raise typer.Exit(STOPPED) from None
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


def _load_command(point: EntryPoint) -> Any:
    """Return the command that a package adds: its typer application, or a command made from its function."""
    found = imports.load_entry_point(point)
    if not isinstance(found, typer.Typer):
        if not callable(found):
            package = imports.package_of(point)
            raise UsageError(f"the package {package}: {point.value} should be a typer.Typer() or a function")
        function, found = found, typer.Typer(add_completion=False)
        found.command()(function)
    command: Any = typer.main.get_command(found)
    command.name = point.name
    command.params = [one for one in command.params if one.name not in ("install_completion", "show_completion")]
    _unwrap_help(command)
    return command


app = typer.Typer(
    name="encheck",
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Behavioural tests for sentence encoders. Start with: encheck run",
)


def _print_version(asked: bool) -> None:
    if asked:
        from encheck import __version__

        print_message(__version__)
        raise typer.Exit


@app.callback()
def _global_options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


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
StorePath = Annotated[Path | None, as_option("store", parser=parse_path)]
Scope = Annotated[str, as_option("median_scope")]


@contextmanager
def report_errors() -> Iterator[None]:
    """Print an EncheckError in one line, and exit with code 4."""
    try:
        yield
    except EncheckError as error:
        print_message(f"encheck: {error}", err=True)
        raise typer.Exit(4) from error


def project() -> Project:
    """Return the table [tool.encheck] from pyproject.toml in the working directory, as `encheck run` reads it."""
    from encheck.options import project_table

    return project_table(Path("pyproject.toml"))


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows as aligned columns; the first row is the heading."""
    from encheck.reporting.text import table

    print_lines(table(rows))


def print_lines(lines: Iterable[str]) -> None:
    """Print each line."""
    for line in lines:
        typer.echo(make_visible(line))


def print_message(message: object, *, err: bool = False) -> None:
    """Print a message, which may have several lines."""
    typer.echo(make_visible(str(message), keep=LINES), err=err)

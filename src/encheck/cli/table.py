"""The table of options, as the commands show it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Annotated, Any, TypeVar

import typer

from encheck.options import GROUPS, OPTIONS, Option

Command = TypeVar("Command", bound=Callable[..., Any])


def as_option(setting: str, **attributes: Any) -> Any:
    """The typer option of one setting of a run, with the help that it has everywhere."""
    return _typer_option(OPTIONS[setting], **attributes)


def shows_options(command: Command, *, but: Collection[str] = ()) -> Command:
    """Have typer take the options of a run, except for these settings, as keywords of a command beside its own."""
    listed = [option for name, option in OPTIONS.items() if not option.hidden and name not in but]
    options = sorted(listed, key=lambda option: list(GROUPS).index(option.group))
    named, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.kind is named]
    shown = [
        inspect.Parameter(
            option.name.replace("-", "_"), keyword, default=None,
            annotation=Annotated[_type(option), _typer_option(option, rich_help_panel=GROUPS[option.group])],
        )
        for option in options
    ]  # fmt: skip
    command.__annotations__ = {one.name: one.annotation for one in (*own, *shown)}
    command.__signature__ = inspect.Signature([*own, *shown])  # type: ignore[attr-defined]
    return command


def _type(option: Option) -> Any:
    if option.is_flag:
        return bool | None
    return list[str] | None if option.repeatable else str | None


def _typer_option(option: Option, **attributes: Any) -> Any:
    metavar = None if option.is_flag else option.metavar or "|".join(option.choices)
    return typer.Option(f"--{option.name}", help=option.text, metavar=metavar, show_default=False, **attributes)

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
    """Have typer show the options of a run, except for these settings, in the help of a command of `context` alone."""
    listed = [option for name, option in OPTIONS.items() if not option.hidden and name not in but]
    options = sorted(listed, key=lambda option: list(GROUPS).index(option.group))
    shown = {
        option.dest: Annotated[_type(option), _typer_option(option, rich_help_panel=GROUPS[option.group])]
        for option in options
    }
    annotations: dict[str, Any] = {"context": typer.Context} | shown
    empty, kind = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, annotation=annotation, default=empty if name == "context" else None)
        for name, annotation in annotations.items()
    ]
    command.__annotations__ = annotations
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _type(option: Option) -> Any:
    if option.is_flag:
        return bool
    return list[str] | None if option.repeatable else str | None


def _typer_option(option: Option, **attributes: Any) -> Any:
    metavar = None if option.is_flag else option.metavar or "|".join(option.choices)
    return typer.Option(f"--{option.name}", help=option.text, metavar=metavar, show_default=False, **attributes)

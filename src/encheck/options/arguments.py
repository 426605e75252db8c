"""The options on a command line: pytest's options, and the options in the commands that encheck prints."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from encheck.errors import UsageError, unknown_name_message
from encheck.options.settings import OPTIONS

PREFIX = "encheck-"  # prefix of the options that the installed plugin adds to every pytest run


class OptionGroup(Protocol):
    """The part of pytest's option group that is used here."""

    def addoption(self, *names: str, **attributes: Any) -> None:
        """Add an option, as in pytest."""
        ...


def add_options(group: OptionGroup, *, prefix: str = "", but: Collection[str] = ()) -> None:
    """Add every option of encheck, except for the settings in `but`, to a pytest option group, as `--{prefix}name`.

    The installed plugin uses the prefix `encheck-`; `encheck.short_options` uses none.
    """
    for option in (one for name, one in OPTIONS.items() if name not in but):
        shown = "==SUPPRESS==" if option.hidden else option.text.replace("%", "%%")
        attributes: dict[str, Any] = {"help": shown, "dest": option.dest}
        if option.is_flag:
            attributes["action"] = "store_true"
        else:
            attributes |= {"type": option.convert, "default": option.default}
            attributes |= {"choices": option.choices} if option.choices else {"metavar": option.metavar}
            attributes |= {"action": "append"} if option.repeatable else {}
        group.addoption(f"--{prefix}{option.name}", **attributes)


def paths_after_a_blank(args: Sequence[str], *, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the (option, path) pairs in which an existing path follows its option as a separate argument."""
    known = [f"--{prefix}{option.name}" for option in OPTIONS.values() if option.takes_path]
    for option, value in pairwise(args):
        if option in known and not value.startswith("-") and os.path.exists(value.partition("::")[0]):  # noqa: PTH110
            yield option, value


def refuse_misspelt(args: Iterable[str], *, prefix: str = "") -> None:
    """Raise UsageError for an argument that no plugin knows and that resembles an option of encheck."""
    known = [f"--{prefix}{option.name}" for option in OPTIONS.values()]
    for name in (arg.partition("=")[0] for arg in args if arg.startswith("--")):
        if difflib.get_close_matches(name, known, cutoff=0.75):
            raise UsageError(unknown_name_message("option", name, known))


def command_to_continue(argv: Sequence[str]) -> str:
    """Return the command that continues after a first look; "" if the run had no command line.

    >>> command_to_continue(["/bin/encheck", "run", "--model", "./my model", "--quick"])
    "encheck run --model './my model' --full"
    """
    place = Path(argv[0])
    program = place.parent.name if place.stem == "__main__" else place.name
    if program not in ("encheck", "pytest", "py.test"):
        return ""
    typed = [arg for arg in argv[1:] if arg not in ("--quick", f"--{PREFIX}quick")]
    more = ["--full"] if program == "encheck" and "--full" not in typed else []
    return shlex.join([program, *typed, *more])


def arguments_for(label: str, given: Sequence[str]) -> dict[str, str]:
    """Return the --model-arg values for one model. KEY=VALUE applies to all models, MODEL:KEY=VALUE to that model.

    >>> arguments_for("sbert", ["prompt=query: ", "gte:pooling=cls"])
    {'prompt': 'query: '}
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        model, _, key = name.rpartition(":")
        if not equals or not key.isidentifier():
            raise UsageError(f"--model-arg is {text!r}, but should be KEY=VALUE or MODEL:KEY=VALUE")
        if model in ("", label):
            found[key] = value
    return found


def model_options(label: str, spec: str, given: Sequence[str]) -> str:
    """Return the command-line options that name a model, with its --model-arg values.

    >>> model_options("ckpt", "./a b", ["pooling=cls", "gte:dtype=fp16"])
    "--model='./a b' --model-arg=pooling=cls"
    """
    args = (f"--model-arg={shlex.quote(f'{key}={value}')}" for key, value in arguments_for(label, given).items())
    return " ".join([f"--model={shlex.quote(spec)}", *args])


def model_options_of_gate(label: str, given: Sequence[str]) -> str:
    """Return the --model-arg options for one model of a gate; each option starts with a blank.

    Each option has a label, because an option without a label would apply to both models.

    >>> model_options_of_gate("ckpt", ["prompt=query: ", "gte:dtype=fp16"])
    " --model-arg='ckpt:prompt=query: '"
    """
    named = arguments_for(label, given).items()
    return "".join(f" --model-arg={shlex.quote(f'{label}:{key}={value}')}" for key, value in named)

"""Commands that hand their arguments to pytest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer.core

END = "--"


def split_at_end_of_options(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before the first `--`, and those after it, which are no options whatever they begin with.

    >>> split_at_end_of_options(["--model=old", "--", "-new"])
    (['--model=old'], ['-new'])
    """
    at = list(args).index(END) if END in args else len(args)
    return list(args[:at]), list(args[at + 1 :])


class HandsOn(typer.core.TyperCommand):
    """A command that leaves its arguments as they are, except for --help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put them into `ctx.args`."""
        if "--help" in split_at_end_of_options(args)[0]:
            return list(super().parse_args(ctx, ["--help"]))
        ctx.args = list(args)
        return args

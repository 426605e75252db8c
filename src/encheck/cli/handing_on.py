"""Commands that hand their arguments to pytest."""

from __future__ import annotations

from typing import Any

import typer.core


class HandsOn(typer.core.TyperCommand):
    """A command that leaves its arguments as they are, except for --help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put them into `ctx.args`."""
        if "--help" in args:
            return list(super().parse_args(ctx, ["--help"]))
        ctx.args = list(args)
        return args

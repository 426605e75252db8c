"""The `encheck` command: the suite from a plain install, and a look at models, data, runs and the store."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from encheck.cli import annotate, checks, look, reports, store
from encheck.cli.shared import app

__all__ = ["annotate", "app", "checks", "look", "main", "reports", "store"]


def _print_version(asked: bool) -> None:
    if asked:
        from encheck import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _app(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> Any:
    """Run the command; a closed pipe (`encheck data | head`) is no error."""
    try:
        app(args=list(argv) if argv is not None else None)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)

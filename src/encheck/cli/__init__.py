"""The `encheck` command."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any, TextIO

import typer

from encheck.cli import annotate, checks, data, gate, look, reports, store, variants
from encheck.cli.shared import app

__all__ = ["annotate", "app", "checks", "data", "gate", "look", "main", "reports", "store", "variants"]


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
    for name, own in (("stdout", "__stdout__"), ("stderr", "__stderr__")):
        stream = getattr(sys, name)
        if stream and stream is getattr(sys, own) and not stream.isatty():
            drained = _drained(stream)
            setattr(sys, name, drained)
            setattr(sys, own, drained)
    app(args=list(argv) if argv is not None else None)


class _Drain(io.FileIO):
    """A file that takes what nobody reads any more, so that a run goes on to write its report."""

    def write(self, data: Any) -> int:
        """Write, or drop it where the pipe is closed; how many bytes were taken."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _drained(stream: TextIO) -> TextIO:
    """The same stream, for which a closed pipe is no error."""
    stream.flush()
    raw = _Drain(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=True)

"""The `encheck` command."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from encheck.cli import (
    checks,
    compare,
    data,
    explore,
    gate,
    identity,
    index,
    judge,
    look,
    reports,
    store,
    threshold,
    upgrade,
    variants,
)  # fmt: skip
from encheck.cli.shared import app, tell
from encheck.system.terminal import guard_log, stream

__all__ = [
    "app", "checks", "compare", "data", "explore", "gate", "identity", "index", "judge", "look",
    "main", "reports", "store", "threshold", "upgrade", "variants",
]  # fmt: skip


BROKEN = 3  # exit code of a fault in encheck itself


def _print_version(asked: bool) -> None:
    if asked:
        from encheck import __version__

        tell(__version__)
        raise typer.Exit


@app.callback()
def _app(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main(argv: Sequence[str] | None = None) -> Any:
    """Run the command; a closed pipe (`encheck data | head`) is no error, and no text steers the terminal.

    A fault of encheck's own ends with exit code 3.
    """
    guard_log()
    for name, own in (("stdout", "__stdout__"), ("stderr", "__stderr__")):
        given = getattr(sys, name)
        if given and given is getattr(sys, own):
            given.flush()
            guarded = stream(_Drain(given.fileno(), "w", closefd=False), given.encoding)
            setattr(sys, name, guarded)
            setattr(sys, own, guarded)
    try:
        app(args=list(argv) if argv is not None else None)
    except Exception:  # 1 says that a check failed, or that a gate blocks
        traceback.print_exc()
        sys.exit(BROKEN)


class _Drain(io.FileIO):
    """A file that takes what nobody reads any more, so that a run goes on to write its report."""

    def write(self, data: Any) -> int:
        """Write, or drop it where the pipe is closed; how many bytes were taken."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes

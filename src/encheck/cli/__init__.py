"""The `encheck` command."""

from __future__ import annotations

import io
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from encheck.cli import checks, compare, data, gate, reports, show, store
from encheck.cli.shared import STOPPED, app, tell
from encheck.system.terminal import guard_log, visible_stream

__all__ = ["app", "checks", "compare", "data", "gate", "main", "reports", "show", "store"]


if found := find_spec("encheck.operations"):  # each of these packages adds a command
    for operation in pkgutil.iter_modules(found.submodule_search_locations):
        import_module(f"encheck.operations.{operation.name}.command")

BROKEN, USAGE = 3, 4  # exit codes of a fault in encheck itself, and of bad input
STDERR = 2


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
    """Run the command. A closed pipe (`encheck data | head`) is no error, and no text controls the terminal.

    A fault in encheck itself ends with exit code 3; Ctrl-C and SIGTERM end with 130.
    """
    try:
        Path.cwd()
    except OSError:
        tell("ERROR: the working directory is gone. Remedy: cd to one that exists", err=True)
        sys.exit(USAGE)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed, as by `>&-`: no file may take its descriptor, and its output
            opened = os.open(os.devnull, os.O_RDWR)  # as a new file takes the lowest free number
            stream = os.fdopen(opened, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    stopped = _stopped_alike()
    guard_log()
    for name, own in (("stdout", "__stdout__"), ("stderr", "__stderr__")):
        given = getattr(sys, name)
        if given and given is getattr(sys, own):
            given.flush()
            guarded = visible_stream(_Drain(given.fileno(), "w", closefd=False), given.encoding)
            setattr(sys, name, guarded)
            setattr(sys, own, guarded)
    try:
        app(args=list(argv) if argv is not None else None)
    except Exception:  # 1 says that a check failed, or that a gate blocks
        traceback.print_exc()
        sys.exit(BROKEN)
    except (KeyboardInterrupt, SystemExit):
        if stopped:
            sys.exit(STOPPED)
        raise


def _stopped_alike() -> list[int]:
    """Treat SIGTERM like Ctrl-C; return a list that receives the signals."""
    came: list[int] = []

    def stop(number: int, _frame: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    for one in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(one) != signal.SIG_IGN:  # a shell ignores them for background processes
            signal.signal(one, stop)
    return came


class _Drain(io.FileIO):
    """A stream that discards output that cannot be written, so that the run still writes its report."""

    _lost = False

    def write(self, data: Any) -> int:
        """Write the bytes, or drop them if the pipe is closed or the disk is full (warns once); return their number."""
        if not self._lost:
            try:
                return super().write(data)
            except OSError as error:
                self._lost = True
                if not isinstance(error, BrokenPipeError) and self.fileno() != STDERR:
                    with suppress(OSError):
                        os.write(STDERR, f"encheck: standard output cannot be written: {error.strerror}\n".encode())
        return memoryview(data).nbytes

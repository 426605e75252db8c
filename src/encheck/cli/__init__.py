"""The `encheck` command."""

from __future__ import annotations

import io
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from encheck.errors import STOPPED

if TYPE_CHECKING:
    from encheck.cli.shared import app

__all__ = ["app", "main"]


BROKEN, USAGE = 3, 4  # exit codes of a fault in encheck itself, and of bad input
STDERR = 2


def __getattr__(name: str) -> object:
    """Import `app`, with every command, when it is first used. `main` handles signals before that."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    if found := find_spec("encheck.operations"):  # each folder has a command; the others do without
        for operation in pkgutil.iter_modules(found.submodule_search_locations):
            import_module(f"encheck.operations.{operation.name}.command")
    return import_module("encheck.cli.shared").app


def main(argv: Sequence[str] | None = None) -> Any:
    """Run the command line in `argv`.

    Control characters never reach the terminal, and a closed pipe (`encheck data | head`) is not an error. A bug in
    encheck itself ends with exit code 3; Ctrl-C and SIGTERM end with 130.
    """
    _install_signal_handler(_exit_at_once)
    from encheck.system.terminal import make_log_visible, visible_stream

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed, as by `>&-`: no file may take its descriptor, and its output
            opened = os.open(os.devnull, os.O_RDWR)  # as a new file takes the lowest free number
            stream = os.fdopen(opened, "w" if number else "r", encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    make_log_visible()
    for name, own in (("stdout", "__stdout__"), ("stderr", "__stderr__")):
        given = getattr(sys, name)
        if given and given is getattr(sys, own):
            given.flush()
            guarded = visible_stream(_Drain(given.fileno(), "w", closefd=False), given.encoding)
            setattr(sys, name, guarded)
            setattr(sys, own, guarded)
    try:
        Path.cwd()
    except OSError:
        sys.stderr.write("ERROR: the working directory is gone. Remedy: cd to one that exists\n")
        sys.exit(USAGE)
    came: list[int] = []

    def stop(number: int, _frame: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    try:
        command: Any = __getattr__("app")
        _install_signal_handler(stop)
        command(args=list(argv) if argv is not None else None)
    except Exception:  # 1 says that a check failed, or that a gate blocks
        if not came:
            traceback.print_exc()
        sys.exit(STOPPED if came else BROKEN)
    except (KeyboardInterrupt, SystemExit):
        if came:
            sys.exit(STOPPED)
        raise


def _install_signal_handler(handler: Callable[[int, object], None]) -> None:
    """Handle SIGINT and SIGTERM with `handler`, except where they are ignored, as in a shell's background job."""
    for one in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(one) != signal.SIG_IGN:
            signal.signal(one, handler)


def _exit_at_once(_number: int, _frame: object) -> None:
    """Exit without an exception: a module that is being imported may swallow or replace it."""
    with suppress(OSError):
        os.write(STDERR, b"encheck: interrupted\n")
    os._exit(STOPPED)


class _Drain(io.FileIO):
    """A stream that discards output when nobody can read or store it, so that the run still writes its report."""

    _lost = False

    def write(self, data: Any) -> int:
        """Write the bytes and return their number.

        If the pipe is closed or the disk is full, drop the bytes and warn once.
        """
        if not self._lost:
            try:
                return super().write(data)
            except OSError as error:
                self._lost = True
                if not isinstance(error, BrokenPipeError) and self.fileno() != STDERR:
                    with suppress(OSError):
                        os.write(STDERR, f"encheck: standard output cannot be written: {error.strerror}\n".encode())
        return memoryview(data).nbytes

"""What would show that something was run: a file, a variable, a connection, a process, a module of the input's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attacks import Failed

VARIABLE = "ENCHECK_ATTACK_WAS_RUN"
FILE = "was_run"
RUNS = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn", "subprocess.Popen"}
LOOPBACK = ("127.", "::1", "localhost", "/")
_seen: list[str] = []
_on = {"folder": "", "processes": False}


def trace(folder: Path) -> Path:
    """The file that hostile code writes."""
    return folder / FILE


@contextmanager
def watching(folder: Path, *, processes: bool = False) -> Iterator[None]:
    """Failed where something of the folder was run meanwhile; `processes`: this try may start some itself."""
    _hook()
    _seen.clear()
    _on.update(folder=str(folder), processes=processes)
    try:
        yield
    finally:
        _on["folder"] = ""
    if found := [*_seen, *_traces(folder)]:
        raise Failed(f"something was run: {', '.join(found[:3])}")


def may_start_processes() -> None:
    """This try starts processes of its own."""
    _on["processes"] = True


def _traces(folder: Path) -> Iterator[str]:
    if os.environ.pop(VARIABLE, None):
        yield "a variable was set"
    yield from (f"{path.name} was written" for path in folder.rglob(FILE))
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
            yield f"module {name} was imported"


def _hook() -> None:
    if not _on.get("hooked"):
        _on["hooked"] = True
        sys.addaudithook(_audit)


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not _on["folder"]:
        return
    if event in RUNS and not _on["processes"]:
        _seen.append(f"{event} {str(args[:2])[:120]}")
    elif event == "socket.connect" and not _is_here(args[1]):
        _seen.append(f"a connection to {args[1]!r}")
    elif event == "socket.getaddrinfo" and not str(args[0]).startswith(LOOPBACK):
        _seen.append(f"{args[0]!r} was looked up")


def _is_here(address: object) -> bool:
    host = address[0] if isinstance(address, tuple) and address else address
    return str(host).startswith(LOOPBACK)

"""The log messages of a run. They are shown at once and added to its report."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from encheck.system.terminal import LINES, make_visible

log = logging.getLogger("encheck")


class Notes(logging.Handler):
    """Collects log messages for the report and, unless `silent`, shows them at once on standard error."""

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__(logging.WARNING)
        self.is_silent = silent
        self.lines: list[str] = []
        self.is_muted = False

    def emit(self, record: logging.LogRecord) -> None:
        """Note one line."""
        line = record.getMessage()
        if line not in self.lines and not self.is_muted:
            self.lines.append(line)
            if not self.is_silent:
                write_to_stderr(f"encheck: {line}")

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Neither collect nor show messages that are logged in the block."""
        self.is_muted = True
        try:
            yield
        finally:
            self.is_muted = False


@contextmanager
def store_notes() -> Iterator[list[str]]:
    """Show and yield the block's messages about the store; xdist's workers, which start later, report the rest."""
    notes = Notes()
    notes.addFilter(lambda record: record.module == "store")
    log.addHandler(notes)
    try:
        yield notes.lines
    finally:
        log.removeHandler(notes)


def write_to_stderr(message: str) -> None:
    """Write a message to standard error, even if pytest captures it."""
    print(make_visible(message, keep=LINES), file=sys.__stderr__ or sys.stderr, flush=True)

"""What a run logs, shown at once and kept for its report."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from encheck.system.terminal import LINES, visible

log = logging.getLogger("encheck")


class Notes(logging.Handler):
    """Keeps what is logged for the report, and shows it at once on standard error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note one line."""
        line = record.getMessage()
        if line not in self.lines:
            self.lines.append(line)
            print(visible(f"encheck: {line}", keep=LINES), file=_stderr(), flush=True)


@contextmanager
def store_notes() -> Iterator[list[str]]:
    """Show and give what is said of the store meanwhile; the workers of xdist, who come later, say the rest."""
    notes = Notes()
    notes.addFilter(lambda record: record.module == "store")
    log.addHandler(notes)
    try:
        yield notes.lines
    finally:
        log.removeHandler(notes)


def _stderr() -> Any:
    import sys

    return sys.__stderr__ or sys.stderr

"""Text for a terminal or a spreadsheet, with control sequences and invisible characters made visible.

Three kinds of output reach the terminal, and each goes through `make_visible`: what encheck prints, what it logs
(`VisibleLog`, `Notes`), and what libraries print while the `encheck` command runs (`VisibleStream`).

`Progress` shows long work: a bar on a terminal, one line per minute elsewhere, no output for work that ends at once.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

HIDDEN = {"Cc", "Cf", "Cs"}
JOINERS = "\u200d\u200c"  # emoji and several scripts need them
LINES = "\n\t"  # what `make_visible` keeps if a text may have lines
OWN_MOVES = re.compile(r"(\x1b\[[0-9;]*[mAK]|[\r\n\t])")  # colours, and the moves of a progress bar


def make_visible(text: str, *, keep: str = "") -> str:
    r"""Return the text with invisible and reversing characters made visible, one for one, except those in `keep`.

    >>> make_visible("a\u202eb\x00c\nd")
    'a\ufffdb\u2400c\u240ad'
    """
    if text.isascii() and text.isprintable():
        return text
    shown = []
    for c in text:
        if c in keep or c in JOINERS or (c >= " " and unicodedata.category(c) not in HIDDEN):
            shown.append(c)
        else:
            shown.append(chr(0x2400 + ord(c)) if c < " " else "\ufffd")
    return "".join(shown)


def escape_controls(text: str) -> str:
    r"""Return a library's output, with all controls made visible except colours and the moves of a progress bar.

    >>> escape_controls("\x1b[31mred\x1b[0m\x1b]0;title\x07")
    '\x1b[31mred\x1b[0m␛]0;title␇'
    """
    return "".join(part if i % 2 else make_visible(part) for i, part in enumerate(OWN_MOVES.split(text)))


class VisibleLog(logging.Filter):
    """Makes a logger's messages visible for all handlers, since pytest also shows the log of a failed check."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, made visible."""
        record.msg, record.args = make_visible(record.getMessage(), keep=LINES), ()
        return True


def make_log_visible() -> None:
    """Make encheck's log messages pass through `VisibleLog` from now on."""
    log = logging.getLogger("encheck")
    if not any(isinstance(known, VisibleLog) for known in log.filters):
        log.addFilter(VisibleLog())


class VisibleStream(io.TextIOWrapper):
    """A standard stream that passes on only the control characters of colours and progress bars."""

    def write(self, text: str) -> int:
        """Write the text and return its length."""
        super().write(escape_controls(text))
        return len(text)


def visible_stream(raw: Any, encoding: str) -> VisibleStream:
    """Return a `VisibleStream` over a binary stream. Characters that the encoding lacks are written as escapes."""
    return VisibleStream(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=True)


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four in full width


def safe_cell(value: Any) -> Any:
    """Return text that no spreadsheet interprets as a formula.

    >>> safe_cell("=1+1"), safe_cell("1-1"), safe_cell(-1.0)
    ("'=1+1", '1-1', -1.0)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


EVERY = 60.0


class Progress:
    """Reports to `stream` (standard error). Without a terminal, it prints a line per `every` seconds of the `clock`."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        every: float = EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._quiet, self._every, self._clock = quiet, every, clock
        self._advance: Callable[[int], object] | None = None

    @contextmanager
    def task(self, title: str, total: int, *, unit: str = "text") -> Iterator[None]:
        """Show the progress of a task of `total` steps while the block runs. `unit` is the name of a step."""
        if not total or self._quiet:
            yield
            return
        try:
            if self._stream.isatty():
                from tqdm import tqdm

                with tqdm(
                    total=total, desc=title, unit=unit, file=self._stream, leave=False, delay=0.5, dynamic_ncols=True
                ) as bar:
                    self._advance = bar.update
                    yield
            else:
                self._advance = self._lines(title, total, unit)
                yield
        finally:
            self._advance = None

    def _lines(self, title: str, total: int, unit: str) -> Callable[[int], None]:
        done, begun = 0, self._clock()
        last = begun

        def advance(steps: int) -> None:
            nonlocal done, last
            done += steps
            now = self._clock()
            if done and now - last >= self._every:
                last = now
                left = (total - done) * (now - begun) / done
                line = f"{title}: {done} of {total} {unit}s, about {left:.0f} s left"
                print(line, file=self._stream, flush=True)

        return advance

    def advance(self, steps: int) -> None:
        """Report that `steps` more steps are done."""
        if self._advance is not None:
            self._advance(steps)


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

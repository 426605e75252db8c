"""Text for a terminal or a spreadsheet: makes control sequences and invisible characters visible.

Three kinds of output reach the terminal, and each goes through `make_visible`: what encheck prints, what it logs
(`VisibleLog`), and what libraries print while the `encheck` command runs (`VisibleStream`).
"""

from __future__ import annotations

import io
import logging
import re
import unicodedata
from typing import Any

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

"""Progress of long work: a bar on a terminal, one line a minute elsewhere, nothing for work that is done at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

EVERY = 60.0


class Progress:
    """Reports to `stream` (standard error)."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._bar: Any = None  # of tqdm, or `_Lines`

    @contextmanager
    def task(self, title: str, total: int, *, unit: str = "text") -> Iterator[None]:
        """Show a task of `total` steps while it lasts; `unit` is what a step is."""
        if not total or self._quiet:
            yield
            return
        if self._stream.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, desc=title, unit=unit, file=self._stream, leave=False, delay=0.5, dynamic_ncols=True
            )
        else:
            self._bar = _Lines(self._stream, title, total, unit)
        try:
            yield
        finally:
            self._bar.close()
            self._bar = None

    def advance(self, steps: int) -> None:
        """Say that so many more steps are done."""
        if self._bar is not None:
            self._bar.update(steps)


class _Lines:
    def __init__(self, stream: TextIO, title: str, total: int, unit: str) -> None:
        self._stream, self._title, self._total, self._unit, self._done = stream, title, total, unit, 0
        self._said = self._begun = time.monotonic()

    def update(self, steps: int) -> None:
        self._done += steps
        now = time.monotonic()
        if self._done and now - self._said >= EVERY:
            self._said = now
            left = (self._total - self._done) * (now - self._begun) / self._done
            print(
                f"{self._title}: {self._done} of {self._total} {self._unit}s, about {left:.0f} s left",
                file=self._stream,
                flush=True,
            )

    def close(self) -> None:
        pass

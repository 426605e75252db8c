"""Progress of long work: a bar on a terminal, one line per minute elsewhere, no output for work that ends at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

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

"""Locks between processes, and the time that a process spends waiting for others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

Lock = Callable[[], AbstractContextManager[object]]
Locks = Callable[[Any], Iterable[AbstractContextManager[object]]]  # the locks to hold before a model computes


def no_locks(_model: object) -> tuple[AbstractContextManager[object], ...]:
    """Return no locks, for a process that does not share its store."""
    return ()


class WorkClock:
    """A clock that stops while this process waits. `for_others` is the number of seconds of waiting for other runs."""

    def __init__(self) -> None:
        self._waited = self.for_others = 0.0

    def now(self) -> float:
        """Return the seconds of work up to now, from an arbitrary start."""
        return time.perf_counter() - self._waited

    @contextmanager
    def paused(self, *, for_others: bool) -> Iterator[None]:
        """Stop the clock for the block. With `for_others`, count the time as waiting for another run."""
        start = time.perf_counter()
        try:
            yield
        finally:
            lasted = time.perf_counter() - start
            self._waited += lasted
            self.for_others += lasted * for_others

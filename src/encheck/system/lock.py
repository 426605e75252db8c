"""Locks between processes, and the time that a process spends waiting for others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

Lock = Callable[[], AbstractContextManager[object]]
Locks = Callable[[Any], Iterable[AbstractContextManager[object]]]  # of a model, what to hold before it computes


def no_locks(_model: object) -> tuple[AbstractContextManager[object], ...]:
    """No lock, for who shares the store with nobody."""
    return ()


class WorkClock:
    """A clock that stands still while this process waits. `for_others` is what it waited for other runs, in seconds."""

    def __init__(self) -> None:
        self._waited = self.for_others = 0.0

    def now(self) -> float:
        """Seconds of work up to now, from a beginning of its own."""
        return time.perf_counter() - self._waited

    @contextmanager
    def standing(self, *, for_others: bool) -> Iterator[None]:
        """Stand still for the block; where another run is the reason, count it as that."""
        start = time.perf_counter()
        try:
            yield
        finally:
            lasted = time.perf_counter() - start
            self._waited += lasted
            self.for_others += lasted * for_others

"""Time that work takes: by the clock, and of processors."""

from __future__ import annotations

import time
from typing import NamedTuple


class Spent(NamedTuple):
    """Seconds by the clock, and seconds of processor time of all threads of this process."""

    wall: float = 0.0
    processor: float = 0.0

    @classmethod
    def now(cls) -> Spent:
        """A point in time, to take another one from."""
        return cls(time.perf_counter(), time.process_time())

    def since(self, start: Spent) -> Spent:
        """What went by between the two."""
        return Spent(self.wall - start.wall, self.processor - start.processor)

    def plus(self, *others: Spent) -> Spent:
        """The sum of all.

        >>> Spent(1.0, 2.0).plus(Spent(3.0, 1.0))
        Spent(wall=4.0, processor=3.0)
        """
        return Spent(sum(one.wall for one in (self, *others)), sum(one.processor for one in (self, *others)))

    def times(self, factor: float) -> Spent:
        """So many times as much; nothing below zero."""
        return Spent(max(0.0, self.wall * factor), max(0.0, self.processor * factor))

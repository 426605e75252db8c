"""When Python collects its garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without passes of the cycle collector: it walks over all that was made so far, time and again, and frees none."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def settle() -> None:
    """Leave all that is there now out of the passes of the cycle collector: data and items live to the end of a run."""
    gc.freeze()

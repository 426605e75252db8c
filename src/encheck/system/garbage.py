"""When Python collects its garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000  # made between two passes; Python's own default is 700


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


@contextmanager
def seldom_collected() -> Iterator[None]:
    """With few passes of the cycle collector: for making much that stays, and little that is garbage."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

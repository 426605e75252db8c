"""When Python collects its garbage, and freed memory that is given back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000  # made between two passes; Python's own default is 700


@contextmanager
def without_collection() -> Iterator[None]:
    """Without passes of the cycle collector: it walks over all that was made so far, time and again, and frees none."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@contextmanager
def rare_collection() -> Iterator[None]:
    """With few passes of the cycle collector: for making much that stays, and little that is garbage."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def release_memory() -> None:
    """Give freed memory back, which the C library of Linux keeps for itself; nothing where there is another."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim is not None:
            trim(0)

"""Control of Python's garbage collection, and the return of freed memory to the system."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000  # created between two passes; Python's own default is 700


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable the cycle collector, which would visit all objects again and again without freeing any."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Run the cycle collector rarely, for code that makes many lasting objects and little garbage."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def release_memory() -> None:
    """Return to the system the freed memory that Linux's C library keeps. No effect with other C libraries."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim is not None:
            trim(0)

"""One encoding process a device, one parsing process a store."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("encheck")


PATIENCE = 5.0  # seconds that a run waits for another in silence


@contextmanager
def _held(path: str, does: str) -> Iterator[None]:
    """Hold this lock; where that takes long, say what for, but not where it may be another worker of the same run."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, is_singleton=True)  # so that who holds it may take it again
    try:
        lock.acquire(timeout=-1 if "PYTEST_XDIST_WORKER" in os.environ else PATIENCE)
    except Timeout:
        log.warning("waiting for another run that %s with the same store: it holds %s", does, path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _held_if_free(path: str) -> Iterator[bool]:
    """Hold this lock where nobody else does; say whether."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, is_singleton=True)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()

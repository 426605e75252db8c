"""Look into the store, and take the locks of the devices that compute what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray

Found = tuple[NDArray[np.float32], NDArray[np.bool_]]


class Busy(Exception):  # noqa: N818 - no fault: who asked did not want to wait
    """Another process has the lock."""


@contextmanager
def looking(look: Callable[[], Found], locks: Iterable[AbstractContextManager[object]]) -> Iterator[Found]:
    """What `look` finds: arrays and which of them are there. Where some are not, all locks are held for the block.

    It looks again after each lock, since who held it may have computed them; the rest of the locks is then not even
    asked for. A lock that gives False is another's: Busy.
    """
    with ExitStack() as held:
        found, left = look(), iter(locks)
        while not found[1].all() and (lock := next(left, None)) is not None:
            if held.enter_context(lock) is False:
                raise Busy
            found = look()
        yield found

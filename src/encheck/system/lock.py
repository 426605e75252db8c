"""Locks between processes, created anew each time they are taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

Lock = Callable[[], AbstractContextManager[object]]
Locks = Callable[[Any], Iterable[AbstractContextManager[object]]]  # of a model, what to hold before it computes


def no_locks(_model: object) -> tuple[AbstractContextManager[object], ...]:
    """No lock, for who shares the store with nobody."""
    return ()

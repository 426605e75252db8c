"""A lock that others wait for, made anew each time it is taken."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

Lock = Callable[[], AbstractContextManager[object]]

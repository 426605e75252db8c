"""What was changed, by how vectors moved: signs that one kind of change has and others do not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.canary_texts import texts, twins

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LONG = ("long", "near the limit")


@dataclass(frozen=True, slots=True)
class Cause:
    """What was changed, in a word, and the sentence that says so; no word where nothing tells."""

    name: str
    reason: str


def apart(first: Floats, second: Floats) -> Floats:
    """How far rows lie from each other, as a share of the longer one's length, shape [n]; NaN where one is missing.

    >>> apart(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[0.0, 4.0], [0.0, 0.0]])).tolist()
    [0.6, 0.0]
    """
    longer = np.maximum(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    found: Floats = np.linalg.norm(first - second, axis=1) / np.where(longer > 0, longer, 1)
    return found


def unit(vectors: Floats) -> Floats:
    """Rows of length 1; a row of zeros stays one."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Floats = vectors / np.where(length > 0, length, 1)
    return found


@dataclass(frozen=True, eq=False)
class Moved:
    """The vectors that were saved and those of now, both [texts, d], and what is quiet and loud."""

    then: Floats
    now: Floats
    calls: Floats
    limit: Floats
    loud_from: Floats

    @cached_property
    def drift(self) -> Floats:
        """How far each vector moved."""
        return apart(self.then, self.now)

    @cached_property
    def direction(self) -> Floats:
        """How far each would have moved if all had length 1."""
        return apart(unit(self.then), unit(self.now))

    @cached_property
    def quiet(self) -> Bools:
        """Within the model's own noise; what is missing counts as quiet."""
        return ~(self.drift > self.limit)

    @cached_property
    def loud(self) -> Bools:
        """Farther than rounding and hardware explain."""
        return np.asarray(self.drift > self.loud_from)

    @cached_property
    def there(self) -> Bools:
        """Texts that are not empty and have a vector then and now, other than zeros."""
        answered = np.isfinite(self.drift) & self.then.any(axis=1) & self.now.any(axis=1)
        return answered & np.array([one.kind != "empty" for one in texts()])

    @cached_property
    def turning(self) -> bool:
        """Whether one call gave what was saved and another did not, for one text in twenty or more."""
        each = np.array([apart(self.then, call) for call in self.calls])
        return bool(((each <= self.limit).any(axis=0) & (each > self.loud_from).any(axis=0)).mean() >= 0.05)

"""How far the vectors of a canary's texts moved, and how. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.canary_texts import NOTHING, texts

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
TURNING = 0.05  # share of texts that one call gives as before and another does not, where two models take turns


def apart(first: Floats, second: Floats) -> Floats:
    """How far rows lie from each other, as a share of the longer one's length, shape [n]; NaN if one is missing.

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
    """The vectors that were saved and those of now, both [texts, d], and what is quiet and loud.

    `calls` are those of now, [calls, texts, d]; `noise`, `limit` and `loud_from` have shape [texts].
    """

    then: Floats
    now: Floats
    calls: Floats
    noise: Floats
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
        return np.asarray(~(self.drift > self.limit))

    @cached_property
    def loud(self) -> Bools:
        """Farther than rounding and hardware explain."""
        return np.asarray(self.drift > self.loud_from)

    @cached_property
    def there(self) -> Bools:
        """Texts that are not empty and have a vector then and now, other than zeros."""
        answered = np.isfinite(self.drift) & self.then.any(axis=1) & self.now.any(axis=1)
        return np.asarray(answered & np.array([one.kind != NOTHING for one in texts()]))

    @cached_property
    def turning(self) -> bool:
        """Whether one call gave what was saved and another did not, for one text in twenty or more."""
        each = np.array([apart(self.then, call) for call in self.calls])
        return bool(((each <= self.limit).any(axis=0) & (each > self.loud_from).any(axis=0)).mean() >= TURNING)

    @cached_property
    def by_length(self) -> float:
        """Rank correlation of how far directions turned with the lengths of the texts."""
        from scipy.stats import spearmanr

        lengths = np.array([len(one.text) for one in texts()])[self.there]
        turned = self.direction[self.there]
        return float(spearmanr(turned, lengths).statistic) if len(set(turned.tolist())) > 1 else 0.0

    @cached_property
    def spread(self) -> float:
        """Standard deviation of how far directions turned, as a share of its mean."""
        turned = self.direction[self.there]
        return float(turned.std() / max(turned.mean(), 1e-30))

    @property
    def typical(self) -> float:
        """How far the median direction turned."""
        return float(np.median(self.direction[self.there]))

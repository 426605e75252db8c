"""Reorders that keep the meaning: a fronted adverbial, an exchanged coordination, a passive."""

from __future__ import annotations

from random import Random

from encheck.generators.written import written
from encheck.types import Group, Variant


def reorder(group: Group, *, level: int, rng: Random) -> Variant | None:  # noqa: ARG001 - written by hand so far
    """The reorder edit of this sentence at this level, from the probes; other data have none yet."""
    return written(group, "reorder", level=level)

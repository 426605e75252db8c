"""Synonym edits: `level` words replaced by words of the same meaning."""

from __future__ import annotations

from random import Random

from encheck.generators.written import written
from encheck.types import Group, Variant


def synonym(group: Group, *, level: int, rng: Random) -> Variant | None:  # noqa: ARG001 - written by hand so far
    """The synonym edit of this sentence at this level, from the probes; other data have none yet."""
    return written(group, "synonym", level=level)

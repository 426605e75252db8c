"""Control edits: another word of the same tag and frequency in the slot of the antonym edit."""

from __future__ import annotations

from random import Random

from encheck.generators.written import written
from encheck.types import Group, Variant


def control(group: Group, *, level: int, rng: Random) -> Variant | None:  # noqa: ARG001 - written by hand so far
    """The control edit of this sentence at this level, from the probes; other data have none yet."""
    return written(group, "control", level=level)

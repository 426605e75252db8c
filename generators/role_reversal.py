"""Role reversals: the same words, who does what to whom exchanged."""

from __future__ import annotations

from random import Random

from encheck.generators.written import written
from encheck.types import Group, Variant


def role_reversal(group: Group, *, level: int, rng: Random) -> Variant | None:  # noqa: ARG001 - written by hand so far
    """The role_reversal edit of this sentence at this level, from the probes; other data have none yet."""
    return written(group, "role_reversal", level=level)

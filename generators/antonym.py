"""Antonym edits: one verb, adjective, adverb or noun replaced by its opposite."""

from __future__ import annotations

from random import Random

from encheck.generators.written import written
from encheck.types import Group, Variant


def antonym(group: Group, *, level: int, rng: Random) -> Variant | None:  # noqa: ARG001 - written by hand so far
    """The antonym edit of this sentence at this level, from the probes; other data have none yet."""
    return written(group, "antonym", level=level)

"""Variants that were written by hand: those of the embedded probes, or of a probe file of the user's own."""

from __future__ import annotations

from encheck.errors import NothingToMeasure
from encheck.types import Group, Variant


def written(group: Group, relation: str, *, level: int = 1) -> Variant | None:
    """The hand-written variant of this relation and level, or None where this sentence has none.

    Raises NothingToMeasure for a sentence of a data set without hand-written variants.
    """
    if not group.variants:
        raise NothingToMeasure(f"this data set has no {relation} edits, and no generator makes them yet")
    return group.variant(relation, level)

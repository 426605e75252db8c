"""Variants that were written by hand: those of the embedded probes, or of a probe file of the user's own."""

from __future__ import annotations

from encheck.types import Group, Variant


def written(group: Group, relation: str, *, level: int = 1) -> Variant | None:
    """The hand-written variant of this relation and level, or None where this sentence has none."""
    return group.variant(relation, level)

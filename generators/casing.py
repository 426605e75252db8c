"""Casing: the sentence in lower case, as people type into a search box."""

from __future__ import annotations

from random import Random

from encheck.generators.base import listed
from encheck.language.english import English
from encheck.types import Edit, Group, Variant, apply_edits


@listed(1)
def casing(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """The sentence in lower case, or why there is no variant."""
    changed = [(i, c.lower()) for i, c in enumerate(group.source) if c.lower() != c]
    if not changed:
        return "already in lower case"
    edits = tuple(Edit(i, i + 1, c) for i, c in changed)
    return Variant(apply_edits(group.source, edits), "casing", level, edits, "casing", "in lower case")

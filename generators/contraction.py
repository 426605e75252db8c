"""Contraction: "do not" for "don't", or the other way round."""

from __future__ import annotations

from random import Random

from encheck.generators.base import listed
from encheck.language.edits.contractions import contractions
from encheck.language.english import English
from encheck.language.prose import why_left
from encheck.types import Group, Variant, apply_edits, changes


@listed(1)
def contraction(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """The sentence with its contractions written in full, or contracted if it has none; or why there is no variant."""
    if left := "" if group.variants else why_left(group.source):
        return left
    edits = tuple(contractions(group.source))
    if not edits:
        return "nothing to contract"
    said = changes(group.source, edits)
    return Variant(apply_edits(group.source, edits), "contraction", level, edits, "contraction", said)

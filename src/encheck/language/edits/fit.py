"""What a substitute asks of a word's place."""

from __future__ import annotations

from functools import cache

from encheck.language.dependencies import mask
from encheck.language.edits.conditions import Asked, asked, is_graded
from encheck.language.lexicon.protocol import Pos


@cache
def needs(pos: Pos, flags: frozenset[str]) -> Asked:
    """What a substitute with these flags asks of its place.

    Without `inf` no infinitive may hang on a verb, without `grad` no adjective or adverb may be compared or
    intensified; a verb with two objects always stays.
    """
    refused, conditions = asked(flags)
    if pos == "v":
        refused |= mask("iobj") if "inf" in flags else mask("iobj", "xcomp")
    if pos in ("a", "r") and flags.isdisjoint(("grad", "sup")):
        conditions = (*conditions, lambda parse, at: not is_graded(parse, at))
    return Asked(refused, conditions)

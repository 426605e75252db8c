"""Edits that change only the form: lower case, spacing as after copying from a page, contractions."""

from __future__ import annotations

import re
from random import Random

from encheck.generators.base import listed_generator
from encheck.language.edits.contractions import find_contraction_edits
from encheck.language.english import English
from encheck.language.prose import why_not_edited
from encheck.types import Edit, Group, Variant, apply_edits, edits_in_words


@listed_generator(1)
def casing(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """Return the sentence in lower case, or why there is no variant."""
    changed = [(i, c.lower()) for i, c in enumerate(group.source) if c.lower() != c]
    if not changed:
        return "already in lower case"
    edits = tuple(Edit(i, i + 1, c) for i, c in changed)
    return Variant(apply_edits(group.source, edits), "casing", level, edits, "casing", "in lower case")


@listed_generator(1)
def contraction(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """Return the sentence with its contractions expanded, or contracted if it has none, or why there is no variant."""
    if left := "" if group.variants else why_not_edited(group.source):
        return left
    edits = tuple(find_contraction_edits(group.source))
    if not edits:
        return "nothing to contract"
    said = edits_in_words(group.source, edits)
    return Variant(apply_edits(group.source, edits), "contraction", level, edits, "contraction", said)


@listed_generator(1)
def spacing(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """Return the sentence with one space doubled and one added at the end, or why there is no variant."""
    blanks = [m.start() for m in re.finditer(r"(?<=\S) (?=\S)", group.source)]
    if not blanks:
        return "one word"
    at, end = rng.choice(blanks), len(group.source)
    edits = (Edit(at, at + 1, "  "), Edit(end, end, " "))
    said = "a blank doubled, one at the end"
    return Variant(apply_edits(group.source, edits), "spacing", level, edits, "spacing", said)

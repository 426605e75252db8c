"""Spacing: a doubled space and one at the end, as copying from a page leaves them."""

from __future__ import annotations

import re
from random import Random

from encheck.generators.base import listed
from encheck.language.english import English
from encheck.types import Edit, Group, Variant, apply_edits


@listed(1)
def spacing(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """The sentence with one space doubled and one at the end, or why there is no variant."""
    blanks = [m.start() for m in re.finditer(r"(?<=\S) (?=\S)", group.source)]
    if not blanks:
        return "one word"
    at, end = rng.choice(blanks), len(group.source)
    edits = (Edit(at, at + 1, "  "), Edit(end, end, " "))
    said = "a blank doubled, one at the end"
    return Variant(apply_edits(group.source, edits), "spacing", level, edits, "spacing", said)

"""Continuations: the sentence goes on, and says more and more (Peng, Weir and Weeds 2023, section 3.3).

The final punctuation gives way to ", and" and the words that follow, cut after five words, ten, and so on; "and" counts
as the first of them, punctuation does not count, and falls away at the cut. What follows was written by hand (the
probes) or by a language model (`--continuation-model`); `careful` mode ends the longer sentence as the sentence ended.
"""

from __future__ import annotations

import re
from random import Random

from encheck.language.english import English
from encheck.types import Edit, Group, Variant, apply_edits

CUTS = (5, 10, 15, 20, 25, 30)
END = re.compile(r"[\s.!?…\"'”’)]*$")
AT_CUT = ".,;:!?…-–—\"'”’()"


def continuation(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """The sentence with `level` more words, or why there is no continuation."""
    if group.continuation is None:
        return "no continuation: give --continuation-model"
    words = ["and", *group.continuation.split()]
    ends = [i for i, word in enumerate(words, start=1) if is_word(word)]
    if len(ends) < level:
        return f"the continuation has fewer than {level} words"
    start = end_of(group.source)
    ending = group.source[start:].strip() if english.mode == "careful" else ""
    added = f", {' '.join(words[: ends[level - 1]]).rstrip(AT_CUT)}{ending}"
    edits = (Edit(start, len(group.source), added),)
    return Variant(apply_edits(group.source, edits), "continuation", level, edits, "continuation", f"{level} words")


def is_word(token: str) -> bool:
    """Whether what stands between two blanks counts as a word.

    >>> [is_word(token) for token in ("and", "1806,", "-")]
    [True, True, False]
    """
    return any(map(str.isalnum, token))


def end_of(text: str) -> int:
    """Where the final punctuation of a text begins.

    >>> "It rained."[: end_of("It rained.")]
    'It rained'
    """
    found = END.search(text)
    return found.start() if found else len(text)

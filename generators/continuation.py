"""Continuations: the sentence goes on and adds more statements (Peng, Weir and Weeds 2023, section 3.3).

The final punctuation is replaced by ", and" and the first five words of a continuation, or ten, and so on; "and" counts
as a word. Punctuation does not count, and is dropped at the cut. The continuation was written by hand (the probes) or
by a language model (`--continuation-model`). A cut is extended to the end of a clause or phrase, and the longer
sentence ends like the original.
"""

from __future__ import annotations

import re
from random import Random

from encheck.generators.base import listed_generator
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.language.words import FUNCTION_WORDS
from encheck.types import Edit, Group, Variant, apply_edits

CUTS = (5, 10, 15, 20, 25, 30)
MAX_EXTRA_WORDS = 4  # maximum words by which a cut is extended to the end of its clause; stays before the next cut
END = re.compile(r"[\s.!?…\"'”’)]*$")
AT_CUT = ".,;:!?…-–—\"'”’()"
OMISSIBLE = frozenset("punct conj cc advcl obl nmod parataxis appos advmod discourse".split())
BEHIND = {pos: frozenset("PUNCT ADP CCONJ SCONJ ADV".split()) for pos in ("NOUN", "PROPN")}  # behind a whole phrase
BEHIND_OTHERS = frozenset("PUNCT CCONJ SCONJ".split())  # a particle belongs to its verb
BOUND = frozenset("as of than that to".split())  # they begin a complement of the words before


@listed_generator()
def continuation(group: Group, *, level: int, rng: Random, english: English) -> Variant | str:  # noqa: ARG001
    """Return the sentence with `level` more words, and up to `MAX_EXTRA_WORDS` more to end a clause.

    Return a reason if there is no continuation.
    """
    reason = why_no_continuation(group, level)
    if reason or group.continuation is None:
        return reason
    ends_of_clauses = english.derive(count_words_before_clause_ends, group.continuation)
    count = next((n for n in ends_of_clauses if level <= n <= level + MAX_EXTRA_WORDS), 0)
    if not count:
        return "no clause of the continuation ends where it would be cut"
    return append_words(group, count, level=level, ending=group.source[end_without_punctuation(group.source) :].strip())


def why_no_continuation(group: Group, level: int) -> str:
    """Return why a group has no continuation of `level` words (including the "and"), or "" if it has one."""
    if group.continuation is None:
        return "no continuation: give --continuation-model"
    count = 1 + sum(map(is_word, group.continuation.split()))
    return f"the continuation has fewer than {level} words" if count < level else ""


def append_words(group: Group, count: int, *, level: int, ending: str = "") -> Variant:
    """Return the sentence with "and" and the first words of its continuation, then `ending`.

    `count` is the number of words added, including the "and".
    """
    words = ["and", *(group.continuation or "").split()]
    ends = [i for i, word in enumerate(words, start=1) if is_word(word)]
    added = f", {' '.join(words[: ends[count - 1]]).rstrip(AT_CUT)}{ending}"
    edits = (Edit(end_without_punctuation(group.source), len(group.source), added),)
    return Variant(apply_edits(group.source, edits), "continuation", level, edits, "continuation", f"{count} words")


def count_words_before_clause_ends(_english: English, parse: Parse) -> tuple[int, ...]:
    """Return the numbers of words after which a clause or a phrase of the continuation ends.

    The numbers include the "and". The end is after a content word, nothing before it depends on the rest, and the rest
    can be left out: "and a rope was made fast around the mast" goes on with "while the cook ...".
    """
    cuts = {parse.ends[at] for at in range(len(parse)) if _is_clause_end(parse, at)}
    words = [match for match in re.finditer(r"\S+", parse.text) if is_word(match[0])]
    return tuple(n for n, match in enumerate(words, 2) if match.start() + len(match[0].rstrip(AT_CUT)) in cuts)


def _is_clause_end(parse: Parse, at: int) -> bool:
    if parse.lowers[at].strip("'’") in FUNCTION_WORDS or not is_word(parse.words[at]):
        return False
    if at + 1 < len(parse) and (
        parse.pos[at + 1] not in BEHIND.get(parse.pos[at], BEHIND_OTHERS) or parse.lowers[at + 1] in BOUND
    ):
        return False
    crossing = [i for i, head in enumerate(parse.heads) if (i <= at) != (head <= at) and parse.bases[i] != "punct"]
    cases = [parse.lowers[case] for i in crossing for case in parse.children[i] if parse.bases[case] == "case"]
    return "of" not in cases and all(parse.heads[i] <= at and parse.bases[i] in OMISSIBLE for i in crossing)


def is_word(token: str) -> bool:
    """Return whether the text between two blanks counts as a word.

    >>> [is_word(token) for token in ("and", "1806,", "-")]
    [True, True, False]
    """
    return any(map(str.isalnum, token))


def end_without_punctuation(text: str) -> int:
    """Return the offset at which a text's final punctuation starts.

    >>> "It rained."[: end_without_punctuation("It rained.")]
    'It rained'
    """
    match = END.search(text)
    return match.start() if match else len(text)

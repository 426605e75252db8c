"""Which words of a sentence may be replaced, as far as the parse alone says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from sys import intern
from typing import NamedTuple

from encheck.language.dependencies import mask
from encheck.language.edits.inflection import is_form_of
from encheck.language.edits.table import lemmas
from encheck.language.lexicon.protocol import Pos
from encheck.language.parse import Parse

POS_OF_TAG: Mapping[str, Pos] = {
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("NN", "NNS"), "n"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "a"),
    **dict.fromkeys(("RB", "RBR", "RBS", "IN", "DT", "PDT"), "r"),
}
AGREE = {"v": {"VERB"}, "n": {"NOUN"}, "a": {"ADJ"}, "r": {"ADV", "ADP", "SCONJ", "DET", "PART"}}
PART_OF_NAME = {"flat", "fixed", "goeswith", "foreign", "list", "appos", "compound", "dep"}
NOMINAL = {"nsubj", "obj", "iobj", "obl", "nmod"}  # "the faithful", "faced with cold"
EXTENDING = mask("compound:prt", "fixed", "flat", "goeswith")  # a particle, or a further word of a name
DESCRIBED = mask("cop", "advmod")
PAST = {"VBD": "VBN", "VBN": "VBD"}
ENDINGS = {"VBZ": "s", "VBG": "ing"}
JOINERS = "-\u2010\u2011\u2013/'’@#_"


class Places(NamedTuple):
    """The tokens that may be replaced by words of the table, each with tag and lemma as its key ("NNS house").

    `capital` are those of them that begin with a capital letter, `staying` the keys of words that are in the table and
    have to stay.
    """

    at: tuple[int, ...]
    keys: tuple[str, ...]
    capital: tuple[int, ...]
    staying: tuple[str, ...]


def places_of(parse: Parse) -> Places:
    """Which tokens may be replaced, worked out once for each parse."""
    if parse.derived is None:
        object.__setattr__(parse, "derived", places(parse))
    found: Places = parse.derived
    return found


def places(parse: Parse) -> Places:
    """Which tokens may be replaced.

    A word has to stay where tagger and parser disagree on what it is, or its ending is not what its tag says, in names
    and fixed expressions, as a phrasal verb or a part of one, joined to its neighbour, in capitals or mixed case, and
    as an adjective in the place of a noun.
    """
    at: list[int] = []
    keys: list[str] = []
    staying: list[str] = []
    known = _known()
    for i, (tag, lemma) in enumerate(zip(parse.tags, parse.lower_lemmas, strict=True)):
        if tag in known and lemma in known[tag]:
            key = intern(f"{tag} {lemma}")
            if _is_plain(parse, i):
                at.append(i)
                keys.append(key)
            else:
                staying.append(key)
    capital = [i for i in at if parse.words[i] is not parse.lowers[i]]
    return Places(tuple(at), tuple(keys), tuple(capital), tuple(staying))


@cache
def _known() -> Mapping[str, frozenset[str]]:
    """Tag -> the lemmas that the table has."""
    return {tag: lemmas(pos) for tag, pos in POS_OF_TAG.items()}


def _is_plain(parse: Parse, at: int) -> bool:
    """Whether it is written as a word among others, in the form of its tag, and stands as one."""
    tag, word, below, base = parse.tags[at], parse.words[at], parse.below[at], parse.bases[at]
    pos = POS_OF_TAG[tag]
    if parse.pos[at] not in AGREE[pos] or parse.entities[at]:
        return False
    if not word.isalpha() or base in PART_OF_NAME or below & EXTENDING:
        return False
    if not (word.islower() or (word.istitle() and at == first_word(parse, at))):
        return False
    if not has_form(parse.lowers[at], parse.lower_lemmas[at], tag) or _joined(parse, at):
        return False
    return not (pos == "a" and base in NOMINAL and not below & DESCRIBED)


def has_form(word: str, lemma: str, tag: str) -> bool:
    """Whether a verb or adjective looks as its tag says: "allege" is no VBZ and "rose" no VBN."""
    if tag in ("VB", "VBP", "JJ"):
        return word == lemma
    if tag in PAST:
        return not is_form_of(word, lemma, PAST[tag], but=tag)
    return tag not in ENDINGS or word.endswith(ENDINGS[tag])


def _joined(parse: Parse, at: int) -> bool:
    """Whether the word touches another one: well-known, and/or, don't."""
    text, start, end = parse.text, parse.starts[at], parse.ends[at]
    if text[start - 1 : start] == " " == text[end : end + 1]:
        return False
    around = text[max(start - 1, 0) : start] + text[end : end + 1]
    return any(sign in JOINERS or sign.isalnum() for sign in around)


def first_word(parse: Parse, at: int) -> int:
    """The first word of the sentence that `at` belongs to: where a capital letter says nothing."""
    here = at
    while here > 0 and not (parse.words[here - 1] in ".?!:\"'“‘``" or parse.words[here - 1].isspace()):
        here -= 1
    return here

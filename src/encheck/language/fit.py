"""Where a word may be replaced, and whether a substitute's conditions hold there. Everything is read off the parse."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from sys import intern
from typing import NamedTuple

from encheck.language.conditions import Asked, asked, first_word, is_graded
from encheck.language.lexicon import Lexicon, Pos
from encheck.language.parse import Parse, mask
from encheck.memory import uncollected

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
JOINERS = "-\u2010\u2011\u2013/'’@#_"


def class_of(parse: Parse, at: int) -> Pos | None:
    """The part of speech under which this token may be replaced, or None where it must stay.

    It must stay where tagger and parser disagree on what it is, in names and fixed expressions, as a phrasal verb or a
    part of one, joined to its neighbour, in capitals or mixed case, and as an adjective in the place of a noun.
    """
    pos = POS_OF_TAG.get(parse.tags[at])
    if pos is None or parse.pos[at] not in AGREE[pos] or parse.entities[at]:
        return None
    word = parse.words[at]
    if not word.isalpha() or not (word.islower() or (word.istitle() and at == first_word(parse, at))):
        return None
    below, base = parse.below[at], parse.bases[at]
    if below & EXTENDING or base in PART_OF_NAME or _joined(parse, at):
        return None
    nominal = pos == "a" and base in NOMINAL and not below & DESCRIBED
    return None if nominal else pos


def _joined(parse: Parse, at: int) -> bool:
    """Whether the word touches another one: well-known, and/or, don't."""
    text, start, end = parse.text, parse.starts[at], parse.ends[at]
    if text[start - 1 : start] == " " == text[end : end + 1]:
        return False
    around = text[max(start - 1, 0) : start] + text[end : end + 1]
    return any(sign in JOINERS or sign.isalnum() for sign in around)


class Expressions(NamedTuple):
    """Expressions of two and three words (`known`, divided by blanks), and which `pairs` stand side by side in one."""

    known: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@uncollected()
def expressions(lexicon: Lexicon) -> Expressions:
    """Those that the lexicon knows as one."""
    lemmas = (lemma for pos in ("n", "v", "a", "r") for lemma in lexicon.lemmas(pos) if "_" in lemma)
    found = [words for lemma in lemmas if len(words := lemma.split("_")) < 4]
    pairs = frozenset((intern(first), intern(second)) for words in found for first, second in pairwise(words))
    return Expressions(frozenset(map(" ".join, found)), pairs)


def in_expression(parse: Parse, at: int, expressions: Expressions) -> bool:
    """Whether the token stands in an expression of two or three words, by its words or by their lemmas."""
    size, words, lemmas = len(parse.tags), parse.lowers, parse.lower_lemmas
    before, after = at - 1, at + 1 - size  # past an end they meet the other one, where no expression is found below
    word, lemma = words[at], lemmas[at]
    if expressions.pairs.isdisjoint(
        ((words[before], word), (word, words[after]), (lemmas[before], lemma), (lemma, lemmas[after]))
    ):
        return False
    for start, end in ((at - 1, at + 1), (at, at + 2), (at - 2, at + 1), (at - 1, at + 2), (at, at + 3)):
        both = words[start:end], lemmas[start:end]
        if start >= 0 and end <= size and not expressions.known.isdisjoint(map(" ".join, both)):
            return True
    return False


def fits(parse: Parse, at: int, pos: Pos, flags: frozenset[str]) -> bool:
    """Whether a substitute with these flags can stand at this token."""
    return needs(pos, flags).hold(parse, at)


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

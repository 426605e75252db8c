"""Where a word may be replaced, and whether a substitute's conditions hold there. Everything is read off the parse."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from encheck.language.conditions import Condition, condition, first_word, is_graded
from encheck.language.lexicon import Lexicon, Pos
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
    if parse.bases[at] in PART_OF_NAME or _joined(parse, at) or _extended(parse, at):
        return None
    nominal = pos == "a" and parse.bases[at] in NOMINAL and parse.child(at, "cop", "advmod") is None
    return None if nominal else pos


def _joined(parse: Parse, at: int) -> bool:
    """Whether the word touches another one: well-known, and/or, don't."""
    before, after = parse.starts[at] - 1, parse.ends[at]
    text = parse.text
    return (before >= 0 and (text[before] in JOINERS or text[before].isalnum())) or (
        after < len(text) and (text[after] in JOINERS or text[after].isalnum())
    )


def _extended(parse: Parse, at: int) -> bool:
    """Whether a particle, or a further word of a name, hangs on it."""
    for i in parse.children[at]:
        if parse.deps[i] == "compound:prt" or parse.bases[i] in ("fixed", "flat", "goeswith"):
            return True
    return False


def expressions(lexicon: Lexicon) -> frozenset[str]:
    """Expressions of two and three words that the lexicon knows as one, divided by blanks."""
    found = (lemma for pos in ("n", "v", "a", "r") for lemma in lexicon.lemmas(pos) if "_" in lemma)
    return frozenset(lemma.replace("_", " ") for lemma in found if lemma.count("_") < 3)


def pairs_of(known: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Every two words that stand together in an expression."""
    return frozenset(pair for expression in known for pair in pairwise(expression.split(" ")))


def in_expression(parse: Parse, at: int, known: frozenset[str], pairs: frozenset[tuple[str, str]]) -> bool:
    """Whether the token stands in an expression of two or three words, by its words or by their lemmas.

    `pairs` are those of `known`: hardly any token stands in one, so that few places are looked at closely.
    """
    size, words, lemmas = len(parse), parse.lowers, parse.lemmas
    for i in range(max(at - 1, 0), min(at + 1, size - 1)):
        if (words[i], words[i + 1]) in pairs or (lemmas[i].lower(), lemmas[i + 1].lower()) in pairs:
            break
    else:
        return False
    for start, end in ((at - 1, at + 1), (at, at + 2), (at - 2, at + 1), (at - 1, at + 2), (at, at + 3)):
        if start >= 0 and end <= size:
            there = " ".join(words[start:end])
            if there in known or " ".join(lemmas[start:end]).lower() in known:
                return True
    return False


def fits(parse: Parse, at: int, pos: Pos, flags: frozenset[str]) -> bool:
    """Whether a substitute with these flags can stand at this token.

    Without `inf` no infinitive may hang on a verb, without `grad` no adjective or adverb may be compared or
    intensified; a verb with two objects always stays.
    """
    if pos == "v" and parse.child(at, *(("iobj",) if "inf" in flags else ("iobj", "xcomp"))) is not None:
        return False
    if pos in ("a", "r") and flags.isdisjoint(("grad", "sup")) and is_graded(parse, at):
        return False
    for holds in conditions_of(flags):  # noqa: SIM110 - asked of every place, and this is faster
        if not holds(parse, at):
            return False
    return True


@cache
def conditions_of(flags: frozenset[str]) -> tuple[Condition, ...]:
    """What these flags ask of the parse."""
    asked = (condition(flag) for flag in sorted(flags))
    return tuple(holds for holds in asked if holds is not None)

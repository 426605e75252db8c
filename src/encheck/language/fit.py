"""Where a word may be replaced, and whether a substitute's conditions hold there. Everything is read off the parse."""

from __future__ import annotations

from collections.abc import Mapping

from encheck.language.conditions import base_of, condition, first_word, is_graded
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
JOINERS = "-\u2010\u2011\u2013/'’@#_"


def class_of(parse: Parse, at: int) -> Pos | None:
    """The part of speech under which this token may be replaced, or None where it must stay.

    It must stay where tagger and parser disagree on what it is, in names and fixed expressions, as a phrasal verb or a
    part of one, joined to its neighbour, and in capitals or mixed case.
    """
    pos = POS_OF_TAG.get(parse.tags[at])
    if pos is None or parse.pos[at] not in AGREE[pos] or parse.entities[at]:
        return None
    word = parse.words[at]
    if not word.isalpha() or not (word.islower() or (word.istitle() and at == first_word(parse, at))):
        return None
    if base_of(parse.deps[at]) in PART_OF_NAME or _joined(parse, at) or _extended(parse, at):
        return None
    return pos


def _joined(parse: Parse, at: int) -> bool:
    """Whether the word touches another one: well-known, and/or, don't."""
    before, after = parse.starts[at] - 1, parse.ends[at]
    text = parse.text
    return (before >= 0 and (text[before] in JOINERS or text[before].isalnum())) or (
        after < len(text) and (text[after] in JOINERS or text[after].isalnum())
    )


def _extended(parse: Parse, at: int) -> bool:
    """Whether a particle, or a further word of a name, hangs on it."""
    return any(
        parse.deps[i] == "compound:prt" or base_of(parse.deps[i]) in ("fixed", "flat", "goeswith")
        for i in parse.children[at]
    )


def expressions(lexicon: Lexicon) -> frozenset[str]:
    """Expressions of two and three words that the lexicon knows as one, divided by blanks."""
    found = (lemma for pos in ("n", "v", "a", "r") for lemma in lexicon.lemmas(pos) if "_" in lemma)
    return frozenset(lemma.replace("_", " ") for lemma in found if lemma.count("_") < 3)


def in_expression(parse: Parse, at: int, known: frozenset[str]) -> bool:
    """Whether the token stands in an expression of two or three words, by its words or by their lemmas."""
    size = len(parse)
    for start, end in ((at - 1, at + 1), (at, at + 2), (at - 2, at + 1), (at - 1, at + 2), (at, at + 3)):
        if start >= 0 and end <= size:
            words = " ".join(parse.words[start:end]).lower()
            if words in known or " ".join(parse.lemmas[start:end]).lower() in known:
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
    asked = map(condition, flags)
    return all(holds(parse, at) for holds in asked if holds is not None)

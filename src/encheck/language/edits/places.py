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
from encheck.language.prose import left_spans, quotes_code

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
SUBJECTS, PRONOUNS = frozenset("NN NNP PRP WP WDT".split()), frozenset("PRP WP WDT".split())
FINITE = frozenset("VBD VBZ VBP MD".split())
# Nouns whose plural is also a form of the verb, as far as the table has them.
VERBAL = frozenset(
    """aim answer attack attempt battle benefit call cause change charge claim comment concern cost cover damage demand
    design desire display drink effort end estimate exam fear fight film fix form gain guess harm hate help hire hope
    impact increase issue joke jump label laugh limit link look love mark move need object offer order pass pay picture
    place plan plant play post praise present price produce profit program progress project promise protest purchase
    question raise rank rate reach reason record report request rest result return reward risk rule sale screen search
    share shop sign smell sort sound stop store study support surprise talk task taste test threat tie tour trade
    travel trip trouble try use value view visit vote wage walk want warn watch way wish work worry wound""".split()
)
# Words that are technical terms beside code.
TERMS = frozenset(
    """answer argument array attribute block branch bug build call case catch change character check class clean client
    clone close command comment commit compile condition create crash cursor delete destroy display end error event
    exception execute expression fail field file find fix flag folder form format function get handle hash host image
    import index initial input insert issue item iterate job key kill language launch legal length library line link
    list load lock log loop map mark match merge message method mock mode model module name node null object open
    operation option order output package page parameter parent part parse path pattern place point pool port post
    print private problem process produce program property protect public publish pull push query question queue quit
    raise range read record reference register release remove render repair repeat reply report request require reset
    resolve resource response result return reveal root row rule run safe save schema scope screen script search secret
    section select send sequence server service session set shell show sign size solve sort source stack start state
    statement static stop store stream string structure submit support switch symbol table tag task test text thread
    throw title token tool trace transaction tree trigger try type unit update upload use user value variable vector
    version view wait warning web window word work wrap write""".split()
)
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
    and fixed expressions, as a phrasal verb or a part of one, joined to its neighbour, in capitals or mixed case, as
    an adjective in the place of a noun, as a noun where a verb is wanted, in addresses and code, and, where the text
    names code, as a technical term.
    """
    at: list[int] = []
    keys: list[str] = []
    staying: list[str] = []
    known, left = _known(), left_spans(parse.text)
    quotes = quotes_code(parse.text)
    for i, (tag, lemma) in enumerate(zip(parse.tags, parse.lower_lemmas, strict=True)):
        if tag in known and lemma in known[tag]:
            key = intern(f"{tag} {lemma}")
            if _is_plain(parse, i) and not (quotes and lemma in TERMS) and not _is_within(parse, i, left):
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
    if pos == "n" and _may_be_verb(parse, at):
        return False
    if word is not parse.lowers[at] and _may_be_name(parse, at):
        return False
    return not (pos == "a" and base in NOMINAL and not below & DESCRIBED)


def _may_be_verb(parse: Parse, at: int) -> bool:
    """Whether a plural noun stands where the verb would: "She worries about it", "The nurse drinks coffee"."""
    if parse.tags[at] != "NNS" or at == 0 or parse.tags[at - 1] not in SUBJECTS:
        return False
    if not parse.lowers[at].endswith("s") or parse.lower_lemmas[at] not in VERBAL:
        return False
    pronoun = parse.tags[at - 1] in PRONOUNS
    return pronoun or not any(tag in FINITE for i, tag in enumerate(parse.tags) if i != at)


def _may_be_name(parse: Parse, at: int) -> bool:
    """Whether a capital word that opens a sentence may be a name: a verb or another capital follows.

    "Smart believes", "Best Buy". The same word with a capital further on tells a name too.
    """
    if parse.words.count(parse.words[at]) > 1:
        return True
    after = at + 1
    if POS_OF_TAG[parse.tags[at]] not in ("a", "n") or after >= len(parse):
        return False
    capital = parse.words[after][:1].isupper() and parse.words[after] != "I"
    verb = parse.tags[after] in FINITE and parse.tags[at] in ("JJ", "NN")
    return capital or (verb and parse.bases[at] != "root")


def _is_within(parse: Parse, at: int, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(parse.starts[at] < end and start < parse.ends[at] for start, end in spans)


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

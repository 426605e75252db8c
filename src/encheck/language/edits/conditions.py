"""The conditions under which a substitute can replace a token: the tests of the parse that a flag of the table names.

A flag is a name of `CONDITIONS`, or a collocation: `obj=weight|fat` requires one of these words in that place
(`PLACES`), `next!=of` excludes them. A comma is written COMMA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from encheck.language.lexicon.lexicon import Pos
from encheck.language.parse import Parse, first_word_of_sentence, relation_bits

DEGREE = {"very", "so", "too", "more", "most", "less", "least", "as", "quite", "rather", "fairly", "extremely", "how"}
ARTICLES = {"a", "an", "one", "each", "every", "another"}
COMPARED = {"JJR", "JJS", "RBR", "RBS"}
MEASURES = {"percent", "%", "cent", "point", "pence", "cents", "points"}
PASSIVE, OBJECT, COPULA, NUMBER = (
    relation_bits("nsubj:pass", "aux:pass"),
    relation_bits("obj"),
    relation_bits("cop"),
    relation_bits("nummod"),
)
CLAUSE, PHRASE = relation_bits("ccomp", "parataxis"), relation_bits("obl", "nmod", "advcl", "acl")
ADVERBIAL = ("advmod", "obl")
OPEN_CLAUSE = relation_bits("xcomp")
Condition = Callable[[Parse, int], bool]


def strip_subtype(dep: str) -> str:
    """Return the relation without its subtype."""
    return dep.partition(":")[0]


def _has_object(parse: Parse, at: int) -> bool:
    below = parse.dependent_relations[at]
    if below & PASSIVE or not below & OBJECT:
        return below & PASSIVE != 0
    # An amount by which something changes: "rose 48 percent", "gained $2.57".
    return not any(
        i > at
        and (
            parse.pos[i] in ("NUM", "SYM")
            or parse.entities[i].partition("-")[2] in ("PERCENT", "MONEY", "QUANTITY")
            or parse.lemmas[i] in MEASURES
        )
        and parse.child(i, "case") is None
        for i in parse.children[at]
    )


def _has_relativised_object(parse: Parse, at: int) -> bool:
    """Return whether a verb heads a relative clause whose subject is a different word: "the game (that) they won".

    The missing word is taken to be its object, unless a relative adverb opens the clause ("where they won"), or a
    following infinitive may govern it ("what they want to say").
    """
    if parse.deps[at] != "acl:relcl" or parse.child(at, "xcomp") is not None:
        return False
    subject = parse.child(at, "nsubj", "csubj")
    adverb = any(parse.tags[i] == "WRB" for i in parse.children[at])
    return subject is not None and parse.tags[subject] not in ("WP", "WDT") and not adverb


def _has_prepositional_phrase(parse: Parse, at: int) -> bool:
    """Return whether a prepositional phrase follows: for a verb anywhere in the clause, otherwise right after the word.

    A date or time after a verb does not count, since any verb can have it.
    """
    if not parse.dependent_relations[at] & PHRASE:
        return False
    verb = parse.pos[at] == "VERB"
    return any(
        parse.bases[i] in ("obl", "nmod", "advcl", "acl")
        and i > at
        and not (verb and parse.entities[i].endswith(("DATE", "TIME")))
        and any(parse.bases[j] in ("case", "mark") and (verb or j == at + 1) for j in parse.children[i])
        for i in parse.children[at]
    )


def _modifies_sentence(parse: Parse, at: int) -> bool:
    after = at + 1 < len(parse) and parse.words[at + 1] == ","
    return after and (at == first_word_of_sentence(parse, at) or parse.words[at - 1] == ",")


PLAIN = frozenset({"inf", "grad", "compl", "last"})  # read by fits and by the generators
REFUSED: Mapping[str, int] = {  # dependents that the word may not have
    "noclause": relation_bits("ccomp", "parataxis", "xcomp"),
    "nocomp": relation_bits("compound"),
    "bare": relation_bits("det", "amod", "compound", "nummod", "nmod", "acl"),
    "noamod": relation_bits("amod"),
}
CONDITIONS: Mapping[str, Condition] = {
    "obj": _has_object,
    "noobj": lambda p, i: not (_has_object(p, i) or _has_relativised_object(p, i)),
    "clause": lambda p, i: p.dependent_relations[i] & CLAUSE != 0 or p.bases[i] == "parataxis",
    "noclause": lambda p, i: p.bases[i] != "parataxis",  # in addition to REFUSED
    "noprep": lambda p, i: not _has_prepositional_phrase(p, i),
    "attr": lambda p, i: p.bases[i] == "amod" and p.heads[i] > i,
    "pred": lambda p, i: p.dependent_relations[i] & COPULA != 0 or p.bases[i] == "xcomp",
    "count": lambda p, i: p.tags[i] == "NNS" or p.dependent_relations[i] & NUMBER != 0,
    "mass": lambda p, i: p.tags[i] == "NN" and not any(p.lowers[j] in ARTICLES for j in p.children[i]),
    "verb": lambda p, i: p.bases[i] in ADVERBIAL and p.pos[p.heads[i]] == "VERB",
    "adj": lambda p, i: p.bases[i] in ADVERBIAL and p.pos[p.heads[i]] in ("ADJ", "ADV", "NUM"),
    "sent": _modifies_sentence,
    "sup": lambda p, i: p.tags[i] == "JJS" or any(p.tags[j] == "JJS" for j in p.children[i]),
    "bareobj": lambda p, i: (thing := p.child(i, "obj")) is not None and thing > i and p.pos[thing] == "NOUN",
    "toinf": lambda p, i: any(p.bases[j] == "acl" and p.tags[j] == "VB" for j in p.children[i]),
    "nmod": lambda p, i: p.deps[i] == "case" and p.bases[p.heads[i]] == "nmod",
    "noname": lambda p, i: not any(p.bases[j] == "nsubj" and p.pos[j] == "PROPN" for j in p.children[i]),
    "xcomp": lambda p, i: p.dependent_relations[i] & OPEN_CLAUSE != 0,
    "follows": lambda p, i: (
        p.dependent_relations[i] & CLAUSE != 0 and any(p.bases[j] == "ccomp" and j > i for j in p.children[i])
    ),
}

Place = Callable[[frozenset[str], bool], Condition]  # (words, wanted): whether one of them must or must not be there


def _make_neighbour_condition(column: str, step: int = 0) -> Place:
    """Return a test of whether the token `step` places after the word has one of the given entries in this column."""
    read = attrgetter(column)

    def make_condition(words: frozenset[str], wanted: bool) -> Condition:
        def is_met(parse: Parse, at: int) -> bool:
            there, entries = at + step, read(parse)
            return (0 <= there < len(entries) and entries[there] in words) is wanted

        return is_met

    return make_condition


def _make_head_condition(column: str) -> Place:
    """Return a test of whether the word's head has one of the given entries in this column."""
    read = attrgetter(column)
    return lambda words, wanted: lambda parse, at: (read(parse)[parse.heads[at]] in words) is wanted


def _make_dependents_condition(*deps: str) -> Place:
    """Return a test of whether a dependent with one of these relations has one of the given lemmas."""
    hanging = relation_bits(*deps)

    def make_condition(words: frozenset[str], wanted: bool) -> Condition:
        def is_met(parse: Parse, at: int) -> bool:
            if parse.dependent_relations[at] & hanging:
                for i in parse.children[at]:
                    if parse.lower_lemmas[i] in words and parse.deps[i] in deps:
                        return wanted
            return not wanted

        return is_met

    return make_condition


_SUBJECT, _HEAD = _make_dependents_condition("nsubj"), _make_head_condition("lower_lemmas")


def _make_described_noun_condition(words: frozenset[str], wanted: bool) -> Condition:
    """Return a test of the lemma of the noun that an adjective describes, after it or through a copula."""
    head, subject = _HEAD(words, wanted), _SUBJECT(words, wanted)
    return lambda parse, at: (head if parse.bases[at] == "amod" else subject)(parse, at)


PLACES: Mapping[str, Place] = {
    "next": _make_neighbour_condition("lowers", 1),
    "prev": _make_neighbour_condition("lowers", -1),
    "before": _make_neighbour_condition("lowers", -2),
    "nexttag": _make_neighbour_condition("tags", 1),
    "has": lambda words, wanted: lambda parse, _: words.isdisjoint(parse.lower_words) is not wanted,
    "tag": _make_neighbour_condition("tags"),
    "obj": _make_dependents_condition("obj", "nsubj:pass"),
    "subj": _SUBJECT,
    "obl": _make_dependents_condition("obl"),
    "noun": _make_described_noun_condition,
    "head": _HEAD,
    "headtag": _make_head_condition("tags"),
    "dep": _make_neighbour_condition("bases"),
}


class Requirements(NamedTuple):
    """What flags require of a token: the relations that its dependents may not have, and further tests."""

    refused: int
    conditions: tuple[Condition, ...]

    def are_met(self, parse: Parse, at: int) -> bool:
        """Return whether the token at `at` meets the requirements."""
        if parse.dependent_relations[at] & self.refused:
            return False
        for condition in self.conditions:  # noqa: SIM110 - asked of every place, and this is faster
            if not condition(parse, at):
                return False
        return True


@cache
def parse_requirements(flags: frozenset[str], pos: Pos | None = None) -> Requirements:
    """Return the requirements of a substitute of this part of speech with these flags. Raise ValueError for an unknown
    flag.

    Without `inf` a verb may not have an infinitive, without `grad` an adjective or adverb may not be compared or
    intensified; a verb with two objects is never replaced. Without a part of speech, only the flags' requirements.
    """
    refused, conditions = 0, []
    # Requirements of certain words come first: they rarely hold.
    for flag in sorted(flags, key=lambda flag: ("=" not in flag or "!=" in flag, flag)):
        place, equals, listed = flag.partition("=")
        if not equals:
            if flag not in CONDITIONS and flag not in REFUSED and flag not in PLAIN:
                known = sorted({*CONDITIONS, *REFUSED})
                raise ValueError(f"{flag!r} is not a condition: expected one of {known}, or PLACE=word|word")
            refused |= REFUSED.get(flag, 0)
            conditions += [CONDITIONS[flag]] if flag in CONDITIONS else []
        elif place.rstrip("!") not in PLACES:
            raise ValueError(f"{flag!r} names no place: expected one of {sorted(PLACES)} before the equals sign")
        else:
            words = frozenset(listed.replace("COMMA", ",").split("|"))
            conditions.append(PLACES[place.rstrip("!")](words, not place.endswith("!")))
    if pos == "v":
        refused |= relation_bits("iobj") if "inf" in flags else relation_bits("iobj", "xcomp")
    if pos in ("a", "r") and flags.isdisjoint(("grad", "sup")):
        # neither compared nor intensified
        conditions.append(
            lambda p, i: p.tags[i] not in COMPARED and not any(p.lowers[j] in DEGREE for j in p.children[i])
        )
    return Requirements(refused, tuple(conditions))

"""The conditions under which a substitute can replace a token: the tests of the parse that a flag of the table names.

A flag is a name of `CONDITIONS`, or a collocation: `obj=weight|fat` requires one of these words in that place
(`PLACES`), `next!=of` excludes them. A comma is written COMMA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from encheck.language.lexicon.protocol import Pos
from encheck.language.parse import Parse, first_word, mask

DEGREE = {"very", "so", "too", "more", "most", "less", "least", "as", "quite", "rather", "fairly", "extremely", "how"}
ARTICLES = {"a", "an", "one", "each", "every", "another"}
COMPARED = {"JJR", "JJS", "RBR", "RBS"}
MEASURES = {"percent", "%", "cent", "point", "pence", "cents", "points"}
PASSIVE, OBJECT, COPULA, NUMBER = mask("nsubj:pass", "aux:pass"), mask("obj"), mask("cop"), mask("nummod")
CLAUSE, PHRASE = mask("ccomp", "parataxis"), mask("obl", "nmod", "advcl", "acl")
Condition = Callable[[Parse, int], bool]


def base_of(dep: str) -> str:
    """The relation without its subtype."""
    return dep.partition(":")[0]


def _has(*deps: str) -> Condition:
    """Whether it has a dependent by one of these relations."""
    wanted = mask(*deps)
    return lambda parse, at: parse.below[at] & wanted != 0


def _object(parse: Parse, at: int) -> bool:
    below = parse.below[at]
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


def _object_gap(parse: Parse, at: int) -> bool:
    """Whether a verb heads a relative clause whose subject is a different word: "the game (that) they won".

    The missing word is taken to be its object, unless a relative adverb opens the clause ("where they won"), or a
    following infinitive may govern it ("what they want to say").
    """
    if parse.deps[at] != "acl:relcl" or parse.child(at, "xcomp") is not None:
        return False
    subject = parse.child(at, "nsubj", "csubj")
    adverb = any(parse.tags[i] == "WRB" for i in parse.children[at])
    return subject is not None and parse.tags[subject] not in ("WP", "WDT") and not adverb


def _prepositional(parse: Parse, at: int) -> bool:
    """Whether a prepositional phrase follows: for a verb anywhere in the clause, otherwise right after the word.

    A date or time after a verb does not count, since any verb can have it.
    """
    if not parse.below[at] & PHRASE:
        return False
    verb = parse.pos[at] == "VERB"
    return any(
        parse.bases[i] in ("obl", "nmod", "advcl", "acl")
        and i > at
        and not (verb and parse.entities[i].endswith(("DATE", "TIME")))
        and any(parse.bases[j] in ("case", "mark") and (verb or j == at + 1) for j in parse.children[i])
        for i in parse.children[at]
    )


def _modifies(parse: Parse, at: int, *pos: str) -> bool:
    return parse.bases[at] in ("advmod", "obl") and parse.pos[parse.heads[at]] in pos


def _of_sentence(parse: Parse, at: int) -> bool:
    after = at + 1 < len(parse) and parse.words[at + 1] == ","
    return after and (at == first_word(parse, at) or parse.words[at - 1] == ",")


def _with_plain_object(parse: Parse, at: int) -> bool:
    """Whether the object is a common noun after the verb."""
    thing = parse.child(at, "obj")
    return thing is not None and thing > at and parse.pos[thing] == "NOUN"


PLAIN = frozenset({"inf", "grad", "compl", "last"})  # read by fits and by the generators
REFUSED: Mapping[str, int] = {  # dependents that the word may not have
    "noclause": mask("ccomp", "parataxis", "xcomp"),
    "nocomp": mask("compound"),
    "bare": mask("det", "amod", "compound", "nummod", "nmod", "acl"),
    "noamod": mask("amod"),
}
CONDITIONS: Mapping[str, Condition] = {
    "obj": _object,
    "noobj": lambda p, i: not (_object(p, i) or _object_gap(p, i)),
    "clause": lambda p, i: p.below[i] & CLAUSE != 0 or p.bases[i] == "parataxis",
    "noclause": lambda p, i: p.bases[i] != "parataxis",  # in addition to REFUSED
    "noprep": lambda p, i: not _prepositional(p, i),
    "attr": lambda p, i: p.bases[i] == "amod" and p.heads[i] > i,
    "pred": lambda p, i: p.below[i] & COPULA != 0 or p.bases[i] == "xcomp",
    "count": lambda p, i: p.tags[i] == "NNS" or p.below[i] & NUMBER != 0,
    "mass": lambda p, i: p.tags[i] == "NN" and not any(p.lowers[j] in ARTICLES for j in p.children[i]),
    "verb": lambda p, i: _modifies(p, i, "VERB"),
    "adj": lambda p, i: _modifies(p, i, "ADJ", "ADV", "NUM"),
    "sent": _of_sentence,
    "sup": lambda p, i: p.tags[i] == "JJS" or any(p.tags[j] == "JJS" for j in p.children[i]),
    "bareobj": _with_plain_object,
    "toinf": lambda p, i: any(p.bases[j] == "acl" and p.tags[j] == "VB" for j in p.children[i]),
    "nmod": lambda p, i: p.deps[i] == "case" and p.bases[p.heads[i]] == "nmod",
    "xcomp": _has("xcomp"),
    "follows": lambda p, i: p.below[i] & CLAUSE != 0 and any(p.bases[j] == "ccomp" and j > i for j in p.children[i]),
}

Place = Callable[[frozenset[str], bool], Condition]  # (words, wanted): whether one of them must or must not be there


def _beside(column: str, step: int = 0) -> Place:
    """The entry of a column so many tokens after the word."""
    read = attrgetter(column)

    def place(words: frozenset[str], wanted: bool) -> Condition:
        def holds(parse: Parse, at: int) -> bool:
            there, entries = at + step, read(parse)
            return (0 <= there < len(entries) and entries[there] in words) is wanted

        return holds

    return place


def _at_head(column: str) -> Place:
    """The entry of a column for the word's head."""
    read = attrgetter(column)
    return lambda words, wanted: lambda parse, at: (read(parse)[parse.heads[at]] in words) is wanted


def _lemmas_below(*deps: str) -> Place:
    """The lemmas of the word's dependents by one of these relations."""
    hanging = mask(*deps)

    def place(words: frozenset[str], wanted: bool) -> Condition:
        def holds(parse: Parse, at: int) -> bool:
            if parse.below[at] & hanging:
                for i in parse.children[at]:
                    if parse.lower_lemmas[i] in words and parse.deps[i] in deps:
                        return wanted
            return not wanted

        return holds

    return place


_SUBJECT, _HEAD = _lemmas_below("nsubj"), _at_head("lower_lemmas")


def _noun(words: frozenset[str], wanted: bool) -> Condition:
    """The noun that an adjective describes, after it or through a copula."""
    head, subject = _HEAD(words, wanted), _SUBJECT(words, wanted)
    return lambda parse, at: (head if parse.bases[at] == "amod" else subject)(parse, at)


PLACES: Mapping[str, Place] = {
    "next": _beside("lowers", 1),
    "prev": _beside("lowers", -1),
    "before": _beside("lowers", -2),
    "nexttag": _beside("tags", 1),
    "has": lambda words, wanted: lambda parse, _: words.isdisjoint(parse.lower_words) is not wanted,
    "tag": _beside("tags"),
    "obj": _lemmas_below("obj", "nsubj:pass"),
    "subj": _SUBJECT,
    "obl": _lemmas_below("obl"),
    "noun": _noun,
    "head": _HEAD,
    "headtag": _at_head("tags"),
    "dep": _beside("bases"),
}


class Requirements(NamedTuple):
    """The requirements of flags on a place: relations that the word's dependents may not have, and further tests."""

    refused: int
    conditions: tuple[Condition, ...]

    def hold(self, parse: Parse, at: int) -> bool:
        """Whether the place meets the requirements."""
        if parse.below[at] & self.refused:
            return False
        for condition in self.conditions:  # noqa: SIM110 - asked of every place, and this is faster
            if not condition(parse, at):
                return False
        return True


@cache
def requirements(flags: frozenset[str], pos: Pos | None = None) -> Requirements:
    """The requirements of a substitute of this part of speech with these flags; ValueError for an unknown flag.

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
        refused |= mask("iobj") if "inf" in flags else mask("iobj", "xcomp")
    if pos in ("a", "r") and flags.isdisjoint(("grad", "sup")):
        conditions.append(_is_plain_degree)
    return Requirements(refused, tuple(conditions))


def _is_plain_degree(parse: Parse, at: int) -> bool:
    """Whether an adjective or adverb is neither compared nor intensified."""
    return parse.tags[at] not in COMPARED and not any(parse.lowers[i] in DEGREE for i in parse.children[at])

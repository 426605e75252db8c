"""The conditions under which a substitute can stand at a token: what a flag of the table asks of the parse there.

A flag is a name of `CONDITIONS`, or a collocation: `obj=weight|fat` asks for one of these words in that place
(`PLACES`), `next!=of` for none of them. A comma is written COMMA.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache

from encheck.language.parse import Parse

DEGREE = {"very", "so", "too", "more", "most", "less", "least", "as", "quite", "rather", "fairly", "extremely", "how"}
MEASURES = {"percent", "%", "cent", "point", "pence", "cents", "points"}
Condition = Callable[[Parse, int], bool]


def base_of(dep: str) -> str:
    """The relation without its subtype."""
    return dep.partition(":")[0]


def first_word(parse: Parse, at: int) -> int:
    """The first word of the sentence that `at` belongs to: where a capital letter says nothing."""
    here = at
    while here > 0 and not (parse.words[here - 1] in ".?!:\"'“‘``" or parse.words[here - 1].isspace()):
        here -= 1
    return here


def _has(parse: Parse, at: int, *deps: str) -> bool:
    return parse.child(at, *deps) is not None


def _object(parse: Parse, at: int) -> bool:
    passive = any(parse.deps[i] in ("nsubj:pass", "aux:pass") for i in parse.children[at])
    measured = any(i > at and _measures(parse, i) and parse.child(i, "case") is None for i in parse.children[at])
    return passive or (_has(parse, at, "obj") and not measured)


def _object_gap(parse: Parse, at: int) -> bool:
    """Whether a verb heads a relative clause whose subject is another word: "the game (that) they won".

    What is left out there is taken for its object, but where a relative adverb opens the clause ("where they won"), or
    an infinitive follows that may have it ("what they want to say").
    """
    if parse.deps[at] != "acl:relcl" or parse.child(at, "xcomp") is not None:
        return False
    subject = parse.child(at, "nsubj", "csubj")
    adverb = any(parse.tags[i] == "WRB" for i in parse.children[at])
    return subject is not None and parse.tags[subject] not in ("WP", "WDT") and not adverb


def _measures(parse: Parse, at: int) -> bool:
    """An amount by which something changes: "rose 48 percent", "gained $2.57"."""
    kind = parse.entities[at].partition("-")[2]
    return parse.pos[at] in ("NUM", "SYM") or kind in ("PERCENT", "MONEY", "QUANTITY") or parse.lemmas[at] in MEASURES


def _clause(parse: Parse, at: int) -> bool:
    return _has(parse, at, "ccomp", "parataxis") or parse.bases[at] == "parataxis"


def _prepositional(parse: Parse, at: int) -> bool:
    """Whether a prepositional phrase follows: anywhere in the clause of a verb, else right behind the word.

    A date or time after a verb is none: it hangs on any verb.
    """
    verb = parse.pos[at] == "VERB"
    return any(
        parse.bases[i] in ("obl", "nmod", "advcl", "acl")
        and i > at
        and not (verb and parse.entities[i].endswith(("DATE", "TIME")))
        and any(parse.bases[j] in ("case", "mark") and (verb or j == at + 1) for j in parse.children[i])
        for i in parse.children[at]
    )


def is_graded(parse: Parse, at: int) -> bool:
    """Whether an adjective or adverb is compared or intensified."""
    return parse.tags[at] in ("JJR", "JJS", "RBR", "RBS") or any(
        parse.words[i].lower() in DEGREE for i in parse.children[at]
    )


def _predicative(parse: Parse, at: int) -> bool:
    return parse.bases[at] == "xcomp" or _has(parse, at, "cop")


def _counted(parse: Parse, at: int) -> bool:
    return parse.tags[at] == "NNS" or _has(parse, at, "nummod")


def _mass(parse: Parse, at: int) -> bool:
    articles = {"a", "an", "one", "each", "every", "another"}
    return parse.tags[at] == "NN" and not any(parse.words[i].lower() in articles for i in parse.children[at])


def _modifies(parse: Parse, at: int, *pos: str) -> bool:
    return parse.bases[at] in ("advmod", "obl") and parse.pos[parse.heads[at]] in pos


def _of_sentence(parse: Parse, at: int) -> bool:
    after = at + 1 < len(parse) and parse.words[at + 1] == ","
    return after and (at == first_word(parse, at) or parse.words[at - 1] == ",")


def _with_plain_object(parse: Parse, at: int) -> bool:
    """The object is a common noun behind the verb."""
    thing = parse.child(at, "obj")
    return thing is not None and thing > at and parse.pos[thing] == "NOUN"


PLAIN = frozenset({"inf", "grad", "compl", "last"})  # read by fits and by the generators
CONDITIONS: Mapping[str, Condition] = {
    "obj": _object,
    "noobj": lambda p, i: not (_object(p, i) or _object_gap(p, i)),
    "clause": _clause,
    "noclause": lambda p, i: not (_clause(p, i) or _has(p, i, "xcomp")),
    "noprep": lambda p, i: not _prepositional(p, i),
    "attr": lambda p, i: p.bases[i] == "amod" and p.heads[i] > i,
    "pred": _predicative,
    "count": _counted,
    "mass": _mass,
    "nocomp": lambda p, i: not _has(p, i, "compound"),
    "verb": lambda p, i: _modifies(p, i, "VERB"),
    "adj": lambda p, i: _modifies(p, i, "ADJ", "ADV", "NUM"),
    "sent": _of_sentence,
    "sup": lambda p, i: p.tags[i] == "JJS" or any(p.tags[j] == "JJS" for j in p.children[i]),
    "bare": lambda p, i: not _has(p, i, "det", "amod", "compound", "nummod", "nmod", "acl"),
    "bareobj": _with_plain_object,
    "toinf": lambda p, i: any(p.bases[j] == "acl" and p.tags[j] == "VB" for j in p.children[i]),
    "nmod": lambda p, i: p.deps[i] == "case" and p.bases[p.heads[i]] == "nmod",
    "noamod": lambda p, i: not _has(p, i, "amod"),
    "xcomp": lambda p, i: _has(p, i, "xcomp"),
    "follows": lambda p, i: any(p.bases[j] == "ccomp" and j > i for j in p.children[i]),
}

Words = Callable[[Parse, int], Collection[str]]


def _at(parse: Parse, at: int) -> tuple[str, ...]:
    return (parse.words[at].lower(),) if 0 <= at < len(parse) else ()


def _lemmas(parse: Parse, at: int, *deps: str) -> tuple[str, ...]:
    return tuple(parse.lemmas[i].lower() for i in parse.children[at] if parse.deps[i] in deps)


def _noun(parse: Parse, at: int) -> tuple[str, ...]:
    """The noun that an adjective describes: before it or by way of a copula."""
    if parse.bases[at] == "amod":
        return (parse.lemmas[parse.heads[at]].lower(),)
    return _lemmas(parse, at, "nsubj")


PLACES: Mapping[str, Words] = {
    "next": lambda p, i: _at(p, i + 1),
    "prev": lambda p, i: _at(p, i - 1),
    "before": lambda p, i: _at(p, i - 2),
    "nexttag": lambda p, i: p.tags[i + 1 : i + 2],
    "has": lambda p, _: p.lower_words,
    "tag": lambda p, i: (p.tags[i],),
    "obj": lambda p, i: _lemmas(p, i, "obj", "nsubj:pass"),
    "subj": lambda p, i: _lemmas(p, i, "nsubj"),
    "obl": lambda p, i: _lemmas(p, i, "obl"),
    "noun": _noun,
    "head": lambda p, i: (p.lemmas[p.heads[i]].lower(),),
    "headtag": lambda p, i: (p.tags[p.heads[i]],),
    "dep": lambda p, i: (p.bases[i],),
}


@cache
def condition(flag: str) -> Condition | None:
    """What this flag asks for; None for one that asks nothing of the parse; ValueError for an unknown one."""
    place, equals, listed = flag.partition("=")
    if not equals:
        if flag not in CONDITIONS and flag not in PLAIN:
            raise ValueError(f"{flag!r} is no condition: expected one of {sorted(CONDITIONS)}, or PLACE=word|word")
        return CONDITIONS.get(flag)
    if place.rstrip("!") not in PLACES:
        raise ValueError(f"{flag!r} names no place: expected one of {sorted(PLACES)} before the equals sign")
    words, read = frozenset(listed.replace("COMMA", ",").split("|")), PLACES[place.rstrip("!")]
    wanted = not place.endswith("!")
    return lambda parse, at: (not words.isdisjoint(read(parse, at))) is wanted

"""The other order of two objects: "gave the boy a book" and "gave a book to the boy".

For verbs that are recorded to allow both, where somebody gets a thing: "gave the idea a try" has one order only.
"""

from __future__ import annotations

from dataclasses import dataclass

from encheck.generators.moving import (
    Move,
    Span,
    can_act,
    case_of,
    changes_scope,
    first_file,
    is_noun_phrase,
    points_back,
    span_of,
    text_of,
)
from encheck.language.english import English
from encheck.language.parse import Parse
from encheck.types import Edit

TO = frozenset(
    "award bring give grant hand lease lend loan mail offer owe pass pay read rent sell send show teach".split()
)
FOR = frozenset("bake brew buy cook fetch knit sew".split())
# What can be given, by lexicographer's file: noun.artifact, communication, food, object, plant, possession, substance.
THINGS = frozenset({6, 10, 13, 17, 20, 21, 27})
# Nouns by which "give" and the like say what is done.
DEEDS = frozenset(
    """answer bath blow boost break buzz call chance chase comfort consent cover credit cry cut damage drink drive ear
    edge end evidence example eye face feel finger game glance go green ground hand head hearing heart heat hell
    hint holler home honor honour house interest kick kiss knock laugh lead lead-in leave lesson lie life lift light
    line lip look lot measure mention mind name nod note notice opening pass pat path pause permission place play
    pleasure point praise priority promise punch push rap reason regard reply respect rest return ride ring rise
    road room run say service shake shape share shot shout shove shower sign slap smile space speech start step
    stick support talk thank thanks thought thrill time touch tribute trouble try turn vent visit voice vote wash
    wave way weight welcome whistle wink word work yell""".split()
)
ANY_OPENING = frozenset("him them me us".split())  # "gave them books", but "gave her books" is said of her books
OPENING = frozenset("DT PRP$ CD $".split())
NO_PARTS: frozenset[str] = frozenset()
LONGEST_THING, LONGEST_RECIPIENT = 6, 4  # tokens


@dataclass(frozen=True, slots=True)
class Giving:
    """A verb, who gets something and what, side by side; in this order (`is_double`), or with a preposition."""

    parse: Parse
    english: English
    verb: int
    recipient: int
    thing: int
    gets: Span
    given: Span
    preposition: str
    is_double: bool


def shifted(parse: Parse, english: English) -> Move | str | None:
    """The edits that put the first pair of objects in the other order, or why not; None if there is no pair."""
    reasons: list[str] = []
    for verb in range(len(parse)):
        giving = _giving(parse, english, verb)
        if giving is None:
            continue
        reason = _refusal(giving)
        if reason is None:
            return _move(giving)
        reasons.append(reason)
    return reasons[0] if reasons else None


def _giving(parse: Parse, english: English, verb: int) -> Giving | None:
    thing, first = parse.child(verb, "obj"), parse.child(verb, "iobj")
    given = None if thing is None else span_of(parse, thing)
    preposition = _preposition(parse.lemmas[verb].lower())
    if thing is None or given is None or preposition is None or parse.pos[verb] != "VERB":
        return None
    if first is not None:
        gets = span_of(parse, first)
        double = gets is not None and gets[0] == verb + 1 and given[0] == gets[1]
        return Giving(parse, english, verb, first, thing, gets, given, preposition, True) if gets and double else None
    at = next((i for i in parse.children[verb] if parse.bases[i] == "obl" and case_of(parse, i) == preposition), None)
    gets = None if at is None else span_of(parse, at)
    if at is None or gets is None or (given[0], gets[0]) != (verb + 1, given[1]) or gets[1] - gets[0] == 1:
        return None
    bare = (gets[0] + 1, gets[1])  # without its preposition
    here = parse.lowers[gets[0]] == preposition
    return Giving(parse, english, verb, at, thing, bare, given, preposition, False) if here else None


def _preposition(verb: str) -> str | None:
    return "to" if verb in TO else "for" if verb in FOR else None


def _refusal(giving: Giving) -> str | None:
    """Why these objects stay, in a few words; None if nothing speaks against the other order."""
    parse, gets, given = giving.parse, giving.gets, giving.given
    if parse.pos[giving.thing] in ("PRON", "PROPN", "DET"):
        return "the thing given is a pronoun or a name"
    if not _is_thing(giving):
        return "no thing is given"
    if not _is_somebody(giving):
        return "there is no recipient"
    if points_back(parse, given, giving.recipient) or parse.lowers[gets[0]] in ("its", "their"):
        return "one object refers to the other"
    if changes_scope(parse, gets, given):
        return "both objects have quantifiers"
    sizes = gets[1] - gets[0], given[1] - given[0]
    if sizes[0] > LONGEST_RECIPIENT or sizes[1] > LONGEST_THING or (not giving.is_double and sizes[0] > sizes[1] + 1):
        return "the objects are too long"
    if not giving.is_double and not _stands_apart(giving):
        return "two objects that would be read as one"
    if not _ends_well(giving):
        return "what follows belongs to the second object"
    return None


def _is_thing(giving: Giving) -> bool:
    """Money, or a noun whose first sense is a thing: no deed, feeling or chance."""
    parse, at = giving.parse, giving.thing
    if parse.entities[at].endswith("MONEY"):
        return all(parse.entities[i].endswith("MONEY") for i in range(*giving.given))
    if parse.pos[at] != "NOUN" or not is_noun_phrase(parse, at, giving.given, of=frozenset(["of", "about"])):
        return False
    bare = giving.given == (at, at + 1) and parse.tags[at] == "NN"
    deed = parse.lemmas[at].lower() in DEEDS
    return not bare and not deed and first_file(giving.english.lexicon, parse, at) in THINGS


def _is_somebody(giving: Giving) -> bool:
    """A pronoun, or a short noun phrase that names a person or group."""
    parse, at, span = giving.parse, giving.recipient, giving.gets
    if parse.pos[at] == "PRON":
        return span == (at, at + 1) and can_act(giving.english, parse, at)
    return can_act(giving.english, parse, at) and is_noun_phrase(parse, at, span, of=NO_PARTS)


def _stands_apart(giving: Giving) -> bool:
    """Whether a thing right behind its recipient cannot be taken for a part of the same phrase, as in "her books"."""
    parse = giving.parse
    return parse.tags[giving.given[0]] in OPENING or parse.lowers[giving.recipient] in ANY_OPENING


def _ends_well(giving: Giving) -> bool:
    """Whether the clause ends behind the objects, or goes on with "and", an infinitive, another clause or a date."""
    parse, at = giving.parse, max(giving.gets[1], giving.given[1])
    if at == len(parse) or parse.pos[at] in ("PUNCT", "CCONJ", "SCONJ", "SPACE") or parse.tags[at] in ("TO", "WRB"):
        return True
    dated = at + (parse.pos[at] == "ADP")
    return dated < len(parse) and parse.entities[dated].endswith(("DATE", "TIME"))


def _move(giving: Giving) -> Move:
    parse, word = giving.parse, giving.parse.words[giving.verb]
    recipient, thing = text_of(parse, giving.gets), text_of(parse, giving.given)
    first, second = sorted((giving.gets, giving.given))
    if giving.is_double:
        name, texts = f"{giving.preposition} behind {word}", (thing, f"{giving.preposition} {recipient}")
    else:
        name, texts = f"no {giving.preposition} behind {word}", (recipient, thing)
        second = (second[0] - 1, second[1])  # the preposition goes
    return f"dative shift: {name}", (
        Edit(parse.starts[first[0]], parse.ends[first[1] - 1], texts[0]),
        Edit(parse.starts[second[0]], parse.ends[second[1] - 1], texts[1]),
    )

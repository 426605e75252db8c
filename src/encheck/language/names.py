"""The names in a text that have a second notation and can be replaced by a different name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from encheck.language.name_tables import (
    ALONE,
    BODIES,
    CITIES,
    COMPANIES,
    COUNTRIES,
    FEMALE,
    GENDERED,
    LEADERS,
    LEGAL,
    MALE,
    NO_PERSON,
    SAME_BODY,
    SAME_COUNTRY,
    STATES,
    TITLES,
)
from encheck.language.parse import Parse
from encheck.language.prose import left_spans, why_left

Kind = str  # "person", "titled", "country", "state", "city", "company", "body", "agency", "league", "university"
Role = Literal["whole", "last", "given"]


@dataclass(frozen=True, slots=True, order=True)
class NamedThing:
    """A named thing: its kind, its short and long notation, and for persons gender ("m", "f", ""), given, last.

    The notations of a person are "John Smith" and "J. Smith".
    """

    kind: Kind
    forms: tuple[str, str]
    gender: str = ""
    given: str = ""
    last: str = ""

    def text(self, role: Role, notation: int) -> str:
        """Its name in this notation, or a part: surname or given name alone."""
        return {"whole": self.forms[notation], "last": self.last, "given": self.given}[role]


@dataclass(frozen=True, slots=True)
class NameSpan:
    """Characters `start` to `end` of a name or a part of one."""

    start: int
    end: int
    role: Role = "whole"


@dataclass(frozen=True, slots=True)
class Name:
    """A thing and the places where a text names it; the text's full name is in this notation, and is `own`.

    `other` is the same name in the other notation. `control` is the place of a different statement, or None.
    """

    thing: NamedThing
    spots: tuple[NameSpan, ...]
    own: str
    other: str
    notation: int
    control: NameSpan | None = None


NONE = "no name"
NO_PLACE = "a city or state that could be a team or an institution"
NO_OTHER = "no name with another notation"
CAPITALS = "a heading in capital letters"
INSIDE = "part of another name"
MODIFIES = "a name that describes a noun"
POSSESSIVE = "a possessive that cannot be adapted"
GENDER = "a person whose gender matters but is unknown"
RELATED = "a word of the same name"
TIED = "names that depend on each other"
LONGEST = 9  # words of a name in the tables
WORD = re.compile(r"[A-Z][a-zà-öø-ÿ]+(?:['’-]?[A-Z]?[a-zà-öø-ÿ]+)*|O['’][A-Z][a-z]+")
INITIAL = re.compile(r"[A-Z]\.")
ENDS = frozenset([".", "!", "?", ",", ";", ":", ")", "--", "-", "–", "—", "...", '"', "”", "''", "/"])
QUOTES = frozenset(['"', "“", "”", "'", "‘", "’", "``", "''"])
OF_KIND = frozenset("state states city town county province country nation district region republic kingdom".split())
PLACED = frozenset("at in inside near throughout outside".split())  # a shop or a work rather than a person
RIVALS = frozenset("against over vs vs. v versus with by for than like as".split())
MOMENTS = frozenset(
    """today yesterday tomorrow tonight now monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december last next this""".split()
)
BEFORE_PHRASE = frozenset("ADP VERB AUX CCONJ SCONJ PUNCT ADV PRON PART".split())
AFTER_CONTROL = frozenset("VERB AUX ADP PART ADV".split())
HEADING = 0.8  # a text with at least this share of capitalised words is a heading
HE, SHE = frozenset("he him his himself".split()), frozenset("she her hers herself".split())
SHORTEST = 4  # letters of a given name that is on no list
STEM = 4  # shared letters, as in "Iraq" and "Iraqi"
FULL_TITLES = {short: full for full, short in TITLES.items() if short}
NO_NAMES = frozenset(
    """I The A An This That God Jesus Christ Santa Monday Tuesday Wednesday Thursday Friday Saturday Sunday English
    French German Spanish Italian Chinese Christmas Easter Street Road Avenue Park University College School
    Hospital Airport
    Church Bridge Stadium Day Award Prize Cup Foundation Inc Corp Party Act River Lake Mountain County City Island
    House Hall Beverage Brands Square Center Centre Museum Jr Sr Family Band Group Show""".split()
)


@cache
def _known() -> dict[str, tuple[NamedThing, int, str, bool]]:
    """Name without its article -> thing, notation, name in the other notation, whether it takes *the*."""
    result: dict[str, tuple[NamedThing, int, str, bool]] = {}

    def add(own: str, thing: NamedThing, notation: int, other: str) -> None:
        result[own.removeprefix("the ")] = (thing, notation, other, own.startswith("the "))

    for thing in things():
        for notation in (0, 1):
            add(thing.forms[notation], thing, notation, thing.forms[1 - notation])
    by_form = {form: thing for thing in things() for form in thing.forms}
    for own, other in {**SAME_COUNTRY, **SAME_BODY}.items():
        thing = by_form.get(other) or by_form[SAME_COUNTRY[other]]
        add(own, thing, 1 if own in thing.forms else 0, other)
    return result


@cache
def things() -> tuple[NamedThing, ...]:
    """Every place and organisation of the tables."""
    result = [NamedThing("country", pair) for pair in COUNTRIES.items()]
    result += [NamedThing("state", (name, f"the state of {name}")) for name in sorted(STATES)]
    result += [NamedThing("city", (name, f"the city of {name}")) for name in sorted(CITIES)]
    result.append(NamedThing("city", ("New York City", "the city of New York")))
    result += [NamedThing("company", pair) for pair in COMPANIES.items()]
    return (*result, *(NamedThing(kind, pair) for kind, pairs in BODIES.items() for pair in pairs.items()))


def names(parse: Parse) -> tuple[Name, ...] | str:
    """The names in a text with a second notation and a replacement, in order; or the reason why there are none."""
    if not any(tag in ("NNP", "NNPS") for tag in parse.tags) and not any(parse.entities):
        return NONE
    if why := why_left(parse.text):
        return why
    words = [word for word in parse.words[1:] if word[0].isalpha() and len(word) > 3]
    if len(words) > 3 and sum(word[0].isupper() for word in words) >= HEADING * len(words):
        return CAPITALS
    reasons: list[str] = []
    result = list(_together(parse, [*_of_tables(parse, reasons), *_persons(parse, reasons)], reasons))
    some = any(entity[2:] in ("PER", "LOC", "ORG") for entity in parse.entities)
    return (
        tuple(sorted(result, key=lambda one: one.spots[0].start))
        if result
        else (reasons or [NO_OTHER if some else NONE])[0]
    )


FoundName = tuple[
    NamedThing, int, str, int, int, int
]  # thing, notation, other; first token, last token, first of the control


def _of_tables(parse: Parse, reasons: list[str]) -> Iterator[FoundName]:
    """Places and organisations in the tables, and companies by their legal form, the longest first."""
    at = 0
    while at < len(parse):
        result = _known_at(parse, at, reasons) or _company_at(parse, at, reasons)
        if result:
            yield result
        at = result[4] + 1 if result else at + 1


def _known_at(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    if not parse.words[at][0].isupper():
        return None
    for last in range(min(at + LONGEST, len(parse)) - 1, at - 1, -1):
        said = parse.text[parse.starts[at] : parse.ends[last]]
        if said in _known():
            thing, notation, other, takes_the = _known()[said]
            first = at
            if takes_the:
                if at == 0 or parse.lowers[at - 1] != "the":
                    return None
                first = at - 1
            elif _words(parse, at - 3, at) == f"the {thing.kind} of" and thing.kind in ("city", "state"):
                first, notation, other = at - 3, 1, thing.forms[0]
            if reason := _why_no_place(parse, thing, first, at, last):
                reasons.append(reason)
                return None
            return thing, notation, other, first, last, first
    return None


def _words(parse: Parse, first: int, after: int) -> str:
    return " ".join(parse.lowers[first:after]) if first >= 0 else ""


def _why_no_place(parse: Parse, thing: NamedThing, first: int, core: int, last: int) -> str:
    """The reason against a name of the tables at these tokens, or ""."""
    wanted = {"country": ("LOC",), "state": ("LOC",), "city": ("LOC",), "company": ("ORG",)}.get(
        thing.kind, ("ORG", "")
    )
    kinds = {parse.entities[i][2:] for i in range(core, last + 1)}
    if not kinds <= set(wanted):
        return INSIDE
    if first > 0 and (parse.pos[first - 1] not in BEFORE_PHRASE or parse.words[first - 1] in ("-", "/")):
        return MODIFIES if parse.words[first - 1][0].islower() else INSIDE
    if first > 1 and parse.lowers[first - 1] in ("of", "for", "and", "&") and parse.words[first - 2][0].isupper():
        return INSIDE
    if _words(parse, first - 1, first) == "of" and parse.lowers[first - 2] in OF_KIND:
        return INSIDE
    if thing.kind in ("city", "state") and (
        first == 0 or parse.pos[first - 1] != "ADP" or parse.lowers[first - 1] in RIVALS
    ):
        return NO_PLACE
    if first > 0 and parse.tags[first - 1] == "PRP$":
        return MODIFIES
    # A comma joins it to another name: "Paris, Texas".
    behind = parse.words[last + 1 : last + 3]
    before = parse.words[max(0, first - 2) : first]
    if any(
        len(pair) == 2 and pair[i] in (",", "(") and pair[1 - i][0].isupper() for i, pair in ((0, behind), (1, before))
    ):
        return TIED
    if parse.tags[last + 1 : last + 2] == ("POS",) and any(" of " in form for form in thing.forms):
        return POSSESSIVE
    return _why_not(parse, first, last)


def _why_not(parse: Parse, first: int, last: int) -> str:
    """The reason against any name at these tokens, from neighbours and dependents, or ""."""
    start, end = parse.starts[first], parse.ends[last]
    if any(start < b and a < end for a, b in left_spans(parse.text)):
        return "an address or code"
    if last + 1 < len(parse):
        behind = parse.words[last + 1]
        if behind in ("'", "’") and parse.text[end - 1] in "sz":
            return POSSESSIVE
        if behind == "-" or behind == "/" or (parse.starts[last + 1] == end and behind[0].isalnum()):
            return INSIDE
        if behind[0] in QUOTES and first > 0 and parse.words[first - 1][0] in QUOTES and behind not in ("'s", "’s"):
            return "a title in quotes"
        if parse.lowers[last + 1] not in MOMENTS:
            if parse.tags[last + 1] in ("NNP", "NNPS", "CD") or (behind[0].isupper() and parse.ends[last] > 0):
                return INSIDE
            if parse.tags[last + 1] in ("NN", "NNS", "JJ", "VBN"):
                return MODIFIES
    return MODIFIES if _describes(parse, first, last) else ""


def _describes(parse: Parse, first: int, last: int) -> bool:
    """Whether it is part of a compound with a noun after it."""
    for i in range(first, last + 1):
        head = parse.heads[i]
        if (head > last and parse.bases[i] in ("compound", "amod")) or (head > last and parse.bases[i] == "nummod"):
            return True
    return False


def _company_at(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    """A company by its legal form: "Acme Inc." """
    if parse.words[at] not in LEGAL or at == 0:
        return None
    last, core = at, at - 1
    if parse.words[core] == ",":
        core -= 1
    first = core
    while first > 0 and WORD.fullmatch(parse.words[first - 1]) and parse.tags[first - 1] in ("NNP", "NNPS"):
        first -= 1
    own = [parse.words[i] for i in range(first, core + 1)]
    if (
        core < 0
        or not all(WORD.fullmatch(word) for word in own)
        or not 1 <= len(own) <= 3
        or "&" in parse.words[max(0, first - 1) : at]
    ):
        return None
    if (
        {parse.entities[i][2:] for i in range(first, core + 1)} - {"ORG"}
        or own[0] in NO_NAMES
        or own[0] in ("First", "Texas")
    ):
        return None
    if first > 0 and (
        parse.lowers[first - 1] in ("and", "&", "of", "the") or parse.ends[first - 1] == parse.starts[first]
    ):
        return None
    bare, whole = " ".join(own), parse.text[parse.starts[first] : parse.ends[last]]
    if reason := _why_not(parse, first, last):
        reasons.append(reason)
        return None
    return NamedThing("company", (bare, whole)), 1, bare, first, last, first


def _persons(parse: Parse, reasons: list[str]) -> Iterator[FoundName]:
    """Persons by given name and surname, and by an abbreviated or full title with a surname."""
    at = 0
    while at < len(parse):
        result = _person_at(parse, at, reasons) or _titled_at(parse, at, reasons) or _leader_at(parse, at, reasons)
        result = result or _surname_at(parse, at)
        if result:
            yield result
        at = result[4] + 1 if result else at + 1


def _is_part(parse: Parse, at: int) -> bool:
    return (
        at < len(parse)
        and WORD.fullmatch(parse.words[at]) is not None
        and parse.tags[at] == "NNP"
        and parse.words[at] not in NO_NAMES
        and parse.entities[at][2:] in ("PER", "")
    )


def _person_at(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    given = parse.words[at]
    last = at + 1
    if not _is_part(parse, at) or given in TITLES or given in FULL_TITLES:
        return None
    has_initial = last < len(parse) and INITIAL.fullmatch(parse.words[last]) is not None
    last += has_initial
    if not _is_part(parse, last) or parse.words[last] in TITLES:
        return None
    gender = "m" if given in MALE else "f" if given in FEMALE else ""
    span = range(at, last + 1)
    is_person = all(parse.entities[i][2:] == "PER" for i in span) and parse.entities[at].startswith("B")
    if not gender and len(given) < SHORTEST:
        return None
    if not is_person and not (gender and not any(parse.entities[i] for i in span)):
        return None
    if reason := _why_no_person(parse, at, last, gender):
        reasons.append(reason)
        return None
    surname = parse.words[last]
    if f"{given} {surname}" in NO_PERSON:
        return None
    own = parse.text[parse.starts[at] : parse.ends[last]]
    initials = f"{given[0]}. " + (f"{parse.words[at + 1]} " if has_initial else "")
    thing = NamedThing("person", (own, f"{initials}{surname}"), gender, given, surname)
    control = at - 1 if at and (parse.words[at - 1] in TITLES or parse.words[at - 1] in FULL_TITLES) else at
    return thing, 0, thing.forms[1], at, last, control


def _why_no_person(parse: Parse, at: int, last: int, gender: str) -> str:
    if last + 1 < len(parse) and parse.entities[last + 1].startswith("I-"):
        return INSIDE
    before = parse.words[at - 1] if at else ""
    if before in PLACED:
        return INSIDE
    titled = before in TITLES or before in FULL_TITLES
    if before and not titled and (parse.tags[at - 1] in ("NNP", "NNPS") or before in ("-", "/", "&")):
        return INSIDE
    if before and not titled and parse.pos[at - 1] in ("DET", "NUM", "ADJ"):
        return MODIFIES
    if not gender and (GENDERED & parse.lower_words or before in ("Mr", "Mr.", "Mrs", "Mrs.", "Ms", "Ms.", "Miss")):
        return GENDER
    if at > 1 and before in ("and", "&", "of") and parse.words[at - 2][0].isupper() and parse.tags[at - 2] == "NNP":
        return TIED
    if parse.words[last + 1 : last + 2] in (("and",), ("&",)) and _is_part(parse, last + 2):
        return TIED
    return _why_not(parse, at, last)


def _titled_at(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    """A surname with a title that has a full and a short form: "Senator Marsh"."""
    title, last = parse.words[at], at + 1
    full = title if TITLES.get(title) else FULL_TITLES.get(title)
    if not full or not _is_part(parse, last) or parse.entities[last][2:] != "PER" or parse.words[last] in MALE | FEMALE:
        return None
    if at and (parse.tags[at - 1] in ("NNP", "NNPS") or parse.pos[at - 1] in ("DET", "ADJ", "NUM")):
        return None
    if last + 1 < len(parse) and parse.entities[last + 1].startswith("I-"):
        return None
    if reason := _why_not(parse, at, last):
        reasons.append(reason)
        return None
    surname, notation = parse.words[last], int(title != full)
    forms = (f"{full} {surname}", f"{TITLES[full]} {surname}")
    return NamedThing("titled", forms, "", full, surname), notation, forms[1 - notation], at, last, at


@cache
def leaders() -> dict[str, NamedThing]:
    """Surname -> a person whom it names alone."""
    result = {}
    for gender, people in LEADERS.items():
        for whole in (" ".join(name.split()) for name in people.split(",")):
            given, _, last = whole.rpartition(" ")
            if last in ALONE:
                result[last] = NamedThing("leader", (last, whole), gender, given, last)
    return result


def _leader_at(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    thing = leaders().get(parse.words[at])
    if thing is None or not _is_part(parse, at) or parse.entities[at] != "B-PER":
        return None
    if at and (parse.words[at - 1] in FULL_TITLES or parse.words[at - 1] in TITLES):
        return None
    if reason := _why_no_person(parse, at, at, thing.gender):
        reasons.append(reason)
        return None
    return thing, 0, thing.forms[1], at, at, at


def _surname_at(parse: Parse, at: int) -> FoundName | None:
    """A surname alone, if the pronouns show the gender and the text has no other person."""
    surname = parse.words[at]
    if (
        not _is_part(parse, at)
        or parse.entities[at] != "B-PER"
        or parse.bases[at] != "nsubj"
        or len(surname) < SHORTEST
    ):
        return None
    if surname in MALE | FEMALE or surname in TITLES or surname in FULL_TITLES:
        return None
    people = {parse.words[i] for i in range(len(parse)) if parse.entities[i][2:] == "PER"}
    male, female = (not words.isdisjoint(parse.lower_words) for words in (HE, SHE))
    others = GENDERED - HE - SHE
    if people != {surname} or male == female or others & parse.lower_words or _why_no_person(parse, at, at, "m"):
        return None
    if at and (parse.pos[at - 1] not in BEFORE_PHRASE or parse.tags[at + 1 : at + 2] == ("POS",)):
        return None
    title = "Mr." if male else "Ms."
    thing = NamedThing("surname", (surname, f"{title} {surname}"), "m" if male else "f", title, surname)
    return thing, 0, thing.forms[1], at, at, at


def _together(parse: Parse, found: list[FoundName], reasons: list[str]) -> Iterator[Name]:
    """Each name with all its places in the text, except names with a mention that cannot be changed."""
    taken: set[int] = set()
    for thing in dict.fromkeys(one[0] for one in found):
        mine = [one for one in found if one[0] == thing and taken.isdisjoint(range(one[3], one[4] + 1))]
        if not mine:
            continue
        if len({(one[1], one[2]) for one in mine}) > 1:
            reasons.append(RELATED)
            continue
        tokens = {i for one in mine for i in range(one[3], one[4] + 1)}
        spots = [NameSpan(parse.starts[one[3]], parse.ends[one[4]]) for one in mine]
        parts = _parts(parse, thing, tokens)
        if parts is None:
            reasons.append(RELATED)
            continue
        if thing.kind == "country" and not CITIES.isdisjoint(parse.words):
            reasons.append(TIED)
            continue
        if parts and parts[0].start < spots[0].start:
            reasons.append(RELATED)
            continue
        taken |= tokens
        _, notation, other, _, last, control = mine[0]
        own = parse.text[spots[0].start : spots[0].end]
        alone = len(spots) + len(parts) == 1
        yield Name(thing, tuple(sorted((*spots, *parts), key=lambda spot: spot.start)), own, other, notation,
                   _control(parse, control, last) if alone else None)  # fmt: skip


def _parts(parse: Parse, thing: NamedThing, tokens: set[int]) -> list[NameSpan] | None:
    """The places of a person's surname or given name alone; None if the name is also used in a different way."""
    words = {parse.lowers[i] for i in tokens if parse.words[i][0].isupper()} - {title.lower() for title in TITLES}
    stems = {word[:STEM] for word in words if len(word) >= STEM}
    result = []
    for i, lower in enumerate(parse.lowers):
        if i in tokens or len(lower) < STEM - 1 or lower == "the":
            continue
        role = "last" if parse.words[i] == thing.last else "given" if parse.words[i] == thing.given else ""
        if thing.kind == "person" and role and not _why_not(parse, i, i) and not _is_beside(parse, i):
            result.append(NameSpan(parse.starts[i], parse.ends[i], "last" if role == "last" else "given"))
        elif lower in words or (lower[:STEM] in stems and parse.words[i][0].isupper()):
            return None
    return result


def _is_beside(parse: Parse, at: int) -> bool:
    """Whether another name precedes it, so that it belongs to another person."""
    before = parse.words[at - 1] if at else ""
    return bool(before) and before not in TITLES and before not in FULL_TITLES and parse.tags[at - 1] == "NNP"


def _control(parse: Parse, first: int, last: int) -> NameSpan | None:
    """The place for "someone else" or "another city"; None in questions, in lists, and if words describe the name."""
    before = parse.pos[first - 1] if first else "PUNCT"
    if "?" in parse.text or before not in ("ADP", "VERB", "AUX", "SCONJ", "PUNCT", "PART"):
        return None
    if first and parse.words[first - 1] in (",", "(", "-", "--"):
        return None
    if first > 1 and parse.words[first - 1] == "." and parse.words[first - 2][0].isupper():
        return None
    behind = parse.words[last + 1] if last + 1 < len(parse) else "."
    if behind == "of" or (first and (parse.words[first - 1] in FULL_TITLES or parse.lowers[first - 1] == "rip")):
        return None
    if last + 1 < len(parse) and behind not in ENDS - {",", "(", ":", "-"} and parse.pos[last + 1] not in AFTER_CONTROL:
        return None
    span = range(first, last + 1)
    if any(parse.bases[c] in ("appos", "acl", "conj") and c > last for i in span for c in parse.children[i]):
        return None
    if any(parse.bases[i] in ("conj", "appos", "vocative", "parataxis") for i in span if parse.heads[i] not in span):
        return None
    return NameSpan(parse.starts[first], parse.ends[last])

"""The names in a text that have a second notation and can be replaced by a different name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from encheck.language.name_tables import (
    ALONE,
    BODIES,
    CITIES,
    COMPANIES,
    COUNTRIES,
    FEMALE,
    FURTHER_TITLES,
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
from encheck.language.prose import find_unedited_spans, why_not_edited

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

    def write(self, role: Role, notation: int) -> str:
        """Return the name in this notation, or only its surname or given name."""
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
    spans: tuple[NameSpan, ...]
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
MAX_NAME_WORDS = 9  # words of a name in the tables
WORD = re.compile(r"[A-Z][a-zà-öø-ÿ]+(?:['’-]?[A-Z]?[a-zà-öø-ÿ]+)*|O['’][A-Z][a-z]+")
INITIAL = re.compile(r"[A-Z]\.")
ENDS = frozenset([".", "!", "?", ",", ";", ":", ")", "--", "-", "–", "—", "...", '"', "”", "''", "/"])
QUOTES = frozenset(['"', "“", "”", "'", "‘", "’", "``", "''"])
OF_KIND = frozenset("state states city town county province country nation district region republic kingdom".split())
PLACED = frozenset("at in inside near throughout outside".split())  # a shop or a work rather than a person
OPPOSING = frozenset("against over vs vs. v versus with by for than like as".split())
MOMENTS = frozenset(
    """today yesterday tomorrow tonight now monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december last next this""".split()
)
BEFORE_PHRASE = frozenset("ADP VERB AUX CCONJ SCONJ PUNCT ADV PRON PART".split())
AFTER_CONTROL = frozenset("VERB AUX ADP PART ADV".split())
HEADING = 0.8  # a text with at least this share of capitalised words is a heading
HE, SHE = frozenset("he him his himself".split()), frozenset("she her hers herself".split())
MIN_GIVEN_NAME_LETTERS = 4  # letters of a given name that is on no list
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
def _index_names() -> dict[str, tuple[NamedThing, int, str, bool]]:
    """Return name without article -> thing, notation, name in the other notation, whether the name takes *the*."""
    result: dict[str, tuple[NamedThing, int, str, bool]] = {}

    entries = [
        (thing.forms[notation], thing, notation, thing.forms[1 - notation])
        for thing in list_known_things()
        for notation in (0, 1)
    ]
    by_form = {form: thing for thing in list_known_things() for form in thing.forms}
    for own, other in {**SAME_COUNTRY, **SAME_BODY}.items():
        thing = by_form.get(other) or by_form[SAME_COUNTRY[other]]
        entries.append((own, thing, 1 if own in thing.forms else 0, other))
    for own, thing, notation, other in entries:
        result[own.removeprefix("the ")] = (thing, notation, other, own.startswith("the "))
    return result


@cache
def list_known_things() -> tuple[NamedThing, ...]:
    """Return every place and organisation in the tables."""
    result = [NamedThing("country", pair) for pair in COUNTRIES.items()]
    result += [NamedThing("state", (name, f"the state of {name}")) for name in sorted(STATES)]
    result += [NamedThing("city", (name, f"the city of {name}")) for name in sorted(CITIES)]
    result.append(NamedThing("city", ("New York City", "the city of New York")))
    result += [NamedThing("company", pair) for pair in COMPANIES.items()]
    return (*result, *(NamedThing(kind, pair) for kind, pairs in BODIES.items() for pair in pairs.items()))


def find_names(parse: Parse) -> tuple[Name, ...] | str:
    """Return the names in a text that have a second notation and a replacement, in order, or why there are none."""
    if not any(tag in ("NNP", "NNPS") for tag in parse.tags) and not any(parse.entities):
        return NONE
    if why := why_not_edited(parse.text):
        return why
    words = [word for word in parse.words[1:] if word[0].isalpha() and len(word) > 3]
    if len(words) > 3 and sum(word[0].isupper() for word in words) >= HEADING * len(words):
        return CAPITALS
    reasons: list[str] = []
    result = list(
        _group_mentions(
            parse, [*_find_places_and_organisations(parse, reasons), *_find_persons(parse, reasons)], reasons
        )
    )
    some = any(entity[2:] in ("PER", "LOC", "ORG") for entity in parse.entities)
    return (
        tuple(sorted(result, key=lambda one: one.spans[0].start))
        if result
        else (reasons or [NO_OTHER if some else NONE])[0]
    )


class FoundName(NamedTuple):
    """A thing that a text names: its notation there, the other notation, and its tokens `first` to `last`.

    `control` is the first token of a different statement's place.
    """

    thing: NamedThing
    notation: int
    other: str
    first: int
    last: int
    control: int


def _find_places_and_organisations(parse: Parse, reasons: list[str]) -> Iterator[FoundName]:
    """Yield places and organisations in the tables, and companies by their legal form, the longest first."""
    at = 0
    while at < len(parse):
        result = _match_table_name(parse, at, reasons) or _match_company(parse, at, reasons)
        if result:
            yield result
        at = result.last + 1 if result else at + 1


def _match_table_name(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    if not parse.words[at][0].isupper():
        return None
    for last in range(min(at + MAX_NAME_WORDS, len(parse)) - 1, at - 1, -1):
        text = parse.text[parse.starts[at] : parse.ends[last]]
        if text in _index_names():
            thing, notation, other, takes_the = _index_names()[text]
            first = at
            if takes_the:
                if at == 0 or parse.lowers[at - 1] != "the":
                    return None
                first = at - 1
            elif _join_lower_words(parse, at - 3, at) == f"the {thing.kind} of" and thing.kind in ("city", "state"):
                first, notation, other = at - 3, 1, thing.forms[0]
            if reason := _why_not_table_name(parse, thing, first, at, last):
                reasons.append(reason)
                return None
            return FoundName(thing, notation, other, first, last, first)
    return None


def _join_lower_words(parse: Parse, first: int, after: int) -> str:
    return " ".join(parse.lowers[first:after]) if first >= 0 else ""


def _why_not_table_name(parse: Parse, thing: NamedThing, first: int, core: int, last: int) -> str:
    """Return why a name of the tables at these tokens cannot be used, or ""."""
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
    if _join_lower_words(parse, first - 1, first) == "of" and parse.lowers[first - 2] in OF_KIND:
        return INSIDE
    if thing.kind in ("city", "state") and (
        first == 0 or parse.pos[first - 1] != "ADP" or parse.lowers[first - 1] in OPPOSING
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
    return _why_not_name(parse, first, last)


def _why_not_name(parse: Parse, first: int, last: int) -> str:
    """Return why neighbours and dependents rule out any name at these tokens, or ""."""
    start, end = parse.starts[first], parse.ends[last]
    if any(start < b and a < end for a, b in find_unedited_spans(parse.text)):
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
    # part of a compound with a noun after it
    is_in_compound = any(
        parse.heads[i] > last and parse.bases[i] in ("compound", "amod", "nummod") for i in range(first, last + 1)
    )
    return MODIFIES if is_in_compound else ""


def _match_company(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    """Return the company that its legal form identifies at this token ("Acme Inc."), or None."""
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
    if reason := _why_not_name(parse, first, last):
        reasons.append(reason)
        return None
    return FoundName(NamedThing("company", (bare, whole)), 1, bare, first, last, first)


def _find_persons(parse: Parse, reasons: list[str]) -> Iterator[FoundName]:
    """Yield persons by given name and surname, and by an abbreviated or full title with a surname."""
    at = 0
    while at < len(parse):
        result = (
            _match_full_name(parse, at, reasons)
            or _match_titled_surname(parse, at, reasons)
            or _match_leader(parse, at, reasons)
        )
        result = result or _match_surname(parse, at)
        if result:
            yield result
        at = result.last + 1 if result else at + 1


def _may_be_name_part(parse: Parse, at: int) -> bool:
    return (
        at < len(parse)
        and WORD.fullmatch(parse.words[at]) is not None
        and parse.tags[at] == "NNP"
        and parse.words[at] not in NO_NAMES
        and parse.entities[at][2:] in ("PER", "")
    )


def _match_full_name(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    given = parse.words[at]
    last = at + 1
    if not _may_be_name_part(parse, at) or given in TITLES or given in FULL_TITLES or given in FURTHER_TITLES:
        return None
    has_initial = last < len(parse) and INITIAL.fullmatch(parse.words[last]) is not None
    last += has_initial
    if not _may_be_name_part(parse, last) or parse.words[last] in TITLES:
        return None
    gender = "m" if given in MALE else "f" if given in FEMALE else ""
    span = range(at, last + 1)
    is_person = all(parse.entities[i][2:] == "PER" for i in span) and parse.entities[at].startswith("B")
    if not gender and len(given) < MIN_GIVEN_NAME_LETTERS:
        return None
    if not is_person and not (gender and not any(parse.entities[i] for i in span)):
        return None
    if reason := _why_not_person(parse, at, last, gender):
        reasons.append(reason)
        return None
    surname = parse.words[last]
    if f"{given} {surname}" in NO_PERSON:
        return None
    own = parse.text[parse.starts[at] : parse.ends[last]]
    initials = f"{given[0]}. " + (f"{parse.words[at + 1]} " if has_initial else "")
    thing = NamedThing("person", (own, f"{initials}{surname}"), gender, given, surname)
    control = at - 1 if at and (parse.words[at - 1] in TITLES or parse.words[at - 1] in FULL_TITLES) else at
    return FoundName(thing, 0, thing.forms[1], at, last, control)


def _why_not_person(parse: Parse, at: int, last: int, gender: str) -> str:
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
    if parse.words[last + 1 : last + 2] in (("and",), ("&",)) and _may_be_name_part(parse, last + 2):
        return TIED
    return _why_not_name(parse, at, last)


def _match_titled_surname(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    """Return the surname with a title that has a full and a short form ("Senator Marsh"), or None."""
    title, last = parse.words[at], at + 1
    full = title if TITLES.get(title) else FULL_TITLES.get(title)
    if (
        not full
        or not _may_be_name_part(parse, last)
        or parse.entities[last][2:] != "PER"
        or parse.words[last] in MALE | FEMALE
    ):
        return None
    if at and (parse.tags[at - 1] in ("NNP", "NNPS") or parse.pos[at - 1] in ("DET", "ADJ", "NUM")):
        return None
    if last + 1 < len(parse) and parse.entities[last + 1].startswith("I-"):
        return None
    if reason := _why_not_name(parse, at, last):
        reasons.append(reason)
        return None
    surname, notation = parse.words[last], int(title != full)
    forms = (f"{full} {surname}", f"{TITLES[full]} {surname}")
    thing = NamedThing("titled", forms, "", full, surname)
    return FoundName(thing, notation, forms[1 - notation], at, last, at)


@cache
def leaders_by_surname() -> dict[str, NamedThing]:
    """Return surname -> the person whom the surname alone identifies."""
    result = {}
    for gender, people in LEADERS.items():
        for whole in (" ".join(name.split()) for name in people.split(",")):
            given, _, last = whole.rpartition(" ")
            if last in ALONE:
                result[last] = NamedThing("leader", (last, whole), gender, given, last)
    return result


def _match_leader(parse: Parse, at: int, reasons: list[str]) -> FoundName | None:
    thing = leaders_by_surname().get(parse.words[at])
    if thing is None or not _may_be_name_part(parse, at) or parse.entities[at] != "B-PER":
        return None
    if at and (parse.words[at - 1] in FULL_TITLES or parse.words[at - 1] in TITLES):
        return None
    if reason := _why_not_person(parse, at, at, thing.gender):
        reasons.append(reason)
        return None
    return FoundName(thing, 0, thing.forms[1], at, at, at)


def _match_surname(parse: Parse, at: int) -> FoundName | None:
    """Return a person named only by surname, or None.

    Pronouns must show the gender, and the text must name no other person.
    """
    surname = parse.words[at]
    if (
        not _may_be_name_part(parse, at)
        or parse.entities[at] != "B-PER"
        or parse.bases[at] != "nsubj"
        or len(surname) < MIN_GIVEN_NAME_LETTERS
    ):
        return None
    if surname in MALE | FEMALE or surname in TITLES or surname in FULL_TITLES:
        return None
    people = {parse.words[i] for i in range(len(parse)) if parse.entities[i][2:] == "PER"}
    male, female = (not words.isdisjoint(parse.lower_words) for words in (HE, SHE))
    others = GENDERED - HE - SHE
    if people != {surname} or male == female or others & parse.lower_words or _why_not_person(parse, at, at, "m"):
        return None
    if at and (parse.pos[at - 1] not in BEFORE_PHRASE or parse.tags[at + 1 : at + 2] == ("POS",)):
        return None
    title = "Mr." if male else "Ms."
    thing = NamedThing("surname", (surname, f"{title} {surname}"), "m" if male else "f", title, surname)
    return FoundName(thing, 0, thing.forms[1], at, at, at)


def _group_mentions(parse: Parse, mentions: list[FoundName], reasons: list[str]) -> Iterator[Name]:
    """Yield each name with all its places in the text, except names with a mention that cannot be changed."""
    taken: set[int] = set()
    for thing in dict.fromkeys(one.thing for one in mentions):
        mine = [one for one in mentions if one.thing == thing and taken.isdisjoint(range(one.first, one.last + 1))]
        if not mine:
            continue
        if len({(one.notation, one.other) for one in mine}) > 1:
            reasons.append(RELATED)
            continue
        tokens = {i for one in mine for i in range(one.first, one.last + 1)}
        spans = [NameSpan(parse.starts[one.first], parse.ends[one.last]) for one in mine]
        parts = _find_name_parts(parse, thing, tokens)
        if parts is None:
            reasons.append(RELATED)
            continue
        if thing.kind == "country" and not CITIES.isdisjoint(parse.words):
            reasons.append(TIED)
            continue
        if parts and parts[0].start < spans[0].start:
            reasons.append(RELATED)
            continue
        taken |= tokens
        own = parse.text[spans[0].start : spans[0].end]
        alone = len(spans) + len(parts) == 1
        yield Name(thing, tuple(sorted((*spans, *parts), key=lambda span: span.start)), own, mine[0].other,
                   mine[0].notation,
                   _find_control_span(parse, mine[0].control, mine[0].last) if alone else None)  # fmt: skip


def _find_name_parts(parse: Parse, thing: NamedThing, tokens: set[int]) -> list[NameSpan] | None:
    """Return where the text has a person's surname or given name alone.

    Return None if the name is also used in a different way.
    """
    words = {parse.lowers[i] for i in tokens if parse.words[i][0].isupper()} - {title.lower() for title in TITLES}
    stems = {word[:STEM] for word in words if len(word) >= STEM}
    result = []
    for i, lower in enumerate(parse.lowers):
        if i in tokens or len(lower) < STEM - 1 or lower == "the":
            continue
        role = "last" if parse.words[i] == thing.last else "given" if parse.words[i] == thing.given else ""
        if thing.kind == "person" and role and not _why_not_name(parse, i, i) and not _follows_another_name(parse, i):
            result.append(NameSpan(parse.starts[i], parse.ends[i], "last" if role == "last" else "given"))
        elif lower in words or (lower[:STEM] in stems and parse.words[i][0].isupper()):
            return None
    return result


def _follows_another_name(parse: Parse, at: int) -> bool:
    """Return whether another name precedes this one, so that it belongs to another person."""
    before = parse.words[at - 1] if at else ""
    return bool(before) and before not in TITLES and before not in FULL_TITLES and parse.tags[at - 1] == "NNP"


def _find_control_span(parse: Parse, first: int, last: int) -> NameSpan | None:
    """Return where to insert "someone else" or "another city".

    Return None in questions and lists, and if words describe the name.
    """
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

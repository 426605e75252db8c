"""A number in a text, its place, and names that it is part of: events, acts, films, addresses."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from encheck.language.parse import Parse

Value = Any  # a Fraction, or the parts of a date or range, depending on the kind
Write = Callable[[Value], str]
NOMINAL = frozenset({"NOUN", "PROPN", "ADJ"})


@dataclass(frozen=True, slots=True)
class NumberForm:
    """An alternative notation of a value, by `name`."""

    name: str
    write: Write


@dataclass(frozen=True, slots=True)
class Mention:
    """A number at characters `start` to `end`: its kind, value, notation and other notations.

    `other_values_at_distance` returns other values at a distance (see `values`).
    """

    start: int
    end: int
    kind: str
    value: Value
    write: Write
    forms: tuple[NumberForm, ...]
    other_values_at_distance: Callable[[int], Sequence[Value]]


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """Characters `start` to `end` of a parsed text, and their neighbours."""

    parse: Parse
    start: int
    end: int

    @property
    def first(self) -> int:
        """The token that begins here, or the next token."""
        return bisect_left(self.parse.starts, self.start)

    @property
    def after(self) -> int:
        """The first token after it; at the end, the number of tokens."""
        return bisect_left(self.parse.starts, self.end)

    def word_before(self, count: int = 1) -> str:
        """Return the word so many tokens before, in lower case; "" if there is none."""
        at = self.first - count
        return self.parse.lowers[at] if at >= 0 else ""

    @property
    def previous_word(self) -> str:
        """The word before, unchanged; "" if there is none."""
        return self.parse.words[self.first - 1] if self.first > 0 else ""

    def word_after(self, count: int = 1) -> str:
        """Return the word so many tokens after it, in lower case; "" if there is none."""
        at = self.after + count - 1
        return self.parse.lowers[at] if at < len(self.parse) else ""

    def pos_after(self, count: int = 1) -> str:
        """Return the universal part of speech of that word; "" if there is none."""
        at = self.after + count - 1
        return self.parse.pos[at] if at < len(self.parse) else ""

    def tag_after(self, count: int = 1) -> str:
        """Return the tag of that word; "" if there is none."""
        at = self.after + count - 1
        return self.parse.tags[at] if at < len(self.parse) else ""

    @property
    def tag(self) -> str:
        """The tag of its first token."""
        return self.parse.tags[self.first] if self.first < len(self.parse) else ""

    @property
    def is_modifier(self) -> bool:
        """Whether a noun or an adjective follows, to which the number belongs."""
        return self.pos_after() in NOMINAL

    @property
    def noun(self) -> int | None:
        """The noun that it counts, after it, past adjectives; None if there is none."""
        at = self.after
        while at < len(self.parse) and self.parse.pos[at] == "ADJ":
            at += 1
        return at if at < len(self.parse) and self.parse.pos[at] == "NOUN" else None

    @property
    def counts_many(self) -> bool:
        """Whether the noun that it counts is a plural."""
        noun = self.noun
        return noun is not None and self.parse.tags[noun] == "NNS"

    @property
    def is_title(self) -> bool:
        """Whether it begins with a capital letter, or begins a sentence."""
        return self.parse.text[self.start].isupper()


IN_NAME = "part of a name"
OF_NAME = "a year that belongs to a name or an event"
YEAR_OR_COUNT = "a year or a count"
FOUR_YEARLY = frozenset("olympics games cup".split())
YEARLY = frozenset("season championship championships open masters playoffs".split())
ONCE = frozenset("crisis recession crash war revolution coup massacre tsunami invasion uprising".split())
STREETS = frozenset("street st road rd avenue ave lane drive square boulevard terrace".split())
ATTACKS = frozenset("attack attacks attacker attackers bombing bombings bomber bombers hijackers terrorist".split())
RECENT = range(1900, 2050)
ROUND = 100  # round numbers of the size of a year are usually counts
PEOPLE = re.compile(
    r"\w+(?:ans|is)|Arabs|Brits|Croats|Danes|Democrats|Finns|Greeks|Jews|Kurds|Muslims|Poles|Scots|Serbs|Swedes|Turks"
)
JOINTS = frozenset(["of", "de", "&"])
DESCRIBES = frozenset(["nummod", "compound", "amod"])
PARTS_OF_DAY = frozenset("morning afternoon evening night".split())
BEGINS = re.compile(r"(?:^|[.!?:;])[\"'”’)\s]*[\"'“‘(]*\s*$")


def describes_following_word(spot: NumberPlace) -> bool:
    """Return whether the number depends on a word after it: "the 1998 season", not "In 1998 Brazil lost"."""
    parse, at = spot.parse, spot.first
    return at < len(parse) and parse.heads[at] > at and parse.bases[at] in DESCRIBES


def years_between_events(spot: NumberPlace) -> int:
    """Return the years between two events of the kind named after a year; 0 if it may not recur.

    Four for "the 1998 World Cup" and "the 2012 Olympics", one for "the 1994 NBA season".
    """
    last = max(_capitalised_words_after(spot), default=spot.after)
    kinds = set(spot.parse.lowers[last : last + 2])
    return 4 if kinds & FOUR_YEARLY else 1 if kinds & YEARLY else 0


def names_unique_event(spot: NumberPlace) -> bool:
    """Return whether it describes a unique event: "the 2008 financial crisis"."""
    return spot.parse.lowers[spot.parse.heads[spot.first]] in ONCE


def precedes_capital(spot: NumberPlace) -> bool:
    """Return whether a capitalised word is right after the number: "2008 Financial Crisis"."""
    return next(_capitalised_words_after(spot), None) is not None


def begins_capitalised_name(spot: NumberPlace) -> bool:
    """Return whether it is part of a capitalised name: "10 Commandments", not "20 EU states", "20 MPs" or "20
    Americans".
    """
    last, parse = max(_capitalised_words_after(spot), default=None), spot.parse
    if last is None or parse.words[last].removesuffix("s").isupper() or PEOPLE.fullmatch(parse.words[last]):
        return False
    return last + 1 == len(parse) or parse.pos[last + 1] not in ("NOUN", "ADJ")


def is_house_number(spot: NumberPlace) -> bool:
    """Return whether it is a house number: "42 Park Lane", not "2 Wall Street banks"."""
    last, parse = max(_capitalised_words_after(spot), default=None), spot.parse
    return last is not None and parse.lowers[last] in STREETS and parse.tags[last + 1 : last + 2] != ("NNS",)


def follows_capitalised_name(spot: NumberPlace) -> bool:
    """Return whether a capitalised name is right before it, or before "of": "London 2012", "the Act of 1994"."""
    if spot.word_before() == "of" and spot.word_before(2) == "class":
        return True
    at = spot.first - (2 if spot.word_before() == "of" else 1)
    if at < 0 or not spot.parse.words[at][0].isupper():
        return False
    return spot.parse.pos[at] == "PROPN" or (at > 0 and spot.parse.pos[at] == "NOUN")


def is_capitalised_number_word(spot: NumberPlace) -> bool:
    """Return whether number words are capitalised in a sentence, next to another capital: "Five Guys", "Fantastic
    Four".
    """
    if not spot.is_title or BEGINS.search(spot.parse.text[: spot.start]):
        return False
    return spot.previous_word[0].isupper() or precedes_capital(spot)


def names_attack(spot: NumberPlace) -> bool:
    """Return whether a date names an attack: "the September 11 attacks", "the attacks of July 7"."""
    return spot.word_after() in ATTACKS or (spot.word_before() in ("of", "on") and spot.word_before(2) in ATTACKS)


def _capitalised_words_after(spot: NumberPlace) -> Iterator[int]:
    """Yield the capitalised words right after it, including joining words: "Tour de France"."""
    parse, at = spot.parse, spot.after
    words = parse.words
    while at < len(parse):
        joins = at > spot.after and at + 1 < len(words) and words[at] in JOINTS and words[at + 1][0].isupper()
        if words[at][0].isupper():
            yield at
        elif not joins:
            return
        at += 1


def is_hour(spot: NumberPlace) -> bool:
    """Return whether the following words show that a number is an hour: "six in the evening"."""
    in_part = (spot.word_after(), spot.word_after(2)) == ("in", "the") and spot.word_after(3) in PARTS_OF_DAY
    return (
        in_part
        or (spot.word_after(), spot.word_after(2)) == ("at", "night")
        or spot.word_after() in ("o'clock", "o’clock")
    )

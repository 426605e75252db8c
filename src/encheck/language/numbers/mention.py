"""A number in a text, and the place that it stands in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from encheck.language.parse import Parse

Value = Any  # a Fraction, or what a date or a range is made of: each kind has its own
Write = Callable[[Value], str]
NOMINAL = frozenset({"NOUN", "PROPN", "ADJ"})
CHANGES = frozenset(
    """rise rose risen fall fell fallen gain gained lose lost drop dropped climb climbed jump jumped slip slipped slide
    slid decline declined increase increased decrease decreased grow grew grown shed surged tumbled advanced rising
    falling down up add added""".split()
)
ABOUT = frozenset(
    """about around nearly almost over roughly approximately some only just exactly than least most under above below
    to""".split()
)
UNLIKE = frozenset(
    """nearly almost roughly approximately some only just exactly than least most all both every these those first last
    next past another other further many a an no any rs rs. usd""".split()
)
TOTALS = frozenset(
    "total number average maximum minimum group town population sum range series pair set profit loss list top".split()
)
COUNTED = frozenset(
    """point points cent cents pence time times degree degrees byte bytes bit bits pixel pixels percentage star
    stars year years day days hour hours minute minutes second seconds week weeks month months mile miles inch
    inches foot feet pound pounds dollar dollars euro euros gallon gallons acre acres ton tons tonne tonnes
    calorie calories gram grams barrel barrels watt watts volt volts yard yards hp mph percent km kg cm mm meter
    meters metre metres litre litres liter liters mega run runs vote votes decades decade centuries century
    basis rupees crores lakhs crore lakh""".split()
)
MORE = frozenset(
    "more other additional further different less fewer most consecutive straight separate such new".split()
)
PHRASES = ("more than", "less than", "fewer than", "at least", "at most", "up to", "as many as", "as much as")


@dataclass(frozen=True, slots=True)
class Form:
    """Another way to write a value; `name` says which."""

    name: str
    write: Write


@dataclass(frozen=True, slots=True)
class Mention:
    """A number at characters `start` to `end`: its kind, its value, how it is written and how else it can be.

    `beside` gives the other values of a size (see `values`). `control` is another statement for the characters from
    `control_start` on, "" where none fits.
    """

    start: int
    end: int
    kind: str
    value: Value
    own: Write
    forms: tuple[Form, ...]
    beside: Callable[[int], Sequence[Value]]
    control: str = ""
    control_start: int = -1


@dataclass(frozen=True, slots=True)
class Spot:
    """Characters `start` to `end` of a parsed text, and what stands around them."""

    parse: Parse
    start: int
    end: int

    @property
    def first(self) -> int:
        """The token that begins here, or the one that begins next."""
        return bisect_left(self.parse.starts, self.start)

    @property
    def after(self) -> int:
        """The first token behind it; the number of tokens where there is none."""
        return bisect_left(self.parse.starts, self.end)

    def before(self, count: int = 1) -> str:
        """The word so many tokens before, in lower case; "" where there is none."""
        at = self.first - count
        return self.parse.lowers[at] if at >= 0 else ""

    @property
    def previous(self) -> str:
        """The word before as it is written; "" where there is none."""
        return self.parse.words[self.first - 1] if self.first > 0 else ""

    def next(self, count: int = 1) -> str:
        """The word so many tokens behind, in lower case; "" where there is none."""
        at = self.after + count - 1
        return self.parse.lowers[at] if at < len(self.parse) else ""

    def next_pos(self, count: int = 1) -> str:
        """Its universal part of speech."""
        at = self.after + count - 1
        return self.parse.pos[at] if at < len(self.parse) else ""

    def next_tag(self, count: int = 1) -> str:
        """Its tag."""
        at = self.after + count - 1
        return self.parse.tags[at] if at < len(self.parse) else ""

    @property
    def tag(self) -> str:
        """The tag of its first token."""
        return self.parse.tags[self.first] if self.first < len(self.parse) else ""

    @property
    def is_modifier(self) -> bool:
        """Whether a noun or an adjective follows that it belongs to."""
        return self.next_pos() in NOMINAL

    @property
    def noun(self) -> int | None:
        """The noun that it counts: behind it, past adjectives; None where there is none."""
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


def other(spot: Spot) -> tuple[str, int]:
    """A control for what counts or describes a noun, and where it begins: "12 people" > "other people".

    What goes with a number goes too ("about 12"), and an article before one noun ("a 5% rise" > "another rise").
    """
    noun = spot.noun
    if (
        noun is None
        or spot.parse.lowers[noun] in COUNTED
        or spot.next() in MORE
        or spot.next_tag() in ("JJR", "RBR", "JJS", "RBS")
    ):
        return "", -1
    start = of_number(spot)
    here = Spot(spot.parse, start, spot.end)
    before = here.before()
    if spot.parse.tags[noun] == "NNS":
        refused = before in UNLIKE or (before == "of" and here.before(2) in TOTALS)
        return ("", -1) if refused else ("other", start)
    if before in ("a", "an") and spot.parse.tags[noun] == "NN":
        return ("Another" if here.previous[0].isupper() else "another"), spot.parse.starts[here.first - 1]
    return ("other", start) if before == "the" else ("", -1)


def of_number(spot: Spot) -> int:
    """Where the words that go with a number begin."""
    for phrase in PHRASES:
        count = phrase.count(" ") + 1
        words = " ".join(spot.before(k) for k in range(count, 0, -1))
        if words == phrase:
            return spot.parse.starts[spot.first - count]
    at = spot.first - 1
    if spot.before() in ABOUT and spot.parse.bases[at] == "advmod" and at < spot.parse.heads[at] < spot.after:
        return spot.parse.starts[at]
    return spot.start


def takes_noun(spot: Spot, start: int) -> bool:
    """Whether what stands before character `start` takes a whole noun phrase: no adjective, article or number."""
    at = bisect_left(spot.parse.starts, start) - 1
    return at < 0 or spot.parse.pos[at] in ("ADP", "VERB", "AUX", "CCONJ", "SCONJ", "PUNCT")

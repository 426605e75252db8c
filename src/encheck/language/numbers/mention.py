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


@dataclass(frozen=True, slots=True)
class Form:
    """Another way to write a value; `name` says which."""

    name: str
    write: Write


@dataclass(frozen=True, slots=True)
class Mention:
    """A number at characters `start` to `end`: its kind, its value, how it is written and how else it can be.

    `beside` gives the other values of a size (see `values`).
    """

    start: int
    end: int
    kind: str
    value: Value
    own: Write
    forms: tuple[Form, ...]
    beside: Callable[[int], Sequence[Value]]


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
        """The word so many tokens before, in lower case; "" if there is none."""
        at = self.first - count
        return self.parse.lowers[at] if at >= 0 else ""

    @property
    def previous(self) -> str:
        """The word before as it is written; "" if there is none."""
        return self.parse.words[self.first - 1] if self.first > 0 else ""

    def next(self, count: int = 1) -> str:
        """The word so many tokens behind, in lower case; "" if there is none."""
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
        """The noun that it counts: behind it, past adjectives; None if there is none."""
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

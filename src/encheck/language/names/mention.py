"""A name in a text, with its other notation, and what could stand in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = str  # "person", "titled", "country", "state", "city", "company", "body", "agency", "league", "university"
Role = Literal["whole", "last", "given"]


@dataclass(frozen=True, slots=True, order=True)
class Thing:
    """What has a name: its kind, its two notations (short and long), and of persons gender ("m", "f", ""), given, last.

    The notations of a person are "John Smith" and "J. Smith".
    """

    kind: Kind
    forms: tuple[str, str]
    gender: str = ""
    given: str = ""
    last: str = ""

    def text(self, role: Role, notation: int) -> str:
        """How it is called in this notation, or in part: by surname or given name alone."""
        return {"whole": self.forms[notation], "last": self.last, "given": self.given}[role]


@dataclass(frozen=True, slots=True)
class Spot:
    """Characters `start` to `end`, where a name stands, whole or in part."""

    start: int
    end: int
    role: Role = "whole"


@dataclass(frozen=True, slots=True)
class Name:
    """A thing and the places where a text names it; the whole name is written in this notation there, and as `own`.

    `other` is the same name in the other notation. `control` is the place of another statement, None if none fits.
    """

    thing: Thing
    spots: tuple[Spot, ...]
    own: str
    other: str
    notation: int
    control: Spot | None = None

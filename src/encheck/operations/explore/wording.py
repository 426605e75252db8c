"""What is said of the words that a property is about: how something is denied, how a number is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from encheck.scoring.triplets import Triplet
from encheck.types import Edit

NEGATIVES = (
    ("not", re.compile(r"\bnot\b|\bcannot\b", re.IGNORECASE)),
    ("n't", re.compile(r"n['’]t\b", re.IGNORECASE)),
    ("no, never or the like", re.compile(r"\b(?:no|none|nobody|nothing|never|neither|nor|without)\b", re.IGNORECASE)),
)
_DIGIT = re.compile(r"\d")
Value = tuple[str, str]


def wording(name: str, triplet: Triplet, changed: Sequence[Edit]) -> Iterator[Value]:
    """The features of a property's own words."""
    if name == "negation":
        yield "source denies", f"source with {_negative(triplet.source)}"
        yield "kept denies", f"kept text with {_negative(triplet.near)}"
        yield "changed denies", f"changed text with {_negative(triplet.far)}"
    if name == "number":
        yield "source writes", f"source number in {_writing(triplet.source[e.start : e.end] for e in changed)}"
        yield "changed writes", f"changed number in {_writing(e.text for e in changed)}"


def _negative(text: str) -> str:
    """How a text denies.

    >>> _negative("It isn't open."), _negative("It is open.")
    ("n't", 'no negative word')
    """
    return next((said for said, pattern in NEGATIVES if pattern.search(text)), "no negative word")


def _writing(parts: Iterator[str]) -> str:
    return "digits" if any(_DIGIT.search(part) for part in parts) else "words"

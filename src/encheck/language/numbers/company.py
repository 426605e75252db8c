"""What holds a number to its notation or to its value: other numbers of the text, and words that know how many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from encheck.language.numbers.mention import Form, Mention, Spot
from encheck.language.parse import Parse

PARALLEL = "beside another number in the same notation"
PRESUPPOSED = "a number that the text presupposes"
PLAIN = frozenset(["cardinal", "decimal", "measure", "label", "fraction", "compound", "range"])
COUNTED = ("cardinal", "decimal")
COMMAS = frozenset(["commas", "without commas"])
LONG = re.compile(r"\d{1,3},\d|\d{4}")
FIGURE = {  # how a number of a kind is told elsewhere in a text
    "money": re.compile(r"[$€£¥₹]|\b(?:dollars?|euros?|pounds?|yen|rupees|cents|pence|Rs)\b"),
    "percentage": re.compile(r"%|\b(?:percent|per cent|pct)\b"),
    "time": re.compile(r"\b\d{1,2}:\d\d|\b\d{1,2} ?[ap]\.?m\b|\b(?:midnight|noon)\b|o['’]clock", re.IGNORECASE),
    "score": re.compile(r"\b\d+ ?[-–] ?\d+\b"),
    "year": re.compile(r"\b(?:1[1-9]|20)\d\d\b"),
}
TECHNICAL = re.compile(
    r"\d ?-?(?:m[glL]|m?cg|µg|kg|[KMGT]i?B"
    r"|[kKMG]bps|[kMG]?Hz|[mk]?W|k?Wh|m?Ah|[mk]?V|[cmk]m|nm|ms|dpi|ppm|rpm|psi|IU)\b"
)
SPELLED_MOST = 20  # of technical texts
GRANTED = frozenset("the these those that both its his her their our".split())
BOTH = re.compile(r"\b(?:both|between)\b", re.IGNORECASE)
NAMED = re.compile(r"^(?: [\w'’-]+){1,4} ?, (?:[\w'’`.-]+,? ){1,8}and [\w'’`-]+")
NAMED_MOST = 10
PARTS_OF_DAY = frozenset("morning afternoon evening night".split())


def held(parse: Parse, one: Mention, every: Sequence[Mention]) -> Mention | str:
    """The number with the notations that its text leaves to it; or why none is left."""
    if is_presupposed(parse, one):
        return PRESUPPOSED
    if _is_parallel(parse, one, every):
        return PARALLEL
    forms = tuple(form for form in one.forms if not _clashes(parse, one, form, every))
    return replace(one, forms=forms) if forms else PARALLEL


def is_presupposed(parse: Parse, one: Mention) -> bool:
    """Whether the text knows how many there are: "the two", "between six cities", "two towns, Bonn and Köln"."""
    if one.kind not in ("cardinal", "measure", "range"):
        return False
    spot = Spot(parse, one.start, one.end)
    if any(spot.before(k) == "between" for k in (1, 2, 3)):
        return True
    if one.kind == "range" or one.value > NAMED_MOST:
        return False
    is_granted = spot.before() in GRANTED or (spot.before() in ("top", "other") and spot.before(2) in GRANTED)
    if one.value == 2 and (is_granted or BOTH.search(parse.text)):
        return True
    return one.kind == "cardinal" and NAMED.match(parse.text[one.end :]) is not None


def is_hour(spot: Spot) -> bool:
    """Whether a number is an hour by what follows: "six in the evening"."""
    in_part = (spot.next(), spot.next(2)) == ("in", "the") and spot.next(3) in PARTS_OF_DAY
    return in_part or (spot.next(), spot.next(2)) == ("at", "night") or spot.next() in ("o'clock", "o’clock")


def _is_parallel(parse: Parse, one: Mention, every: Sequence[Mention]) -> bool:
    """Whether another number of its kind stands in the notation that it would leave."""
    if one.kind == "date":
        return sum(other.kind == "date" for other in every) > 1
    if one.kind in ("money", "percentage", "time", "score"):
        return _elsewhere(one, parse.text)
    if one.kind not in PLAIN:
        return False
    digits = _is_in_digits(one, parse.text)
    found = _counts(parse, one, every, digits=digits)
    if not digits and one.kind != "compound":
        return bool(found)
    return one.kind not in COUNTED and any(_kind_at(at, every) == one.kind for at in found)


def _clashes(parse: Parse, one: Mention, form: Form, every: Sequence[Mention]) -> bool:
    """Whether nobody would write a number in that form in that text."""
    if form.name == "two figures":
        return _elsewhere(one, parse.text)
    if one.kind not in PLAIN or not _is_in_digits(one, parse.text):
        return False
    converts = form.name.startswith("in ")
    others = _counts(parse, one, every, digits=True)
    if form.name in COMMAS:
        return any(LONG.match(parse.text, at) for at in others)
    if one.kind in COUNTED and any(_kind_at(at, every) in ("", *COUNTED) for at in others):
        return True
    if form.name != "words" and not converts:
        return False
    if others:
        return True
    most = max(one.value) if isinstance(one.value, tuple) else one.value
    return not converts and most > SPELLED_MOST and TECHNICAL.search(parse.text) is not None


def _elsewhere(one: Mention, text: str) -> bool:
    return any(not one.start <= found.start() < one.end for found in FIGURE[one.kind].finditer(text))


def _is_in_digits(one: Mention, text: str) -> bool:
    return any(sign.isdigit() for sign in text[one.start : one.end])


def _counts(parse: Parse, one: Mention, every: Sequence[Mention], *, digits: bool) -> list[int]:
    """Where other numbers of the text begin that count or measure, in digits or in words."""
    found = []
    for i, (start, word) in enumerate(zip(parse.starts, parse.words, strict=True)):
        if one.start <= start < one.end or parse.tags[i] != "CD" or any(map(str.isdigit, word)) is not digits:
            continue
        if word.lower() == "one" and one.kind == "measure":
            continue
        kind = _kind_at(start, every)
        if kind in PLAIN or (not kind and not _is_of_another_kind(parse, i)):
            found.append(start)
    return found


def _kind_at(start: int, every: Sequence[Mention]) -> str:
    """The kind of the number that stands there; "" where none was found."""
    return next((other.kind for other in every if other.start <= start < other.end), "")


def _is_of_another_kind(parse: Parse, at: int) -> bool:
    """Whether a number is a year, a time, money, a percentage, or part of a name or a date."""
    spot = Spot(parse, parse.starts[at], parse.ends[at])
    around = f"{spot.before()} {parse.words[at]} {spot.next()}"
    return any(pattern.search(around) for pattern in FIGURE.values()) or (at > 0 and parse.pos[at - 1] == "PROPN")

"""Numbers in two notations: what a number frame is filled with."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from encheck.language.numbers.numerals import ordinal, spelled, spelled_ordinal

Pair = tuple[str, str]
SIZES = ("near", "middle", "far")
MONTHS = "January February March April May June July August September October November December".split()
DECADES = "twenties thirties forties fifties sixties seventies eighties nineties".split()
QUARTERS = ("first", "second", "third", "fourth")
SHARES = {
    10: "a tenth", 20: "a fifth", 25: "a quarter", 30: "three tenths", 40: "two fifths", 50: "half",
    60: "three fifths", 70: "seven tenths", 75: "three quarters", 80: "four fifths", 90: "nine tenths",
}  # fmt: skip
MINUTES = {
    30: "half an hour", 45: "three quarters of an hour", 90: "an hour and a half", 120: "two hours",
    150: "two and a half hours", 180: "three hours", 210: "three and a half hours", 240: "four hours",
    270: "four and a half hours", 300: "five hours", 360: "six hours", 480: "eight hours", 720: "twelve hours",
}  # fmt: skip
MONTHS_LONG = {
    12: "one year", 18: "a year and a half", 24: "two years", 30: "two and a half years", 36: "three years",
    42: "three and a half years", 48: "four years", 60: "five years", 72: "six years", 84: "seven years",
    96: "eight years", 120: "ten years", 180: "fifteen years",
}  # fmt: skip
PARTS = ((0.25, "a quarter of a percent"), (0.5, "half a percent"), (0.75, "three quarters of a percent"))
RANGES = (
    (1, 2), (2, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 7), (5, 8), (6, 8), (7, 10), (8, 10), (10, 12), (12, 15),
    (15, 20), (20, 25), (25, 30),
)  # fmt: skip


def spoken(number: int) -> str:
    """The number in words, from 0 to 999.

    >>> spoken(45), spoken(120)
    ('forty-five', 'a hundred and twenty')
    """
    words = spelled(number)
    return words.replace("one", "a", 1) if 100 <= number < 200 else words


def _halves(number: int) -> str:
    return f"{spoken(number)} and a half"


def _smaller(unit: str, smaller: str, least: int) -> list[Pair]:
    """Less than one of a unit, in it and in thousandths of it: in steps of five hundredths."""
    return [(f"{part / 100:g} {unit}", f"{part}0 {smaller}") for part in range(least, 100, 5)]


def _and_a_half(unit: str, word: str) -> list[Pair]:
    return [(f"{number}.5 {unit}", f"{_halves(number)} {word}") for number in range(1, 10)]


def _dates(rng: Random) -> list[Pair]:
    year = rng.randrange(2012, 2025)
    days = [(month, day) for month in range(1, 13) for day in range(1, 10)]
    return [(f"{day} {MONTHS[month - 1]} {year}", f"{year}-{month:02}-{day:02}") for month, day in days]


def _times(rng: Random) -> list[Pair]:
    minutes = rng.choice(["05", "10", "20", "25", "35", "40", "50", "55"])
    return [(f"{hour}:{minutes} p.m.", f"{hour + 12}:{minutes}") for hour in range(1, 12)]


def _clock(_rng: Random) -> list[Pair]:
    found = []
    for hour in range(1, 12):
        found += [(f"quarter past {spoken(hour)}", f"{hour}:15"), (f"half past {spoken(hour)}", f"{hour}:30")]
        found += [(f"quarter to {spoken(hour + 1)}", f"{hour}:45")]
    return found


def _euros(_rng: Random) -> list[Pair]:
    amounts = [*range(15, 100, 5), *range(120, 500, 30)]
    return [(f"€{amount}", f"{spoken(amount)} euros") for amount in amounts]


def _pence(_rng: Random) -> list[Pair]:
    amounts = [(pounds, tens) for pounds in range(1, 10) for tens in range(2, 10)]
    named = [(pounds, tens, "pound" if pounds == 1 else "pounds") for pounds, tens in amounts]
    return [(f"£{pounds}.{tens}0", f"{spoken(pounds)} {name} {spoken(10 * tens)}") for pounds, tens, name in named]


def _quarters(rng: Random) -> list[Pair]:
    year = rng.randrange(2012, 2025)
    return [(f"the {name} quarter of {year}", f"Q{number} {year}") for number, name in enumerate(QUARTERS, 1)]


def _limits(rng: Random) -> list[Pair]:
    k = rng.randrange(3, 13)
    return [(f"at least {spoken(k)}", f"{k} or more"), (f"at most {spoken(k)}", f"{k} or fewer")]


NOTATIONS: dict[str, Callable[[Random], list[Pair]]] = {
    "kilograms": lambda _: [*_smaller("kg", "g", 5), *_and_a_half("kg", "kilograms")],
    "kilometres": lambda _: [*_smaller("km", "metres", 5), *_and_a_half("km", "kilometres")],
    "metres": lambda _: [*((f"0.{d} m", f"{d}0 cm") for d in range(3, 10)), *_and_a_half("m", "metres")],
    "litres": lambda _: [*_smaller("litres", "ml", 25), *_and_a_half("litres", "litres")],
    "hours": lambda _: [(words, f"{minutes} minutes") for minutes, words in MINUTES.items()],
    "days": lambda _: [(f"{spoken(days)} days", f"{24 * days} hours") for days in range(2, 11)],
    "weeks": lambda _: [(f"{spoken(weeks)} weeks", f"{7 * weeks} days") for weeks in range(2, 16)],
    "years": lambda _: [(words, f"{months} months") for months, words in MONTHS_LONG.items()],
    "millions": lambda _: [(f"$1.{tenths} million", f"$1,{tenths}00,000") for tenths in range(1, 10)],
    "pence": _pence,
    "euros": _euros,
    "percent": lambda _: [(f"{share}%", words) for share, words in SHARES.items()],
    "halves-percent": lambda _: [
        *((f"{share:g}%", words) for share, words in PARTS),
        *((f"{number}.5%", f"{_halves(number)} percent") for number in range(1, 15)),
    ],
    "halves": lambda _: [(f"{number}.5", _halves(number)) for number in range(1, 10)],
    "dates": _dates,
    "times": _times,
    "clock": _clock,
    "range": lambda _: [(f"{spoken(low)} to {spoken(high)}", f"{low}–{high}") for low, high in RANGES],
    "ordinal": lambda _: [(spelled_ordinal(number), ordinal(number)) for number in range(4, 21)],
    "version": lambda _: [(f"version {number}.0", f"v{number}") for number in range(2, 20)],
    "bounds": lambda _: [(f"at least {spoken(number)}", f"{number} or more") for number in range(4, 25)],
    "limits": _limits,
    "thousands": lambda _: [(f"{number},000", f"{spoken(number)} thousand") for number in range(2, 20)],
    "count": lambda _: [(spoken(number), f"{number}") for number in range(2, 41)],
    "quarter": _quarters,
    "decades": lambda _: [(f"the {name}", f"the 19{2 + number}0s") for number, name in enumerate(DECADES)],
    "centuries": lambda _: [(f"the {ordinal(number)} century", f"the {number - 1}00s") for number in range(12, 20)],
}


def drawn(notation: str, rng: Random) -> tuple[Pair, Pair, str]:
    """Two values in both notations, and how far they lie apart: near, middle or far in the order of the values.

    KeyError for a notation that there is not.
    """
    values = NOTATIONS[notation](rng)
    size = rng.choice(SIZES)
    least, most = _apart(size, len(values))
    first = rng.randrange(len(values))
    others = [i for i in range(len(values)) if least <= abs(i - first) <= most]
    if not others:
        return drawn(notation, rng)
    return values[first], values[rng.choice(others)], size


def _apart(size: str, count: int) -> tuple[int, int]:
    """How many places two of so many values lie apart, at least and at most."""
    if size == "near":
        return 1, 1
    return (2, max(2, count // 4)) if size == "middle" else (max(count // 3, 1), count)

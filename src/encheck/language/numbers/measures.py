"""Amounts of money and measures with their units; names and symbols are those of CLDR, by way of babel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from encheck.language.numbers.amounts import NO_OTHER, Made, Maker
from encheck.language.numbers.digits import PLAIN, SCALE, Style, forms, read_digits, said, whole, words_value
from encheck.language.numbers.mention import CHANGES, Form, Mention, Spot, Write, of_number, other, takes_noun
from encheck.language.numbers.values import others
from encheck.language.numbers.words import WORDS

LOCALE = "en_US"
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
SAID = {"USD": "dollars", "EUR": "euros", "GBP": "pounds", "JPY": "yen", "INR": "rupees"}  # as people write them
SIGNS = {said: sign for sign, currency in CURRENCIES.items() for said in [SAID[currency]]}
LONG = 12  # of a converted amount: more is not how people say it


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit by its name in CLDR; `smaller` is one that it is `times` of, up to `most` of it."""

    name: str
    control: str
    smaller: str = ""
    times: int = 1
    most: int = 0


UNITS = {
    "length-kilometer": Unit("length-kilometer", "another distance", "length-meter", 1_000, 9),
    "length-meter": Unit("length-meter", "another distance", "length-centimeter", 100, 3),
    "length-centimeter": Unit("length-centimeter", "another length", "length-millimeter", 10, 100),
    "length-millimeter": Unit("length-millimeter", "another length"),
    "length-mile": Unit("length-mile", "another distance"),
    "length-foot": Unit("length-foot", "another length", "length-inch", 12, 6),
    "length-inch": Unit("length-inch", "another length"),
    "length-yard": Unit("length-yard", "another distance", "length-foot", 3, 30),
    "mass-kilogram": Unit("mass-kilogram", "another weight", "mass-gram", 1_000, 5),
    "mass-gram": Unit("mass-gram", "another weight"),
    "mass-milligram": Unit("mass-milligram", "another amount"),
    "mass-pound": Unit("mass-pound", "another weight"),
    "mass-ounce": Unit("mass-ounce", "another weight"),
    "volume-liter": Unit("volume-liter", "another amount", "volume-milliliter", 1_000, 5),
    "volume-milliliter": Unit("volume-milliliter", "another amount"),
    "digital-gigabyte": Unit("digital-gigabyte", "another size"),
    "digital-megabyte": Unit("digital-megabyte", "another size"),
    "digital-kilobyte": Unit("digital-kilobyte", "another size"),
    "duration-second": Unit("duration-second", "some time"),
    "duration-millisecond": Unit("duration-millisecond", "some time"),
    "duration-minute": Unit("duration-minute", "some time", "duration-second", 60, 5),
    "duration-hour": Unit("duration-hour", "some time", "duration-minute", 60, 5),
    "duration-day": Unit("duration-day", "some time"),
    "duration-week": Unit("duration-week", "some time", "duration-day", 7, 6),
    "duration-month": Unit("duration-month", "some time"),
    "duration-year": Unit("duration-year", "some time", "duration-month", 12, 4),
}
BRITISH = {"kilometre": "length-kilometer", "metre": "length-meter", "centimetre": "length-centimeter",
           "millimetre": "length-millimeter", "litre": "volume-liter", "millilitre": "volume-milliliter"}  # fmt: skip
MORE = {"hrs": "duration-hour", "mins": "duration-minute", "secs": "duration-second", "lbs": "mass-pound",
        "GB": "digital-gigabyte", "MB": "digital-megabyte", "KB": "digital-kilobyte", "ms": "duration-millisecond",
        "gigs": "digital-gigabyte", "kilos": "mass-kilogram", "km": "length-kilometer", "min": "duration-minute",
        "ml": "volume-milliliter", "hr": "duration-hour", "sec": "duration-second"}  # fmt: skip
LATER = frozenset("ago later earlier before after".split())
REFUSED = frozenset({"m", "in", "g", "s", "h", "d", "w", "y", "l", "L", "B", "month", "mths", "mth", "lb"})
WORDY = frozenset(
    "minutes hours seconds days weeks months years miles feet inches yards pounds ounces metres meters".split()
)
NO_SUM = frozenset(
    "the these those last past first next final another every each his her its their our my your this".split()
)


@cache
def names() -> dict[str, str]:
    """What a unit is called in a text, in the plural: its name in CLDR; babel's names and abbreviations, and ours."""
    found: dict[str, str] = {}
    for name in UNITS:
        for length in ("long", "short"):
            found.setdefault(unit(name, length), name)
    for word, name in BRITISH.items():
        found[f"{word}s"] = name
    found |= MORE
    return {word: name for word, name in found.items() if word not in REFUSED}


@cache
def unit(name: str, length: str) -> str:
    """What babel calls several of a unit: "kilometers", or "km" where the length is short.

    >>> unit("length-kilometer", "long"), unit("length-kilometer", "short")
    ('kilometers', 'km')
    """
    from babel.units import format_unit

    return format_unit(2, name, length=length, locale=LOCALE).removeprefix("2").strip()  # type: ignore[arg-type]


@cache
def one(name: str) -> str:
    """What babel calls one of a unit."""
    from babel.units import format_unit

    return format_unit(1, name, length="long", locale=LOCALE).removeprefix("1").strip()


def measure(found: re.Match[str], spot: Spot) -> Made:
    """A number with a unit: in digits or words, with the unit's name or its abbreviation; some are converted."""
    text, gap, word = found["number"], found["gap"], found["unit"]
    name = names()[word]
    count = words_value(text) if text[0].isalpha() else None
    value, style = (count, Style()) if count is not None else read_digits(text)
    if value < 2 and not style.decimals:
        return "one or nought: nothing else agrees with it"
    is_wordy, capital = text[0].isalpha(), text[0].isupper()

    def own(v: Fraction) -> str:
        return (_spelled(v, capital=capital) if is_wordy else style.write(v)) + gap + word

    made = list(_forms(value, style, word, name, is_wordy=is_wordy))
    if (smaller := UNITS[name].smaller) and _converts(value, name, spot, is_wordy=is_wordy):
        made.append(Form(f"in {unit(smaller, 'long')}", _converted(name, word)))
    least = Fraction(0) if style.decimals else Fraction(2)
    control, start = _measure_control(spot, name)

    def beside(size: int) -> list[Fraction]:
        found = others(value / style.size, decimals=style.decimals, size=size, least=least)
        return [v * style.size for v in found if v > 0 and v != 1]

    return Mention(spot.start, spot.end, "measure", value, own, tuple(made), beside, control, start)


def _spelled(value: Fraction, *, capital: bool) -> str:
    words = whole(value)
    return words[0].upper() + words[1:] if capital else words


def _forms(value: Fraction, style: Style, word: str, name: str, *, is_wordy: bool) -> list[Form]:
    long, short = unit(name, "long"), unit(name, "short")
    long = word if word in WORDY or word.removesuffix("s") in BRITISH else long
    found = []
    if is_wordy:
        return [Form("digits", lambda v: f"{Style(commas=v >= 1_000).write(v)} {word}")]
    found += [Form(form.name, partial(_with_unit, form.write, long)) for form in forms(value, style)]
    if word != long:
        found.append(Form("unit in full", lambda v: f"{style.write(v)} {long}"))
    elif (
        short not in REFUSED
        and short != long
        and not name.startswith(("duration-month", "duration-year", "duration-week", "duration-day"))
    ):
        found.append(Form("abbreviation", lambda v: f"{style.write(v)} {short}"))
    return found


def _with_unit(write: Write, long: str, value: Fraction) -> str:
    return f"{write(value)} {long}"


def _converts(value: Fraction, name: str, spot: Spot, *, is_wordy: bool) -> bool:
    """Whether people would say the amount in the smaller unit too."""
    kind = UNITS[name]
    if value > kind.most or value * kind.times % 1 or spot.is_modifier or spot.next() in ("old", "a", "per", "each"):
        return False
    return value % 1 == 0 or not is_wordy


def _converted(name: str, word: str) -> Write:
    kind = UNITS[name]
    smaller = unit(kind.smaller, "long")
    if word.removesuffix("s") in BRITISH:
        smaller = smaller.replace("meters", "metres").replace("liters", "litres")

    def write(v: Fraction) -> str:
        if v * kind.times % 1 or v > kind.most * LONG:
            raise ValueError(f"{v} is not said in {smaller}")
        count = v * kind.times
        return f"{Style(commas=count >= 1_000).write(count)} {smaller}"

    return write


def _measure_control(spot: Spot, name: str) -> tuple[str, int]:
    if spot.is_modifier:
        return other(spot)
    if spot.before() in NO_SUM | CHANGES or spot.next() in (
        "of",
        "old",
        "per",
        "a",
        "each",
        "tall",
        "long",
        "high",
        "wide",
        "deep",
    ):
        return "", -1
    start = of_number(spot)
    if not takes_noun(spot, start) or spot.before() == "in" or (spot.next() == "," and spot.next_tag(2) == "CD"):
        return "", -1
    control = UNITS[name].control
    before = Spot(spot.parse, start, spot.end).before()
    if control == "some time" and before not in ("for", "after", "before") and spot.next() not in LATER:
        return "", -1
    return control, start


def money(found: re.Match[str], spot: Spot) -> Made:
    """An amount of money: with its sign, or with its currency's name."""
    sign, text = found["sign"], found["number"]
    value, style = read_digits(text)
    gap = found["gap"]
    if spot.previous.isupper() and len(spot.previous) <= 3 and spot.previous != "I":
        return NO_OTHER
    currency = CURRENCIES[sign]
    short = style.scale.strip().lower() in ("k", "m", "b", "bn", "mn", "tn")

    def own(v: Fraction) -> str:
        return sign + gap + style.write(v)

    made = []
    full = Style(style.commas, style.decimals, True, f" {_full(style)}") if short else style
    if short:
        made.append(Form("scale in full", lambda v: f"{sign}{gap}{full.write(v)}"))
    elif style.scale.strip() in ("million", "billion", "trillion"):
        letter = {"million": "m", "billion": "bn", "trillion": "tn"}[style.scale.strip()]
        made.append(
            Form("letter", lambda v: f"{sign}{gap}{Style(style.commas, style.decimals, True, letter).write(v)}")
        )
    if not spot.is_modifier and spot.next() not in ("-",):
        made.append(Form("name", lambda v: f"{full.write(v)} {SAID[currency]}"))
        if (words := said(value, style)) is not None and (not style.decimals or style.decimals == 2):
            made.append(
                Form(
                    "words", partial(_pieces, currency) if style.decimals else lambda v: f"{words(v)} {SAID[currency]}"
                )
            )
        if style.scale.strip() in ("million", "billion") and value < 10**12:
            made.append(Form("noughts", lambda v: f"{sign}{gap}{Style(commas=True).write(v)}"))
    elif not style.scale and not style.decimals:
        made.append(Form("cents", lambda v: f"{sign}{gap}{Style(style.commas, 2).write(v)}"))
    elif not style.scale:
        made.append(Form("code", lambda v: f"{currency} {style.write(v)}"))
    return _sum(spot, value, style, own, tuple(made))


def _pieces(currency: str, value: Fraction) -> str:
    """Dollars and cents in words: "four dollars and fifty cents"; ValueError where there are none of either."""
    large, small = divmod(value * 100, 100)
    if large < 2 or small < 2:
        raise ValueError(f"{value} is not said in two parts")
    return f"{whole(Fraction(large))} {SAID[currency]} and {whole(small)} {'pence' if currency == 'GBP' else 'cents'}"


def _full(style: Style) -> str:
    return {10**3: "thousand", 10**6: "million", 10**9: "billion", 10**12: "trillion"}[style.size]


def _sum(spot: Spot, value: Fraction, style: Style, own: Write, made: tuple[Form, ...]) -> Made:
    if spot.is_modifier:
        control, start = other(spot)
    elif spot.before() in CHANGES:
        control, start = "by another sum", spot.start
    elif spot.before() in NO_SUM or spot.next() in ("of", "per", "a", "an", "each"):
        control, start = "", -1
    else:
        control, start = "another price" if spot.before() == "at" else "another sum", of_number(spot)
        control = control if takes_noun(spot, start) else ""

    def beside(size: int) -> list[Fraction]:
        found = others(
            value / style.size, decimals=style.decimals, size=size, least=0, most=999 if style.scale else 10**13
        )
        return [v * style.size for v in found if v > 0 and v * style.size != 1 and v != 1]

    return Mention(spot.start, spot.end, "money", value, own, made, beside, control, start)


def named_money(found: re.Match[str], spot: Spot) -> Made:
    """Money by its name: 5 dollars, two million euros."""
    text, word = found["number"], found["name"]
    count = words_value(text) if text[0].isalpha() else None
    value, style = (count, Style()) if count is not None else read_digits(text)
    if value < 2 and not style.decimals:
        return NO_OTHER
    capital = text[0].isupper()

    def own(v: Fraction) -> str:
        return f"{_spelled(v, capital=capital) if count is not None else style.write(v)} {word}"

    scale = next((n for n, s in (("billion", 10**9), ("million", 10**6)) if value >= s and value % (s // 10) == 0), "")
    signed = Style(commas=value >= 1_000) if count is not None else style
    if count is not None and scale:
        size = 10**9 if scale == "billion" else 10**6
        signed = Style(False, 1 if value % size else 0, True, f" {scale}")
    form = Form("sign", lambda v: SIGNS[word] + signed.write(v))
    return _sum(spot, value, style, own, (form,))


_UNIT_NAMES = "|".join(
    sorted(
        """kilometers kilometres meters metres centimeters centimetres millimeters millimetres miles feet inches yards
        kilograms grams pounds ounces liters litres milliliters millilitres gigabytes megabytes kilobytes seconds
        milliseconds minutes hours days weeks months years milligrams km cm mm mi ft kg mg oz ml mL GB MB KB gigs kilos
        lbs hrs mins secs min hr sec ms yd""".split(),
        key=len,
        reverse=True,
    )
)
_N = rf"(?P<number>(?:{PLAIN}){SCALE}?)"
_W = rf"(?P<number>(?i:{WORDS}))"
PATTERNS: tuple[tuple[str, Maker], ...] = (
    (rf"(?P<sign>[$€£¥₹])(?P<gap> ?){_N}", money),
    (rf"{_N} (?P<name>dollars|euros|yen|rupees)", named_money),
    (rf"{_W} (?P<name>dollars|euros|yen|rupees)", named_money),
    (rf"{_N}(?P<gap> ?)(?P<unit>{_UNIT_NAMES})(?![\w/])", measure),
    (rf"{_W}(?P<gap> )(?P<unit>{_UNIT_NAMES})(?![\w/])", measure),
)

"""Amounts of money and measures with their units; names and symbols are those of CLDR, by way of babel."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from encheck.language.numbers.amounts import ABOUT, NO_OTHER, MentionOrReason, MentionReader
from encheck.language.numbers.mention import Mention, NumberForm, NumberPlace, Write
from encheck.language.numbers.numerals import (
    PLAIN,
    SCALE,
    SCALES,
    WORDS,
    NumberStyle,
    list_other_notations,
    list_values_at_distance,
    make_spoken_writer,
    parse_digits,
    spell_integer,
    value_of_number_words,
)

LOCALE = "en_US"
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "Rs": "INR", "Rs.": "INR", "rs": "INR"}
SAID = {"USD": "dollars", "EUR": "euros", "GBP": "pounds", "JPY": "yen", "INR": "rupees"}  # as people write them
SIGNS = {SAID[currency]: sign for sign, currency in CURRENCIES.items() if not sign[0].isalpha()}
MAX_DOLLARS_AND_CENTS = 100  # dollars and cents in words
MAX_WITH_CENTS = 1_000  # "a $40.00 ticket", not "$100,000.00 bail"
LETTERS = {"million": "m", "billion": "bn", "trillion": "tn"}
LONG = 12  # digits of a converted amount: more would be unusual


@dataclass(frozen=True, slots=True)
class MeasureUnit:
    """A unit by its name in CLDR; it is `times` its `smaller` unit, which is used up to `most` of the unit."""

    name: str
    smaller: str = ""
    times: int = 1
    most: int = 0


UNITS = {
    "length-kilometer": MeasureUnit("length-kilometer", "length-meter", 1_000, 9),
    "length-meter": MeasureUnit("length-meter", "length-centimeter", 100, 3),
    "length-centimeter": MeasureUnit("length-centimeter", "length-millimeter", 10, 100),
    "length-millimeter": MeasureUnit("length-millimeter"),
    "length-mile": MeasureUnit("length-mile"),
    "length-foot": MeasureUnit("length-foot", "length-inch", 12, 6),
    "length-inch": MeasureUnit("length-inch"),
    "length-yard": MeasureUnit("length-yard", "length-foot", 3, 30),
    "mass-kilogram": MeasureUnit("mass-kilogram", "mass-gram", 1_000, 5),
    "mass-gram": MeasureUnit("mass-gram"),
    "mass-milligram": MeasureUnit("mass-milligram"),
    "mass-pound": MeasureUnit("mass-pound"),
    "mass-ounce": MeasureUnit("mass-ounce"),
    "volume-liter": MeasureUnit("volume-liter", "volume-milliliter", 1_000, 5),
    "volume-milliliter": MeasureUnit("volume-milliliter"),
    "digital-gigabyte": MeasureUnit("digital-gigabyte"),
    "digital-megabyte": MeasureUnit("digital-megabyte"),
    "digital-kilobyte": MeasureUnit("digital-kilobyte"),
    "duration-second": MeasureUnit("duration-second"),
    "duration-millisecond": MeasureUnit("duration-millisecond"),
    "duration-minute": MeasureUnit("duration-minute", "duration-second", 60, 5),
    "duration-hour": MeasureUnit("duration-hour", "duration-minute", 60, 5),
    "duration-day": MeasureUnit("duration-day"),
    "duration-week": MeasureUnit("duration-week", "duration-day", 7, 6),
    "duration-month": MeasureUnit("duration-month"),
    "duration-year": MeasureUnit("duration-year", "duration-month", 12, 4),
}
BRITISH = {"kilometre": "length-kilometer", "metre": "length-meter", "centimetre": "length-centimeter",
           "millimetre": "length-millimeter", "litre": "volume-liter", "millilitre": "volume-milliliter"}  # fmt: skip
MORE = {"hrs": "duration-hour", "mins": "duration-minute", "secs": "duration-second", "lbs": "mass-pound",
        "GB": "digital-gigabyte", "MB": "digital-megabyte", "KB": "digital-kilobyte", "ms": "duration-millisecond",
        "gigs": "digital-gigabyte", "kilos": "mass-kilogram", "km": "length-kilometer", "min": "duration-minute",
        "ml": "volume-milliliter", "hr": "duration-hour", "sec": "duration-second"}  # fmt: skip
REFUSED = frozenset({"m", "in", "g", "s", "h", "d", "w", "y", "l", "L", "B", "month", "mths", "mth", "lb"})
MORE_OR_LESS = frozenset(["more", "less", "cheaper", "dearer"])
WORDY = frozenset(
    "minutes hours seconds days weeks months years miles feet inches yards pounds ounces metres meters".split()
)


@cache
def unit_names() -> dict[str, str]:
    """Return plural name of a unit in texts -> name in CLDR, from babel's names and abbreviations and encheck's own."""
    result: dict[str, str] = {}
    for name in UNITS:
        for length in ("long", "short"):
            result.setdefault(unit_name(name, length), name)
    for word, name in BRITISH.items():
        result[f"{word}s"] = name
    result |= MORE
    return {word: name for word, name in result.items() if word not in REFUSED}


@cache
def unit_name(name: str, length: str) -> str:
    """Return babel's plural of a unit: "kilometers", or "km" for the length short.

    >>> unit_name("length-kilometer", "long"), unit_name("length-kilometer", "short")
    ('kilometers', 'km')
    """
    from babel.units import format_unit

    return format_unit(2, name, length=length, locale=LOCALE).removeprefix("2").strip()  # type: ignore[arg-type]


@cache
def singular_unit_name(name: str) -> str:
    """Return babel's singular of a unit."""
    from babel.units import format_unit

    return format_unit(1, name, length="long", locale=LOCALE).removeprefix("1").strip()


def read_measure(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a number with a unit: in digits or words, with the unit's name or its abbreviation; some are converted."""
    text, gap, word = match["number"], match["gap"], match["unit"]
    name = unit_names()[word]
    count = value_of_number_words(text) if text[0].isalpha() else None
    value, style = (count, NumberStyle()) if count is not None else parse_digits(text)
    if value < 2 and not style.decimals:
        return "the number is one or zero, and any other would need a plural"
    is_wordy, capital = text[0].isalpha(), text[0].isupper()

    def write_in_same_notation(value: Fraction) -> str:
        return (_spell_whole_number(value, capital=capital) if is_wordy else style.write(value)) + gap + word

    # An abbreviated unit precedes the noun that it describes: "a 2 mm nodule".
    forms = (
        _forms_before_noun(style, word, name)
        if (spot.noun is not None or spot.pos_after() == "PROPN") and word not in WORDY and not word.endswith("s")
        else []
    )
    forms = forms or list(_measure_forms(value, style, word, name, is_wordy=is_wordy))
    if (smaller := UNITS[name].smaller) and _is_natural_in_smaller_unit(value, name, spot, is_wordy=is_wordy):
        forms.append(NumberForm(f"in {unit_name(smaller, 'long')}", _make_smaller_unit_writer(name, word)))
    least = Fraction(0) if style.decimals else Fraction(2)

    def other_values(distance: int) -> list[Fraction]:
        match = list_values_at_distance(value / style.size, decimals=style.decimals, distance=distance, minimum=least)
        return [v * style.size for v in match if v > 0 and v != 1]

    return Mention(spot.start, spot.end, "measure", value, write_in_same_notation, tuple(forms), other_values)


def _forms_before_noun(style: NumberStyle, word: str, name: str) -> list[NumberForm]:
    """Return the forms before a noun: "2-mm", "2-millimeter"."""
    single = singular_unit_name(name)
    return [NumberForm("hyphen", lambda v: f"{style.write(v)}-{word}")] + (
        [NumberForm("unit in full", lambda v: f"{style.write(v)}-{single}")] if single != word else []
    )


def _spell_whole_number(value: Fraction, *, capital: bool) -> str:
    words = spell_integer(value)
    return words[0].upper() + words[1:] if capital else words


def _measure_forms(value: Fraction, style: NumberStyle, word: str, name: str, *, is_wordy: bool) -> list[NumberForm]:
    long, short = unit_name(name, "long"), unit_name(name, "short")
    long = word if word in WORDY or word.removesuffix("s") in BRITISH else long
    result = []
    if is_wordy:
        return [NumberForm("digits", lambda v: f"{NumberStyle(commas=v >= 1_000).write(v)} {word}")]
    plain = () if style.decimals else list_other_notations(value, style)  # "two point eight kilograms" is unusual
    result += [NumberForm(form.name, partial(_write_with_unit, form.write, long)) for form in plain]
    if word != long:
        result.append(NumberForm("unit in full", lambda v: f"{style.write(v)} {long}"))
    elif (
        short not in REFUSED
        and short != long
        and not name.startswith(("duration-month", "duration-year", "duration-week", "duration-day"))
    ):
        result.append(NumberForm("abbreviation", lambda v: f"{style.write(v)} {short}"))
    return result


def _write_with_unit(write: Write, long: str, value: Fraction) -> str:
    return f"{write(value)} {long}"


def _is_natural_in_smaller_unit(value: Fraction, name: str, spot: NumberPlace, *, is_wordy: bool) -> bool:
    """Return whether the amount is also natural in the smaller unit."""
    kind = UNITS[name]
    if (
        value > kind.most
        or value * kind.times % 1
        or spot.is_modifier
        or spot.word_after() in ("old", "a", "per", "each")
    ):
        return False
    return value % 1 == 0 or not is_wordy


def _make_smaller_unit_writer(name: str, word: str) -> Write:
    kind = UNITS[name]
    smaller = unit_name(kind.smaller, "long")
    if word.removesuffix("s") in BRITISH:
        smaller = smaller.replace("meters", "metres").replace("liters", "litres")

    def write_value(value: Fraction) -> str:
        if value * kind.times % 1 or value > kind.most * LONG:
            raise ValueError(f"{value} is not said in {smaller}")
        count = value * kind.times
        return f"{NumberStyle(commas=count >= 1_000).write(count)} {smaller}"

    return write_value


def read_money(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read an amount of money with its sign: $40, £2.5m."""
    value, style = parse_digits(match["number"])
    is_coded = spot.previous_word.isupper() and len(spot.previous_word) <= 3 and spot.previous_word != "I"
    if is_coded or spot.word_after() in SAID.values():
        return NO_OTHER
    before, currency = match["sign"] + match["gap"], CURRENCIES[match["sign"]]
    scale = style.scale.strip()
    is_short = scale.lower() in ("k", "m", "b", "bn", "mn", "tn")
    word = {10**3: "thousand", 10**6: "million", 10**9: "billion", 10**12: "trillion"}.get(style.size)
    full = NumberStyle(style.commas, style.decimals, True, f" {word}") if is_short else style
    forms = []
    if is_short:
        forms.append(NumberForm("scale in full", lambda v: before + full.write(v)))
    elif scale in LETTERS:
        lettered = NumberStyle(style.commas, style.decimals, True, LETTERS[scale])
        forms.append(NumberForm("letter", lambda v: before + lettered.write(v)))
    if (not spot.is_modifier and spot.word_after() != "-") or spot.word_after() in MORE_OR_LESS:
        if value < 2 and not style.decimals:
            return NO_OTHER
        forms.append(NumberForm("name", lambda v: f"{full.write(v)} {SAID[currency]}"))
        forms += _money_in_words(value, style, currency)
        if scale in ("million", "billion") and value < 10**12:
            forms.append(NumberForm("noughts", lambda v: before + NumberStyle(commas=True).write(v)))
    else:
        forms += _money_before_noun(value, style, spot, before, currency)
    return _make_money_mention(spot, value, style, lambda v: before + style.write(v), tuple(forms))


def _money_in_words(value: Fraction, style: NumberStyle, currency: str) -> list[NumberForm]:
    """Return the amount in words."""
    if style.decimals == 2 and not style.scale and value < MAX_DOLLARS_AND_CENTS:
        return [NumberForm("words", partial(_dollars_and_cents, currency))]
    words = None if style.decimals else make_spoken_writer(value, style)
    return [NumberForm("words", lambda v: f"{words(v)} {SAID[currency]}")] if words else []


def _money_before_noun(
    value: Fraction, style: NumberStyle, spot: NumberPlace, before: str, currency: str
) -> list[NumberForm]:
    """Return the forms before a noun: "a $40.00 ticket", "a USD 4.50 ticket"."""
    if style.scale:
        return []
    if style.decimals:
        return [NumberForm("code", lambda v: f"{currency} {style.write(v)}")]
    is_small = value < MAX_WITH_CENTS and spot.word_before() not in ABOUT
    return [NumberForm("cents", lambda v: before + NumberStyle(style.commas, 2).write(v))] if is_small else []


def read_money_with_sign_behind(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read an amount with its sign after it: 50 $, 20€."""
    value, style = parse_digits(match["number"])
    sign, gap = match["sign"], match["gap"]

    def write_in_same_notation(value: Fraction) -> str:
        return style.write(value) + gap + sign

    forms = [NumberForm("sign before", lambda v: sign + style.write(v))]
    if not spot.is_modifier and (value >= 2 or style.decimals):
        forms.append(NumberForm("name", lambda v: f"{style.write(v)} {SAID[CURRENCIES[sign]]}"))
    return _make_money_mention(spot, value, style, write_in_same_notation, tuple(forms))


def _dollars_and_cents(currency: str, value: Fraction) -> str:
    """Return dollars and cents in words: "four dollars and fifty cents". Raise ValueError if either is zero."""
    large, small = divmod(value * 100, 100)
    if large < 2 or small < 2:
        raise ValueError(f"{value} is not said in two parts")
    cents = "pence" if currency == "GBP" else "cents"
    return f"{spell_integer(Fraction(large))} {SAID[currency]} and {spell_integer(small)} {cents}"


def _make_money_mention(
    spot: NumberPlace, value: Fraction, style: NumberStyle, write: Write, forms: tuple[NumberForm, ...]
) -> MentionOrReason:
    if (style.decimals > 2 and not style.scale) or spot.word_after() in SCALES:  # a rate of exchange
        return NO_OTHER

    def other_values(distance: int) -> list[Fraction]:
        result = list_values_at_distance(
            value / style.size,
            decimals=style.decimals,
            distance=distance,
            minimum=0,
            maximum=999 if style.scale else 10**13,
        )
        return [v * style.size for v in result if v > 0 and v * style.size != 1 and v != 1]

    return Mention(spot.start, spot.end, "money", value, write, forms, other_values)


def read_named_money(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read an amount of money with the currency's name: 5 dollars, two million euros."""
    text, word = match["number"], match["name"]
    count = value_of_number_words(text) if text[0].isalpha() else None
    value, style = (count, NumberStyle()) if count is not None else parse_digits(text)
    if value < 2 and not style.decimals:
        return NO_OTHER
    capital = text[0].isupper()

    def write_in_same_notation(value: Fraction) -> str:
        return f"{_spell_whole_number(value, capital=capital) if count is not None else style.write(value)} {word}"

    scale = next((n for n, s in (("billion", 10**9), ("million", 10**6)) if value >= s and value % (s // 10) == 0), "")
    signed = NumberStyle(commas=value >= 1_000) if count is not None else style
    if count is not None and scale:
        size = 10**9 if scale == "billion" else 10**6
        signed = NumberStyle(False, 1 if value % size else 0, True, f" {scale}")
    form = NumberForm("sign", lambda v: SIGNS[word] + signed.write(v))
    return _make_money_mention(spot, value, style, write_in_same_notation, (form,))


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
PATTERNS: tuple[tuple[str, MentionReader], ...] = (
    (rf"(?P<sign>[$€£¥₹]|[Rr]s\.?)(?P<gap> ?){_N}", read_money),
    (rf"{_N}(?P<gap> ?)(?P<sign>[$€£])(?! ?\d)", read_money_with_sign_behind),
    (rf"{_N} (?P<name>dollars|euros|yen|rupees)", read_named_money),
    (rf"{_W} (?P<name>dollars|euros|yen|rupees)", read_named_money),
    (rf"{_N}(?P<gap> ?)(?P<unit>{_UNIT_NAMES})(?![\w/])", read_measure),
    (rf"{_W}(?P<gap> )(?P<unit>{_UNIT_NAMES})(?![\w/])", read_measure),
)

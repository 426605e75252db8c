"""Dates, times, amounts and numbers: token patterns for spaCy's entity ruler, which never overwrites what was trained.

Patterns look at forms and at the tagger's tags, at nothing else, so the ruler runs without parser and lemmatiser.
Labels are those of OntoNotes: DATE, TIME, MONEY, PERCENT, QUANTITY, ORDINAL, CARDINAL.
"""

from __future__ import annotations

from typing import Any

Token = dict[str, Any]
Pattern = list[Token]

MONTHS = "January February April June July August September October November December".split()
SHORT = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
AMBIGUOUS = ["March", "May"]
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
SEASONS = "spring summer autumn fall winter".split()
HOLIDAYS = "christmas easter thanksgiving halloween hanukkah ramadan diwali".split()
PARTS = "morning afternoon evening night".split()
SPANS = "year month week weekend day decade century quarter fortnight semester".split()
CLOCK = "hour minute second".split()
POINTING = "last next this past previous coming following every each".split()
SHIFTS = "ago later earlier old before after".split()
MORE = "few several couple many some".split()
SCALES = "hundred thousand million billion trillion m bn k mn".split()
SIGNS = "$ £ € ¥ ₹ US$ A$ C$ HK$ NZ$ S$ USD EUR GBP Rs Rs. INR".split()
MONIES = "dollar euro cent yen rupee franc peso rouble ruble yuan krona crown penny shilling buck".split()
MONIES = [*MONIES, *(f"{m}s" for m in MONIES), "pence", "pennies", "usd", "eur", "gbp"]
UNITS = "mile kilometer kilometre meter metre centimeter centimetre millimeter millimetre foot inch yard pound ounce \
gram kilogram kilo ton tonne acre hectare liter litre gallon degree watt kilowatt megawatt volt byte megabyte gigabyte \
knot calorie".split()
UNITS = [
    *UNITS,
    *(f"{u}s" for u in UNITS),
    "feet",
    "inches",
    *"km cm mm kg lb lbs oz mph kph gb mb kb hz ghz mhz".split(),
]
ORDINALS = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth \
sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth hundredth thousandth".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
UNIT_ORDINALS = ["first", "second", *ORDINALS[:7]]
YEAR = r"^(?:1[6-9]\d[1-9]|1[6-9][1-9]0|1900|20\d\d)$"


def lower(*words: str, **more: Any) -> Token:
    return {"LOWER": {"IN": list(words)}, **more}


def like(regex: str, **more: Any) -> Token:
    return {"TEXT": {"REGEX": regex}, **more}


NUMBER: Token = {"LIKE_NUM": True, "TAG": {"NOT_IN": ["JJ", "RB", "NN", "LS"]}}
MONTH: Token = {"TEXT": {"IN": [*MONTHS, *map(str.upper, MONTHS), *SHORT, *(f"{m}." for m in SHORT)]}}
SPELLED: Token = {"TEXT": {"IN": AMBIGUOUS}, "TAG": {"IN": ["NNP", "NNPS"]}}
DAY_NUMBER = like(r"^(?:[12]?\d|3[01])(?:st|nd|rd|th)?$")
A_YEAR = like(YEAR)
COMMA: Token = {"TEXT": ",", "OP": "?"}
HYPHEN: Token = {"TEXT": {"IN": ["-", "–"]}}
THE: Token = {"LOWER": "the", "OP": "?"}


def maybe(token: Token) -> Token:
    return {**token, "OP": "?"}


def plural(words: list[str]) -> list[str]:
    return [w for word in words for w in (word, "centuries" if word == "century" else f"{word}s")]


def date_patterns() -> list[Pattern]:
    """Calendar dates, days, years, and dates that count from now."""
    weekday, often = lower(*DAYS), lower(*plural(DAYS))
    pointed = [THE, maybe(lower(*POINTING))]
    found: list[Pattern] = [
        [maybe(lower(*POINTING)), often],
        [lower("today", "yesterday", "tomorrow", *HOLIDAYS)],
        [A_YEAR],
        [THE, like(r"^(?:1[6-9]|20)\d0['’]?s$")],
        [THE, like(r"^['’]$"), like(r"^\d0s$")],
        [THE, like(r"^['’]?\d0['’]?s$")],
        [A_YEAR, {"TEXT": {"IN": ["-", "–", "/", "to"]}}, like(r"^(?:\d\d|(?:1[6-9]|20)\d\d)$")],
        [like(r"^\d{1,2}[/.]\d{1,2}[/.](?:\d\d){1,2}$")],
        [like(r"^(?:1[6-9]|20)\d\d$"), HYPHEN, like(r"^\d\d$"), HYPHEN, like(r"^\d\d$")],
        [like(r"^\d{1,2}$"), HYPHEN, like(r"^\d{1,2}$"), HYPHEN, A_YEAR],
        [THE, lower(*SEASONS), {"LOWER": "of", "OP": "?"}, A_YEAR],
        [lower(*POINTING), lower(*SEASONS)],
        [THE, like(r"^\d{1,2}(?:st|nd|rd|th)$"), lower("century", "centuries")],
        [THE, lower(*UNIT_ORDINALS, *ORDINALS), lower("century", "centuries")],
        [THE, lower(*POINTING), lower(*SPANS)],
        [*pointed, lower(*MORE), {"LOWER": "of", "OP": "?"}, lower(*plural(SPANS)), maybe(lower(*SHIFTS))],
        [*pointed, NUMBER, maybe(NUMBER), lower(*plural(SPANS)), maybe(lower(*SHIFTS))],
        [lower("a", "one"), lower(*SPANS), lower("ago", "later", "earlier")],
        [NUMBER, HYPHEN, lower(*SPANS), maybe(HYPHEN), maybe({"LOWER": "old"})],
        [lower("day"), lower("before", "after"), lower("yesterday", "tomorrow")],
    ]  # fmt: skip
    for month in (MONTH, SPELLED):
        found += [
            [maybe(weekday), COMMA, month, DAY_NUMBER],
            [maybe(weekday), COMMA, month, DAY_NUMBER, COMMA, A_YEAR],
            [maybe(lower("early", "late", "mid", *POINTING)), month],
            [month, COMMA, A_YEAR],
            [month, {"LOWER": "of"}, A_YEAR],
            [DAY_NUMBER, {"LOWER": "of", "OP": "?"}, month],
            [DAY_NUMBER, {"LOWER": "of", "OP": "?"}, month, COMMA, A_YEAR],
            [month, DAY_NUMBER, HYPHEN, DAY_NUMBER],
            [month, HYPHEN, month],
        ]
    return [p for pattern in found for p in without_leading_comma(pattern)]


def without_leading_comma(pattern: Pattern) -> list[Pattern]:
    """A date may hold a comma, but not begin with one: an optional weekday comes with its comma or not at all."""
    if len(pattern) > 1 and pattern[1] is COMMA and pattern[0].get("OP") == "?":
        return [[{k: v for k, v in pattern[0].items() if k != "OP"}, *pattern[1:]], pattern[2:]]
    return [pattern]


def time_patterns() -> list[Pattern]:
    """Times of day and spans of hours, minutes and seconds."""
    half = lower("am", "pm", "a.m.", "p.m.", "a.m", "p.m")
    zone = maybe({"TEXT": {"IN": ["GMT", "UTC", "EST", "EDT", "CST", "PST", "PDT", "ET", "PT", "CET", "BST"]}})
    clock = like(r"^(?:[01]?\d|2[0-4])[:.]?[0-5]\d(?::[0-5]\d)?$")
    hours = lower(*plural(CLOCK))
    return [
        [like(r"^(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?$"), maybe(half), zone],
        [clock, half, zone],
        [like(r"^(?:0?\d|1[0-2])$"), half, zone],
        [like(r"^(?:[01]?\d|2[0-4])(?::[0-5]\d)?(?:am|pm)$"), zone],
        [NUMBER, {"LOWER": {"IN": ["o'clock", "o’clock"]}}],
        [lower("tonight", "midnight", "noon", "midday")],
        [lower("yesterday", "tomorrow", *POINTING, *DAYS), lower(*PARTS)],
        [THE, maybe(lower(*POINTING)), NUMBER, maybe(NUMBER), hours, maybe(lower(*SHIFTS))],
        [lower(*MORE), {"LOWER": "of", "OP": "?"}, lower(*(f"{c}s" for c in CLOCK)), maybe(lower(*SHIFTS))],
        [lower("a", "an", "one"), lower(*CLOCK), lower("ago", "later", "earlier")],
        [NUMBER, HYPHEN, lower(*CLOCK)],
        [THE, lower("last", "past", "next"), lower("hour", "minute")],
    ]


def amount_patterns() -> list[tuple[str, Pattern]]:
    """Money, shares, measures."""
    sign: Token = {"TEXT": {"IN": SIGNS}}
    scale, many = lower(*SCALES), {**NUMBER, "OP": "+"}
    figure = like(r"^\d[\d,.]*(?:m|bn|k|mn|M|B|K)?$")
    percent = lower("%", "percent", "pct", "percentage")
    money: list[Pattern] = [
        [sign, figure, maybe(scale)],
        [sign, figure, HYPHEN, scale],
        [sign, figure, {"TEXT": {"IN": ["-", "–", "to"]}}, maybe(sign), figure, maybe(scale)],
        [many, lower(*MONIES)],
        [lower("a"), lower(*SCALES[:5]), lower(*MONIES)],
        [NUMBER, HYPHEN, lower(*MONIES)],
        [like(r"^(?:US|A|C)?[$£€]\d[\d,.]*(?:m|bn|k|M|B|K)?$"), maybe(scale)],
        [figure, sign],
        [{"TEXT": "Rs"}, {"TEXT": "."}, figure, maybe(scale)],
    ]
    share: list[Pattern] = [
        [many, percent, maybe(lower("point", "points"))],
        [many, {"LOWER": "per"}, {"LOWER": "cent"}],
        [NUMBER, HYPHEN, NUMBER, percent],
        [NUMBER, HYPHEN, lower("percent")],
        [like(r"^\d[\d,.]*%$")],
    ]
    measure: list[Pattern] = [
        [many, maybe(lower("square", "cubic", "metric", "nautical")), lower(*UNITS)],
        [NUMBER, HYPHEN, lower(*UNITS)],
    ]
    labelled = (("MONEY", money), ("PERCENT", share), ("QUANTITY", measure))
    return [(label, pattern) for label, patterns in labelled for pattern in patterns]


def number_patterns() -> list[tuple[str, Pattern]]:
    """Ordinals and what is left of the numbers."""
    tens, units = lower(*TENS), lower(*UNIT_ORDINALS)
    counted = {"LIKE_NUM": True, "TAG": "CD"}
    ordinals: list[Pattern] = [
        [like(r"^\d+(?:st|nd|rd|th)$")],
        [lower("first", TAG={"IN": ["JJ", "RB", "NNP"]})],
        [lower("second", *ORDINALS, TAG={"IN": ["JJ", "NNP"]})],
        [tens, HYPHEN, units],
    ]
    cardinals: list[Pattern] = [
        [{**counted, **like(YEAR.replace("^", "^(?!", 1).removesuffix("$") + "$)")}],
        [counted, {**counted, "OP": "+"}],
        [counted, lower(*SCALES[:5])],
        [counted, HYPHEN, counted],
        [{**counted, "OP": "?"}, lower(*SCALES[:3]), {"LOWER": "and"}, {**counted, "OP": "+"}],
        [counted, HYPHEN, lower("half", "third", "thirds", "quarter", "quarters", "fifth", "fifths")],
        [counted, lower("third", "thirds", "quarter", "quarters", "fifth", "fifths", TAG={"IN": ["NN", "NNS", "JJ"]})],
        [lower("dozens", "hundreds", "thousands", "millions", "billions", "trillions")],
        [maybe(lower("a")), lower("dozen", "hundred", "thousand", "million", "billion", "trillion")],
    ]
    return [*(("ORDINAL", p) for p in ordinals), *(("CARDINAL", p) for p in cardinals)]


def ruler_patterns() -> list[dict[str, Any]]:
    """All patterns in the form that spaCy's entity ruler takes."""
    found = [*(("DATE", p) for p in date_patterns()), *(("TIME", p) for p in time_patterns())]
    return [{"label": label, "pattern": p} for label, p in [*found, *amount_patterns(), *number_patterns()]]

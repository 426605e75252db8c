"""Dates, times, years and decades in their notations; names of months are from CLDR, through babel."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

from encheck.language.numbers.amounts import NO_OTHER, MentionOrReason, MentionReader
from encheck.language.numbers.mention import (
    IN_NAME,
    OF_NAME,
    RECENT,
    ROUND,
    YEAR_OR_COUNT,
    Mention,
    NumberForm,
    NumberPlace,
    begins_capitalised_name,
    describes_following_word,
    follows_capitalised_name,
    names_attack,
    names_unique_event,
    precedes_capital,
    years_between_events,
)
from encheck.language.numbers.numerals import (
    FAR,
    MIDDLE,
    list_integers_at_distance,
    ordinal_in_digits,
    spell_number,
    spell_ordinal,
)

LOCALE = "en_US"
LAST_DAY, MONTHS, LAST_YEAR = 28, 12, 2049
Day = tuple[int, int, int]  # year (0: none), month, day (0: none)
STEPS = {1: ((1, 2), (4, 6, 9), (20, 30, 40)), 4: ((4, 8), (12, 16), (20, 28, 40))}  # by frequency
DECADES = "twenties thirties forties fifties sixties seventies eighties nineties".split()
IN = frozenset("in since until till by before after from during of".split())
FORMULA = frozenset(["-", "/", "+", "=", ")", "#", "–", "$", "%", "am", "pm"])
ON = frozenset("on by of until till from since after before for between to".split())
AT = frozenset("at by until till from before after around about past".split())  # not "to": "rose to 1:30"
WEEKDAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun".split()
)
HALF = re.compile(r"\d ?[ap]\.?m\b", re.IGNORECASE)
ZONES = frozenset("gmt utc bst cet cest ist et est edt ct cst cdt mt mst mdt pt pst pdt".split())
CLOCK = {5: "five", 10: "ten", 15: "quarter", 20: "twenty", 25: "twenty-five", 30: "half"}


@cache
def month_names(width: str) -> tuple[str, ...]:
    """Return the names of the months, "wide" or "abbreviated"."""
    from babel.dates import get_month_names

    mentioned = get_month_names(width, locale=LOCALE)  # type: ignore[arg-type]
    return tuple(mentioned[number] for number in range(1, MONTHS + 1))


def month_number(name: str) -> int:
    """Return the number of a month from its name or first letters.

    >>> month_number("Mar."), month_number("September"), month_number("Sept")
    (3, 9, 9)
    """
    return [known[:3].lower() for known in month_names("wide")].index(name[:3].lower()) + 1


def format_date(day: Day, *, layout: str, width: str = "wide", mark: str = "") -> str:
    """Return the date in a layout: `{d}`, `{m}`, `{y}`, `{th}` (the day's ordinal), `{word}` (in words), `{dd}` and
    `{mm}`.

    >>> format_date((2024, 3, 5), layout="{d} {m} {y}"), format_date((2024, 3, 5), layout="{y}-{mm}-{dd}")
    ('5 March 2024', '2024-03-05')
    """
    year, month, number = day
    name = month_names(width)[month - 1] + (mark if width == "abbreviated" and month != 5 else "")
    return layout.format(
        d=number, dd=f"{number:02}", m=name, mm=f"{month:02}", y=year, th=ordinal_in_digits(number) if number else "",
        word=spell_ordinal(number) if number else "",
    )  # fmt: skip


def read_date(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a date with a month's name: 5 March 2024, March 5, the 5th of March, March 2024."""
    parts = match.groupdict()
    name = parts["month"]
    day, year = int(parts.get("day") or 0), int(parts.get("year") or 0)
    if day > 31 or (name == "May" and not day and not year) or (not day and not year):
        return None
    width = "wide" if len(name.rstrip(".")) > 3 or name == "May" else "abbreviated"
    if name[:4].lower() == "sept" and len(name.rstrip(".")) == 4:
        return NO_OTHER
    layout = _find_date_layout(match[0], parts)
    value: Day = (year, month_number(name), day)
    own = partial(format_date, layout=layout, width=width, mark="." if name.endswith(".") else "")
    if own(value) != match[0]:
        return NO_OTHER
    names = {name.lower() for width in ("wide", "abbreviated") for name in month_names(width)}
    if spot.word_before() in ("and", "or", ",", "to", "-", "/") and spot.word_before(2) in names:
        return "numbers that depend on each other"
    if not year and names_attack(spot):
        return IN_NAME
    is_named = spot.word_before() in WEEKDAYS or (spot.word_before() == "," and spot.word_before(2) in WEEKDAYS)
    if is_named and year and day:
        return "a date with its weekday"
    forms = tuple(_other_date_forms(value, layout, width))
    if spot.is_modifier or spot.word_before() not in ON:
        forms = tuple(form for form in forms if not form.name.startswith(("the ", "{y}")))
    return Mention(spot.start, spot.end, "date", value, own, forms, partial(_nearby_days, value))


def _find_date_layout(text: str, parts: dict[str, str | None]) -> str:
    """Return the layout of the text."""
    result = text.replace(str(parts["month"]), "{m}")
    if parts.get("year"):
        result = result[::-1].replace(str(parts["year"])[::-1], "}y{", 1)[::-1]
    if day := parts.get("day"):
        ends = parts.get("th") or ""
        result = result.replace(f"{day}{ends}", "{th}" if ends else "{d}", 1)
    return result


def _other_date_forms(value: Day, layout: str, width: str) -> list[NumberForm]:
    year, _, day = value
    if not day:
        other_width = "abbreviated" if width == "wide" else "wide"
        return [NumberForm(f"month {other_width}", partial(format_date, layout=layout, width=other_width, mark="."))]
    layouts = ["{m} {d}, {y}", "{d} {m} {y}", "{y}-{mm}-{dd}"] if year else ["{m} {d}", "{d} {m}", "the {th} of {m}"]
    layouts.append("the {word} of {m}" + (" {y}" if year else ""))
    if layout.startswith("the "):
        layouts = layouts[:2]
    plain = layout.replace("{th}", "{d}")
    return [NumberForm(one, partial(format_date, layout=one)) for one in layouts if one not in (layout, plain)]


def _nearby_days(value: Day, distance: int) -> list[Day]:
    year, month, day = value
    if not day:
        return [
            (year, m, 0)
            for m in list_integers_at_distance(month, distance, ((1,), (2, 3), (5, 6)), minimum=1, maximum=MONTHS)
        ]
    if distance == FAR:
        return [(year, m, day) for m in range(1, MONTHS + 1) if abs(m - month) > 1 and day <= LAST_DAY]
    return [
        (year, month, d)
        for d in list_integers_at_distance(day, distance, ((1, 2), (5, 8, 11), ()), minimum=1, maximum=LAST_DAY)
    ]


def read_date_in_figures(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a date in figures: 2024-03-05, or 3/25/2024 if the day cannot be a month."""
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    if match["sep"] == "/" and (month > MONTHS) == (day > MONTHS):
        return "a date that can be read in two ways"
    swapped = month > MONTHS
    month, day = (day, month) if swapped else (month, day)
    if not (1 <= month <= MONTHS and 1 <= day <= 31):
        return NO_OTHER
    value: Day = (year, month, day)
    if match["sep"] == "-":
        layout = "{y}-{mm}-{dd}"
    else:
        padded = len(match["month"]) == 2 and len(match["day"]) == 2
        first, second = ("{dd}", "{mm}") if padded else ("{d}", str(month))
        layout = f"{first}/{second}/{{y}}" if swapped else f"{second}/{first}/{{y}}"
    own = partial(format_date, layout=layout)
    if own(value) != match[0]:
        return NO_OTHER

    def other_values(distance: int) -> list[Day]:
        return [
            d
            for d in _nearby_days(value, min(distance, MIDDLE) if layout.count("{m") == 0 else distance)
            if d[2] > MONTHS or match["sep"] == "-"
        ]

    forms = tuple(NumberForm(one, partial(format_date, layout=one)) for one in ("{d} {m} {y}", "{m} {d}, {y}"))
    return Mention(spot.start, spot.end, "date", value, own, forms, other_values)


def read_year(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a year alone: "in 1998", "the 1998 season"; in a name only if the event recurs ("the 1998 World Cup")."""
    value, before = int(match["year"]), spot.word_before()
    if spot.word_after() == ":" or follows_capitalised_name(spot):
        return IN_NAME
    if _counts_things(value, spot):
        return None
    if describes_following_word(spot) and (reason := _why_not_described_year(spot)):
        return reason
    if before in IN and not spot.is_modifier:
        forms = [NumberForm("the year", lambda v: f"the year {v}")]
        if _has_two_digit_form(value) and value < 2000:
            forms.append(NumberForm("two figures", _year_in_two_digits))
    elif 1100 <= value <= LAST_YEAR:
        if (
            not _has_two_digit_form(value)
            or spot.tag_after() == "CD"
            or before in FORMULA
            or spot.word_after() in FORMULA
        ):
            return "a year by itself"
        forms = [NumberForm("two figures", _year_in_two_digits)]
    else:
        return None
    every = years_between_events(spot) or 1

    def other_values(distance: int) -> list[int]:
        low, high = (1930, 2019) if [form.name for form in forms] == ["two figures"] else (1000, LAST_YEAR)
        return list_integers_at_distance(value, distance, STEPS[every], minimum=low, maximum=high)

    return Mention(spot.start, spot.end, "year", value, str, tuple(forms), other_values)


def _counts_things(value: int, spot: NumberPlace) -> bool:
    """Return whether a number of the size of a year counts things: "2000 people", "1500 Chinese workers"."""
    if spot.word_before() == "the" or not spot.counts_many or spot.tag != "CD" or begins_capitalised_name(spot):
        return False
    return value not in RECENT or value % ROUND == 0


def _why_not_described_year(spot: NumberPlace) -> str:
    """Return why a year that describes a noun is left alone, or "" if a different year is equally good English."""
    if names_unique_event(spot) or (precedes_capital(spot) and not years_between_events(spot)):
        return OF_NAME
    return YEAR_OR_COUNT if not precedes_capital(spot) and spot.counts_many and spot.word_before() != "the" else ""


def _has_two_digit_form(value: int) -> bool:
    """Return whether two digits identify the year."""
    return 1930 <= value < 2020 and value != 2000


def _year_in_two_digits(value: int) -> str:
    """Return the year in two digits. Raise ValueError if the century would be unclear."""
    if not _has_two_digit_form(value):
        raise ValueError(f"{value} is not said by two figures")
    return f"\u2019{value % 100:02}"


def read_decade(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a decade: the 1990s, the nineties."""
    text = match["decade"]
    value = 1920 + 10 * DECADES.index(text.lower()) if text[0].isalpha() else int(re.sub(r"\D", "", text))
    value = value + 1900 if value < 100 else value
    if not 1920 <= value <= 1990 or value % 10:
        return NO_OTHER
    if precedes_capital(spot):
        return IN_NAME
    mark = {"19": "{0}s", "'": "'{1}s", "\u2019": "\u2019{1}s"}.get(text[:2] if text[0].isdigit() else text[0], "")

    def write_in_names(value: int) -> str:
        return DECADES[(value - 1920) // 10]

    def write_in_same_notation(value: int) -> str:
        return mark.format(value, value % 100) if mark else write_in_names(value)

    if write_in_same_notation(value) != text:
        return NO_OTHER
    form = NumberForm("words", write_in_names) if mark else NumberForm("figures", lambda v: f"{v}s")

    def other_values(distance: int) -> list[int]:
        return list_integers_at_distance(value, distance, ((10,), (20, 30), (40, 50, 60)), minimum=1920, maximum=1990)

    return Mention(spot.start, spot.end, "decade", value, write_in_same_notation, (form,), other_values)


def read_time(match: re.Match[str], spot: NumberPlace) -> MentionOrReason:
    """Read a time of day: 7:15 p.m., 7pm, 19:15, and after "at" 7:30."""
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"] or ""
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        return _read_time_with_am_or_pm(match, spot, hour, minute, half)
    if not match["minute"] or spot.word_before() not in AT:
        return "figures that may not be a time" if match["minute"] else None
    padded = len(match["hour"]) == 2
    if hour > 12 or (padded and hour < 10):
        value = (hour, minute)
        own: Callable[[tuple[int, int]], str] = partial(_format_24_hours, padded=padded)
        forms: tuple[NumberForm, ...] = (NumberForm("12 hours", _format_12_hours),)
        return _make_time_mention(spot, value, own, forms, range(13, 24) if hour > 12 else range(1, 10))
    if minute % 15:
        return NO_OTHER
    return _make_time_mention(
        spot,
        (hour, minute),
        partial(_format_24_hours, padded=False),
        (NumberForm("words", _time_in_words),),
        range(1, 13),
    )


def _read_time_with_am_or_pm(
    match: re.Match[str], spot: NumberPlace, hour: int, minute: int, half: str
) -> MentionOrReason:
    afternoon = half.strip().lower().startswith("p")
    value = (hour % 12 + 12 * afternoon, minute)
    bare = not match["minute"]

    def write_in_same_notation(value: tuple[int, int]) -> str:
        return f"{value[0] % 12 or 12}{'' if bare else f':{value[1]:02}'}{half}"

    alone = len(HALF.findall(spot.parse.text)) == 1  # not "from 7 pm until 04:00"
    forms = [NumberForm("24 hours", partial(_format_24_hours, padded=True))] if alone else []
    if minute % 15 == 0 and ZONES.isdisjoint((spot.word_after(), spot.word_after(2))):
        forms.append(NumberForm("words", _time_and_part_of_day_in_words))
    return _make_time_mention(
        spot, value, write_in_same_notation, tuple(forms), range(12, 24) if afternoon else range(12)
    )


def _make_time_mention(
    spot: NumberPlace, value: tuple[int, int], write: Callable[..., str], forms: tuple[NumberForm, ...], hours: range
) -> Mention:
    def other_values(distance: int) -> list[tuple[int, int]]:
        return [
            (h, value[1])
            for h in list_integers_at_distance(
                value[0], distance, ((1,), (2, 3), (4, 5, 6, 7)), minimum=hours[0], maximum=hours[-1]
            )
        ]

    return Mention(spot.start, spot.end, "time", value, write, forms, other_values)


def _format_24_hours(value: tuple[int, int], *, padded: bool) -> str:
    return f"{value[0]:0{2 if padded else 1}}:{value[1]:02}"


def _format_12_hours(value: tuple[int, int]) -> str:
    return f"{value[0] % 12 or 12}:{value[1]:02} {'pm' if value[0] >= 12 else 'am'}"


def _time_and_part_of_day_in_words(value: tuple[int, int]) -> str:
    """Return the time in words with the part of the day: seven in the evening; ValueError around midnight and noon."""
    hour, minute = value
    if hour in (0, 12) or hour < 5 or (hour in (11, 23) and minute == 45):
        raise ValueError(f"{hour}:{minute:02} is not said so")
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
    clock = _time_in_words((hour % 12, minute)).removesuffix(" o\u2019clock")
    return f"{clock} {part if hour < 22 else 'at night'}"


def _time_in_words(value: tuple[int, int]) -> str:
    """Return the time in words: half past two."""
    hour, minute = value
    if minute == 0:
        return f"{spell_number(hour)} o\u2019clock"
    if minute == 45:
        return f"quarter to {spell_number(hour % 12 + 1)}"
    return f"{'half' if minute == 30 else 'quarter'} past {spell_number(hour)}"


_MONTH = (
    r"(?P<month>January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?)"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>[12]\d{3})"
PATTERNS: tuple[tuple[str, MentionReader], ...] = (
    (rf"{_YEAR}(?P<sep>-)(?P<month>\d\d)-(?P<day>\d\d)", read_date_in_figures),
    (r"(?P<month>\d{1,2})(?P<sep>/)(?P<day>\d{1,2})/(?P<year>[12]\d{3})", read_date_in_figures),
    (rf"{_MONTH} {_DAY}(?P<th>st|nd|rd|th)?(?: ?,)? {_YEAR}", read_date),
    (rf"(?P<the>the )?{_DAY}(?P<th>st|nd|rd|th)? (?:of )?{_MONTH}(?: ?,)? {_YEAR}", read_date),
    (rf"{_MONTH} {_DAY}(?P<th>st|nd|rd|th)?(?![\d:])", read_date),
    (rf"(?P<the>the )?{_DAY}(?P<th>st|nd|rd|th)? (?:of )?{_MONTH}(?! \d)", read_date),
    (rf"{_MONTH} (?:of )?{_YEAR}", read_date),
    (r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?P<half> ?(?i:[ap]\.m\.|[ap]m))", read_time),
    (r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?P<half>)", read_time),
    (rf"(?P<decade>19[2-9]0s|['\u2019][2-9]0s|(?<=the )(?:{'|'.join(DECADES)}))", read_decade),
)
YEAR: tuple[tuple[str, MentionReader], ...] = ((r"(?P<year>1[1-9]\d\d|20[0-4]\d)", read_year),)

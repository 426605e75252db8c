"""Another word of the phrase that a number stands in: its unit, currency, month, half of the day, or what it counts.

The number stays, and the text says something else of the same place: "12 people" and "12 women", "5 minutes" and
"5 hours". Where no other word of these tables fits, there is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from encheck.language.numbers.mention import Mention, Spot
from encheck.language.parse import Parse


class Elsewhere(NamedTuple):
    """Characters `start` to `end` of a text, and the other word for them."""

    start: int
    end: int
    text: str


UNITS = dict(
    pair.split(">")
    for pair in """
    seconds>minutes minutes>hours hours>days days>weeks weeks>months months>years years>months miles>yards
    kilometers>miles kilometres>miles km>miles meters>feet metres>feet feet>meters inches>centimeters
    yards>miles pounds>kilograms kilograms>pounds kilos>pounds kg>lbs lbs>kg grams>ounces ounces>grams
    liters>gallons litres>gallons gigabytes>megabytes megabytes>gigabytes GB>MB MB>GB KB>MB gigs>megabytes
    mins>hours hrs>days secs>minutes cm>inches hour>day minute>hour day>week week>month month>week year>month
    mile>kilometer inch>centimeter pound>kilogram dollars>euros euros>dollars yen>dollars rupees>dollars
    """.split()
)
OF_AGE = re.compile(r"\S+[- ]years?[- ](?:old|of age)")
SIGNS = {"$": "€", "€": "$", "£": "€", "¥": "$", "₹": "$"}
HALVES = {"am": "pm", "pm": "am", "a.m.": "p.m.", "p.m.": "a.m.", "AM": "PM", "PM": "AM"}
MONTHS = dict(
    pair.split(">")
    for pair in """January>May February>June March>August April>September May>October June>November July>December
    August>March September>April October>January November>June December>July Jan>Oct Feb>Jun Mar>Aug Apr>Sep Jun>Nov
    Jul>Dec Aug>Mar Sep>Apr Oct>Jan Nov>Jun Dec>Jul""".split()
)
COUNTED = dict(  # what can stand in the same places: of as common words
    pair.split(">")
    for pair in """people>women men>women women>men children>adults adults>children boys>girls girls>boys sons>daughters
    daughters>sons brothers>sisters sisters>brothers kids>adults students>teachers teachers>students pupils>teachers
    workers>managers employees>customers customers>employees soldiers>civilians civilians>soldiers troops>civilians
    patients>doctors doctors>nurses nurses>doctors players>coaches officers>civilians officials>reporters members>guests
    guests>members passengers>drivers drivers>passengers lawyers>doctors companies>schools firms>schools banks>shops
    countries>cities nations>cities states>cities cities>villages towns>villages villages>towns schools>hospitals
    hospitals>schools houses>shops homes>shops shops>schools stores>offices offices>shops rooms>floors buildings>streets
    cars>bikes bikes>cars trucks>cars buses>trains trains>buses planes>ships ships>planes books>films films>books
    movies>books songs>poems albums>books articles>books pages>chapters chapters>pages letters>emails emails>letters
    calls>emails messages>calls dogs>cats cats>dogs horses>cows birds>dogs fish>birds apples>oranges eggs>apples
    deaths>injuries injuries>deaths goals>fouls games>seasons matches>games seasons>games wins>losses losses>wins
    reasons>examples questions>answers answers>questions ways>reasons examples>reasons problems>advantages
    photos>videos pictures>videos videos>pictures photographs>paintings songs>albums files>folders
    buttons>lights phones>computers computers>phones cameras>phones batteries>chargers screens>keyboards lamps>chairs
    chairs>tables tables>chairs days>weeks weeks>months nights>weekends lives>jobs jobs>homes votes>seats seats>votes
    points>games witnesses>lawyers suspects>witnesses victims>witnesses bombs>rockets rockets>bombs
    attacks>arrests arrests>attacks charges>warnings rivers>lakes lakes>rivers islands>lakes mountains>rivers
    courses>exams exams>courses subjects>teachers languages>instruments brothers>cousins parties>meetings""".split()
)


def elsewhere(parse: Parse, one: Mention) -> Elsewhere | None:
    """Another word for one in the phrase of a number; None if there is none, or where it stands twice."""
    spot = Spot(parse, one.start, one.end)
    found = _within(parse, one) or _behind(spot)
    if found is None:
        return None
    own = parse.text[found.start : found.end]
    again = re.findall(rf"(?<!\w){re.escape(own)}(?!\w)", parse.text) if own.isalpha() else [own]
    return found if len(again) == 1 and found.text.lower() not in parse.lower_words else None


def _within(parse: Parse, one: Mention) -> Elsewhere | None:
    """A unit, a sign, a month or a half of the day in the number itself."""
    text = parse.text[one.start : one.end]
    if OF_AGE.match(parse.text[one.start :]):
        return None
    for table in (SIGNS,) if one.kind == "money" else ({"date": MONTHS, "time": HALVES}.get(one.kind, UNITS),):
        for found in re.finditer(r"[^\W\d_]+(?:\.[^\W\d_]\.)?|[$€£¥₹]", text):
            if found[0] in table and not (one.kind == "date" and _is_last_day(text)):
                return Elsewhere(one.start + found.start(), one.start + found.end(), table[found[0]])
    return None


def _is_last_day(text: str) -> bool:
    """Whether a date is of the end of a month, which not each month has."""
    return re.search(r"\b(?:29|30|31)(?!\d)", text) is not None


def _behind(spot: Spot) -> Elsewhere | None:
    """The noun that is counted."""
    noun = spot.noun
    if noun is None or spot.parse.words[noun] not in COUNTED:
        return None
    return Elsewhere(spot.parse.starts[noun], spot.parse.ends[noun], COUNTED[spot.parse.words[noun]])

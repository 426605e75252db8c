"""The numbers in a text that have a second notation, except those in addresses, code and names.

Other numbers in the text can require the same notation, and words that presuppose a number can require its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from encheck.language.numbers import amounts, measures, moments
from encheck.language.numbers.amounts import NO_OTHER, MentionReader
from encheck.language.numbers.mention import Mention, NumberForm, NumberPlace
from encheck.language.numbers.numerals import ORDINAL_WORDS, WORDS
from encheck.language.parse import Parse
from encheck.language.prose import find_unedited_spans, why_not_edited

PARALLEL = "beside another number in the same notation"
PRESUPPOSED = "a number that the text presupposes"
PLAIN = frozenset(["cardinal", "decimal", "measure", "label", "fraction", "compound", "range"])
COUNTED = ("cardinal", "decimal")
COMMAS = frozenset(["commas", "without commas"])
LONG = re.compile(r"\d{1,3},\d|\d{4}")
FIGURE = {  # patterns of a kind of number elsewhere in a text
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
MAX_SPELLED_IN_TECHNICAL_TEXT = 20  # of technical texts
GRANTED = frozenset("the these those that both its his her their our".split())
BOTH = re.compile(r"\b(?:both|between)\b", re.IGNORECASE)
NAMED = re.compile(r"^(?: [\w'’-]+){1,4} ?, (?:[\w'’`.-]+,? ){1,8}and [\w'’`-]+")
MAX_LISTED_NAMES = 10


def keep_natural_forms(parse: Parse, mention: Mention, mentions: Sequence[Mention]) -> Mention | str:
    """Return the number with the notations that its text allows, or the reason why none is left."""
    if is_presupposed(parse, mention):
        return PRESUPPOSED
    if _shares_notation_with_another(parse, mention, mentions):
        return PARALLEL
    forms = tuple(form for form in mention.forms if not _is_unnatural_form(parse, mention, form, mentions))
    return replace(mention, forms=forms) if forms else PARALLEL


def is_presupposed(parse: Parse, mention: Mention) -> bool:
    """Return whether the text presupposes the number: "the two", "between six cities", "two towns, Bonn and Köln"."""
    if mention.kind not in ("cardinal", "measure", "range"):
        return False
    spot = NumberPlace(parse, mention.start, mention.end)
    if any(spot.word_before(k) == "between" for k in (1, 2, 3)):
        return True
    if mention.kind == "range" or mention.value > MAX_LISTED_NAMES:
        return False
    is_granted = spot.word_before() in GRANTED or (
        spot.word_before() in ("top", "other") and spot.word_before(2) in GRANTED
    )
    if mention.value == 2 and (is_granted or BOTH.search(parse.text)):
        return True
    return mention.kind == "cardinal" and NAMED.match(parse.text[mention.end :]) is not None


def _shares_notation_with_another(parse: Parse, mention: Mention, mentions: Sequence[Mention]) -> bool:
    """Return whether another number of its kind has the notation that it would give up."""
    if mention.kind == "date":
        return sum(other.kind == "date" for other in mentions) > 1
    if mention.kind in ("money", "percentage", "time", "score"):
        return _occurs_elsewhere(mention, parse.text)
    if mention.kind not in PLAIN:
        return False
    digits = _is_in_digits(mention, parse.text)
    result = _find_other_counts(parse, mention, mentions, digits=digits)
    if not digits and mention.kind != "compound":
        return bool(result)
    return mention.kind not in COUNTED and any(_kind_at(at, mentions) == mention.kind for at in result)


def _is_unnatural_form(parse: Parse, mention: Mention, form: NumberForm, mentions: Sequence[Mention]) -> bool:
    """Return whether the number's form would be unnatural in that text."""
    if form.name == "two figures":
        return _occurs_elsewhere(mention, parse.text)
    if mention.kind not in PLAIN or not _is_in_digits(mention, parse.text):
        return False
    converts = form.name.startswith("in ")
    others = _find_other_counts(parse, mention, mentions, digits=True)
    if form.name in COMMAS:
        return any(LONG.match(parse.text, at) for at in others)
    if mention.kind in COUNTED and any(_kind_at(at, mentions) in ("", *COUNTED) for at in others):
        return True
    if form.name != "words" and not converts:
        return False
    if others:
        return True
    most = max(mention.value) if isinstance(mention.value, tuple) else mention.value
    return not converts and most > MAX_SPELLED_IN_TECHNICAL_TEXT and TECHNICAL.search(parse.text) is not None


def _occurs_elsewhere(mention: Mention, text: str) -> bool:
    return any(not mention.start <= match.start() < mention.end for match in FIGURE[mention.kind].finditer(text))


def _is_in_digits(mention: Mention, text: str) -> bool:
    return any(sign.isdigit() for sign in text[mention.start : mention.end])


def _find_other_counts(parse: Parse, mention: Mention, mentions: Sequence[Mention], *, digits: bool) -> list[int]:
    """Return the starts of other numbers in the text that count or measure, in digits or words."""
    result = []
    for i, (start, word) in enumerate(zip(parse.starts, parse.words, strict=True)):
        if mention.start <= start < mention.end or parse.tags[i] != "CD" or any(map(str.isdigit, word)) is not digits:
            continue
        if word.lower() == "one" and mention.kind == "measure":
            continue
        kind = _kind_at(start, mentions)
        if kind in PLAIN or (not kind and not _is_year_time_money_or_name(parse, i)):
            result.append(start)
    return result


def _kind_at(start: int, mentions: Sequence[Mention]) -> str:
    """Return the kind of the number there; "" if none was found."""
    return next((other.kind for other in mentions if other.start <= start < other.end), "")


def _is_year_time_money_or_name(parse: Parse, at: int) -> bool:
    """Return whether a number is a year, a time, money, a percentage, or part of a name or a date."""
    spot = NumberPlace(parse, parse.starts[at], parse.ends[at])
    around = f"{spot.word_before()} {parse.words[at]} {spot.word_after()}"
    return any(pattern.search(around) for pattern in FIGURE.values()) or (at > 0 and parse.pos[at - 1] == "PROPN")


NONE = "no number"
MAYBE = re.compile(rf"\d|\b(?i:{WORDS}|{ORDINAL_WORDS})\b")
FIXED = re.compile(
    r"""\b(?:9/11|24/7|50[-/]50|20/20|9-1-1|911|7-11|two\ by\ four|(?i:catch)-22|(?i:one|two|three)-(?:on|to|by)-\w+
    |(?i:world\ war\ (?:one|two))|(?i:one|two)\ or\ (?:two|three)|(?i:the\ four\ corners)|(?i:on\ all\ fours)
    |(?:S&P|Poor's|Poors|Fortune|Nasdaq|NASDAQ|FTSE|Russell|CAC|Nikkei)\ \d+
    |(?i:second|third|two)-(?:hand|rate|guess\w*|faced|fold|way|time|tone|party|class)|(?i:fifth\ column)|401\(?k\)?
    |\d-way|(?i:8\ mile|big\ 12|(?:two|2)-timing)|(?i:(?:2|4|two|four|all)[- ]wheel)
    |(?i:hundred|thousand|million)s?\ of|(?i:mp\ ?[34])|(?i:forty|fifty)-niners?|360-degree)""",
    re.VERBOSE,
)
DIGIT = re.compile(r"\d")
SPELLED = "seven"  # part of each pattern for number words: sevens, sevenths and seventies
FIGURES = 3  # enough digits to rule out coincidence
COUNTS = re.compile(  # signs of a further count
    r"\b(?:neither|both|either|latter|former|respectively|another|the (?:others?|rest|remain\w+|two|three)"
    r"|between (?:them|the))\b"
    r"|^[^.;]*\S: |, one (?!of)|\bone (?:is|was|of (?:them|whom|which))\b",
    re.IGNORECASE,
)
FROM_TO = re.compile(r"\bfrom \S*\d\S* to \S*\d")
LEFT, RIGHT = (
    r"(?<!\d \. )(?<![\w$€£¥%.,;/:#@\\^~*+\-\u2013])",
    r"(?![\w@\\^*+]|[.,:;/]\d| \. ?\d|[-\u2013]\w|/\w)",
)
TIED = frozenset(
    ["to", "and", "or", "-", "–", "/", "x", "of", "in", "out", "vs", "versus", "&", ":", "by", "vs.", "--", "—"]
)
NAMES = ("PER", "ORG", "LOC")


@cache
def _select_patterns(*, has_digits: bool) -> tuple[tuple[re.Pattern[str], MentionReader], ...]:
    """Return the patterns for numbers, in order of precedence; without digits in the text, only those for words."""
    every = (*moments.PATTERNS, *measures.PATTERNS, *amounts.PERCENT, *moments.YEAR, *amounts.PATTERNS)
    every = every if has_digits else tuple(one for one in every if SPELLED in one[0])
    return tuple((re.compile(f"{LEFT}(?:{pattern}){RIGHT}"), maker) for pattern, maker in every)


def find_number_mentions(parse: Parse) -> tuple[Mention, ...] | str:
    """Return the numbers in a text that have a second notation, in order; or the reason why there are none."""
    text = parse.text
    if not MAYBE.search(text):
        return NONE
    if left := why_not_edited(text):
        return left
    reasons: list[str] = []
    result = list(_match_patterns(parse, reasons))
    kept, clashes = [], []
    for mention in result:
        if not mention.forms:
            continue
        if reason := _why_not_independent(parse, mention):
            reasons.append(reason)
            continue
        changed = keep_natural_forms(parse, mention, result)
        if isinstance(changed, Mention):
            kept.append(changed)
        else:
            clashes.append(changed)
    reasons += clashes
    return tuple(sorted(kept, key=lambda m: m.start)) or (reasons[0] if reasons else NO_OTHER if result else NONE)


def _match_patterns(parse: Parse, reasons: list[str]) -> Iterator[Mention]:
    """Yield the numbers by each pattern in turn; later patterns skip what an earlier one has matched or refused."""
    text = parse.text
    taken = [*find_unedited_spans(text), *(match.span() for match in FIXED.finditer(text))]
    for pattern, maker in _select_patterns(has_digits=DIGIT.search(text) is not None):
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < b and a < end for a, b in taken):
                continue
            mention = maker(match, NumberPlace(parse, start, end))
            if mention is None:
                continue
            taken.append((start, end))
            if isinstance(mention, Mention):
                yield mention
            else:
                reasons.append(mention)


def _why_not_independent(parse: Parse, mention: Mention) -> str:
    """Return the reason against a number in a name, repeated in the text, or tied to other numbers; otherwise ""."""
    spot = NumberPlace(parse, mention.start, mention.end)
    tokens = range(spot.first, spot.after)
    if any(parse.entities[i][2:] in NAMES for i in tokens) and mention.kind not in ("version", "code", "product"):
        return "part of a name"
    if any(parse.ends[i] > mention.end or parse.starts[i] < mention.start for i in tokens):
        return "part of a word"
    written = parse.text[mention.start : mention.end]
    if len(re.findall(rf"(?<!\w){re.escape(written)}(?!\w)", parse.text)) > 1:
        return "a number that appears twice"
    # The same digits occur elsewhere with other signs: "$12.50" and "1250".
    digits = re.sub(r"\D", "", written)
    every = [re.sub(r"\D", "", result) for result in re.findall(r"\d[\d.,]*", parse.text)]
    if len(digits) >= FIGURES and every.count(digits) > 1:
        return "a number that appears twice"
    if mention.kind not in ("range", "score", "code", "version") and _is_compared_with_neighbour(spot):
        return "numbers that depend on each other"
    # A comma separates it from another number in digits: "1.1, 1.5 and 2.0".
    if mention.kind in ("cardinal", "decimal") and (
        (spot.word_after() == "," and spot.tag_after(2) == "CD")
        or (spot.word_before() == "," and spot.first >= 2 and spot.parse.tags[spot.first - 2] == "CD")
    ):
        return "numbers that depend on each other"
    return "a number that the text goes on to count" if _is_confirmed_later(mention, parse.text) else ""


def _is_confirmed_later(mention: Mention, text: str) -> bool:
    """Return whether later text confirms the number: "two died; neither", "by 20%, from 30 to 24"."""
    behind = text[mention.end :]
    if mention.kind == "cardinal":
        return COUNTS.search(behind) is not None
    return mention.kind == "percentage" and FROM_TO.search(behind) is not None


def _ends_a_range(spot: NumberPlace) -> bool:
    """Return whether "from" or "between" is shortly before it, followed by a number."""
    tags, first = spot.parse.tags, spot.first
    return any(
        spot.word_before(k) in ("from", "between") and tags[first - k + 1] in ("CD", "$")
        for k in range(2, min(8, first + 1))
    )


def _is_compared_with_neighbour(spot: NumberPlace) -> bool:
    """Return whether it is compared with a neighbouring number: "from 5 to 7", "two of three"."""
    if spot.word_after() in TIED and (
        spot.tag_after(2) == "CD" or (spot.word_after(2) in ("of", "the") and spot.tag_after(3) == "CD")
    ):
        return True
    if spot.word_before() in ("between",) or (spot.word_before() == "from" and spot.word_after() == "to"):
        return True
    if spot.word_before() in ("to", "and") and _ends_a_range(spot):
        return True
    at = spot.first
    if "out" in (spot.word_after(), spot.word_before(2)) and "of" in (spot.word_after(2), spot.word_before()):
        return True
    if at >= 3 and (spot.word_before(2), spot.word_before()) == ("of", "the") and spot.parse.tags[at - 3] == "CD":
        return True
    return spot.word_before() in TIED and at >= 2 and spot.parse.tags[at - 2] == "CD"

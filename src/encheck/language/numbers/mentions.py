"""The numbers of a text that can be written otherwise; never those in addresses, code and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from encheck.language.numbers import amounts, measures, moments
from encheck.language.numbers.amounts import NO_OTHER, Maker
from encheck.language.numbers.company import held
from encheck.language.numbers.mention import Mention, Spot
from encheck.language.numbers.words import ORDINAL_WORDS, WORDS
from encheck.language.parse import Parse
from encheck.language.prose import left_spans, why_left

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
SPELLED = "seven"  # stands in each pattern that reads number words: of sevens, sevenths and seventies
FIGURES = 3  # digits that are no chance
COUNTS = re.compile(  # what is counted once more
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
def _patterns(*, has_digits: bool) -> tuple[tuple[re.Pattern[str], Maker], ...]:
    """What finds numbers, in the order in which it takes them; of a text without digits what reads words alone."""
    every = (*moments.PATTERNS, *measures.PATTERNS, *amounts.PERCENT, *moments.YEAR, *amounts.PATTERNS)
    every = every if has_digits else tuple(one for one in every if SPELLED in one[0])
    return tuple((re.compile(f"{LEFT}(?:{pattern}){RIGHT}"), maker) for pattern, maker in every)


def mentions(parse: Parse) -> tuple[Mention, ...] | str:
    """The numbers of a text that can be written otherwise, in order; or the reason why there is none."""
    text = parse.text
    if not MAYBE.search(text):
        return NONE
    if left := why_left(text):
        return left
    reasons: list[str] = []
    found = list(_found(parse, reasons))
    free = [held(parse, m, found) for m in found if m.forms and _is_free(parse, m, reasons)]
    kept = [m for m in free if isinstance(m, Mention)]
    reasons += [m for m in free if isinstance(m, str)]
    return tuple(sorted(kept, key=lambda m: m.start)) or (reasons[0] if reasons else NO_OTHER if found else NONE)


def _found(parse: Parse, reasons: list[str]) -> Iterator[Mention]:
    """The numbers by each pattern in turn; what one has taken, or refused, no later one looks at."""
    text = parse.text
    taken = [*left_spans(text), *(found.span() for found in FIXED.finditer(text))]
    for pattern, maker in _patterns(has_digits=DIGIT.search(text) is not None):
        for found in pattern.finditer(text):
            start, end = found.span()
            if any(start < b and a < end for a, b in taken):
                continue
            made = maker(found, Spot(parse, start, end))
            if made is None:
                continue
            taken.append((start, end))
            if isinstance(made, Mention):
                yield made
            else:
                reasons.append(made)


def _is_free(parse: Parse, one: Mention, reasons: list[str]) -> bool:
    """Whether it stands in no name, once in the text, and hangs on no other number."""
    reason = _why_not(parse, one)
    if reason:
        reasons.append(reason)
    return not reason


def _why_not(parse: Parse, one: Mention) -> str:
    spot = Spot(parse, one.start, one.end)
    tokens = range(spot.first, spot.after)
    if any(parse.entities[i][2:] in NAMES for i in tokens) and one.kind not in ("version", "code", "product"):
        return "part of a name"
    if any(parse.ends[i] > one.end or parse.starts[i] < one.start for i in tokens):
        return "part of a word"
    said = parse.text[one.start : one.end]
    if len(re.findall(rf"(?<!\w){re.escape(said)}(?!\w)", parse.text)) > 1:
        return "a number that appears twice"
    if _stands_in_other_figures(parse.text, said):
        return "a number that appears twice"
    if one.kind not in ("range", "score", "code", "version") and _is_tied(spot):
        return "numbers that depend on each other"
    if one.kind in ("cardinal", "decimal") and _is_listed(spot):
        return "numbers that depend on each other"
    return "a number that the text goes on to count" if _is_counted(one, parse.text) else ""


def _stands_in_other_figures(text: str, said: str) -> bool:
    """Whether the same digits stand elsewhere with other signs: "$12.50" and "1250"."""
    digits = re.sub(r"\D", "", said)
    every = [re.sub(r"\D", "", found) for found in re.findall(r"\d[\d.,]*", text)]
    return len(digits) >= FIGURES and every.count(digits) > 1


def _is_counted(one: Mention, text: str) -> bool:
    """Whether what follows has as many: "two died; neither", "three things: a, b and c", "by 20%, from 30 to 24"."""
    behind = text[one.end :]
    if one.kind == "cardinal":
        return COUNTS.search(behind) is not None
    return one.kind == "percentage" and FROM_TO.search(behind) is not None


def _is_listed(spot: Spot) -> bool:
    """Whether a comma divides it from another number in digits: "1.1, 1.5 and 2.0"."""
    behind = spot.next() == "," and spot.next_tag(2) == "CD"
    return behind or (spot.before() == "," and spot.first >= 2 and spot.parse.tags[spot.first - 2] == "CD")


def _ends_a_range(spot: Spot) -> bool:
    """Whether "from" or "between" stands shortly before, with a number behind it."""
    tags, first = spot.parse.tags, spot.first
    return any(
        spot.before(k) in ("from", "between") and tags[first - k + 1] in ("CD", "$")
        for k in range(2, min(8, first + 1))
    )


def _is_tied(spot: Spot) -> bool:
    """Whether another number stands beside it that it is measured by: "from 5 to 7", "two of three"."""
    if spot.next() in TIED and (
        spot.next_tag(2) == "CD" or (spot.next(2) in ("of", "the") and spot.next_tag(3) == "CD")
    ):
        return True
    if spot.before() in ("between",) or (spot.before() == "from" and spot.next() == "to"):
        return True
    if spot.before() in ("to", "and") and _ends_a_range(spot):
        return True
    at = spot.first
    if "out" in (spot.next(), spot.before(2)) and "of" in (spot.next(2), spot.before()):
        return True
    if at >= 3 and (spot.before(2), spot.before()) == ("of", "the") and spot.parse.tags[at - 3] == "CD":
        return True
    return spot.before() in TIED and at >= 2 and spot.parse.tags[at - 2] == "CD"

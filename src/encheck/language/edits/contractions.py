"""Contractions with one certain full form, such as "do not" and "don't"; not a lone "'s" or "'d"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from encheck.types import Edit

_NOT = "do|does|did|is|are|was|were|has|have|had|would|could|should|must|need"
_NEXT = r"(?=\s+\w)"  # no contraction at the end of a clause: "that is what it is."
# Not in a question with its subject after the auxiliary: "Why can't people vote?", "Which fish can't the cat eat?"
_DETERMINER = "the|an?|this|that|these|those|my|your|his|her|its|our|their|people"
_SUBJECT = rf"\s+(?:(?:[Ii]|you|he|she|it|we|they)\b|(?:{_DETERMINER})\b[^.!]*\?)"
_NO_QUESTION = r"(?i:(?<!why )(?<!how )(?<!what )(?<!where )(?<!when ))\b"
_INSIDE = rf"(?<!^){_NO_QUESTION}"
_IMPERATIVE = r"(?![^.!]*\?)"
# not "I know where you are now"
_PLAIN = r"(?i:(?<!where )(?<!how )(?<!who )(?<!what )(?<!than )|(?=\w+ (?:am|are|is) \w+ing\b))"
_NOT_HERE = r"(?i:(?<!\bhere ))"  # not "Here I am again", but "Here it is warm"
SHORT = [
    (re.compile(rf"{_INSIDE}({_NOT}) not\b{_NEXT}"), r"\1n't"),
    (re.compile(rf"{_NO_QUESTION}([Dd]o) not\b{_NEXT}{_IMPERATIVE}"), r"\1n't"),
    (re.compile(rf"{_INSIDE}will not\b{_NEXT}"), "won't"),
    (re.compile(rf"{_INSIDE}cannot\b{_NEXT}"), "can't"),
    (re.compile(rf"{_NOT_HERE}{_PLAIN}\b(I) am\b{_NEXT}"), r"\1'm"),
    (re.compile(rf"{_NOT_HERE}{_PLAIN}\b(you|we|they) are\b{_NEXT}", re.IGNORECASE), r"\1're"),
    (re.compile(rf"\b(I|you|he|she|it|we|they) will\b(?! not){_NEXT}", re.IGNORECASE), r"\1'll"),
    (re.compile(rf"{_PLAIN}\b(it|that) is\b(?! not){_NEXT}", re.IGNORECASE), r"\1's"),
    (re.compile(rf"(?<!\w )\b(there|here) is\b(?! not){_NEXT}", re.IGNORECASE), r"\1's"),  # not "Parking here is free"
    (re.compile(r"\b(there) is\b(?= (?:a|an|no|some|one|such)\b)"), r"\1's"),
]
LONG = [
    (re.compile(rf"{_INSIDE}({_NOT})n['’]t\b(?!{_SUBJECT})"), r"\1 not"),
    (re.compile(rf"{_NO_QUESTION}([Dd]o)n['’]t\b(?!{_SUBJECT}){_IMPERATIVE}"), r"\1 not"),
    (re.compile(rf"{_INSIDE}won['’]t\b(?!{_SUBJECT})"), "will not"),
    (re.compile(rf"{_INSIDE}can['’]t\b(?!{_SUBJECT})"), "cannot"),
    (re.compile(r"\b(I)['’]m\b"), r"\1 am"),
    (re.compile(r"\b(you|we|they)['’]re\b", re.IGNORECASE), r"\1 are"),
    (re.compile(r"\b(I|you|he|she|it|we|they)['’]ll\b", re.IGNORECASE), r"\1 will"),
    (re.compile(r"\b(there|here)['’]s\b(?= (?:a|an|the|no|some|one)\b)", re.IGNORECASE), r"\1 is"),
]
LONGEST = [*LONG, (re.compile(r"\b(it|that|there|here)['’]s\b", re.IGNORECASE), r"\1 is")]


def find_contraction_edits(text: str) -> Iterator[Edit]:
    """Yield the edits that expand the text's contractions, or contract it if it has none.

    >>> [(e.start, e.end, e.text) for e in find_contraction_edits("They do not know that I am late.")]
    [(5, 11, "don't"), (22, 26, "I'm")]
    """
    if not text.isupper():
        yield from _find_edits(text, LONG) or _find_edits(text, SHORT)


def expand_contractions(text: str) -> str:
    """Return the text with expanded contractions.

    >>> expand_contractions("We can't say that they're wrong.")
    'We cannot say that they are wrong.'
    """
    if "'" not in text and "’" not in text:
        return text
    for pattern, put in LONGEST:
        text = pattern.sub(put, text)
    return text


def _find_edits(text: str, rules: list[tuple[re.Pattern[str], str]]) -> list[Edit]:
    match = [Edit(m.start(), m.end(), m.expand(put)) for pattern, put in rules for m in pattern.finditer(text)]
    match.sort(key=lambda edit: edit.start)
    return [e for i, e in enumerate(match) if i == 0 or e.start >= match[i - 1].end]

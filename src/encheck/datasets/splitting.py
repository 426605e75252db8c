"""Split long texts into passages of similar length, in any language.

Length is counted in words; each Chinese, Japanese, Korean or Thai character counts as one, as for tokenizers, and so do
twenty characters without a blank. The cut is after a sentence if one ends in the second half of a passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\s\u0e00-\u0e7f\u3040-\u30ff"
                  r"\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{1,20}")  # fmt: skip
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？]|\n\s*\n")

CLOSING = 4  # characters, within which a sentence ends
CUT = re.compile(r"[^\S\n]*\n\s*|(?<=[.!?…])(?P<closing>[\"'”’)\]]*)\s+(?=[\"'“‘(\[]*[A-Z0-9])|(?<=[。！？])")
SHORTENED = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sen|Rep|Gov|Gen|Col|Capt|Sgt|Jr|Sr|Inc|Corp|Ltd|Co|vs|al|approx|Fig|No|Nos"
    r"|Vol|Eq|Ref|cf|ca|i\.e|e\.g|a\.m|p\.m|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Lt|Maj|Adm|Rev|Hon|Mt|Ave"
    r"|Bros|Dept|Assn|Univ)|\.[A-Za-z])\.$"
)


def words_of(text: str) -> int:
    """The number of words in a text.

    >>> words_of("Three plain words"), words_of("三个字")
    (3, 3)
    """
    return sum(1 for _ in WORD.finditer(text))


def sentences(text: str) -> list[str]:
    r"""The sentences of a text with a proper beginning and end; a sentence does not span lines, and headings are left
    out.

    >>> sentences("# Returns\n\nDr. Lee has 14 days. Then e.g. a fee is due.")
    ['Dr. Lee has 14 days.', 'Then e.g. a fee is due.']
    """
    has_capitals = text != text.lower()
    return [
        one
        for one in _pieces(text)
        if SENTENCE_END.search(one, max(len(one) - CLOSING, 0)) and not (has_capitals and one[0].islower())
    ]


def _pieces(text: str) -> Iterator[str]:
    """The pieces between ends of lines and of sentences."""
    start = 0
    for cut in CUT.finditer(text):
        is_sentence = cut["closing"] is not None
        if is_sentence and SHORTENED.search(text[start : cut.start()]):
            continue
        yield text[start : cut.end("closing") if is_sentence else cut.start()].strip()
        start = cut.end()
    yield text[start:].strip()


def split(text: str, *, words: int) -> list[str]:
    """The passages of a text, each of at most `words` words; white space between sentences is kept.

    >>> split("One two three. Four five. Six seven eight nine.", words=6)
    ['One two three. Four five.', 'Six seven eight nine.']
    """
    found = [(one.start(), one.end()) for one in WORD.finditer(text)]
    if len(found) <= words:
        return [text.strip()] if text.strip() else []
    ends = {one.end() for one in SENTENCE_END.finditer(text)}
    return [text[found[a][0] : found[b - 1][1]].strip() for a, b in _spans(found, ends, words)]


def _spans(found: list[tuple[int, int]], ends: set[int], words: int) -> Iterator[tuple[int, int]]:
    """(first word, word after the last) of each passage; the remainder is distributed evenly."""
    at = 0
    while (left := len(found) - at) > 0:
        size = ceil(left / ceil(left / words))
        stop = at + size if left > words else len(found)
        full = min(at + words, len(found))
        behind = [i for i in range(at + max(size // 2, 1), full + 1) if (found[i - 1][1] in ends)]
        if stop < len(found) and behind:
            stop = min(behind, key=lambda i: (abs(i - stop), i))
        yield at, stop
        at = stop

"""Split long texts into passages of similar length, in any language.

A passage is counted in words; a Chinese, Japanese, Korean or Thai character is one, since tokenizers take it so, and so
are twenty characters without a blank. A cut stands behind a sentence where one ends in the second half of a passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

WORD = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\s\u0e00-\u0e7f\u3040-\u30ff"
                  r"\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{1,20}")  # fmt: skip
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s|$)|[。！？]|\n\s*\n")


def split(text: str, *, words: int) -> list[str]:
    """The passages of a text, none of more than `words` words; white space between sentences is kept as it is.

    >>> split("One two three. Four five. Six seven eight nine.", words=6)
    ['One two three. Four five.', 'Six seven eight nine.']
    """
    found = [(one.start(), one.end()) for one in WORD.finditer(text)]
    if len(found) <= words:
        return [text.strip()] if text.strip() else []
    ends = {one.end() for one in SENTENCE_END.finditer(text)}
    return [text[found[a][0] : found[b - 1][1]].strip() for a, b in _spans(found, ends, words)]


def _spans(found: list[tuple[int, int]], ends: set[int], words: int) -> Iterator[tuple[int, int]]:
    """(first word, word behind the last) of each passage; what is left is shared out evenly."""
    at = 0
    while (left := len(found) - at) > 0:
        size = ceil(left / ceil(left / words))
        stop = at + size if left > words else len(found)
        full = min(at + words, len(found))
        behind = [i for i in range(at + max(size // 2, 1), full + 1) if _ends_sentence(found[i - 1][1], ends)]
        if stop < len(found) and behind:
            stop = min(behind, key=lambda i: (abs(i - stop), i))
        yield at, stop
        at = stop


def _ends_sentence(end: int, ends: set[int]) -> bool:
    """Whether a sentence ends where this word does; its end mark is a word of its own in some languages."""
    return end in ends

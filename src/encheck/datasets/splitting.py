"""Split long texts into passages of similar length, in any language.

Length is counted in words. A Chinese, Japanese, Korean or Thai character counts as one word, as it does for tokenizers,
and so do twenty characters without a blank. A passage ends after a sentence if a sentence ends in its second half.
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


def count_words(text: str) -> int:
    """Return the number of words in a text.

    >>> count_words("Three plain words"), count_words("三个字")
    (3, 3)
    """
    return sum(1 for _ in WORD.finditer(text))


def split_sentences(text: str) -> list[str]:
    r"""Return the sentences of a text that begin and end properly.

    A sentence does not continue on the next line. Headings are left out.

    >>> split_sentences("# Returns\n\nDr. Lee has 14 days. Then e.g. a fee is due.")
    ['Dr. Lee has 14 days.', 'Then e.g. a fee is due.']
    """
    has_capitals = text != text.lower()
    return [
        one
        for one in _cut_at_line_and_sentence_ends(text)
        if SENTENCE_END.search(one, max(len(one) - CLOSING, 0)) and not (has_capitals and one[0].islower())
    ]


def _cut_at_line_and_sentence_ends(text: str) -> Iterator[str]:
    """Yield the pieces of a text between ends of lines and sentences."""
    start = 0
    for cut in CUT.finditer(text):
        is_sentence = cut["closing"] is not None
        if is_sentence and SHORTENED.search(text[start : cut.start()]):
            continue
        yield text[start : cut.end("closing") if is_sentence else cut.start()].strip()
        start = cut.end()
    yield text[start:].strip()


def split_passages(text: str, *, words: int) -> list[str]:
    """Split a text into passages of at most `words` words. White space between sentences is kept.

    >>> split_passages("One two three. Four five. Six seven eight nine.", words=6)
    ['One two three. Four five.', 'Six seven eight nine.']
    """
    word_spans = [(one.start(), one.end()) for one in WORD.finditer(text)]
    if len(word_spans) <= words:
        return [text.strip()] if text.strip() else []
    ends = {one.end() for one in SENTENCE_END.finditer(text)}
    return [
        text[word_spans[a][0] : word_spans[b - 1][1]].strip() for a, b in _passage_word_spans(word_spans, ends, words)
    ]


def _passage_word_spans(word_spans: list[tuple[int, int]], ends: set[int], words: int) -> Iterator[tuple[int, int]]:
    """Yield (first word, word after the last) of each passage. Extra words are spread evenly over the passages."""
    at = 0
    while (left := len(word_spans) - at) > 0:
        size = ceil(left / ceil(left / words))
        stop = at + size if left > words else len(word_spans)
        full = min(at + words, len(word_spans))
        behind = [i for i in range(at + max(size // 2, 1), full + 1) if (word_spans[i - 1][1] in ends)]
        if stop < len(word_spans) and behind:
            stop = min(behind, key=lambda i: (abs(i - stop), i))
        yield at, stop
        at = stop

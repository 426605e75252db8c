"""Replace words of a parsed sentence: inflect the new word, adjust the article, and check the tags afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from encheck.language.edits.articles import OPENING, articles
from encheck.language.edits.inflection import BASE_OF, formed
from encheck.language.edits.substitutes import has_form
from encheck.language.english import English, Replaced, Tagged
from encheck.language.parse import Parse
from encheck.types import Edit, apply_edits

BEFORE = OPENING | {"a", "an"}
COMPARED = {"JJR": "RBR", "JJS": "RBS", "RBR": "RBR", "RBS": "RBS"}  # tag of "more" or "most" before them
Window = tuple[int, int]  # its first token, and the one after its last
Words = Mapping[int, str]  # position of a token -> the new word


def form(parse: Parse, at: int, lemma: str) -> str | None:
    """The lemma in the form of the word at `at`, or None if it has no such form or the sentence contains it already."""
    tag, old, lower = parse.tags[at], parse.words[at], parse.lowers[at]
    if not has_form(lower, parse.lower_lemmas[at], tag):
        return None
    word = formed(lemma, tag, like=old)
    return None if word is None or word.lower() in parse.lower_words else word


def put(english: English, parse: Parse, words: Words) -> Replaced | None:
    """The edits for these words, and the new text; None if the words have other tags there.

    Raises Waiting until the tagger has run. The result is cached, since levels, seeds and generators repeat it.
    """
    key = (parse.text, *words.items())
    if key not in english.decided:
        change = edits(parse, words)
        text = apply_edits(parse.text, change)
        # In the new text, the tagger must give the new words the tags of the old ones.
        windows = _windows(parse, words, english.pipeline.reach)
        tagged = english.tags_of([_text(parse, window, change) for window in windows])
        english.decided[key] = (
            (change, text)
            if all(_keeps(parse, words, window, found) for window, found in zip(windows, tagged, strict=True))
            else None
        )
    return english.decided[key]


def edits(parse: Parse, words: Words) -> tuple[Edit, ...]:
    """The edits for `words`, including a changed article before them, also before an opening quote."""
    placed = words
    for at in words:
        if at and parse.lowers[at - 1] in BEFORE:
            tokens = [words.get(i, word) for i, word in enumerate(parse.words)]
            placed = articles(tokens, changed=words.keys()) | dict(words)
            break
    return tuple([Edit(parse.starts[i], parse.ends[i], placed[i]) for i in sorted(placed)])


def _windows(parse: Parse, words: Words, reach: int | None) -> list[Window]:
    """The windows of tokens that determine the tags of these words; overlapping windows are merged."""
    result: list[Window] = []
    for at in sorted(words):
        first, after = _window(parse, at, reach)
        if result and first < result[-1][1]:
            result[-1] = result[-1][0], after
        else:
            result.append((first, after))
    return result


def _window(parse: Parse, at: int, reach: int | None) -> Window:
    """The window of tokens that determines a token's tag, bounded by blanks; otherwise the whole text.

    The tokenizer works between blanks, so it finds the same tokens in the window alone.
    """
    if reach is None:
        return 0, len(parse)
    first, after = max(at - reach, 0), min(at + reach + 1, len(parse))
    while not _is_open(parse, first):
        first -= 1
    while not _is_open(parse, after):
        after += 1
    return first, after


def _is_open(parse: Parse, at: int) -> bool:
    """Whether a single blank separates a token from the one before it; also at the text's beginning and end."""
    if at in (0, len(parse)):
        return True
    between = parse.text[parse.ends[at - 1] : parse.starts[at]]
    return between == " " and not parse.words[at].isspace() and not parse.words[at - 1].isspace()


def _text(parse: Parse, window: Window, change: Sequence[Edit]) -> str:
    """The text of a window with the edits inside it."""
    start = parse.starts[window[0]] if window[0] else 0
    end = parse.ends[window[1] - 1] if window[1] < len(parse) else len(parse.text)
    inside = (Edit(e.start - start, e.end - start, e.text) for e in change if start <= e.start and e.end <= end)
    return apply_edits(parse.text[start:end], tuple(inside))


def _keeps(parse: Parse, words: Words, window: Window, tagged: Tagged) -> bool:
    """Whether the new words of a window have the tags of the old ones, and its other tokens are unchanged.

    "more expensive" has the tags of a comparative adverb and a plain adjective.
    """
    first, after = window
    tokens, tags = tagged
    for at in (i for i in words if first <= i < after):
        tag, parts = parse.tags[at], tuple(words[at].split(" "))
        wanted = (tag,) if len(parts) == 1 else (COMPARED.get(tag), BASE_OF.get(tag))
        here = at - first + _more(words, first, at)
        there = slice(here, here + len(parts))
        if tokens[there] != parts or tags[there] != wanted:
            return False
    return len(tokens) == after - first + _more(words, first, after)


def _more(words: Words, first: int, after: int) -> int:
    """The number of tokens that the new words add in a part of the text."""
    return sum(word.count(" ") for at, word in words.items() if first <= at < after)

"""Replace words of a parsed sentence: the form of the word that goes, the article before it, the tags afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from encheck.language.edits.articles import OPENING, articles
from encheck.language.edits.inflection import BASE_OF, formed
from encheck.language.edits.substitutes import has_form
from encheck.language.english import English, Replaced, Tagged
from encheck.language.parse import Parse
from encheck.types import Edit, apply_edits

BEFORE = OPENING | {"a", "an"}
COMPARED = {"JJR": "RBR", "JJS": "RBS", "RBR": "RBR", "RBS": "RBS"}  # tag of "more" or "most" in their place
Window = tuple[int, int]  # its first token, one past its last
Words = Mapping[int, str]  # position of a token -> the word that takes its place


def form(parse: Parse, at: int, lemma: str) -> str | None:
    """The lemma in the form of the word at `at`, or None if there is none or the sentence has the word already."""
    tag, old, lower = parse.tags[at], parse.words[at], parse.lowers[at]
    if not has_form(lower, parse.lower_lemmas[at], tag):
        return None
    word = formed(lemma, tag, like=old)
    return None if word is None or word.lower() in parse.lower_words else word


def put(english: English, parse: Parse, words: Words) -> Replaced | None:
    """The edits that put these words in their places, and the text they make; None if their tags are others there.

    Raises Waiting where the tagger was not asked yet. Decided once: further levels, seeds and generators try it again.
    """
    key = (parse.text, *words.items())
    if key not in english.decided:
        change = edits(parse, words)
        text = apply_edits(parse.text, change)
        # The tagger gives the new words, in the text that the edits make, the tags of the old ones.
        windows = _windows(parse, words, english.pipeline.reach)
        tagged = english.tags_of([_text(parse, window, change) for window in windows])
        english.decided[key] = (
            (change, text)
            if all(_keeps(parse, words, window, found) for window, found in zip(windows, tagged, strict=True))
            else None
        )
    return english.decided[key]


def edits(parse: Parse, words: Words) -> tuple[Edit, ...]:
    """The edits that put `words` in their places, an article before them repaired, past an opening quote too."""
    placed = words
    for at in words:
        if at and parse.lowers[at - 1] in BEFORE:
            tokens = [words.get(i, word) for i, word in enumerate(parse.words)]
            placed = articles(tokens, changed=words.keys()) | dict(words)
            break
    return tuple([Edit(parse.starts[i], parse.ends[i], placed[i]) for i in sorted(placed)])


def _windows(parse: Parse, words: Words, reach: int | None) -> list[Window]:
    """The tokens that decide about the tags of these words; what overlaps is one window."""
    result: list[Window] = []
    for at in sorted(words):
        first, after = _window(parse, at, reach)
        if result and first < result[-1][1]:
            result[-1] = result[-1][0], after
        else:
            result.append((first, after))
    return result


def _window(parse: Parse, at: int, reach: int | None) -> Window:
    """The tokens around one that decide about its tag, as far as the blanks before and after them; else the whole text.

    Blanks divide what the tokenizer looks at, so that it finds the same tokens in the window alone.
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
    """Whether nothing but one blank stands between a token and the one before it, or where the text begins or ends."""
    if at in (0, len(parse)):
        return True
    between = parse.text[parse.ends[at - 1] : parse.starts[at]]
    return between == " " and not parse.words[at].isspace() and not parse.words[at - 1].isspace()


def _text(parse: Parse, window: Window, change: Sequence[Edit]) -> str:
    """The text of a window with the edits that lie in it."""
    start = parse.starts[window[0]] if window[0] else 0
    end = parse.ends[window[1] - 1] if window[1] < len(parse) else len(parse.text)
    inside = (Edit(e.start - start, e.end - start, e.text) for e in change if start <= e.start and e.end <= end)
    return apply_edits(parse.text[start:end], tuple(inside))


def _keeps(parse: Parse, words: Words, window: Window, tagged: Tagged) -> bool:
    """Whether the new words of a window have the tags of the old ones, and no other token came or went there.

    "more expensive" has those of an adverb that compares and of a plain adjective.
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
    """How many tokens more the new words make in a part of the text."""
    return sum(word.count(" ") for at, word in words.items() if first <= at < after)

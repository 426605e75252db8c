"""Replace words of a parsed sentence: inflect the new word, adjust the article, and check the tags afterwards.

The article, a or an, follows the first sound of the next word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from encheck.language.edits.inflection import BASE_OF, inflect_or_keep_like
from encheck.language.edits.substitutes import has_form_of_tag
from encheck.language.english import English, Replacement, Tagged
from encheck.language.parse import Parse
from encheck.types import Edit, apply_edits

SILENT_H = re.compile(r"hour|honest|honou?r|heir")
CONSONANT_O = re.compile(r"one(?!ir|rous)|once|ouija")  # pronounced with a w
CONSONANT_E = re.compile(r"eu|ewe")  # pronounced with a y
UN_PREFIX = re.compile(r"un(?!i|anim|esco)|uni(?:d(?!i)|gn|ll|m|n|ssu|r(?:on|rit))|urug")  # the prefix, as in "unable"
YOU_SOUND = re.compile(
    r"u(?:$|-|[bcfgkrstv][aeiouy]|ni|nanim|nesco|kr|k$|ta|tr)"
)  # use, union, unanimous, Ukraine, Utah
SPELLED = "AEFHILMNORSX"
SAID_AS_WORDS = frozenset({"LAN", "RAM", "ROM", "SIM", "MAC", "NAS", "SAM"})
OPENING = frozenset(['"', "'", "“", "‘", "«", "`", "``", "(", "[", "{"])  # signs between article and word
NUMBER = re.compile(r"[$€£#]?(\d[\d,]*)")


def choose_article(word: str, *, capitals: bool = False) -> str:
    """Return the article before a word, in lower case; in a text all in `capitals` no word is an acronym.

    >>> [choose_article(w) for w in ("hour", "university", "European", "one-off", "umbrella", "unimportant", "hero")]
    ['an', 'a', 'a', 'a', 'an', 'an', 'a']
    >>> [choose_article(w) for w in ("FBI", "UN", "NATO", "MRI", "US", "X-ray", "U.S.", "8", "11", "18", "10", "1,800")]
    ['an', 'a', 'a', 'an', 'a', 'an', 'a', 'an', 'an', 'an', 'a', 'a']
    """
    bare = word.lstrip("\"'“”‘’([`")
    number = NUMBER.match(bare)
    if number:
        return "an" if _number_starts_with_vowel_sound(number[1]) else "a"
    letters = re.match(r"[^\W\d_]+", bare)
    if letters is None:
        return "a"
    if not capitals and _is_spelled_out(bare, letters[0]):
        return "an" if letters[0][0] in SPELLED else "a"
    return "an" if _word_starts_with_vowel_sound(letters[0].lower()) else "a"


def _number_starts_with_vowel_sound(digits: str) -> bool:
    """Return whether a number begins with eight, or with eleven or eighteen as a separate word."""
    if digits[0] == "8":
        return True
    groups = digits.split(",")
    whole = groups[0] if len(groups) > 1 else digits
    leading = whole[:2] if len(whole) in (2, 5, 8) or (len(whole) == 4 and len(groups) == 1) else ""
    return leading in ("11", "18")


def _is_spelled_out(word: str, letters: str) -> bool:
    """Return whether letters are spelled out: a single capital (X-ray, U.S.), or capitals that do not form a word."""
    if len(letters) == 1:
        return letters.isupper() and len(word) > 1
    head = re.match(r"[A-Z]+(?=s?(?:$|[^A-Za-z]))", word)
    if head is None or head[0] in SAID_AS_WORDS:
        return False
    return len(head[0]) <= 3 or not re.search(r"[AEIOUY]", head[0])


def _word_starts_with_vowel_sound(word: str) -> bool:
    """Decide by spelling, with a list of exceptions in pronunciation."""
    first = word[0]
    if first == "h":
        return bool(SILENT_H.match(word))
    if first == "y":
        return len(word) > 1 and word[1] not in "aeiou"  # Yvonne, ytterbium
    if first == "o":
        return not CONSONANT_O.match(word)
    if first == "e":
        return not CONSONANT_E.match(word)
    if first == "u":
        return bool(UN_PREFIX.match(word) or not YOU_SOUND.match(word))
    return first in "aàáâäåæèéêëìíîïiòóôöøùúûü"


def correct_articles(tokens: Sequence[str], *, changed: Collection[int] | None = None) -> dict[int, str]:
    """Return the articles that have to change: the position of each a or an that does not fit its next word -> the
    other form.

    The next word may follow an opening quote or bracket. `changed` are the positions of replaced words; articles
    elsewhere stay as written. The case of the article is kept.

    >>> correct_articles(["An", "large", "dog", "ate", "a", "egg"])
    {0: 'A', 4: 'an'}
    >>> correct_articles(["A", "old", "dog", "ate", "a", "egg"], changed=[1])
    {0: 'An'}
    >>> correct_articles(["An", "“", "new", "”", "car"], changed=[2])
    {0: 'A'}
    """
    words = [t for t in tokens if len(t) > 1 and t.isalpha() and t.lower() != "an"]
    capitals = len(words) > 1 and all(map(str.isupper, words))
    repaired = {}
    for i, old in enumerate(tokens):
        if old.lower() not in ("a", "an"):
            continue
        following = next((j for j in range(i + 1, len(tokens)) if tokens[j] not in OPENING), None)
        if following is not None and (changed is None or following in changed):
            wanted = choose_article(tokens[following], capitals=capitals)
            if wanted != old.lower():
                if old == "AN" or (capitals and old == "A"):
                    wanted = wanted.upper()
                repaired[i] = wanted.capitalize() if old[0].isupper() and not wanted.isupper() else wanted
    return repaired


BEFORE = OPENING | {"a", "an"}
COMPARED = {"JJR": "RBR", "JJS": "RBS", "RBR": "RBR", "RBS": "RBS"}  # tag of "more" or "most" before them
Window = tuple[int, int]  # its first token, and the one after its last
Words = Mapping[int, str]  # position of a token -> the new word


def inflect_for_token(parse: Parse, at: int, lemma: str) -> str | None:
    """Return the lemma in the form of the word at `at`, or None if it has no such form or the sentence contains it
    already.
    """
    tag, old, lower = parse.tags[at], parse.words[at], parse.lowers[at]
    if not has_form_of_tag(lower, parse.lower_lemmas[at], tag):
        return None
    word = inflect_or_keep_like(lemma, tag, like=old)
    return None if word is None or word.lower() in parse.lower_words else word


def replace_words(english: English, parse: Parse, words: Words) -> Replacement | None:
    """Return the edits for these words, and the new text, or None if the words have other tags there.

    Raises MissingParses until the tagger has run. The result is cached, since levels, seeds and generators repeat it.
    """
    key = (parse.text, *words.items())
    if key not in english.replacements:
        # The edits for `words`, including a changed article before them, also before an opening quote.
        placed = words
        for at in words:
            if at and parse.lowers[at - 1] in BEFORE:
                tokens = [words.get(i, word) for i, word in enumerate(parse.words)]
                placed = correct_articles(tokens, changed=words.keys()) | dict(words)
                break
        change = tuple([Edit(parse.starts[i], parse.ends[i], placed[i]) for i in sorted(placed)])
        text = apply_edits(parse.text, change)
        # In the new text, the tagger must give the new words the tags of the old ones.
        windows = _find_tag_windows(parse, words, english.pipeline.reach)
        tagged = english.stored_tags_of_texts([_edit_window(parse, window, change) for window in windows])
        english.replacements[key] = (
            (change, text)
            if all(_keeps_tags(parse, words, window, tags) for window, tags in zip(windows, tagged, strict=True))
            else None
        )
    return english.replacements[key]


def _find_tag_windows(parse: Parse, words: Words, reach: int | None) -> list[Window]:
    """Return the windows of tokens that determine the tags of these words; overlapping windows are merged."""
    result: list[Window] = []
    for at in sorted(words):
        first, after = _find_tag_window(parse, at, reach)
        if result and first < result[-1][1]:
            result[-1] = result[-1][0], after
        else:
            result.append((first, after))
    return result


def _find_tag_window(parse: Parse, at: int, reach: int | None) -> Window:
    """Return the window of tokens that determines a token's tag, bounded by blanks; otherwise the whole text.

    The tokenizer works between blanks, so it finds the same tokens in the window alone.
    """
    if reach is None:
        return 0, len(parse)
    first, after = max(at - reach, 0), min(at + reach + 1, len(parse))
    while not _follows_single_blank(parse, first):
        first -= 1
    while not _follows_single_blank(parse, after):
        after += 1
    return first, after


def _follows_single_blank(parse: Parse, at: int) -> bool:
    """Return whether a single blank separates a token from the one before it; also at the text's beginning and end."""
    if at in (0, len(parse)):
        return True
    between = parse.text[parse.ends[at - 1] : parse.starts[at]]
    return between == " " and not parse.words[at].isspace() and not parse.words[at - 1].isspace()


def _edit_window(parse: Parse, window: Window, change: Sequence[Edit]) -> str:
    """Return the text of a window with the edits inside it."""
    start = parse.starts[window[0]] if window[0] else 0
    end = parse.ends[window[1] - 1] if window[1] < len(parse) else len(parse.text)
    inside = (Edit(e.start - start, e.end - start, e.text) for e in change if start <= e.start and e.end <= end)
    return apply_edits(parse.text[start:end], tuple(inside))


def _keeps_tags(parse: Parse, words: Words, window: Window, tagged: Tagged) -> bool:
    """Return whether the new words of a window have the tags of the old ones, and its other tokens are unchanged.

    "more expensive" has the tags of a comparative adverb and a plain adjective.
    """
    first, after = window
    tokens, tags = tagged
    for at in (i for i in words if first <= i < after):
        tag, parts = parse.tags[at], tuple(words[at].split(" "))
        wanted = (tag,) if len(parts) == 1 else (COMPARED.get(tag), BASE_OF.get(tag))
        here = at - first + _count_added_tokens(words, first, at)
        there = slice(here, here + len(parts))
        if tokens[there] != parts or tags[there] != wanted:
            return False
    return len(tokens) == after - first + _count_added_tokens(words, first, after)


def _count_added_tokens(words: Words, first: int, after: int) -> int:
    """Return the number of tokens that the new words add in a part of the text."""
    return sum(word.count(" ") for at, word in words.items() if first <= at < after)

"""Choose a or an by the first sound of the next word."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

SILENT_H = re.compile(r"hour|honest|honou?r|heir")
CONSONANT_O = re.compile(r"one(?!ir|rous)|once|ouija")  # pronounced with a w
CONSONANT_E = re.compile(r"eu|ewe")  # pronounced with a y
UN = re.compile(r"un(?!i|anim|esco)|uni(?:d(?!i)|gn|ll|m|n|ssu|r(?:on|rit))|urug")  # the prefix, as in "unable"
YOU = re.compile(r"u(?:$|-|[bcfgkrstv][aeiouy]|ni|nanim|nesco|kr|k$|ta|tr)")  # use, union, unanimous, Ukraine, Utah
SPELLED = "AEFHILMNORSX"
SAID_AS_WORDS = frozenset({"LAN", "RAM", "ROM", "SIM", "MAC", "NAS", "SAM"})
OPENING = frozenset(['"', "'", "“", "‘", "«", "`", "``", "(", "[", "{"])  # signs between article and word
NUMBER = re.compile(r"[$€£#]?(\d[\d,]*)")


def article(word: str, *, capitals: bool = False) -> str:
    """The article before a word, in lower case; in a text all in `capitals` no word is an acronym.

    >>> [article(w) for w in ("hour", "university", "European", "one-off", "umbrella", "unimportant", "hero")]
    ['an', 'a', 'a', 'a', 'an', 'an', 'a']
    >>> [article(w) for w in ("FBI", "UN", "NATO", "MRI", "US", "X-ray", "U.S.", "8", "11", "18", "10", "1,800")]
    ['an', 'a', 'a', 'an', 'a', 'an', 'a', 'an', 'an', 'an', 'a', 'a']
    """
    bare = word.lstrip("\"'“”‘’([`")
    number = NUMBER.match(bare)
    if number:
        return "an" if _vowel_number(number[1]) else "a"
    letters = re.match(r"[^\W\d_]+", bare)
    if letters is None:
        return "a"
    if not capitals and _spelled(bare, letters[0]):
        return "an" if letters[0][0] in SPELLED else "a"
    return "an" if _vowel_sound(letters[0].lower()) else "a"


def _vowel_number(digits: str) -> bool:
    """Whether a number begins with eight, or with eleven or eighteen as a separate word."""
    if digits[0] == "8":
        return True
    groups = digits.split(",")
    whole = groups[0] if len(groups) > 1 else digits
    leading = whole[:2] if len(whole) in (2, 5, 8) or (len(whole) == 4 and len(groups) == 1) else ""
    return leading in ("11", "18")


def _spelled(word: str, letters: str) -> bool:
    """Whether letters are spelled out: a single capital (X-ray, U.S.), or capitals that do not form a word."""
    if len(letters) == 1:
        return letters.isupper() and len(word) > 1
    head = re.match(r"[A-Z]+(?=s?(?:$|[^A-Za-z]))", word)
    if head is None or head[0] in SAID_AS_WORDS:
        return False
    return len(head[0]) <= 3 or not re.search(r"[AEIOUY]", head[0])


def _vowel_sound(word: str) -> bool:
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
        return bool(UN.match(word) or not YOU.match(word))
    return first in "aàáâäåæèéêëìíîïiòóôöøùúûü"


def articles(tokens: Sequence[str], *, changed: Collection[int] | None = None) -> dict[int, str]:
    """The articles that have to change: the position of each a or an that does not fit its next word -> the other form.

    The next word may follow an opening quote or bracket. `changed` are the positions of replaced words; articles
    elsewhere stay as written. The case of the article is kept.

    >>> articles(["An", "large", "dog", "ate", "a", "egg"])
    {0: 'A', 4: 'an'}
    >>> articles(["A", "old", "dog", "ate", "a", "egg"], changed=[1])
    {0: 'An'}
    >>> articles(["An", "“", "new", "”", "car"], changed=[2])
    {0: 'A'}
    """
    words = [t for t in tokens if len(t) > 1 and t.isalpha() and t.lower() != "an"]
    capitals = len(words) > 1 and all(map(str.isupper, words))
    repaired = {}
    for i, token in enumerate(tokens):
        following = word_after(tokens, i) if token.lower() in ("a", "an") else None
        if following is not None and (changed is None or following in changed):
            wanted = article(tokens[following], capitals=capitals)
            if wanted != token.lower():
                repaired[i] = _cased(wanted, token, capitals=capitals)
    return repaired


def word_after(tokens: Sequence[str], at: int) -> int | None:
    """The position of the next word after `at`, past opening quotes and brackets; None at the end."""
    return next((i for i in range(at + 1, len(tokens)) if tokens[i] not in OPENING), None)


def _cased(wanted: str, like: str, *, capitals: bool) -> str:
    if like == "AN" or (capitals and like == "A"):
        return wanted.upper()
    return wanted.capitalize() if like[0].isupper() else wanted

"""Typing errors: words as people mistype them, never another real word.

Kinds of slips after Damerau 1964 (https://doi.org/10.1145/363958.363994): another letter (a neighbour on the keyboard),
two letters exchanged, a letter that is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from random import Random
from string import ascii_lowercase

from encheck.language.edits.expressions import Expressions
from encheck.language.lexicon.embedded import EmbeddedLexicon
from encheck.language.lexicon.protocol import PARTS, Lexicon
from encheck.language.parse import Parse
from encheck.language.prose import left_spans

ROWS = ("qwertyuiop", " asdfghjkl", "  zxcvbnm")  # each row stands half a key to the right of the one above
SHORTEST = 5  # letters: what is shorter cannot be told from other words
STAYING = frozenset("NNP NNPS CD FW UH SYM ADD AFX GW LS XX".split())
COARSE = ("cunt", "fuck", "shit", "cock", "dick", "fag", "slut", "piss", "rape", "nig", "anal", "whore", "tits", "arse")
GAP, LETTERS = "\0", frozenset(ascii_lowercase)
JOINERS = "-\u2010\u2011\u2013/'’@#_&.\\"


def _neighbours() -> dict[str, str]:
    """Letter -> the letters beside it on a QWERTY keyboard, in its own row and in the next ones."""
    beside: dict[str, set[str]] = {letter: set() for letter in ascii_lowercase}
    for row in ROWS:
        for one, other in pairwise(row.strip()):
            beside[one].add(other)
            beside[other].add(one)
    for above, below in pairwise(row.strip() for row in ROWS):
        for i, letter in enumerate(below):
            for other in above[i : i + 2]:
                beside[letter].add(other)
                beside[other].add(letter)
    return {letter: "".join(sorted(found)) for letter, found in beside.items()}


NEIGHBOURS = _neighbours()


def _keyboard(word: str) -> Iterator[str]:
    for i in range(1, len(word)):
        yield from (f"{word[:i]}{other}{word[i + 1 :]}" for other in NEIGHBOURS[word[i]] if other != word[i - 1])


def _transposition(word: str) -> Iterator[str]:
    for i in range(1, len(word) - 1):
        if word[i] != word[i + 1]:
            yield f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"


def _missing(word: str) -> Iterator[str]:
    yield from (f"{word[:i]}{word[i + 1 :]}" for i in range(1, len(word) - 1))


SLIPS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "keyboard": _keyboard,
    "transposition": _transposition,
    "missing": _missing,
}


def slip(lexicon: Lexicon, word: str, kind: str, rng: Random) -> str | None:
    """A slip of this kind of a word in lower case: no word, and no other common word is as near to it; None without.

    >>> from random import Random
    >>> from encheck.language.lexicon.embedded import EmbeddedLexicon
    >>> slip(EmbeddedLexicon.opened(), "market", "missing", Random(0))
    'mrket'
    """
    found = list(dict.fromkeys(SLIPS[kind](word)))
    rng.shuffle(found)
    return next((one for one in found if is_clear(lexicon, one, word)), None)


@lru_cache(maxsize=50_000)
def is_clear(lexicon: Lexicon, slip: str, word: str) -> bool:
    """Whether a reader takes the slip for this word: it is none itself, and no other common word is as near."""
    if slip == word or is_word(lexicon, slip) or any(part in slip and part not in word for part in COARSE):
        return False
    return not _is_near_another(slip, word)


def is_word(lexicon: Lexicon, word: str) -> bool:
    """Whether the lexicon has the word in any form, or its treebank was seen to use it."""
    return bool(lexicon.word_count(word)) or any(lexicon.base_forms(word, pos) for pos in PARTS)


def _is_near_another(slip: str, word: str) -> bool:
    """Whether one letter more, less or other, or two exchanged, make a slip another common word than this one."""
    forms, by_gap = EmbeddedLexicon.opened().treebank.forms, _words_by_gap()
    own = (word,)
    for i in range(len(slip)):
        head, letter, rest = slip[:i], slip[i], slip[i + 1 :]
        exchanged = f"{head}{rest[:1]}{letter}{rest[1:]}"
        if (
            by_gap.get(f"{head}{GAP}{letter}{rest}", own) != own
            or by_gap.get(f"{head}{GAP}{rest}", own) != own
            or (head + rest in forms and head + rest != word)
            or (exchanged in forms and exchanged != word)
        ):
            return True
    return by_gap.get(f"{slip}{GAP}", own) != own


@lru_cache(maxsize=1)
def _words_by_gap() -> dict[str, tuple[str, ...]]:
    """Each common word by what is left of it where one of its letters is a gap."""
    found: dict[str, tuple[str, ...]] = {}
    for word in EmbeddedLexicon.opened().treebank.forms:
        for i, letter in enumerate(word):
            if letter in LETTERS:
                rest = f"{word[:i]}{GAP}{word[i + 1 :]}"
                found[rest] = (*found.get(rest, ()), word)
    return found


def typable(parse: Parse, lexicon: Lexicon, expressions: Expressions) -> tuple[int, ...]:
    """The tokens that may be mistyped: known words of five letters or more in lower case.

    Words in names, addresses, code and fixed expressions stay, and what is joined to its neighbour.
    """
    taken = left_spans(parse.text)
    return tuple(
        i
        for i, word in enumerate(parse.words)
        if len(word) >= SHORTEST
        and word.isascii()
        and word.isalpha()
        and word.islower()
        and parse.tags[i] not in STAYING
        and not parse.entities[i]
        and not _is_joined(parse, i)
        and not any(start < parse.ends[i] and parse.starts[i] < end for start, end in taken)
        and not expressions.hold(parse, i)
        and is_word(lexicon, word)
        and not (parse.tags[i] in ("NN", "NNS") and _is_named(lexicon, word))
    )


def _is_named(lexicon: Lexicon, word: str) -> bool:
    """Whether the lexicon writes the noun with a capital: a name, in a text without capitals."""
    first = lexicon.senses(word, "n")[:1]
    return any(word not in sense.lemmas and word.capitalize() in sense.lemmas for sense in first)


def _is_joined(parse: Parse, at: int) -> bool:
    """Whether a letter, a hyphen or the like touches the token: "data-set", "file.name"."""
    before, after = parse.text[: parse.starts[at]][-1:], parse.text[parse.ends[at] :][:2]
    if before.isalnum() or (before and before in JOINERS):
        return True
    return after[:1].isalnum() or (after[:1] in tuple(JOINERS) and (after[:1] != "." or after[1:].strip() != ""))

"""What the surface of two edits says of which is nearer to their source, without their meaning."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import pairwise

import numpy as np

from encheck.language.lexicon.load import lexicon
from encheck.scoring.scale import Floats
from encheck.similarity import words
from encheck.types import Triplet

ORDER = 0  # the column of the token edit distance: what strata go by
NAMES = ("token edit distance", "word bigrams", "character trigrams", "shared words", "length", "word frequency")


def differences(items: Sequence[Triplet]) -> Floats:
    """How much the surface favours the near text over the far one, a column for each of NAMES; shape [n, 6].

    Positive: the near text keeps more of the source's word order, pairs of words, runs of three characters or words;
    its length is nearer to the source's; its words are more frequent. Near and far exchanged, every sign turns.
    """
    return _differences(tuple((t.source, t.near, t.far) for t in items)).copy()


@lru_cache(maxsize=64)
def _differences(texts: tuple[tuple[str, str, str], ...]) -> Floats:
    found = [np.subtract(likeness(source, near), likeness(source, far)) for source, near, far in texts]
    return np.array(found).reshape(-1, len(NAMES)).round(9)


@lru_cache(maxsize=100_000)
def likeness(source: str, text: str) -> tuple[float, ...]:
    """How like a text is to its source by each of NAMES; of the frequency, how common its words are."""
    a, b = words(source), words(text)
    return (
        1 - edit_distance(a, b) / max(len(a), len(b), 1),
        _dice(set(pairwise(a)), set(pairwise(b))),
        _dice(_trigrams(source), _trigrams(text)),
        _jaccard(set(a), set(b)),
        -abs(len(text) - len(source)) / max(len(source), 1),
        float(np.mean([_frequency(word) for word in b] or [0.0])),
    )


def favour(source: str, near: str, far: str) -> int:
    """1 where the near text has the smaller token edit distance from the source, -1 where the far one has, else 0.

    Distances are in shares of the longer text's tokens, as the scorer `edit-distance` has them.

    >>> favour("the dog bit the man", "the man was bitten by the dog", "the man bit the dog")
    -1
    """
    return int(np.sign(round(likeness(source, near)[ORDER] - likeness(source, far)[ORDER], 9)))


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """The least number of tokens put in, taken out or exchanged that turns the one into the other (Levenshtein 1966).

    >>> edit_distance("the dog bit the man".split(), "the man bit the dog".split())
    2
    """
    row = list(range(len(second) + 1))
    for i, token in enumerate(first, 1):
        before, row = row, [i]
        for j, other in enumerate(second, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (token != other)))
    return row[-1]


def _trigrams(text: str) -> set[str]:
    text = text.lower()
    return {text[i : i + 3] for i in range(len(text) - 2)}


def _dice(first: Set[object], second: Set[object]) -> float:
    return 2 * len(first & second) / ((len(first) + len(second)) or 1)


def _jaccard(first: set[str], second: set[str]) -> float:
    return len(first & second) / (len(first | second) or 1)


@lru_cache(maxsize=100_000)
def _frequency(word: str) -> float:
    return lexicon().word_frequency(word)

"""What the surface of two edits says of which is nearer to their source, without their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from encheck.language.lexicon.load import lexicon
from encheck.scoring.scale import Floats
from encheck.scoring.triplets import Triplet
from encheck.surface import SHARED, SURFACE, tokens

SCORERS = ("edit-distance", *(name for name in SHARED if name != "edit-distance"))
NAMES = (*SCORERS, "length", "word frequency")
ORDER = 0  # the column of the token edit distance, which strata go by


def differences(items: Sequence[Triplet]) -> Floats:
    """How much the surface favours the near text over the far one, a column for each of NAMES; shape [n, 6].

    Positive: a surface scorer finds the near text nearer to the source; its length is nearer to the source's; its words
    are more frequent. Near and far exchanged, every sign turns.
    """
    return _differences(tuple((t.source, t.near, t.far) for t in items)).copy()


@lru_cache(maxsize=64)
def _differences(texts: tuple[tuple[str, str, str], ...]) -> Floats:
    sources, near, far = ([some[k] for some in texts] for k in range(3))
    found = [score(sources, near) - score(sources, far) for score in map(SURFACE.__getitem__, SCORERS)]
    more = [np.array([said(s, a) - said(s, b) for s, a, b in texts]) for said in (_length, _frequency)]
    return np.column_stack([*found, *more]).round(9)


def favour(source: str, near: str, far: str) -> int:
    """1 where the near text has the smaller token edit distance from the source, -1 where the far one has, else 0.

    Distances are in shares of the longer text's tokens, as the scorer `edit-distance` has them.

    >>> favour("the dog bit the man", "the man was bitten by the dog", "the man bit the dog")
    -1
    """
    to_near, to_far = (float(SURFACE["edit-distance"]([source], [text])[0]) for text in (near, far))
    return int(np.sign(round(to_near - to_far, 9)))


def _length(source: str, text: str) -> float:
    return -abs(len(text) - len(source)) / max(len(source), 1)


def _frequency(_source: str, text: str) -> float:
    return float(np.mean([_zipf(word) for word in tokens(text)] or [0.0]))


@lru_cache(maxsize=50_000)
def _zipf(word: str) -> float:
    return lexicon().word_frequency(word)

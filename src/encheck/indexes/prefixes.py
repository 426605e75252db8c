"""Is a stored vector that of a shortened text? Encode beginnings of the text, and see which one gives it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.nearest import directions_of

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], tuple[Vectors, NDArray[np.bool_]]]
WORD = re.compile(r"\S+")
AT_FIRST = 32  # beginnings of a text that are tried before its best stretch is searched
PROMISING = 0.7  # the best of them must be nearer than this part of the whole text's distance
CHARACTERS = 2_000_000  # that beginnings have together, as far as whole texts go


@dataclass(frozen=True, slots=True)
class Beginning:
    """The part of a text that was encoded: its first `words` words, the last of which may be cut, or `characters`."""

    words: int
    characters: int


@dataclass(frozen=True)
class Beginnings:
    """What was found, by place among the texts; `searched` of them were looked at before the work was too much."""

    found: Mapping[int, Beginning]
    searched: int


def beginnings(
    texts: Sequence[str], stored: Vectors, distance: NDArray[np.float64], encode: Encode, *, tolerance: float, seed: int
) -> Beginnings:
    """Look for the beginning of each text whose vector is the stored one, shape [n, d].

    `distance` is that of the whole text's vector. At first 32 beginnings of a text are tried, and those that end in its
    last word. Where one is much nearer than the whole text, each word around it is, and then each character: a
    tokenizer cuts inside words.
    """
    ends = [[match.end() for match in WORD.finditer(text)] for text in texts]
    order = [place for place in np.random.default_rng(seed).permutation(len(texts)) if len(ends[place]) > 1]
    work = np.cumsum([len(texts[place]) * min(AT_FIRST, len(ends[place])) / 2 for place in order])
    order = order[: int((work <= CHARACTERS).sum()) or 1]
    wanted = directions_of(stored)
    best = {place: (float(distance[place]) * PROMISING, 0) for place in order}

    def look(candidates: Mapping[int, Sequence[int]]) -> None:
        asked = [(place, end) for place, some in candidates.items() for end in some]
        if not asked:
            return
        vectors, known = encode([texts[place][:end] for place, end in asked])
        for (place, end), vector, is_known in zip(asked, directions_of(vectors), known, strict=True):
            if is_known and (near := 1 - float(vector @ wanted[place])) < best[place][0]:
                best[place] = near, end

    def still_open() -> list[int]:
        return [place for place, (near, end) in best.items() if end and near > tolerance]

    spread = {place: _spread(ends[place][:-1], AT_FIRST) for place in order}
    look({place: [*some, *range(ends[place][-2] + 1, ends[place][-1])] for place, some in spread.items()})
    look({place: _around(spread[place], best[place][1], ends[place]) for place in still_open()})
    look({place: _letters(ends[place], best[place][1]) for place in still_open()})
    found = {
        place: Beginning(sum(e < end for e in ends[place]) + 1, end)
        for place, (near, end) in best.items()
        if end and near <= tolerance
    }
    return Beginnings(found, len(order))


def _spread(ends: Sequence[int], count: int) -> list[int]:
    """So many of the ends, spread evenly; all where there are no more."""
    places = np.unique(np.linspace(0, len(ends) - 1, min(count, len(ends))).round().astype(int))
    return [ends[place] for place in places]


def _around(tried: Sequence[int], best: int, ends: Sequence[int]) -> list[int]:
    """The ends between the neighbours of the best one that was tried."""
    if best not in tried:  # inside the last word
        return []
    at = tried.index(best)
    low = tried[at - 1] if at else 0
    high = tried[at + 1] if at + 1 < len(tried) else ends[-1]
    return [end for end in ends if low < end < high and end != best]


def _letters(ends: Sequence[int], best: int) -> list[int]:
    """Each character from the end before the best one to the end after it."""
    if best not in ends:
        return []
    at = ends.index(best)
    low = ends[at - 1] if at else 0
    high = ends[at + 1] if at + 1 < len(ends) else best
    return [end for end in range(low + 1, high) if end not in (best,)]

"""Why a group of stored vectors is not this model's: what the group shows together, and no row alone.

The cosines of single rows overlap: a text that was edited keeps .70 to .95, a model whose weights were disturbed by 12%
keeps .87 to .96. A group shows more. Another model moves every vector about as far, and leaves the texts' similarities
among each other much as they were. An edited text moves as far as its edit, and lies nearer the text without the words
that were edited. A prompt moves all vectors in one direction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.nearest import directions_of
from encheck.statistics.bounds import upper_of_share

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Cause = Literal["another model", "earlier texts", "another prompt", "unknown"]
FEWEST = 8  # rows that may show a cause together
RELATED = 0.4  # correlation of the texts' similarities among each other, stored and fresh
MOST_RELATED, PERMUTATIONS = 200, 99  # rows whose similarities are compared; orders of them for chance
FEWEST_UNASKED = 20  # rows that show another model where texts cannot be tried without some of their words
EVEN = 0.25  # spread of the distances over their mean
ELSEWHERE = 0.8  # distance from which vectors have nothing in common: of two models, or of two texts
NEARER = 0.15  # part of the distance that leaving words out takes away
EDITED, UNEDITED = 0.2, 0.2  # share of rows for which it does: shown to be more, and at most
ONE_WAY = 0.35  # part of the squared distance that the mean of the other rows' moves explains
ROWS_TRIED = 20  # of a group, whose texts are tried without some of their words
CHARACTERS = 400_000  # that all such texts of a group have
MOST_WINDOWS, FEWEST_WINDOWS = 30, 4
WORD = re.compile(r"\S+")
Encode = Callable[[Sequence[str]], tuple[Vectors, NDArray[np.bool_]]]


SAYS: dict[Cause, str] = {
    "another model": "another model's, or this model's with other settings",
    "earlier texts": "perhaps of earlier texts",
    "another prompt": "perhaps with another prompt or title before the text",
    "unknown": "not this model's; cause unknown",
}


@dataclass(frozen=True)
class Group:
    """Rows of the file that may have one cause, and the evidence in a sentence. `says` is the cause in words."""

    cause: Cause
    rows: tuple[int, ...]
    evidence: str
    says: str


def group_of(cause: Cause, rows: tuple[int, ...], evidence: str) -> Group:
    """A group with its cause in words."""
    return Group(cause, rows, evidence, SAYS[cause])


def grouped(rows: Ints, right: Ints) -> Iterator[Ints]:
    """Runs of rows with no right row between them; rows of shorter runs are one group. Both arguments rise.

    >>> [one.tolist() for one in grouped(np.arange(3, 15), np.array([2, 15]))]
    [[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]]
    """
    before = np.searchsorted(right, rows)
    runs = np.split(rows, np.flatnonzero(np.diff(before)) + 1) if len(rows) else []
    yield from (run for run in runs if len(run) >= FEWEST)
    if scattered := [run for run in runs if len(run) < FEWEST]:
        yield np.concatenate(scattered)


def explained(
    rows: Ints, stored: Vectors, fresh: Vectors, texts: Sequence[str] | None, encode: Encode | None, *, seed: int
) -> Group:
    """The cause that a group shows; `stored` and `fresh` have shape [rows, d].

    `texts` and `encode` are None where the model cannot be asked: then nothing is known of edits.
    """
    numbers = tuple(rows.tolist())
    if len(rows) < FEWEST:
        return group_of("unknown", numbers, f"{len(rows)} rows are too few to show a cause, which takes {FEWEST}")
    v, f = directions_of(stored), directions_of(fresh)
    distance = 1 - np.einsum("ij,ij->i", v, f, dtype=np.float64)
    said = [f"cosines to the fresh vectors from {1 - distance.max():.2f} to {1 - distance.min():.2f}"]
    (related, is_beyond_chance), one_way = _relation(v, f, seed=seed), _one_way(v, f)
    said.append(f"the similarities among these rows correlate {related:.2f} with those of the fresh vectors")
    edited = _edited(v, distance, texts, encode, seed=seed) if texts is not None and encode is not None else None
    if edited:
        said.append(f"{edited[0]} of {edited[1]} lie nearer their text without some of its words")
    cause: Cause = "unknown"
    is_elsewhere = distance.mean() >= ELSEWHERE
    even = distance.std() <= EVEN * distance.mean() and (edited is not None or len(rows) >= FEWEST_UNASKED)
    if edited and 1 - upper_of_share(edited[1] - edited[0], edited[1]) > EDITED:
        cause = "earlier texts"
    elif edited and edited[0] > UNEDITED * edited[1]:
        cause = "unknown"
    elif (is_elsewhere and is_beyond_chance) or (related >= RELATED and even):
        cause = "another model"
    elif related >= RELATED and one_way >= ONE_WAY:
        cause = "another prompt"
        said.append(f"one common direction explains {one_way:.0%} of the difference")
    return group_of(cause, numbers, "; ".join(said))


def _relation(v: Vectors, f: Vectors, *, seed: int) -> tuple[float, bool]:
    """Correlation of the cosines of all pairs of rows, and whether chance gives less (Mantel 1967, Cancer Res. 27)."""
    v, f = v[:MOST_RELATED], f[:MOST_RELATED]
    pairs = np.triu_indices(len(v), 1)
    a, b = v @ v.T, (f @ f.T)[pairs]
    if a[pairs].std() < 1e-6 or b.std() < 1e-6:
        return 0.0, False
    found = float(np.corrcoef(a[pairs], b)[0, 1])
    random = np.random.default_rng(seed)
    orders = (random.permutation(len(v)) for _ in range(PERMUTATIONS))
    chance = [float(np.corrcoef(a[np.ix_(order, order)][pairs], b)[0, 1]) for order in orders]
    return found, found > max(chance)


def _one_way(v: Vectors, f: Vectors) -> float:
    """How much of each row's squared move the mean move of the other rows explains; the median."""
    moves = (v - f).astype(np.float64)
    others = (moves.sum(axis=0) - moves) / (len(moves) - 1)
    left = ((moves - others) ** 2).sum(axis=1) / (moves**2).sum(axis=1)
    return float(1 - np.median(left))


def _edited(v: Vectors, distance: Floats, texts: Sequence[str], encode: Encode, *, seed: int) -> tuple[int, int] | None:
    """(rows that are nearer their text without some of its words, rows that were tried)."""
    able = [row for row, text in enumerate(texts) if len(WORD.findall(text)) > 2]
    if len(able) < FEWEST:
        return None
    tried = sorted(np.random.default_rng(seed).permutation(able)[:ROWS_TRIED].tolist())
    size = CHARACTERS / (len(tried) * 4 * max(sum(len(texts[row]) for row in tried) / len(tried), 1))
    windows = int(np.clip(size, FEWEST_WINDOWS, MOST_WINDOWS))
    shorter = {row: list(_without_words(texts[row], windows)) for row in tried}
    vectors = iter(directions_of(encode([text for some in shorter.values() for text in some])[0]))
    nearer = 0  # by chance alone, some words of a text of which the vector is not are nearer to it
    for row, some in shorter.items():
        near = min(1 - float(v[row] @ next(vectors)) for _ in some)
        nearer += distance[row] < ELSEWHERE and near <= (1 - NEARER) * distance[row]
    return nearer, len(tried)


def _without_words(text: str, windows: int) -> Iterator[str]:
    """The text without its beginning, its end, or one or two of about so many stretches of words."""
    words = text.split()
    step = -(-len(words) // windows)
    for start in range(0, len(words), step):
        for end in (start + step, start + 2 * step):
            if shorter := words[:start] + words[end:]:
                yield " ".join(shorter)
        if start:
            yield " ".join(words[:start])
            yield " ".join(words[start:])

"""Compare stored vectors with fresh ones of the same texts: which are this model's, and why are the others not?

Two vectors are the same if they differ by no more than half precision in a different batch (`ROUNDING` of 1 - cosine).
To find the vector of a shortened text, beginnings of the text are encoded.

A cause often shows only in a group of rows, because the cosines of single rows overlap: an edited text keeps a cosine
of .70 to .95, a model whose weights were disturbed by 12% keeps .87 to .96. A different model moves every vector about
as far, but hardly changes the texts' similarities with each other. An edited text moves as far as its edit, and is
nearer to the text without the edited words. A prompt moves all vectors in one direction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.stored_index import VectorBlock
from encheck.scoring.vector_search import unit_vectors
from encheck.similarity import ROUNDING, cosine
from encheck.statistics.hypothesis_tests import share_upper_bound

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
RowKind = Literal[
    "right", "another text", "shortened", "zero", "not normalised", "not finite", "another dimension",
    "no text", "unexplained",
]  # fmt: skip
KINDS: tuple[RowKind, ...] = (
    "right", "another text", "shortened", "zero", "not normalised", "not finite", "another dimension",
    "unexplained", "no text",
)  # fmt: skip
SAME_LENGTH = 0.01  # relative
SMALL_DISTANCE, SMALL_FACTOR = (
    1e-5,
    10,
)  # a small distance is examined if it exceeds the first, and this many times the median
MOST_LOST = 0.02  # of 1 - cosine, the maximum loss from storing a vector as integers
SKETCHED = 64  # dimensions of a random projection
ROWS_AT_ONCE = 10_000
SCORES_AT_ONCE = 1 << 25


@dataclass(frozen=True)
class StoredAndFresh:
    """Stored and fresh vectors [n, d], row by row, with integers rescaled to the fresh ones.

    Each row has a `distance` (1 - cosine, NaN if there is none) and the ratio of the stored length to the fresh one.
    `tolerance` is the largest distance of two equal vectors. `calibrated` is false if integers could not be rescaled.
    """

    vectors: Vectors
    distance: Floats
    ratio: Floats
    tolerance: float
    calibrated: bool = True


def compare_rows(stored: Vectors, fresh: Vectors, *, integers: bool) -> StoredAndFresh:
    """Compare row by row; both have shape [n, d], with NaN for a row without a vector of this dimension."""
    distance = _cosine_distances(stored, fresh)
    if not integers:
        return StoredAndFresh(stored, distance, _length_ratios(stored, fresh), ROUNDING)
    scaled = _rescale_integers(stored, fresh)
    mapped = _cosine_distances(scaled, fresh)
    if not np.isfinite(mapped).any():
        return StoredAndFresh(stored, distance, _length_ratios(stored, fresh), ROUNDING)
    if np.nanmedian(distance) <= max(ROUNDING, np.nanmedian(mapped)):  # the integers are multiples of the numbers
        scaled, mapped = stored, distance
        scaled = scaled / np.float32(np.nanmedian(_length_ratios(stored, fresh)))
    middle = float(np.nanmedian(mapped))
    # A scale and an offset per dimension bring any integers near the mean of all vectors.
    spread = float(np.median(_cosine_distances(np.broadcast_to(fresh.mean(axis=0), fresh.shape), fresh)))
    allowed = min(MOST_LOST / 4, max(ROUNDING, spread / 10))
    return StoredAndFresh(scaled, mapped, _length_ratios(scaled, fresh), max(ROUNDING, 4 * min(middle, MOST_LOST / 4)),
                      middle <= allowed)  # fmt: skip


def _cosine_distances(first: Vectors, second: Vectors) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        return 1 - cosine(first, second)


def _length_ratios(stored: Vectors, fresh: Vectors) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sizes = [np.linalg.norm(one.astype(np.float64), axis=1) for one in (stored, fresh)]
        return np.asarray(sizes[0] / sizes[1], np.float64)


def _rescale_integers(stored: Vectors, fresh: Vectors) -> Vectors:
    """Return integers rescaled to the fresh vectors, with a scale and an offset for each dimension.

    Scale and offset are fitted on the better half of the rows, so that rows of other models do not count.
    """
    usable = np.isfinite(stored).all(axis=1) & stored.any(axis=1)
    x, y = stored[usable].astype(np.float64), fresh[usable].astype(np.float64)
    if len(x) < 8:
        return stored
    with np.errstate(invalid="ignore", divide="ignore"):
        spreads = [np.median(np.abs(one - np.median(one, axis=0)), axis=0) for one in (x, y)]
        scale = spreads[1] / spreads[0]
        scale = np.where(np.isfinite(scale), scale, 0.0)
        offset = np.median(y, axis=0) - scale * np.median(x, axis=0)
        for _ in range(5):
            best = np.argsort(_cosine_distances((x * scale + offset).astype(np.float32), y.astype(np.float32)))[
                : max(len(x) // 2, 8)
            ]
            a, b = x[best] - x[best].mean(axis=0), y[best] - y[best].mean(axis=0)
            slope = (a * b).sum(axis=0) / (a * a).sum(axis=0)
            scale = np.where(np.isfinite(slope), slope, 0.0)
            offset = y[best].mean(axis=0) - scale * x[best].mean(axis=0)
    return (stored * scale + offset).astype(np.float32)


def classify_rows(one: StoredAndFresh, lengths: Ints, *, lengths_count: bool) -> list[RowKind]:
    """Return the kind of each row by its own fresh vector; "unexplained" if the row is not this model's.

    `lengths` has the number of dimensions of each stored vector, 0 if there is none. `lengths_count` is true if the
    index's similarity depends on lengths.
    """
    dimension = one.vectors.shape[1]
    near: Bools = np.asarray(one.distance <= one.tolerance, bool)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.linalg.norm(one.vectors.astype(np.float64), axis=1)
    unit: Bools = np.asarray(np.abs(sizes - 1) <= SAME_LENGTH)
    same = np.asarray(np.abs(one.ratio - 1) <= SAME_LENGTH)
    if int((unit & near).sum()) > int(near.sum()) / 2:  # the index normalises, the model does not
        same |= unit
    kinds: list[RowKind] = []
    for row in range(len(lengths)):
        if lengths[row] == 0 or (lengths[row] == dimension and not np.isfinite(one.vectors[row]).all()):
            kinds.append("not finite")
        elif lengths[row] != dimension:
            kinds.append("another dimension")
        elif sizes[row] == 0:
            kinds.append("zero")
        elif not near[row]:
            kinds.append("unexplained")
        else:
            kinds.append("right" if same[row] or not lengths_count else "not normalised")
    return kinds


def rows_to_search(one: StoredAndFresh, kinds: list[RowKind]) -> Ints:
    """Return the rows that may have a different text's vector: unexplained rows, and near rows that are far for this
    file.
    """
    near = np.asarray(one.distance <= one.tolerance)
    limit = max(SMALL_DISTANCE, SMALL_FACTOR * float(np.median(one.distance[near]))) if near.any() else 0.0
    open_kinds = np.array([kind in ("unexplained", "right", "not normalised") for kind in kinds], bool)
    return np.flatnonzero(open_kinds & ~(one.distance <= limit))


@dataclass(frozen=True)
class NearestRows:
    """For each wanted vector, the row of the nearest vector (-1 if none is near enough) and its distance."""

    row: Ints
    distance: Floats


def nearest_equal(wanted: Vectors, vectors: Vectors, *, but: Ints, tolerance: float) -> NearestRows:
    """Return the nearest of `vectors` [m, d] to each of `wanted` [n, d], except row `but`, if the two are equal."""
    return nearest_equal_in_blocks(wanted, iter([(0, vectors)]), but=but, tolerance=tolerance, sketch=False)


def finite_blocks(blocks: Iterator[VectorBlock]) -> Iterator[tuple[int, Vectors]]:
    """Yield (first row, vectors) with values that are not finite replaced by 0."""
    for block in blocks:
        finite: Bools = np.asarray(np.isfinite(block.vectors).all(axis=1), bool)
        yield block.start, block.vectors if finite.all() else np.where(finite[:, None], block.vectors, np.float32(0))


def nearest_equal_in_blocks(
    wanted: Vectors, blocks: Iterator[tuple[int, Vectors]], *, but: Ints, tolerance: float, sketch: bool = True
) -> NearestRows:
    """Return the same as `nearest_equal`, for blocks of vectors that do not fit in memory.

    With `sketch`, the nearest vector of a block is searched in 64 random dimensions, in which equal vectors stay equal,
    and then compared in full. So the search of a million vectors takes seconds.
    """
    best, least = np.full(len(wanted), -1, np.intp), np.full(len(wanted), np.inf)
    directions = unit_vectors(wanted)
    projection = np.random.default_rng(0).standard_normal((wanted.shape[1], SKETCHED)).astype(np.float32)
    queries = unit_vectors(directions @ projection) if sketch else directions
    step = max(1, min(SCORES_AT_ONCE // max(len(wanted), 1), ROWS_AT_ONCE))
    for start, vectors in blocks:
        for first in range(start, start + len(vectors), step):
            others = vectors[first - start : first - start + step]
            scores = queries @ unit_vectors(others @ projection if sketch else others).T
            own = np.flatnonzero((but >= first) & (but < first + len(others)))
            scores[own, but[own] - first] = -2
            nearest = scores.argmax(axis=1)
            distance = 1 - np.einsum("ij,ij->i", directions, unit_vectors(others[nearest]), dtype=np.float64)
            distance[scores[np.arange(len(queries)), nearest] == -2] = np.inf
            closer = (distance <= tolerance) & (distance < least)
            best[closer], least[closer] = first + nearest[closer], distance[closer]
    return NearestRows(best, least)


Encode = Callable[[Sequence[str]], tuple[Vectors, NDArray[np.bool_]]]
WORD = re.compile(r"\S+")
FIRST_TRIED = 32  # beginnings of a text tried before searching the best stretch
PROMISING = 0.7  # maximum distance of the best one, as a share of the whole text's
BEGINNING_CHARACTERS = 2_000_000  # of all beginnings together, rounded to whole texts


@dataclass(frozen=True, slots=True)
class Beginning:
    """The part of a text that was encoded: its first `words` words, the last of which may be cut, or `characters`."""

    words: int
    characters: int


@dataclass(frozen=True)
class FoundBeginnings:
    """The beginnings that were found, by position of the text. `searched` is the number of texts examined."""

    found: Mapping[int, Beginning]
    searched: int


def find_beginnings(
    texts: Sequence[str], stored: Vectors, distance: NDArray[np.float64], encode: Encode, *, tolerance: float, seed: int
) -> FoundBeginnings:
    """Find, for each text, the beginning whose vector is the stored one. `stored` has shape [n, d].

    `distance` is the distance of the whole text's vector. First, 32 beginnings of a text are tried, and those that end
    in its last word. If one beginning is much nearer than the whole text, each word around its end is tried, and then
    each character, because a tokenizer can cut inside words.
    """
    ends = [[match.end() for match in WORD.finditer(text)] for text in texts]
    order = [place for place in np.random.default_rng(seed).permutation(len(texts)) if len(ends[place]) > 1]
    work = np.cumsum([len(texts[place]) * min(FIRST_TRIED, len(ends[place])) / 2 for place in order])
    order = order[: int((work <= BEGINNING_CHARACTERS).sum()) or 1]
    wanted = unit_vectors(stored)
    best = {place: (float(distance[place]) * PROMISING, 0) for place in order}

    def try_beginnings(candidates: Mapping[int, Sequence[int]]) -> None:
        asked = [(place, end) for place, some in candidates.items() for end in some]
        if not asked:
            return
        vectors, known = encode([texts[place][:end] for place, end in asked])
        for (place, end), vector, is_known in zip(asked, unit_vectors(vectors), known, strict=True):
            if is_known and (near := 1 - float(vector @ wanted[place])) < best[place][0]:
                best[place] = near, end

    def still_open() -> list[int]:
        return [place for place, (near, end) in best.items() if end and near > tolerance]

    spread = {}  # the ends to try first, spread evenly
    for place in order:
        inner = ends[place][:-1]
        chosen = np.unique(np.linspace(0, len(inner) - 1, min(FIRST_TRIED, len(inner))).round().astype(int))
        spread[place] = [inner[i] for i in chosen]
    try_beginnings({place: [*some, *range(ends[place][-2] + 1, ends[place][-1])] for place, some in spread.items()})
    try_beginnings({place: _ends_around(spread[place], best[place][1], ends[place]) for place in still_open()})
    try_beginnings({place: _characters_around(ends[place], best[place][1]) for place in still_open()})
    found = {
        place: Beginning(sum(e < end for e in ends[place]) + 1, end)
        for place, (near, end) in best.items()
        if end and near <= tolerance
    }
    return FoundBeginnings(found, len(order))


def _ends_around(tried: Sequence[int], best: int, ends: Sequence[int]) -> list[int]:
    """Return the ends between the two tried ends next to the best one."""
    if best not in tried:  # inside the last word
        return []
    at = tried.index(best)
    low = tried[at - 1] if at else 0
    high = tried[at + 1] if at + 1 < len(tried) else ends[-1]
    return [end for end in ends if low < end < high and end != best]


def _characters_around(ends: Sequence[int], best: int) -> list[int]:
    """Return each character position from the end before the best one to the end after it."""
    if best not in ends:
        return []
    at = ends.index(best)
    low = ends[at - 1] if at else 0
    high = ends[at + 1] if at + 1 < len(ends) else best
    return [end for end in range(low + 1, high) if end not in (best,)]


Cause = Literal["another model", "earlier texts", "another prompt", "truncated", "unknown"]
FEWEST_OF_A_GROUP = 8  # minimum rows to determine a cause
RELATED = 0.4  # correlation of the texts' mutual similarities, stored and fresh
MOST_RELATED, PERMUTATIONS = 200, 99  # rows whose similarities are compared; permutations for chance
FEWEST_UNASKED = 20  # rows that show a different model if texts cannot be encoded without some of their words
EVEN = 0.25  # spread of the distances over their mean
ELSEWHERE = 0.8  # distance from which vectors are unrelated: of two models, or of two texts
NEARER = 0.15  # part of the distance removed by leaving words out
EDITED, UNEDITED = 0.2, 0.2  # share of rows with this effect: shown to be above the first, or at most the second
ONE_WAY = 0.35  # part of the squared distance explained by the other rows' mean difference
ROWS_TRIED = 20  # rows of a group whose texts are encoded without some of their words
CHARACTERS_TRIED = 400_000  # of all such texts of a group
MOST_WINDOWS, FEWEST_WINDOWS = 30, 4


CAUSE_WORDS: dict[Cause, str] = {
    "another model": "another model's, or this model's with other settings",
    "earlier texts": "perhaps of earlier texts",
    "another prompt": "perhaps with another prompt or title before the text",
    "truncated": "this model's, but one of the two was truncated",
    "unknown": "not this model's; cause unknown",
}


@dataclass(frozen=True)
class RowGroup:
    """Rows of the file that may have one cause, and the evidence in a sentence. `says` is the cause in words."""

    cause: Cause
    rows: tuple[int, ...]
    evidence: str
    says: str


def make_group(cause: Cause, rows: tuple[int, ...], evidence: str) -> RowGroup:
    """Return a group with its cause in words."""
    return RowGroup(cause, rows, evidence, CAUSE_WORDS[cause])


def split_into_groups(rows: Ints, right: Ints) -> Iterator[Ints]:
    """Yield runs of rows with no right row between them. The rows of shorter runs form one group.

    `rows` and `right` are ascending.

    >>> [one.tolist() for one in split_into_groups(np.arange(3, 15), np.array([2, 15]))]
    [[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]]
    """
    before = np.searchsorted(right, rows)
    runs = np.split(rows, np.flatnonzero(np.diff(before)) + 1) if len(rows) else []
    yield from (run for run in runs if len(run) >= FEWEST_OF_A_GROUP)
    if scattered := [run for run in runs if len(run) < FEWEST_OF_A_GROUP]:
        yield np.concatenate(scattered)


def explain_group(
    rows: Ints, stored: Vectors, fresh: Vectors, texts: Sequence[str] | None, encode: Encode | None, *, seed: int
) -> RowGroup:
    """Return the probable cause for a group; `stored` and `fresh` have shape [rows, d].

    `texts` and `encode` are None if the model cannot encode. Then edits cannot be detected.
    """
    numbers = tuple(rows.tolist())
    if len(rows) < FEWEST_OF_A_GROUP:
        return make_group(
            "unknown", numbers, f"{len(rows)} rows are too few to show a cause, which takes {FEWEST_OF_A_GROUP}"
        )
    v, f = unit_vectors(stored), unit_vectors(fresh)
    distance = 1 - np.einsum("ij,ij->i", v, f, dtype=np.float64)
    said = [f"cosines to the fresh vectors from {1 - distance.max():.2f} to {1 - distance.min():.2f}"]
    # The median part of each row's squared difference explained by the other rows' mean difference.
    moves = (v - f).astype(np.float64)
    others = (moves.sum(axis=0) - moves) / (len(moves) - 1)
    left = ((moves - others) ** 2).sum(axis=1) / (moves**2).sum(axis=1)
    common_direction = float(1 - np.median(left))
    (related, is_beyond_chance), one_way = _similarity_correlation(v, f, seed=seed), common_direction
    said.append(f"the similarities among these rows correlate {related:.2f} with those of the fresh vectors")
    edited = _count_edited(v, distance, texts, encode, seed=seed) if texts is not None and encode is not None else None
    if edited:
        said.append(f"{edited[0]} of {edited[1]} are nearer to their text without some of its words")
    cause: Cause = "unknown"
    is_elsewhere = distance.mean() >= ELSEWHERE
    even = distance.std() <= EVEN * distance.mean() and (edited is not None or len(rows) >= FEWEST_UNASKED)
    if edited and 1 - share_upper_bound(edited[1] - edited[0], edited[1]) > EDITED:
        cause = "earlier texts"
    elif edited and edited[0] > UNEDITED * edited[1]:
        cause = "unknown"
    elif (is_elsewhere and is_beyond_chance) or (related >= RELATED and even):
        cause = "another model"
    elif related >= RELATED and one_way >= ONE_WAY:
        cause = "another prompt"
        said.append(f"one common direction explains {one_way:.0%} of the difference")
    return make_group(cause, numbers, "; ".join(said))


def _similarity_correlation(v: Vectors, f: Vectors, *, seed: int) -> tuple[float, bool]:
    """Return the correlation of the cosines of all pairs of rows, and whether it exceeds chance (Mantel 1967)."""
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


def _count_edited(
    v: Vectors, distance: Floats, texts: Sequence[str], encode: Encode, *, seed: int
) -> tuple[int, int] | None:
    """Return how many rows are nearer to their text without some of its words, and how many were tried."""
    able = [row for row, text in enumerate(texts) if len(WORD.findall(text)) > 2]
    if len(able) < FEWEST_OF_A_GROUP:
        return None
    tried = sorted(np.random.default_rng(seed).permutation(able)[:ROWS_TRIED].tolist())
    size = CHARACTERS_TRIED / (len(tried) * 4 * max(sum(len(texts[row]) for row in tried) / len(tried), 1))
    windows = int(np.clip(size, FEWEST_WINDOWS, MOST_WINDOWS))
    shorter = {row: list(_without_words(texts[row], windows)) for row in tried}
    vectors = iter(unit_vectors(encode([text for some in shorter.values() for text in some])[0]))
    nearer = 0  # even an unrelated text is nearer without some of its words, by chance
    for row, some in shorter.items():
        near = min(1 - float(v[row] @ next(vectors)) for _ in some)
        nearer += distance[row] < ELSEWHERE and near <= (1 - NEARER) * distance[row]
    return nearer, len(tried)


def _without_words(text: str, windows: int) -> Iterator[str]:
    """Yield the text without its beginning, its end, or one or two of about `windows` stretches of words."""
    words = text.split()
    step = -(-len(words) // windows)
    for start in range(0, len(words), step):
        for end in (start + step, start + 2 * step):
            if shorter := words[:start] + words[end:]:
                yield " ".join(shorter)
        if start:
            yield " ".join(words[:start])
            yield " ".join(words[start:])

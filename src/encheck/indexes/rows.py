"""Stored vectors beside fresh ones of the same texts: which are this model's, and what is wrong with the others. Pure.

Two vectors are the same if they differ by no more than half precision in another batch (`ROUNDING` of 1 - cosine).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.stored_index import VectorBlock
from encheck.scoring.nearest import directions_of
from encheck.similarity import ROUNDING, cosine

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
Kind = Literal[
    "right", "another text", "shortened", "zero", "not normalised", "not finite", "another dimension",
    "no text", "unexplained",
]  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "right", "another text", "shortened", "zero", "not normalised", "not finite", "another dimension",
    "unexplained", "no text",
)  # fmt: skip
SAME_LENGTH = 0.01  # relative
QUIET, QUIETER = 1e-5, 10  # a small distance above the first, and so many times the median, is looked into
MOST_LOST = 0.02  # of 1 - cosine, that storing a vector as integers may cost
SKETCHED = 64  # dimensions of a random projection
ROWS_AT_ONCE = 10_000
SCORES_AT_ONCE = 1 << 25


@dataclass(frozen=True)
class Comparison:
    """Each row's `distance` (1 - cosine, NaN where there is none), the ratio of its length to the fresh vector's, and
    the vectors [n, d], from integers put back on the scale of the fresh ones.

    `tolerance` is the largest distance of two vectors that are the same. `calibrated` is false where integers could not
    be put back.
    """

    vectors: Vectors
    distance: Floats
    ratio: Floats
    tolerance: float
    calibrated: bool = True


def compared(stored: Vectors, fresh: Vectors, *, integers: bool) -> Comparison:
    """Compare row by row; both of shape [n, d], a row without a vector of this dimension being NaN."""
    distance = _distances(stored, fresh)
    if not integers:
        return Comparison(stored, distance, _ratios(stored, fresh), ROUNDING)
    scaled = _on_scale(stored, fresh)
    mapped = _distances(scaled, fresh)
    if not np.isfinite(mapped).any():
        return Comparison(stored, distance, _ratios(stored, fresh), ROUNDING)
    if np.nanmedian(distance) <= max(ROUNDING, np.nanmedian(mapped)):  # the integers are multiples of the numbers
        scaled, mapped = stored, distance
        scaled = scaled / np.float32(np.nanmedian(_ratios(stored, fresh)))
    middle = float(np.nanmedian(mapped))
    return Comparison(scaled, mapped, _ratios(scaled, fresh), max(ROUNDING, 4 * min(middle, MOST_LOST / 4)),
                      middle <= MOST_LOST / 4)  # fmt: skip


def _distances(first: Vectors, second: Vectors) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        return 1 - cosine(first, second)


def _ratios(stored: Vectors, fresh: Vectors) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sizes = [np.linalg.norm(one.astype(np.float64), axis=1) for one in (stored, fresh)]
        return np.asarray(sizes[0] / sizes[1], np.float64)


def _on_scale(stored: Vectors, fresh: Vectors) -> Vectors:
    """Integers put back on the scale of the fresh vectors, each dimension with a scale and an offset of its own.

    They are fitted on the better half of the rows, so that rows which are not this model's do not count.
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
            best = np.argsort(_distances((x * scale + offset).astype(np.float32), y.astype(np.float32)))[
                : max(len(x) // 2, 8)
            ]
            a, b = x[best] - x[best].mean(axis=0), y[best] - y[best].mean(axis=0)
            slope = (a * b).sum(axis=0) / (a * a).sum(axis=0)
            scale = np.where(np.isfinite(slope), slope, 0.0)
            offset = y[best].mean(axis=0) - scale * x[best].mean(axis=0)
    return (stored * scale + offset).astype(np.float32)


def first_kinds(one: Comparison, lengths: Ints, *, lengths_count: bool) -> list[Kind]:
    """What a row's own fresh vector says; "unexplained" where it says that the row is not this model's.

    `lengths` are the numbers a vector, 0 where there is none. `lengths_count`: the index compares by more than
    directions.
    """
    dimension = one.vectors.shape[1]
    near: Bools = np.asarray(one.distance <= one.tolerance, bool)
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.linalg.norm(one.vectors.astype(np.float64), axis=1)
    unit: Bools = np.asarray(np.abs(sizes - 1) <= SAME_LENGTH)
    same = np.asarray(np.abs(one.ratio - 1) <= SAME_LENGTH)
    if int((unit & near).sum()) > int(near.sum()) / 2:  # a model that does not normalise, and an index that does
        same |= unit
    kinds: list[Kind] = []
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


def suspects(one: Comparison, kinds: list[Kind]) -> Ints:
    """Rows that may be another text's: those that are none of these, and those that are near but far for this file."""
    near = np.asarray(one.distance <= one.tolerance)
    limit = max(QUIET, QUIETER * float(np.median(one.distance[near]))) if near.any() else 0.0
    open_kinds = np.array([kind in ("unexplained", "right", "not normalised") for kind in kinds], bool)
    return np.flatnonzero(open_kinds & ~(one.distance <= limit))


@dataclass(frozen=True)
class Match:
    """For each vector that was looked for: the row of the nearest one (-1: none near enough) and its distance."""

    row: Ints
    distance: Floats


def nearest_same(wanted: Vectors, vectors: Vectors, *, but: Ints, tolerance: float) -> Match:
    """The nearest of `vectors` [m, d] to each of `wanted` [n, d], except the row `but`, where it is the same."""
    return nearest_in_blocks(wanted, iter([(0, vectors)]), but=but, tolerance=tolerance, sketch=False)


def blocks_of(blocks: Iterator[VectorBlock]) -> Iterator[tuple[int, Vectors]]:
    """(first row, vectors), with 0 for what is not finite."""
    for block in blocks:
        finite: Bools = np.asarray(np.isfinite(block.vectors).all(axis=1), bool)
        yield block.start, block.vectors if finite.all() else np.where(finite[:, None], block.vectors, np.float32(0))


def nearest_in_blocks(
    wanted: Vectors, blocks: Iterator[tuple[int, Vectors]], *, but: Ints, tolerance: float, sketch: bool = True
) -> Match:
    """As `nearest_same`, among blocks of vectors that are too many to hold.

    With `sketch`, the nearest of a block is found in 64 random dimensions, where two vectors that are the same are so
    too, and then compared in full: a million vectors take seconds.
    """
    best, least = np.full(len(wanted), -1, np.intp), np.full(len(wanted), np.inf)
    directions = directions_of(wanted)
    projection = np.random.default_rng(0).standard_normal((wanted.shape[1], SKETCHED)).astype(np.float32)
    queries = directions_of(directions @ projection) if sketch else directions
    step = max(1, min(SCORES_AT_ONCE // max(len(wanted), 1), ROWS_AT_ONCE))
    for start, vectors in blocks:
        for first in range(start, start + len(vectors), step):
            others = vectors[first - start : first - start + step]
            scores = queries @ directions_of(others @ projection if sketch else others).T
            own = np.flatnonzero((but >= first) & (but < first + len(others)))
            scores[own, but[own] - first] = -2
            nearest = scores.argmax(axis=1)
            distance = 1 - np.einsum("ij,ij->i", directions, directions_of(others[nearest]), dtype=np.float64)
            distance[scores[np.arange(len(queries)), nearest] == -2] = np.inf
            closer = (distance <= tolerance) & (distance < least)
            best[closer], least[closer] = first + nearest[closer], distance[closer]
    return Match(best, least)

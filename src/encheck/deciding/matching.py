"""The cut-off of a new model that does what the old model's cut-off did.

In each replicate of one bootstrap over clusters, both models see the same pairs, and the new cut-off is chosen anew. So
the interval of the cut-off, and of what it does, holds the noise of the choice too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.deciding.promise import MIN_ACCEPTED
from encheck.deciding.rates import BASES, Base, Part, Population, Rate
from encheck.statistics.bootstrap import interval

Floats = NDArray[np.float64]
REPLICATES = 2_000
WEIGHTS_AT_ONCE = 2_000_000
NAMED = {"hits": "hits", "false_accepts": "false accepts", "recall": "recall"}
COUNTED = {"hits": "pairs", "false_accepts": "negatives", "recall": "positives"}


@dataclass(frozen=True, slots=True)
class Match:
    """The new model's cut-off for the same `way`; `accepted` of what is counted had the old model accepted.

    `change` has what becomes of the other figures, new less old. Where `refused` says why, there is no cut-off.
    """

    way: Base
    accepted: int
    cutoff: Rate | None
    change: dict[Base, Rate]
    refused: str = ""


def matched(
    population: Population, old: Floats, old_cutoff: float, new: Floats, way: Base, *, least: int = MIN_ACCEPTED
) -> Match:
    """The highest cut-off of `new` at which the share that `way` counts is that of `old` at its cut-off, or more.

    Refused where the old cut-off accepts fewer than `least` of what is counted, or where the data lack the label.
    """
    if not population.has(way):
        return Match(way, 0, None, {}, f"no pair is labelled as {COUNTED[way][:-1]}")
    accepted = int((old[population.items(way)] >= old_cutoff).sum())
    if accepted < least:
        return Match(
            way, accepted, None, {},
            f"the old cut-off accepts {accepted} {COUNTED[way]}, but {least} are needed to choose by",
        )  # fmt: skip
    others = [base for base in BASES if population.has(base) and base != way]
    whole = np.ones((1, population.clusters), np.float32)
    point, moved = _chosen(population, whole, old, old_cutoff, new, way, others)
    rows = max(1, WEIGHTS_AT_ONCE // len(population.pairs.first))
    slices = [population.weights[:REPLICATES][k : k + rows] for k in range(0, REPLICATES, rows)]
    drawn = [_chosen(population, some, old, old_cutoff, new, way, others) for some in slices if len(some)]
    cutoffs, moves = (np.concatenate([one[i] for one in drawn]) for i in (0, 1))
    change = {base: _rate(moved[0, k], moves[:, k]) for k, base in enumerate(others)}
    return Match(way, accepted, _rate(point[0], cutoffs), change)


def _rate(value: float, replicates: Floats) -> Rate:
    low, high = interval(replicates)
    return Rate(float(value), float(low), float(high))


def _chosen(
    population: Population, weights: NDArray[np.float32], old: Floats, old_cutoff: float, new: Floats, way: Base,
    others: Sequence[Base],
) -> tuple[Floats, Floats]:  # fmt: skip
    """The new cut-off in each replicate, shape [r], and what the other figures change by, shape [r, others]."""
    parts = population.parts(way)
    items, drawn = population.items(way), _item_weights(population, parts, weights)
    target = drawn @ (old[items] >= old_cutoff)
    order = np.argsort(-new[items], kind="stable")
    reached = np.cumsum(drawn[:, order], axis=1) >= target[:, None] - 1e-9
    cutoffs = np.where(np.isfinite(target), new[items][order][reached.argmax(axis=1)], np.nan)
    moved = [_moved(population, base, weights, old >= old_cutoff, new, cutoffs) for base in others]
    return cutoffs, np.stack(moved, axis=1) if moved else np.zeros((len(cutoffs), 0))


def _moved(
    population: Population, base: Base, weights: NDArray[np.float32], before: NDArray[np.bool_], new: Floats,
    cutoffs: Floats,
) -> Floats:  # fmt: skip
    """How much more the new model accepts at each replicate's cut-off than the old one did; shape [r]."""
    items, drawn = population.items(base), _item_weights(population, population.parts(base), weights)
    order = np.argsort(-new[items], kind="stable")
    counts = np.searchsorted(-new[items][order], -cutoffs, side="right")
    total = np.concatenate([np.zeros((len(drawn), 1)), np.cumsum(drawn[:, order], axis=1)], axis=1)
    found: Floats = total[np.arange(len(drawn)), counts] - drawn @ before[items]
    return found


def _item_weights(population: Population, parts: Sequence[Part], weights: NDArray[np.float32]) -> Floats:
    """The weight of each item in each replicate, of all together 1 (NaN where none is drawn); shape [r, m]."""
    return np.concatenate(list(_weighed(population, parts, weights)), axis=1)


def _weighed(population: Population, parts: Sequence[Part], weights: NDArray[np.float32]) -> Iterator[Floats]:
    for part in parts:
        drawn = weights[:, population.pairs.codes[part.items]].astype(np.float64) * part.worth
        with np.errstate(invalid="ignore", divide="ignore"):
            yield drawn * (part.share / drawn.sum(axis=1, keepdims=True))

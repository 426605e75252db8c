"""Rates on crossed groups. A group has two sources and two texts; each text is right for one of the sources.

If the sources look alike, a scorer that uses only the surface, without noise, wins one side of a group and loses the
other. With noise, the mean of both sides is one half only if the surfaces differ equally. So the adjusted rate of all
sides decides whether the model detects meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.adjusted import adjusted_rate, meaning_in_words
from encheck.metrics.metric import (
    estimate_from_replicates,
    estimate_share,
    metric,
    safe_ratio,
    widen_near_0_and_1,
    with_surface_figures,
)
from encheck.metrics.pairs import margin_wins, wins
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import CrossedScores, MarginScores, Scale
from encheck.surface import UNBALANCED_SCORERS
from encheck.types import Estimate

Floats = NDArray[np.float64]


def _product_of_side_wins(table: CaseScores, scale: Scale, *, epsilon: float = 0.0) -> Floats:
    """Return the product of the two sides' results of each group, shape [groups]."""
    worths = wins(table, scale, epsilon=epsilon)
    result: Floats = (
        np.array([worths[rows] for rows in table.chain_rows]).reshape(len(table.chain_rows), -1).prod(axis=1)
    )
    return result


@metric(values=wins, kind="rate", chance=0.5, label="share won, mean of both directions", sides=True)
def directions_mean(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Return the mean over groups of the share of their two sides that the model wins; a tie counts as one half."""
    return _share_of_groups("directions_mean", scores, margin_wins(scores.margins, epsilon).mean(axis=1), epsilon)


@metric(values=_product_of_side_wins, kind="rate", chance=0.25, label="share won in both directions", unit="chain")
def both_directions(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Return the share of groups in which the model wins both sides; a tie counts as half a side.

    The params say whether the model detects meaning, which is a weaker statement: see `adjusted.meaning_in_words`.
    """
    result = _share_of_groups("both_directions", scores, margin_wins(scores.margins, epsilon).prod(axis=1), epsilon)
    adjusted = adjusted_rate(_sides_with_unbalanced_scorers(scores), epsilon=epsilon)
    return replace(
        result, params={**result.params, "meaning": adjusted.params.get("meaning", meaning_in_words(adjusted))}
    )


def _sides_with_unbalanced_scorers(scores: CrossedScores) -> MarginScores:
    """Return the sides as triplets, with the scores of the rivals whose features the adjusted rate does not balance."""
    return replace(
        scores.sides, surface={name: one.sides for name, one in scores.surface.items() if name in UNBALANCED_SCORERS}
    )


@metric(chance=0.5, label="share won in the worse direction", whole="which direction is worse is known of all items")
def worse_direction(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Return the smaller of the two directions' rates. The params name that direction."""
    worths = margin_wins(scores.margins, epsilon)
    rates = worths.mean(axis=0)
    totals = scores.resampler.replicate_totals(np.column_stack([worths, np.ones(len(worths))]))
    replicates = safe_ratio(totals[:, :-1], totals[:, -1:]).min(axis=1)
    estimate = estimate_from_replicates("worse_direction", scores, rates.min(), replicates)
    return replace(widen_near_0_and_1(estimate), params={"epsilon": epsilon, "side": int(rates.argmin()) + 1})


@metric(
    chance=0.5, label="share of groups whose margins add up to more than 0", reported="the gate weighs both directions"
)
def interaction(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Return the share of groups whose two margins add up to more than `epsilon`; a tie counts as one half.

    A constant that a text adds to all its similarities cancels out, since the text is near on one side and far on the
    other.
    """
    return _share_of_groups("interaction", scores, margin_wins(scores.margins.sum(axis=1), epsilon), epsilon)


@with_surface_figures
def direction_rate(scores: CrossedScores, *, side: int, epsilon: float = 0.0) -> Estimate:
    """Return the rate of the first or the second sides; see `Crossed` for which side is the first."""
    return _share_of_groups(f"direction_{side}", scores, margin_wins(scores.margins, epsilon)[:, side - 1], epsilon)


def crossed_figures(scores: CrossedScores, *, epsilon: float = 0.0) -> Iterator[Estimate]:
    """Yield the figures that are reported with the share of groups won in both directions."""
    yield directions_mean(scores, epsilon=epsilon)
    yield adjusted_rate(_sides_with_unbalanced_scorers(scores), epsilon=epsilon)
    yield worse_direction(scores, epsilon=epsilon)
    yield from (direction_rate(scores, side=side, epsilon=epsilon) for side in (1, 2))
    yield interaction(scores, epsilon=epsilon)


def _share_of_groups(name: str, scores: CrossedScores, values: Floats, epsilon: float) -> Estimate:
    return estimate_share(name, scores.resampler, values, params={"epsilon": epsilon})

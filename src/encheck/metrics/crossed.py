"""Rates on crossed groups: two sources compete for two texts, each of which is right for one of them.

If the sources look alike, a scorer that goes by the surface alone, without noise, wins one side of a group and loses
the other. With noise, the mean of both is one half only if the surfaces differ equally. So the adjusted rate of all
sides decides whether meaning is detected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from encheck.metrics.adjusted import adjusted_rate, meaning
from encheck.metrics.metric import estimated, figure, metric, no_narrower, ratio, share_of
from encheck.metrics.pairs import won, worth
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import CrossedScores, MarginScores, Scale
from encheck.surface import UNBALANCED_SCORERS
from encheck.types import Estimate

Floats = NDArray[np.float64]


def _both(table: CaseScores, scale: Scale, *, epsilon: float = 0.0) -> Floats:
    # The result of each side, shape [groups, 2].
    worths = won(table, scale, epsilon=epsilon)
    result: Floats = np.array([worths[rows] for rows in table.chains]).reshape(len(table.chains), -1).prod(axis=1)
    return result


@metric(values=won, kind="rate", chance=0.5, label="share won, mean of both directions", sides=True)
def directions_mean(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Mean over groups of the share of their two sides that is won; a tie counts as one half."""
    return _share("directions_mean", scores, worth(scores.margins, epsilon).mean(axis=1), epsilon)


@metric(values=_both, kind="rate", chance=0.25, label="share won in both directions", unit="chain")
def both_directions(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Share of groups whose sides are both won; a tie counts as half a side.

    The params say whether meaning is detected, a weaker statement: see `adjusted.meaning`.
    """
    result = _share("both_directions", scores, worth(scores.margins, epsilon).prod(axis=1), epsilon)
    adjusted = adjusted_rate(_beside_rivals(scores), epsilon=epsilon)
    return replace(result, params={**result.params, "meaning": adjusted.params.get("meaning", meaning(adjusted))})


def _beside_rivals(scores: CrossedScores) -> MarginScores:
    """The sides as triplets, with those of the rivals whose features the adjusted rate does not balance."""
    return replace(
        scores.sides, surface={name: one.sides for name, one in scores.surface.items() if name in UNBALANCED_SCORERS}
    )


@metric(chance=0.5, label="share won in the worse direction", whole="which direction is worse is known of all items")
def worse_direction(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """The smaller of the two directions' rates; the params name the direction."""
    worths = worth(scores.margins, epsilon)
    rates = worths.mean(axis=0)
    totals = scores.resampler.totals(np.column_stack([worths, np.ones(len(worths))]))
    replicates = ratio(totals[:, :-1], totals[:, -1:]).min(axis=1)
    estimate = estimated("worse_direction", scores, rates.min(), replicates)
    return replace(no_narrower(estimate), params={"epsilon": epsilon, "side": int(rates.argmin()) + 1})


@metric(
    chance=0.5, label="share of groups whose margins add up to more than 0", reported="the gate weighs both directions"
)
def interaction(scores: CrossedScores, *, epsilon: float = 0.0) -> Estimate:
    """Share of groups whose margins of both sides add up to more than `epsilon`; a tie counts as one half.

    A constant that a text adds to all its similarities cancels there, since it is near on one side, far on the other.
    """
    return _share("interaction", scores, worth(scores.margins.sum(axis=1), epsilon), epsilon)


@figure
def direction(scores: CrossedScores, *, side: int, epsilon: float = 0.0) -> Estimate:
    """The rate of the first or the second sides; see `Crossed` for which side is the first."""
    return _share(f"direction_{side}", scores, worth(scores.margins, epsilon)[:, side - 1], epsilon)


def figures(scores: CrossedScores, *, epsilon: float = 0.0) -> Iterator[Estimate]:
    """The figures reported with the share of groups won in both directions."""
    yield directions_mean(scores, epsilon=epsilon)
    yield adjusted_rate(_beside_rivals(scores), epsilon=epsilon)
    yield worse_direction(scores, epsilon=epsilon)
    yield from (direction(scores, side=side, epsilon=epsilon) for side in (1, 2))
    yield interaction(scores, epsilon=epsilon)


def _share(name: str, scores: CrossedScores, values: Floats, epsilon: float) -> Estimate:
    return share_of(name, scores.resampler, values, params={"epsilon": epsilon})

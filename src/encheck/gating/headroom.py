"""Headroom: how far above chance a figure is shown to be. Below chance a rate rises with damage."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from encheck.gating.types import DEFAULT, Paired, Rule
from encheck.statistics import paired as stats
from encheck.statistics.sharing import sharing_of


def is_at_chance(one: Paired, delta: float, rule: Rule) -> bool:
    """Whether guessing does as well, or less than 2 deltas worse, for all that the baseline shows.

    By the lower end of its 95% interval. A figure that has no chance never is.
    """
    return one.chance is not None and not _bounds(one, rule)[0] > one.chance + 2 * delta


def no_headroom(one: Paired, delta: float, rule: Rule) -> str:
    """Why the baseline has too little to lose; empty if it has enough, or where the figure has no bottom."""
    mean, (low, high) = float(one.baseline.mean()), _bounds(one, rule)
    if is_at_chance(one, delta, rule) and one.chance is not None:
        word = "below" if high < one.chance else "at"
        return (
            f"{word} chance: the baseline {_has(one)} {_shown(one, mean)} [{_shown(one, low)}, {_shown(one, high)}] "
            f"and guessing {_shown(one, one.chance)}; to count towards passing, its lower bound has to be above "
            f"{_shown(one, one.chance + 2 * delta)}"
        )
    if one.chance is None and one.kind == "rate" and not low > 2 * delta:
        return f"no headroom: the baseline wins {mean:.1%} [{low:.1%}, {high:.1%}], so it never counts towards passing"
    return ""


def rise_is_evidence(one: Paired, delta: float, rule: Rule = DEFAULT) -> bool:
    """Whether a rise of this figure speaks for the candidate: by its own figure, it has headroom as a baseline would.

    A model that guesses, or does worse, can rise by damage.
    """
    return not no_headroom(replace(one, baseline=one.candidate), delta, rule)


def _bounds(one: Paired, rule: Rule) -> tuple[float, float]:
    """The interval of the baseline's figure, of confidence `rule.level`; NaN where it is withheld."""
    sharing = sharing_of(one.things)
    if sharing.withheld:
        return nan, nan
    if one.kind == "rate":
        low, high = sharing.rate_interval(one.baseline)
        return float(low[0]), float(high[0])
    found = sharing.errors(one.baseline)
    reach = float(stats.t_quantile((1 + rule.level) / 2, found.free) * found.error[0])
    mean = float(found.mean[0])
    return mean - reach, mean + reach


def _has(one: Paired) -> str:
    return "wins" if one.kind == "rate" else "has"


def _shown(one: Paired, figure: float) -> str:
    return f"{figure:.1%}" if one.kind == "rate" else f"{figure:.3f}"

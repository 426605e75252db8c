"""What the old model sees: where it beats guessing by two deltas, for certain, on items that are tested nowhere.

A figure that is at chance or below may rise with damage and fall with repair: such a loss says nothing. Were it chosen
by the items that are tested, chance would raise the old model's figure in what is chosen, and an equal model would seem
to lose. So it is told by the dev part of the data. Data without one are looked at by a quarter of their clusters; where
that does not show it, by a half. The others are tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from encheck.gating.declared import chance_of, declared_of, gating
from encheck.gating.pairing import DEV_SPLIT, GATE_SPLIT, Compared, compare
from encheck.gating.types import DEFAULT as RULE
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics import paired as stats
from encheck.statistics.sharing import numbered, sharing_of
from encheck.types import content_hash

Ints = NDArray[np.intp]
QUARTERS = 4
LOOKS = (1, 2)  # quarters of the clusters that are looked at, of data without a dev part
FEWEST = 64  # clusters that are divided: fewer gate nothing, and a quarter of them shows nothing


@dataclass(frozen=True)
class Sight:
    """Both models on the items that are tested, by case, and the baseline on others, where it is asked what it sees."""

    old: Mapping[str, CaseScores]
    new: Mapping[str, CaseScores]
    aside: Mapping[str, CaseScores]


def look(old: Mapping[str, CaseScores], new: Mapping[str, CaseScores], scales: Mapping[str, Scale]) -> Sight:
    """Divide the items, which are the same and in the same order under both models; `scales` are the baseline's."""
    tested = {name: table.seen(GATE_SPLIT) for name, table in old.items()}
    aside = {name: table.seen(DEV_SPLIT) for name, table in asked(old).items()}
    whole = {name for name, table in aside.items() if not table.items or len(table.items) == len(old[name].items)}
    places: dict[str, Ints] = {}
    rates = sorted((name for name in aside if _metric_kind(old[name]) == "rate"), key=lambda n: str(old[n].gate_row))
    for _, names in groupby(rates, key=lambda name: str(old[name].gate_row)):
        some = list(names)
        undivided = [name for name in some if name in whole]
        aside |= {name: tested[name] for name in undivided}
        if len({key for name in undivided for key in _keys(tested[name])}) >= FEWEST:
            quarters = {name: _quarters(tested[name]) for name in undivided}
            for count in LOOKS:
                aside |= {n: tested[n].of(np.flatnonzero(quarters[n] < count)) for n in undivided}
                places |= {n: np.flatnonzero(quarters[n] >= count) for n in undivided}
                if not guesses([itself(aside[n], scales) for n in some if aside[n].items]):
                    break
    after = {name: table.seen(GATE_SPLIT) for name, table in new.items()}
    for name, at in places.items():
        tested[name], after[name] = tested[name].of(at), after[name].of(at)
    return Sight(tested, after, {name: table for name, table in aside.items() if table.items})


def asked(tables: Mapping[str, CaseScores]) -> dict[str, CaseScores]:
    """The cases whose figure has a chance: those of behaviour of which guessing gets something."""
    return {name: table for name, table in tables.items() if _has_chance(table)}


def _has_chance(table: CaseScores) -> bool:
    metric = gating(table)[0]
    if metric is None or metric.values is None or table.answers or declared_of(table).primary:
        return False
    return chance_of(table, metric) is not None


def _metric_kind(table: CaseScores) -> str:
    metric = gating(table)[0]
    assert metric is not None
    return metric.kind


def _quarters(table: CaseScores) -> Ints:
    """The quarter of each item, 0 to 3: that of its cluster, or of its own texts where items of clusters overlap."""
    return np.array([int(content_hash("sight", key)[:8], 16) % QUARTERS for key in _keys(table)], np.intp)


def _keys(table: CaseScores) -> tuple[str, ...]:
    return table.texts if table.shares else table.clusters


def itself(aside: CaseScores, scales: Mapping[str, Scale]) -> Compared:
    """The baseline's own figures on these items."""
    scale = scales.get(aside.data, Scale(0.0))
    found = compare(aside, aside, (scale, scale))
    assert found is not None
    return found


def unseen(some: Sequence[Compared]) -> str:
    """Why the baseline is not shown to see these cases together; empty if it is, and where nobody asks."""
    asides = [one.aside for one in some if one.aside is not None]
    return guesses(asides) if asides else ""


def guesses(asides: Sequence[Compared]) -> str:
    """Why the baseline's own figures are not shown to be above chance by two deltas; empty if they are."""
    values = np.concatenate([one.old for one in asides]) if asides else np.zeros(0)
    chance = sum(float(one.chance or 0) * len(one.old) for one in asides) / max(len(values), 1)
    is_rate = all(one.metric.kind == "rate" for one in asides)
    low, least = _low(values, asides, is_rate=is_rate), chance + 2 * (RULE.rate_delta if is_rate else RULE.mean_delta)
    if low > least:
        return ""
    figures = [f"{100 * one:.1f}%" if is_rate else f"{one:.3f}" for one in (values.mean(), low, chance, least)]
    if isnan(low):
        return f"the old model is not shown to do better than guessing: only {len(values)} other items are there to say"
    return (
        f"the old model is not shown to do better than guessing: of {len(values):,} other items it has {figures[0]}, "
        f"at least {figures[1]}; guessing has {figures[2]}, and from {figures[3]} on it counts"
    )


def _low(values: NDArray[np.float64], asides: Sequence[Compared], *, is_rate: bool) -> float:
    """The lower end of the 95% interval of their mean; NaN where it is withheld."""
    if not len(values):
        return nan
    sharing = sharing_of(numbered([names for one in asides for names in one.before.things]))
    if sharing.withheld:
        return nan
    if is_rate:
        return float(sharing.rate_interval(values)[0][0])
    found = sharing.errors(values)
    return float(found.mean[0] - stats.t_quantile((1 + RULE.level) / 2, found.free) * found.error[0])

"""The balanced score, reported with the verdict: sensitivity, invariance and retrieval with equal weight.

Training for sensitivity alone costs 8 to 40% of retrieval quality; this score counts that loss as much as the gain.
Rates count from chance. Below chance they count as 0, since damage raises such rates. lab/decisions/0020 describes the
alternatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from encheck.gating.pairing import chance_level, declaration_of, gating_metric
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics.bootstrap import Resampler

Floats = NDArray[np.float64]
PARTS = {
    "sensitivity": ("meaning changed", "order"),
    "invariance": ("meaning kept", "invariance"),
    "retrieval": ("retrieval",),
}


def score_part_of_family(family: str) -> str | None:
    """Return the part of the balanced score to which a family contributes, or None for health and contracts.

    >>> score_part_of_family("order"), score_part_of_family("health")
    ('sensitivity', None)
    """
    return next((part for part, families in PARTS.items() if family in families), None)


@dataclass(frozen=True)
class PropertyWins:
    """The items of a property: their results (`values`), chance levels (`chances`), both of shape [n], and clusters."""

    values: Floats
    chances: Floats
    clusters: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """The mean over the items."""
        return float(self.values.mean())

    @property
    def share(self) -> float:
        """The rate rescaled so that chance is 0 and a perfect rate is 1; 0 below chance."""
        chance = float(self.chances.mean())
        return max(self.rate - chance, 0.0) / (1 - chance)


def property_wins(tables: Mapping[str, CaseScores], scales: Mapping[str, Scale]) -> dict[str, PropertyWins]:
    """Return the results by property, over the checks and levels that gate by a rate and contribute to the score."""
    found: dict[str, list[tuple[Floats, Floats, tuple[str, ...]]]] = {}
    for table in tables.values():
        metric, _ = gating_metric(table)
        if metric and metric.kind == "rate" and score_part_of_family(declaration_of(table).family) and len(table.items):
            values = metric.item_values(table, scales.get(table.data, Scale(0.0)))
            chances = np.full(len(values), chance_level(table, metric) or 0.0)
            found.setdefault(table.property, []).append((values, chances, metric.value_rows(table).clusters))
    pooled = {}
    for name, some in sorted(found.items()):
        wins, guesses, names = zip(*some, strict=True)
        pooled[name] = PropertyWins(np.concatenate(wins), np.concatenate(guesses), tuple(chain(*names)))
    return pooled


def shares_above_chance(tables: Mapping[str, CaseScores], scales: Mapping[str, Scale]) -> dict[str, float]:
    """Return the share of each property (`PropertyWins.share`), from which the balanced score is computed."""
    return {name: one.share for name, one in property_wins(tables, scales).items()}


def property_families(tables: Mapping[str, CaseScores]) -> dict[str, str]:
    """Return the family of each property."""
    return {table.property: declaration_of(table).family for table in tables.values()}


def part_means(rates: Mapping[str, float], families: Mapping[str, str]) -> dict[str, float]:
    """Return the mean over the properties of each part; `families` maps each property to its family.

    >>> part_means({"number": 0.5, "retrieval": 0.8}, {"number": "meaning changed", "retrieval": "retrieval"})
    {'sensitivity': 0.5, 'retrieval': 0.8}
    """
    found = {}
    for part in PARTS:
        own = [rate for name, rate in rates.items() if score_part_of_family(families[name]) == part]
        if own:
            found[part] = float(np.mean(own))
    return found


def balanced_score(shares: Mapping[str, float], families: Mapping[str, str]) -> float | None:
    """Return the geometric mean of sensitivity, invariance and retrieval, or None if one of them was not measured.

    >>> families = {"number": "meaning changed", "casing": "invariance", "retrieval": "retrieval"}
    >>> balanced_score({"number": 0.4, "casing": 0.9, "retrieval": 0.6}, families)
    0.6
    """
    found = part_means(shares, families)
    return round(float(np.prod(list(found.values())) ** (1 / len(PARTS))), 12) if len(found) == len(PARTS) else None


def rate_and_chance_replicates(own: Mapping[str, PropertyWins], seed: int) -> dict[str, tuple[Floats, Floats]]:
    """Return the rate and the chance level of each property in each bootstrap replicate, shape [replicates].

    All properties use the same draws, which depend only on the clusters and the seed. So the replicates of two models
    on the same items are paired.
    """
    universe = sorted({cluster for one in own.values() for cluster in one.clusters})
    found = {}
    for name, one in own.items():
        columns = np.column_stack([one.values, one.chances, np.ones(len(one.values))])
        won_, chance, count = Resampler(one.clusters, universe=universe, seed=seed).replicate_totals(columns).T
        with np.errstate(invalid="ignore", divide="ignore"):
            found[name] = (won_ / count, chance / count)
    return found


def balanced_score_replicates(own: Mapping[str, PropertyWins], families: Mapping[str, str], seed: int) -> Floats:
    """Return the geometric mean of the parts to which these properties contribute, by replicate; shape [replicates].

    With all three parts this is the balanced score. With one part it is that part's mean.
    """
    drawn = rate_and_chance_replicates(own, seed).items()
    shares = {name: np.maximum(rate - chance, 0) / (1 - chance) for name, (rate, chance) in drawn}
    parts_of = {name: score_part_of_family(families[name]) for name in shares}
    means = [
        np.mean([shares[name] for name in shares if parts_of[name] == part], axis=0)
        for part in PARTS
        if part in parts_of.values()
    ]
    found: Floats = np.prod(means, axis=0) ** (1 / len(means))
    return found

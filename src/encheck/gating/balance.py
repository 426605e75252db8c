"""One number beside the verdict: sensitivity, invariance and retrieval, weighed together.

Training for sensitivity alone costs 8 to 40% of retrieval quality: what is lost there weighs as much here as what is
gained.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from encheck.gating.declared import declared_of, gating
from encheck.scoring.scores import Scale
from encheck.scoring.table import Table

PARTS = {
    "sensitivity": ("meaning changed", "order"),
    "invariance": ("meaning kept", "invariance"),
    "retrieval": ("retrieval",),
}
_UNUSED = Scale(0.0, 1.0)  # a rate needs no scale


def part_of(family: str) -> str | None:
    """The part of the balanced score that a family counts in; None for health and contracts.

    >>> part_of("order"), part_of("health")
    ('sensitivity', None)
    """
    return next((part for part, families in PARTS.items() if family in families), None)


def win_rates(tables: Mapping[str, Table]) -> dict[str, float]:
    """The rate of each property, over all its checks and levels that gate by a rate and count in a part."""
    won: dict[str, list[np.ndarray]] = {}
    for table in tables.values():
        metric, _ = gating(table)
        if metric and metric.kind == "rate" and part_of(declared_of(table).family) and len(table.items):
            won.setdefault(table.property, []).append(metric.per_item(table, _UNUSED))
    return {name: float(np.concatenate(some).mean()) for name, some in sorted(won.items())}


def families_of(tables: Mapping[str, Table]) -> dict[str, str]:
    """The family of each property."""
    return {table.property: declared_of(table).family for table in tables.values()}


def parts(rates: Mapping[str, float], families: Mapping[str, str]) -> dict[str, float]:
    """The mean rate of the properties of each part; `families` names the family of each.

    >>> parts({"number": 0.5, "retrieval": 0.8}, {"number": "meaning changed", "retrieval": "retrieval"})
    {'sensitivity': 0.5, 'retrieval': 0.8}
    """
    found = {}
    for part in PARTS:
        own = [rate for name, rate in rates.items() if part_of(families[name]) == part]
        if own:
            found[part] = float(np.mean(own))
    return found


def balanced(rates: Mapping[str, float], families: Mapping[str, str]) -> float | None:
    """Geometric mean of sensitivity, invariance and retrieval; None where one of them was not measured.

    >>> families = {"number": "meaning changed", "casing": "invariance", "retrieval": "retrieval"}
    >>> balanced({"number": 0.4, "casing": 0.9, "retrieval": 0.6}, families)
    0.6
    """
    found = parts(rates, families)
    return round(float(np.prod(list(found.values())) ** (1 / len(PARTS))), 12) if len(found) == len(PARTS) else None

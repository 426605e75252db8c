"""One number beside the verdict: sensitivity, invariance and retrieval, weighed together.

Training for sensitivity alone costs 8 to 40% of retrieval quality: what is lost there weighs as much here as what is
gained.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from encheck.gating.pairing import FAMILY, REPORTED, Table, values
from encheck.scoring.scores import Scale

PARTS = {
    "sensitivity": ("meaning changed", "order"),
    "invariance": ("meaning kept", "invariance"),
    "retrieval": ("retrieval",),
}
_UNUSED = Scale(0.0, 1.0)  # a win needs no scale


def win_rates(tables: Mapping[str, Table]) -> dict[str, float]:
    """The win rate of each check, over the triplets of all its claims and levels; health and contracts apart."""
    won: dict[str, list[np.ndarray]] = {}
    for table in tables.values():
        if table.kind == "triplet" and table.check not in ("health", *REPORTED) and len(table.items):
            won.setdefault(table.check, []).append(values("win", table, _UNUSED))
    return {check: float(np.concatenate(some).mean()) for check, some in sorted(won.items())}


def parts(rates: Mapping[str, float]) -> dict[str, float]:
    """The mean rate of the checks of each part.

    >>> parts({"antonym": 0.5, "number": 0.9, "retrieval": 0.8})
    {'sensitivity': 0.7, 'retrieval': 0.8}
    """
    found = {}
    for part, families in PARTS.items():
        own = [rate for check, rate in rates.items() if FAMILY.get(check, "meaning changed") in families]
        if own:
            found[part] = float(np.mean(own))
    return found


def balanced(rates: Mapping[str, float]) -> float | None:
    """Geometric mean of sensitivity, invariance and retrieval; None where one of them was not measured.

    >>> balanced({"antonym": 0.4, "synonym": 0.9, "retrieval": 0.6})
    0.6
    """
    found = parts(rates)
    return round(float(np.prod(list(found.values())) ** (1 / len(PARTS))), 12) if len(found) == len(PARTS) else None

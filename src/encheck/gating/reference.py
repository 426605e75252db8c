"""Compare a model with those whose item scores ship with encheck, on the same items, capability by capability.

Nothing is decided: the gate asks whether a loss that matters is excluded, this says which differences are no chance.
`lab/recipes/reference.py` makes what ships.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from encheck.gating.baseline import SUMMARY, Baseline, read
from encheck.gating.capabilities import alone, pooled, pools_of
from encheck.gating.decision import Figures, Weights, measure
from encheck.gating.declared import declared_of
from encheck.gating.pairing import Compared
from encheck.gating.types import DEFAULT, Paired, Rule
from encheck.gating.weighing import Side, compare_all
from encheck.run_file import Difference, Role, RunFile
from encheck.scoring.scale import Floats
from encheck.statistics import paired as stats
from encheck.system.documents import read_json

SHIPPED: Mapping[str, Role] = {"sbert": "reference", "bigrams": "surface"}
CERTAIN = 0.05  # of all capabilities together
FIRST_LOOK = replace(DEFAULT, min_items=30, min_clusters=25)  # a look takes some 30 to 60 clusters of each property
OWN_SPACE = "health"  # the family of what describes a model's own space


def shipped(results: RunFile) -> Iterator[Baseline]:
    """The references that were measured on data of this run; none of other data, other editions, or a part of them."""
    here = {(data.name, data.fingerprint) for data in results.data}
    yield from (read(_folder(name)) for name in SHIPPED if here & _measured_on(name))


def shipped_of(model: str) -> Baseline | None:
    """The baseline that ships of this model; None of another, and of a surface scorer."""
    return read(_folder(model)) if SHIPPED.get(model) == "reference" else None


def has_shipped(data: str, fingerprint: str) -> bool:
    """Whether a reference was measured on this data."""
    return any((data, fingerprint) in _measured_on(name) for name in SHIPPED)


@cache
def _measured_on(name: str) -> frozenset[tuple[str, str]]:
    return frozenset((data["name"], data["fingerprint"]) for data in read_json(_folder(name) / SUMMARY)["data"])


def _folder(name: str) -> Path:
    return Path(str(resources.files("encheck.gating") / "shipped" / name))


def differences(before: Side, after: Side) -> tuple[Difference, ...]:
    """Each capability that both sides have with the items that would gate, in the order of the gate's rows."""
    compared, _ = compare_all(before.seen(), after.seen())
    return _differences([one for one in pooled(compared) if not one.part_of])


def of_properties(before: Side, after: Side, *, is_look: bool = False) -> tuple[Difference, ...]:
    """The headline check of each property, named check/data, on the items that both sides have; its first level.

    Of a first look all checks: a profile shows another one where few items give the headline no figure.
    """
    rule = FIRST_LOOK if is_look else DEFAULT
    compared, _ = compare_all(before.seen(), after.seen())
    pools, first = pools_of(compared), dict[str, Compared]()
    for one in compared:
        if is_look or declared_of(one.after).headline:
            first.setdefault(f"{one.before.check}/{one.before.data}", one)
    return _differences([alone(name, one, pools.get(one.before.data)) for name, one in first.items()], rule)


def _differences(weighed: Sequence[Paired], rule: Rule = DEFAULT) -> tuple[Difference, ...]:
    paired = [one for one in weighed if one.family != OWN_SPACE and _has_figure(one)]
    if not paired:
        return ()
    figures = measure(paired, rule=rule)
    weights = Weights.of(paired, figures, has_figure=np.ones(len(paired), bool), rule=rule)
    gates = [i for i in range(len(paired)) if weights.gates[i] and not figures.withheld[i]]
    certain = dict(zip(gates, stats.holm(_p_of_change(figures, weights)[gates]) <= CERTAIN, strict=True))
    return tuple(_difference(paired[i], figures, weights, i, is_certain=bool(certain[i])) for i in gates)


def _has_figure(one: Paired) -> bool:
    return bool(np.isfinite(one.baseline).all() and np.isfinite(one.candidate).all())


def _p_of_change(figures: Figures, weights: Weights) -> Floats:
    """Two-sided p of no change at all; 1 where all scores are the same."""
    below = stats.t_cdf(figures.below(np.zeros(len(figures.n))), figures.free)
    return np.where(weights.same, 1.0, np.nan_to_num(2 * np.minimum(below, 1 - below), nan=1.0))


def _difference(one: Paired, f: Figures, w: Weights, i: int, *, is_certain: bool) -> Difference:
    before, now = (float(side.mean()) for side in (one.baseline, one.candidate))
    change, low, high = (float(found[i]) for found in (f.change, w.low, w.high))
    counts = (len(one.baseline), int(f.clusters[i]))
    return Difference(one.name, one.kind, *counts, before, now, change, low, high, is_certain)

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
from encheck.gating.decision import OWN_SPACE, RowTests, measure
from encheck.gating.gate_rows import pool_alone, pool_rows, pools_of
from encheck.gating.pairing import Compared, ModelScores, compare_all, declared_of
from encheck.gating.types import DEFAULT, Paired, Rule
from encheck.run_file import Difference, Role, RunFile
from encheck.statistics import hypothesis_tests as stats
from encheck.system.documents import read_json

SHIPPED: Mapping[str, Role] = {"sbert": "reference", "bigrams": "surface"}
CERTAIN = 0.05  # of all capabilities together
FIRST_LOOK = replace(DEFAULT, min_items=30, min_clusters=25)  # a look takes some 30 to 60 clusters of each property


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


def capability_differences(before: ModelScores, after: ModelScores) -> tuple[Difference, ...]:
    """Each capability that both sides have with the items that would gate, in the order of the gate's rows."""
    compared, _ = compare_all(before.seen(), after.seen())
    return _differences([one for one in pool_rows(compared) if not one.part_of])


def property_differences(before: ModelScores, after: ModelScores, *, is_look: bool = False) -> tuple[Difference, ...]:
    """The headline check of each property, named check/data, on the items that both sides have; its first level.

    Of a first look all checks: a profile shows another one where few items give the headline no figure.
    """
    rule = FIRST_LOOK if is_look else DEFAULT
    compared, _ = compare_all(before.seen(), after.seen())
    pools, first = pools_of(compared), dict[str, Compared]()
    for one in compared:
        if is_look or declared_of(one.after).headline:
            first.setdefault(f"{one.before.check}/{one.before.data}", one)
    return _differences([pool_alone(name, one, pools.get(one.before.data)) for name, one in first.items()], rule)


def _differences(weighed: Sequence[Paired], rule: Rule = DEFAULT) -> tuple[Difference, ...]:
    paired = [one for one in weighed if one.family != OWN_SPACE and np.isfinite([*one.baseline, *one.candidate]).all()]
    if not paired:
        return ()
    figures = measure(paired, rule=rule)
    tests = RowTests.of(paired, figures, has_figure=np.ones(len(paired), bool), rule=rule)
    gates = [i for i in range(len(paired)) if tests.gates[i] and not figures.withheld[i]]
    below = stats.t_cdf(figures.below(np.zeros(len(figures.n))), figures.free)
    p = np.where(tests.same, 1.0, np.nan_to_num(2 * np.minimum(below, 1 - below), nan=1.0))  # of no change at all
    certain = stats.holm(p[gates]) <= CERTAIN
    return tuple(
        Difference(
            paired[i].name, paired[i].kind, len(paired[i].baseline), int(figures.clusters[i]),
            float(paired[i].baseline.mean()), float(paired[i].candidate.mean()),
            float(figures.change[i]), float(tests.low[i]), float(tests.high[i]), bool(is_certain),
        )
        for i, is_certain in zip(gates, certain, strict=True)
    )  # fmt: skip

"""What gets through at a threshold, by kind of behaviour: the embedded probes, scored by the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.load import load
from encheck.statistics.bootstrap import Resampler, interval, widened
from encheck.statistics.figures import Figure
from encheck.types import Group, keeps_meaning

Floats = NDArray[np.float64]
APART = ("_mirror", "_control")  # further texts of the crossed groups
UNRELATED, UNRELATED_PAIRS = "unrelated", 500
WORDS = {
    "antonym": "antonyms", "number": "other numbers", "negation": "negations", "role_reversal": "reversed roles",
    "comparative": "turned comparisons", "binding": "swapped attributes", "temporal": "other order of events",
    "entity": "other names", "modality": "other modality", "quantifier": "other quantifiers",
    "hard_negative": "same words, other claim", "control": "another plausible word", "paraphrase": "paraphrases",
    "synonym": "synonyms", "reorder": "reordered sentences", "rewrite": "free rewrites",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Probe:
    """Two texts of the probes; `kind` is what the second is to the first."""

    kind: str
    first: str
    second: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How many of the probes of one kind a threshold accepts; of those whose meaning is `kept` it should."""

    kind: str
    name: str
    kept: bool
    accepted: Figure
    n: int
    clusters: int


def probes(seed: int = 0) -> list[Probe]:
    """Pairs of the fixed part of the embedded probes by kind, and random ones without a shared content word."""
    data = load("probes", quick=True)
    found = dict.fromkeys(_written(data.groups))
    pairs = data.reference(seed=seed, count=UNRELATED_PAIRS)
    return [*found, *(Probe(UNRELATED, one.first, one.second, one.cluster) for one in pairs)]


def _written(groups: Sequence[Group]) -> Iterator[Probe]:
    for group in groups:
        for variant in group.variants:
            if not variant.relation.endswith((*APART, "_kept")):
                yield Probe(variant.relation, group.source, variant.text, group.cluster)


def by_kind(found: list[Probe], scores: Floats, threshold: float, *, seed: int = 0) -> list[Behaviour]:
    """The share of each kind that is accepted, what changes meaning first, the most accepted first."""
    resampler = Resampler([one.cluster for one in found], seed=seed)
    kinds = np.array([one.kind for one in found])
    some = [_of(kind, np.flatnonzero(kinds == kind), scores >= threshold, resampler) for kind in dict.fromkeys(kinds)]
    return sorted(some, key=lambda one: (one.kept, one.kind == UNRELATED, -one.accepted.value))


def _of(kind: str, items: NDArray[np.intp], accepted: NDArray[np.bool_], resampler: Resampler) -> Behaviour:
    mine, values = resampler.of(items), accepted[items].astype(float)
    totals = mine.totals(np.column_stack([values, np.ones(len(items))]))
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = interval(totals[:, 0] / totals[:, 1])
    share = float(values.mean())
    ends = widened(share, float(low), float(high), n=len(items), clusters=mine.clusters)
    name = WORDS.get(kind, kind.replace("_", " "))
    return Behaviour(str(kind), name, keeps_meaning(kind), Figure(share, *ends), len(items), mine.clusters)

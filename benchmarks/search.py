"""Error rates of the gate on a search with labels: its own decision function on simulated queries.

    python benchmarks/search.py [--runs 1000] [--only clusters]

A query's recall@1 flips with the discordance; two flips of one cluster are the same draw with probability `icc`: that is
the correlation of the changes within a cluster. What of nDCG@10 a flip costs is drawn from the steps of a right document
that falls from rank 1 to 2, 3, 6 or out of the first ten. Uneven clusters have sizes that fall with the power 0.7 of
their rank: of 20 clusters with 6 queries each on average, the largest has 24 and the smallest 3.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from encheck.gating.decision import decide
from encheck.gating.types import DEFAULT, SPLIT, Outcome, Paired, Rule
from encheck.statistics import paired as stats

RUNS = 1_000
BASE = 0.75
COSTS = np.array([0.37, 0.5, 0.64, 1.0])  # 1 - 1 / log2(rank + 1), for the ranks 2, 3, 6 and none
SHARES = np.array([0.5, 0.2, 0.15, 0.15])
DELTA = 0.02
Floats = np.ndarray


@dataclass(frozen=True)
class Setting:
    """One simulated situation; `loss` in proportions, of recall@1 or of nDCG@10 as `graded` says."""

    clusters: int = 25
    each: int = 6
    discordance: float = 0.05
    icc: float = 0.1
    loss: float = 0.0
    uneven: bool = False
    graded: bool = False

    @property
    def sizes(self) -> Floats:
        """Queries of each cluster."""
        falling = np.arange(1, self.clusters + 1) ** -0.7
        uneven = np.maximum(np.round(self.each * falling / falling.mean()), 1)
        return (uneven if self.uneven else np.full(self.clusters, self.each)).astype(int)

    @property
    def flips(self) -> tuple[float, float]:
        """(P(lost), P(won)) of a query: their sum is the discordance, or more where the loss takes more."""
        loss = self.loss / (float(COSTS @ SHARES) if self.graded else 1.0)
        return max((self.discordance + loss) / 2, loss), max((self.discordance - loss) / 2, 0.0)


def changes(s: Setting, rng: np.random.Generator, runs: int) -> tuple[Floats, np.ndarray]:
    """(change of each query, its cluster), of shape [runs, n] and [n]."""
    clusters = np.repeat(np.arange(s.clusters), s.sizes)
    lost, won = s.flips
    together = rng.random((runs, len(clusters))) < np.sqrt(s.icc)

    def drawn(of: Floats, alone: Floats) -> Floats:
        return np.where(together, of[:, clusters], alone)

    shape = ((runs, s.clusters), (runs, len(clusters)))
    u = drawn(*(rng.random(one) for one in shape))
    flips = (u > 1 - won).astype(float) - (u < lost)
    cost = drawn(*(rng.choice(COSTS, p=SHARES, size=one) for one in shape)) if s.graded else 1.0
    return flips * cost, clusters


def paired(change: Floats, clusters: np.ndarray, *, graded: bool, budget: str = "primary") -> Paired:
    """A search whose queries change by this much, from a baseline that has `BASE` of those that stay right."""
    steady = (np.arange(len(change)) * 0.618 % 1 < BASE).astype(float)
    before = np.where(change < 0, 1.0 if not graded else -change, np.where(change > 0, 0.0, steady))
    kind = "mean" if graded else "rate"
    same = not change.any()
    return Paired(
        "search", "retrieval", kind, before, before + change, clusters, DELTA, same=same, budget=budget, endpoint="x"
    )


def rates(s: Setting, *, runs: int, rule: Rule = DEFAULT) -> dict[Outcome, float]:
    """Share of runs that pass, block and stay inconclusive."""
    rng = np.random.default_rng([s.clusters, s.each, round(100 * s.discordance), round(100 * s.loss)])
    drawn, clusters = changes(s, rng, runs)
    seen = [decide([paired(one, clusters, graded=s.graded)], rule=rule).outcome for one in drawn]
    return {outcome: seen.count(outcome) / runs for outcome in ("pass", "block", "inconclusive")}

"""Error rates of the gate with seed replicates: its own decision, and its own estimate of their noise.

    python lab/benchmarks/seed_noise.py [--runs 200] [--only cap|noise|uneven|replicates|untold]

A simulated baseline, its replicates and a candidate are drawn from one common set of answers. Two of them differ in
a row by the discordance, and by a luck that has the named standard deviation. Rows, clusters and correlations
are those of lab/benchmarks/gate.py, with 5% discordance. What the gate is told is what it measures on the replicates.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gate import ICC, NAMES, Setting, _alike, line, percent

from encheck.gating.comparison import apply_seed_noise
from encheck.gating.decision import decide_by_rows
from encheck.gating.replicates import seed_noise_from_rows
from encheck.gating.types import DEFAULT, GateDecision, Noise, PairedRow, Rule

Wins = NDArray[np.bool_]
CAPS = (1.0, 1.1, 1.25, 1.5, 2.0, 9.0)
NOISES = (0.0, 0.0025, 0.005, 0.0083, 0.01, 0.018)  # 0.0083 is what the shipped cap covers


@dataclass(frozen=True)
class Drawn:
    """Answers of a baseline, of its replicates, and of candidates by what befell them; each of shape [rows, items]."""

    baseline: Wins
    replicates: tuple[Wins, ...]
    candidates: dict[str, Wins]
    clusters: NDArray[np.intp]

    def rows(self, before: Wins, after: Wins) -> list[PairedRow]:
        """The gate rows of two of them."""
        return [
            PairedRow(name, family, "rate", before[i].astype(float), after[i].astype(float), self.clusters)
            for i, (name, family) in enumerate(NAMES)
        ]

    def noise(self, rule: Rule = DEFAULT) -> Noise:
        """What the gate measures on the baseline and its replicates."""
        every = (self.baseline, *self.replicates)
        pairs = [self.rows(*two) for two in itertools.combinations(every, 2)]
        found = seed_noise_from_rows(pairs, replicates=len(self.replicates), rule=rule)
        assert found
        return found


def drawn(s: Setting, rng: np.random.Generator, *, replicates: int = 3, uneven: bool = False) -> Drawn:
    """One of each; where the luck is `uneven`, one row in four has twice as much of it and the others none."""
    count = len(NAMES)
    clusters = np.minimum(np.arange(s.n) * s.clusters // s.n, s.n - 1)
    with_cluster = rng.random(s.n) < np.sqrt(ICC)

    def uniform() -> NDArray[np.float64]:
        return np.where(with_cluster, _alike(count, s.clusters, s, rng)[:, clusters], _alike(count, s.n, s, rng))

    sizes = np.where(np.arange(count) % 4 == 0, 2 * s.noise, 0.0) if uneven else np.full(count, s.noise)
    common = rng.random((count, s.n)) < s.rate
    lucks = [rng.normal(0, 1, count) * sizes / np.sqrt(2) for _ in range(replicates + 2)]
    made = [_flipped(common, -luck, s, uniform()) for luck in lucks]
    lost = np.zeros(count)
    lost[rng.integers(count)] = 0.04
    candidates = {"replicate": made[-1]}
    for name, loss in (("-4 in one", lost), ("-4 in all", np.full(count, 0.04))):
        luck = np.where(loss > 0, lucks[0], lucks[-1])  # where it lost, it lost just that against the baseline
        candidates[name] = _flipped(common, loss - luck, s, uniform())
    return Drawn(made[0], tuple(made[1:-1]), candidates, clusters)


def _flipped(common: Wins, loss: NDArray[np.float64], s: Setting, u: NDArray[np.float64]) -> Wins:
    """A checkpoint that flips one item in so many, and loses so much on the mean."""
    down = np.maximum(s.discordance / 4 + loss / 2, np.maximum(loss, 0))
    up = down - loss
    lost, won = u < (down / s.rate)[:, None], u < (up / (1 - s.rate))[:, None]
    return np.where(common, ~lost, won)


def decided(one: Drawn, candidate: str, *, noise: Noise, rule: Rule = DEFAULT) -> GateDecision:
    """What the gate says of a candidate."""
    found = decide_by_rows(one.rows(one.baseline, one.candidates[candidate]), rule=rule, seed_noise=noise)
    return apply_seed_noise(found, noise, rule)


def shares(s: Setting, caps: Sequence[float], *, runs: int, **how: Any) -> dict[tuple[float, str], Counter[str]]:
    """Outcomes by cap and candidate."""
    rng = np.random.default_rng([round(1e5 * s.noise), s.n])
    seen: dict[tuple[float, str], Counter[str]] = {}
    for _ in range(runs):
        one = drawn(s, rng, **how)
        noise = one.noise()
        for cap, candidate in itertools.product(caps, one.candidates):
            outcome = decided(one, candidate, noise=noise, rule=replace(DEFAULT, widest=cap)).outcome
            seen.setdefault((cap, candidate), Counter())[outcome] += 1
    return seen


HEAD = ("replicates pass", "blocked", "-4 in one: passes", "blocked", "-4 in all: passes", "blocked")


def cells(seen: dict[tuple[float, str], Counter[str]], cap: float, runs: int) -> list[str]:
    names = ("replicate", "-4 in one", "-4 in all")
    return [percent(seen[cap, name][outcome] / runs) for name in names for outcome in ("pass", "block")]


def table(caps: Sequence[float], noises: Sequence[float], runs: int, *, n: int = 1_000, **how: Any) -> Iterator[str]:
    yield line(("seed noise", "cap", *HEAD))
    yield line(["---"] * (2 + len(HEAD)))
    for noise in noises:
        seen = shares(Setting(n=n, noise=noise), caps, runs=runs, **how)
        for cap in caps:
            yield line((f"{100 * noise:g} points", "none" if cap == 9 else f"{cap:g}", *cells(seen, cap, runs)))


def by_cap(runs: int) -> Iterator[str]:
    """Where to cap: all rows have the noise, 1,000 items."""
    return table(CAPS, NOISES[3:], runs)


def by_noise(runs: int) -> Iterator[str]:
    """The shipped cap, 1,000 items."""
    return table((DEFAULT.widest,), NOISES, runs)


def uneven(runs: int) -> Iterator[str]:
    """The shipped cap; one row in four has twice the noise, the others none."""
    return table((DEFAULT.widest,), NOISES[1:4], runs, uneven=True)


def replicates(runs: int) -> Iterator[str]:
    """What the number of replicates does, at the noise that the cap covers."""
    for count in (1, 2, 3, 5):
        yield f"{count} replicates"
        yield from table((DEFAULT.widest,), (0.0083,), runs, replicates=count)


def untold(runs: int) -> Iterator[str]:
    """Replicates that are blocked where nobody told the gate of their noise of 1 point."""
    yield line(("items", "blocked"))
    yield line(["---"] * 2)
    for n in (1_000, 5_000):
        s, rng = Setting(n=n, noise=0.01), np.random.default_rng(n)
        seen = Counter(decided(drawn(s, rng), "replicate", noise=Noise()).outcome for _ in range(runs))
        yield line((f"{n:,}", percent(seen["block"] / runs)))


TABLES = {"cap": by_cap, "noise": by_noise, "uneven": uneven, "replicates": replicates, "untold": untold}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="simulated baselines, with replicates, a row")
    parser.add_argument("--only", choices=TABLES)
    options = parser.parse_args()
    for name, rows in TABLES.items():
        if options.only in (None, name):
            start = time.perf_counter()
            print(f"\n{name}: {rows.__doc__}\n")
            for text in rows(options.runs):
                print(text, flush=True)
            print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

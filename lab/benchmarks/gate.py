"""Error rates of the gate: its own decision function on simulated checkpoints.

    python lab/benchmarks/gate.py [--runs 100] [--only rule]
    python lab/benchmarks/gate.py --measured BASELINE RUN
    python lab/benchmarks/gate.py --shape BASELINE RUN [RUN ...]

`--shape` takes rows, items, clusters and correlations from a baseline and from runs of changed copies (shape.py).

Elsewhere the shape is even: twenty rows in six families (5, 5, 5, 1, 3, 1). A simulated item flips with the
discordance; two flips of one cluster are the same draw with probability ICC 0.05, and so are the flips that two
rows make of one source with the probability named as correlation: these are the correlations of the
differences themselves. `--measured` says what they are between a baseline and the report directory of a candidate's
run on the same items.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from encheck.claims import FAMILIES
from encheck.gating.decision import decide_by_rows
from encheck.gating.types import DEFAULT, Noise, PairedRow, Rule

SHAPE = (5, 5, 5, 1, 3, 1, 0)  # rows of each family; downstream tasks are none
NAMES = [(f"{family} {i}", family) for family, count in zip(FAMILIES, SHAPE, strict=True) for i in range(count)]
ICC = 0.05


@dataclass(frozen=True)
class Setting:
    """One simulated situation; losses and seed noise in proportions."""

    n: int = 1_000
    discordance: float = 0.05
    correlation: float = 0.3
    rate: float = 0.5
    clusters: int = 400
    noise: float = 0.0
    loss: float = 0.0
    all_lose: bool = False

    @property
    def worth(self) -> float:
        """How many items that are all apart would tell as much: items over their design effect."""
        return self.n / (1 + (self.n / self.clusters - 1) * ICC)


def flips(s: Setting, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(baseline wins alone), P(candidate wins alone) of each row: their sum the discordance, if it can be."""
    even = min(s.discordance / 2, s.rate, 1 - s.rate)
    down = np.clip(even + loss / 2, 0, s.rate)
    up = np.clip(down - loss, 0, 1 - s.rate)
    return np.minimum(np.clip(up + loss, 0, s.rate), 1), up


def draw(s: Setting, rng: np.random.Generator) -> list[PairedRow]:
    """One baseline and one candidate."""
    count = len(NAMES)
    loss = rng.normal(0, s.noise, count) if s.noise else np.zeros(count)
    if s.all_lose:
        loss[:] = s.loss
    elif s.loss:
        loss[rng.integers(count)] = s.loss
    down, up = flips(s, loss)
    clusters = np.minimum(np.arange(s.n) * s.clusters // s.n, s.n - 1)
    with_cluster = rng.random(s.n) < np.sqrt(ICC)  # the items that go with their cluster, in all rows
    u = np.where(with_cluster, _alike(count, s.clusters, s, rng)[:, clusters], _alike(count, s.n, s, rng))
    difference = (u > 1 - up[:, None]).astype(float) - (u < down[:, None])
    rest = np.clip((s.rate - down) / (1 - up - down), 0, 1)  # wins among the items that do not flip
    baseline = np.where(difference < 0, 1.0, np.where(difference > 0, 0.0, rng.random((count, s.n)) < rest[:, None]))
    candidate = baseline + difference
    return [
        PairedRow(name, family, "rate", baseline[i], candidate[i], clusters) for i, (name, family) in enumerate(NAMES)
    ]


def _alike(count: int, size: int, s: Setting, rng: np.random.Generator) -> np.ndarray:
    """Uniform draws of shape [count, size]; two of one column are the same with the probability named correlation."""
    common = rng.random((count, size)) < np.sqrt(s.correlation)
    return np.where(common, rng.random(size), rng.random((count, size)))


def rates(s: Setting, *, runs: int, rule: Rule = DEFAULT, seed: int = 0) -> dict[str, float]:
    """Share of runs that pass, block, and stay inconclusive."""
    rng = np.random.default_rng([seed, s.n, s.clusters])
    size = s.noise / rule.rate_delta
    noise = Noise(size, {name: size for name, _ in NAMES})
    seen = Counter(decide_by_rows(draw(s, rng), rule=rule, seed_noise=noise).outcome for _ in range(runs))
    return {o: seen[o] / runs for o in OUTCOMES}


OUTCOMES = ("pass", "block", "inconclusive")
DATA = {  # paraphrases that a gate sees with the default --sample, and their clusters
    "probes 3.0.2": (566, 566),
    "mrpc, test": (1_147, 1_126),
    "paws, test": (3_536, 1_565),
    "qqp, test": (1_096, 902),
    "twitter-url, train": (7_687, 1_628),
    "pit2015, test": (175, 27),
    "stsb, test": (338, 291),
    "sts12": (1_427, 790),
    "sts13": (326, 305),
    "sts14": (803, 681),
    "sts15": (622, 463),
    "sts16": (380, 281),
}


def old_rule(runs: int) -> Iterator[str]:
    """Why a family's margin is 1.5 delta and the estimate counts: each alone, neither and both."""
    head = ("unchanged passes", "-4 in one: blocked", "passed", "-2 in all: passed", "the same, correlation 0.6")
    yield line(("family above", "estimate above", *head))
    yield line(["---"] * 7)
    all_lose = {"loss": 0.02, "all_lose": True}
    for family, estimate in itertools.product((1.0, 1.5), (9.0, 1.0)):
        changes: tuple[dict[str, Any], ...] = ({}, {"loss": 0.04}, all_lose, all_lose | {"correlation": 0.6})
        rule = Rule(family=family, estimate=estimate)
        same, worse, *both = (rates(replace(Setting(), **c), runs=runs, rule=rule) for c in changes)
        shares = (same["pass"], worse["block"], worse["pass"], *(r["pass"] for r in both))
        name = "-" if estimate == 9 else f"-{estimate:g} delta"
        yield line((f"-{family:g} delta", name, *map(percent, shares)))


def detectable(_runs: int) -> Iterator[str]:
    """The smallest loss of one row that is blocked in 80% of cases, twenty being tested."""
    yield line(("items", "2% discordance", "5%", "10%"))
    yield line(["---"] * 4)
    for n in (150, 300, 450, 600, 1_000, 2_000, 3_500, 5_000):
        yield line((f"{n:,}", *smallest(n, min(n, 400))))


def by_data(_runs: int) -> Iterator[str]:
    """The same for one claim on all paraphrases of a data set, with the clusters that these have."""
    yield line(("data", "items", "clusters", "2% discordance", "5%", "10%"))
    yield line(["---"] * 6)
    for name, (n, clusters) in DATA.items():
        seen = smallest(n, clusters) if clusters >= DEFAULT.min_clusters else ("does not gate", "", "")
        yield line((name, f"{n:,}", f"{clusters:,}", *seen))


def smallest(n: int, clusters: int) -> tuple[str, ...]:
    """The smallest loss that is seen at 2, 5 and 10% discordance."""
    rng = np.random.default_rng(n)
    found = [decide_by_rows(draw(Setting(n=n, discordance=d, clusters=clusters), rng)).rows for d in (0.02, 0.05, 0.10)]
    return tuple(f"{100 * np.mean([row.detectable for row in rows]):.1f} points" for rows in found)


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def measured(before: Path, after: Path) -> Iterator[str]:
    """Correlation of the differences of one cluster, for each rate with repeated clusters: a baseline, then a run."""
    from encheck.gating.baseline import read_baseline
    from encheck.gating.comparison import baseline_scores, run_scores
    from encheck.gating.gate_rows import pool_rows
    from encheck.gating.pairing import compare_cases
    from encheck.reporting.results import read_items, read_results

    yield line(("gate row", "items", "clusters", "discordance", "correlation within a cluster"))
    yield line(["---"] * 5)
    results = read_results(after)
    candidate = run_scores(results, read_items(after), results.models[0].label)
    for p in pool_rows(compare_cases(baseline_scores(read_baseline(before), candidate), candidate)[0]):
        difference = (p.candidate - p.baseline) - (p.candidate - p.baseline).mean()
        held = np.bincount(p.things)
        together = (held * (held - 1)).sum()
        if p.kind == "rate" and together > len(difference) and difference.any():
            products = (np.bincount(p.things, difference) ** 2 - np.bincount(p.things, difference**2)).sum()
            changed = np.mean(p.candidate != p.baseline)
            found = f"{products / together / difference.var():.2f}"
            yield line((p.name, f"{len(difference):,}", f"{(held > 0).sum():,}", f"{changed:.1%}", found))


TABLES = {"rule": (old_rule, 3), "detectable": (detectable, 1), "data": (by_data, 1)}
SHAPED = ("measured", "unchanged", "losing", "edge", "inside", "turned")


def print_shape(paths: list[Path], runs: int, only: str | None) -> None:
    from shape import report

    for text in report(paths[0], paths[1:], runs=runs, only=only):
        print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=100, help="simulated candidates a cell; 3 x for rule")
    parser.add_argument("--only", choices=[*TABLES, *SHAPED])
    parser.add_argument("--measured", type=Path, nargs=2, metavar=("BASELINE", "RUN"))
    parser.add_argument("--shape", type=Path, nargs="+", metavar="PATH", help="a baseline, then reports of copies")
    options = parser.parse_args()
    if options.only and (options.only in SHAPED) != bool(options.shape):
        parser.error(f"--only {options.only} goes {'with' if options.only in SHAPED else 'without'} --shape")
    if options.shape:
        print_shape(options.shape, options.runs, options.only)
        return
    if options.measured:
        print(*measured(*options.measured), sep="\n")
        return
    for name, (table, factor) in TABLES.items():
        if options.only in (None, name):
            start = time.perf_counter()
            print(f"\n{name}: {table.__doc__}\n")
            for text in table(options.runs * factor):
                print(text, flush=True)
            print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

"""Error rates of the gate: its own decision function on simulated checkpoints.

    python benchmarks/gate.py [--runs 100] [--only acceptance] [--svg docs/gate.svg]
    python benchmarks/gate.py --measured BASELINE RUN

Twenty rows in six families (5, 5, 5, 1, 3, 1), the probes' own shape. A simulated item flips with the
discordance; two flips of one cluster are the same draw with probability ICC 0.05, and so are the flips that two
rows make of one source with the probability named as correlation: these are the correlations of the
differences themselves. `--measured` says what they are between a baseline and the report directory of a candidate's
run on the same items.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from encheck.claims import FAMILIES
from encheck.gating.decision import decide
from encheck.gating.types import DEFAULT, Noise, Paired, Rule

SHAPE = (5, 5, 5, 1, 3, 1)
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


def draw(s: Setting, rng: np.random.Generator) -> list[Paired]:
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
    return [Paired(name, family, "rate", baseline[i], candidate[i], clusters) for i, (name, family) in enumerate(NAMES)]


def _alike(count: int, size: int, s: Setting, rng: np.random.Generator) -> np.ndarray:
    """Uniform draws of shape [count, size]; two of one column are the same with the probability named correlation."""
    common = rng.random((count, size)) < np.sqrt(s.correlation)
    return np.where(common, rng.random(size), rng.random((count, size)))


def rates(s: Setting, *, runs: int, rule: Rule = DEFAULT, seed: int = 0) -> dict[str, float]:
    """Share of runs that pass, block, and stay inconclusive."""
    rng = np.random.default_rng([seed, s.n, s.clusters])
    size = s.noise / rule.rate_delta
    noise = Noise(size, {name: size for name, _ in NAMES})
    seen = Counter(decide(draw(s, rng), rule=rule, seed_noise=noise).outcome for _ in range(runs))
    return {o: seen[o] / runs for o in OUTCOMES}


OUTCOMES = ("pass", "block", "inconclusive")
SIZES = (40, 150, 400, 1_000, 2_000, 5_000)
CHANGES = {"no change": {}} | {
    f"-{points} in {where}": {"loss": points / 100, "all_lose": where == "all"}
    for where in ("one", "all")
    for points in (1, 2, 4)
}
VARIED = {
    "correlation": (0.0, 0.6),
    "rate": (0.02, 0.98),
    "clusters": (8, 30, 100),
    "noise": (0.005, 0.01),
    "discordance": (0.02, 0.10),
}


DATA = {  # paraphrases that a gate sees with the default --sample, and their clusters
    "probes 3.0.1": (568, 568),
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


def acceptance(runs: int) -> Iterator[str]:
    """What was promised, at the smallest size that it was promised for, and around it."""
    head = (
        "items",
        "worth",
        "discordance",
        "what varies",
        "unchanged passes (>= 90%)",
        "-4 in one blocked (>= 90%)",
        "passed (<= 1%)",
    )
    yield line(head)
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    settings = [Setting(n=n, discordance=d) for n in (1_000, 2_000, 5_000) for d in (0.02, 0.05)]
    settings += [
        Setting(**{name: v}) for name in ("correlation", "rate", "clusters") for v in VARIED[name] if v not in (8, 0.02)
    ]
    for s in settings:
        same, worse = rates(s, runs=runs), rates(replace(s, loss=0.04), runs=runs)
        cells = (
            f"{s.n:,}",
            f"{s.worth:,.0f}",
            f"{s.discordance:.0%}",
            varied(s),
            *map(percent, (same["pass"], worse["block"], worse["pass"])),
        )
        yield line(cells)


def possible(_runs: int) -> Iterator[str]:
    """Fewest items, all apart, at which a rule could hold what was promised, one that knew all variances even.

    A rule that lets an unchanged model pass draws a line for each row's change. In 90% of cases all twenty of
    an unchanged model have to stay above it, and in 99% the one that lost 4 points below it.
    """
    yield line(("correlation between rows", "2% discordance", "5%"))
    yield line(["---"] * 3)
    rng, normal, count = np.random.default_rng(0), statistics.NormalDist(), len(NAMES)
    for correlation in (0.0, 0.3, 0.6):
        common, own = rng.standard_normal((100_000, 1)), rng.standard_normal((100_000, count))
        lowest = (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own).min(axis=1)
        errors = normal.inv_cdf(0.99) - np.quantile(lowest, 0.10)  # standard errors between the two
        needed = ((d - 0.04**2) / (0.04 / errors) ** 2 for d in (0.02, 0.05))
        yield line((f"{correlation:g}", *(f"{n:,.0f}" for n in needed)))


def by_size(runs: int) -> Iterator[str]:
    """Pass / block / inconclusive by items, discordance and change."""
    yield line(("items", "discordance", *CHANGES))
    yield line(["---"] * (2 + len(CHANGES)))
    for n in SIZES:
        for d in (0.02, 0.05, 0.10):
            yield line((f"{n:,}", f"{d:.0%}", *cells(Setting(n=n, discordance=d, clusters=min(n, 400)), runs)))


def by_circumstance(runs: int) -> Iterator[str]:
    """The same at 1,000 items and 5% discordance, one circumstance at a time."""
    yield line(("1,000 items, 5%", *CHANGES))
    yield line(["---"] * (1 + len(CHANGES)))
    for name in ("correlation", "rate", "clusters", "noise"):
        for value in VARIED[name]:
            s = Setting(**{name: value})
            yield line((varied(s), *cells(s, runs)))


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
    found = [decide(draw(Setting(n=n, discordance=d, clusters=clusters), rng)).rows for d in (0.02, 0.05, 0.10)]
    return tuple(f"{100 * np.mean([row.detectable for row in rows]):.1f} points" for rows in found)


def cells(s: Setting, runs: int) -> list[str]:
    found = [rates(replace(s, **change), runs=runs) for change in CHANGES.values()]
    return [" / ".join(f"{100 * r[o]:.0f}" for o in OUTCOMES) for r in found]


def varied(s: Setting) -> str:
    names = {"correlation": "correlation {:g}", "rate": "baseline rate {:.0%}", "clusters": "{} clusters"}
    names |= {"noise": "seed noise {:g}"}
    told = [text.format(getattr(s, k)) for k, text in names.items() if getattr(s, k) != getattr(Setting(), k)]
    return ", ".join(told) or "-"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


COLOURS = {"pass": "#3b7a57", "block": "#b5443a", "inconclusive": "#d9d2c3"}
PANELS = ("no change", "-1 in one", "-2 in one", "-4 in one", "-2 in all")


def picture(runs: int) -> str:
    """Stacked bars by number of items, a panel for each change, as SVG."""
    wide, tall, gap = 150, 160, 24
    parts = []
    for p, change in enumerate(PANELS):
        left = 40 + p * (wide + gap)
        parts.append(f'<text x="{left}" y="24" font-weight="bold">{change}</text>')
        for i, n in enumerate(SIZES):
            found = rates(replace(Setting(n=n, clusters=min(n, 400)), **CHANGES[change]), runs=runs)
            y, x = 34.0, left + i * wide / len(SIZES)
            for outcome in ("inconclusive", "block", "pass"):
                high = tall * found[outcome]
                box = f'x="{x:.1f}" y="{y:.1f}" width="{wide / len(SIZES) - 3:.1f}" height="{high:.1f}"'
                parts.append(f'<rect {box} fill="{COLOURS[outcome]}"/>')
                y += high
            parts.append(f'<text x="{x + 10:.1f}" y="{tall + 48}" text-anchor="middle" font-size="9">{n:,}</text>')
    at = ((share, 38 + tall * (1 - share / 100)) for share in (0, 50, 100))
    parts += [f'<text x="34" y="{y:.0f}" text-anchor="end" font-size="9">{share}%</text>' for share, y in at]
    for i, (outcome, colour) in enumerate(COLOURS.items()):
        parts.append(f'<rect x="{40 + 110 * i}" y="{tall + 62}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{57 + 110 * i}" y="{tall + 72}">{outcome}</text>')
    parts.append(f'<text x="400" y="{tall + 72}">items a row; 20 rows, 5% discordance, correlation 0.3</text>')
    size = f'width="{40 + len(PANELS) * (wide + gap)}" height="{tall + 84}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])


def measured(before: Path, after: Path) -> Iterator[str]:
    """Correlation of the differences of one cluster, for each rate with repeated clusters: a baseline, then a run."""
    from encheck.gating.baseline import read
    from encheck.gating.capabilities import pooled
    from encheck.gating.weighing import compare_all, side_of, side_of_baseline
    from encheck.reporting.results import read_items, read_results

    yield line(("gate row", "items", "clusters", "discordance", "correlation within a cluster"))
    yield line(["---"] * 5)
    results = read_results(after)
    candidate = side_of(results, read_items(after), results["models"][0]["label"])
    for p in pooled(compare_all(side_of_baseline(read(before), candidate), candidate)[0]):
        difference = (p.candidate - p.baseline) - (p.candidate - p.baseline).mean()
        held = np.bincount(p.clusters)
        together = (held * (held - 1)).sum()
        if p.kind == "rate" and together > len(difference) and difference.any():
            products = (np.bincount(p.clusters, difference) ** 2 - np.bincount(p.clusters, difference**2)).sum()
            changed = np.mean(p.candidate != p.baseline)
            found = f"{products / together / difference.var():.2f}"
            yield line((p.name, f"{len(difference):,}", f"{(held > 0).sum():,}", f"{changed:.1%}", found))


TABLES = {
    "acceptance": (acceptance, 5), "possible": (possible, 1), "rule": (old_rule, 3), "size": (by_size, 1),
    "circumstance": (by_circumstance, 1), "detectable": (detectable, 1), "data": (by_data, 1),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--runs", type=int, default=100, help="simulated pairs of checkpoints a cell; 5 x for acceptance"
    )
    parser.add_argument("--only", choices=[*TABLES, "picture"])
    parser.add_argument("--svg", type=Path, help="write the picture here")
    parser.add_argument("--measured", type=Path, nargs=2, metavar=("BASELINE", "RUN"))
    options = parser.parse_args()
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
    if options.svg and options.only in (None, "picture"):
        options.svg.write_text(picture(options.runs), "utf-8")


if __name__ == "__main__":
    main()

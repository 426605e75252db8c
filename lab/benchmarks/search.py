"""Error rates of the gate on a search with labels: its own decision function on simulated queries.

    python lab/benchmarks/search.py [--runs 2000] [--only clusters]

A query's recall@1 flips with the discordance; two flips of one cluster are the same draw with probability `icc`: that
is the correlation of the changes within a cluster. What of nDCG@10 a flip costs is drawn from the steps of a right
document that falls from rank 1 to 2, 3, 6 or out of the first ten. Uneven clusters have sizes that fall with the power
0.7 of their rank: of 20 clusters with 6 queries each on average, the largest has 22 and the smallest 3.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from encheck.gating.decision import decide_by_rows
from encheck.gating.types import DEFAULT, FigureKind, Outcome, PairedRow, Rule
from encheck.statistics import hypothesis_tests as stats
from encheck.statistics.sharing import Sharing

RUNS = 2_000
FLIPS = 499
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


def paired(name: str, change: Floats, clusters: np.ndarray, *, graded: bool) -> PairedRow:
    """A search whose queries change by this much, from a baseline that has `BASE` of those that stay right."""
    steady = (np.arange(len(change)) * 0.618 % 1 < BASE).astype(float)
    before = np.where(change < 0, -change, np.where(change > 0, 1 - change, steady))
    kind: FigureKind = "mean" if graded else "rate"
    return PairedRow(
        name, name, kind, before, before + change, clusters, DELTA, budget="primary",
        endpoint="nDCG@10" if graded else "recall@1",
    )  # fmt: skip


def outcomes(searches: Sequence[PairedRow], *, rule: Rule = DEFAULT) -> list[Outcome]:
    """What a gate says of each of these searches alone; each has a name and a family of its own.

    One call of the decision weighs them all: a row's p and bounds, and whether the family passes that it is alone in,
    hang on no other row. The p of a row that is alone is not corrected.
    """
    decision = decide_by_rows(searches, rule=rule)
    passes = {family.family: family.passes for family in decision.families}
    alpha = rule.alpha * rule.split["primary"]
    found: list[Outcome] = []
    for row in decision.rows:
        is_good = row.outcome == "pass" and passes.get(row.family, False)
        found.append("block" if row.gates and row.p <= alpha else "pass" if is_good else "inconclusive")
    return found


def rates(s: Setting, *, runs: int, rule: Rule = DEFAULT) -> dict[Outcome, float]:
    """Share of runs that pass, block and stay inconclusive."""
    rng = np.random.default_rng([s.clusters, s.each, round(1000 * s.discordance), round(100 * s.loss)])
    drawn, clusters = changes(s, rng, runs)
    found = outcomes([paired(str(i), one, clusters, graded=s.graded) for i, one in enumerate(drawn)], rule=rule)
    return {outcome: found.count(outcome) / runs for outcome in ("pass", "block", "inconclusive")}


COUNTS = (8, 12, 16, 20, 25, 30, 40, 50)
LOSSES: tuple[tuple[float, float, Outcome], ...] = ((0.01, 0.2, "block"), (0.04, 0.05, "pass"), (0.25, 0.3, "block"))
ANY_NUMBER = replace(DEFAULT, primary_clusters=2, primary_items=2)


def by_clusters(runs: int) -> Iterator[str]:
    """How few clusters, of six queries each on average, could gate: even / uneven sizes, in percent."""
    head = ("clusters", "figure", "-1 point blocked (<= 3)", "at icc .3", "-4 points passed (<= 5)", "at icc .3",
            "-25 points blocked", "at icc .3", "unchanged passes")  # fmt: skip
    yield from headed(head)
    for count, graded in itertools.product(COUNTS, (False, True)):
        both = [_by_loss(Setting(clusters=count, graded=graded, uneven=uneven), runs) for uneven in (False, True)]
        cells = (f"{100 * even:.1f} / {100 * uneven:.1f}" for even, uneven in zip(*both, strict=True))
        yield line((count, "nDCG@10" if graded else "recall@1", *cells))


def _by_loss(s: Setting, runs: int) -> list[float]:
    """The figures of one number of clusters, each at icc .1 and .3; of an unchanged model at .1."""
    found = [
        rates(replace(s, loss=loss, discordance=discordance, icc=icc), runs=runs, rule=ANY_NUMBER)[outcome]
        for loss, discordance, outcome in LOSSES
        for icc in (0.1, 0.3)
    ]
    return [*found, rates(replace(s, discordance=0.005), runs=runs, rule=ANY_NUMBER)["pass"]]


def acceptance(runs: int) -> Iterator[str]:
    """What was promised, and around it."""
    yield from headed(("queries", "clusters", "figure", "loss", "discordance", "icc", "block", "pass", "inconclusive"))
    for s in settings():
        found = rates(s, runs=runs)
        counts = (f"{s.sizes.sum():,}", f"{s.clusters} of {s.each}", figure(s), points(s.loss))
        shares = (percent(found[o]) for o in ("block", "pass", "inconclusive"))
        yield line((*counts, f"{100 * sum(s.flips):.3g}%", f"{s.icc:g}", *shares))


def settings() -> Iterator[Setting]:
    """Those of the table of acceptance."""
    few, many, large = Setting(), Setting(clusters=67), Setting(clusters=100)
    for icc in (0.0, 0.1, 0.3):
        yield replace(few, loss=0.25, discordance=0.3, icc=icc)
    for discordance, icc in itertools.product((0.1, 0.2), (0.0, 0.1)):
        yield replace(many, loss=0.10, discordance=discordance, icc=icc)
    for s, discordance in itertools.product((few, many, large), (0.0, 0.005, 0.01, 0.02, 0.05)):
        yield replace(s, discordance=discordance)
    for s in (many, large):  # a loss of 1.5 delta, which a pass rules out
        yield replace(s, loss=0.03, discordance=0.03, icc=0.2)
    for s in (few, many):
        yield replace(s, graded=True, discordance=0.05)
        yield replace(s, graded=True, discordance=0.3, loss=0.10)


def methods(runs: int) -> Iterator[str]:
    """A loss of 1 point blocked at 3%, by test: the worst of 15 situations each, discordance 2 to 30%, icc 0 to .3."""
    tests = (
        "CR1, clusters - 1",
        "what items share, Satterthwaite",
        "Tango, CR1",
        "Tango, what items share",
        "sign flips",
    )
    yield from headed(("clusters", "figure", "sizes", *tests))
    for count, graded, uneven in itertools.product((8, 12, 20, 40), (False, True), (False, True)):
        s = Setting(clusters=count, graded=graded, uneven=uneven, loss=0.01)
        worst = np.zeros(len(tests))
        for discordance, icc in itertools.product((0.02, 0.05, 0.1, 0.2, 0.3), (0.0, 0.1, 0.3)):
            rng = np.random.default_rng([count, round(1000 * discordance), round(100 * icc)])
            drawn, clusters = changes(replace(s, discordance=discordance, icc=icc), rng, runs)
            worst = np.maximum(worst, (compared(drawn, clusters, -0.01, rng) <= 0.03).mean(axis=1))
        yield line((count, figure(s), "uneven" if uneven else "even", *map(percent, worst)))


def compared(change: Floats, clusters: np.ndarray, theta: float, rng: np.random.Generator) -> Floats:
    """One-sided p of a change of theta or more by each of the methods; shape [methods, runs]."""
    n, sizes = change.shape[1], np.bincount(clusters)
    of_cluster = np.eye(len(sizes))[clusters]
    mean = change.mean(axis=1)
    off = (change - mean[:, None]) @ of_cluster / n
    cr1 = (off**2).sum(axis=1) * len(sizes) / (len(sizes) - 1)
    shared = (off**2).sum(axis=1) / (1 - (sizes**2).sum() / n**2)
    freedom = Sharing.of(clusters).degrees_of_freedom
    plain = change.var(axis=1) / n
    up, down = np.clip(change, 0, None).sum(axis=1), np.clip(-change, 0, None).sum(axis=1)
    z = stats.tango_z(n, up, down, theta)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = [np.nan_to_num((mean - theta) / np.sqrt(v)) for v in (cr1, shared)]
        score = [z / np.sqrt(np.where(plain > 0, np.fmax(v / plain, 1), 1)) for v in (cr1, shared)]
    beyond = (change - theta) @ of_cluster
    flipped = beyond @ rng.choice([-1.0, 1.0], size=(len(sizes), FLIPS))
    by_flips = ((flipped <= beyond.sum(axis=1)[:, None] + 1e-9).sum(axis=1) + 1) / (FLIPS + 1)
    others = (stats.t_cdf(s, f) for s, f in ((t[0], len(sizes) - 1), (t[1], freedom), (score[0], len(sizes) - 1),
                                             (score[1], freedom)))  # fmt: skip
    return np.array([*others, by_flips])


def slices(runs: int) -> Iterator[str]:
    """Twelve slices beside a primary endpoint, where each has lost 1 point: how often one of them blocks (<= 1%)."""
    yield from headed(("queries a slice", "clusters", "discordance", "icc", "a slice blocks", "the endpoint blocks"))
    for each, discordance, icc in itertools.product((1, 6), (0.05, 0.2), (0.0, 0.3)):
        s = Setting(clusters=12 * DEFAULT.slice_clusters, each=each, discordance=discordance, icc=icc, loss=0.01)
        drawn, clusters = changes(s, np.random.default_rng([each, round(100 * discordance)]), runs)
        found = [decide_by_rows(with_slices(one, clusters)).rows for one in drawn]
        blocked = [np.mean([any(r.outcome == "block" for r in rows if (r.budget == "slices") == is_slice)
                            for rows in found]) for is_slice in (True, False)]  # fmt: skip
        size = each * DEFAULT.slice_clusters
        yield line((size, DEFAULT.slice_clusters, f"{discordance:.0%}", f"{icc:g}", *map(percent, blocked)))


def with_slices(change: Floats, clusters: np.ndarray) -> list[PairedRow]:
    """A search and its twelve slices, which share no cluster."""
    whole = paired("search", change, clusters, graded=False)
    parts = [np.flatnonzero(clusters % 12 == i) for i in range(12)]
    return [whole] + [
        replace(whole, name=f"search/{i}", baseline=whole.baseline[rows], candidate=whole.candidate[rows],
                things=clusters[rows], budget="slices") for i, rows in enumerate(parts)
    ]  # fmt: skip


def figure(s: Setting) -> str:
    return "nDCG@10" if s.graded else "recall@1"


def points(loss: float) -> str:
    return f"{100 * loss:g} points" if loss else "none"


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def headed(names: Iterable[str]) -> Iterator[str]:
    yield line(names)
    yield line("---" for _ in names)


def line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


TABLES = {"methods": methods, "clusters": by_clusters, "acceptance": acceptance, "slices": slices}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated searches a cell")
    parser.add_argument("--only", choices=TABLES)
    options = parser.parse_args()
    for name, table in TABLES.items():
        if options.only in (None, name):
            start = time.process_time()
            print(f"\n{name}: {table.__doc__}\n", *table(options.runs), sep="\n", flush=True)
            print(f"{time.process_time() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

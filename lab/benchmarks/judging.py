"""How often judged answers block a candidate that lost nothing, or pass one that lost, and how many answers that takes.

Queries belong to topics; with the square root of the correlation as its probability, a query has the fate of its topic
(no other first answer, a worse one, a better one, one as good), else its own. Two queries of a topic so correlate as
stated. A topic's right article is the first answer that is lost or won. A wrong judge takes the worse answer for the
better one, and prefers either of two that are as good.

A cell of the table has, for a true loss of recall@1, how many logs are blocked and passed, and how many answers that
takes on average.

Run: python lab/benchmarks/judging.py [--logs N]. The table goes into lab/notebook/search.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from encheck.gating.unlabelled_search import DELTA, JudgingSample, decide_at_looks, estimate_changed_share, plan_looks

LOGS = 1_000
LOSSES = (0.0, DELTA / 2, DELTA, 3 * DELTA)
SAME, WORSE, BETTER, AS_GOOD = range(4)
HEAVIEST = 300
HEAD = (
    "queries", "differ", "decisive", "topics", "correlation", "wrong", "no loss", "1 point", "2 points", "6 points",
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """A log and who judges: `differ` is the share of queries with another first answer, `decisive` a share of these."""

    queries: int = 3_000
    differ: float = 0.142
    decisive: float = 0.6
    topics: int = 400
    correlation: float = 0.1
    wrong: float = 0.0
    is_zipf: bool = False


BASE = World()
WORLDS = (
    replace(BASE, topics=3_000, correlation=0.0),
    BASE,
    replace(BASE, correlation=0.3),
    replace(BASE, topics=60),
    replace(BASE, topics=60, correlation=0.3),
    replace(BASE, wrong=0.05),
    replace(BASE, wrong=0.1),
    replace(BASE, decisive=0.45),
    replace(BASE, decisive=0.9),
    replace(BASE, queries=600, topics=120),
    replace(BASE, queries=600, topics=120, correlation=0.3, wrong=0.05),
    replace(BASE, queries=300, topics=60),
    replace(BASE, differ=0.08, decisive=0.8),
    replace(BASE, differ=0.3),
    replace(BASE, is_zipf=True),
)


def one(rng: np.random.Generator, world: World, loss: float) -> tuple[str, int]:
    """How one log is decided, and after how many answers."""
    mean = loss / world.differ
    decided = world.differ * np.array([(world.decisive + mean) / 2, (world.decisive - mean) / 2, 1 - world.decisive])
    fates = [1 - world.differ, *decided]
    topic = rng.integers(world.topics, size=world.queries)
    shared = rng.choice(4, size=world.topics, p=fates)[topic]
    follows = rng.random(world.queries) < np.sqrt(world.correlation)
    fate = np.where(follows, shared, rng.choice(4, size=world.queries, p=fates))
    weights = np.ones(world.queries)
    if world.is_zipf:
        weights = np.minimum(rng.zipf(2.2, world.queries), HEAVIEST).astype(float)
    pool = estimate_changed_share("", "", fate != SAME, weights, np.arange(world.queries).astype(str))
    order = rng.permutation(np.flatnonzero(fate != SAME))
    before, after = documents(rng, world, topic[order], fate[order])
    sample = JudgingSample(pool.value, pool.worth, weights[order], (before, after))
    plan = plan_looks(pool, weights[order], delta=DELTA)
    return decide_at_looks(sample, plan, judged(rng, world, fate[order]), delta=DELTA, least=DELTA)


def documents(
    rng: np.random.Generator, world: World, topic: NDArray[np.int_], fate: NDArray[np.int_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first answers before and now: the topic's own article where it is lost or won, and any other article."""
    before, after = rng.integers(world.topics, size=(2, len(topic)))
    return np.where(fate == WORSE, topic, before), np.where(fate == BETTER, topic, after)


def judged(rng: np.random.Generator, world: World, fate: NDArray[np.int_]) -> NDArray[np.float64]:
    """+1 where people find the new answer worse, -1 where they find it better, 0 for a tie."""
    true = np.select([fate == WORSE, fate == BETTER], [1.0, -1.0], 0.0)
    errs = rng.random(len(fate)) < world.wrong
    return np.where(errs, np.where(true == 0, rng.choice([-1.0, 1.0], size=len(fate)), -true), true)


def rows(logs: int) -> Iterator[str]:
    """The table in Markdown."""
    yield f"| {' | '.join(HEAD)} |"
    yield "| --- " * len(HEAD) + "|"
    for world in WORLDS:
        cells = [f"{world.queries:,}{' (Zipf)' if world.is_zipf else ''}", f"{100 * world.differ:g}%",
                 f"{100 * world.decisive:g}%", f"{world.topics:,}", f"{world.correlation:g}",
                 f"{100 * world.wrong:g}%"]  # fmt: skip
        for loss in LOSSES:
            rng = np.random.default_rng(0)
            if loss / world.differ > world.decisive:
                cells.append("-")
                continue
            found = [one(rng, world, loss) for _ in range(logs)]
            ends = [outcome for outcome, _ in found]
            shares = [f"{100 * ends.count(end) / logs:.1f}%" for end in ("block", "pass")]
            cells.append(" / ".join([*shares, f"{np.mean([asked for _, asked in found]):.0f}"]))
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=LOGS)
    for line in rows(parser.parse_args().logs):
        print(line, flush=True)


if __name__ == "__main__":
    main()

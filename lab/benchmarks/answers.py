"""How often a gate without labels lets a search pass whose answers truly change for more queries than it allows.

Run: python lab/benchmarks/answers.py [--logs N]. The table goes into lab/notebook/search.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from encheck.gating.unlabelled_search import DELTA, estimate_changed_share

LOGS = 2_000
QUERIES = (200, 400, 1_000, 3_000)
SHARES = (DELTA, 0.015, 0.01, 0.005, 0.002)
HEAVIEST = 300
SHAPES = ("each asked once", "Zipf's law", "clusters of 5")


def one(rng: np.random.Generator, *, queries: int, shape: str, truth: float) -> bool:
    """Whether one log passes whose queries change independently, or by clusters, with this probability."""
    weights = np.ones(queries)
    clusters = np.arange(queries)
    if shape == "Zipf's law":
        weights = np.minimum(rng.zipf(2.2, queries), HEAVIEST).astype(float)
    if shape == "clusters of 5":
        clusters = clusters // 5
    changed = (rng.random(queries) < truth)[clusters]
    return estimate_changed_share("", "", changed, weights, clusters.astype(str)).high < DELTA


def rows(logs: int) -> Iterator[str]:
    """The table in Markdown."""
    yield f"| queries | log | {' | '.join(f'{100 * truth:g}%' for truth in SHARES)} |"
    yield "| --- " * (len(SHARES) + 2) + "|"
    for queries in QUERIES:
        for shape in SHAPES:
            rng = np.random.default_rng(0)
            passed = [np.mean([one(rng, queries=queries, shape=shape, truth=t) for _ in range(logs)]) for t in SHARES]
            yield f"| {queries:,} | {shape} | {' | '.join(f'{100 * p:.1f}%' for p in passed)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=LOGS)
    print("\n".join(rows(parser.parse_args().logs)))


if __name__ == "__main__":
    main()

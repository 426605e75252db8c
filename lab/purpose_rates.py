"""How often a gate for another model says yes and no, by the real decision function on simulated searches.

    python lab/purpose_rates.py --runs 1000
    python lab/purpose_rates.py --runs 1000 --file sharing.csv   # two columns: query,document

Queries are lost and won at random, so that the discordance and the true change are what a cell says. With `--file` the
queries share documents as in the file, and queries of one document move together with probability .2.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.gating.purpose import Purpose, Weighable, decide_for
from encheck.gating.types import Paired

Floats = NDArray[np.float64]
Things = NDArray[np.intp]
SIZES = (25, 60, 225, 500, 1_000)
DISCORDANCES = (0.1, 0.2)
CHANGES = (0.0, -0.03, -0.04, -0.08, 0.08)
TOGETHER = 0.2


def things_of(path: Path) -> Things:
    """What each query shares, shape [n, k]; -1 for none."""
    with path.open(encoding="utf-8") as file:
        rows = [(int(one), int(other)) for one, other in list(csv.reader(file))[1:]]
    of_query: dict[int, list[int]] = {}
    for query, document in rows:
        of_query.setdefault(query, []).append(document)
    width = max(map(len, of_query.values()))
    return np.array([some + [-1] * (width - len(some)) for _, some in sorted(of_query.items())], np.intp)


def moved(things: Things, discordance: float, change: float, rng: np.random.Generator) -> Floats:
    """-1, 0 or 1 of each query, of this mean and discordance."""
    n = len(things)
    own = rng.random(n)
    if things.shape[1] > 1:
        shared = rng.random(int(things.max()) + 1)
        own = np.where(rng.random(n) < TOGETHER, shared[things[:, 0]], own)
    lost, won = (discordance - change) / 2, (discordance + change) / 2
    return (own > 1 - won).astype(float) - (own < lost)


def endpoint(moves: Floats, things: Things) -> Paired:
    """recall@1 of a search whose queries moved so; before, it was 70%."""
    before = np.where(moves < 0, 1.0, np.where(moves > 0, 0.0, (np.arange(len(moves)) % 10 < 7).astype(float)))
    return Paired("retrieval/d/1", "retrieval", "rate", before, before + moves, things, budget="primary",
                  endpoint="recall@1")  # fmt: skip


def rates(things: Things, discordance: float, change: float, runs: int, *, best_of: int = 1) -> Counter[str]:
    """How often each outcome fell; of the best of several equal candidates where `best_of` is more than one."""
    rng, found = (
        np.random.default_rng([len(things), round(1e3 * discordance), round(1e3 * change) % 997, best_of]),
        Counter[str](),
    )
    for _ in range(runs):
        tried = [moved(things, discordance, change, rng) for _ in range(best_of)]
        best = max(tried, key=lambda one: float(one.mean()))
        one = decide_for(Purpose("search", tried=best_of), Weighable([endpoint(best, things)], [], {}, []))
        found[one.outcome] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--file", type=Path, help="what queries share: query,document")
    args = parser.parse_args()
    shapes = [things_of(args.file)] if args.file else [np.arange(n)[:, None] for n in SIZES]
    print("| queries | discordance | true change | best of | yes | cannot tell | no |")
    print("| --- " * 7 + "|")
    for things in shapes:
        for discordance in DISCORDANCES:
            for change, best_of in [*((one, 1) for one in CHANGES), (-0.04, 5)]:
                if abs(change) <= discordance:
                    found = rates(things, discordance, change, args.runs, best_of=best_of)
                    yes, open_, no = (100 * found[name] / args.runs for name in ("pass", "inconclusive", "block"))
                    print(
                        f"| {len(things)} | {discordance:.0%} | {100 * change:+.0f} | {best_of} | {yes:.1f}% | "
                        f"{open_:.1f}% | {no:.1f}% |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()

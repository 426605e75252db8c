"""How often the gate's own decision errs where items share things, on the shapes of sharing_coverage.py.

    python lab/gate_shapes.py --runs 200 --items 450
    python lab/gate_shapes.py --runs 200 --items 450 --copies

One row decides. An item is lost or won where its latent figure is far down or up. With `--copies` items that share a
thing have the same draw with the probability that is named as correlation, in place of a common part of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sharing_coverage import CORRELATIONS, DISCORDANCES, Floats, Things, latent, of_file, shapes

from encheck.gating.decision import decide_by_rows
from encheck.gating.types import PairedRow
from encheck.statistics.sharing import Sharing

LOSSES = (0.0, 0.01, 0.04)


def copied(things: Things, correlation: float, runs: int, rng: np.random.Generator) -> Floats:
    """A standard normal figure for each item and run, shape [n, runs]: that of one of its things, or its own."""
    of_things = rng.standard_normal((int(things.max()) + 1, runs))
    found = rng.standard_normal((len(things), runs))
    for run in range(runs):
        chosen = np.argmax(np.where(things >= 0, rng.random(things.shape), -1), axis=1)
        theirs = of_things[things[np.arange(len(things)), chosen], run]
        found[:, run] = np.where(rng.random(len(things)) < np.sqrt(correlation), theirs, found[:, run])
    return found


def outcomes(things: Things, z: Floats, discordance: float, loss: float) -> Counter[str]:
    """What the gate says of each run."""
    down, up = max((discordance + loss) / 2, loss), max((discordance - loss) / 2, 0.0)
    lost, won = z < norm.ppf(down), z > -norm.ppf(up)
    found: Counter[str] = Counter()
    for i in range(z.shape[1]):
        before = np.where(lost[:, i], 1.0, np.where(won[:, i], 0.0, np.arange(len(z)) % 10 < 7))
        after = before - lost[:, i] + won[:, i]
        found[decide_by_rows([PairedRow("row", "order", "rate", before, after, things)]).outcome] += 1
    return found


def main() -> None:
    """Print a table: the worst share of false blocks and passes of each shape, and the least of unchanged that pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--items", type=int, default=450)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--copies", action="store_true")
    args = parser.parse_args()
    drawn = copied if args.copies else latent
    named = of_file(args.file) if args.file else None
    every = {"a real search": named} if named is not None else shapes(args.items)
    print(
        "| items | unchanged passes at 2 / 10 / 30% | -1 point: blocked, at most | -4 points: passed, at most "
        "| blocked at 10% |"
    )
    print("| --- | --- | --- | --- | --- |")
    for name, things in every.items():
        if Sharing.of(things).why_no_interval:
            continue
        rng, seen = np.random.default_rng(4), {}
        for correlation in CORRELATIONS:
            for discordance in DISCORDANCES:
                z = drawn(things, correlation, args.runs, rng)
                for loss in LOSSES:
                    seen[correlation, discordance, loss] = outcomes(things, z, discordance, loss)
        share = {key: {word: found[word] / args.runs for word in ("pass", "block")} for key, found in seen.items()}
        same = [min(share[c, d, 0.0]["pass"] for c in CORRELATIONS) for d in DISCORDANCES]
        small = max(share[c, d, 0.01]["block"] for c in CORRELATIONS for d in DISCORDANCES)
        large = max(share[c, d, 0.04]["pass"] for c in CORRELATIONS for d in DISCORDANCES)
        found = min(share[c, 0.1, 0.04]["block"] for c in CORRELATIONS)
        cells = (
            " / ".join(f"{100 * one:.0f}" for one in same),
            *(f"{100 * one:.1f}%" for one in (small, large, found)),
        )
        print("| " + " | ".join((name, *cells)) + " |", flush=True)


if __name__ == "__main__":
    main()

"""How often a 95% interval holds where items share things: rates and paired differences, simulated.

    python lab/sharing_coverage.py --runs 2000
    python lab/sharing_coverage.py --runs 2000 --file sharing.csv   # two columns: query,document

Each thing (a document, a sentence, a topic) has a random effect, and an item has the mean of its things' effects,
scaled so that two items with the same single thing correlate by `correlation` before the cut. Items on one side of it
are won. `--worst` prints the worst figure of each shape, else every cell is printed.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from encheck.statistics.bootstrap import Resampler, percentile_interval
from encheck.statistics.clusters import component_list
from encheck.statistics.sharing import Sharing

Floats = NDArray[np.float64]
Things = NDArray[np.intp]
SIZES = (60, 120, 225, 450, 1_000)
CORRELATIONS = (0.0, 0.2, 0.5)
DISCORDANCES = (0.02, 0.1, 0.3)
RATES = (0.02, 0.1, 0.5, 0.9)


def shapes(n: int) -> dict[str, Things]:
    """What n items share, by name: [n, k] numbers of things, -1 for none."""
    rng, items = np.random.default_rng(n), np.arange(n)
    hubs = np.where(items < n // 2, items % 8, 8 + items)  # eight hubs, each with a sixteenth of the items
    found = {
        "apart": items[:, None],
        "pairs": items[:, None] // 2,
        "articles": np.repeat(items, 1 + rng.geometric(0.2, n))[:n, None],
        "chain": np.column_stack([items, items + 1]),
        "stars": np.column_stack([items // 8, n + items]),
        "hubs": np.column_stack([hubs, n + rng.integers(0, n // 2, n)]),
        "few sentences": np.sort(rng.integers(0, max(n // 4, 4), (n, 2)), axis=1),
        "pools": np.column_stack([items // 9 * 12 + rng.integers(0, 14, n) for _ in range(5)]),
    }
    return {name: once(things) for name, things in found.items()}


def once(things: Things) -> Things:
    """Each thing once an item."""
    ordered = np.sort(things, axis=1)
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = -1
    return ordered


def of_file(path: Path) -> Things:
    """What the items of a file share, whose columns are the item and a thing of it."""
    with path.open(encoding="utf-8") as file:
        pairs = [(int(one), int(other)) for one, other in list(csv.reader(file))[1:]]
    things: list[list[int]] = [[] for _ in range(1 + max(one for one, _ in pairs))]
    for one, other in pairs:
        things[one].append(other)
    width = max(map(len, things))
    return np.array([row + [-1] * (width - len(row)) for row in things])


def latent(things: Things, correlation: float, runs: int, rng: np.random.Generator) -> Floats:
    """A standard normal figure for each item and run; shape [n, runs]."""
    effects = rng.standard_normal((int(things.max()) + 1, runs))
    total = sum(
        (np.where(column[:, None] >= 0, effects[column], 0.0) for column in things.T), np.zeros((len(things), runs))
    )
    count = np.maximum((things >= 0).sum(axis=1), 1)[:, None]
    alone = rng.standard_normal((len(things), runs))
    return np.sqrt(correlation) * total / np.sqrt(count) + np.sqrt(1 - correlation) * alone


def held(low: Floats, high: Floats, truth: float) -> float:
    return float(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean())


def component_bootstrap(things: Things, values: Floats, truth: float) -> float:
    """How often the percentile interval over connected components holds, which the dyadic one replaces."""
    width = things.shape[1]
    item, thing = np.repeat(np.arange(len(things)), width), things.ravel()
    there = thing >= 0
    roots = component_list(item[there].astype(np.int64), (len(things) + thing[there]).astype(np.int64))
    of_item = dict(zip(item[there].tolist(), roots, strict=True))
    resampler = Resampler([str(of_item[i]) for i in range(len(things))])
    sums = resampler.replicate_totals(np.column_stack([values, np.ones(len(values))]))
    low, high = percentile_interval(sums[:, :-1] / sums[:, -1:])
    return held(low, high, truth)


def cells(
    things: Things, runs: int, rng: np.random.Generator, *, bootstrap: int = 0
) -> Iterator[tuple[str, float, float, float, float]]:
    """(what, correlation, share, coverage, that of the bootstrap) of each case."""
    sharing = Sharing.of(things)
    for correlation in CORRELATIONS:
        for rate in RATES:
            won = (latent(things, correlation, runs, rng) < norm.ppf(rate)).astype(float)
            old = component_bootstrap(things, won[:, :bootstrap], rate) if bootstrap else np.nan
            yield "rate", correlation, rate, held(*sharing.rate_interval(won), rate), old
        for discordance in DISCORDANCES:
            edge, z = norm.ppf(discordance / 2), latent(things, correlation, runs, rng)
            moved = (z > -edge).astype(float) - (z < edge)
            old = component_bootstrap(things, moved[:, :bootstrap], 0.0) if bootstrap else np.nan
            yield "change", correlation, discordance, held(*sharing.change_interval(moved), 0.0), old


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--bootstrap", type=int, default=0, help="runs of the bootstrap over components beside it")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--worst", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    named = [(f"{name}, {n}", things) for n in SIZES for name, things in shapes(n).items()]
    if args.file:
        named.append((args.file.stem, of_file(args.file)))
    print("| shape | items | free | worth | what | correlation | share | holds | bootstrap |")
    print("| --- " * 9 + "|")
    for name, things in named:
        sharing = Sharing.of(things)
        freedom = sharing.degrees_of_freedom
        if sharing.why_no_interval:
            print(f"| {name} | {len(things)} | {freedom:.0f} | {sharing.effective_items:.0f} | withheld |")
            continue
        found = list(cells(things, args.runs, rng, bootstrap=args.bootstrap))
        if args.worst:
            found = [
                min((one for one in found if one[0] == what), key=lambda one: one[3]) for what in ("rate", "change")
            ]
        for what, correlation, share, covers, old in found:
            print(
                f"| {name} | {len(things)} | {freedom:.0f} | {sharing.effective_items:.0f} | {what} | "
                f"{correlation:g} | {share:g} | {100 * covers:.1f}% | {100 * old:.1f}% |"
            )


if __name__ == "__main__":
    main()

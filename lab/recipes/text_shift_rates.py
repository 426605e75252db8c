"""How often `encheck data A --against B` says that two random parts of one data set differ.

    python lab/recipes/text_shift_rates.py --data mrpc:DIR stsb:DIR [--draws 100] [--texts 500] [--shares 0.5 0.15]

Clusters are dealt to two parts by seed, so that no text is in both; the first has this share of them. A measure that is
said to differ is wrong; with 5% for all measures together at most 5% of the draws should have one.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import replace

from encheck.comparing.text_shift import shift
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load


def parts(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """The data set, its clusters dealt to two."""
    names = list(data.universe)
    random.Random(seed).shuffle(names)
    first = frozenset(names[: int(share * len(names))])
    return _part(data, first), _part(data, frozenset(names) - first)


def _part(data: Dataset, clusters: frozenset[str]) -> Dataset:
    pairs = tuple(pair for pair in data.pairs if pair.cluster in clusters)
    return replace(data, pairs=pairs, groups=tuple(one for one in data.groups if one.cluster in clusters))


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.5, 0.15])
    asked = parser.parse_args()
    for spec in asked.data:
        data = load(spec, sample=None)
        for share in asked.shares:
            drawn = [shift(*parts(data, share, seed), texts=asked.texts, seed=seed) for seed in range(asked.draws)]
            rows = [row for one in drawn for row in one.measures]
            outside = Counter(row.name for row in rows if row.low > 0 or row.high < 0)
            stars = sum(any(row.differs for row in one.measures) for one in drawn)
            print(f"{data.name}, {share:.0%} against the rest: a star in {stars} of {asked.draws} draws", flush=True)
            print(f"  a 95% interval without 0: {sum(outside.values()) / len(rows):.1%}", dict(outside), flush=True)


if __name__ == "__main__":
    main()

"""How often `encheck data A --against B` says that two halves of one data set differ.

    python recipes/text_shift_rates.py --data mrpc:DIR stsb:DIR [--draws 100] [--texts 500]

Clusters are dealt to two halves by seed, so that no text is in both. A measure that is said to differ is wrong; with
5% for all measures together at most 5% of the draws should have one.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import replace

from encheck.comparing.text_shift import shift
from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load


def halves(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """The data set, its clusters dealt to two."""
    names = list(data.universe)
    random.Random(seed).shuffle(names)
    first = frozenset(names[: len(names) // 2])
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
    asked = parser.parse_args()
    for spec in asked.data:
        data = load(spec, sample=None)
        drawn = [shift(*halves(data, seed), texts=asked.texts, seed=seed) for seed in range(asked.draws)]
        rows = [row for one in drawn for row in one.measures]
        outside = Counter(row.name for row in rows if row.low > 0 or row.high < 0)
        print(f"{data.name}: {sum(any(row.differs for row in one.measures) for one in drawn)} of {asked.draws} draws")
        print(f"  a 95% interval without 0: {sum(outside.values()) / len(rows):.1%}", dict(outside))


if __name__ == "__main__":
    main()

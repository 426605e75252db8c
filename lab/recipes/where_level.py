"""How often a search for where a model fails finds what is not there, and what is.

    python lab/recipes/where_level.py --runs 1000
    python lab/recipes/where_level.py --runs 100 --world one --world two

Simulates the items of three checks and calls `encheck.statistics.subgroups.find_subgroups`, as `encheck export RUN
--where` does. Clusters have 1, 2 or 4 items that fail together (a rate of their own, from a beta distribution); eight
features have four values each, half of them the same throughout a cluster. In each of these worlds, the share of
searches that confirm anything, and that confirm a cell of the planted value:

    none     no feature matters
    surface  failing depends on three surface differences, and feature 0 is read off the first of them
    one      items with one value of feature 1 fail more often, by 40% of what there is room for
    two      the same for one value of feature 1 with either of two values of feature 2, by 60%
"""

import argparse

import numpy as np

from encheck.statistics.subgroups import FeatureTable, Subgroup, find_subgroups

WORLDS = ("none", "surface", "one", "two")
PLANTED = {"one": 0.4, "two": 0.6}


def table(rng: np.random.Generator, name: str, world: str, *, clusters: int) -> FeatureTable:
    sizes = rng.choice([1, 2, 4], clusters, p=[0.4, 0.4, 0.2])
    of = np.repeat(np.arange(clusters), sizes)
    known = rng.normal(size=(len(of), 3))
    values = [rng.integers(4, size=clusters)[of] if k % 2 else rng.integers(4, size=len(of)) for k in range(8)]
    rate = rng.beta(2, 4, clusters)[of]
    if world == "surface":
        values[0] = np.digitize(known[:, 0], [-0.7, 0, 0.7])
        rate = np.clip(rate + 0.2 * known[:, 0], 0, 1)
    rate = rate + PLANTED.get(world, 0.0) * cell(values, world) * (1 - rate)
    names, texts = tuple(f"c{i}" for i in of), tuple(map(str, range(len(of))))
    columns = {f"f{k}": [f"v{value}" for value in own] for k, own in enumerate(values)}
    return FeatureTable(name, name, rng.random(len(of)) < rate, names, texts, columns, known)


def cell(values: list[np.ndarray], world: str) -> np.ndarray:
    return (values[1] == 0) & ((values[2] < 2) | (world != "two"))


def one_run(world: str, seed: int, *, clusters: int = 300, permutations: int = 999) -> list[Subgroup]:
    """The confirmed cells of one simulated search."""
    rng = np.random.default_rng([seed, WORLDS.index(world)])
    tables = [table(rng, name, world, clusters=clusters) for name in "abc"]
    return [found for found in find_subgroups(tables, seed=seed, permutations=permutations) if found.is_confirmed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--world", choices=WORLDS, action="append", help="default: all")
    given = parser.parse_args()
    for world in given.world or WORLDS:
        found = [one_run(world, seed) for seed in range(given.runs)]
        anything = sum(map(bool, found)) / given.runs
        planted = sum(any(("f1", "v0") in c.values for c in cells) for cells in found) / given.runs
        print(f"{world:<8} anything {anything:.1%}  planted {planted:.1%}  of {given.runs}", flush=True)


if __name__ == "__main__":
    main()

"""How often the intervals of `encheck explore` are wrong, after it has searched for what looks worst.

    python lab/recipes/explore_level.py --runs 500
    python lab/recipes/explore_level.py --runs 100 --world planted

Simulates items of a property and calls the function of `encheck explore`, as the command does. Clusters have two
items that fail together (a rate of their own); seven features have four values each, three of them the same throughout
a cluster. So 364 constructions are searched, and the true rate of each is known. For each world: the share of runs in
which an interval of any row leaves out the true rate, the mean failure rate of nominated constructions where they were
found and where they were confirmed beside the true one, in how many runs the planted construction is confirmed, and in
how many anything is called unbroken.

    same     every construction fails at 1/3
    planted  items with one value of feature 1 fail more often, by 60% of what there is room for
    edge     every construction fails at 5%, clusters alike: nothing may be called unbroken
"""

import argparse

import numpy as np

from encheck.operations.explore.explore import HOLDS, Exploration, explore
from encheck.operations.explore.material import ExploredItem, Material
from encheck.operations.explore.search import SearchBudget
from encheck.scoring.crossed import Crossed, CrossedSide

WORLDS = ("same", "planted", "edge")
FEATURES, VALUES, PLANTED = 7, 4, 0.6
PLACE = ("f1", "v0")


def material(rng: np.random.Generator, world: str, *, clusters: int) -> tuple[Material, dict[str, float]]:
    items, margins = [], {}
    for number in range(clusters):
        base = 0.05 if world == "edge" else rng.beta(2, 4)
        fixed = rng.integers(VALUES, size=FEATURES)
        for k in range(2):
            free = rng.integers(VALUES, size=FEATURES)
            values = tuple((f"f{j}", f"v{(fixed if j % 2 else free)[j]}") for j in range(FEATURES))
            one = item(f"c{number}", 2 * number + k, values)
            fails = base + PLANTED * (1 - base) * (world == "planted" and PLACE in values)
            margins[one.triplet.near] = -0.1 if rng.random() < fails else 0.1
            items.append(one)
    return Material("number", tuple(items)), margins


def item(cluster: str, number: int, values: tuple[tuple[str, str], ...]) -> ExploredItem:
    texts = [f"{what} {number} of {cluster}" for what in ("source", "kept", "changed", "mirror")]
    sides = (CrossedSide(*texts[:3]), CrossedSide(texts[3], texts[2], texts[1]))
    whole = Crossed(f"own/{number:016x}/number/1/crossed/0", sides, cluster)
    return ExploredItem("number", whole.triplets[0], whole, values)


def truth(values: tuple[tuple[str, str], ...], world: str) -> float:
    """The failure rate of a construction: feature 1 is drawn apart from the others."""
    base = 0.05 if world == "edge" else 1 / 3
    if world != "planted":
        return base
    named = dict(values).get(PLACE[0])
    share = 1 / VALUES if named is None else float(named == PLACE[1])
    return base + PLANTED * (1 - base) * share


def one_run(world: str, seed: int, *, clusters: int) -> Exploration:
    """The outcome of one simulated search."""
    rng = np.random.default_rng([seed, WORLDS.index(world)])
    made, margins = material(rng, world, clusters=clusters)
    return explore([made], lambda pairs: [margins.get(b, 0.0) for _, b in pairs], seed=seed, budget=SearchBudget())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--clusters", type=int, default=400)
    parser.add_argument("--world", choices=WORLDS, action="append", help="default: all")
    given = parser.parse_args()
    for world in given.world or WORLDS:
        runs = [one_run(world, seed, clusters=given.clusters) for seed in range(given.runs)]
        rows = [[(row, truth(row.cell.values, world)) for row in found.rows] for found in runs]
        wrong = sum(any(not row.low <= true <= row.high for row, true in some) for some in rows)
        picked = [(row.searched.rate, row.rate, true) for some in rows for row, true in some if row.cell.values]
        means = np.array(picked).mean(axis=0) if picked else np.full(3, np.nan)
        planted = sum(any(PLACE in row.cell.values for row in found.broken) for found in runs)
        unbroken = sum(any(row.verdict == HOLDS for row in found.rows) for found in runs)
        print(
            f"{world:<8} wrong {wrong / given.runs:.1%}  nominated {len(picked) / given.runs:.1f} a run: "
            f"{means[0]:.3f} found, {means[1]:.3f} confirmed, {means[2]:.3f} true  "
            f"planted {f'{planted / given.runs:.1%}' if world == 'planted' else '-'}  "
            f"unbroken {unbroken / given.runs:.1%}  of {given.runs}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Speed of the swap chains beside the parse that they need, in one run, as ratios.

    python lab/benchmarks/chains.py --data paws:path/to/test.tsv [--rounds 3]

"Cold" begins with an empty store: parses, swaps, checks of what they mean, both pivots. It takes turns with parsing the
same sentences alone, by the same loaded pipeline; the ratio is the median of the rounds' ratios. "From cached parses"
begins with the store that a cold round filled and a fresh memory. Each figure is given by the clock and by the seconds
of CPU that the process had: on a machine that others use they are far apart.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from encheck.datasets.dataset import Dataset
from encheck.datasets.load import load
from encheck.items.chains import PIVOTS, swap_chains
from encheck.items.variants import VariantMaker
from encheck.language.english import English
from encheck.language.pipeline.pipeline import Pipeline
from encheck.store import Store
from encheck_papers.published_recipe import RECIPE

Seconds = tuple[float, float]  # by the clock, of CPU


def timed(work: Callable[[], object]) -> Seconds:
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def chains(data: Dataset, pipeline: Pipeline, path: Path, mode: str) -> int:
    """How many chains the data have, with the parses of the store at `path`."""
    store = Store(path)
    maker = VariantMaker(english=English(pipeline, recipe=RECIPE if mode == "paper" else None, store=store))
    made = [len(swap_chains()(data, level, maker).included) for level in PIVOTS]
    store.close()
    return made[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="NAME:PATH of labelled pairs, as for encheck run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mode", default="careful", choices=("careful", "paper"))
    options = parser.parse_args()
    data = load(options.data, sample=None)
    texts = list(dict.fromkeys(group.paraphrase for group in data.groups))
    pipeline = Pipeline()
    list(pipeline.parse(texts[:8]))
    cold: list[Seconds] = []
    parse: list[Seconds] = []
    warm: list[Seconds] = []
    with tempfile.TemporaryDirectory() as name:
        for i in range(options.rounds):
            path = Path(name) / f"{i}.sqlite"
            parse.append(timed(lambda: list(pipeline.parse(texts))))
            cold.append(timed(lambda: chains(data, pipeline, path, options.mode)))  # noqa: B023 - called at once
            warm.append(timed(lambda: chains(data, pipeline, path, options.mode)))  # noqa: B023
        count = chains(data, pipeline, path, options.mode)
    print(f"{len(data.pairs):,} pairs, {len(data.groups):,} paraphrases, {count:,} chains ({options.mode})")
    print("| what | by the clock | CPU | wanted |\n| --- | --- | --- | --- |")
    for what, rounds, wanted in (
        ("parse alone", parse, ""),
        ("chains, cold", cold, ""),
        ("chains from cached parses", warm, "at most 2 s"),
    ):
        clock, cpu = (statistics.median(side) for side in zip(*rounds, strict=True))
        print(f"| {what} | {clock:.2f} s | {cpu:.2f} s | {wanted} |")
    ratios = [tuple(a / b for a, b in zip(*both, strict=True)) for both in zip(cold, parse, strict=True)]
    clock, cpu = (statistics.median(side) for side in zip(*ratios, strict=True))
    print(f"| cold / parse alone | {clock:.2f} | {cpu:.2f} | at most 1.3 |")


if __name__ == "__main__":
    main()

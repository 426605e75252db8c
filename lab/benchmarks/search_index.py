"""Exact search against --search-index=faiss on synthetic vectors: seconds, memory, and what the index misses.

    python lab/benchmarks/search_index.py [--documents 1000000] [--queries 1000 10000] [--probes 0 16 ...] [--apart 0.5]

Documents and queries come from one cloud with a topic for each 1,000 documents. A topic is a random direction, of
length `--apart`; its texts spread around it in 32 directions, with length 1 on average, and by a little noise in all
directions. `--lengths 0.3` gives vectors lengths, 0.3 being the standard deviation of their logarithms, and compares
by the dot product instead of the cosine.

Documents lie in a memory map, of which the system may drop what was read: "anonymous" is the peak of all other memory
of the process, and "resident" has the pages of the map too. The exact search is timed on `--asked` queries.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from encheck.metrics.search import index_recall
from encheck.scoring.vector_search import SAMPLE, InvertedLists, ListCounts, compare_with_exact, search_exactly

Vectors = np.ndarray
DEPTH = 1_000
SPREAD, KINDS, AT_ONCE = 32, 50, 50_000


class Cloud:
    """Topics, and the directions that texts of each kind of topic spread in."""

    def __init__(self, topics: int, width: int, *, apart: float, lengths: float) -> None:
        rng = np.random.default_rng(0)
        self.width, self.lengths = width, lengths
        self.topics = rng.standard_normal((topics, width), np.float32) * apart / width**0.5
        self.directions = rng.standard_normal((KINDS, SPREAD, width), np.float32) / (width * SPREAD) ** 0.5

    def blocks(self, count: int, seed: int) -> Iterator[tuple[int, Vectors]]:
        """`count` vectors, a block after the other, each with its first row."""
        rng = np.random.default_rng([1, seed])
        for start in range(0, count, AT_ONCE):
            topic = rng.integers(len(self.topics), size=min(AT_ONCE, count - start))
            found = self.topics[topic] + 0.02 * rng.standard_normal((len(topic), self.width), np.float32)
            spread = rng.standard_normal((len(topic), SPREAD), np.float32)
            for kind in range(KINDS):
                rows = np.flatnonzero(topic % KINDS == kind)
                found[rows] += spread[rows] @ self.directions[kind]
            found /= np.linalg.norm(found, axis=1, keepdims=True)
            yield start, found * np.exp(self.lengths * rng.standard_normal((len(topic), 1), np.float32))


class Peak(threading.Thread):
    """Looks every 20 ms at how much memory the process has that belongs to no file."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest, self.ends = 0.0, threading.Event()

    def run(self) -> None:
        while not self.ends.wait(0.02):
            status = Path("/proc/self/status").read_text()
            self.largest = max(self.largest, int(status.partition("RssAnon:")[2].split()[0]) / 1024**2)


@contextmanager
def measured(name: str) -> Iterator[None]:
    """Prints seconds, and the peak of memory, of the block."""
    peak, wall, cpu = Peak(), time.perf_counter(), time.process_time()
    peak.start()
    yield
    peak.ends.set()
    peak.join()
    seconds = f"{time.perf_counter() - wall:.1f} s, {time.process_time() - cpu:.1f} s of processor time"
    print(f"{name}: {seconds}, {peak.largest:.2f} GB anonymous", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--asked", type=int, default=1_000, help="queries of the exact search that is timed")
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--lists", type=int, default=0)
    parser.add_argument("--probes", type=int, nargs="+", default=[0])
    parser.add_argument("--apart", type=float, default=0.5)
    parser.add_argument("--lengths", type=float, default=0.0)
    parser.add_argument("--folder", type=Path, help="of the memory map")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    similarity = "dot" if given.lengths else "cosine"
    cloud = Cloud(max(200, given.documents // 1_000), given.dimensions, apart=given.apart, lengths=given.lengths)
    queries = np.concatenate([some for _, some in cloud.blocks(max(given.queries), 1)])
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        shape = (given.documents, given.dimensions)
        written = np.memmap(Path(folder) / "documents", np.float32, "w+", shape=shape)
        for start, some in cloud.blocks(given.documents, 0):
            written[start : start + len(some)] = some
        written.flush()
        del written
        documents = np.memmap(Path(folder) / "documents", np.float32, "r", shape=shape)
        with measured(f"exact, {given.asked:,} queries"):
            list(search_exactly(queries[: given.asked], documents, similarity=similarity, count=DEPTH))
        with measured("index made"):
            index = InvertedLists(documents, similarity=similarity, size=ListCounts(given.lists))
        for probes in given.probes:
            searched(index, queries, given.queries, probes)
        with measured(f"{SAMPLE} queries searched exactly too"):
            compare_with_exact(index, queries[:SAMPLE], [frozenset()] * SAMPLE, count=DEPTH, fewest=10)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{resident:.2f} GB resident at the peak")


def searched(index: InvertedLists, queries: Vectors, counts: list[int], probes: int) -> None:
    """Search with so many probes; and what that finds."""
    index.set_searched_lists(probes)
    for count in counts:
        with measured(f"{index.size.probes} of {index.size.lists} lists, {count:,} queries"):
            for _ in index.search(queries[:count], count=DEPTH, fewest=10):
                pass
    stage = compare_with_exact(index, queries[:SAMPLE], [frozenset()] * SAMPLE, count=DEPTH, fewest=10)
    for depth, values in zip(stage.depths, stage.found.T, strict=True):
        found = index_recall(depth, values)
        print(f"  {found.value:.2%} [{found.low:.2%}, {found.high:.2%}] of the {depth} nearest")


if __name__ == "__main__":
    main()

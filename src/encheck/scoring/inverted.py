"""Approximate search: an index finds candidates, and their scores are computed exactly from the documents' own vectors.

The index is Faiss's inverted file (Jegou et al. 2011, IEEE TPAMI 33): k-means sorts the documents into lists, and a
query looks into the lists whose centres are nearest to it. So a document may be missed, but no score is approximate.
What the index misses is measured: see `compared`.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.scoring.documents import SearchingQuery
from encheck.scoring.nearest import (
    Found,
    Vectors,
    directions_of,
    grid_of,
    nearest,
    rounding,
    settled,
    wider,
    without_own,
)
from encheck.types import content_hash

Floats = NDArray[np.float64]
SERVED = ("cosine", "dot", "euclidean")
DEPTHS = (10, 100, 1_000)  # of answers, at which what the index found is counted
SAMPLE = 500  # queries that are searched exactly too
FEWEST_PROBES = 16
PROBED = 16  # one of so many lists is looked into, unless the user says otherwise
POINTS = 64  # of the sample that k-means learns a centre from
ROUNDS = 10  # of k-means
RANGES = 100_000  # documents that the ranges of the 8-bit numbers are learned from
AT_ONCE = 1 << 16  # documents
MISSING = -1  # Faiss's row of an answer that is not there
SEEDS = 1 << 31  # that Faiss takes


@dataclass(frozen=True, slots=True)
class IndexSize:
    """How many lists the documents are sorted into, and how many of them a query looks into; 0 chooses by itself."""

    lists: int = 0
    probes: int = 0

    def of(self, documents: int) -> IndexSize:
        """The same for so many documents: the square root of their number, and one in 16 lists, at least 16.

        >>> IndexSize().of(1_000_000), IndexSize(probes=5_000).of(900)
        (IndexSize(lists=1000, probes=63), IndexSize(lists=30, probes=30))
        """
        lists = min(self.lists or max(1, round(math.sqrt(documents))), documents)
        return IndexSize(lists, min(self.probes or max(FEWEST_PROBES, math.ceil(lists / PROBED)), lists))


def refuse_unserved(model: str, similarity: str) -> None:
    """UsageError for a model whose similarity the index cannot search by."""
    if similarity not in SERVED:
        raise UsageError(
            f"--search-index=faiss can search by {', '.join(SERVED)}, but {model} compares by {similarity}. Remedy: "
            "--search-index=exact"
        )


def refuse_missing() -> None:
    """UsageError if Faiss is not installed."""
    if importlib.util.find_spec("faiss") is None:
        raise UsageError("--search-index=faiss needs the library Faiss. Remedy: pip install 'encheck[ann]'")


class InvertedLists:
    """An index over `documents` [m, d], fp32, which it does not copy: it keeps a byte for each number.

    `similarity` is one of `SERVED`. The same documents, size and seed give the same index, with any number of threads.
    """

    def __init__(self, documents: Vectors, *, similarity: str, size: IndexSize, seed: int = 0) -> None:
        self.documents, self.similarity, self.size = documents, similarity, size.of(len(documents))
        self._index = self._trained(seed)
        self._index.nprobe = self.size.probes
        for start in range(0, len(documents), AT_ONCE):
            self._index.add(self._prepared(documents[start : start + AT_ONCE]))

    def look_into(self, probes: int) -> None:
        """Look into so many lists from now on; 0 chooses by itself."""
        self.size = IndexSize(self.size.lists, probes).of(len(self.documents))
        self._index.nprobe = self.size.probes

    def _prepared(self, vectors: Vectors) -> Vectors:
        """Vectors as the index compares them: at length 1 for cosines."""
        whole = np.ascontiguousarray(vectors, np.float32)
        return directions_of(whole) if self.similarity == "cosine" else whole

    def _trained(self, seed: int) -> Any:
        """The empty index: centres, and the range of each dimension, from seeded samples of the documents."""
        import faiss

        rng, (count, width), lists = np.random.default_rng([seed, 0xFA155]), self.documents.shape, self.size.lists
        by_direction = self.similarity != "euclidean"  # also for dot products: long vectors would draw all centres
        means = faiss.Kmeans(
            width, lists, niter=ROUNDS, seed=seed % SEEDS, spherical=by_direction,
            min_points_per_centroid=1, max_points_per_centroid=POINTS,
        )  # fmt: skip
        sample = self._drawn(rng, min(count, POINTS * lists))
        means.train(directions_of(sample) if by_direction else sample)
        metric = faiss.METRIC_INNER_PRODUCT if by_direction else faiss.METRIC_L2
        bits = faiss.ScalarQuantizer.QT_8bit
        index = faiss.IndexIVFScalarQuantizer(means.index, width, lists, bits, metric, False)
        index.train(self._drawn(rng, min(count, RANGES)))
        self._centres = means.index, np.asarray(means.centroids)  # the index refers to the first
        return index

    def _drawn(self, rng: np.random.Generator, count: int) -> Vectors:
        rows = np.sort(rng.choice(len(self.documents), count, replace=False))
        return self._prepared(self.documents[rows])

    def nearest(self, queries: Vectors, *, count: int, fewest: int = 1) -> Iterator[Found]:
        """(rows, scores) of the `count` nearest documents of each query [n, d] among those looked at, nearest first.

        A query whose lists hold fewer than `fewest` documents is searched exactly, and so are all where they look into
        all lists. Scores and the order of ties are those of `encheck.scoring.nearest`, up to the rounding of fp32.
        """
        if self.size.probes == self.size.lists:
            yield from nearest(queries, self.documents, similarity=self.similarity, count=count)
            return
        wanted, kept = min(fewest, len(self.documents)), count + max(100, count // 4)
        for query, rows in zip(queries, self._candidates(queries, min(kept, len(self.documents))), strict=True):
            if len(rows) < wanted:
                yield from nearest(query[None], self.documents, similarity=self.similarity, count=count)
                continue
            values = grid_of(self.similarity, query[None])(np.ascontiguousarray(self.documents[rows]))[0]
            order = np.argsort(-values, kind="stable")[:count]
            yield settled(rows[order], values[order].astype(np.float64))

    def _candidates(self, queries: Vectors, count: int) -> Iterator[NDArray[np.intp]]:
        """The rows of the documents that the index puts first, sorted: some more than are wanted, since it rounds."""
        probes = self.size.probes
        for start in range(0, len(queries), 1_024):
            some = self._prepared(queries[start : start + 1_024])
            centres = np.stack([_best(row, probes) for row in grid_of(self.similarity, some)(self._centres[1])])
            order, distances = centres.astype(np.int64), np.zeros(centres.shape, np.float32)
            _, found = self._index.search_preassigned(some, count, order, distances)
            yield from (np.sort(rows[rows != MISSING]).astype(np.intp) for rows in found)


def _best(scores: Floats, count: int) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:count]


@dataclass(frozen=True)
class FirstStage:
    """What an index found of the answers of an exact search, on a sample of its queries.

    `found` [n, depths] has the share of the first 10, 100 and 1,000 exact answers that are among as many answers of
    the index; a tie with the last one counts. Of the `right` documents among the first ten exact answers, `lost` are
    not among the index's first ten. `raised` right documents stand higher there, since it missed a nearer document.
    """

    size: IndexSize
    documents: int
    depths: tuple[int, ...]
    found: Floats
    right: int = 0
    lost: int = 0
    raised: int = 0


def sampled(queries: Sequence[SearchingQuery], count: int = SAMPLE) -> list[int]:
    """The places of at most `count` queries, drawn by the hashes of their texts; in order."""
    return sorted(sorted(range(len(queries)), key=lambda i: (content_hash(queries[i].source), i))[:count])


def compared(
    index: InvertedLists,
    vectors: Vectors,
    right: Sequence[frozenset[int]],
    *,
    count: int,
    fewest: int = 1,
    own: Sequence[int | None] = (),
) -> FirstStage:
    """Search exactly and by the index for these queries [n, d], whose right documents have these rows.

    `own` has the row of each query's own document, which neither search counts.
    """
    own = own or [None] * len(vectors)
    most = wider(count, own)
    exact = nearest(vectors, index.documents, similarity=index.similarity, count=most)
    indexed = index.nearest(vectors, count=most, fewest=wider(fewest, own))
    depths = tuple(depth for depth in DEPTHS if depth <= count)
    both = list(zip(*(without_own(one, own, count=count) for one in (exact, indexed)), strict=True))
    found = np.array([[_share(one, other, depth) for depth in depths] for one, other in both])
    judged = [_moved(rows, one, other) for rows, (one, other) in zip(right, both, strict=True)]
    return FirstStage(
        index.size,
        len(index.documents),
        depths,
        found.reshape(len(both), len(depths)),
        *map(sum, zip(*judged, strict=True)),
    )


def _moved(right: frozenset[int], exact: Found, other: Found) -> tuple[int, int, int]:
    """How many right documents are among the first ten exact answers, how many the other lost, how many it raised."""
    first, then = (
        {row: place for place, row in enumerate(found[0][: DEPTHS[0]].tolist()) if row in right}
        for found in (exact, other)
    )
    raised = sum(place < first.get(row, DEPTHS[0]) for row, place in then.items())
    return len(first), len(first.keys() - then.keys()), raised


def _share(exact: Found, other: Found, depth: int) -> float:
    """The share of the first `depth` exact answers, of fewer where there are fewer, that the other search has."""
    wanted, there = exact[1][:depth], other[1][:depth]
    last = wanted[-1] - rounding(exact[1])
    return float(np.sum(there >= last) / len(wanted))

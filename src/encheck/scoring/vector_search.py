"""Search vectors: exactly, in blocks of documents, or by an index that finds candidates.

Documents with the same score are in the order of their rows. For trec_eval's order of ties, sort the rows by id in
descending order. The index is Faiss's inverted file (Jegou et al. 2011, IEEE TPAMI 33): k-means sorts the documents
into lists, and a query searches the lists with the nearest centres. So a document may be missed, but scores are
computed exactly from the documents' vectors. `compare_with_exact` measures the recall.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.scoring.documents import RankedRows
from encheck.scoring.item import SearchingQuery
from encheck.types import content_hash

Vectors = NDArray[np.float32]
Row = NDArray[np.floating]
FP32 = 1e-6  # fp32 rounding, as a share of the largest score or of 1
SCORES_AT_ONCE = 1 << 25  # scores per block, four bytes each


def search_exactly(queries: Vectors, documents: Vectors, *, similarity: str, count: int) -> Iterator[RankedRows]:
    """Yield (rows, scores) of the `count` nearest documents of each query, the nearest first; fewer if there are fewer.

    `queries` [n, d] and `documents` [m, d] are fp32. `similarity` is one of `SIMILARITIES`, for which larger is nearer.
    Differences within fp32 rounding are ties.
    """
    grid = block_scorer(similarity, queries)
    best: list[RankedRows] = [(np.zeros(0, np.intp), np.zeros(0))] * len(queries)
    step = max(1, SCORES_AT_ONCE // max(len(queries), 1))
    for start in range(0, len(documents), step):
        block = np.ascontiguousarray(documents[start : start + step], np.float32)
        best = [merge_top_rows(one, row, start, count=count) for one, row in zip(best, grid(block), strict=True)]
    return (with_ties_in_row_order(*one) for one in best)


def merge_top_rows(best: RankedRows, scores: Row, start: int, *, count: int) -> RankedRows:
    """Return the `count` best of the known answers and of the next block, whose first row is `start`."""
    rows, values = best
    full = len(rows) == count
    new = np.flatnonzero(scores > values[-1]) if full else np.arange(len(scores))
    new = new[_top_positions(scores[new], count)]
    rows, values = np.concatenate([rows, start + new]), np.concatenate([values, scores[new].astype(np.float64)])
    order = np.argsort(-values, kind="stable")[:count]  # known answers come first, since their rows are lower
    return rows[order], values[order]


def _top_positions(scores: Row, count: int) -> NDArray[np.intp]:
    """Return the positions of the `count` best scores, in order. On a tie, the first position comes first."""
    if len(scores) <= count:
        return np.arange(len(scores))
    last = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, equal = np.flatnonzero(scores > last), np.flatnonzero(scores == last)
    return np.sort(np.concatenate([above, equal[: count - len(above)]]))


def with_ties_in_row_order(rows: NDArray[np.intp], values: NDArray[np.float64]) -> RankedRows:
    """Return the sort answers that tie in fp32 by their rows."""
    step = fp32_tolerance(values)
    order = np.lexsort((rows, -np.round(values / step)))
    return rows[order], values[order]


def drop_own_documents(answers: Iterable[RankedRows], own: Sequence[int | None], *, count: int) -> Iterator[RankedRows]:
    """Yield the first `count` answers to each query, without the document that equals the query, if any.

    A search for `count` answers therefore needs as many as `count_including_own` returns.
    """
    for (rows, values), mine in zip(answers, own, strict=True):
        others = rows != (-1 if mine is None else mine)
        yield rows[others][:count], values[others][:count]


def count_including_own(count: int, own: Sequence[int | None]) -> int:
    """Return `count`, or one more if a query is among the documents."""
    return count + any(one is not None for one in own)


def fp32_tolerance(values: NDArray[np.float64]) -> float:
    """Return the largest difference of two of these scores that counts as a tie in fp32."""
    return float(FP32 * max(1.0, float(np.abs(values).max(initial=0))))


def block_scorer(similarity: str, queries: Vectors) -> Callable[[Vectors], Row]:
    """Return a function that scores a block of documents [block, d] for queries [n, d] and returns shape [n, block]."""
    if similarity == "cosine":
        directions = unit_vectors(queries)
        return lambda block: directions @ unit_vectors(block).T
    if similarity == "dot":
        return lambda block: queries @ block.T
    from scipy.spatial.distance import cdist

    name = {"euclidean": "euclidean", "manhattan": "cityblock"}[similarity]
    return lambda block: -cdist(queries, block, name)


def unit_vectors(vectors: Vectors) -> Vectors:
    """Return the vectors [n, d] normalised to length 1; a zero vector is unchanged."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    found: Vectors = (vectors / np.maximum(norms, 1e-60)[:, None]).astype(np.float32)
    return found


Floats = NDArray[np.float64]
SUPPORTED_SIMILARITIES = ("cosine", "dot", "euclidean")
DEPTHS = (10, 100, 1_000)  # numbers of answers at which recall is measured
SAMPLE = 500  # queries that are also searched exactly
FEWEST_PROBES = 16
LISTS_A_PROBE = 16  # one in this many lists is searched by default
POINTS = 64  # sample size per centre for k-means
ROUNDS = 10  # of k-means
RANGES = 100_000  # documents from which the ranges of the 8-bit numbers are estimated
AT_ONCE = 1 << 16  # documents
MISSING = -1  # Faiss's row for a missing answer
SEEDS = 1 << 31  # that Faiss accepts


@dataclass(frozen=True, slots=True)
class ListCounts:
    """The number of inverted lists of a Faiss index, and how many of them a query searches; 0 means automatic."""

    lists: int = 0
    probes: int = 0

    def resolve_sizes(self, documents: int) -> ListCounts:
        """Replace automatic sizes by values for this many documents.

        The number of lists is the square root of the number of documents. A query searches one in 16 lists, at least
        16.

        >>> ListCounts().resolve_sizes(1_000_000), ListCounts(probes=5_000).resolve_sizes(900)
        (ListCounts(lists=1000, probes=63), ListCounts(lists=30, probes=30))
        """
        lists = min(self.lists or max(1, round(math.sqrt(documents))), documents)
        return ListCounts(lists, min(self.probes or max(FEWEST_PROBES, math.ceil(lists / LISTS_A_PROBE)), lists))


def refuse_unsupported_similarity(model: str, similarity: str) -> None:
    """Raise UsageError for a model whose similarity the index does not support."""
    if similarity not in SUPPORTED_SIMILARITIES:
        known = ", ".join(SUPPORTED_SIMILARITIES)
        raise UsageError(
            f"--search-index=faiss can search by {known}, but {model} compares by {similarity}. Remedy: "
            "--search-index=exact"
        )


def refuse_missing_faiss() -> None:
    """Raise UsageError if Faiss is not installed."""
    if importlib.util.find_spec("faiss") is None:
        raise UsageError("--search-index=faiss needs the library Faiss. Remedy: pip install 'encheck[ann]'")


class InvertedLists:
    """An index over `documents` [m, d], fp32. It does not copy them, and stores one byte per number.

    `similarity` is one of `SUPPORTED_SIMILARITIES`. The same documents, size and seed give the same index with any
    number of threads.
    """

    def __init__(self, documents: Vectors, *, similarity: str, size: ListCounts, seed: int = 0) -> None:
        self.documents, self.similarity, self.size = documents, similarity, size.resolve_sizes(len(documents))
        self._index = self._train_index(seed)
        self._index.nprobe = self.size.probes
        for start in range(0, len(documents), AT_ONCE):
            self._index.add(self._normalise_rows(documents[start : start + AT_ONCE]))

    def set_searched_lists(self, probes: int) -> None:
        """Set how many lists later searches use; 0 means automatic."""
        self.size = ListCounts(self.size.lists, probes).resolve_sizes(len(self.documents))
        self._index.nprobe = self.size.probes

    def _normalise_rows(self, vectors: Vectors) -> Vectors:
        """Return the vectors as the index compares them: normalised to length 1 for cosines."""
        whole = np.ascontiguousarray(vectors, np.float32)
        return unit_vectors(whole) if self.similarity == "cosine" else whole

    def _train_index(self, seed: int) -> Any:
        """Return the empty index, with centres and the range of each dimension from seeded samples of the documents."""
        import faiss

        rng, (count, width), lists = np.random.default_rng([seed, 0xFA155]), self.documents.shape, self.size.lists
        by_direction = self.similarity != "euclidean"  # also for dot products: long vectors would attract all centres
        means = faiss.Kmeans(
            width, lists, niter=ROUNDS, seed=seed % SEEDS, spherical=by_direction,
            min_points_per_centroid=1, max_points_per_centroid=POINTS,
        )  # fmt: skip
        sample = self._sample_documents(rng, min(count, POINTS * lists))
        means.train(unit_vectors(sample) if by_direction else sample)
        metric = faiss.METRIC_INNER_PRODUCT if by_direction else faiss.METRIC_L2
        bits = faiss.ScalarQuantizer.QT_8bit
        index = faiss.IndexIVFScalarQuantizer(means.index, width, lists, bits, metric, False)
        index.train(self._sample_documents(rng, min(count, RANGES)))
        self._centres = means.index, np.asarray(means.centroids)  # the index refers to the first
        return index

    def _sample_documents(self, rng: np.random.Generator, count: int) -> Vectors:
        rows = np.sort(rng.choice(len(self.documents), count, replace=False))
        return self._normalise_rows(self.documents[rows])

    def search(self, queries: Vectors, *, count: int, fewest: int = 1) -> Iterator[RankedRows]:
        """Yield (rows, scores) of the `count` nearest documents of each query [n, d] among the searched lists, nearest
        first.

        A query whose lists have fewer than `fewest` documents is searched exactly, and so are all queries if all lists
        are searched. Scores and the order of ties equal those of `search_exactly`, up to fp32 rounding.
        """
        if self.size.probes == self.size.lists:
            yield from search_exactly(queries, self.documents, similarity=self.similarity, count=count)
            return
        wanted, kept = min(fewest, len(self.documents)), count + max(100, count // 4)
        for query, rows in zip(queries, self._candidates(queries, min(kept, len(self.documents))), strict=True):
            if len(rows) < wanted:
                yield from search_exactly(query[None], self.documents, similarity=self.similarity, count=count)
                continue
            values = block_scorer(self.similarity, query[None])(np.ascontiguousarray(self.documents[rows]))[0]
            order = np.argsort(-values, kind="stable")[:count]
            yield with_ties_in_row_order(rows[order], values[order].astype(np.float64))

    def _candidates(self, queries: Vectors, count: int) -> Iterator[NDArray[np.intp]]:
        """Yield the rows of the index's first documents, sorted. There are a few more than `count`, since the index
        rounds.
        """
        probes = self.size.probes
        for start in range(0, len(queries), 1_024):
            some = self._normalise_rows(queries[start : start + 1_024])
            scores = block_scorer(self.similarity, some)(self._centres[1])
            centres = np.argsort(-scores, axis=1, kind="stable")[:, :probes]
            order, distances = centres.astype(np.int64), np.zeros(centres.shape, np.float32)
            _, found = self._index.search_preassigned(some, count, order, distances)
            yield from (np.sort(rows[rows != MISSING]).astype(np.intp) for rows in found)


@dataclass(frozen=True)
class IndexRecall:
    """The recall of an index against exact search, on a sample of the queries.

    `found` [n, depths] has the share of the first 10, 100 and 1,000 exact answers that are among equally many answers
    of the index; a tie with the last answer counts. `right` is the number of right documents among the first ten exact
    answers. Of these, `lost` are not among the index's first ten, and `raised` rank higher there, since the index
    missed a nearer document.
    """

    size: ListCounts
    documents: int
    depths: tuple[int, ...]
    found: Floats
    right: int = 0
    lost: int = 0
    raised: int = 0


def sample_queries(queries: Sequence[SearchingQuery], count: int = SAMPLE) -> list[int]:
    """Return the positions of at most `count` queries, in order. The hashes of their texts decide which are sampled."""
    return sorted(sorted(range(len(queries)), key=lambda i: (content_hash(queries[i].source), i))[:count])


def compare_with_exact(
    index: InvertedLists,
    vectors: Vectors,
    right: Sequence[frozenset[int]],
    *,
    count: int,
    fewest: int = 1,
    own: Sequence[int | None] = (),
) -> IndexRecall:
    """Search exactly and by the index for these queries [n, d]. `right` has the rows of their right documents.

    `own` has the row of each query's own document, which both searches leave out.
    """
    own = own or [None] * len(vectors)
    most = count_including_own(count, own)
    exact = search_exactly(vectors, index.documents, similarity=index.similarity, count=most)
    indexed = index.search(vectors, count=most, fewest=count_including_own(fewest, own))
    depths = tuple(depth for depth in DEPTHS if depth <= count)
    both = list(zip(*(drop_own_documents(one, own, count=count) for one in (exact, indexed)), strict=True))
    found = np.zeros((len(both), len(depths)))
    for i, ((_, exact_scores), (_, scores)) in enumerate(both):
        tie = fp32_tolerance(exact_scores)
        for j, depth in enumerate(depths):
            wanted = exact_scores[:depth]  # fewer if there are fewer
            found[i, j] = np.sum(scores[:depth] >= wanted[-1] - tie) / len(wanted)
    judged = [_count_rank_changes(rows, one, other) for rows, (one, other) in zip(right, both, strict=True)]
    return IndexRecall(
        index.size,
        len(index.documents),
        depths,
        found,
        *map(sum, zip(*judged, strict=True)),
    )


def _count_rank_changes(right: frozenset[int], exact: RankedRows, other: RankedRows) -> tuple[int, int, int]:
    """Return the numbers of right documents among the first ten exact answers, and of these how many were lost and
    raised.
    """
    first, then = (
        {row: place for place, row in enumerate(found[0][: DEPTHS[0]].tolist()) if row in right}
        for found in (exact, other)
    )
    raised = sum(place < first.get(row, DEPTHS[0]) for row, place in then.items())
    return len(first), len(first.keys() - then.keys()), raised

"""Check whether the new model's queries can search the old model's vectors, directly or after a linear map.

The new model's queries search the old vectors. Their recall@1 and nDCG@10 are compared, query by query, with a search
of an index of the new model's own vectors. Without labels, the new model's own first ten answers count as right: the
first one for recall@1, and all ten, with grades 10 to 1, for nDCG@10.

A map is fitted on four fifths of the texts and evaluated on the queries and documents of the last fifth.
Near-duplicates stay in one part, so no map is evaluated on texts that it was fitted on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import find_first_near_duplicates
from encheck.datasets.collection import Collection
from encheck.gating.reindex import Reindex
from encheck.metrics.search import DELTA, ndcg_by_query, recall_by_query
from encheck.scoring.documents import NOT_FOUND, Answers
from encheck.scoring.vector_search import count_including_own, drop_own_documents, search_exactly
from encheck.statistics.bootstrap import Figure, LogBootstrap, widen_share_interval
from encheck.system import files
from encheck.system.typed_files import Count
from encheck.types import content_hash

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Ints = NDArray[np.intp]
MapKind = Literal["orthogonal", "ridge", "low-rank"]
MapChoice = tuple[MapKind, float, int]  # the kind, the penalty, the rank
TEXTS_PER_DIMENSION = 3
MIN_TEXTS = 60
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # in units of the mean variance per dimension
RANKS = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
HELD_OUT_PARTS = 5  # one part in five
FORMAT = 1


@dataclass(frozen=True)
class LinearMap:
    """`x @ matrix + offset`: from vectors of the new model, shape [n, new], to those of the old, shape [n, old].

    With `unit`, each vector is first normalised to length 1, which does not change cosines. `how` describes the chosen
    penalty and rank; `texts` is the number of texts that the map was fitted on.
    """

    kind: MapKind
    matrix: Floats
    offset: Floats
    unit: bool
    how: str = ""
    texts: int = 0

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return the vectors in the old model's space, fp32."""
        moved: Vectors = (to_float64(vectors, unit=self.unit) @ self.matrix + self.offset).astype(np.float32)
        return moved

    def save(self, path: Path, about: Mapping[str, str]) -> None:
        """Write an .npz for `numpy.load(path, allow_pickle=False)`: matrix, offset, unit and the strings of `about`."""
        texts = {"kind": self.kind, "how": self.how, **about}
        with files.write_whole(path) as file:
            np.savez(
                file, matrix=self.matrix.astype(np.float32), offset=self.offset.astype(np.float32), unit=self.unit,
                format=FORMAT, allow_pickle=False, **texts,
            )  # fmt: skip


def fit_map(new: Vectors, old: Vectors, groups: Ints, *, unit: bool) -> LinearMap | None:
    """Return the map with the least squared error on held-out texts, or None for fewer than `MIN_TEXTS` texts.

    `new` [n, d] and `old` [n, e] are vectors of the same distinct texts. Texts with the same number in `groups` are
    held out together. With fewer than three texts per dimension, the map has a low rank: one direction for every three
    texts.
    """
    if len(new) < MIN_TEXTS:
        return None
    x, y = (to_float64(one, unit=unit) for one in (new, old))
    kinds: tuple[MapKind, ...] = ("low-rank",)
    if len(x) >= TEXTS_PER_DIMENSION * x.shape[1]:
        kinds = ("orthogonal", "ridge")
    back = split_groups(groups, HELD_OUT_PARTS) == 0
    tried = _NormalEquations.of(x[~back], y[~back]).maps(kinds)
    _, chosen = min(
        ((float(((made(x[back]) - y[back]) ** 2).mean()), how) for how, made in tried), key=lambda one: one[0]
    )
    made = next(made for how, made in _NormalEquations.of(x, y).maps((chosen[0],), only=chosen))
    return replace(made, unit=unit, texts=len(x))


def split_groups(groups: Ints, parts: int) -> Ints:
    """Return the part of each text, 0 to `parts` - 1.

    All texts of a group get the same part. Groups are assigned in order of size, the largest first, each to the
    smallest part.
    """
    sizes = np.bincount(groups)
    filled, part = np.zeros(parts, np.intp), np.zeros(len(sizes), np.intp)
    for group in np.argsort(-sizes, kind="stable"):
        part[group] = int(filled.argmin())
        filled[part[group]] += sizes[group]
    found: Ints = part[groups]
    return found


def to_float64(vectors: Vectors, *, unit: bool) -> Floats:
    """Return the vectors in fp64, normalised to length 1 with `unit`; zero vectors stay zero."""
    wide = vectors.astype(np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-60) if unit else wide


@dataclass(frozen=True)
class _NormalEquations:
    """The normal equations of some texts. Every map is computed from them."""

    count: int
    mean_x: Floats
    mean_y: Floats
    cross: Floats
    plain: Floats
    values: Floats
    axes: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats) -> _NormalEquations:
        mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
        centred = x - mean_x
        values, axes = np.linalg.eigh(centred.T @ centred)
        return cls(len(x), mean_x, mean_y, centred.T @ (y - mean_y), x.T @ y, np.maximum(values, 0), axes)

    def maps(
        self, kinds: tuple[MapKind, ...], *, only: MapChoice | None = None
    ) -> Iterator[tuple[MapChoice, LinearMap]]:
        """Yield (choice, map) for each choice of these kinds; with `only`, for that choice alone."""
        from scipy.linalg import svd

        if "orthogonal" in kinds:
            left, _, right = svd(self.plain, full_matrices=False, lapack_driver="gesvd")
            yield ("orthogonal", 0.0, 0), LinearMap("orthogonal", left @ right, np.zeros(len(self.mean_y)), unit=False)
        if not {"ridge", "low-rank"} & {*kinds}:
            return
        for penalty in PENALTIES if only is None else [only[1]]:
            weight = penalty * max(float(self.values.mean()), 1e-30)
            matrix: Floats = self.axes @ ((self.axes.T @ self.cross) / (self.values + weight)[:, None])
            said = f"penalty {penalty:g} mean variances"
            if "ridge" in kinds:
                yield ("ridge", penalty, 0), self._map_between_centred_vectors("ridge", matrix, said)
            if "low-rank" not in kinds:
                continue
            predicted = np.sqrt(self.values)[:, None] * (self.axes.T @ matrix)
            directions = np.linalg.eigh(predicted.T @ predicted)[1][:, ::-1]
            most = max(1, min(self.count // TEXTS_PER_DIMENSION, min(matrix.shape) - 1))
            for rank in [*(rank for rank in RANKS if rank < most), most] if only is None else [only[2]]:
                kept = directions[:, :rank]
                yield (
                    ("low-rank", penalty, rank),
                    self._map_between_centred_vectors("low-rank", matrix @ kept @ kept.T, f"rank {rank}, {said}"),
                )

    def _map_between_centred_vectors(self, kind: MapKind, matrix: Floats, how: str) -> LinearMap:
        return LinearMap(kind, matrix, self.mean_y - self.mean_x @ matrix, unit=False, how=how)


Rows = Sequence[tuple[int, ...]]  # rows of the documents that each query finds, best first
TOP = 10
MIN_DOCUMENTS = 100  # with fewer, the first ten mean little: random vectors find half of 20 documents in ten
FOLDS = 5
MAX_TEXTS = 6_000  # to fit maps on: five fits take seconds
IN_NO_MAP = -1


@dataclass(frozen=True)
class IndexFaults:
    """The faults of a stored index in a sentence, and the numbers of the faulty rows."""

    says: str
    rows: tuple[Count, ...]


@dataclass(frozen=True)
class IndexSearch:
    """A search of an index: the texts of `documents` [m], in the order that breaks ties, and of `queries` [n].

    `grades` has the right documents of each query by row, empty if the query is unjudged. `own` has the row of the
    document that equals the query; the query's search skips that row.
    """

    documents: tuple[str, ...]
    queries: tuple[str, ...]
    grades: tuple[Mapping[int, int], ...]
    own: tuple[int | None, ...]
    log: LogBootstrap

    @classmethod
    def of(cls, collection: Collection, *, seed: int) -> Self:
        """Return the search of a collection: its documents with their queries, if any."""
        searched, queries = collection.searchable_documents, collection.queries
        row = {name: i for i, name in enumerate(searched.ids)}
        return cls(
            searched.texts,
            tuple(query.text for query in queries),
            tuple({row[name]: grade for name, grade in query.relevant_documents.items()} for query in queries),
            tuple(row[query.own_document] if query.own_document else None for query in queries),
            LogBootstrap.of([query.weight for query in queries], [query.cluster for query in queries], seed=seed),
        )

    @property
    def is_judged(self) -> bool:
        """Whether any query has labels."""
        return any(self.grades)

    def find_top_documents(self, queries: Vectors, documents: Vectors, *, similarity: str) -> Rows:
        """Return the rows of the first ten documents of each query by exact search, without the query's own."""
        every = search_exactly(queries, documents, similarity=similarity, count=count_including_own(TOP, self.own))
        return [tuple(rows.tolist()) for rows, _ in drop_own_documents(every, self.own, count=TOP)]


@dataclass(frozen=True)
class IndexVectors:
    """A model's vectors of the documents [m, d] and of the queries [n, d], which are None if unavailable."""

    documents: Vectors
    queries: Vectors | None
    similarity: str


@dataclass(frozen=True, slots=True)
class OldIndexFigure:
    """A figure of new queries on the old index (`old_index`) and on the new model's (`own`); a `change` < 0 is a loss.

    Where hardly any query is lost or won, the interval is widened to what so few clusters can show.
    """

    metric: str
    own: float
    old_index: float
    change: Figure

    @property
    def says(self) -> str:
        """The figure in words.

        >>> OldIndexFigure("recall@1", 0.557, 0.486, Figure(-0.071, -0.09, -0.052)).says
        'recall@1 48.6% instead of 55.7% (-7.1 points [-9.0, -5.2])'
        """
        ends = f"{100 * self.change.value:+.1f} points [{100 * self.change.low:+.1f}, {100 * self.change.high:+.1f}]"
        return f"{self.metric} {100 * self.old_index:.1f}% instead of {100 * self.own:.1f}% ({ends})"


@dataclass(frozen=True)
class OldIndexFigures:
    """The recall@1 and nDCG@10 of new queries on an index of old vectors."""

    figures: tuple[OldIndexFigure, ...]

    @property
    def is_as_good(self) -> bool:
        """Whether a loss of `DELTA` is ruled out for both figures."""
        return bool(self.figures) and all(one.change.low > -DELTA for one in self.figures)

    @property
    def says(self) -> str:
        """Both figures in words."""
        return "; ".join(one.says for one in self.figures)


@dataclass(frozen=True)
class OldIndex:
    """The result of checking whether an index of the old model's vectors can be kept.

    `faults` are faults that the index already had. `direct` has the figures of new queries on the index. `mixed` has
    their figures on an index in which half of the documents have new vectors, as after gradual updates. Both are None
    if dimensions differ, vectors stay valid, or there are no queries. `mapped` has the figures on the old index after a
    linear map. `adapter` is that map, fitted on all texts; it is None if a loss of `DELTA` is not ruled out, or if no
    map is needed.
    """

    documents: int
    reindex: Reindex
    faults: IndexFaults | None = None
    direct: OldIndexFigures | None = None
    mixed: OldIndexFigures | None = None
    mapped: OldIndexFigures | None = None
    adapter: LinearMap | None = None


def check_old_index(old: IndexVectors, new: IndexVectors, search: IndexSearch, vectors: Reindex) -> OldIndex:
    """Return whether the old index can be kept. `vectors` is the comparison of the vectors of all documents.

    If vectors changed, the index can be kept if new queries lose nothing on it and on a mixed index. The answer stays
    that of `vectors` if the index has fewer than `MIN_DOCUMENTS` documents, or if documents are now cut at a different
    length.
    """
    found = OldIndex(len(search.documents), vectors)
    is_open = vectors.needed and not vectors.longer and new.queries is not None and len(search.documents)
    if not is_open or len(search.documents) < MIN_DOCUMENTS or new.queries is None:
        return found
    own = search.find_top_documents(new.queries, new.documents, similarity=new.similarity)
    if old.documents.shape[1] == new.documents.shape[1]:
        is_new = np.array([int(content_hash(text), 16) % 2 for text in search.documents], bool)
        direct, mixed = (
            _compare_searches(own, search.find_top_documents(new.queries, some, similarity=old.similarity), search)
            for some in (old.documents, np.where(is_new[:, None], new.documents, old.documents))
        )
        found = replace(found, direct=direct, mixed=mixed)
        if direct and mixed and direct.is_as_good:
            if not mixed.is_as_good:
                return found
            why = f"new queries on the old index: {direct.says}; with half of its vectors new: {mixed.says}"
            return replace(found, reindex=replace(vectors, needed=False, answer="no", why=why))
    texts = _MapTexts.of(old, search, own)
    queries = _map_held_out_queries(old, new, texts)
    if queries is None:
        return found
    rows = search.find_top_documents(queries, old.documents, similarity=old.similarity)
    found = replace(found, mapped=_compare_searches(own, rows, search, texts))
    if found.mapped and found.mapped.is_as_good:
        return replace(
            found, adapter=fit_map(*texts.new_and_old_vectors(old, new), texts.groups, unit=old.similarity == "cosine")
        )
    return found


def _compare_searches(
    own: Rows, rows: Rows, search: IndexSearch, texts: _MapTexts | None = None
) -> OldIndexFigures | None:
    """Return the figures of the queries that have a right document, paired by query, or None if there are none.

    With `texts`, only documents that the query's map was not fitted on count.
    """
    grades: Sequence[Mapping[int, int]] = search.grades
    if not search.is_judged:
        grades = [{row: TOP - place for place, row in enumerate(found)} for found in own]
    if texts:
        of_query, of_document = texts.parts
        grades = [
            {row: grade for row, grade in some.items() if of_document[row] in (part, IN_NO_MAP)}
            for part, some in zip(of_query, grades, strict=True)
        ]
    firsts = grades if search.is_judged else [{row: g for row, g in some.items() if g == TOP} for some in grades]
    named = ("recall@1", "nDCG@10") if search.is_judged else ("its own first answer first", "nDCG@10 by its own ten")
    wanted: list[tuple[str, Callable[[Sequence[Answers]], Floats], Sequence[Mapping[int, int]]]] = [
        (named[0], partial(recall_by_query, cut=1), firsts), (named[1], ndcg_by_query, grades)
    ]  # fmt: skip
    figures = []
    for name, values, right in wanted:
        there = np.array([bool(some) for some in right])
        if not there.any():
            return None
        log = LogBootstrap(search.log.weights * there, search.log.clusters, search.log.resampler)
        at_own, at_old = (np.nan_to_num(values(_ranked_answers(found, right))) for found in (own, rows))
        change = log.change(at_own, at_old)
        lost, won = (
            widen_share_interval(share, share, share, n=int(there.sum()), clusters=log.effective_clusters)[1]
            - share  # beyond what was seen
            for share in (log.mean(np.maximum(side, 0)).value for side in (at_own - at_old, at_old - at_own))
        )
        ends = Figure(change.value, min(change.low, change.value - lost), max(change.high, change.value + won))
        figures.append(OldIndexFigure(name, log.mean(at_own).value, log.mean(at_old).value, ends))
    return OldIndexFigures(tuple(figures))


def _ranked_answers(rows: Rows, grades: Sequence[Mapping[int, int]]) -> list[Answers]:
    ranks = [{row: place for place, row in enumerate(found, 1)} for found in rows]
    return [
        Answers(tuple((rank.get(row, NOT_FOUND), grade) for row, grade in some.items()))
        for rank, some in zip(ranks, grades, strict=True)
    ]


@dataclass(frozen=True)
class _MapTexts:
    """The texts that maps are fitted on: the documents at rows `places`, then the queries.

    Texts with the same number in `groups` stay together. `part` has the part of each text. `firsts` has the row of the
    document that each query should find first, or `IN_NO_MAP`.
    """

    places: Ints
    groups: Ints
    part: Ints
    documents: int
    firsts: Ints

    @classmethod
    def of(cls, old: IndexVectors, search: IndexSearch, own: Rows) -> Self:
        """Return the documents and, if the old model has them, the queries.

        Each query is grouped with the documents that it should find.
        """
        every = [*search.documents, *(search.queries if old.queries is not None else ())]
        distinct = sorted(
            {text: place for place, text in enumerate(every)}.items(), key=lambda one: content_hash(one[0])
        )
        places = np.sort(np.array([place for _, place in distinct[:MAX_TEXTS]], np.intp))
        alike = find_first_near_duplicates([every[place] for place in places])
        groups = np.unique(np.array(alike), return_inverse=True)[1].astype(np.intp)
        wanted = [sorted(some) for some in search.grades] if search.is_judged else [list(rows[:1]) for rows in own]
        groups = _join_queries(groups, places, wanted, documents=len(search.documents))
        firsts = np.array([rows[0] if rows else IN_NO_MAP for rows in wanted], np.intp)
        return cls(places, groups, split_groups(groups, FOLDS), len(search.documents), firsts)

    @property
    def parts(self) -> tuple[Ints, Ints]:
        """The part of each query and of each document; `IN_NO_MAP` for a document that no map is fitted on.

        Such a document counts in every part. A query that no map is fitted on gets the part of the first document that
        it should find.
        """
        part = np.full(self.documents + len(self.firsts), IN_NO_MAP, np.intp)
        part[self.places] = self.part
        of_document, of_query = part[: self.documents], part[self.documents :]
        of_first = np.where(self.firsts == IN_NO_MAP, IN_NO_MAP, of_document[self.firsts])
        anywhere = np.where(of_first == IN_NO_MAP, np.arange(len(of_query)) % FOLDS, of_first)
        return np.where(of_query == IN_NO_MAP, anywhere, of_query), of_document

    def new_and_old_vectors(self, old: IndexVectors, new: IndexVectors) -> tuple[Vectors, Vectors]:
        """Return the vectors of the texts, new and old; shape [n, d] each."""
        if old.queries is None or new.queries is None:
            return new.documents[self.places], old.documents[self.places]
        return (
            np.concatenate([new.documents, new.queries])[self.places],
            np.concatenate([old.documents, old.queries])[self.places],
        )


def _join_queries(groups: Ints, places: Ints, wanted: Sequence[Sequence[int]], *, documents: int) -> Ints:
    """Return the groups after joining each query with the documents that it should find, so that all get the same part.

    Return the groups unchanged if a joined group would be larger than a part.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    at = {place: i for i, place in enumerate(places.tolist())}
    links = [(at[documents + q], at[row]) for q, rows in enumerate(wanted) for row in rows
             if documents + q in at and row in at]  # fmt: skip
    if not links:
        return groups
    first, second = groups[np.array(links).T]
    size = int(groups.max()) + 1
    codes = connected_components(coo_array((np.ones(len(first)), (first, second)), shape=(size, size)))[1]
    joined: Ints = codes[groups].astype(np.intp)
    return joined if np.bincount(joined).max() <= len(places) // FOLDS else groups


def _map_held_out_queries(old: IndexVectors, new: IndexVectors, texts: _MapTexts) -> Vectors | None:
    """Return the new queries, each mapped by a map that was not fitted on its part; None if the texts are too few."""
    assert new.queries is not None
    (x, y), (of_query, _) = texts.new_and_old_vectors(old, new), texts.parts
    queries = np.zeros((len(new.queries), y.shape[1]), np.float32)
    for part in np.unique(of_query):
        seen, mine = texts.part != part, of_query == part
        made = fit_map(x[seen], y[seen], texts.groups[seen], unit=old.similarity == "cosine")
        if made is None:
            return None
        queries[mine] = made(new.queries[mine])
    return queries

"""May new queries search the old model's index, as they come or after a linear map?

New queries search the old documents. How well they do is compared, query by query, with the same queries on an index of
the new model's own: recall@1 and nDCG@10 of the right documents. Where nobody judged, the new model's own first ten
stand for the right ones: its first answer for recall@1, and for nDCG@10 all ten with the grades 10 to 1. Two controls
stand beside: a model that is not related (random directions of words), and the old model in other batches.

A map is fitted on four parts of five of the texts and judged on the queries and documents of the fifth, near-duplicates
being in one part: so it has seen nothing that it is judged by.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.near_duplicates import near_duplicates
from encheck.deciding.linear import FEWEST_TEXTS, KINDS, TEXTS_A_DIMENSION, Adapter, Codes, fits, held_back
from encheck.deciding.sides import TOP, Answered, Asked, Side, Vectors, answered, sampled
from encheck.gating import reindex
from encheck.gating.answers import DELTA
from encheck.gating.reindex import DocumentLengths, Reindex
from encheck.metrics.search import ndcg, recall
from encheck.scoring.answers import NOT_FOUND, Answers
from encheck.similarity import words
from encheck.statistics.bootstrap import widened
from encheck.statistics.figures import Figure, Log
from encheck.types import content_hash

Floats = NDArray[np.float64]
Name = Literal["same", "compatible", "adapter", "re-index", "cannot tell"]
FEWEST_DOCUMENTS = 100  # the first ten of fewer say little: a stranger finds every second right document in ten of 20
FEWEST_CLUSTERS = 183  # that rule out a loss of `DELTA` where no query is lost (Clopper-Pearson)
PARTS = 5
MOST_TEXTS = 20_000  # that maps are fitted on
HASHED_WORDS = 4_096
UNSEEN = -1
AS_IT_COMES, MAPPED = "as it comes", "with the adapter"
HOW: Mapping[str, str] = {AS_IT_COMES: "", MAPPED: " with the adapter"}


@dataclass(frozen=True, slots=True)
class Against:
    """A figure of new queries on the old index against the same on the new model's own; a `change` below 0 is a loss.

    Its interval is no narrower than what so few clusters can show where hardly any query is lost, or won.
    """

    metric: str
    own: float
    old_index: float
    change: Figure

    @property
    def says(self) -> str:
        """In words.

        >>> Against("recall@1", 0.557, 0.486, Figure(-0.071, -0.09, -0.052)).says
        'recall@1 48.6% instead of 55.7% (-7.1 points [-9.0, -5.2])'
        """
        ends = f"{100 * self.change.value:+.1f} points [{100 * self.change.low:+.1f}, {100 * self.change.high:+.1f}]"
        return f"{self.metric} {100 * self.old_index:.1f}% instead of {100 * self.own:.1f}% ({ends})"


@dataclass(frozen=True, slots=True)
class Route:
    """How new queries did on the old index: `figures` are recall@1 and nDCG@10, `top` is the share of the new model's
    own first ten that was among the first ten. `queries` counts those that had something to find.
    """

    name: str
    top: Figure
    figures: tuple[Against, ...]
    queries: int

    @property
    def is_as_good(self) -> bool:
        """Whether a loss of `DELTA` is ruled out for both figures."""
        return bool(self.figures) and all(one.change.low > -DELTA for one in self.figures)

    @property
    def is_worse(self) -> bool:
        """Whether one figure is certain to lose `DELTA` or more."""
        return any(one.change.high <= -DELTA for one in self.figures)

    @property
    def says(self) -> str:
        """Both figures in words."""
        return "; ".join(one.says for one in self.figures) or "no query has anything to find"


@dataclass(frozen=True)
class Space:
    """Whether the old index may stay, `name`, with the reason and what was measured.

    `vectors` is what the vectors themselves say. `routes` are of the new model, `controls` those of the controls by
    their names.
    """

    name: Name
    why: str
    vectors: Reindex
    routes: tuple[Route, ...]
    controls: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)
    adapter: Adapter | None = None
    texts: int = 0

    @property
    def needs_reindex(self) -> bool | None:
        """Whether the index has to be made again; None where that is not known."""
        return {"same": False, "compatible": False, "adapter": False, "re-index": True, "cannot tell": None}[self.name]

    @property
    def says(self) -> str:
        """The one answer that headline, checklist and last line give."""
        answer = {
            "same": self.vectors.answer if self.name == "same" else "",
            "compatible": "no",
            "adapter": "no, with this adapter",
            "re-index": self.vectors.answer if self.vectors.needed and self.vectors.up_to else "yes",
            "cannot tell": "cannot tell",
        }[self.name]
        return f"re-index: {answer} ({self.why})"


def of_no_use() -> Space:
    """Of an index with faults: it is compared with nothing."""
    why = "its vectors are not those of one model, each of its own text"
    return Space("re-index", why, reindex.unknown(why), ())


def compared(old: Side, new: Side, asked: Asked, *, repeated: Side | None) -> Space:
    """Hold both models' vectors against each other; `repeated` is the old model in other batches, where it has some."""
    assert new.queries is not None
    before, after = (sampled(side, asked) for side in (old, new))
    lengths = [DocumentLengths.of([s.lengths[key] for key in s.roles["document"].keys]) for s in (after, before)]
    documents = next((one for one in lengths if one.unit == "tokens"), lengths[0])
    vectors = reindex.compare(before, after, documents=documents)
    controls = {"the old model in other batches": (_direct(old, repeated, asked),)} if repeated else {}
    if vectors.needed is False or vectors.only_by_cosine:
        name: Name = "compatible" if vectors.queries_moved else "same"
        return Space(name, vectors.why, vectors, (_direct(old, new, asked),), controls)
    texts = _Texts.of(old, new, asked)
    routes = _routes(old, new, asked, texts)
    theirs = _routes(old, _stranger(new, old, asked), asked, texts, only=(AS_IT_COMES, MAPPED))
    name, why = _verdict(routes, theirs, vectors, len(texts.places), documents=len(asked.documents))
    made = _final(old, new, texts) if any(one.name == MAPPED for one in routes) else None
    known = controls | {"an unrelated model": theirs}
    return Space(name, why, vectors, routes, known, made, len(texts.places))


def _verdict(
    routes: Sequence[Route], theirs: Sequence[Route], vectors: Reindex, texts: int, *, documents: int
) -> tuple[Name, str]:
    own, strange = ({one.name: one for one in some} for some in (routes, theirs))
    ways: tuple[tuple[str, Name], ...] = ((AS_IT_COMES, "compatible"), (MAPPED, "adapter"))
    told = {route: f"new queries on the old index{HOW[route]}: {own[route].says}" for route, _ in ways if route in own}
    if vectors.longer and vectors.needed:
        return "re-index", vectors.why
    open_routes = [route for route, _ in ways if route in own and not own[route].is_worse]
    if open_routes and documents < FEWEST_DOCUMENTS:
        return "cannot tell", (
            f"{told[open_routes[0]]}, but the first ten of {documents} documents mean little. Remedy: "
            f"{FEWEST_DOCUMENTS} documents or more"
        )
    for route, name in ways:
        if route in own and own[route].is_as_good:
            return name, f"{told[route]}; {own[route].top.says} of its own ten are found{_beside(strange.get(route))}"
    if open_routes:
        return "cannot tell", (
            f"{told[open_routes[0]]}: a loss of {100 * DELTA:g} points is neither shown nor ruled out. Remedy: more "
            f"queries, in {FEWEST_CLUSTERS} clusters or more"
        )
    return "re-index", "; ".join(_why_not(told, vectors.dimensions or (0, 0), texts))


def _beside(stranger: Route | None) -> str:
    """That a model which knows words alone does as well the same way, where it does."""
    if stranger is None or stranger.is_worse:
        return ""
    return f"; a model that knows words alone has {stranger.says} the same way: these texts are easy to map"


def _why_not(told: Mapping[str, str], sizes: tuple[int, int], texts: int) -> Iterator[str]:
    if sizes[0] != sizes[1]:
        yield f"vectors of {sizes[0]} dimensions before, of {sizes[1]} now"
    yield from told.values()
    if texts < FEWEST_TEXTS:
        yield f"{texts} texts are too few to fit a map, which needs {FEWEST_TEXTS}"
    elif texts < (needed := ceil(TEXTS_A_DIMENSION * sizes[1] * PARTS / (PARTS - 1))):
        yield f"{texts:,} texts allow a map of low rank alone; {needed:,} allow all"


def _direct(old: Side, new: Side, asked: Asked) -> Route:
    """New queries among old documents, as they come."""
    return _as_it_comes(old, new, asked, _own(new, asked))


def _own(new: Side, asked: Asked) -> Answered:
    """What new queries find among new documents."""
    assert new.queries is not None
    return answered(new.queries, new.documents, similarity=new.similarity, own=asked.own)


def _as_it_comes(old: Side, new: Side, asked: Asked, own: Answered) -> Route:
    assert new.queries is not None
    found = answered(new.queries, old.documents, similarity=old.similarity, own=asked.own)
    return _route(AS_IT_COMES, own, found, asked)


def _route(
    name: str, own: Answered, found: Answered, asked: Asked, counts: Callable[[int, int], bool] = lambda _q, _row: True
) -> Route:
    """How the queries did that have something to find; `counts` says of a query and a document whether that counts."""
    grades = [
        {row: grade for row, grade in some.items() if counts(i, row)} for i, some in enumerate(_grades(own, asked))
    ]
    firsts = [{row: grade for row, grade in some.items() if grade == TOP} for some in grades]
    named = ("recall@1", "nDCG@10") if asked.is_judged else ("its own first answer first", "nDCG@10 by its own ten")
    figures = (
        _against(named[0], partial(recall, cut=1), own, found, grades if asked.is_judged else firsts, asked.log),
        _against(named[1], ndcg, own, found, grades, asked.log),
    )
    tens = [{row for row in mine if counts(i, row)} for i, mine in enumerate(own.rows)]
    stayed = np.array([len(mine & {*theirs}) for mine, theirs in zip(tens, found.rows, strict=True)], float)
    top = asked.log.ratio(stayed, np.array([len(mine) for mine in tens], float))
    return Route(name, top, tuple(one for one in figures if one), sum(map(bool, grades)))


def _grades(own: Answered, asked: Asked) -> list[dict[int, int]]:
    """The grade of each right document of a query by its row; where nobody judged, of the new model's first ten."""
    if not asked.is_judged:
        return [{row: TOP - place for place, row in enumerate(rows)} for rows in own.rows]
    rows = {name: row for row, name in enumerate(asked.ids)}
    return [{rows[name]: grade for name, grade in query.right.items()} for query in asked.queries]


def _against(
    metric: str, values: Callable[[Sequence[Answers]], Floats], own: Answered, found: Answered,
    grades: Sequence[Mapping[int, int]], log: Log,
) -> Against | None:  # fmt: skip
    """A figure on both indexes, paired by query; None where no query has anything to find."""
    there = np.array([bool(some) for some in grades])
    if not there.any():
        return None
    part = Log(log.weights * there, log.clusters, log.resampler)
    both = [np.nan_to_num(values(list(_answers(side, grades)))) for side in (own, found)]
    change, (at_own, at_old) = part.change(*both), (part.mean(one).value for one in both)
    slacks = []
    for side in (both[0] - both[1], both[1] - both[0]):  # what is lost, and what is won
        share = part.mean(np.maximum(side, 0)).value
        slacks.append(widened(share, share, share, n=int(there.sum()), clusters=part.worth)[1] - share)
    low, high = min(change.low, change.value - slacks[0]), max(change.high, change.value + slacks[1])
    return Against(metric, at_own, at_old, Figure(change.value, low, high))


def _answers(side: Answered, grades: Sequence[Mapping[int, int]]) -> Iterator[Answers]:
    for rows, some in zip(side.rows, grades, strict=True):
        rank = {row: place for place, row in enumerate(rows, 1)}
        yield Answers(tuple((rank.get(row, NOT_FOUND), grade) for row, grade in some.items()))


def _routes(
    old: Side, new: Side, asked: Asked, texts: _Texts, *, only: Collection[str] = (AS_IT_COMES, MAPPED, *KINDS)
) -> tuple[Route, ...]:
    """The ways to search old documents with new queries, each with what it finds."""
    assert new.queries is not None
    own = _own(new, asked)
    found = [_as_it_comes(old, new, asked, own)] if old.dimension == new.dimension else []
    of_query, of_document = texts.parts

    def counts(query: int, row: int) -> bool:
        return bool(of_document[row] in (of_query[query], UNSEEN))

    for name, vectors in _mapped(old, new, texts, only).items():
        rows = answered(vectors, old.documents, similarity=old.similarity, own=asked.own)
        found.append(_route(name, own, rows, asked, counts))
    return tuple(found)


@dataclass(frozen=True)
class _Texts:
    """The texts that maps are fitted on, the same of all models.

    `places` are their rows among the documents, then the queries, of which there are `documents` and `queries`;
    `groups` numbers texts that stay together, `part` the part of each text. `wanted` has the rows of the documents that
    each query should find.
    """

    places: Codes
    groups: Codes
    part: Codes
    documents: int
    queries: int
    wanted: Sequence[Sequence[int]]

    @classmethod
    def of(cls, old: Side, new: Side, asked: Asked) -> _Texts:
        """Of documents and, where the old model has them, queries; a query is in a group with what it should find."""
        every = [*asked.documents, *(asked.texts if old.queries is not None else ())]
        chosen = sorted(dict(zip(every, range(len(every)), strict=True)).items(), key=lambda one: content_hash(one[0]))
        places = np.sort(np.array([place for _, place in chosen[:MOST_TEXTS]], np.intp))
        alike = near_duplicates([every[place] for place in places])
        groups = np.unique(np.array(alike), return_inverse=True)[1].astype(np.intp)
        right = [sorted(rows) for rows in asked.right]
        wanted = right if asked.is_judged else [list(rows[:1]) for rows in _own(new, asked).rows]
        groups = _joined(groups, places, wanted, documents=len(asked.documents))
        return cls(places, groups, held_back(groups, PARTS), len(asked.documents), len(asked.queries), wanted)

    @property
    def parts(self) -> tuple[Codes, Codes]:
        """The part of each query and of each document, `UNSEEN` of a document that no map saw: it counts for all.

        A query that no map saw can be in any part: it is where the first document is that it should find.
        """
        found = np.full(self.documents + self.queries, UNSEEN, np.intp)
        found[self.places] = self.part
        of_query, of_document = found[self.documents :], found[: self.documents]
        firsts = np.array([of_document[rows[0]] if rows else UNSEEN for rows in self.wanted], np.intp)
        anywhere = np.where(firsts == UNSEEN, np.arange(self.queries) % PARTS, firsts)
        return np.where(of_query == UNSEEN, anywhere, of_query), of_document

    def of_both(self, old: Side, new: Side) -> tuple[Vectors, Vectors]:
        """The vectors of the texts, new and old; shape [n, d] each."""
        assert new.queries is not None
        if old.queries is None:
            return new.documents[self.places], old.documents[self.places]
        both = ((one.documents, one.queries) for one in (new, old))
        x, y = (np.concatenate([one for one in some if one is not None])[self.places] for some in both)
        return x, y


def _joined(groups: Codes, places: Codes, wanted: Sequence[Collection[int]], *, documents: int) -> Codes:
    """The groups with each query in one with the documents that it should find, so that one part has them all.

    The groups as they were, where that would make one of more than a part of the texts.
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
    joined: Codes = codes[groups].astype(np.intp)
    return joined if np.bincount(joined).max() <= len(places) // PARTS else groups


def _final(old: Side, new: Side, texts: _Texts) -> Adapter | None:
    """The map to use, fitted on all texts."""
    fitted = fits(*texts.of_both(old, new), texts.groups, unit=old.similarity == "cosine")
    return next((made for made, _ in fitted.values()), None)


def _mapped(old: Side, new: Side, texts: _Texts, only: Collection[str]) -> dict[str, Vectors]:
    """The new queries under maps that saw nothing of their part: by kind, and under the one that each fit chose."""
    assert new.queries is not None
    queries, (of_query, _) = new.queries, texts.parts
    x, y = texts.of_both(old, new)
    found = {name: np.zeros((len(queries), y.shape[1]), np.float32) for name in (MAPPED, *KINDS) if name in only}
    for part in np.unique(of_query):
        seen, mine = texts.part != part, of_query == part
        fitted = fits(x[seen], y[seen], texts.groups[seen], unit=old.similarity == "cosine")
        made: dict[str, Adapter] = {kind: one for kind, (one, _) in fitted.items()}
        named = ({MAPPED: next(iter(made.values()))} if made else {}) | made
        found = {name: vectors for name, vectors in found.items() if name in named}
        for name, vectors in found.items():
            vectors[mine] = named[name](queries[mine])
    return found


def _stranger(new: Side, old: Side, asked: Asked) -> Side:
    """A model that is not related: the sum of a random direction for each word, of as many dimensions as the old one.

    It knows which words a text has: what it reaches with a map is what words alone give away.
    """
    directions = np.random.default_rng(0).standard_normal((HASHED_WORDS, old.dimension)).astype(np.float32)

    def vectors(texts: Sequence[str]) -> Vectors:
        rows = [[zlib.crc32(word.encode()) % HASHED_WORDS for word in words(text) or [text]] for text in texts]
        return np.array([directions[row].sum(axis=0) for row in rows], np.float32)

    return replace(new, queries=vectors(asked.texts), documents=vectors(asked.documents))

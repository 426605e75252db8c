"""May new vectors be compared with those that lie in an index of the old model?

New queries search the old documents, as they come and after a linear map. What they find is held against what the new
model finds among its own vectors: its own first ten, and of labelled data the right documents among these. Two controls
stand beside: a model that is not related (random directions of words), and the old model in other batches.

A map is fitted on four parts of five of the texts and judged on the queries and documents of the fifth, near-duplicates
being in one part: so it has seen nothing that it is judged by.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.near_duplicates import near_duplicates
from encheck.deciding.figures import Figure
from encheck.deciding.linear import FEWEST_TEXTS, KINDS, TEXTS_A_DIMENSION, Adapter, Codes, Kind, fits, held_back
from encheck.deciding.sides import Answered, Asked, Side, Vectors, answered
from encheck.similarity import ROUNDING, cosine, words
from encheck.types import content_hash

Floats = NDArray[np.float64]
Name = Literal["same", "compatible", "adapter", "re-index", "cannot tell"]
COMPATIBLE = 0.98  # of the recall within the new model's own vectors, at the lower bound
SAME_LENGTH = 0.01  # relative
PARTS = 5
MOST_TEXTS = 20_000  # that maps are fitted on
HASHED_WORDS = 4_096
AS_IT_COMES, MAPPED = "as it comes", "with the adapter"


@dataclass(frozen=True, slots=True)
class Route:
    """How new queries found old documents, and which part of what they should have found that was.

    `top` is of the new model's own first ten, `right` of the right documents that the new model finds among its own
    vectors; None where nobody judged. `queries` counts those that had something to find.
    """

    name: str
    top: Figure
    right: Figure | None
    queries: int

    @property
    def decides(self) -> Figure:
        """What the verdict goes by: right documents where they are known."""
        return self.right or self.top


@dataclass(frozen=True)
class Space:
    """Whether old and new vectors are of one space, `name`, with the reason and what was measured.

    `median` and `lowest` are cosines of the same text under both models, None where dimensions differ. `routes` are of
    the new model, `controls` those of the controls by their names.
    """

    name: Name
    why: str
    dimensions: tuple[int, int]
    median: float | None
    lowest: float | None
    routes: tuple[Route, ...]
    controls: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)
    adapter: Adapter | None = None
    texts: int = 0

    @property
    def says(self) -> str:
        """In words."""
        words = {
            "same": "the same vectors",
            "compatible": "compatible",
            "adapter": "compatible with this adapter",
            "re-index": "re-index",
            "cannot tell": "cannot tell",
        }
        return f"{words[self.name]} ({self.why})"


def compared(old: Side, new: Side, asked: Asked, *, repeated: Side | None) -> Space:
    """Hold both models' vectors against each other; `repeated` is the old model in other batches, where it has some."""
    assert new.queries is not None
    sizes, near = (old.dimension, new.dimension), _cosines(old, new)
    median, lowest = (float(np.median(near)), float(near.min())) if near is not None else (None, None)
    controls = {"the old model in other batches": (_direct(old, repeated, asked),)} if repeated else {}
    if lowest is not None and lowest >= 1 - ROUNDING and _same_lengths(old, new):
        why = f"the lowest cosine of the same text is {np.floor(lowest * 1e5) / 1e5:.5f}"
        return Space("same", why, sizes, median, lowest, (_direct(old, new, asked),), controls)
    routes, made, texts = _routes(old, new, asked)
    stranger = _stranger(new, old, asked)
    theirs, _, _ = _routes(old, stranger, asked)
    name, why = _verdict(routes, theirs, sizes, texts)
    return Space(name, why, sizes, median, lowest, routes, controls | {"an unrelated model": theirs}, made, texts)


def _verdict(routes: Sequence[Route], theirs: Sequence[Route], sizes: tuple[int, int], texts: int) -> tuple[Name, str]:
    own, strange = ({one.name: one.decides for one in some} for some in (routes, theirs))
    names: tuple[tuple[str, Name], ...] = ((AS_IT_COMES, "compatible"), (MAPPED, "adapter"))
    for route, name in names:
        if route in own and own[route].low >= COMPATIBLE:
            said = f"{own[route].says} of what it should find is found {route}"
            if not _is_reached(own[route], strange.get(route)):
                return name, said
            return "cannot tell", f"{said}, but an unrelated model finds {strange[route].says}: any model would do here"
    for route, _ in names:
        if route in own and own[route].high >= COMPATIBLE:
            return "cannot tell", (
                f"{own[route].says} of what it should find is found {route}: {100 * COMPATIBLE:g}% is neither shown "
                "nor ruled out. Remedy: more queries"
            )
    return "re-index", _why_not(own, sizes, texts)


def _is_reached(one: Figure, stranger: Figure | None) -> bool:
    """Whether a model that is not related may find as much: then the figure says nothing."""
    return stranger is not None and stranger.high >= one.low


def _why_not(own: Mapping[str, Figure], sizes: tuple[int, int], texts: int) -> str:
    found = [f"{figure.says} of what it should find is found {route}" for route, figure in own.items()
             if route in (AS_IT_COMES, MAPPED)]  # fmt: skip
    if sizes[0] != sizes[1]:
        found.insert(0, f"vectors of {sizes[0]} dimensions before, of {sizes[1]} now")
    if texts < FEWEST_TEXTS:
        found.append(f"{texts} texts are too few to fit a map, which takes {FEWEST_TEXTS}")
    elif texts < TEXTS_A_DIMENSION * sizes[1]:
        found.append(f"{texts:,} texts allow a map of low rank alone; {TEXTS_A_DIMENSION * sizes[1]:,} allow all")
    return "; ".join(found)


def _cosines(old: Side, new: Side) -> Floats | None:
    """Of each text under both models; None where dimensions differ."""
    if old.dimension != new.dimension:
        return None
    pairs = [(old.documents, new.documents)]
    if old.queries is not None and new.queries is not None:
        pairs.append((old.queries, new.queries))
    return np.concatenate([np.nan_to_num(cosine(*pair)) for pair in pairs])


def _same_lengths(old: Side, new: Side) -> bool:
    """Whether vectors are as long as before, where the model compares by more than directions."""
    if new.similarity == old.similarity == "cosine":
        return True
    before, after = (np.linalg.norm(one.documents, axis=1) for one in (old, new))
    return bool((np.abs(after - before) <= SAME_LENGTH * np.maximum(before, 1e-12)).all())


def _direct(old: Side, new: Side, asked: Asked) -> Route:
    """New queries among old documents, as they come."""
    assert new.queries is not None
    own = answered(new.queries, new.documents, similarity=new.similarity)
    found = answered(new.queries, old.documents, similarity=old.similarity)
    return _route(AS_IT_COMES, own, found, asked)


def _route(
    name: str, own: Answered, found: Answered, asked: Asked, counts: Callable[[int, int], bool] = lambda _q, _row: True
) -> Route:
    """What of `own` is in `found`; `counts` says of a query's number and a document's row whether that counts."""
    tables = np.zeros((len(asked.queries), 4))
    for i, (mine, theirs, right) in enumerate(zip(own.rows, found.rows, asked.right, strict=True)):
        wanted = {row for row in mine if counts(i, row)}
        judged = wanted & right
        got = {row for row in right if row in theirs and counts(i, row)}
        tables[i] = len(wanted & {*theirs}), len(wanted), len(got), len(judged)
    top = asked.log.ratio(tables[:, 0], tables[:, 1])
    of_right = asked.log.ratio(tables[:, 2], tables[:, 3]) if tables[:, 3].any() else None
    return Route(name, top, of_right, int((tables[:, 3 if of_right else 1] > 0).sum()))


def _routes(old: Side, new: Side, asked: Asked) -> tuple[tuple[Route, ...], Adapter | None, int]:
    """Every way to search old documents with new queries, the map to use, and how many texts it was fitted on."""
    assert new.queries is not None
    own = answered(new.queries, new.documents, similarity=new.similarity)
    found = [_direct(old, new, asked)] if old.dimension == new.dimension else []
    texts = _Texts.of(old, new, asked)
    unit = old.similarity == "cosine"
    parts = held_back(texts.groups, PARTS)
    mapped = _mapped(texts, parts, new.queries, unit=unit)
    of_query, of_document = texts.parts(parts)
    for name, vectors in mapped.items():
        rows = answered(vectors, old.documents, similarity=old.similarity)
        found.append(_route(name, own, rows, asked, lambda i, row: bool(of_document[row] in (of_query[i], -1))))
    made = next(iter(fits(texts.new, texts.old, texts.groups, unit=unit).values()), None) if mapped else None
    return tuple(found), made[0] if made else None, len(texts.groups)


@dataclass(frozen=True)
class _Texts:
    """The texts that maps are fitted on: `new` [n, d] and `old` [n, e] vectors, numbered groups of near-duplicates.

    `places` are the row of each among the documents, then the queries, of which there are `documents` and `queries`.
    """

    new: Vectors
    old: Vectors
    groups: Codes
    places: Codes
    documents: int
    queries: int

    @classmethod
    def of(cls, old: Side, new: Side, asked: Asked) -> _Texts:
        assert new.queries is not None
        has_queries = old.queries is not None
        every = [*asked.documents, *(asked.texts if has_queries else ())]
        chosen = sorted(dict(zip(every, range(len(every)), strict=True)).items(), key=lambda one: content_hash(one[0]))
        places = np.sort(np.array([place for _, place in chosen[:MOST_TEXTS]], np.intp))
        x = np.concatenate([new.documents, *([new.queries] if has_queries else [])])[places]
        y = np.concatenate([old.documents, *([old.queries] if old.queries is not None else [])])[places]
        alike = near_duplicates([every[place] for place in places])
        groups = np.unique(np.array(alike), return_inverse=True)[1].astype(np.intp)
        return cls(x, y, groups, places, len(asked.documents), len(asked.queries))

    def parts(self, parts: Codes) -> tuple[Codes, Codes]:
        """The part of each query and of each document; queries that no map saw have any, documents -1.

        Such a document counts for every query, since no map saw it.
        """
        found = np.full(self.documents + self.queries, -1, np.intp)
        found[self.places] = parts
        of_query = found[self.documents :]
        return np.where(of_query < 0, np.arange(self.queries) % PARTS, of_query), found[: self.documents]


def _mapped(texts: _Texts, parts: Codes, queries: Vectors, *, unit: bool) -> dict[str, Vectors]:
    """The queries under maps that saw nothing of their part: by kind, and under the one that each fit chose."""
    of_query, _ = texts.parts(parts)
    found: dict[str, Vectors] = {}
    wanted: set[str] = {MAPPED, *KINDS}
    for part in range(PARTS):
        seen, mine = parts != part, of_query == part
        if not mine.any():
            continue
        fitted = fits(texts.new[seen], texts.old[seen], texts.groups[seen], unit=unit)
        made: dict[Kind, Adapter] = {kind: one for kind, (one, _) in fitted.items()}
        named: dict[str, Adapter] = {**made} | ({MAPPED: next(iter(made.values()))} if made else {})
        wanted &= {*named}
        for name, adapter in named.items():
            place = found.setdefault(name, np.zeros((len(queries), texts.old.shape[1]), np.float32))
            place[mine] = adapter(queries[mine])
    return {name: found[name] for name in (MAPPED, *KINDS) if name in wanted and name in found}


def _stranger(new: Side, old: Side, asked: Asked) -> Side:
    """A model that is not related: the sum of a random direction for each word, of as many dimensions as the old one.

    It knows which words a text has: what it reaches with a map is what words alone give away.
    """
    directions = np.random.default_rng(0).standard_normal((HASHED_WORDS, old.dimension)).astype(np.float32)

    def vectors(texts: Sequence[str]) -> Vectors:
        rows = [[zlib.crc32(word.encode()) % HASHED_WORDS for word in words(text) or [text]] for text in texts]
        return np.array([directions[row].sum(axis=0) for row in rows], np.float32)

    return replace(new, queries=vectors(asked.texts), documents=vectors(asked.documents))

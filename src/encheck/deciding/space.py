"""May new vectors be compared with those in the old model's index?

New queries search the old documents, as they come and after a linear map. What they find is compared with what the new
model finds among its own vectors: its own first ten, and of labelled data the right documents among these. Two controls
stand beside: a model that is not related (random directions of words), and the old model in other batches.

A map is fitted on four parts of five of the texts and judged on the queries and documents of the fifth, near-duplicates
being in one part: so it has seen nothing that it is judged by.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.near_duplicates import near_duplicates
from encheck.deciding.linear import FEWEST_TEXTS, KINDS, TEXTS_A_DIMENSION, Adapter, Codes, fits, held_back
from encheck.deciding.sides import Answered, Asked, Side, Vectors, answered
from encheck.similarity import ROUNDING, cosine, words
from encheck.statistics.figures import Figure
from encheck.types import content_hash
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]
Name = Literal["same", "compatible", "adapter", "re-index", "cannot tell"]
COMPATIBLE = 0.98  # of the recall within the new model's own vectors, at the lower bound
FEWEST_CLUSTERS = 183  # that show `COMPATIBLE` where all is found (Clopper-Pearson)
SAME_LENGTH = 0.01  # relative
PARTS = 5
MOST_TEXTS = 20_000  # that maps are fitted on
HASHED_WORDS = 4_096
UNSEEN = -1
AS_IT_COMES, MAPPED = "as it comes", "with the adapter"


@dataclass(frozen=True, slots=True)
class Route:
    """How new queries found old documents, and which part of what they should have found that was.

    `top` is of the new model's own first ten, `right` of the right documents that the new model finds among its own
    vectors; None if nobody judged. `queries` counts those that had something to find.
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

    `median` and `lowest` are cosines of the same text under both models, None if dimensions differ. `routes` are of
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
    texts = _Texts.of(old, asked)
    routes = _routes(old, new, asked, texts)
    theirs = _routes(old, _stranger(new, old, asked), asked, texts, only=(AS_IT_COMES, MAPPED))
    name, why = _verdict(routes, theirs, sizes, len(texts.places), clusters=asked.log.worth)
    made = _final(old, new, texts) if any(one.name == MAPPED for one in routes) else None
    known = controls | {"an unrelated model": theirs}
    return Space(name, why, sizes, median, lowest, routes, known, made, len(texts.places))


def _verdict(
    routes: Sequence[Route], theirs: Sequence[Route], sizes: tuple[int, int], texts: int, *, clusters: int
) -> tuple[Name, str]:
    own, strange = ({one.name: one.decides for one in some} for some in (routes, theirs))
    names: tuple[tuple[str, Name], ...] = ((AS_IT_COMES, "compatible"), (MAPPED, "adapter"))
    found = {route: f"{figure.says} of what it should find is found {route}" for route, figure in own.items()}
    for route, name in names:
        if route in own and own[route].low >= COMPATIBLE and clusters >= MIN_CLUSTERS:
            return name, f"{found[route]}{_beside(own[route], strange.get(route))}"
    for route, _ in names:
        if route in own and own[route].high >= COMPATIBLE:
            return "cannot tell", (
                f"{found[route]}: {100 * COMPATIBLE:g}% is neither shown nor ruled out. Remedy: more queries, in "
                f"{FEWEST_CLUSTERS} clusters or more"
            )
    return "re-index", _why_not(own, sizes, texts)


def _beside(one: Figure, stranger: Figure | None) -> str:
    """What a model that knows words alone reaches the same way, where that is as much."""
    if stranger is None or stranger.high < one.low:
        return ""
    return (
        f"; a model that knows words alone finds {stranger.says} of its own the same way: these texts are easy to map"
    )


def _why_not(own: Mapping[str, Figure], sizes: tuple[int, int], texts: int) -> str:
    found = [f"{figure.says} of what it should find is found {route}" for route, figure in own.items()
             if route in (AS_IT_COMES, MAPPED)]  # fmt: skip
    if sizes[0] != sizes[1]:
        found.insert(0, f"vectors of {sizes[0]} dimensions before, of {sizes[1]} now")
    if texts < FEWEST_TEXTS:
        found.append(f"{texts} texts are too few to fit a map, which needs {FEWEST_TEXTS}")
    elif texts < (needed := ceil(TEXTS_A_DIMENSION * sizes[1] * PARTS / (PARTS - 1))):
        found.append(f"{texts:,} texts allow a map of low rank alone; {needed:,} allow all")
    return "; ".join(found)


def _cosines(old: Side, new: Side) -> Floats | None:
    """Of each text under both models; None if dimensions differ."""
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
    `groups` numbers near-duplicates, `part` the part of each text.
    """

    places: Codes
    groups: Codes
    part: Codes
    documents: int
    queries: int

    @classmethod
    def of(cls, old: Side, asked: Asked) -> _Texts:
        every = [*asked.documents, *(asked.texts if old.queries is not None else ())]
        chosen = sorted(dict(zip(every, range(len(every)), strict=True)).items(), key=lambda one: content_hash(one[0]))
        places = np.sort(np.array([place for _, place in chosen[:MOST_TEXTS]], np.intp))
        alike = near_duplicates([every[place] for place in places])
        groups = np.unique(np.array(alike), return_inverse=True)[1].astype(np.intp)
        return cls(places, groups, held_back(groups, PARTS), len(asked.documents), len(asked.queries))

    @property
    def parts(self) -> tuple[Codes, Codes]:
        """The part of each query and of each document, `UNSEEN` of a document that no map saw: it counts for all.

        A query that no map saw can be in any part.
        """
        found = np.full(self.documents + self.queries, UNSEEN, np.intp)
        found[self.places] = self.part
        of_query = found[self.documents :]
        return np.where(of_query == UNSEEN, np.arange(self.queries) % PARTS, of_query), found[: self.documents]

    def of_both(self, old: Side, new: Side) -> tuple[Vectors, Vectors]:
        """The vectors of the texts, new and old; shape [n, d] each."""
        assert new.queries is not None
        if old.queries is None:
            return new.documents[self.places], old.documents[self.places]
        both = ((one.documents, one.queries) for one in (new, old))
        x, y = (np.concatenate([one for one in some if one is not None])[self.places] for some in both)
        return x, y


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

"""Oddities of a collection that make search figures lower or less certain than the model deserves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from encheck.datasets.collection import Collection
from encheck.datasets.label_noise import judged_apart, other_answers, plain, wrong_copies
from encheck.datasets.near_duplicates import ALIKE, overlap, rarest
from encheck.similarity import words

LONG = 100_000  # words


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that the data have so often, with an example in their own ids."""

    what: str
    count: int
    example: str = ""


def oddities(collection: Collection) -> list[Oddity]:
    """The oddities that occur, in the order of `_found`."""
    return [one for one in _found(collection) if one.count]


def _found(collection: Collection) -> Iterator[Oddity]:
    documents, queries = collection.documents, collection.queries
    yield _counted("documents with the same text as another one", _repeated(documents))
    lost = [q.id for q in queries if not q.right] if not collection.passages else []
    yield _counted("queries without a right document, which are not measured", lost)
    alike = list(unjudged_copies(collection))
    example = " and ".join(map(repr, alike[0])) if alike else ""
    unjudged = "right documents with an unjudged near-duplicate, which counts as wrong"
    yield Oddity(unjudged, len({right for right, _ in alike}), example)
    yield _counted(f"documents of {LONG:,} words or more, which most encoders truncate", _long(documents))
    yield _counted("queries with the same text as another one", _repeated({q.id: q.text for q in queries}))
    yield from _noise(collection)
    asked = {plain(q.text) for q in queries if not q.own}
    there = {text for text in map(plain, documents.values()) if text in asked}
    same = [q.id for q in queries if not q.own and plain(q.text) in there]
    yield _counted("queries with the same text as a document of another id, which is searched", same)
    yield Oddity("cluster only: right documents connect all queries, so there is no interval",
                 int(len(collection.clusters) == 1 and not collection.passages))  # fmt: skip
    yield Oddity("document only: every search finds it", int(len(documents) == 1))


def _noise(collection: Collection) -> Iterator[Oddity]:
    """Suspected label noise."""
    yield _counted("of these with different right documents: suspected label noise", judged_apart(collection))
    copies = list(wrong_copies(collection))
    yield _paired("wrong documents with nearly the same words as a right one for the same query", copies)
    said = "queries that share no word with their right documents, but every word with an unjudged one"
    yield _paired(said, list(other_answers(collection)))


def _paired(what: str, found: Sequence[tuple[str, str]]) -> Oddity:
    return Oddity(what, len(found), " and ".join(map(repr, found[0])) if found else "")


def _counted(what: str, ids: Iterable[str]) -> Oddity:
    found = list(ids)
    return Oddity(what, len(found), repr(found[0]) if found else "")


def _repeated(texts: Mapping[str, str]) -> list[str]:
    """The ids of texts that an earlier id has, case and blanks apart."""
    known: set[int] = set()
    found = []
    for name, text in texts.items():
        key = hash(plain(text))
        if key in known:
            found.append(name)
        known.add(key)
    return found


def _long(documents: Mapping[str, str]) -> Iterator[str]:
    return (name for name, text in documents.items() if len(text) >= LONG and len(words(text)) >= LONG)


def unjudged_copies(collection: Collection) -> Iterator[tuple[str, str]]:
    """(right document, another one): nearly the same words, and the other is judged for no query of the right one.

    Only documents that share one of their rarest words are compared, see `rarest`.
    """
    documents, judged = collection.documents, _judged(collection)
    counts = Counter(word for text in documents.values() for word in set(words(text)))
    right = {name: set(words(documents[name])) for name in judged}
    at: dict[str, list[str]] = {}
    for name, bag in right.items():
        for word in rarest(bag, counts):
            at.setdefault(word, []).append(name)
    for other, text in documents.items():
        bag = set(words(text))
        for name in sorted({name for word in rarest(bag, counts) for name in at.get(word, ())}):
            if name != other and other not in judged[name] and overlap(bag, right[name]) >= ALIKE:
                yield name, other


def _judged(collection: Collection) -> dict[str, set[str]]:
    """Right document -> the documents that are judged, or named as wrong, for every query that it is right for."""
    found: dict[str, set[str]] = {}
    for q in collection.queries:
        seen = {*q.relevance, *q.negatives}
        for name in q.right:
            found[name] = found[name] & seen if name in found else set(seen)
    return found

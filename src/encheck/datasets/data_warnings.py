"""Faults in data that lower search metrics or their certainty: repeats, unjudged copies, label noise.

No model is used. People should review the suspected faults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from encheck.datasets.clusters import ALIKE, rarest_words, word_set_overlap
from encheck.datasets.collection import Collection, CollectionQuery
from encheck.language.words import content_words
from encheck.similarity import words

FEWEST = 2  # minimum words of a query that a document must contain: one word says little
LONG = 100_000  # words


def normalised(text: str) -> str:
    """The text in lower case with single blanks.

    >>> normalised("Which  words?")
    'which words?'
    """
    return " ".join(text.lower().split())


def queries_judged_differently(collection: Collection) -> Iterator[str]:
    """Queries with the text of an earlier query but different right documents."""
    first: dict[str, CollectionQuery] = {}
    for query in (q for q in collection.queries if q.right):
        known = first.setdefault(normalised(query.text), query)
        if known.right.keys() != query.right.keys():
            yield query.id


def wrong_copies_of_right_documents(collection: Collection) -> Iterator[tuple[str, str]]:
    """(query, document) pairs whose document is judged or named as wrong, but has nearly the words of a right one."""
    for query in collection.queries:
        wrong = {name for name, grade in query.relevance.items() if grade <= 0} | {*query.negatives}
        right = [set(words(collection.documents[name])) for name in (query.right if wrong else ())]
        for name in sorted(wrong):
            bag = set(words(collection.documents[name]))
            if any(word_set_overlap(bag, other) >= ALIKE for other in right):
                yield query.id, name


def unjudged_answers(collection: Collection) -> Iterator[tuple[str, str]]:
    """(query, unjudged document with all content words of the query), for queries whose right documents lack them all.

    The list of function words is English, so other languages give fewer pairs. One document per query.
    """
    asked = dict(_queries_without_shared_words(collection))
    by_word: dict[str, list[str]] = {}
    for name, wanted in asked.items():
        by_word.setdefault(min(wanted, key=lambda word: (-len(word), word)), []).append(name)
    judged = {q.id: {*q.relevance, *q.negatives, q.own} for q in collection.queries if q.id in asked}
    for document, text in collection.documents.items() if asked else ():
        bag = content_words(text)
        for name in [name for word in bag & by_word.keys() for name in by_word[word]]:
            if name in asked and asked[name] <= bag and document not in judged[name]:
                del asked[name]
                yield name, document


def _queries_without_shared_words(collection: Collection) -> Iterator[tuple[str, frozenset[str]]]:
    """(query, its content words) for each query whose right documents lack all these words."""
    for query in collection.queries:
        wanted = content_words(query.text)
        texts = (collection.documents[name] for name in query.right)
        if query.right and len(wanted) >= FEWEST and not any(wanted & content_words(text) for text in texts):
            yield query.id, wanted


@dataclass(frozen=True, slots=True)
class DataWarning:
    """A fault in the data, how often it occurs, and an example with the data's own ids."""

    what: str
    count: int
    example: str = ""


def data_warnings(collection: Collection) -> list[DataWarning]:
    """The faults in the data, in the order of `_every_warning`."""
    return [one for one in _every_warning(collection) if one.count]


def _every_warning(collection: Collection) -> Iterator[DataWarning]:
    documents, queries = collection.documents, collection.queries
    yield _counted("documents with the same text as another document", _repeated(documents))
    lost = [q.id for q in queries if not q.right] if not collection.passages else []
    yield _counted("queries without a right document, which are not measured", lost)
    alike = list(unjudged_copies(collection))
    example = " and ".join(map(repr, alike[0])) if alike else ""
    unjudged = "right documents with an unjudged near-duplicate, which counts as wrong"
    yield DataWarning(unjudged, len({right for right, _ in alike}), example)
    yield _counted(
        f"documents of {LONG:,} words or more, which most encoders truncate",
        (name for name, text in documents.items() if len(text) >= LONG and len(words(text)) >= LONG),
    )
    yield _counted("queries with the same text as another query", _repeated({q.id: q.text for q in queries}))
    yield _counted(
        "of these with different right documents: suspected label noise", queries_judged_differently(collection)
    )
    copies = list(wrong_copies_of_right_documents(collection))
    yield _paired("wrong documents with nearly the same words as a right one for the same query", copies)
    said = "queries that share no word with their right documents, but every word with an unjudged one"
    yield _paired(said, list(unjudged_answers(collection)))
    asked = {normalised(q.text) for q in queries if not q.own}
    there = {text for text in map(normalised, documents.values()) if text in asked}
    same = [q.id for q in queries if not q.own and normalised(q.text) in there]
    yield _counted("queries with the same text as a document of another id, which is searched", same)
    is_one_cluster = len(collection.clusters) == 1 and not collection.passages
    yield DataWarning("cluster only: right documents connect all queries, so there is no interval", int(is_one_cluster))
    yield DataWarning("document only: every search finds it", int(len(documents) == 1))


def _paired(what: str, found: Sequence[tuple[str, str]]) -> DataWarning:
    return DataWarning(what, len(found), " and ".join(map(repr, found[0])) if found else "")


def _counted(what: str, ids: Iterable[str]) -> DataWarning:
    found = list(ids)
    return DataWarning(what, len(found), repr(found[0]) if found else "")


def _repeated(texts: Mapping[str, str]) -> list[str]:
    """The ids whose text an earlier id also has, ignoring case and blanks."""
    known: set[int] = set()
    found = []
    for name, text in texts.items():
        key = hash(normalised(text))
        if key in known:
            found.append(name)
        known.add(key)
    return found


def unjudged_copies(collection: Collection) -> Iterator[tuple[str, str]]:
    """(right document, near-duplicate) pairs whose second document is judged for no query of the first.

    Only documents that share one of their rarest words are compared, see `rarest`.
    """
    documents, judged = collection.documents, _judged(collection)
    counts = Counter(word for text in documents.values() for word in set(words(text)))
    right = {name: set(words(documents[name])) for name in judged}
    at: dict[str, list[str]] = {}
    for name, bag in right.items():
        for word in rarest_words(bag, counts):
            at.setdefault(word, []).append(name)
    for other, text in documents.items():
        bag = set(words(text))
        for name in sorted({name for word in rarest_words(bag, counts) for name in at.get(word, ())}):
            if name != other and other not in judged[name] and word_set_overlap(bag, right[name]) >= ALIKE:
                yield name, other


def _judged(collection: Collection) -> dict[str, set[str]]:
    """For each right document, the documents judged or named as wrong for every query that it is right for."""
    found: dict[str, set[str]] = {}
    for q in collection.queries:
        seen = {*q.relevance, *q.negatives}
        for name in q.right:
            found[name] = found[name] & seen if name in found else set(seen)
    return found

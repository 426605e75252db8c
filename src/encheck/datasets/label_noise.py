"""Suspected label noise: judgements that contradict each other or the words of the texts.

No model is asked. What is found is for people to read.
"""

from __future__ import annotations

from collections.abc import Iterator

from encheck.datasets.collection import Collection, CollectionQuery
from encheck.datasets.near_duplicates import ALIKE, overlap
from encheck.language.words import content_words
from encheck.similarity import words

FEWEST = 2  # words of a query that all stand in a document: one alone says little


def plain(text: str) -> str:
    """The text in lower case with single blanks.

    >>> plain("Which  words?")
    'which words?'
    """
    return " ".join(text.lower().split())


def judged_apart(collection: Collection) -> Iterator[str]:
    """Queries whose text an earlier one has, with other right documents."""
    first: dict[str, CollectionQuery] = {}
    for query in (q for q in collection.queries if q.right):
        known = first.setdefault(plain(query.text), query)
        if known.right.keys() != query.right.keys():
            yield query.id


def wrong_copies(collection: Collection) -> Iterator[tuple[str, str]]:
    """(query, document): judged or named as wrong, and nearly the words of a document that is right for the query."""
    for query in collection.queries:
        wrong = {name for name, grade in query.relevance.items() if grade <= 0} | {*query.negatives}
        right = [set(words(collection.documents[name])) for name in (query.right if wrong else ())]
        for name in sorted(wrong):
            bag = set(words(collection.documents[name]))
            if any(overlap(bag, other) >= ALIKE for other in right):
                yield query.id, name


def other_answers(collection: Collection) -> Iterator[tuple[str, str]]:
    """(query, document): nobody judged the document, which has all content words of the query, and the right ones none.

    Function words are left out by an English list; in other languages less is found. One document a query is named.
    """
    asked = dict(_far_from_right(collection))
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


def _far_from_right(collection: Collection) -> Iterator[tuple[str, frozenset[str]]]:
    """(query, its content words) where no right document has one of them."""
    for query in collection.queries:
        wanted = content_words(query.text)
        texts = (collection.documents[name] for name in query.right)
        if query.right and len(wanted) >= FEWEST and not any(wanted & content_words(text) for text in texts):
            yield query.id, wanted

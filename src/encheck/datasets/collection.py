"""A search collection: documents, queries, and the right documents for each query."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from encheck.datasets.splitting import sentences, words_of
from encheck.ids import ItemId
from encheck.scoring.documents import Documents
from encheck.statistics.clusters import component_list
from encheck.types import Group, content_hash

MOST_BODIES = 1_000  # passages searched by titles and headings: each is encoded again, without them
MOST_SEARCHED_TEXTS = 2_000  # the limit for queries, and for sentences
FEWEST_WORDS, MOST_WORDS = 4, 60  # of a sentence; a longer query is as long as a document


@dataclass(frozen=True, slots=True)
class CollectionQuery:
    """A query and the judgements of documents for it, by their ids.

    `relevance` has every judged document with its grade: above 0 is right, a higher grade is better. `negatives` are
    documents named as hard and wrong. `slices` are further columns of the data, name -> value. `weight` is how often
    the query was asked. `shares` are hashes of its right documents and of its named cluster. `own` is the document
    identical to the query, which its search leaves out, as BEIR does; empty if there is none.
    """

    id: str
    text: str
    relevance: Mapping[str, int]
    negatives: tuple[str, ...] = ()
    cluster: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    own: str = ""
    shares: tuple[str, ...] = ()

    @property
    def right(self) -> dict[str, int]:
        """The right documents with their grades."""
        return {document: grade for document, grade in self.relevance.items() if grade > 0}


@dataclass(frozen=True, slots=True)
class ArticlePassage:
    """A part of an article: the text under one heading ("" if there is none); `article` is the article's name."""

    id: str
    article: str
    title: str
    heading: str
    body: str

    @property
    def text(self) -> str:
        """Title, heading and body, one per line."""
        return "\n".join(dict.fromkeys(part for part in (self.title, self.heading, self.body) if part))


@dataclass(frozen=True)
class Collection:
    """Documents by id, in file order, and the queries of one split of the judgements ("" if there is only one).

    The text of a document is its title and its body, joined by a blank, as in BEIR and MTEB. `excluded` counts what was
    left out, by reason. `passages` are the documents as parts of articles, if they were cut out of articles; these have
    no judgements. `same` has, for each row of `searched`, the first row that counts as the same document.
    """

    documents: Mapping[str, str]
    queries: tuple[CollectionQuery, ...]
    split: str = ""
    excluded: Mapping[str, int] = field(default_factory=dict)
    passages: tuple[ArticlePassage, ...] = ()
    same: tuple[int, ...] = ()

    @cached_property
    def searched(self) -> Documents:
        """The documents in the form that queries search."""
        return replace(Documents.of(self.documents), same=self.same)

    @cached_property
    def bodies(self) -> Documents:
        """The bodies of `headed`, which lack title and heading."""
        return Documents.of({one.id: one.body for one in self.headed})

    @cached_property
    def headed(self) -> tuple[ArticlePassage, ...]:
        """Whole articles, chosen by the hash of their names, with `MOST_BODIES` passages, the last one cut to fit."""
        grouped: dict[str, list[ArticlePassage]] = {}
        for one in self.passages:
            grouped.setdefault(one.article, []).append(one)
        kept: list[ArticlePassage] = []
        for name in sorted(grouped, key=content_hash):
            if len(kept) < MOST_BODIES:
                kept += grouped[name]
        return tuple(kept)

    def merged(self, same: tuple[int, ...]) -> Collection:
        """The same collection, in which some documents count as one."""
        return replace(self, same=same)

    @cached_property
    def fingerprint(self) -> str:
        """Changes when any id, text, judgement or hard negative changes."""
        digest = hashlib.sha256()
        for document, text in self.documents.items():
            digest.update(f"{document}\x00{text}\x01".encode("utf-8", "surrogatepass"))
        for q in self.queries:
            digest.update(repr((q.id, q.text, sorted(q.relevance.items()), q.negatives)).encode("utf-8"))
            digest.update(f"x{q.weight}".encode() * (q.weight != 1))
        digest.update(repr(self.same).encode() * bool(self.same))
        return digest.hexdigest()[:16]

    @property
    def own_documents(self) -> int:
        """The number of queries that are also documents."""
        return sum(bool(q.own) for q in self.queries)

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of all clusters, in order."""
        return tuple(sorted({q.cluster for q in self.queries}))

    def of(self, clusters: Iterable[str]) -> Collection:
        """The queries of these clusters, with all documents."""
        wanted = set(clusters)
        return replace(self, queries=tuple(q for q in self.queries if q.cluster in wanted))


def own_documents_message(name: str, count: int, queries: int) -> str:
    """A message that `count` of the queries are also documents, and how that is handled; empty if `count` is 0."""
    if not count:
        return ""
    are = "is also a document" if count == 1 else "are also documents"
    return (
        f"{name}: {count:,} of its {queries:,} queries {are}, with the same id and text. "
        "As in BEIR, the query's own document is left out of its search"
    )


def with_clusters(queries: Sequence[CollectionQuery]) -> tuple[CollectionQuery, ...]:
    """The queries with their clusters: the one in the data, else the component of queries that share right documents.

    A component is named by the hash of its first document id, so the order of rows does not matter. A query without a
    right document is a cluster by itself. Negatives do not connect queries. Queries share each right document, and the
    cluster that the data name.
    """
    edges = [(i, document) for i, q in enumerate(queries) for document in q.right]
    numbers: dict[str, int] = {}
    ends = [numbers.setdefault(document, len(queries) + len(numbers)) for _, document in edges]
    starts = [i for i, _ in edges]
    roots = component_list(np.array(starts, np.int64), np.array(ends, np.int64)) if edges else []
    first: dict[int, str] = {}
    for root, (_, document) in zip(roots, edges, strict=True):
        first[root] = min(first.get(root, document), document)
    found = {i: content_hash(first[root]) for root, i in zip(roots, starts, strict=True)}
    alone = (found.get(i) or content_hash("query", q.id) for i, q in enumerate(queries))
    named = zip(queries, alone, strict=True)
    return tuple(replace(q, cluster=q.cluster or name, shares=_shares(q)) for q, name in named)


def _shares(query: CollectionQuery) -> tuple[str, ...]:
    documents = [content_hash("document", document) for document in query.right]
    return (*([content_hash(query.cluster)] if query.cluster else []), *documents)


def search_groups(name: str, found: Collection) -> tuple[Group, ...]:
    """One group per text, in the cluster of its query; empty for documents without judgements.

    At most `MOST_SEARCHED_TEXTS` queries and as many sentences, chosen by their hash. A duplicate text counts once, in
    the first cluster by name. Texts other than sentences of `FEWEST_WORDS` to `MOST_WORDS` words, such as headings, are
    left out.
    """
    if found.passages:
        return ()
    queries = _first_by_hash((q.text, q.cluster) for q in found.queries if words_of(q.text) <= MOST_WORDS)
    stated = _first_by_hash((text, cluster) for text, cluster in _right_sentences(found) if text not in queries)
    return tuple(
        Group(ItemId.of(name, content_hash(text), "text", 1, "data", 0), text, text, cluster)
        for text, cluster in (*queries.items(), *stated.items())
    )


def _first_by_hash(texts: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The cluster of each chosen text."""
    found: dict[str, str] = {}
    for text, cluster in texts:
        found[text] = min(found.get(text, cluster), cluster)
    return {text: found[text] for text in sorted(found, key=content_hash)[:MOST_SEARCHED_TEXTS]}


def _right_sentences(found: Collection) -> Iterator[tuple[str, str]]:
    """(sentence, cluster) of the documents that are right for a query."""
    clusters: dict[str, str] = {}
    for q in found.queries:
        for document in q.right:
            clusters[document] = min(clusters.get(document, q.cluster), q.cluster)
    for document, cluster in clusters.items():
        for text in sentences(found.documents[document]):
            if FEWEST_WORDS <= words_of(text) <= MOST_WORDS:
                yield text, cluster

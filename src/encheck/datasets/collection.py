"""A search collection with documents, queries and each query's relevant documents, and checks for faults in it.

The faults (repeats, unjudged copies, label noise) make search metrics lower or less certain. They are found without a
model, and people should review them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from encheck.datasets.clusters import NEAR_DUPLICATE_OVERLAP, jaccard_overlap, rarest_words
from encheck.datasets.splitting import count_words, split_sentences
from encheck.ids import ItemId
from encheck.language.words import content_words
from encheck.scoring.documents import Documents
from encheck.similarity import words
from encheck.statistics.clusters import component_list
from encheck.types import Group, content_hash

MAX_BODIES = 1_000  # passages searched by titles and headings: each is encoded again, without them
MAX_TEXT_GROUPS = 2_000  # the limit for queries, and for sentences
MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 4, 60  # of a sentence; a longer query is as long as a document


@dataclass(frozen=True, slots=True)
class CollectionQuery:
    """A query, and the judgements of documents for it, by document id.

    `relevance` maps every judged document to its grade. A grade above 0 means relevant, and a higher grade is better.
    `negatives` are documents that the data name as hard negatives. `slices` maps further columns of the data to their
    values. `weight` is how often users searched for the query. `shares` are hashes of its relevant documents and of the
    cluster that the data name. `own_document` is the document identical to the query, which the search leaves out, as
    BEIR does; "" if there is none.
    """

    id: str
    text: str
    relevance: Mapping[str, int]
    negatives: tuple[str, ...] = ()
    cluster: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    own_document: str = ""
    shares: tuple[str, ...] = ()

    @property
    def relevant_documents(self) -> dict[str, int]:
        """The documents with a grade above 0, and their grades."""
        return {document: grade for document, grade in self.relevance.items() if grade > 0}


@dataclass(frozen=True, slots=True)
class ArticlePassage:
    """A part of an article: the text under a heading ("" if there is none). `article` is the article's name."""

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

    A document's text is its title and its body, joined by a blank, as in BEIR and MTEB. `excluded` counts the rows that
    were left out, by reason. `passages` are set for documents that were cut out of articles; these have no judgements.
    `same` gives, for each row of `searchable_documents`, the first row that counts as the same document.
    """

    documents: Mapping[str, str]
    queries: tuple[CollectionQuery, ...]
    split: str = ""
    excluded: Mapping[str, int] = field(default_factory=dict)
    passages: tuple[ArticlePassage, ...] = ()
    same: tuple[int, ...] = ()

    @cached_property
    def searchable_documents(self) -> Documents:
        """The ids and texts of the documents, by row, as queries search them."""
        return replace(Documents.of(self.documents), same=self.same)

    @cached_property
    def title_search_documents(self) -> Documents:
        """The bodies of `title_search_passages`, without title and heading."""
        return Documents.of({one.id: one.body for one in self.title_search_passages})

    @cached_property
    def title_search_passages(self) -> tuple[ArticlePassage, ...]:
        """The passages of complete articles, chosen by the hash of their names, until there are `MAX_BODIES`."""
        grouped: dict[str, list[ArticlePassage]] = {}
        for one in self.passages:
            grouped.setdefault(one.article, []).append(one)
        chosen: list[ArticlePassage] = []
        for name in sorted(grouped, key=content_hash):
            if len(chosen) < MAX_BODIES:
                chosen += grouped[name]
        return tuple(chosen)

    def with_same_documents(self, same: tuple[int, ...]) -> Collection:
        """Return this collection with `same`, so that some documents count as the same."""
        return replace(self, same=same)

    @cached_property
    def fingerprint(self) -> str:
        """A hash that changes when any id, text, judgement or hard negative changes."""
        digest = hashlib.sha256()
        for document, text in self.documents.items():
            digest.update(f"{document}\x00{text}\x01".encode("utf-8", "surrogatepass"))
        for q in self.queries:
            digest.update(repr((q.id, q.text, sorted(q.relevance.items()), q.negatives)).encode("utf-8"))
            digest.update(f"x{q.weight}".encode() * (q.weight != 1))
        digest.update(repr(self.same).encode() * bool(self.same))
        return digest.hexdigest()[:16]

    @property
    def own_document_count(self) -> int:
        """How many queries are also documents."""
        return sum(bool(q.own_document) for q in self.queries)

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of all clusters, in order."""
        return tuple(sorted({q.cluster for q in self.queries}))

    def select_clusters(self, clusters: Iterable[str]) -> Collection:
        """Return a collection with only these clusters' queries, but with all documents."""
        wanted = set(clusters)
        return replace(self, queries=tuple(q for q in self.queries if q.cluster in wanted))


def own_documents_message(name: str, count: int, queries: int) -> str:
    """Return a message that `count` queries are also documents, and how searches handle that, or "" if `count` is 0."""
    if not count:
        return ""
    are = "is also a document" if count == 1 else "are also documents"
    return (
        f"{name}: {count:,} of its {queries:,} queries {are}, with the same id and text. "
        "As in BEIR, the query's own document is left out of its search"
    )


def assign_query_clusters(queries: Sequence[CollectionQuery]) -> tuple[CollectionQuery, ...]:
    """Return the queries with their clusters, and with the hashes of what they share.

    The data may name a query's cluster. Otherwise all queries that share relevant documents, directly or through other
    queries, form a cluster. It is named by the hash of its first document id, so the order of rows does not matter. A
    query without a relevant document forms a cluster by itself. Sharing a negative does not connect queries.
    """
    edges = [(i, document) for i, q in enumerate(queries) for document in q.relevant_documents]
    numbers: dict[str, int] = {}
    ends = [numbers.setdefault(document, len(queries) + len(numbers)) for _, document in edges]
    starts = [i for i, _ in edges]
    roots = component_list(np.array(starts, np.int64), np.array(ends, np.int64)) if edges else []
    first: dict[int, str] = {}
    for root, (_, document) in zip(roots, edges, strict=True):
        first[root] = min(first.get(root, document), document)
    component_names = {i: content_hash(first[root]) for root, i in zip(roots, starts, strict=True)}
    result = []
    for i, query in enumerate(queries):
        shares = [content_hash(query.cluster)] if query.cluster else []
        shares += [content_hash("document", document) for document in query.relevant_documents]
        cluster = query.cluster or component_names.get(i) or content_hash("query", query.id)
        result.append(replace(query, cluster=cluster, shares=tuple(shares)))
    return tuple(result)


def make_text_groups(name: str, collection: Collection) -> tuple[Group, ...]:
    """Return one group per text, in the cluster of its query, or () for documents without judgements.

    The texts are up to `MAX_TEXT_GROUPS` queries and as many sentences of relevant documents, chosen by their hash. A
    text that occurs twice is used once, in its first cluster by name. Texts with fewer than `MIN_SENTENCE_WORDS` words,
    such as headings, or more than `MAX_SENTENCE_WORDS`, are left out.
    """
    if collection.passages:
        return ()
    queries = _sample_by_hash(
        (q.text, q.cluster) for q in collection.queries if count_words(q.text) <= MAX_SENTENCE_WORDS
    )
    stated = _sample_by_hash(
        (text, cluster) for text, cluster in _relevant_sentences(collection) if text not in queries
    )
    return tuple(
        Group(ItemId.of(name, content_hash(text), "text", 1, "data", 0), text, text, cluster)
        for text, cluster in (*queries.items(), *stated.items())
    )


def _sample_by_hash(texts: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Choose up to `MAX_TEXT_GROUPS` texts by their hash; return text -> its first cluster by name."""
    cluster_of_text: dict[str, str] = {}
    for text, cluster in texts:
        cluster_of_text[text] = min(cluster_of_text.get(text, cluster), cluster)
    return {text: cluster_of_text[text] for text in sorted(cluster_of_text, key=content_hash)[:MAX_TEXT_GROUPS]}


def _relevant_sentences(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield (sentence, cluster) for each sentence of a document that is relevant to a query."""
    clusters: dict[str, str] = {}
    for q in collection.queries:
        for document in q.relevant_documents:
            clusters[document] = min(clusters.get(document, q.cluster), q.cluster)
    for document, cluster in clusters.items():
        for text in split_sentences(collection.documents[document]):
            if MIN_SENTENCE_WORDS <= count_words(text) <= MAX_SENTENCE_WORDS:
                yield text, cluster


MIN_SHARED_WORDS = 2  # minimum words of a query that a document must contain: one word says little
LONG_DOCUMENT_WORDS = 100_000  # words


def normalise_text(text: str) -> str:
    """Return the text in lower case with single blanks.

    >>> normalise_text("Which  words?")
    'which words?'
    """
    return " ".join(text.lower().split())


def find_queries_judged_differently(collection: Collection) -> Iterator[str]:
    """Yield the ids of queries that repeat an earlier query's text but have different relevant documents."""
    first: dict[str, CollectionQuery] = {}
    for query in (q for q in collection.queries if q.relevant_documents):
        known = first.setdefault(normalise_text(query.text), query)
        if known.relevant_documents.keys() != query.relevant_documents.keys():
            yield query.id


def find_relevant_documents_judged_wrong(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield (query, document) if the document is judged not relevant but has nearly the same words as a relevant
    document.
    """
    for query in collection.queries:
        wrong = {name for name, grade in query.relevance.items() if grade <= 0} | {*query.negatives}
        right = [set(words(collection.documents[name])) for name in (query.relevant_documents if wrong else ())]
        for name in sorted(wrong):
            bag = set(words(collection.documents[name]))
            if any(jaccard_overlap(bag, other) >= NEAR_DUPLICATE_OVERLAP for other in right):
                yield query.id, name


def find_unjudged_answers(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield (query, unjudged document) if the document has all content words of the query, and its relevant documents
    have none.

    At most one document is yielded per query. The list of function words is English, so data in other languages give
    fewer results.
    """
    words_by_query = dict(_find_queries_without_shared_words(collection))
    by_word: dict[str, list[str]] = {}
    for name, wanted in words_by_query.items():
        by_word.setdefault(min(wanted, key=lambda word: (-len(word), word)), []).append(name)
    judged = {q.id: {*q.relevance, *q.negatives, q.own_document} for q in collection.queries if q.id in words_by_query}
    for document, text in collection.documents.items() if words_by_query else ():
        bag = content_words(text)
        for name in [name for word in bag & by_word.keys() for name in by_word[word]]:
            if name in words_by_query and words_by_query[name] <= bag and document not in judged[name]:
                del words_by_query[name]
                yield name, document


def _find_queries_without_shared_words(collection: Collection) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield (query, its content words) for each query that shares no content word with its relevant documents."""
    for query in collection.queries:
        wanted = content_words(query.text)
        texts = (collection.documents[name] for name in query.relevant_documents)
        if (
            query.relevant_documents
            and len(wanted) >= MIN_SHARED_WORDS
            and not any(wanted & content_words(text) for text in texts)
        ):
            yield query.id, wanted


@dataclass(frozen=True, slots=True)
class DataWarning:
    """A fault in the data: how often it occurs, and an example that names ids of the data."""

    what: str
    count: int
    example: str = ""


def find_data_warnings(collection: Collection) -> list[DataWarning]:
    """Return the faults in the data, in the order in which `_check_for_faults` looks for them."""
    return [one for one in _check_for_faults(collection) if one.count]


def _check_for_faults(collection: Collection) -> Iterator[DataWarning]:
    documents, queries = collection.documents, collection.queries
    yield _warning_of_ids("documents with the same text as another document", _ids_of_repeated_texts(documents))
    lost = [q.id for q in queries if not q.relevant_documents] if not collection.passages else []
    yield _warning_of_ids("queries without a right document, which are not measured", lost)
    alike = list(find_unjudged_copies(collection))
    example = " and ".join(map(repr, alike[0])) if alike else ""
    unjudged = "right documents with an unjudged near-duplicate, which counts as wrong"
    yield DataWarning(unjudged, len({right for right, _ in alike}), example)
    yield _warning_of_ids(
        f"documents of {LONG_DOCUMENT_WORDS:,} words or more, which most encoders truncate",
        (
            name
            for name, text in documents.items()
            if len(text) >= LONG_DOCUMENT_WORDS and len(words(text)) >= LONG_DOCUMENT_WORDS
        ),
    )
    yield _warning_of_ids(
        "queries with the same text as another query", _ids_of_repeated_texts({q.id: q.text for q in queries})
    )
    yield _warning_of_ids(
        "of these with different right documents: suspected label noise", find_queries_judged_differently(collection)
    )
    copies = list(find_relevant_documents_judged_wrong(collection))
    yield _warning_of_pairs("wrong documents with nearly the same words as a right one for the same query", copies)
    fault = "queries that share no word with their right documents, but every word with an unjudged one"
    yield _warning_of_pairs(fault, list(find_unjudged_answers(collection)))
    query_texts = {normalise_text(q.text) for q in queries if not q.own_document}
    there = {text for text in map(normalise_text, documents.values()) if text in query_texts}
    same = [q.id for q in queries if not q.own_document and normalise_text(q.text) in there]
    yield _warning_of_ids("queries with the same text as a document of another id, which is searched", same)
    is_one_cluster = len(collection.clusters) == 1 and not collection.passages
    yield DataWarning("cluster only: right documents connect all queries, so there is no interval", int(is_one_cluster))
    yield DataWarning("document only: every search finds it", int(len(documents) == 1))


def _warning_of_pairs(fault: str, pairs: Sequence[tuple[str, str]]) -> DataWarning:
    return DataWarning(fault, len(pairs), " and ".join(map(repr, pairs[0])) if pairs else "")


def _warning_of_ids(fault: str, ids: Iterable[str]) -> DataWarning:
    listed = list(ids)
    return DataWarning(fault, len(listed), repr(listed[0]) if listed else "")


def _ids_of_repeated_texts(texts: Mapping[str, str]) -> list[str]:
    """Return the ids whose text repeats the text of an earlier id, ignoring case and blanks."""
    known: set[int] = set()
    repeated = []
    for name, text in texts.items():
        key = hash(normalise_text(text))
        if key in known:
            repeated.append(name)
        known.add(key)
    return repeated


def find_unjudged_copies(collection: Collection) -> Iterator[tuple[str, str]]:
    """Yield (relevant document, near-duplicate) if a query of the first document has no judgement of the second.

    Only documents that share one of their rarest words are compared, see `rarest_words`.
    """
    documents = collection.documents
    judged: dict[str, set[str]] = {}  # by relevant document: the documents with a judgement for all of its queries
    for q in collection.queries:
        seen = {*q.relevance, *q.negatives}
        for name in q.relevant_documents:
            judged[name] = judged[name] & seen if name in judged else set(seen)
    counts = Counter(word for text in documents.values() for word in set(words(text)))
    right = {name: set(words(documents[name])) for name in judged}
    at: dict[str, list[str]] = {}
    for name, bag in right.items():
        for word in rarest_words(bag, counts):
            at.setdefault(word, []).append(name)
    for other, text in documents.items():
        bag = set(words(text))
        for name in sorted({name for word in rarest_words(bag, counts) for name in at.get(word, ())}):
            if (
                name != other
                and other not in judged[name]
                and jaccard_overlap(bag, right[name]) >= NEAR_DUPLICATE_OVERLAP
            ):
                yield name, other

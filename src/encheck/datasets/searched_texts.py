"""What a search is made of, as texts to edit: its queries, and single sentences of their right documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from encheck.datasets.collection import Collection
from encheck.datasets.splitting import sentences, words_of
from encheck.ids import ItemId
from encheck.types import Group, content_hash

MOST = 2_000  # queries, and as many sentences
FEWEST_WORDS, MOST_WORDS = 4, 60  # of a sentence; a longer query is as long as a document


def groups_of(name: str, found: Collection) -> tuple[Group, ...]:
    """A group a text, in the cluster of its query; none of documents that nobody judged.

    At most `MOST` queries and `MOST` sentences, chosen by their hash. A text that stands twice is one, in the first
    cluster by name. What is no sentence of `FEWEST_WORDS` to `MOST_WORDS` words is left out, as headings are.
    """
    if found.passages:
        return ()
    queries = _chosen((q.text, q.cluster) for q in found.queries if words_of(q.text) <= MOST_WORDS)
    stated = _chosen((text, cluster) for text, cluster in _sentences(found) if text not in queries)
    return tuple(_group(name, text, cluster) for text, cluster in (*queries.items(), *stated.items()))


def _chosen(texts: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Cluster by text."""
    found: dict[str, str] = {}
    for text, cluster in texts:
        found[text] = min(found.get(text, cluster), cluster)
    return {text: found[text] for text in sorted(found, key=content_hash)[:MOST]}


def _sentences(found: Collection) -> Iterator[tuple[str, str]]:
    """(sentence, cluster) of the documents that are right for a query."""
    clusters: dict[str, str] = {}
    for q in found.queries:
        for document in q.right:
            clusters[document] = min(clusters.get(document, q.cluster), q.cluster)
    for document, cluster in clusters.items():
        for text in sentences(found.documents[document]):
            if FEWEST_WORDS <= words_of(text) <= MOST_WORDS:
                yield text, cluster


def _group(name: str, text: str, cluster: str) -> Group:
    return Group(ItemId.of(name, content_hash(text), "text", 1, "data", 0), text, text, cluster)

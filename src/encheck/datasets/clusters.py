"""Group rows into clusters, from which samples and the bootstrap draw, and find near-duplicates."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from encheck.datasets.reader import PairRow
from encheck.errors import DataError
from encheck.similarity import words
from encheck.statistics.clusters import component_list
from encheck.types import content_hash

NEAR_DUPLICATE_OVERLAP = 0.8  # the minimum overlap of the distinct words of two near-duplicates


def assign_clusters(rows: Sequence[PairRow]) -> list[str]:
    """Return the name of each row's cluster.

    The data may name a row's cluster. Otherwise all rows that share sentences, directly or through other rows, form a
    cluster. Sentences with the same words in a different order count as shared, because PAWS makes its pairs by
    swapping words. Such a cluster is named by the hash of its first text in alphabetical order, so the order of rows
    does not matter.
    """
    first = np.fromiter((hash_word_bag(row.first) for row in rows), np.int64, len(rows))
    second = np.fromiter((hash_word_bag(row.second) for row in rows), np.int64, len(rows))
    roots = component_list(first, second)
    least: dict[int, str] = {}
    for root, row in zip(roots, rows, strict=True):
        text = row.first if row.first < row.second else row.second
        known = least.get(root)
        if known is None or text < known:
            least[root] = text
    if (strange := next((row.cluster for row in rows if not isinstance(row.cluster, str | None)), None)) is not None:
        raise DataError(f"the cluster of a row is {strange!r}, but should be text, as in the file")
    hashed = {root: content_hash(text) for root, text in least.items()}
    return [row.cluster or hashed[root] for root, row in zip(roots, rows, strict=True)]


def hash_shared_sentences(rows: Sequence[PairRow]) -> list[tuple[str, ...]]:
    """Return hashes for each row: of its sentences that also occur in other rows, and of the cluster that the data
    name.

    A sentence that occurs in a single named cluster has no hash, since the cluster already connects its rows. A row
    that shares no sentence has none. Rows that are connected only through other rows have no hash in common.
    """
    words = [(_sorted_words(row.first), _sorted_words(row.second)) for row in rows]
    places: dict[str, str | int] = {}
    spread: set[str] = set()
    for i, (row, both) in enumerate(zip(rows, words, strict=True)):
        place = row.cluster or i
        spread.update(text for text in both if places.setdefault(text, place) != place)

    result: list[tuple[str, ...]] = []
    for row, both in zip(rows, words, strict=True):
        shared = [content_hash("sentence", text) for text in dict.fromkeys(both) if text in spread]
        result.append((*([content_hash(row.cluster)] if row.cluster else []), *shared) if shared else ())
    return result


def hash_word_bag(text: str) -> int:
    """Return a 64-bit hash of a text's words that does not depend on their order, small enough for a million texts."""
    return hash(_sorted_words(text))


def _sorted_words(text: str) -> str:
    """Return the words of a text in alphabetical order."""
    words = text.lower().split()
    words.sort()
    return " ".join(words)


def sample_clusters(clusters: Iterable[str], count: int, *, seed: int) -> set[str]:
    """Choose `count` clusters by the hash of seed and name, so that adding rows does not change how the others rank."""
    return set(order_clusters_by_hash(clusters, seed=seed)[:count])


def order_clusters_by_hash(clusters: Iterable[str], *, seed: int) -> list[str]:
    """Return the distinct clusters, ordered by the hash of seed and name."""

    return sorted(set(clusters), key=lambda cluster: hash_cluster_name(cluster, seed))


def hash_cluster_name(cluster: str, seed: int) -> bytes:
    """Return the hash of seed and name by which samples order clusters."""
    return hashlib.sha256(f"{seed}/{cluster}".encode()).digest()


def find_first_near_duplicates(texts: Sequence[str]) -> tuple[int, ...]:
    """Return, for each text, the index of its first near-duplicate, or its own index if no earlier text is one.

    Two near-duplicates of the same text count as near-duplicates of each other.

    >>> find_first_near_duplicates(["one two three four five", "snow", "five four three two one"])
    (0, 1, 0)
    """
    bags = [frozenset(words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    edges: list[tuple[int, int]] = []
    at: dict[str, list[int]] = {}
    for i, bag in enumerate(bags):  # only sets that share one of their rarest words are compared
        rare = rarest_words(bag, counts)
        others = {other for word in rare for other in at.get(word, ())}
        edges += [(other, i) for other in others if jaccard_overlap(bag, bags[other]) >= NEAR_DUPLICATE_OVERLAP]
        for word in rare:
            at.setdefault(word, []).append(i)
    if not edges:
        return tuple(range(len(texts)))
    every = [*edges, *((i, i) for i in range(len(texts)))]
    roots = component_list(np.array([a for a, _ in every], np.int64), np.array([b for _, b in every], np.int64))
    first: dict[int, int] = {}
    root_of = {a: root for root, (a, _) in zip(roots, every, strict=True)}
    return tuple(first.setdefault(root_of[i], i) for i in range(len(texts)))


def rarest_words(bag: frozenset[str] | set[str], counts: Mapping[str, int]) -> list[str]:
    """Return the rarest words of a set. Two near-duplicates share at least one of these.

    The number of words is one more than near-duplicates may differ by (Bayardo et al. 2007, "Scaling up all pairs
    similarity search", section 4.2).
    """
    room = len(bag) - math.ceil(NEAR_DUPLICATE_OVERLAP * len(bag)) + 1
    return sorted(bag, key=lambda word: (counts[word], word))[:room]


def jaccard_overlap(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> float:
    """Return the Jaccard overlap of two sets of words; 0 if both are empty."""
    return len(a & b) / max(len(a | b), 1)

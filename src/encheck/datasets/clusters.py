"""Which rows belong together: the clusters that samples and the bootstrap draw."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from encheck.datasets.reader import Row
from encheck.errors import DataError
from encheck.statistics.clusters import components
from encheck.types import content_hash


def clusters_of(rows: Sequence[Row]) -> list[str]:
    """The cluster of each row: what the data name, else the connected component that shares sentences.

    Sentences of the same words in another order count as shared (PAWS makes its pairs by swapping words). A
    component is named by the hash of its first text in alphabetical order, so that no order of rows matters.
    """
    first = np.fromiter((bag_of(row.first) for row in rows), np.int64, len(rows))
    second = np.fromiter((bag_of(row.second) for row in rows), np.int64, len(rows))
    roots = components(first, second)
    least: dict[int, str] = {}
    for root, row in zip(roots, rows, strict=True):
        text = row.first if row.first < row.second else row.second
        known = least.get(root)
        if known is None or text < known:
            least[root] = text
    if (strange := next((row.cluster for row in rows if not isinstance(row.cluster, str | None)), None)) is not None:
        raise DataError(f"the cluster of a row is {strange!r}, but should be text, as it stands in the file")
    hashed = {root: content_hash(text) for root, text in least.items()}
    return [row.cluster or hashed[root] for root, row in zip(roots, rows, strict=True)]


def shares_of(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Hashes of what each row shares with others: the cluster that it names, and each sentence that is in several.

    Empty where that is its cluster alone. Rows that hang together through others only share nothing.
    """
    words = [(_words(row.first), _words(row.second)) for row in rows]
    counts = Counter(text for both in words for text in {*both})

    def of(row: Row, both: tuple[str, str]) -> tuple[str, ...]:
        shared = [content_hash("sentence", text) for text in dict.fromkeys(both) if counts[text] > 1]
        return (*([content_hash(row.cluster)] if row.cluster else []), *shared) if shared else ()

    return [of(row, both) for row, both in zip(rows, words, strict=True)]


def bag_of(text: str) -> int:
    """A number for the words of a text in any order: 64 bits, since a million texts are held by it at once."""
    return hash(_words(text))


def _words(text: str) -> str:
    """The words of a text in alphabetical order."""
    words = text.lower().split()
    words.sort()
    return " ".join(words)


def sample_clusters(clusters: Iterable[str], count: int, *, seed: int) -> set[str]:
    """`count` of the clusters, chosen by the hash of their name: rows added later reshuffle nothing."""
    return set(in_seeded_order(clusters, seed=seed)[:count])


def in_seeded_order(clusters: Iterable[str], *, seed: int) -> list[str]:
    """The clusters, each once, by the hash of seed and name."""

    return sorted(set(clusters), key=lambda cluster: rank(cluster, seed))


def rank(cluster: str, seed: int) -> bytes:
    """What samples order clusters by: the hash of seed and name."""
    return hashlib.sha256(f"{seed}/{cluster}".encode()).digest()

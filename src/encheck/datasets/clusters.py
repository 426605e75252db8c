"""Groups rows into clusters, which samples and the bootstrap draw, and finds near-duplicates."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from encheck.datasets.reader import PairRow
from encheck.errors import DataError
from encheck.similarity import words
from encheck.statistics.clusters import component_list
from encheck.types import content_hash

ALIKE = 0.8  # the minimum overlap of the distinct words of two near-duplicates


def clusters_of(rows: Sequence[PairRow]) -> list[str]:
    """The cluster of each row: the one in the data, else the connected component of rows that share sentences.

    Sentences with the same words in a different order count as shared (PAWS makes its pairs by swapping words). A
    component is named by the hash of its first text in alphabetical order, so the order of rows does not matter.
    """
    first = np.fromiter((word_bag_number(row.first) for row in rows), np.int64, len(rows))
    second = np.fromiter((word_bag_number(row.second) for row in rows), np.int64, len(rows))
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


def shares_of(rows: Sequence[PairRow]) -> list[tuple[str, ...]]:
    """Hashes of what each row shares with others: its named cluster, and each sentence that occurs in several rows.

    Empty if the row shares nothing. Rows that are connected only through other rows share no hash.
    """
    words = [(_words(row.first), _words(row.second)) for row in rows]
    counts = Counter(text for both in words for text in {*both})

    def of(row: PairRow, both: tuple[str, str]) -> tuple[str, ...]:
        shared = [content_hash("sentence", text) for text in dict.fromkeys(both) if counts[text] > 1]
        return (*([content_hash(row.cluster)] if row.cluster else []), *shared) if shared else ()

    return [of(row, both) for row, both in zip(rows, words, strict=True)]


def word_bag_number(text: str) -> int:
    """A 64-bit number for the words of a text in any order, small enough to hold it for a million texts."""
    return hash(_words(text))


def _words(text: str) -> str:
    """The words of a text in alphabetical order."""
    words = text.lower().split()
    words.sort()
    return " ".join(words)


def sample_clusters(clusters: Iterable[str], count: int, *, seed: int) -> set[str]:
    """`count` of the clusters, chosen by the hash of their name, so that adding rows does not reshuffle the others."""
    return set(in_seeded_order(clusters, seed=seed)[:count])


def in_seeded_order(clusters: Iterable[str], *, seed: int) -> list[str]:
    """The distinct clusters, ordered by the hash of seed and name."""

    return sorted(set(clusters), key=lambda cluster: seeded_rank(cluster, seed))


def seeded_rank(cluster: str, seed: int) -> bytes:
    """The hash of seed and name, by which samples order clusters."""
    return hashlib.sha256(f"{seed}/{cluster}".encode()).digest()


def near_duplicates(texts: Sequence[str]) -> tuple[int, ...]:
    """For each text the index of the first text that it is a near-duplicate of, directly or through others; else its
    own.

    >>> near_duplicates(["one two three four five", "snow", "five four three two one"])
    (0, 1, 0)
    """
    bags = [frozenset(words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    edges = list(_alike_pairs(bags, counts))
    if not edges:
        return tuple(range(len(texts)))
    every = [*edges, *((i, i) for i in range(len(texts)))]
    roots = component_list(np.array([a for a, _ in every], np.int64), np.array([b for _, b in every], np.int64))
    first: dict[int, int] = {}
    root_of = {a: root for root, (a, _) in zip(roots, every, strict=True)}
    return tuple(first.setdefault(root_of[i], i) for i in range(len(texts)))


def _alike_pairs(bags: Sequence[frozenset[str]], counts: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Pairs of near-duplicates; compares only sets that share one of their rarest words, see `rarest_words`."""
    at: dict[str, list[int]] = {}
    for i, bag in enumerate(bags):
        rare = rarest_words(bag, counts)
        for other in {other for word in rare for other in at.get(word, ())}:
            if word_set_overlap(bag, bags[other]) >= ALIKE:
                yield other, i
        for word in rare:
            at.setdefault(word, []).append(i)


def rarest_words(bag: frozenset[str] | set[str], counts: Mapping[str, int]) -> list[str]:
    """The rarest words of a set: two sets with an overlap of `ALIKE` share at least one of these.

    That is one word more than `ALIKE` lets two sets differ by (Bayardo et al. 2007, "Scaling up all pairs similarity
    search", section 4.2).
    """
    room = len(bag) - math.ceil(ALIKE * len(bag)) + 1
    return sorted(bag, key=lambda word: (counts[word], word))[:room]


def word_set_overlap(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> float:
    """Jaccard overlap of two sets of words; 0 for two empty sets."""
    return len(a & b) / max(len(a | b), 1)

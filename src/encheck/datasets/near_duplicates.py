"""Near-duplicates: texts that share most of their distinct words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from encheck.similarity import words
from encheck.statistics.clusters import components

ALIKE = 0.8  # of the distinct words of two documents, from which on they are near-duplicates


def near_duplicates(texts: Sequence[str]) -> tuple[int, ...]:
    """For each text the place of the first one that it is a near-duplicate of, over others too; else its own.

    >>> near_duplicates(["one two three four five", "snow", "five four three two one"])
    (0, 1, 0)
    """
    bags = [frozenset(words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    edges = list(_pairs(bags, counts))
    if not edges:
        return tuple(range(len(texts)))
    every = [*edges, *((i, i) for i in range(len(texts)))]
    roots = components(np.array([a for a, _ in every], np.int64), np.array([b for _, b in every], np.int64))
    first: dict[int, int] = {}
    root_of = {a: root for root, (a, _) in zip(roots, every, strict=True)}
    return tuple(first.setdefault(root_of[i], i) for i in range(len(texts)))


def _pairs(bags: Sequence[frozenset[str]], counts: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Pairs that are alike; only those that share one of their rarest words are compared, see `rarest`."""
    at: dict[str, list[int]] = {}
    for i, bag in enumerate(bags):
        rare = rarest(bag, counts)
        for other in {other for word in rare for other in at.get(word, ())}:
            if overlap(bag, bags[other]) >= ALIKE:
                yield other, i
        for word in rare:
            at.setdefault(word, []).append(i)


def rarest(bag: frozenset[str] | set[str], counts: Mapping[str, int]) -> list[str]:
    """The rarest words of a set: two sets with an overlap of `ALIKE` share one of each other's.

    As many as `ALIKE` leaves room for, and one (Bayardo et al. 2007, "Scaling up all pairs similarity search",
    section 4.2).
    """
    room = len(bag) - math.ceil(ALIKE * len(bag)) + 1
    return sorted(bag, key=lambda word: (counts[word], word))[:room]


def overlap(a: frozenset[str] | set[str], b: frozenset[str] | set[str]) -> float:
    """Jaccard overlap of two sets of words; 0 for two empty ones."""
    return len(a & b) / max(len(a | b), 1)

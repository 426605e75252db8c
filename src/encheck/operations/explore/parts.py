"""Three parts that share no cluster and no text: one to search, one to confirm, one for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from encheck.operations.explore.material import Item
from encheck.types import content_hash

Part = Literal["search", "confirmation", "reading"]
SHARES: tuple[tuple[Part, float], ...] = (("search", 0.4), ("confirmation", 0.9), ("reading", 1.0))


class Parts(NamedTuple):
    """The items of each part."""

    search: tuple[Item, ...]
    confirmation: tuple[Item, ...]
    reading: tuple[Item, ...]


@lru_cache(maxsize=100_000)
def drawn(seed: int, *names: str) -> float:
    """A number from 0 to 1 that depends on the seed and these names alone."""
    return int(content_hash(str(seed), *names), 16) / 16**16


def part_of(cluster: str, *, seed: int) -> Part:
    """The part of a cluster, by its hash: the same whatever else there is."""
    place = drawn(seed, "part", cluster)
    return next(name for name, end in SHARES if place < end)


def parted(items: Sequence[Item], *, seed: int) -> Parts:
    """The items in their parts; one with a text of an earlier part is left out."""
    found: dict[Part, tuple[Item, ...]] = {}
    taken: set[str] = set()
    for name, _ in SHARES:
        own = tuple(i for i in items if part_of(i.cluster, seed=seed) == name and taken.isdisjoint(i.texts))
        taken |= texts_of(own)
        found[name] = own
    return Parts(found["search"], found["confirmation"], found["reading"])


def texts_of(items: Iterable[Item]) -> set[str]:
    """All texts of these items."""
    return {text for item in items for text in item.texts}

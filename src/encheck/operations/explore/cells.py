"""Constructions: the items of a property that have one value of a feature, or two of two features."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from encheck.operations.explore.material import Item, Value

SEARCH, CONFIRMATION = 10, 15  # clusters that a cell has to have


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A construction; without values it is the property as a whole."""

    property: str
    values: tuple[Value, ...] = ()

    def holds(self, item: Item) -> bool:
        """Whether the item is one of the construction."""
        return item.property == self.property and set(self.values) <= set(item.values)

    @builtins.property
    def says(self) -> str:
        """In words."""
        return (
            f"{self.property}: {', '.join(value for _, value in self.values)}"
            if self.values
            else f"all of {self.property}"
        )


def cells_of(item: Item) -> Iterator[Cell]:
    """The cells that an item is in, but for the whole."""
    for count in (1, 2):
        yield from (Cell(item.property, values) for values in combinations(item.values, count))


def members(items: Sequence[Item]) -> dict[Cell, list[int]]:
    """The places of each cell's items."""
    found: dict[Cell, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        for cell in cells_of(item):
            found[cell].append(place)
    return dict(found)


@dataclass(frozen=True)
class Catalogue:
    """The cells of the part that searches: those that can be searched and confirmed, and how many cannot.

    Cells of exactly the same items are one, under the shortest description.
    """

    open: tuple[Cell, ...]
    too_few: int

    @property
    def total(self) -> int:
        """All cells."""
        return len(self.open) + self.too_few


def catalogue(search: Sequence[Item], confirmation: Sequence[Item]) -> Catalogue:
    """The cells, of which those are open that have enough clusters in both parts."""
    here, there = members(search), members(confirmation)
    distinct: dict[tuple[int, ...], Cell] = {}
    for cell in sorted(here, key=lambda one: (len(one.values), one)):
        distinct.setdefault(tuple(here[cell]), cell)
    is_open = [
        cell for cell in distinct.values()
        if clusters_among(search, here[cell]) >= SEARCH
        and clusters_among(confirmation, there.get(cell, ())) >= CONFIRMATION
    ]  # fmt: skip
    return Catalogue(tuple(is_open), len(distinct) - len(is_open))


def clusters_among(items: Sequence[Item], places: Iterable[int]) -> int:
    """How many clusters the items at these places have."""
    return len({items[place].cluster for place in places})

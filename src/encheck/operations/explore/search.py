"""The search: successive halving of constructions, those that fail most being asked for more.

Each round asks for more clusters of the constructions that are left, then drops the half of them whose upper bound is
lower (Karnin, Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits"; here an item counts for every
construction that it is in). Where a construction's items are used up, its frames are filled again, one choice changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from encheck.operations.explore.asking import Meter
from encheck.operations.explore.cells import Catalogue, Cell, cells_of
from encheck.operations.explore.material import Item
from encheck.operations.explore.parts import drawn
from encheck.statistics.bounds import wilson

FIRST, ROUNDS = 10, 5  # clusters a cell in the first round, doubled in each
KEPT = 40  # cells that no round drops
BATCH = 64  # items an ask
FILLED = 60  # frames a round that are filled again
A_CLUSTER = 4  # items of one that a cell asks for
MOST = 5  # nominated a property
LEAST = 0.05  # lower bound of the failure rate of a nominated cell
OVERLAP = 0.5  # a cell that shares more of its items with a nominated one says the same again
Z = 1.645
More = Callable[[Sequence[Item], int], list[Item]]


@dataclass(frozen=True)
class Standing:
    """What the search knows of a cell: its failure rate, the mean over clusters, and how many of them it asked for."""

    rate: float
    clusters: int
    low: float
    high: float


@dataclass
class Search:
    """The search of one property; `failed` has what is known of its items, by place."""

    items: list[Item]
    cells: Catalogue
    seed: int
    more: More = lambda _items, _round: []
    not_these: frozenset[str] = frozenset()
    failed: dict[int, bool] = field(default_factory=dict)
    alive: list[Cell] = field(default_factory=list)
    rounds: int = 0
    is_finished: bool = False
    filled: int = 0
    _members: dict[Cell, list[int]] = field(default_factory=dict)
    _tallies: dict[Cell, dict[str, tuple[int, int]]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        self.alive = list(self.cells.open)
        self._members = {cell: [] for cell in self.alive}
        self._known = {item.own_texts for item in self.items}
        for place in range(len(self.items)):
            self._enter(place)

    def _enter(self, place: int) -> None:
        for cell in cells_of(self.items[place]):
            if cell in self._members:
                self._members[cell].append(place)

    def run(self, meter: Meter, *, limit: float = float("inf"), until: float = float("inf")) -> None:
        """Ask until the rounds are over, until `limit` texts were asked for in all, or until so many seconds are over.

        However long they take, the first few items are asked for.
        """
        while self.rounds < ROUNDS:
            if not self._asked(meter, list(self._wanted(FIRST * 2**self.rounds)), limit, until):
                return
            self.rounds += 1
            self.alive = self._upper_half()
            self._fill_again()
        self.is_finished = True

    def _asked(self, meter: Meter, places: Sequence[int], limit: float, until: float) -> bool:
        """Whether there was room to ask for all of these."""
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH]
            if self.failed and meter.budget.spent >= until:
                return False
            fit = len(meter.affordable([self.items[p] for p in some], limit))
            margins = meter.margins([self.items[p] for p in some[:fit]])
            for place, margin in zip(some, margins, strict=False):
                self._note(place, margin <= 0)
            if fit < len(some):
                return False
        return True

    def _note(self, place: int, is_failure: bool) -> None:
        self.failed[place] = is_failure
        item = self.items[place]
        for cell in (Cell(item.property), *(c for c in cells_of(item) if c in self._members)):
            lost, asked = self._tallies[cell].get(item.cluster, (0, 0))
            self._tallies[cell][item.cluster] = lost + is_failure, asked + 1

    def _wanted(self, quota: int) -> Iterator[int]:
        """Items that bring each cell that is left to so many clusters, the one with the highest bound first."""
        there: set[int] = set(self.failed)
        for cell in sorted(self.alive, key=lambda one: (-self.standing(one).high, one)):
            by_cluster: dict[str, list[int]] = defaultdict(list)
            for place in self._members[cell]:
                by_cluster[self.items[place].cluster].append(place)
            names = sorted(by_cluster, key=lambda name: drawn(self.seed, "search", name))[:quota]
            deep = 1 + max(0, quota // max(len(by_cluster), 1) - 1)
            for name in names:
                own = by_cluster[name]
                lacking = min(deep, A_CLUSTER, len(own)) - sum(place in there for place in own)
                for place in sorted(set(own) - there, key=self._turn)[: max(lacking, 0)]:
                    there.add(place)
                    yield place

    def _turn(self, place: int) -> float:
        return drawn(self.seed, "turn", *self.items[place].own_texts)

    def standing(self, cell: Cell) -> Standing:
        """What is known of a cell; a rate of 1/2 of no cluster where nothing was asked."""
        known = self._tallies.get(cell)
        if not known:
            return Standing(0.5, 0, 0.0, 1.0)
        rate = sum(lost / asked for lost, asked in known.values()) / len(known)
        return Standing(rate, len(known), *wilson(rate, len(known), z=Z))

    def _upper_half(self) -> list[Cell]:
        ranked = sorted(self.alive, key=lambda one: (-self.standing(one).high, one))
        return ranked[: max(KEPT, len(ranked) // 2)]

    def _fill_again(self) -> None:
        """Frames of the cells that are left, each with one choice changed; no text of another part comes in."""
        left = [cell for cell in self.alive if self._is_used_up(cell)]
        places = dict.fromkeys(p for cell in left for p in self._members[cell] if self.items[p].filling)
        order = sorted(places, key=lambda p: drawn(self.seed, str(self.rounds), *self.items[p].own_texts))[:FILLED]
        for item in self.more([self.items[p] for p in order], self.rounds) if order else []:
            if item.own_texts not in self._known and self.not_these.isdisjoint(item.texts):
                self._known.add(item.own_texts)
                self.items.append(item)
                self.filled += 1
                self._enter(len(self.items) - 1)

    def _is_used_up(self, cell: Cell) -> bool:
        return all(place in self.failed for place in self._members[cell])

    @property
    def tried(self) -> int:
        """How many cells were asked for in as many clusters as the first round wants."""
        return sum(self.standing(cell).clusters >= FIRST for cell in self.cells.open)

    def nominated(self) -> list[Cell]:
        """At most five, those of the highest lower bound, of cells that fail more often than the property as a whole.

        None of them shares half of its items with a better one.
        """
        whole = self.standing(Cell(self._property())).rate
        known = {cell: self.standing(cell) for cell in self.cells.open}
        good = [c for c, s in known.items() if s.clusters >= FIRST and s.low > LEAST and s.rate > whole]
        chosen: list[Cell] = []
        for cell in sorted(good, key=lambda one: (-known[one].low, len(one.values), one)):
            own = set(self._members[cell])
            if all(_shared(own, set(self._members[other])) <= OVERLAP for other in chosen):
                chosen.append(cell)
            if len(chosen) == MOST:
                break
        return chosen

    def _property(self) -> str:
        return self.items[0].property


def _shared(one: set[int], other: set[int]) -> float:
    return len(one & other) / min(len(one), len(other))

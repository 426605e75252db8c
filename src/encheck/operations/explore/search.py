"""The search: successive halving of constructions, with more items for those that fail most.

A construction is the set of items of a property that have one value of a feature, or two values of two features. Each
round scores more clusters of the remaining constructions, then drops the half with the lower upper bounds (Karnin,
Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits"; here an item counts for every construction
that contains it). When a construction's items are used up, its frames are filled again with one choice changed.
"""

from __future__ import annotations

import builtins
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from encheck.operations.explore.material import ExploredItem, Feature, hash_fraction
from encheck.statistics.hypothesis_tests import wilson_interval

SEARCH_CLUSTERS, CONFIRMATION_CLUSTERS = 10, 15  # clusters that a cell has to have


@dataclass(frozen=True, slots=True, order=True)
class Construction:
    """A construction; without values it is the property as a whole."""

    property: str
    values: tuple[Feature, ...] = ()

    def contains(self, item: ExploredItem) -> bool:
        """Return whether the item belongs to the construction."""
        return item.property == self.property and set(self.values) <= set(item.values)

    @builtins.property
    def says(self) -> str:
        """The construction in words."""
        return (
            f"{self.property}: {', '.join(value for _, value in self.values)}"
            if self.values
            else f"all of {self.property}"
        )


def constructions_containing(item: ExploredItem) -> Iterator[Construction]:
    """Yield the constructions that contain an item, without the whole property."""
    for count in (1, 2):
        yield from (Construction(item.property, values) for values in combinations(item.values, count))


def items_by_construction(items: Sequence[ExploredItem]) -> dict[Construction, list[int]]:
    """Return the positions of each construction's items."""
    found: dict[Construction, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        for cell in constructions_containing(item):
            found[cell].append(place)
    return dict(found)


@dataclass(frozen=True)
class Constructions:
    """The constructions that can be searched and confirmed, and the number of other constructions.

    Constructions with exactly the same items are merged under the shortest description.
    """

    open: tuple[Construction, ...]
    too_few: int

    @property
    def total(self) -> int:
        """The number of all constructions."""
        return len(self.open) + self.too_few


def list_constructions(search: Sequence[ExploredItem], confirmation: Sequence[ExploredItem]) -> Constructions:
    """Return the constructions. A construction is open if it has enough clusters in both parts."""
    here, there = items_by_construction(search), items_by_construction(confirmation)
    distinct: dict[tuple[int, ...], Construction] = {}
    for cell in sorted(here, key=lambda one: (len(one.values), one)):
        distinct.setdefault(tuple(here[cell]), cell)
    is_open = [
        cell for cell in distinct.values()
        if count_clusters(search, here[cell]) >= SEARCH_CLUSTERS
        and count_clusters(confirmation, there.get(cell, ())) >= CONFIRMATION_CLUSTERS
    ]  # fmt: skip
    return Constructions(tuple(is_open), len(distinct) - len(is_open))


def count_clusters(items: Sequence[ExploredItem], places: Iterable[int]) -> int:
    """Return the number of clusters of the items at these positions."""
    return len({items[place].cluster for place in places})


ScorePairs = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
Clock = Callable[[], float]
DECIMALS = 6
SEARCH_SHARE = 0.5  # of the budget that the search may use up; the rest is for confirming


@dataclass
class SearchBudget:
    """The limits of a search: texts to request from the model, and seconds. None means no limit."""

    texts: int | None = None
    seconds: float | None = None
    clock: Clock = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.began

    def search_ends(self, searches_left: int, *, used: int, since: float) -> tuple[float, float]:
        """Return the total texts and the seconds at which the next of the remaining searches has to end.

        All searches share half of the texts, and half of the time that was left when the first search began. It began
        `since` seconds after the start.
        """
        texts = seconds = float("inf")
        if self.texts is not None:
            texts = used + max(SEARCH_SHARE * self.texts - used, 0) / searches_left
        if self.seconds is not None:
            end = since + SEARCH_SHARE * (self.seconds - since)
            seconds = self.spent + max(end - self.spent, 0) / searches_left
        return texts, seconds


@dataclass
class MarginMeter:
    """Computes the margins of items, and counts the distinct texts requested and the time taken."""

    ask: ScorePairs
    budget: SearchBudget
    asked: set[str] = field(default_factory=set)
    seconds: float = 0.0
    _first: tuple[int, float] = (0, 0.0)  # texts and seconds of the first call, which may load the model

    def margins(self, items: Sequence[ExploredItem]) -> list[float]:
        """Return sim(source, near) - sim(source, far) of each item, computed in one call."""
        if not items:
            return []
        self.asked |= {text for item in items for text in item.margin_texts}
        start = self.budget.clock()
        values = list(self.ask([pair for item in items for pair in item.triplet.pairs_to_score]))
        self.seconds += self.budget.clock() - start
        if self._first == (0, 0.0):
            self._first = len(self.asked), self.seconds
        return [round(float(a) - float(b), DECIMALS) for a, b in zip(values[::2], values[1::2], strict=True)]

    def count_new_texts(self, items: Sequence[ExploredItem]) -> int:
        """Return the number of texts of these items that have not been requested yet."""
        return len({text for item in items for text in item.margin_texts} - self.asked)

    def take_affordable(self, items: Sequence[ExploredItem], limit: float) -> list[ExploredItem]:
        """Return as many of the first items as keep the total of requested texts within `limit`."""
        texts, found = set(self.asked), list[ExploredItem]()
        for item in items:
            texts.update(item.margin_texts)
            if len(texts) > limit:
                break
            found.append(item)
        return found

    @property
    def speed(self) -> float:
        """Texts per second so far. The first call is left out if there were more."""
        texts, seconds = len(self.asked) - self._first[0], self.seconds - self._first[1]
        if not texts:
            texts, seconds = len(self.asked), self.seconds
        return texts / seconds if seconds > 0 else float("inf")

    @property
    def texts_left(self) -> float:
        """The number of texts that the budget still allows, at the speed so far."""
        texts = float("inf") if self.budget.texts is None else self.budget.texts - len(self.asked)
        if self.budget.seconds is None or not self.seconds:
            return texts
        return min(texts, (self.budget.seconds - self.budget.spent) * self.speed)


FIRST, ROUNDS = 10, 5  # clusters per cell in the first round, doubled in each round
KEPT = 40  # cells that are always kept
BATCH = 64  # items per request
FILLED = 60  # frames per round that are filled again
A_CLUSTER = 4  # items of a cluster that a cell requests
MOST = 5  # nominated per property
LEAST = 0.05  # lower bound of the failure rate of a nominated cell
OVERLAP = 0.5  # a cell that shares more of its items with a nominated one is redundant
Z = 1.645
More = Callable[[Sequence[ExploredItem], int], list[ExploredItem]]


@dataclass(frozen=True)
class SearchEstimate:
    """The search's estimate for a construction: its failure rate (the mean over clusters) and its scored clusters."""

    rate: float
    clusters: int
    low: float
    high: float


@dataclass
class ConstructionSearch:
    """The search of one property; `failed` has the results of its scored items, by position."""

    items: list[ExploredItem]
    cells: Constructions
    seed: int
    more: More = lambda _items, _round: []
    not_these: frozenset[str] = frozenset()
    failed: dict[int, bool] = field(default_factory=dict)
    alive: list[Construction] = field(default_factory=list)
    rounds: int = 0
    is_finished: bool = False
    filled: int = 0
    _members: dict[Construction, list[int]] = field(default_factory=dict)
    _tallies: dict[Construction, dict[str, tuple[int, int]]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        self.alive = list(self.cells.open)
        self._members = {cell: [] for cell in self.alive}
        self._known = {item.margin_texts for item in self.items}
        for place in range(len(self.items)):
            self._add_to_constructions(place)

    def _add_to_constructions(self, place: int) -> None:
        for cell in constructions_containing(self.items[place]):
            if cell in self._members:
                self._members[cell].append(place)

    def run(self, meter: MarginMeter, *, limit: float = float("inf"), until: float = float("inf")) -> None:
        """Score items until the rounds end, `limit` texts were requested in total, or `until` seconds have passed.

        The first few items are scored even if that takes longer.
        """
        while self.rounds < ROUNDS:
            if not self._score_items_at(meter, list(self._next_positions(FIRST * 2**self.rounds)), limit, until):
                return
            self.rounds += 1
            ranked = sorted(self.alive, key=lambda one: (-self.estimate(one).high, one))
            self.alive = ranked[: max(KEPT, len(ranked) // 2)]
            # Frames of the remaining cells, each with one choice changed; texts of other parts are excluded.
            left = [cell for cell in self.alive if all(place in self.failed for place in self._members[cell])]
            places = dict.fromkeys(p for cell in left for p in self._members[cell] if self.items[p].filling)
            order = sorted(
                places, key=lambda p: hash_fraction(self.seed, str(self.rounds), *self.items[p].margin_texts)
            )[:FILLED]
            for item in self.more([self.items[p] for p in order], self.rounds) if order else []:
                if item.margin_texts not in self._known and self.not_these.isdisjoint(item.texts):
                    self._known.add(item.margin_texts)
                    self.items.append(item)
                    self.filled += 1
                    self._add_to_constructions(len(self.items) - 1)
        self.is_finished = True

    def _score_items_at(self, meter: MarginMeter, places: Sequence[int], limit: float, until: float) -> bool:
        """Score the items at these positions. Return whether the limits allowed all items."""
        for start in range(0, len(places), BATCH):
            some = places[start : start + BATCH]
            if self.failed and meter.budget.spent >= until:
                return False
            fit = len(meter.take_affordable([self.items[p] for p in some], limit))
            margins = meter.margins([self.items[p] for p in some[:fit]])
            for place, margin in zip(some, margins, strict=False):
                is_failure = margin <= 0
                self.failed[place] = is_failure
                item = self.items[place]
                for cell in (
                    Construction(item.property),
                    *(c for c in constructions_containing(item) if c in self._members),
                ):
                    lost, asked = self._tallies[cell].get(item.cluster, (0, 0))
                    self._tallies[cell][item.cluster] = lost + is_failure, asked + 1
            if fit < len(some):
                return False
        return True

    def _next_positions(self, quota: int) -> Iterator[int]:
        """Yield items that bring each remaining construction to `quota` clusters, starting with the highest bound."""
        there: set[int] = set(self.failed)

        def turn(place: int) -> float:
            return hash_fraction(self.seed, "turn", *self.items[place].margin_texts)

        for cell in sorted(self.alive, key=lambda one: (-self.estimate(one).high, one)):
            by_cluster: dict[str, list[int]] = defaultdict(list)
            for place in self._members[cell]:
                by_cluster[self.items[place].cluster].append(place)
            names = sorted(by_cluster, key=lambda name: hash_fraction(self.seed, "search", name))[:quota]
            deep = 1 + max(0, quota // max(len(by_cluster), 1) - 1)
            for name in names:
                own = by_cluster[name]
                lacking = min(deep, A_CLUSTER, len(own)) - sum(place in there for place in own)
                for place in sorted(set(own) - there, key=turn)[: max(lacking, 0)]:
                    there.add(place)
                    yield place

    def estimate(self, cell: Construction) -> SearchEstimate:
        """Return the estimate for a construction. If nothing was scored, the rate is 1/2 from 0 clusters."""
        known = self._tallies.get(cell)
        if not known:
            return SearchEstimate(0.5, 0, 0.0, 1.0)
        rate = sum(lost / asked for lost, asked in known.values()) / len(known)
        return SearchEstimate(rate, len(known), *wilson_interval(rate, len(known), z=Z))

    @property
    def tried(self) -> int:
        """The number of constructions that reached the first round's number of clusters."""
        return sum(self.estimate(cell).clusters >= FIRST for cell in self.cells.open)

    def nominate_constructions(self) -> list[Construction]:
        """Return at most five constructions that fail more often than the property, those with the highest lower
        bounds.

        No nominated construction shares half of its items with a better one.
        """
        whole = self.estimate(Construction(self.items[0].property)).rate
        known = {cell: self.estimate(cell) for cell in self.cells.open}
        good = [c for c, s in known.items() if s.clusters >= FIRST and s.low > LEAST and s.rate > whole]
        chosen: list[Construction] = []
        for cell in sorted(good, key=lambda one: (-known[one].low, len(one.values), one)):
            own = set(self._members[cell])
            others = [set(self._members[other]) for other in chosen]
            if all(len(own & other) / min(len(own), len(other)) <= OVERLAP for other in others):
                chosen.append(cell)
            if len(chosen) == MOST:
                break
        return chosen

"""Labelled pairs by the million: their numbers as columns, and their texts where they lie.

Rows of such data have no splits and no keys. A pair becomes a Python object when it is shown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.reader import Row
from encheck.ids import ItemId
from encheck.statistics.bootstrap import Clusters
from encheck.statistics.ordered import parts_of
from encheck.types import BothOrders, Item, SentencePair, content_hash

Positions = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]
Read = Callable[[Positions], list[Row]]
T = TypeVar("T")
Number = TypeVar("Number", bound=np.generic)
ROWS_KEPT = 20_000  # rows that were read to be shown


@dataclass(frozen=True, eq=False)
class Columns:
    """The numbers of all labelled pairs of a data set; of each pair, shape [n], in the order of the files.

    `labels` is 1, 0 or -1 for none; `gold` people's score, NaN for none; `same` says that both texts are the same;
    `overlap` and `divergence` are those of words. `clusters` has the number of each pair's cluster, whose hashes are
    `hashes`; `order` ranks the clusters as folds are dealt out. `repeats` says how many earlier rows hold the same pair
    as the row at a position. `read` reads rows by their positions. `draw` gives the texts that calibration draws from,
    with the names of their clusters, and the numbers of these names. `counts` says how many rows were read, skipped,
    and in how many shards. `things`, shape [n, 3], has hashes of what each pair shares with others, 0 for none: its
    cluster, where the data name it or it shares no sentence, and its sentences that are in several pairs. None where no
    sentence is, or the pairs or clusters are too many to follow more than clusters.
    """

    name: str
    labels: NDArray[np.int8]
    gold: Floats
    same: NDArray[np.bool_]
    overlap: Floats
    divergence: Floats
    clusters: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    order: NDArray[np.int32]
    repeats: Callable[[int], int]
    read: Read
    draw: Callable[[], tuple[list[tuple[str, str]], dict[str, int]]]
    counts: Mapping[str, int]
    skipped: tuple[str, ...] = ()
    fingerprint: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    things: NDArray[np.uint64] | None = None
    _rows: dict[int, Row] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, positions: Positions) -> list[Row]:
        """The rows at these positions; those that were read last are kept."""
        lacking = [at for at in positions.tolist() if at not in self._rows]
        if len(self._rows) + len(lacking) > ROWS_KEPT:
            self._rows.clear()
            lacking = positions.tolist()
        self._rows.update(zip(lacking, self.read(np.array(lacking, np.int64)) if lacking else (), strict=True))
        return [self._rows[at] for at in positions.tolist()]

    def pairs(self, positions: Positions) -> list[SentencePair]:
        """The pairs at these positions, as the data set would hold them."""
        rows = self.rows(positions)
        return [self._pair(at, row) for at, row in zip(positions.tolist(), rows, strict=True)]

    def _pair(self, at: int, row: Row) -> SentencePair:
        key = content_hash(row.first, row.second)
        name = ItemId.of(self.name, key, "pair", 1, "data", self.repeats(at))
        cluster = row.cluster or self.cluster_name(int(self.clusters[at]))
        shares = names_of(self.things[at]) if self.things is not None and self.things[at, 1:].any() else ()
        return SentencePair(name, row.first, row.second, row.label, cluster, score=row.score, shares=shares)

    def cluster_name(self, number: int) -> str:
        """The name of a cluster that the data do not name; of one that they do, a hash of its name."""
        return f"{int(self.hashes[number]):016x}"

    @cached_property
    def _drawn(self) -> tuple[list[tuple[str, str]], dict[str, int]]:
        return self.draw()

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """(text, cluster) of the texts that calibration draws from."""
        return self._drawn[0]

    @property
    def labels_counted(self) -> dict[str, int]:
        """Number of pairs a label."""
        found = {str(label if label >= 0 else None): int((self.labels == label).sum()) for label in (0, 1, -1)}
        return {label: count for label, count in found.items() if count}

    def numbers_of(self, pairs: Sequence[SentencePair]) -> NDArray[np.int32]:
        """The numbers of both clusters that each of these drawn pairs hangs on; shape [2, pairs]."""
        numbers = self._drawn[1]
        return np.array([(numbers[pair.cluster], numbers[pair.other]) for pair in pairs], np.int32).T


class ColumnPairs(Sequence[Any]):
    """Items of a check that are not in memory: pairs of `columns` at `positions`, then those of `tail`, which are.

    Nothing goes through all of them one by one; `items[i]` reads one. `kind` says what they are: pairs, or pairs in
    both orders.
    """

    def __init__(
        self,
        columns: Columns,
        positions: Positions,
        tail: Sequence[SentencePair] = (),
        *,
        kind: Literal["pair", "both_orders"] = "pair",
    ) -> None:
        self.columns, self.tail, self.kind = columns, tuple(tail), kind
        self.positions: Positions = positions.astype(np.int32)
        self._is_whole = len(positions) == len(columns) and bool((np.diff(self.positions) == 1).all())

    def __len__(self) -> int:
        return len(self.positions) + len(self.tail)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return self.of(np.arange(len(self))[at])
        return self.listed(np.array([range(len(self))[operator.index(at)]]))[0]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("pairs of shards are measured by their columns, and never one by one")

    def of(self, chosen: NDArray[np.intp]) -> ColumnPairs:
        """A selection of the items."""
        inside, outside = chosen[chosen < len(self.positions)], chosen[chosen >= len(self.positions)]
        if len(outside) and (np.diff(chosen >= len(self.positions)) < 0).any():
            raise ValueError("pairs of the tail stay behind the others")
        tail = [self.tail[i - len(self.positions)] for i in outside.tolist()]
        return ColumnPairs(self.columns, self.positions[inside], tail, kind=self.kind)

    def listed(self, chosen: NDArray[np.intp]) -> tuple[Any, ...]:
        """These items as Python objects, which reads their texts."""
        inside = chosen[chosen < len(self.positions)]
        found: dict[int, Item] = dict(zip(inside.tolist(), self._made(self.positions[inside]), strict=True))
        return tuple(found[i] if i in found else self.tail[i - len(self.positions)] for i in chosen.tolist())

    def _made(self, positions: Positions) -> Sequence[Item]:
        pairs = self.columns.pairs(positions)
        return pairs if self.kind == "pair" else [turned(pair) for pair in pairs]

    def take(self, column: NDArray[Number]) -> NDArray[Number]:
        """What a column of all pairs has of those at `positions`; the column itself, not a copy, where that is all."""
        return column if self._is_whole else column[self.positions]

    @property
    def labels(self) -> NDArray[np.int8]:
        """1 or 0, shape [n]; one without a label counts as a paraphrase."""
        tail = np.array([1 if pair.label is None else pair.label for pair in self.tail], np.int8)
        return np.concatenate([np.abs(self.take(self.columns.labels)), tail])

    @property
    def gold(self) -> Floats:
        """People's score, shape [n]; NaN where there is none."""
        tail = [np.nan if pair.score is None else pair.score for pair in self.tail]
        return np.concatenate([self.take(self.columns.gold), np.array(tail, np.float64)])

    @property
    def clusters(self) -> Clusters:
        """The clusters that the items hang on."""
        numbers, columns = self.take(self.columns.clusters), self.columns
        if not self.tail:
            return Clusters(numbers, len(columns.hashes), None, columns.hashes)
        one, other = columns.numbers_of(self.tail)
        others = np.concatenate([np.full(len(numbers), -1, np.int32), other])
        return Clusters(np.concatenate([numbers, one]), len(columns.hashes), others, columns.hashes)

    @property
    def shares(self) -> Sequence[tuple[str, ...]]:
        """What each item has in common with others; empty where they share clusters alone, as with a tail."""
        things = self.columns.things
        return () if things is None or self.tail else [names_of(some) for some in self.take(things)]

    def folds(self, chosen: NDArray[np.intp], count: int) -> NDArray[np.signedinteger[Any]]:
        """The fold of each chosen item, shape [chosen]: clusters are dealt out in the order of their names' hashes."""
        numbers = self.clusters.numbers[chosen]
        order = self.columns.order
        is_present = np.zeros(len(order), bool)  # in the order of the hashes
        for some in parts_of(len(numbers)):
            is_present[order[numbers[some]]] = True
        dealt = ((np.cumsum(is_present, dtype=np.int32) - 1) % count).astype(np.int8)
        fold: NDArray[np.int8] = dealt[order][numbers]
        return fold


def names_of(hashes: NDArray[np.uint64]) -> tuple[str, ...]:
    """The hex digits of those that are not 0."""
    return tuple(f"{number:016x}" for number in hashes.tolist() if number)


def turned(pair: SentencePair) -> BothOrders:
    """A labelled pair as an item in both orders."""
    return BothOrders(
        ItemId(pair.id).in_both_orders,
        pair.first,
        pair.second,
        int(pair.label or 0),
        pair.cluster,
        pair.split,
        pair.shares,
    )


def in_memory(items: Sequence[T]) -> tuple[T, ...]:
    """Those of some items that are Python objects: all of them, or the tail of `ColumnPairs`."""
    return cast("tuple[T, ...]", items.tail) if isinstance(items, ColumnPairs) else tuple(items)

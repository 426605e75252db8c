"""The clusters of held pairs, and the rows of those that a sample draws.

Names of clusters, and the sample, are those that `clusters_of` and `sample_clusters` give for the same rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import rank
from encheck.datasets.held import Held
from encheck.datasets.links import Links
from encheck.datasets.reader import Row
from encheck.types import content_hash

LAST = b"\xff" * 33  # after every rank


def drawn(held: Held, links: Links, *, count: int | None, seed: int) -> Iterator[tuple[Row, str]]:
    """The rows of `count` clusters (None: of all) with the names of these, in the order of the file."""
    if count is None:
        yield from named_rows(held, links)
        return
    chosen, may_be_kept, names = _chosen(held, links, count, seed)
    kept = _rows(held, links, names, may_be_kept)
    yield from (one for one in kept if one[1] in chosen.names)


def named_rows(held: Held, links: Links) -> Iterator[tuple[Row, str]]:
    """Each row with the name of its cluster."""
    least = _Least()
    for start, batch in held.batches():
        least.see(links.component[start : start + batch.num_rows], *_texts(batch))
    return _rows(held, links, {number: content_hash(text) for number, text in least.texts.items()})


def _rows(
    held: Held, links: Links, names: Mapping[int, str], wanted: NDArray[np.bool_] | None = None
) -> Iterator[tuple[Row, str]]:
    """The rows (with `wanted` [rows], only those) with the names of their clusters; `names` are those of components."""
    for start, batch in held.batches():
        numbers, some = links.component[start : start + batch.num_rows], batch
        if wanted is not None:
            rows = np.flatnonzero(wanted[start : start + batch.num_rows])
            numbers, some = numbers[rows], batch.take(rows)
        columns = [column.to_pylist() for column in some.columns]
        for number, first, second, label, given, score in zip(numbers.tolist(), *columns, strict=True):
            own = None if given is None else _decoded(given)
            name = own or (names[number] if number >= 0 else content_hash(min(first, second)))
            yield Row(first, second, label, "", own, score), name


def number_of_clusters(held: Held, links: Links) -> int:
    """How many clusters the rows have."""
    if any(batch.column("cluster").null_count < batch.num_rows for _, batch in held.batches()):
        return len({name for _, name in named_rows(held, links)})
    linked = links.component[links.component >= 0]
    return held.rows - len(linked) + len(np.unique(linked))


class _Chosen:
    """The `count` clusters of least rank among those that were offered; `left_out` says whether there were more."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed, self.left_out = count, seed, False
        self.names: set[str] = set()
        self._ranked: list[tuple[int, str]] = []  # a heap, the highest rank first
        self._highest = LAST

    def offer(self, name: str) -> bool:
        """Whether this cluster is among the chosen so far."""
        if name in self.names:
            return True
        place = rank(name, self.seed)
        if place > self._highest:
            self.left_out = True
            return False
        heapq.heappush(self._ranked, (-int.from_bytes(place), name))
        self.names.add(name)
        if len(self._ranked) > self.count:
            self.names.remove(heapq.heappop(self._ranked)[1])
            self.left_out = True
        if len(self._ranked) == self.count:
            self._highest = (-self._ranked[0][0]).to_bytes(len(place))
        return name in self.names


class _Least:
    """The first text in alphabetical order of each component, whose name it is hashed for."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def see(self, numbers: NDArray[np.int32], first: Sequence[str], second: Sequence[str]) -> None:
        """Take in rows of these components (-1: of none)."""
        for at in np.flatnonzero(numbers >= 0).tolist():
            number, text = int(numbers[at]), min(first[at], second[at])
            known = self.texts.get(number)
            if known is None or text < known:
                self.texts[number] = text


def _chosen(held: Held, links: Links, count: int, seed: int) -> tuple[_Chosen, NDArray[np.bool_], dict[int, str]]:
    """The chosen clusters; the rows that may be of one: all that are, and some that are not; names of components."""
    chosen, least = _Chosen(count, seed), _Least()
    may_be_kept = np.zeros(held.rows, np.bool_)
    is_open = np.zeros(links.component.max(initial=-1) + 1, np.bool_)
    for start, batch in held.batches():
        first, second = _texts(batch)
        numbers = links.component[start : start + batch.num_rows]
        least.see(numbers, first, second)
        for at, (given, number) in enumerate(zip(_given(batch), numbers.tolist(), strict=True)):
            if given:
                may_be_kept[start + at] = chosen.offer(given)
            elif number >= 0:
                is_open[number] = True
            else:
                may_be_kept[start + at] = chosen.offer(content_hash(min(first[at], second[at])))
    opened = np.flatnonzero(is_open).tolist()
    names = {number: content_hash(least.texts[number]) for number in opened}
    taken = [number for number, name in names.items() if chosen.offer(name)]
    if taken:
        may_be_kept |= np.isin(links.component, taken)
    return chosen, may_be_kept, names


def _texts(batch: Any) -> tuple[list[str], list[str]]:
    return batch.column(0).to_pylist(), batch.column(1).to_pylist()


def _given(batch: Any) -> Iterable[str | None]:
    """The clusters that the data name."""
    column = batch.column("cluster")
    if column.null_count == len(column):
        return [None] * len(column)
    return (None if name is None else _decoded(name) for name in column.to_pylist())


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")

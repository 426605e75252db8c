"""Which of very many pairs share a sentence, or repeat one another, found with eight bytes a text in memory.

Nearly all texts are told apart by the sum of a random number a letter, which no order of words changes. Only texts with
a sum that another one has too are compared by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.clusters import bag_of
from encheck.datasets.held import Held, spans, text_array
from encheck.statistics.clusters import component_numbers

ASCII = 128
BLANK = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"  # what str.split takes for white space
ODD = np.uint64(0x9E3779B97F4A7C15)
Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class Links:
    """What held rows have in common.

    `component` [rows] numbers those that share sentences; -1 for a row that shares none. `again` counts the rows that
    repeat an earlier pair word for word; `may_repeat` [rows] is true of each row that is or has such a repeat.
    """

    component: NDArray[np.int32]
    may_repeat: NDArray[np.bool_]
    again: int


class Linker:
    """Finds the links of rows whose texts it is shown while they are read."""

    def __init__(self) -> None:
        self._sums: list[Numbers] = []

    def append(self, batch: Any) -> None:
        """See a batch that is appended to the held rows."""
        if batch.num_rows:
            self._sums.append(np.stack([letter_sums(batch.column(side)) for side in (0, 1)]))

    def links(self, held: Held) -> Links:
        """The links of all rows, which are read again only if some texts may be shared."""
        sums = np.concatenate([np.empty((2, 0), np.uint64), *self._sums], axis=1)
        self._sums.clear()
        may_repeat = _repeated(sums[0] * ODD + sums[1])
        shared = _repeated(sums.reshape(-1)).reshape(sums.shape)
        again = 0
        if shared.any():
            again = _compare(held, sums, shared, may_repeat)
            shared = _repeated(sums.reshape(-1)).reshape(sums.shape)
        linked = np.flatnonzero(shared.any(axis=0))
        component = np.full(held.rows, -1, np.int32)
        if len(linked):
            ends = sums[:, linked].view(np.int64)
            component[linked] = component_numbers(ends[0], ends[1])
        return Links(component, may_repeat, again)


def letter_sums(texts: Any) -> Numbers:
    """A number for the letters of each text, the same in any order and case; texts are a pyarrow array, none blank."""
    data, ends = spans(texts)
    sums = _sums(data, ends)
    if len(data) and data.max() >= ASCII:
        strange = np.flatnonzero(np.maximum.reduceat(data, ends[:-1]) >= ASCII)
        folded = ["".join(text.as_py().lower().split()) for text in texts.take(strange)]
        sums[strange] = _sums(*spans(text_array(folded)))
    return sums


def _sums(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Numbers:
    found: Numbers = np.add.reduceat(_WEIGHTS[data], ends[:-1])
    return found


def _weights() -> Numbers:
    """A random number for each byte: none for white space, one for both cases of a letter."""
    made = np.random.default_rng(28).integers(2**64, size=256, dtype=np.uint64)
    made[[*BLANK]] = 0
    made[ord("A") : ord("Z") + 1] = made[ord("a") : ord("z") + 1]
    return made


_WEIGHTS = _weights()


def _repeated(values: Numbers) -> NDArray[np.bool_]:
    """Whether each value occurs more than once."""
    ordered = np.sort(values)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(twice):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(twice, values), len(twice) - 1)
    found: NDArray[np.bool_] = twice[places] == values
    return found


def _compare(held: Held, sums: Numbers, shared: NDArray[np.bool_], may_repeat: NDArray[np.bool_]) -> int:
    """Put the number of its words for the sum of each text that may be shared; return how many rows are repeats."""
    pairs: list[NDArray[np.int64]] = []
    for start, batch in held.batches():
        here = slice(start, start + batch.num_rows)
        for side in (0, 1):
            rows = np.flatnonzero(shared[side, here])
            bags = _numbers(bag_of, batch.column(side).take(rows).to_pylist())
            sums[side, start + rows] = bags.view(np.uint64)
        some = batch.take(np.flatnonzero(may_repeat[here]))
        pairs.append(_numbers(hash, zip(some.column(0).to_pylist(), some.column(1).to_pylist(), strict=True)))
    every = np.concatenate(pairs)
    may_repeat[may_repeat] = _repeated(every.view(np.uint64))
    return len(every) - len(np.unique(every))


def _numbers(number: Callable[[Any], int], values: Sequence[Any] | zip[Any]) -> NDArray[np.int64]:
    return np.fromiter(map(number, values), np.int64)

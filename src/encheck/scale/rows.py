"""The rows of a shard, checked by the rules of `pairs:`, and some rows of many shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.pairs import PAIR_COLUMNS, pair_row
from encheck.datasets.reader import BadRows, PairRow
from encheck.scale.shards import Shard
from encheck.scale.sources import batches_of

Positions = NDArray[np.int64]


def rows_of(shard: Shard, bad: BadRows) -> Iterator[tuple[int, PairRow]]:
    """(place in the shard, row) of the valid rows; `bad` takes the others, by shard and row number from 1.

    Raises:
        DataError: the shard cannot be read, or a row is malformed and `bad` does not skip it.
    """
    at = 0
    for batch in batches_of(shard):
        yield from _checked(shard, at, batch, bad)
        at += batch.num_rows


def some_rows(shard: Shard, places: Positions) -> list[PairRow]:
    """The valid rows at these places in the shard, in the order asked for."""
    wanted, back = np.unique(places, return_inverse=True)
    found: list[PairRow] = []
    at = 0
    for batch in batches_of(shard):
        here = wanted[(wanted >= at) & (wanted < at + batch.num_rows)] - at
        if len(here):
            found += [row for _, row in _checked(shard, at, batch.take(here), BadRows())]
        at += batch.num_rows
    return [found[i] for i in back.tolist()]


def _checked(shard: Shard, start: int, batch: Any, bad: BadRows) -> Iterator[tuple[int, PairRow]]:
    """The valid rows of a record batch whose columns are called by their roles."""
    chosen, columns = _chosen(batch.schema.names), [_plain(batch, role) for role in PAIR_COLUMNS]
    for at, values in enumerate(zip(*columns, strict=True), start):
        try:
            yield at, pair_row(dict(zip(PAIR_COLUMNS, values, strict=True)), chosen)
        except ValueError as error:
            bad(shard.url, shard.start + at + 1, str(error))


def _chosen(names: Sequence[str]) -> Mapping[str, str | None]:
    return {role: role if role in names else None for role in PAIR_COLUMNS}


def _plain(batch: Any, role: str) -> Sequence[Any]:
    found: Sequence[Any] = batch.column(role).to_pylist() if role in batch.schema.names else [None] * batch.num_rows
    return found

"""Shards of labelled pairs in Parquet files, planned from their footers, and the checked rows of a shard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.pairs import PAIR_COLUMNS, find_pair_columns, make_pair_row
from encheck.datasets.reader import BadRows, PairRow
from encheck.errors import DataError
from encheck.scale import storage
from encheck.scale.shards import ROWS, Shard
from encheck.system.documents import FREE_BYTES, MOST_TIMES, open_parquet

ENDING = ".parquet"
FOOTERS_AT_ONCE = 16
ROWS_AT_ONCE = 10_000
TEXTS = ("first", "second")
EXPECTED = "expected a Parquet file, or a folder of them, with columns first, second, label or score (and cluster)"


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """The shards of some data, the names of their columns, and a hash that changes when the data do.

    `columns` maps each role in the data to its column. `skipped` has a message for each file left out.
    """

    shards: tuple[Shard, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    skipped: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """The number of rows in all shards."""
        return sum(shard.rows for shard in self.shards)


@dataclass(frozen=True, slots=True)
class _FileFooter:
    """The content of a file's footer: the column of each role, the rows and bytes of each row group, a hash."""

    columns: Mapping[str, str]
    groups: Sequence[tuple[int, int]]
    digest: str


def plan_shards(place: str | Path, bad: BadRows | None = None, *, rows: int = ROWS) -> ShardPlan:
    """The shards of the Parquet file, folder or URL at `place`, of at most `rows` rows if row groups allow it.

    Reads only footers. With `bad.skip`, a file that cannot be read or has different columns is left out and noted.

    Raises:
        DataError: no file is there, or a file cannot be read or has different columns. The message names the file.
    """
    bad = bad or BadRows()
    found = storage.list_files(str(place), ending=ENDING)
    if not found:
        raise DataError(f"{place}: holds no {ENDING} file; {EXPECTED}")
    kept: list[tuple[storage.StoredFile, _FileFooter]] = []
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as threads:
        footers = list(threads.map(_footer_or_error, found))
    for file, footer in zip(found, footers, strict=True):
        wrong = str(footer) if isinstance(footer, DataError) else _difference(kept, file, footer)
        if not wrong and isinstance(footer, _FileFooter):
            kept.append((file, footer))
        elif not bad.skip:
            raise DataError(f"{wrong}. Remove or replace this file, or pass --skip-bad-rows to leave it out")
        else:
            bad.skipped.append(wrong)
    if not kept:
        raise DataError(f"none of the files can be used{_left_out(bad)}")
    shards = [shard for file, footer in kept for shard in _shards(file.url, footer.groups, rows)]
    numbered = tuple(replace(shard, number=number) for number, shard in enumerate(shards))
    if not numbered:
        raise DataError(f"{place}: has no rows; {EXPECTED}{_left_out(bad)}")
    marks = [(file.name, file.size, file.version, footer.digest) for file, footer in kept]
    fingerprint = hashlib.sha256(json.dumps([marks, rows]).encode()).hexdigest()[:16]
    return ShardPlan(numbered, kept[0][1].columns, fingerprint, tuple(bad.skipped))


def _left_out(bad: BadRows) -> str:
    return f". {len(bad.skipped)} files were left out, the first because: {bad.skipped[0]}" if bad.skipped else ""


def _footer_or_error(file: storage.StoredFile) -> _FileFooter | DataError:
    try:
        with _parquet(file.url) as parquet:
            found = parquet.metadata
            groups = [found.row_group(i) for i in range(found.num_row_groups)]
            digest = hashlib.sha256(json.dumps([group.to_dict() for group in groups], default=str).encode()).hexdigest()
            sizes = [(g.num_rows, sum(g.column(i).total_compressed_size for i in range(g.num_columns))) for g in groups]
            return _FileFooter(_columns(file.url, parquet.schema_arrow), sizes, digest)
    except DataError as error:
        return error


def _columns(url: str, schema: Any) -> dict[str, str]:
    """The column of each role; DataError if one is missing, or the texts are not strings."""
    chosen = {role: name for role, name in find_pair_columns(url, list(schema.names)).items() if name}
    for role in TEXTS:
        kind = schema.field(chosen[role]).type
        import pyarrow.types as types

        of = kind.value_type if types.is_dictionary(kind) else kind
        if not any(
            holds(of) for holds in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
        ):
            raise DataError(f"{url}: the column {chosen[role]!r} has the type {kind}, but should hold strings")
    return chosen


def _difference(
    kept: Sequence[tuple[storage.StoredFile, _FileFooter]], file: storage.StoredFile, footer: _FileFooter
) -> str:
    if not kept or footer.columns.keys() == kept[0][1].columns.keys():
        return ""
    first, other = (", ".join(names) for names in (kept[0][1].columns.values(), footer.columns.values()))
    return f"{file.url}: has the columns {other}, but {kept[0][0].url} has {first}"


def _shards(url: str, groups: Sequence[tuple[int, int]], most: int) -> Iterator[Shard]:
    """Row groups of one file combined up to `most` rows; all with number 0."""
    first = start = rows = size = 0
    for at, (more, bytes_) in enumerate(groups):
        if rows and rows + more > most:
            yield Shard(0, url, first, at, start, rows, size)
            first, start, rows, size = at, start + rows, 0, 0
        rows, size = rows + more, size + bytes_
    if rows:
        yield Shard(0, url, first, len(groups), start, rows, size)


def table_of(shard: Shard) -> Any:
    """The shard as a pyarrow table, its columns named by their roles: first, second, label, score, cluster.

    Raises:
        DataError: the shard cannot be read, or does not match the plan. The message names it.
    """
    import pyarrow

    return pyarrow.Table.from_batches(list(batches_of(shard)))


def batches_of(shard: Shard, *, rows: int = ROWS_AT_ONCE) -> Iterator[Any]:
    """The shard as pyarrow record batches of at most `rows` rows, so that a large row group is never completely in
    memory.

    Raises:
        DataError: as for `table_of`.
    """
    unpacked = read = 0
    with _parquet(shard.url, said=str(shard)) as parquet:
        columns = _columns(str(shard), parquet.schema_arrow)
        if shard.last > parquet.metadata.num_row_groups:
            raise DataError(f"{shard}: no longer exists: the file was changed during the run. Start the run again")
        chosen = parquet.iter_batches(rows, row_groups=range(shard.first, shard.last), columns=[*columns.values()])
        for batch in chosen:
            unpacked, read = unpacked + batch.nbytes, read + batch.num_rows
            if unpacked > max(FREE_BYTES, MOST_TIMES * shard.size):
                raise DataError(f"{shard}: has {shard.size:,} bytes and unpacks to more than {MOST_TIMES} times that")
            yield batch.select([*columns.values()]).rename_columns([*columns])
    if read != shard.rows:
        raise DataError(f"{shard}: has {read:,} rows, but had {shard.rows:,} when the run began. Start the run again")


@contextmanager
def _parquet(url: str, *, said: str = "") -> Iterator[Any]:
    """The opened file; its errors become DataErrors that name it."""
    import pyarrow

    with storage.storage_errors(said or url), storage.open_reading(url) as source:
        try:
            with open_parquet(source) as parquet:
                yield parquet
        except (ValueError, pyarrow.ArrowException) as error:
            problem = str(error)
            if isinstance(error, pyarrow.ArrowException):
                problem = (problem.splitlines() or [type(error).__name__])[0]
            if not problem.startswith("has "):
                problem = f"is not a Parquet file, or is truncated; write it again ({problem})"
            raise DataError(f"{said or url}: {problem}") from error


Positions = NDArray[np.int64]


def shard_rows(shard: Shard, bad: BadRows) -> Iterator[tuple[int, PairRow]]:
    """(index in the shard, row) of the valid rows; `bad` takes the others, by shard and row number from 1.

    Raises:
        DataError: the shard cannot be read, or a row is malformed and `bad` does not skip it.
    """
    at = 0
    for batch in batches_of(shard):
        yield from _checked_rows(shard, at, batch, bad)
        at += batch.num_rows


def shard_rows_at(shard: Shard, places: Positions) -> list[PairRow]:
    """The valid rows at these indices in the shard, in the given order."""
    wanted, back = np.unique(places, return_inverse=True)
    found: list[PairRow] = []
    at = 0
    for batch in batches_of(shard):
        here = wanted[(wanted >= at) & (wanted < at + batch.num_rows)] - at
        if len(here):
            found += [row for _, row in _checked_rows(shard, at, batch.take(here), BadRows())]
        at += batch.num_rows
    return [found[i] for i in back.tolist()]


def _checked_rows(shard: Shard, start: int, batch: Any, bad: BadRows) -> Iterator[tuple[int, PairRow]]:
    """The valid rows of a record batch whose columns are named by their roles."""
    chosen = {role: role if role in batch.schema.names else None for role in PAIR_COLUMNS}
    columns = [batch.column(role).to_pylist() if chosen[role] else [None] * batch.num_rows for role in PAIR_COLUMNS]
    for at, values in enumerate(zip(*columns, strict=True), start):
        try:
            yield at, make_pair_row(dict(zip(PAIR_COLUMNS, values, strict=True)), chosen)
        except ValueError as error:
            bad(shard.url, shard.start + at + 1, str(error))

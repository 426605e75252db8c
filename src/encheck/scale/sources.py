"""Shards of labelled pairs in Parquet files, planned from their footers, and the reader of one shard."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from encheck.datasets.pair_columns import columns_of
from encheck.datasets.reader import BadRows
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
class Plan:
    """The shards of some data, what their columns are called, and a hash that changes when the data do.

    `columns` gives the column of each role that the data have. `skipped` has a message for each file left out.
    """

    shards: tuple[Shard, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    skipped: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Of all shards."""
        return sum(shard.rows for shard in self.shards)


@dataclass(frozen=True, slots=True)
class _Footer:
    """What the footer of a file says: the column of each role, the rows and bytes of each row group, a hash."""

    columns: Mapping[str, str]
    groups: Sequence[tuple[int, int]]
    digest: str


def plan(place: str | Path, bad: BadRows | None = None, *, rows: int = ROWS) -> Plan:
    """The shards of the Parquet file, folder or URL at `place`, of at most `rows` rows where row groups allow it.

    Reads footers only. With `bad.skip`, a file that cannot be read or has other columns is left out and noted.

    Raises:
        DataError: nothing is there, or a file cannot be read or has other columns. The message names the file.
    """
    bad = bad or BadRows()
    found = storage.listed(str(place), ending=ENDING)
    if not found:
        raise DataError(f"{place}: holds no {ENDING} file; {EXPECTED}")
    read = _alike(_footers(found), bad)
    shards = [shard for file, footer in read for shard in _shards(file.url, footer.groups, rows)]
    numbered = tuple(_numbered(shards))
    if not numbered:
        raise DataError(f"{place}: has no rows; {EXPECTED}{_left_out(bad)}")
    marks = [(file.name, file.size, file.version, footer.digest) for file, footer in read]
    fingerprint = hashlib.sha256(json.dumps([marks, rows]).encode()).hexdigest()[:16]
    return Plan(numbered, read[0][1].columns, fingerprint, tuple(bad.skipped))


def _left_out(bad: BadRows) -> str:
    return f". {len(bad.skipped)} files were left out, the first because: {bad.skipped[0]}" if bad.skipped else ""


def _footers(found: Sequence[storage.Found]) -> Iterator[tuple[storage.Found, _Footer | DataError]]:
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as threads:
        yield from zip(found, threads.map(_footer_or_error, found), strict=True)


def _footer_or_error(file: storage.Found) -> _Footer | DataError:
    try:
        return _footer(file)
    except DataError as error:
        return error


def _footer(file: storage.Found) -> _Footer:
    with _parquet(file.url) as parquet:
        found = parquet.metadata
        groups = [found.row_group(i) for i in range(found.num_row_groups)]
        digest = hashlib.sha256(json.dumps([group.to_dict() for group in groups], default=str).encode()).hexdigest()
        sizes = [(g.num_rows, sum(g.column(i).total_compressed_size for i in range(g.num_columns))) for g in groups]
        return _Footer(_columns(file.url, parquet.schema_arrow), sizes, digest)


def _columns(url: str, schema: Any) -> dict[str, str]:
    """The column of each role; DataError if one is missing, or the texts are no strings."""
    chosen = {role: name for role, name in columns_of(url, list(schema.names)).items() if name}
    for role in TEXTS:
        kind = schema.field(chosen[role]).type
        if not _is_text(kind):
            raise DataError(f"{url}: the column {chosen[role]!r} has the type {kind}, but should hold strings")
    return chosen


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    of = kind.value_type if types.is_dictionary(kind) else kind
    return any(holds(of) for holds in (types.is_string, types.is_large_string, types.is_string_view, types.is_null))


def _alike(
    footers: Iterator[tuple[storage.Found, _Footer | DataError]], bad: BadRows
) -> list[tuple[storage.Found, _Footer]]:
    """The files with the roles of the first that can be read; others are an error, or are skipped and noted."""
    kept: list[tuple[storage.Found, _Footer]] = []
    for file, footer in footers:
        wrong = str(footer) if isinstance(footer, DataError) else _difference(kept, file, footer)
        if not wrong and isinstance(footer, _Footer):
            kept.append((file, footer))
        elif not bad.skip:
            raise DataError(f"{wrong}. Remove or replace this file, or pass --skip-bad-rows to leave it out")
        else:
            bad.skipped.append(wrong)
    if not kept:
        raise DataError(f"none of the files can be used{_left_out(bad)}")
    return kept


def _difference(kept: Sequence[tuple[storage.Found, _Footer]], file: storage.Found, footer: _Footer) -> str:
    if not kept or footer.columns.keys() == kept[0][1].columns.keys():
        return ""
    first, other = (", ".join(names) for names in (kept[0][1].columns.values(), footer.columns.values()))
    return f"{file.url}: has the columns {other}, but {kept[0][0].url} has {first}"


def _shards(url: str, groups: Sequence[tuple[int, int]], most: int) -> Iterator[Shard]:
    """Row groups of one file put together up to `most` rows; all with number 0."""
    first = start = rows = size = 0
    for at, (more, bytes_) in enumerate(groups):
        if rows and rows + more > most:
            yield Shard(0, url, first, at, start, rows, size)
            first, start, rows, size = at, start + rows, 0, 0
        rows, size = rows + more, size + bytes_
    if rows:
        yield Shard(0, url, first, len(groups), start, rows, size)


def _numbered(shards: Sequence[Shard]) -> Iterator[Shard]:
    for number, s in enumerate(shards):
        yield Shard(number, s.url, s.first, s.last, s.start, s.rows, s.size)


def table_of(shard: Shard) -> Any:
    """The shard as a pyarrow table, its columns named by their roles: first, second, label, score, cluster.

    Raises:
        DataError: the shard cannot be read, or is not what was planned. The message names it.
    """
    import pyarrow

    return pyarrow.Table.from_batches(list(batches_of(shard)))


def batches_of(shard: Shard, *, rows: int = ROWS_AT_ONCE) -> Iterator[Any]:
    """The shard as pyarrow record batches of at most `rows` rows, so that a large row group is never held whole.

    Raises:
        DataError: as for `table_of`.
    """
    unpacked = read = 0
    with _parquet(shard.url, said=str(shard)) as parquet:
        columns = _columns(str(shard), parquet.schema_arrow)
        if shard.last > parquet.metadata.num_row_groups:
            raise DataError(f"{shard}: is no longer there: the file was changed during the run. Start the run again")
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
    """The opened file, whose errors are DataErrors that name it."""
    with storage.told(said or url), storage.reading(url) as source:
        try:
            with _opened(source) as parquet:
                yield parquet
        except ValueError as error:
            raise DataError(f"{said or url}: {_broken(error)}") from error


@contextmanager
def _opened(source: Path | IO[bytes]) -> Iterator[Any]:
    import pyarrow

    try:
        with open_parquet(source) as parquet:
            yield parquet
    except pyarrow.ArrowException as error:
        raise ValueError((str(error).splitlines() or [type(error).__name__])[0]) from error


def _broken(error: ValueError) -> str:
    said = str(error)
    return said if said.startswith("has ") else f"is not a Parquet file, or is truncated; write it again ({said})"

"""The units of a large run: shards of the data, the result file of each, and the engine of this machine.

A shard is some row groups of one Parquet file, or a part of a large one, small enough for memory. Work on a shard ends
in one file of a folder, which appears as a whole or not at all. So an interrupted run continues with the shards that
lack a file, and no shard counts twice.

Shards are planned from the footers of the Parquet files alone. Their rows are checked when they are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from encheck.datasets.pairs import PAIR_COLUMNS, find_pair_columns, make_pair_row
from encheck.datasets.reader import BadRows, PairRow
from encheck.errors import DataError, EncheckError
from encheck.scale import storage
from encheck.system.documents import FREE_BYTES, MOST_TIMES, open_parquet

ROWS = 50_000  # of a shard, at most, unless a part of a row group has more
MOST_PARTS = 20  # of a row group: each part reads it from its beginning


@dataclass(frozen=True, slots=True)
class Shard:
    """Row groups `first` to `last` (exclusive) of the Parquet file at `url` (a path or a URL of fsspec), or a part.

    `number` is its index among the shards of the data, `start` the number of its first row in the file, `rows` the
    number of its rows. `before` and `after` count the other rows of its row group. `size` is the bytes of its row
    groups on disk.
    """

    number: int
    url: str
    first: int
    last: int
    start: int
    rows: int
    size: int = 0
    before: int = 0
    after: int = 0

    def __str__(self) -> str:
        """Its name in messages.

        >>> str(Shard(0, "s3://logs/a.parquet", 2, 4, 100_000, 50_000))
        's3://logs/a.parquet, row groups 2 to 3'
        >>> str(Shard(0, "a.parquet", 0, 1, 50_000, 50_000, before=50_000, after=900_000))
        'a.parquet, row group 0, rows 50,001 to 100,000'
        """
        groups = f"{self.first}" if self.last == self.first + 1 else f"{self.first} to {self.last - 1}"
        part = f", rows {self.start + 1:,} to {self.start + self.rows:,}" if self.before or self.after else ""
        return f"{self.url}, row group{'s' * (self.last > self.first + 1)} {groups}{part}"


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a shard: its file, counts that are added up over shards, and the seconds of work."""

    shard: Shard
    path: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class ShardWork(Protocol):
    """A task for each shard. It is sent to other processes, so it has only settings, and no model.

    `key` identifies the settings, so files of other tasks are never used.
    """

    @property
    def key(self) -> str:
        """A hash of everything that determines the result: model, settings, version, the data's fingerprint."""
        ...

    def stored_result(self, shard: Shard) -> ShardResult | None:
        """Return the earlier result of this shard from its file, or None if the shard is not done. Loads no model."""
        ...

    def make_shard_function(self) -> Callable[[Shard], ShardResult]:
        """Load the model, once per process, and return a function that does a shard.

        The function writes the shard's file and returns the result.
        """
        ...


class ShardEngine(Protocol):
    """Does the shards of a task, in this process or in the actors of a cluster."""

    def run(self, work: ShardWork, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Do all shards, in any order, each once. Shards with an existing file are not repeated.

        Raises:
            DataError: a shard cannot be read; the message names it.
            EncoderError: the model failed.
        """
        ...

    def about(self) -> dict[str, int | str]:
        """Return the description in results.json: its kind, the number of workers, their devices."""
        ...


ABOUT = b"encheck"
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """The files of one task, one per shard, in a folder on a disk or in an object store."""

    url: str

    def path(self, shard: Shard) -> str:
        """Return the file of a shard."""
        return storage.join(self.url, f"{shard.number:06d}.parquet")

    def write(
        self,
        shard: Shard,
        columns: Mapping[str, Numbers],
        *,
        counts: Mapping[str, int],
        seconds: float,
        notes: Sequence[str] = (),
    ) -> ShardResult:
        """Write the file of a shard, as a whole or not at all. Raise DataError if the place cannot be written."""
        import pyarrow
        import pyarrow.parquet

        about = {"counts": dict(counts), "seconds": round(seconds, 3), "notes": list(notes)}
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        sink = pyarrow.BufferOutputStream()
        table = table.replace_schema_metadata({ABOUT: json.dumps(about)})
        pyarrow.parquet.write_table(table, sink, compression="zstd")
        storage.write_whole(self.path(shard), sink.getvalue().to_pybytes())
        return ShardResult(shard, self.path(shard), dict(counts), seconds, tuple(notes))

    def stored_result(self, shard: Shard) -> ShardResult | None:
        """Return the result in the footer of a shard's file, or None if the file is missing or damaged."""
        import pyarrow
        import pyarrow.parquet

        path = self.path(shard)
        if not storage.exists(path):
            return None
        try:
            with storage.storage_errors(path), storage.open_reading(path) as source:
                about = json.loads(pyarrow.parquet.read_schema(source).metadata[ABOUT])
            return ShardResult(shard, path, about["counts"], about["seconds"], tuple(about["notes"]))
        except (DataError, ValueError, TypeError, KeyError):
            return None  # it is written again

    def read_columns(self, shard: Shard, names: Sequence[str]) -> dict[str, Numbers]:
        """Return those of the named columns that a shard's file has. Raise DataError if the file cannot be read."""
        import pyarrow.parquet

        path = self.path(shard)
        with (
            storage.storage_errors(path),
            storage.open_reading(path) as source,
            pyarrow.parquet.ParquetFile(source) as file,
        ):
            there = [name for name in names if name in file.schema_arrow.names]
            table = file.read(columns=there)
        return {name: np.asarray(table.column(name)) for name in there}


class LocalEngine:
    """Does shards one after the other in this process. With `workers` above 1, does them in that many processes at
    once.
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, work: ShardWork, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Do all shards, each once; a shard with a file is not repeated."""
        left = []
        for shard in shards:
            done = work.stored_result(shard)
            if done is None:
                left.append(shard)
            else:
                yield done
        if self.workers > 1 and len(left) > 1:
            workers = min(self.workers, len(left))
            with ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker, (work,)) as pool:
                tasks = [pool.submit(_do_shard, shard) for shard in left]
                try:
                    for task in as_completed(tasks):
                        yield task.result()
                finally:
                    for task in tasks:
                        task.cancel()
        elif left:
            yield from map(work.make_shard_function(), left)

    def about(self) -> dict[str, int | str]:
        """Return the description in results.json."""
        return {"kind": "local", "workers": self.workers}


_shard_functions: list[Callable[[Shard], ShardResult]] = []  # the work that a worker process began


def _begin_worker(work: ShardWork) -> None:
    """Begin the task in a worker process. The first shard reports any error."""
    try:
        _shard_functions.append(work.make_shard_function())
    except EncheckError as failure:
        error = failure

        def fail(_shard: Shard) -> ShardResult:
            raise error

        _shard_functions.append(fail)


def _do_shard(shard: Shard) -> ShardResult:
    return _shard_functions[-1](shard)


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
    """The data in a file's footer: the column of each role, the rows and bytes of each row group, and a hash."""

    columns: Mapping[str, str]
    groups: Sequence[tuple[int, int]]
    digest: str


def plan_shards(place: str | Path, bad: BadRows | None = None, *, rows: int = ROWS) -> ShardPlan:
    """Return the shards of the Parquet file, folder or URL at `place`, of at most `rows` rows.

    A larger row group is divided into at most MOST_PARTS parts, which may then have more. Reads only footers. With
    `bad.skip`, a file that cannot be read or has different columns is left out and noted.

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
        wrong = ""
        if isinstance(footer, DataError):
            wrong = str(footer)
        elif not kept or footer.columns.keys() == kept[0][1].columns.keys():
            kept.append((file, footer))
            continue
        else:
            first, other = (", ".join(names) for names in (kept[0][1].columns.values(), footer.columns.values()))
            wrong = f"{file.url}: has the columns {other}, but {kept[0][0].url} has {first}"
        if not bad.skip:
            raise DataError(f"{wrong}. Remove or replace this file, or pass --skip-bad-rows to leave it out")
        bad.skipped.append(wrong)
    if not kept:
        raise DataError(f"none of the files can be used{_left_out_text(bad)}")
    shards = [shard for file, footer in kept for shard in _combine_row_groups(file.url, footer.groups, rows)]
    numbered = tuple(replace(shard, number=number) for number, shard in enumerate(shards))
    if not numbered:
        raise DataError(f"{place}: has no rows; {EXPECTED}{_left_out_text(bad)}")
    marks = [(file.name, file.size, file.version, footer.digest) for file, footer in kept]
    ends = [(shard.start, shard.rows) for shard in numbered]
    fingerprint = hashlib.sha256(json.dumps([marks, ends]).encode()).hexdigest()[:16]
    return ShardPlan(numbered, kept[0][1].columns, fingerprint, tuple(bad.skipped))


def _left_out_text(bad: BadRows) -> str:
    return f". {len(bad.skipped)} files were left out, the first because: {bad.skipped[0]}" if bad.skipped else ""


def _footer_or_error(file: storage.StoredFile) -> _FileFooter | DataError:
    try:
        with _open_parquet(file.url) as parquet:
            found = parquet.metadata
            groups = [found.row_group(i) for i in range(found.num_row_groups)]
            digest = hashlib.sha256(json.dumps([group.to_dict() for group in groups], default=str).encode()).hexdigest()
            sizes = [(g.num_rows, sum(g.column(i).total_compressed_size for i in range(g.num_columns))) for g in groups]
            return _FileFooter(_column_of_each_role(file.url, parquet.schema_arrow), sizes, digest)
    except DataError as error:
        return error


def _column_of_each_role(url: str, schema: Any) -> dict[str, str]:
    """Return the column of each role. Raise DataError if one is missing, or the texts are not strings."""
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


def _combine_row_groups(url: str, groups: Sequence[tuple[int, int]], max_rows: int) -> Iterator[Shard]:
    """Yield row groups of one file, combined up to `max_rows` rows or divided, all with number 0."""
    first = start = rows = size = 0
    for at, (more, bytes_) in enumerate(groups):
        if rows and rows + more > max_rows:
            yield Shard(0, url, first, at, start, rows, size)
            first, start, rows, size = at, start + rows, 0, 0
        if more > max_rows:
            part = max(max_rows, ceil(more / MOST_PARTS))
            for before in range(0, more, part):
                some = min(part, more - before)
                yield Shard(0, url, at, at + 1, start + before, some, bytes_, before, more - before - some)
            first, start = at + 1, start + more
            continue
        rows, size = rows + more, size + bytes_
    if rows:
        yield Shard(0, url, first, len(groups), start, rows, size)


def read_shard_table(shard: Shard) -> Any:
    """Return the shard as a pyarrow table, its columns named by their roles: first, second, label, score, cluster.

    Raises:
        DataError: the shard cannot be read, or does not match the plan. The message names it.
    """
    import pyarrow

    return pyarrow.Table.from_batches(list(read_shard_batches(shard)))


def read_shard_batches(shard: Shard, *, rows: int = ROWS_AT_ONCE) -> Iterator[Any]:
    """Yield the shard as pyarrow record batches of at most `rows` rows. A large row group is never completely in
    memory; a part of one is read from the beginning of the row group.

    Raises:
        DataError: as for `read_shard_table`.
    """
    unpacked = read = 0
    end = shard.before + shard.rows
    with _open_parquet(shard.url, said=str(shard)) as parquet:
        columns = _column_of_each_role(str(shard), parquet.schema_arrow)
        if shard.last > parquet.metadata.num_row_groups:
            raise DataError(f"{shard}: no longer exists: the file was changed during the run. Start the run again")
        of = range(shard.first, shard.last)
        found, known = sum(parquet.metadata.row_group(i).num_rows for i in of), end + shard.after
        if found != known:
            raise DataError(f"{shard}: has {found:,} rows, but had {known:,} when the run began. Start the run again")
        for batch in parquet.iter_batches(rows, row_groups=of, columns=[*columns.values()]):
            unpacked += batch.nbytes
            if unpacked > max(FREE_BYTES, MOST_TIMES * shard.size):
                raise DataError(f"{shard}: has {shard.size:,} bytes and unpacks to more than {MOST_TIMES} times that")
            start, read = read, read + batch.num_rows
            if read > shard.before:
                mine = batch.slice(max(0, shard.before - start), end - max(start, shard.before))
                yield mine.select([*columns.values()]).rename_columns([*columns])
            if read >= end:
                break


@contextmanager
def _open_parquet(url: str, *, said: str = "") -> Iterator[Any]:
    """Open a file for the block. Its errors become DataErrors that name it."""
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
    """Yield (index in the shard, row) for the valid rows. `bad` takes the others, by shard and row number from 1.

    Raises:
        DataError: the shard cannot be read, or a row is malformed and `bad` does not skip it.
    """
    at = 0
    for batch in read_shard_batches(shard):
        yield from _checked_rows(shard, at, batch, bad)
        at += batch.num_rows


def shard_rows_at(shard: Shard, places: Positions) -> list[PairRow]:
    """Return the valid rows at these indices in the shard, in the given order."""
    wanted, back = np.unique(places, return_inverse=True)
    found: list[PairRow] = []
    at = 0
    for batch in read_shard_batches(shard):
        here = wanted[(wanted >= at) & (wanted < at + batch.num_rows)] - at
        if len(here):
            found += [row for _, row in _checked_rows(shard, at, batch.take(here), BadRows())]
        at += batch.num_rows
    return [found[i] for i in back.tolist()]


def _checked_rows(shard: Shard, start: int, batch: Any, bad: BadRows) -> Iterator[tuple[int, PairRow]]:
    """Yield the valid rows of a record batch whose columns are named by their roles."""
    chosen = {role: role if role in batch.schema.names else None for role in PAIR_COLUMNS}
    columns = [batch.column(role).to_pylist() if chosen[role] else [None] * batch.num_rows for role in PAIR_COLUMNS]
    for at, values in enumerate(zip(*columns, strict=True), start):
        try:
            yield at, make_pair_row(dict(zip(PAIR_COLUMNS, values, strict=True)), chosen)
        except ValueError as error:
            bad(shard.url, shard.start + at + 1, str(error))

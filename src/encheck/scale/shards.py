"""The units of a large run: shards of the data, the result file of each, and the engine of this machine.

A shard is some row groups of one Parquet file, small enough for memory. Work on a shard ends in one file of a folder,
which appears as a whole or not at all. So an interrupted run continues with the shards that lack a file, and no
shard counts twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from encheck.errors import DataError, EncheckError
from encheck.scale import storage

ROWS = 50_000  # of a shard, at most, unless one row group has more


@dataclass(frozen=True, slots=True)
class Shard:
    """Row groups `first` to `last` (exclusive) of the Parquet file at `url`, a path or a URL of fsspec.

    `number` is its index among the shards of the data, `start` the number of its first row in the file, `size` its
    bytes on disk.
    """

    number: int
    url: str
    first: int
    last: int
    start: int
    rows: int
    size: int = 0

    def __str__(self) -> str:
        """Its name in messages.

        >>> str(Shard(0, "s3://logs/a.parquet", 2, 4, 100_000, 50_000))
        's3://logs/a.parquet, row groups 2 to 3'
        """
        groups = f"{self.first}" if self.last == self.first + 1 else f"{self.first} to {self.last - 1}"
        return f"{self.url}, row group{'s' * (self.last > self.first + 1)} {groups}"


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a shard: its file, counts to be added up over shards, and seconds of the work."""

    shard: Shard
    path: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class ShardWork(Protocol):
    """A task for each shard. It is sent to other processes: it holds settings, and no model.

    `key` identifies the settings, so files of other work are never used.
    """

    @property
    def key(self) -> str:
        """A hash of everything that determines the result: model, settings, version, the data's fingerprint."""
        ...

    def found(self, shard: Shard) -> ShardResult | None:
        """The earlier result of this shard, from its file; None if it is not done. Loads no model."""
        ...

    def begin(self) -> Callable[[Shard], ShardResult]:
        """Load the model, once per process, and return a function that does a shard: it writes the file and returns the
        result.
        """
        ...


class ShardEngine(Protocol):
    """Does the work, in this process or in the actors of a cluster."""

    def run(self, work: ShardWork, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Do all shards, in any order, each once; shards with an existing file are not repeated.

        Raises:
            DataError: a shard cannot be read; the message names it.
            EncoderError: the model failed.
        """
        ...

    def about(self) -> dict[str, int | str]:
        """The description in results.json: its kind, the number of workers, their devices."""
        ...


ABOUT = b"encheck"
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """The files of one work, one per shard, in a folder on a disk or in an object store."""

    url: str

    def path(self, shard: Shard) -> str:
        """The file of a shard."""
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
        """Write the file of a shard, as a whole or not at all; DataError if the place cannot be written."""
        import pyarrow
        import pyarrow.parquet

        about = {"counts": dict(counts), "seconds": round(seconds, 3), "notes": list(notes)}
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        sink = pyarrow.BufferOutputStream()
        table = table.replace_schema_metadata({ABOUT: json.dumps(about)})
        pyarrow.parquet.write_table(table, sink, compression="zstd")
        storage.write_whole(self.path(shard), sink.getvalue().to_pybytes())
        return ShardResult(shard, self.path(shard), dict(counts), seconds, tuple(notes))

    def found(self, shard: Shard) -> ShardResult | None:
        """The result in the footer of a shard's file; None if the file is missing or damaged."""
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

    def column(self, shard: Shard, name: str) -> Numbers | None:
        """A column of a shard's file, shape [rows]; None if there is no column of that name."""
        return self.columns(shard, [name]).get(name)

    def columns(self, shard: Shard, names: Sequence[str]) -> dict[str, Numbers]:
        """Those of the columns that a shard's file has; DataError if it cannot be read."""
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
    """Does shards one after the other in this process; with `workers` above 1, in that many processes at once."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, work: ShardWork, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Do all shards, each once; a shard with a file is not repeated."""
        left = []
        for shard in shards:
            done = work.found(shard)
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
            yield from map(work.begin(), left)

    def about(self) -> dict[str, int | str]:
        """The description in results.json."""
        return {"kind": "local", "workers": self.workers}


_shard_functions: list[Callable[[Shard], ShardResult]] = []  # the work that a worker process began


def _begin_worker(work: ShardWork) -> None:
    """Begin in a worker process; an error is kept for the first shard, which reports it."""
    try:
        _shard_functions.append(work.begin())
    except EncheckError as failure:
        error = failure

        def fail(_shard: Shard) -> ShardResult:
            raise error

        _shard_functions.append(fail)


def _do_shard(shard: Shard) -> ShardResult:
    return _shard_functions[-1](shard)

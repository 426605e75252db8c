"""The units of a large run: shards of the data, what is done with each, and who does it.

A shard is some row groups of one Parquet file, small enough to hold. Work on a shard ends in one file of a folder,
which appears whole or not at all; so a run that was cut off goes on with the shards that lack one, and nothing counts
twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

ROWS = 50_000  # of a shard, at most, unless one row group has more


@dataclass(frozen=True, slots=True)
class Shard:
    """Row groups `first` to `last` (exclusive) of the Parquet file at `url`, a path or a URL of fsspec.

    `number` is its place among the shards of the data, `start` the number of its first row in the file, `size` its
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
        """As messages name it.

        >>> str(Shard(0, "s3://logs/a.parquet", 2, 4, 100_000, 50_000))
        's3://logs/a.parquet, row groups 2 to 3'
        """
        groups = f"{self.first}" if self.last == self.first + 1 else f"{self.first} to {self.last - 1}"
        return f"{self.url}, row group{'s' * (self.last > self.first + 1)} {groups}"


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a shard: the file that holds it, counts that add up over shards, and seconds of the work."""

    shard: Shard
    path: str
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Work(Protocol):
    """What is done with shards. It travels to other processes: it holds settings, and no model.

    `key` names the settings: files of other work are never taken for this one's.
    """

    @property
    def key(self) -> str:
        """A hash of everything that the result depends on: model, settings, version, the data's fingerprint."""
        ...

    def found(self, shard: Shard) -> Done | None:
        """What came of this shard before, by its file; None if it is still to be done. Loads no model."""
        ...

    def begin(self) -> Callable[[Shard], Done]:
        """Load the model, once a process, and return what does a shard: it writes its file and says what it did."""
        ...


class Engine(Protocol):
    """Who does the work: this process, or the actors of a cluster."""

    def run(self, work: Work, shards: Sequence[Shard]) -> Iterator[Done]:
        """Do all shards, in any order, each once; those whose file is there already are not done again.

        Raises:
            DataError: a shard cannot be read; the message names it.
            EncoderError: the model failed.
        """
        ...

    def about(self) -> dict[str, Any]:
        """What results.json says of it: its kind, how many workers, their devices."""
        ...

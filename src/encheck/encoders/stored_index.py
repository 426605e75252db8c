"""A stored index as it lies on disk: rows of a file of vectors, read a block at a time, faults included.

`StoredVectors` looks vectors up by text and refuses a file with a fault. An audit looks for faults, and an index may be
larger than memory: here a vector that is missing, of another length or not finite is a row like others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.files import must_exist
from encheck.encoders.stored import COLUMNS, ROLES
from encheck.errors import DataError
from encheck.system.parquet import ROWS_AT_ONCE, batches_of, opened

Vectors = NDArray[np.float32]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Batch = tuple[int, Mapping[str, list[Any]]]


@dataclass(frozen=True)
class Block:
    """Consecutive rows from `start`: `vectors` [n, d], where a row of another length is NaN, and each one's length.

    A row without a vector has length 0. `others` has the vectors of another length by their place in the block.
    """

    start: int
    vectors: Vectors
    lengths: Ints
    others: Mapping[int, Vectors]


@dataclass(frozen=True)
class IndexRow:
    """One row: its id (the column `id`, else its number from 0), its text or hash, None if empty, and its role."""

    id: str
    name: str | None
    role: str


class StoredIndex:
    """The rows of a Parquet or JSON Lines file with the columns of `StoredVectors`, and perhaps `id`.

    DataError if the file cannot be read, if two rows have one id, or if a role is unknown.
    """

    def __init__(self, source: Path) -> None:
        self.source = must_exist(source, "the file of vectors", "Remedy: name one that exists: vectors:FILE")
        self._is_json = source.suffix.lower() == ".jsonl"
        missing = [name for name in ("vector",) if name not in self.columns]
        if not self.named_by:
            missing.append("text")
        if missing:
            raise self._error(f"lacks the column {missing[0]!r}")

    def _error(self, what: object) -> DataError:
        return DataError(f"{self.source} should hold {COLUMNS}, but {what}")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; of JSON Lines those of the first row."""
        try:
            if not self._is_json:
                return tuple(opened(self.source).schema_arrow.names)
            with self.source.open(encoding="utf-8-sig") as file:
                first = next((line for line in file if line.strip()), "{}")
                return tuple(json.loads(first))
        except (ValueError, OSError, TypeError) as error:
            raise self._error(error) from error

    @cached_property
    def named_by(self) -> Literal["text", "hash"] | None:
        """Whether rows have texts, or hashes of texts."""
        return next((name for name in ("text", "hash") if name in self.columns), None)

    @cached_property
    def count(self) -> int:
        """How many rows there are; DataError for an id that comes twice or a role that is none."""
        columns = [name for name in ("id", "role") if name in self.columns]
        count, ids = 0, set[str]()
        if not columns and not self._is_json:
            count = int(opened(self.source).metadata.num_rows)
        for start, batch in self._batches(columns or [self._name]) if not count else ():
            count = start + len(next(iter(batch.values())))
            if strange := sorted({str(role) for role in batch.get("role", ()) if role} - set(ROLES)):
                raise DataError(f"{self.source}: the role is {strange[0]!r}, but should be query, document or empty")
            for place, name in enumerate(batch.get("id", ())):
                if name is None:
                    raise DataError(f"{self.source}: row {start + place} has no id. Remedy: give each row its own")
                if (named := str(name)) in ids:
                    raise DataError(f"{self.source} has the id {named[:80]!r} twice. Remedy: give each row its own")
                ids.add(named)
        if not count:
            raise self._error("it has no row")
        return count

    @property
    def _name(self) -> str:
        assert self.named_by
        return self.named_by

    def rows(self, numbers: Ints) -> list[IndexRow]:
        """The rows of these numbers, which rise."""
        rows: list[IndexRow] = []
        wanted = [name for name in ("id", self._name, "role") if name in self.columns]
        for start, batch in self._batches(wanted):
            names = batch[self._name]
            first, last = np.searchsorted(numbers, [start, start + len(names)])
            for number in numbers[first:last].tolist():
                place = number - start
                row_id = str(batch["id"][place]) if "id" in batch else str(number)
                role = batch["role"][place] if "role" in batch else None
                rows.append(IndexRow(row_id, self._key(names[place]), role or ""))
        return rows

    def _key(self, name: object, *, as_hash: bool = False) -> str | None:
        """A name as it is compared, None if it is empty; hashes are in lower case."""
        if not isinstance(name, str) or not name.strip():
            return None
        if self.named_by == "hash":
            return name.lower()
        return sha256_of(name) if as_hash else name

    def numbers_shared_with(self, other: StoredIndex) -> Ints:
        """The rows whose name the other file has too, and those without a name."""
        as_hash = "hash" in (self.named_by, other.named_by)
        names = {other._key(name, as_hash=as_hash) for _, batch in other._batches([other._name])
                 for name in batch[other._name]} | {None}  # fmt: skip
        return np.array(
            [start + place for start, batch in self._batches([self._name])
             for place, name in enumerate(batch[self._name]) if self._key(name, as_hash=as_hash) in names], np.intp
        )  # fmt: skip

    def blocks(self, dimension: int) -> Iterator[Block]:
        """All vectors in the order of the file; DataError if one holds something else than numbers."""
        for start, lengths, flat in self._flat():
            ends = np.cumsum(lengths)
            fits = lengths == dimension
            vectors = np.full((len(lengths), dimension), np.nan, np.float32)
            if fits.all():
                vectors = flat.reshape(-1, dimension)
            else:
                for place in np.flatnonzero(fits):
                    vectors[place] = flat[ends[place] - dimension : ends[place]]
            others = {
                int(place): flat[ends[place] - lengths[place] : ends[place]]
                for place in np.flatnonzero(~fits & (lengths > 0))
            }
            yield Block(start, vectors, lengths, others)

    @cached_property
    def holds_integers(self) -> bool:
        """Whether the vectors are stored as integers, as int8."""
        if not self._is_json:
            import pyarrow

            kind = opened(self.source).schema_arrow.field("vector").type
            return bool(pyarrow.types.is_integer(getattr(kind, "value_type", kind)))
        _, batch = next(iter(self._batches(["vector"])))
        return all(isinstance(number, int) for vector in batch["vector"][:100] for number in vector or ())

    def _flat(self) -> Iterator[tuple[int, Ints, Vectors]]:
        """(first row, length of each vector, their numbers one after the other) of some rows at a time."""
        if self._is_json:
            for start, batch in self._batches(["vector"]):
                lengths = np.array([len(vector or ()) for vector in batch["vector"]], np.intp)
                yield start, lengths, self._numbers([number for vector in batch["vector"] for number in vector or ()])
            return
        import pyarrow
        import pyarrow.compute

        start = 0
        for batch in self._arrow_batches(["vector"]):
            vectors = batch.column(0)
            if pyarrow.types.is_fixed_size_list(vectors.type):
                vectors = vectors.cast(pyarrow.list_(vectors.type.value_type))
            if not hasattr(vectors.type, "value_type"):
                raise self._error(f"its column 'vector' is of type {vectors.type}, not a list of numbers")
            lengths = pyarrow.compute.fill_null(pyarrow.compute.list_value_length(vectors), 0)
            values = vectors.flatten().to_numpy(zero_copy_only=False)
            yield start, np.asarray(lengths.to_numpy(zero_copy_only=False), np.intp), self._numbers(values)
            start += len(vectors)

    def _numbers(self, values: Any) -> Vectors:
        try:
            with np.errstate(over="ignore"):
                return np.asarray([np.nan if v is None else v for v in values] if isinstance(values, list) else values,
                                  np.float32)  # fmt: skip
        except (ValueError, TypeError) as error:
            raise self._error(f"its vectors are not numbers ({error})") from error

    def _batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """(first row, values by column) of some rows at a time; a value that a line of JSON lacks is None."""
        start = 0
        if not self._is_json:
            for batch in self._arrow_batches(columns):
                yield start, {name: batch.column(name).to_pylist() for name in columns}
                start += batch.num_rows
            return
        for rows in self._json_rows():
            yield start, {name: [row.get(name) for row in rows] for name in columns}
            start += len(rows)

    def _arrow_batches(self, columns: Sequence[str]) -> Iterator[Any]:
        try:
            yield from batches_of(opened(self.source), size=self.source.stat().st_size, columns=columns)
        except (ValueError, OSError) as error:
            raise self._error(error) from error

    def _json_rows(self) -> Iterator[list[dict[str, Any]]]:
        rows: list[dict[str, Any]] = []
        with self.source.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    rows.append(dict(json.loads(line)))
                except (ValueError, TypeError) as error:
                    raise self._error(f"line {number} is not a JSON object") from error
                if len(rows) == ROWS_AT_ONCE:
                    yield rows
                    rows = []
        if rows:
            yield rows

    def take(self, numbers: Ints, dimension: int) -> Vectors:
        """The vectors of the rows of these numbers, which rise; shape [n, d], NaN where a vector is not of length d."""
        parts = [np.zeros((0, dimension), np.float32)]
        for block in self.blocks(dimension) if len(numbers) else ():
            first, last = np.searchsorted(numbers, [block.start, block.start + len(block.vectors)])
            parts.append(block.vectors[numbers[first:last] - block.start])
        return np.concatenate(parts)

    @cached_property
    def dimension(self) -> int:
        """The commonest length of the first vectors."""
        _, lengths, _ = next(iter(self._flat()))
        return int(np.bincount(lengths).argmax())

    def numbers_by_name(self, names: Iterable[str], *, are_hashes: bool, roles: Sequence[str]) -> dict[str, int]:
        """The row of each name that the file has in one of these roles, the first of them before the others.

        `names` are texts, or hashes of texts; the file may have either.
        """
        as_hash = are_hashes or self.named_by == "hash"
        wanted = {sha256_of(name) if as_hash and not are_hashes else name: name for name in names}
        best: dict[str, tuple[int, int]] = {}
        for start, batch in self._batches([self._name, *(["role"] if "role" in self.columns else [])]):
            for place, name in enumerate(batch[self._name]):
                if (key := self._key(name, as_hash=as_hash)) in wanted:
                    role = (batch["role"][place] if "role" in batch else "") or ""
                    if key is not None and role in roles:
                        candidate = (roles.index(role), start + place)
                        best[wanted[key]] = min(best.get(wanted[key], candidate), candidate)
        return {name: number for name, (_, number) in best.items()}


def sha256_of(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hex.

    >>> sha256_of("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""Read a stored index from disk, and look up the vectors in it by text: `--model=vectors:FILE`.

`StoredVectors` looks up vectors by text and refuses a file with a fault. `StoredIndex` is for audits, which look for
faults in an index that may be larger than memory. It reads a block at a time, and keeps rows whose vector is missing,
not finite or of a different length. Instead of a text, a row may have its `hash` (SHA-256 of the text in UTF-8, in
hex). `role` (query, document or empty) distinguishes two vectors of one text.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.files import require_file
from encheck.encoders.model_config import Device, ModelConfig
from encheck.encoders.vector_table import VectorTable, open_vector_table
from encheck.errors import DataError, EncoderError, ModelError
from encheck.similarity import ROUNDING, cosine
from encheck.system.files import expand_home
from encheck.types import Json, content_hash

Vectors = NDArray[np.float32]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
ROLES = ("", "query", "document")
COLUMNS = "the columns text (or hash) and vector, and perhaps id and role"
Key = tuple[str, str]  # role, text or hash
ENGINE = "stored-1"
REMEDY = "Remedy: write it with one row per text, all vectors of one length"
log = logging.getLogger("encheck")


@dataclass(frozen=True)
class VectorBlock:
    """Consecutive rows of an index.

    `start` is the number of the first row. `vectors` has shape [n, d], with NaN in rows whose vector has a different
    length. `lengths` has the length of each vector, 0 for a row without one. `others` maps positions in the block to
    the vectors of a different length.
    """

    start: int
    vectors: Vectors
    lengths: Ints
    others: Mapping[int, Vectors]


@dataclass(frozen=True)
class IndexRow:
    """One row of an index.

    `id` is the value in the column `id`, or else the row's number from 0. `name` is the row's text or hash, None if
    empty.
    """

    id: str
    name: str | None
    role: str


class StoredIndex:
    """The rows of a file that `open_vector_table` can read.

    `texts` is a file that has the texts of the rows by id or by row. Texts that differ only in blanks or line breaks
    are treated as equal: `loosely_matched_names` holds the names that were found that way. Raise DataError if the file
    cannot be read, if two rows share an id, or if a role is unknown.
    """

    def __init__(self, source: Path, *, texts: Path | None = None) -> None:
        self.source = require_file(source, "the file of vectors", "Remedy: name one that exists: vectors:FILE")
        self.texts = texts and require_file(texts, "the file of texts", "Remedy: name one that exists: --texts FILE")
        self.loosely_matched_names: set[str] = set()
        if "vector" not in self.table.paths:
            raise DataError(f"{source} should hold {COLUMNS}, but lacks the column 'vector'")
        if not self.named_by:
            raise DataError(
                f"{source} should hold {COLUMNS}, but lacks the column 'text'. Remedy: a file that has the texts by "
                "id: --texts FILE"
            )

    @cached_property
    def table(self) -> VectorTable:
        """The file that holds the rows."""
        return open_vector_table(self.source)

    @cached_property
    def named_by(self) -> Literal["text", "hash"] | None:
        """ "text" if rows have texts, "hash" if they have hashes of texts, or None."""
        if self.texts:
            return "text"
        return next((name for name in ("text", "hash") if name in self.table.paths), None)

    @cached_property
    def count(self) -> int:
        """The number of rows. Raise DataError for a duplicate id or an unknown role."""
        count, ids = self.table.count or 0, set[str]()
        parts = [part for part in ("id", "role") if part in self.table.paths] or ([] if count else ["vector"])
        for start, batch in self.table.values(parts) if parts else ():
            count = start + len(batch[parts[0]])
            if strange := sorted({str(role) for role in batch.get("role", ()) if role} - set(ROLES)):
                raise DataError(f"{self.source}: the role is {strange[0]!r}, but should be query, document or empty")
            for place, name in enumerate(batch.get("id", ())):
                if name is None:
                    raise DataError(f"{self.source}: row {start + place} has no id. Remedy: give each row its own")
                if (named := str(name)) in ids:
                    raise DataError(f"{self.source} has the id {named[:80]!r} twice. Remedy: give each row its own")
                ids.add(named)
        if not count:
            raise DataError(f"{self.source} should hold {COLUMNS}, but it has no row")
        return count

    def _read_rows(self, *, joins_texts: bool = True) -> Iterator[tuple[int, list[str], list[str | None], list[str]]]:
        """Yield (first row, ids, texts or hashes, roles) of some rows at a time. Empty texts are None."""
        texts_by_id = self._texts_by_id if joins_texts else None
        parts = [part for part in ("id", self.named_by or "text", "role") if part in self.table.paths] or ["vector"]
        for start, batch in self.table.values(parts):
            count = len(batch[parts[0]])
            numbers = [str(number) for number in range(start, start + count)]
            ids = list(map(str, batch["id"])) if "id" in batch else [*self.table.ids[start : start + count]] or numbers
            names = [name if isinstance(name, str) and name.strip() else None
                     for name in batch.get(self.named_by or "text", [None] * count)]  # fmt: skip
            if self.named_by == "hash":
                names = [name and name.lower() for name in names]
            if texts_by_id is not None:
                names = [texts_by_id.get(row_id, name) for row_id, name in zip(ids, names, strict=True)]
            yield start, ids, names, [role or "" for role in batch.get("role", [None] * count)]

    @cached_property
    def _texts_by_id(self) -> dict[str, str] | None:
        """The texts in the other file by the ids of the index. A file without ids has one text per row of the index.

        Raise DataError if it has no text, two for an id, or not one per row.
        """
        if not self.texts:
            return None
        table = open_vector_table(self.texts, needs_vectors=False)
        if "text" not in table.paths:
            raise DataError(f"{self.texts} lacks the column 'text'. Remedy: the columns id and text")
        found = [text for _, batch in table.values(["text"]) for text in batch["text"]]
        if "id" in table.paths:
            ids = [str(name) for _, batch in table.values(["id"]) for name in batch["id"]]
        else:
            ids = [name for _, some, _, _ in self._read_rows(joins_texts=False) for name in some]
            if len(found) != len(ids):
                raise DataError(
                    f"{self.texts} has {len(found):,} texts without ids, but {self.source} has {len(ids):,} rows. "
                    "Remedy: one text per row, or the columns id and text"
                )
        texts: dict[str, str] = {}
        for name, text in zip(ids, found, strict=True):
            if isinstance(text, str) and text.strip() and texts.setdefault(name, text) != text:
                raise DataError(f"{self.texts} has two texts for the id {name[:80]!r}. Remedy: keep one of them")
        return texts

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes about the texts in the other file. Raises DataError if that file has no text for any of these rows."""
        texts_by_id = self._texts_by_id
        if texts_by_id is None:
            return ()
        joined = blanks = others = 0
        first = ""
        own = "text" in self.table.paths
        stored = (name for _, batch in self.table.values(["text"]) for name in batch["text"]) if own else None
        for _, ids, _, _ in self._read_rows():
            for row_id in ids:
                text = next(stored, None) if stored else None
                first = first or row_id
                joined += row_id in texts_by_id
                if row_id in texts_by_id and isinstance(text, str) and text.strip() and text != texts_by_id[row_id]:
                    is_blank = normalise_blanks(text) == normalise_blanks(texts_by_id[row_id])
                    blanks, others = blanks + is_blank, others + (not is_blank)
        if not joined:
            raise DataError(
                f"{self.texts} has no text for any id of {self.source}, whose first is {first[:80]!r}; it begins with "
                f"{next(iter(texts_by_id), '')[:80]!r}. Remedy: a column id with the ids of the index"
            )
        notes = [f"{self.texts and self.texts.name} has the texts of {joined:,} rows"]
        if blanks:
            notes.append(f"{blanks:,} of these texts differ from the index's own only in blanks or line breaks")
        if others:
            notes.append(f"{others:,} of these texts differ from the index's own: those of the file were used")
        return tuple(notes)

    def rows(self, numbers: Ints) -> list[IndexRow]:
        """Return the rows with these numbers, which must be in ascending order."""
        rows: list[IndexRow] = []
        for start, ids, names, roles in self._read_rows():
            first, last = np.searchsorted(numbers, [start, start + len(names)])
            places = (numbers[first:last] - start).tolist()
            rows += [IndexRow(ids[place], names[place], roles[place]) for place in places]
        return rows

    def _comparison_key(self, name: str | None, *, as_hash: bool) -> str | None:
        """Return a text or hash in the form in which it is compared.

        A hash stays unchanged. A text is hashed if the other file has hashes. Otherwise its blanks are normalised.
        """
        if name is None or self.named_by == "hash":
            return name
        return text_sha256(name) if as_hash else normalise_blanks(name)

    def shared_row_numbers(self, other: StoredIndex) -> Ints:
        """Return the numbers of rows whose text is also in the other file, and of rows without a text."""
        as_hash = "hash" in (self.named_by, other.named_by)
        names = {
            other._comparison_key(name, as_hash=as_hash) for _, _, some, _ in other._read_rows() for name in some
        } | {None}
        return np.array(
            [start + place for start, _, some, _ in self._read_rows()
             for place, name in enumerate(some) if self._comparison_key(name, as_hash=as_hash) in names], np.intp
        )  # fmt: skip

    def blocks(self, dimension: int) -> Iterator[VectorBlock]:
        """Yield all vectors in file order. Raise DataError if a value is not a vector of numbers."""
        for start, lengths, flat in self.table.vectors():
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
            yield VectorBlock(start, vectors, lengths, others)

    @property
    def holds_integers(self) -> bool:
        """Whether the vectors are stored as integers, as int8."""
        return self.table.integers

    def vectors_of_rows(self, numbers: Ints, dimension: int) -> Vectors:
        """Return the vectors of the rows with these numbers, shape [n, d].

        The numbers must be in ascending order. A vector of a different length is NaN.
        """
        parts = [np.zeros((0, dimension), np.float32)]
        for block in self.blocks(dimension) if len(numbers) else ():
            first, last = np.searchsorted(numbers, [block.start, block.start + len(block.vectors)])
            parts.append(block.vectors[numbers[first:last] - block.start])
        return np.concatenate(parts)

    @cached_property
    def dimension(self) -> int:
        """The most frequent length of the first vectors, or 0 if there are none."""
        blocks = (lengths[lengths > 0] for _, lengths, _ in self.table.vectors())
        return next((int(np.bincount(lengths).argmax()) for lengths in blocks if len(lengths)), 0)

    def find_row_numbers(self, names: Iterable[str], *, are_hashes: bool, roles: Sequence[str]) -> dict[str, int]:
        """Return name -> row number, for each name that the file has in one of these roles.

        Earlier roles take precedence. `names` are texts or hashes of texts, and so are those in the file. An identical
        text takes precedence over one that differs in blanks or line breaks.
        """
        as_hash = are_hashes or self.named_by == "hash"
        wanted: dict[str, list[str]] = {}
        for name in names:
            key = name if are_hashes else text_sha256(name) if as_hash else normalise_blanks(name)
            wanted.setdefault(key, []).append(name)
        best: dict[str, tuple[bool, int, int]] = {}
        for start, _, some, its_roles in self._read_rows():
            for place, (own, role) in enumerate(zip(some, its_roles, strict=True)):
                for name in wanted.get(self._comparison_key(own, as_hash=as_hash) or "", ()) if role in roles else ():
                    candidate = (not as_hash and own != name, roles.index(role), start + place)
                    best[name] = min(best.get(name, candidate), candidate)
        self.loosely_matched_names |= {name for name, (is_loose, _, _) in best.items() if is_loose}
        return {name: number for name, (_, _, number) in best.items()}

    def list_roles_and_names(self) -> Iterator[tuple[int, str, str]]:
        """Yield (number, role, text or hash) of each row that has a text or hash."""
        for start, _, names, roles in self._read_rows():
            yield from ((start + at, roles[at], name) for at, name in enumerate(names) if name is not None)


def normalise_blanks(text: str) -> str:
    r"""Return the text with each run of blanks or line breaks replaced by a single blank.

    >>> normalise_blanks(" a\r\n b ")
    'a b'
    """
    return " ".join(text.split())


def text_sha256(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hex.

    >>> text_sha256("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class StoredVectors:
    """An encoder that looks up vectors and computes none.

    Without a role, it prefers a vector that has no role, and otherwise uses a query's vector. The option `texts` names
    a file that has the texts by id.
    """

    def __init__(self, source: Path, config: ModelConfig, *, device: Device, file_hash: Callable[[Path], str]) -> None:  # noqa: ARG002
        self.source = require_file(source, "the file of vectors", "Remedy: name one that exists: vectors:FILE")
        texts = config.options.get("texts")
        remedy = "Remedy: name one that exists: --model-arg texts=FILE"
        self.texts = require_file(expand_home(texts), "the file of texts", remedy) if texts else None
        self.place = str(self.source)
        self._file_hash = file_hash
        self.similarity: str = config.similarity or "cosine"
        self._warned_texts: set[str] = set()

    @cached_property
    def index(self) -> StoredIndex:
        """The rows of the file. A ModelError explains a fault."""
        try:
            return StoredIndex(self.source, texts=self.texts)
        except DataError as error:
            raise ModelError(f"{error}") from error

    def fingerprint(self) -> str:
        """Return a hash of the content of the file, of the file of texts, and of ids from a separate file."""
        hashes = [self._file_hash(path) for path in (self.source, self.texts) if path]
        return f"stored:{content_hash(ENGINE, *hashes, *self.index.table.ids)}"

    def about(self) -> dict[str, Json]:
        """Return the source of the vectors."""
        return {"vectors": self.source.name}

    @cached_property
    def _rows_and_vectors(self) -> tuple[dict[Key, int], dict[Key, int], Vectors]:
        """The rows by role and name, the same for texts with normalised blanks, and the vectors, shape [n, d]."""
        index = self.index
        try:
            should = f"{index.source} should hold {COLUMNS}, but"
            _ = index.count  # checks ids and roles
            for note in index.notes:
                log.warning("%s: %s", index.source.name, note)
            vectors = np.concatenate([block.vectors for block in index.blocks(index.dimension)])
            rows = np.array([number for number, _, _ in index.list_roles_and_names()], np.intp)
            lengths = np.concatenate([block.lengths for block in index.blocks(index.dimension)])
            if (lengths[rows] != index.dimension).any():
                raise ModelError(f"{should} its vectors are not of one length. {REMEDY}")
            if not index.dimension or not np.isfinite(vectors[rows]).all():
                raise ModelError(f"{should} its vectors are not finite numbers. {REMEDY}")
            exact: dict[Key, int] = {}
            loose: dict[Key, int] = {}
            for number, role, name in index.list_roles_and_names():
                first = exact.setdefault((role, name), number)
                if first != number and not cosine(vectors[[first]], vectors[[number]])[0] >= 1 - ROUNDING:
                    raise ModelError(f"{index.source} has two vectors of {name[:80]!r} in the role {role!r}. {REMEDY}")
                if index.named_by == "text":
                    loose.setdefault((role, normalise_blanks(name)), number)
            return exact, loose, vectors
        except DataError as error:
            raise ModelError(f"{error}") from error

    @property
    def texts_with_vector(self) -> list[str]:
        """The texts that have a vector, in the order of the rows. Empty for a file that holds hashes."""
        return (
            list(dict.fromkeys(name for _, name in self._rows_and_vectors[0])) if self.index.named_by == "text" else []
        )

    def texts_without_vector(self, texts: Sequence[str], *, role: str | None = None) -> list[str]:
        """Return the texts without a vector in this role."""
        return [text for text in texts if self._find_row(text, role)[0] is None]

    def _find_row(self, text: str, role: str | None) -> tuple[int | None, bool]:
        """Return the row of a text, or None, and whether the row's text differs in blanks or line breaks."""
        exact, loose, _ = self._rows_and_vectors
        roles = ROLES if role is None else (role, "")
        for rows, names, is_loose in (
            (exact, (text, text_sha256(text)), False),
            (loose, (normalise_blanks(text),), True),
        ):
            row = next((rows[key] for key in ((r, n) for r in roles for n in names) if key in rows), None)
            if row is not None:
                return row, is_loose
        return None, False

    def encode(self, texts: Sequence[str], *, role: str | None = None) -> Vectors:
        """Return the vectors of the texts, shape [n, d]. Raise EncoderError if one is missing."""
        rows = [self._find_row(text, role) for text in texts]
        if missing := [text for text, (row, _) in zip(texts, rows, strict=True) if row is None]:
            raise EncoderError(
                f"{self.source} has no vector for {len(missing)} of {len(texts)} texts, first for {missing[0][:80]!r}. "
                "Remedy: add them to the file, or leave these texts out of the data"
            )
        loose = {text for text, (_, is_loose) in zip(texts, rows, strict=True) if is_loose} - self._warned_texts
        if loose:
            self._warned_texts |= loose
            log.warning("%s: %s", self.source.name, describe_loose_matches(len(loose)))
        vectors: Vectors = self._rows_and_vectors[2][[row for row, _ in rows if row is not None]]
        return vectors


def describe_loose_matches(count: int) -> str:
    """Return a sentence that says how many texts were matched to texts that differ in blanks or line breaks."""
    return f"{count:,} texts were matched to texts that differ only in blanks or line breaks"

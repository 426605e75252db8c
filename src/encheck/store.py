"""The embedding store: each distinct text is encoded only once per model.

One SQLite file in WAL mode holds rows (kind, fingerprint, content hash) -> array. Processes share it. A batch is one
transaction, so a killed run keeps its finished batches. A row that does not match its checksum is encoded again. A
damaged store is renamed with a warning, and a new one is started.

A mistyped path may be any file. So the store opens only an empty file, or an SQLite database whose header has encheck's
application id. It refuses other files before SQLite opens them.

The store is fast with millions of rows. Triggers keep the number of each model's rows in the table `held`. A look-up
first finds the places of its rows, then reads the rows in file order. SQLite does not map the file into memory, since a
process with a mapped file dies when another process shortens the file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.errors import StoreError, UnusableStoreError

Floats = NDArray[np.float32]
CLOSE = 2.0**-11  # half precision rounds an ordinary number by at most this fraction
HALVED_AT_ONCE = 4_096
Kind = Literal["vector", "token", "pair", "parse", "tags", "text"]
Dtype = Literal["float32", "float16"]
Statement = tuple[str, Iterable[Sequence[Any]]]  # SQL and the rows of values to execute it with
HALF = "vector16"  # the kind of 16-bit vectors, whose keys differ from those of 32-bit vectors
VERSION = 1
APPLICATION_ID = 0x656E6368  # "ench", in the header of every store
HEADER_BYTES = 100
DEFAULT_LIMIT = 2 * 1024**3
PAGE_BYTES = 16_384  # of a new file: a row of 384 to 1,024 numbers wastes little of such a page
CACHE_KB = 32_768  # holds the pages of the index that a batch of new rows changes
ROWS_AT_ONCE = 10_000
log = logging.getLogger("encheck")
_SCHEMA = """
CREATE TABLE model (id INTEGER PRIMARY KEY, kind TEXT, fingerprint TEXT, name TEXT, dim INTEGER, used REAL,
                    UNIQUE (kind, fingerprint));
CREATE TABLE row (model INTEGER, key BLOB, data BLOB, crc INTEGER, PRIMARY KEY (model, key));
CREATE TABLE file (path BLOB PRIMARY KEY, identity TEXT, sha256 TEXT);
CREATE TABLE held (model INTEGER PRIMARY KEY, rows INTEGER, bytes INTEGER);
CREATE TRIGGER model_begins AFTER INSERT ON model BEGIN
    INSERT OR REPLACE INTO held VALUES (NEW.id, 0, 0); END;
CREATE TRIGGER model_ends AFTER DELETE ON model BEGIN
    DELETE FROM held WHERE model = OLD.id; END;
CREATE TRIGGER row_begins BEFORE INSERT ON row BEGIN
    UPDATE held SET (rows, bytes) = (
        SELECT held.rows + 1 - COUNT(*), held.bytes + LENGTH(NEW.data) - COALESCE(SUM(LENGTH(data)), 0)
        FROM row WHERE model = NEW.model AND key = NEW.key) WHERE model = NEW.model; END;
"""
# A new VERSION also changes the schema: such tables under a different number are a damaged header.
_STATEMENTS = tuple(statement.rstrip(";") for statement in _SCHEMA.strip().split(";\n"))
_TABLES = {statement for statement in _STATEMENTS if statement.startswith("CREATE TABLE")}
_PRINT = "COALESCE(CAST(fingerprint AS TEXT), '')"  # a model may have given None
_LOGS = {  # the files next to a database, and their first bytes (sqlite.org/fileformat2.html, 3 and 4; walformat.html)
    "-journal": (b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",),
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-shm": (b"\x18\xe2\x2d\x00", b"\x00\x2d\xe2\x18"),
}
BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # the latter where SQLite quotes a damaged schema


def to_half_precision(vectors: Floats) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
    """Return the vectors in half precision, shape [n, d], and a mask of the vectors that stay close, shape [n].

    A vector stays close if rounding moves it by at most `CLOSE`, 1/2,048, of its length. A vector does not stay close
    if one of its numbers is beyond 65,504, if nearly all of its numbers are below 0.00006, or if it is not finite.

    >>> to_half_precision(np.array([[0.1, 1], [0.1, 70_000]], np.float32))[1].tolist()
    [True, False]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.asarray(vectors, np.float32).astype("<f2")
        blocks = [slice(start, start + HALVED_AT_ONCE) for start in range(0, len(rounded), HALVED_AT_ONCE)]
        close = [_squared_norms(vectors[at] - rounded[at]) <= CLOSE**2 * _squared_norms(vectors[at]) for at in blocks]
    return rounded, np.concatenate(close) if close else np.zeros(0, bool)


def round_to_half_precision(vectors: Floats) -> Floats:
    """Return the vectors rounded to half precision, shape [n, d]; vectors that would not stay close are unchanged."""
    rounded, close = to_half_precision(vectors)
    halved = rounded.astype(np.float32)
    halved[~close] = vectors[~close]
    return halved


def _squared_norms(vectors: Floats) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64), np.float64)


def default_store_path() -> Path:
    """Return `$ENCHECK_STORE`, or else a file in the user's cache folder.

    Raise UnusableStoreError if the user has no cache folder.
    """
    import platformdirs

    if named := os.environ.get("ENCHECK_STORE"):
        return Path(named)
    try:
        return platformdirs.user_cache_path("encheck") / "store.sqlite"
    except RuntimeError as error:  # no HOME, and a user whom the system does not know, as in a container
        raise UnusableStoreError(f"no cache folder for the store: {error}. Name a file with --store=PATH") from error


def text_key(*texts: str) -> bytes:
    """Return the key of a text, or of a pair of texts, in the store: a content hash of 16 bytes."""
    joined = "\x00".join(f"{len(t)}:{t}" for t in texts)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True)
class StoredModel:
    """The size of one model's rows in the store, and when they were last used."""

    kind: str
    name: str
    fingerprint: str
    rows: int
    bytes: int
    used: float


class Store:
    """The embedding store at `path`, which is created if it does not exist. `limit` bounds its size in bytes.

    With the dtype float16, the store writes vectors in 16 bits. It returns all vectors rounded to 16 bits, even
    vectors stored in 32 bits, so results do not depend on earlier runs. A vector that rounding would move by more than
    1/2,048 of its length stays in 32 bits. With float32, the store neither reads nor writes 16-bit vectors. The dtype
    does not affect other kinds of rows.
    """

    def __init__(self, path: Path, *, limit: int = DEFAULT_LIMIT, dtype: Dtype = "float32") -> None:
        self.path, self.limit, self.dtype = path, limit, dtype
        self._full = False
        try:
            self._open_file()
        except BROKEN as error:
            if not self._is_damaged(error):
                raise self._unusable_error(error) from error
            self._replace_damaged_file(error)
        except OSError as error:
            raise self._unusable_error(error) from error

    def _is_damaged(self, error: Exception) -> bool:
        """Return whether the file itself is broken, and not just busy, full or read-only.

        SQLite reports some broken headers as a newer format or as read-only, so this method checks the format numbers
        in the header (sqlite.org/fileformat2.html, 1.3).
        """
        if isinstance(error, sqlite3.ProgrammingError):  # over a closed connection
            return False
        code = getattr(error, "sqlite_errorcode", None)
        if code is None or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return True  # without a code, Python's module raised it for text that is not UTF-8
        try:
            header = _read_header(self.path)
        except OSError:
            return False
        formats = int.from_bytes(header[44:48], "big")
        return bool(header) and (len(header) < HEADER_BYTES or not {*header[18:20]} <= {1, 2} or formats > 4)

    def _unusable_error(self, error: Exception) -> UnusableStoreError:
        return UnusableStoreError(
            f"cannot use the store {self.path}: {error}. Name another with --store=PATH, or use --no-store"
        )

    def _open_file(self) -> None:
        """Open the file.

        Raise StoreError if its tables have a different version, DatabaseError if its header is damaged.
        """
        _refuse_other_files(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self._inode = _inode_number(self.path)
        self._most_values = min(self._db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) - 1, ROWS_AT_ONCE)
        try:
            self._db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            self._db.execute(f"PRAGMA cache_size = {-CACHE_KB}")
            with self._transaction() as db:
                tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if tables and version != VERSION:
                    if set(tables.values()) == _TABLES:
                        raise sqlite3.DatabaseError(
                            f"its header says version {version}, its tables are of version {VERSION}"
                        )
                    raise StoreError(
                        f"{self.path} was written by another encheck (store version {version}); use --store=PATH"
                    )
                if not tables:
                    for statement in _STATEMENTS:
                        db.execute(statement)
                    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    db.execute(f"PRAGMA user_version = {VERSION}")
            self._db.execute("PRAGMA synchronous = NORMAL")
            try:  # readers and a writer work at once
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:  # another process just does it
                    raise
        except BaseException:
            self._db.close()
            raise

    def _replace_damaged_file(self, error: Exception) -> None:
        """Rename the damaged file and start a new one, unless another process has done so."""
        self._db.close()
        try:
            _refuse_other_files(self.path)  # the file may have been replaced since the run began
            if _inode_number(self.path) == self._inode:
                aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
                template = "the store %s is damaged (%s); it is set aside as %s and rebuilt"
                log.warning(template, self.path, error, aside.name)
                for suffix in ("", "-wal", "-shm"):
                    with suppress(FileNotFoundError):
                        Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
            self._open_file()
        except (OSError, sqlite3.Error) as further:
            raise self._unusable_error(further) from further

    def close(self) -> None:
        """Close the connection; the file stays."""
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def _execute_all(self, statements: Iterable[Statement]) -> None:
        """Execute all statements, each with each of its rows of values, in one transaction.

        If the disk is full, warn once and continue without saving.
        """
        if self._full:
            return
        try:
            with self._transaction() as db:
                for sql, rows in statements:
                    db.executemany(sql, rows)
        except BROKEN as error:
            if self._is_damaged(error):
                self._replace_damaged_file(error)
            elif isinstance(error, sqlite3.OperationalError):
                self._full = True
                log.warning("the store %s cannot be written (%s); this run continues without saving", self.path, error)
            else:
                raise

    def _select_rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except BROKEN as error:
            if not self._is_damaged(error):
                raise self._unusable_error(error) from error
            self._replace_damaged_file(error)
            return []

    def put(
        self, kind: Kind, fingerprint: str, keys: Sequence[bytes], arrays: NDArray[np.float32], *, name: str
    ) -> None:
        """Store one array per key, in one transaction; `arrays` has shape [len(keys), d]."""
        arrays = np.ascontiguousarray(arrays, dtype="<f4")
        rows = dict(zip(keys, (array.tobytes() for array in arrays), strict=True))
        short: dict[bytes, bytes] = {}
        if self._is_half_precision(kind):  # rows that half precision hardly moves; of a repeated key, the last one
            rounded, close = to_half_precision(arrays)
            last = {key: i for i, key in enumerate(keys)}
            short = {key: rounded[i].tobytes() for key, i in last.items() if close[i]}
        long = {key: blob for key, blob in rows.items() if key not in short}
        statements: list[Statement] = []
        if short:
            statements += _insert_statements(HALF, fingerprint, short, name=name, dim=arrays.shape[1])
        if long or not short:
            statements += _insert_statements(kind, fingerprint, long, name=name, dim=arrays.shape[1])
        self._execute_all(statements)

    def round_as_stored(self, kind: Kind, arrays: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the arrays as `get` would return them from the store; shape [n, d]."""
        return round_to_half_precision(arrays) if self._is_half_precision(kind) else arrays

    def _is_half_precision(self, kind: Kind) -> bool:
        return kind == "vector" and self.dtype == "float16"

    def store_bytes(
        self, kind: Kind, fingerprint: str, blobs: Mapping[bytes, bytes], *, name: str, dim: int = 0
    ) -> None:
        """Store one blob per key, in one transaction."""
        self._execute_all(_insert_statements(kind, fingerprint, blobs, name=name, dim=dim))

    def read_bytes_by_key(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the bytes of each of the `keys` that is in the store."""
        return {key: data for rows in self._checked_rows(kind, fingerprint, keys) for key, data in rows}

    def get(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the arrays of these keys, shape [len(keys), d], and a mask of the keys in the store, shape
        [len(keys)].
        """
        if not self._is_half_precision(kind):
            return self._arrays(kind, fingerprint, keys, "<f4")
        arrays, there = self._arrays(HALF, fingerprint, keys, "<f2")
        if there.all():
            return arrays, there
        lacking = np.flatnonzero(~there).tolist()
        long, has_long = self._arrays(kind, fingerprint, [keys[i] for i in lacking], "<f4")
        if has_long.any():
            arrays = arrays if arrays.shape[1] else np.zeros((len(keys), long.shape[1]), np.float32)
            arrays[lacking], there[lacking] = round_to_half_precision(long), has_long
        return arrays, there

    def _arrays(
        self, kind: str, fingerprint: str, keys: Sequence[bytes], dtype: str
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return what `get` returns, for rows of one dtype."""
        out, there = np.zeros((len(keys), 0), np.float32), np.zeros(len(keys), bool)
        position = {key: i for i, key in enumerate(keys)}
        for rows in self._checked_rows(kind, fingerprint, keys):
            if rows:
                some = np.stack([np.frombuffer(data, dtype=dtype) for _, data in rows])
                out = out if out.shape[1] else np.zeros((len(keys), some.shape[1]), np.float32)
                at = [position[key] for key, _ in rows]
                out[at], there[at] = some, True
        if len(position) < len(keys):
            same = [position[key] for key in keys]
            out, there = out[same], there[same]
        return out, there

    def _checked_rows(self, kind: str, fingerprint: str, keys: Sequence[bytes]) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yield (key, data) of stored keys whose checksum matches, in batches."""
        damaged, seal = 0, _checksum_of_rows(kind, fingerprint)
        ids = self._select_rows("SELECT id FROM model WHERE kind = ? AND fingerprint = ?", (kind, fingerprint))
        model = int(ids[0][0]) if ids else None
        known = set(keys) if model is not None else set()
        # Rows are in the file in the order of writing, and are read in that order.
        places = sorted(place for (place,) in self._select_by_values("rowid", "key", model, sorted(known)))
        for start in range(0, len(places), ROWS_AT_ONCE):
            read = list(self._select_by_values("key, data, crc", "rowid", model, places[start : start + ROWS_AT_ONCE]))
            mine = [(k, data, crc) for k, data, crc in read if k in known and isinstance(data, bytes)]
            sound = [(k, data) for k, data, crc in mine if seal(k, data) == crc]
            damaged += len(read) - len(sound)
            yield sound
        if damaged:
            log.warning(
                "%d rows of the store %s do not match their checksum; they are encoded again", damaged, self.path
            )

    def _select_by_values(self, columns: str, column: str, model: int | None, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the `columns` of the model's rows whose `column`, key or rowid, is among `values`."""
        of_model = "model" if column == "key" else "+model"  # the plus keeps SQLite from using the index
        for start in range(0, len(values), self._most_values):
            some = values[start : start + self._most_values]
            marks = ",".join("?" * len(some))
            sql = f"SELECT {columns} FROM row WHERE {of_model} = ? AND {column} IN ({marks})"  # noqa: S608 - marks only
            yield from self._select_rows(sql, (model, *some))

    def mark_as_used(self, kind: Kind, fingerprint: str) -> None:
        """Record that this model is used now, so that it is evicted last."""
        sql = "UPDATE model SET used = ? WHERE kind IN (?, ?) AND fingerprint = ?"
        self._execute_all([(sql, [(time.time(), kind, HALF if self._is_half_precision(kind) else kind, fingerprint)])])

    def cached_file_hash(self, path: Path, of: Callable[[Path], str] | None = None) -> str:
        """Return the SHA-256 of a file. It is computed again only if the file's size, inode or modification time has
        changed.

        `of` is a function that computes a different hash; the store keeps its results under the function's name.
        """
        path = path.resolve()
        name, stat = os.fsencode(path) + (b"\0" + of.__name__.encode() if of else b""), path.stat()
        identity = f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
        known = self._select_rows("SELECT sha256 FROM file WHERE path = ? AND identity = ?", (name, identity))
        if known:
            return str(known[0][0])
        digest = of(path) if of else file_sha256(path)
        self._execute_all([("INSERT OR REPLACE INTO file VALUES (?, ?, ?)", [(name, identity, digest)])])
        return digest

    def list_models(self) -> list[StoredModel]:
        """Return the models in the store, with the most recently used model first."""
        counts = "CAST(COALESCE(rows, 0) AS INTEGER), CAST(COALESCE(bytes, 0) AS INTEGER)"
        sql = f"""SELECT kind, name, {_PRINT}, {counts}, used FROM model LEFT JOIN held ON held.model = model.id
                  ORDER BY used DESC"""  # noqa: S608 - constants
        return [StoredModel(*row) for row in self._select_rows(sql)]

    def bytes_on_disk(self) -> int:
        """Return the size of the store on disk, in bytes."""
        return sum(Path(f"{self.path}{s}").stat().st_size for s in ("", "-wal") if Path(f"{self.path}{s}").exists())

    def delete_model(self, fingerprint: str) -> None:
        """Delete the rows of one model."""
        models = self._select_rows(f"SELECT id FROM model WHERE {_PRINT} = ?", (fingerprint,))  # noqa: S608 - a constant

        def removals() -> Iterator[Statement]:
            for (model,) in models:
                rows = self._db.execute("SELECT rowid FROM row WHERE model = ?", (model,))
                # in file order: in any other order pages are read repeatedly
                places = np.sort(np.fromiter((place for (place,) in rows), np.int64))
                for start in range(0, len(places), self._most_values):
                    some = places[start : start + self._most_values].tolist()
                    yield f"DELETE FROM row WHERE rowid IN ({','.join('?' * len(some))})", [some]  # noqa: S608 - marks only
                yield "DELETE FROM model WHERE id = ?", [(model,)]

        self._execute_all(removals())

    def delete_least_recently_used(self, *, limit: int | None = None, keep: Iterable[str] = ()) -> list[StoredModel]:
        """Delete the least recently used models until the file is within `limit` bytes; return the deleted models."""
        limit, gone, protected = self.limit if limit is None else limit, [], set(keep)
        candidates = [stored for stored in reversed(self.list_models()) if stored.fingerprint not in protected]
        while candidates:
            count, free, size = (
                self._select_rows(f"PRAGMA {n}") for n in ("page_count", "freelist_count", "page_size")
            )
            if (count[0][0] - free[0][0]) * size[0][0] <= limit:  # bytes used by rows
                break
            gone.append(candidates.pop(0))
            self.delete_model(gone[-1].fingerprint)
        if self.bytes_on_disk() > limit:
            self.compact()
        return gone

    def compact(self) -> None:
        """Return the space of deleted rows to the disk, unless other processes are reading."""
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except BROKEN as error:
            if self._is_damaged(error):
                self._replace_damaged_file(error)


def _insert_statements(
    kind: str, fingerprint: str, blobs: Mapping[bytes, bytes], *, name: str, dim: int
) -> Iterator[Statement]:
    begin = """INSERT INTO model (kind, fingerprint, name, dim, used) VALUES (?, ?, ?, ?, ?)
               ON CONFLICT (kind, fingerprint) DO UPDATE SET used = excluded.used"""
    insert = "INSERT OR REPLACE INTO row SELECT id, ?, ?, ? FROM model WHERE kind = ? AND fingerprint = ?"
    seal = _checksum_of_rows(kind, fingerprint)
    yield begin, [(kind, fingerprint, name, dim, time.time())]
    in_index_order = sorted(blobs.items())  # so that each page changes once
    yield insert, ((key, blob, seal(key, blob), kind, fingerprint) for key, blob in in_index_order)


def _checksum_of_rows(kind: str, fingerprint: str) -> Callable[[bytes, bytes], int]:
    """Return a function that computes the checksum of a row from its key and data.

    The checksum also covers the model, since an index can be damaged too.
    """
    start = zlib.crc32(f"{kind}:{fingerprint}".encode("utf-8", "surrogatepass"))
    return lambda key, data: zlib.crc32(data, zlib.crc32(key, start))


def _refuse_other_files(path: Path) -> None:
    """Raise StoreError unless nothing exists at the path, or it is an empty file or has the header of a store.

    Only a regular file is opened. SQLite would overwrite log files next to an empty file, so existing log files must be
    SQLite's own.
    """
    what = ""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            what = "a directory"
        elif not stat.S_ISREG(mode):
            what = "a device, a pipe or a socket"
        elif header := _read_header(path):
            if not header.startswith(b"SQLite format 3\0"):
                what = "another kind of file"
            elif header[68:72] != APPLICATION_ID.to_bytes(4, "big"):
                what = "an SQLite database without the application id of encheck"
    except FileNotFoundError:
        header = b""
    if not what and not header:
        real = os.path.realpath(path)
        for suffix, magic in _LOGS.items():
            beside = Path(f"{real}{suffix}")
            try:
                first = _read_header(beside) if stat.S_ISREG(beside.stat().st_mode) else b"a folder or a device"
            except FileNotFoundError:
                continue
            if first[:8].strip(b"\0") and not first.startswith(magic):  # some begin with zeros
                what = f"a name whose log, {beside}, would overwrite another file"
                break
    if what:
        raise StoreError(
            f"the store {path} is {what}, and is left as it is: a store of embeddings is a new or empty file, or one "
            "that encheck made. Remedy: name another file, with --store=PATH or ENCHECK_STORE, or use --no-store"
        )


def _read_header(path: Path) -> bytes:
    """Read as many bytes as an SQLite header has."""
    with path.open("rb") as file:
        return file.read(HEADER_BYTES)


def _inode_number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

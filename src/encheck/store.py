"""The embedding store: each distinct text is encoded only once per model.

One SQLite file in WAL mode holds rows (kind, fingerprint, content hash) -> array. Processes share it; a batch is
one transaction, so a killed run keeps the batches it finished; a row that does not match its checksum is
encoded again; a file that SQLite cannot read is set aside with a warning and a new one begun.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from encheck.errors import StoreError

Kind = Literal["vector", "token", "pair", "parse", "tags", "text"]
VERSION = 1
DEFAULT_LIMIT = 2 * 1024**3
log = logging.getLogger("encheck")

_SCHEMA = """
CREATE TABLE model (id INTEGER PRIMARY KEY, kind TEXT, fingerprint TEXT, name TEXT, dim INTEGER, used REAL,
                    UNIQUE (kind, fingerprint));
CREATE TABLE row (model INTEGER, key BLOB, data BLOB, crc INTEGER, PRIMARY KEY (model, key));
CREATE TABLE file (path BLOB PRIMARY KEY, identity TEXT, sha256 TEXT);
"""
# A new VERSION changes the schema too: tables as these under another number are a damaged header.
_STATEMENTS = tuple(statement.rstrip(";") for statement in _SCHEMA.strip().split(";\n"))
_PRINT = "COALESCE(CAST(fingerprint AS TEXT), '')"  # a model may have given None
_TABLES = {"model", "row", "file"}
BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # the latter where SQLite quotes a damaged schema


def default_path() -> Path:
    """`$ENCHECK_STORE`, or the user's cache folder."""
    import platformdirs

    return Path(os.environ.get("ENCHECK_STORE") or Path(platformdirs.user_cache_dir("encheck")) / "store.sqlite")


def text_key(*texts: str) -> bytes:
    """The content hash that stands for a text, or for a pair of texts, in the store (16 bytes)."""
    joined = "\x00".join(f"{len(t)}:{t}" for t in texts)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True)
class Stored:
    """What the store holds for one model."""

    kind: str
    name: str
    fingerprint: str
    rows: int
    bytes: int
    used: float


class Store:
    """Open or create the store at `path`; `limit` bounds its size in bytes."""

    def __init__(self, path: Path, *, limit: int = DEFAULT_LIMIT) -> None:
        self.path, self.limit = path, limit
        self._full = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        except BROKEN as error:
            if not self._is_damaged(error):
                raise self._cannot(error) from error
            self._set_aside(error)
        except OSError as error:
            raise self._cannot(error) from error

    def _is_damaged(self, error: Exception) -> bool:
        """Whether the file is broken, whatever SQLite makes of it: it takes some broken headers for a newer format."""
        return _is_damage(error) or (not isinstance(error, sqlite3.ProgrammingError) and _has_broken_header(self.path))

    def _cannot(self, error: Exception) -> StoreError:
        return StoreError(
            f"cannot use the store {self.path}: {error}. Name another with --store=PATH, or use --no-store"
        )

    def _open(self) -> None:
        self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        self._inode = _inode(self.path)
        try:
            self._begin()
        except BaseException:
            self._db.close()
            raise

    def _begin(self) -> None:
        with self._transaction() as db:
            if not self._has_begun():
                for statement in _STATEMENTS:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
        self._log_ahead()

    def _log_ahead(self) -> None:
        """Let readers and a writer work at once; for this SQLite does not wait where another process just does it."""
        self._db.execute("PRAGMA synchronous = NORMAL")
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise

    def _has_begun(self) -> bool:
        """Whether the file holds a store; StoreError if it holds anything else, DatabaseError for a damaged one."""
        tables = dict(self._db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if tables and not tables.keys() & _TABLES:
            raise StoreError(f"{self.path} is another kind of database; name another file with --store=PATH")
        if tables and version != VERSION:
            if set(tables.values()) == set(_STATEMENTS):
                raise sqlite3.DatabaseError(f"its header says version {version}, its tables are of version {VERSION}")
            raise StoreError(f"{self.path} was written by another encheck (store version {version}); use --store=PATH")
        return bool(tables)

    def _set_aside(self, error: Exception) -> None:
        """Begin a new file in the place of the damaged one, unless another process has done so."""
        self._db.close()
        try:
            if _inode(self.path) == self._inode:
                self._rename(error)
            self._open()
        except (OSError, sqlite3.Error) as further:
            raise self._cannot(further) from further

    def _rename(self, error: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        log.warning("the store %s is damaged (%s); it is set aside as %s and rebuilt", self.path, error, aside.name)
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")

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

    def _write(self, statements: Iterable[tuple[str, Sequence[Any]]]) -> None:
        """Write all of it or nothing; a full disk is said once, and the run goes on without saving."""
        if self._full:
            return
        try:
            with self._transaction() as db:
                for sql, values in statements:
                    db.execute(sql, values)
        except BROKEN as error:
            if self._is_damaged(error):
                self._set_aside(error)
            elif isinstance(error, sqlite3.OperationalError):
                self._full = True
                log.warning("the store %s cannot be written (%s); this run continues without saving", self.path, error)
            else:
                raise

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except BROKEN as error:
            if not self._is_damaged(error):
                raise self._cannot(error) from error
            self._set_aside(error)
            return []

    def _model(self, kind: Kind, fingerprint: str) -> int | None:
        rows = self._read("SELECT id FROM model WHERE kind = ? AND fingerprint = ?", (kind, fingerprint))
        return int(rows[0][0]) if rows else None

    def put(
        self, kind: Kind, fingerprint: str, keys: Sequence[bytes], arrays: NDArray[np.float32], *, name: str
    ) -> None:
        """Store one array per key, all in one transaction; shape [len(keys), d]."""
        arrays = np.ascontiguousarray(arrays, dtype="<f4")
        blobs = dict(zip(keys, (array.tobytes() for array in arrays), strict=True))
        self.put_blobs(kind, fingerprint, blobs, name=name, dim=arrays.shape[1])

    def put_blobs(self, kind: Kind, fingerprint: str, blobs: Mapping[bytes, bytes], *, name: str, dim: int = 0) -> None:
        """Store some bytes per key, all in one transaction."""
        begin = """INSERT INTO model (kind, fingerprint, name, dim, used) VALUES (?, ?, ?, ?, ?)
                   ON CONFLICT (kind, fingerprint) DO UPDATE SET used = excluded.used"""
        insert = "INSERT OR REPLACE INTO row SELECT id, ?, ?, ? FROM model WHERE kind = ? AND fingerprint = ?"
        seal = _seal(kind, fingerprint)
        rows = [(insert, (k, b, seal(k, b), kind, fingerprint)) for k, b in blobs.items()]
        self._write([(begin, (kind, fingerprint, name, dim, time.time())), *rows])

    def blobs(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The bytes of the keys that are stored."""
        return dict(self._rows(kind, fingerprint, keys))

    def get(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The arrays of these keys, shape [len(keys), d], and which of them are stored, shape [len(keys)]."""
        found = dict(self._rows(kind, fingerprint, keys))
        width = max((len(data) for data in found.values()), default=0) // 4
        out = np.zeros((len(keys), width), dtype=np.float32)
        there = np.zeros(len(keys), dtype=bool)
        for i, key in enumerate(keys):
            if (data := found.get(key)) is not None:
                out[i], there[i] = np.frombuffer(data, dtype="<f4"), True
        return out, there

    def _rows(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        damaged, seal, model = 0, _seal(kind, fingerprint), self._model(kind, fingerprint)
        for start in range(0, len(keys) if model is not None else 0, 500):
            some = keys[start : start + 500]
            marks = ",".join("?" * len(some))
            sql = f"SELECT key, data, crc FROM row WHERE model = ? AND key IN ({marks})"  # noqa: S608 - marks only
            for key, data, crc in self._read(sql, (model, *some)):
                if isinstance(data, bytes) and seal(key, data) == crc:
                    yield key, data
                else:
                    damaged += 1
        if damaged:
            log.warning(
                "%d rows of the store %s do not match their checksum; they are encoded again", damaged, self.path
            )

    def touch(self, kind: Kind, fingerprint: str) -> None:
        """Note that this model is in use, so that it is the last to be evicted."""
        sql = "UPDATE model SET used = ? WHERE kind = ? AND fingerprint = ?"
        self._write([(sql, (time.time(), kind, fingerprint))])

    def file_hash(self, path: Path, of: Callable[[Path], str] | None = None) -> str:
        """SHA-256 of a file, computed again only when its size, inode or time of change has changed.

        `of` computes another hash of it, which is kept under that function's name.
        """
        path = path.resolve()
        name, stat = os.fsencode(path) + (b"\0" + of.__name__.encode() if of else b""), path.stat()
        identity = f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
        known = self._read("SELECT sha256 FROM file WHERE path = ? AND identity = ?", (name, identity))
        if known:
            return str(known[0][0])
        digest = of(path) if of else file_sha256(path)
        self._write([("INSERT OR REPLACE INTO file VALUES (?, ?, ?)", (name, identity, digest))])
        return digest

    def contents(self) -> list[Stored]:
        """What the store holds, the model used last first."""
        sql = f"""SELECT kind, name, {_PRINT}, COUNT(key), COALESCE(SUM(LENGTH(data)), 0), used
                 FROM model LEFT JOIN row ON row.model = model.id GROUP BY model.id ORDER BY used DESC"""  # noqa: S608 - a constant
        return [Stored(*row) for row in self._read(sql)]

    def size(self) -> int:
        """Bytes on disk."""
        return sum(Path(f"{self.path}{s}").stat().st_size for s in ("", "-wal") if Path(f"{self.path}{s}").exists())

    def remove(self, fingerprint: str) -> None:
        """Delete one model."""
        models = f"SELECT id FROM model WHERE {_PRINT} = ?"  # noqa: S608 - a constant
        self._write(
            [
                (f"DELETE FROM row WHERE model IN ({models})", (fingerprint,)),  # noqa: S608 - a constant
                (f"DELETE FROM model WHERE {_PRINT} = ?", (fingerprint,)),  # noqa: S608 - a constant
            ]
        )

    def prune(self, *, limit: int | None = None, keep: Iterable[str] = ()) -> list[Stored]:
        """Delete the least recently used models until the file is within `limit` bytes; return what was deleted."""
        limit, gone, kept = self.limit if limit is None else limit, [], set(keep)
        candidates = [stored for stored in reversed(self.contents()) if stored.fingerprint not in kept]
        while candidates and self._used() > limit:
            gone.append(candidates.pop(0))
            self.remove(gone[-1].fingerprint)
        if self.size() > limit:
            self.compact()
        return gone

    def _used(self) -> int:
        """Bytes that the rows take, without the room of deleted ones."""
        count, free, size = (self._read(f"PRAGMA {n}") for n in ("page_count", "freelist_count", "page_size"))
        return int((count[0][0] - free[0][0]) * size[0][0])

    def compact(self) -> None:
        """Give the room of deleted rows back to the disk; left for another time while others read."""
        try:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except BROKEN as error:
            if self._is_damaged(error):
                self._set_aside(error)


def _seal(kind: Kind, fingerprint: str) -> Callable[[bytes, bytes], int]:
    """The checksum of a row of this model: of whose it is as well as what it holds, since an index can break too."""
    start = zlib.crc32(f"{kind}:{fingerprint}".encode("utf-8", "surrogatepass"))
    return lambda key, data: zlib.crc32(data, zlib.crc32(key, start))


def _is_damage(error: Exception) -> bool:
    """Whether the file itself is broken; a busy, full or read-only one is not."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by Python's own module: over text that is no UTF-8, or over a closed connection
        return not isinstance(error, sqlite3.ProgrammingError)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _has_broken_header(path: Path) -> bool:
    """Whether the numbers of the formats in the header are none that SQLite writes (sqlite.org/fileformat2.html, 1.3).

    Such a file it calls read-only, or of an unsupported format.
    """
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError:
        return False
    if not header:
        return False
    formats = int.from_bytes(header[44:48], "big")
    return len(header) < 100 or not {*header[18:20]} <= {1, 2} or formats > 4


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

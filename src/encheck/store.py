"""The embedding store: each distinct text is encoded once per model, whoever asks.

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.errors import StoreError

Kind = Literal["vector", "pair"]
Result = TypeVar("Result")
VERSION = 1
DEFAULT_LIMIT = 2 * 1024**3
log = logging.getLogger("encheck")

_SCHEMA = """
CREATE TABLE model (id INTEGER PRIMARY KEY, kind TEXT, fingerprint TEXT, name TEXT, dim INTEGER, used REAL,
                    UNIQUE (kind, fingerprint));
CREATE TABLE row (model INTEGER, key BLOB, data BLOB, crc INTEGER, PRIMARY KEY (model, key));
CREATE TABLE file (path TEXT PRIMARY KEY, identity TEXT, sha256 TEXT);
"""


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
    """Open (or begin) the store at `path`; `limit` bounds its size in bytes."""

    def __init__(self, path: Path, *, limit: int = DEFAULT_LIMIT) -> None:
        self.path, self.limit = path, limit
        self._full = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise self._cannot(error) from error
            self._set_aside(error)
        except OSError as error:
            raise self._cannot(error) from error

    def _cannot(self, error: Exception) -> StoreError:
        return StoreError(
            f"cannot use the store {self.path}: {error}. Name another with --store=PATH, or use --no-store"
        )

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            for statement in _SCHEMA.strip().split(";\n"):
                db.execute(statement.rstrip(";"))
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
        if version not in (0, VERSION):
            db.close()
            raise StoreError(f"{self.path} was written by another encheck (store version {version}); use --store=PATH")
        return db

    def _set_aside(self, error: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        log.warning("the store %s is damaged (%s); it is set aside as %s and rebuilt", self.path, error, aside.name)
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
        self._db = self._open()

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
        except sqlite3.OperationalError as error:
            self._full = True
            log.warning("the store %s cannot be written (%s); this run goes on without saving", self.path, error)
        except sqlite3.DatabaseError as error:
            self._set_aside(error)

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return []

    def _model(self, kind: Kind, fingerprint: str) -> int | None:
        rows = self._read("SELECT id FROM model WHERE kind = ? AND fingerprint = ?", (kind, fingerprint))
        return int(rows[0][0]) if rows else None

    def put(
        self, kind: Kind, fingerprint: str, keys: Sequence[bytes], arrays: NDArray[np.float32], *, name: str
    ) -> None:
        """Keep one array a key, all in one transaction; shape [len(keys), d]."""
        arrays = np.ascontiguousarray(arrays, dtype="<f4")
        begin = "INSERT OR IGNORE INTO model (kind, fingerprint, name, dim, used) VALUES (?, ?, ?, ?, ?)"
        insert = "INSERT OR REPLACE INTO row SELECT id, ?, ?, ? FROM model WHERE kind = ? AND fingerprint = ?"
        blobs = [array.tobytes() for array in arrays]
        rows = [(insert, (k, b, zlib.crc32(b), kind, fingerprint)) for k, b in zip(keys, blobs, strict=True)]
        self._write([(begin, (kind, fingerprint, name, arrays.shape[1], time.time())), *rows])

    def get(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The arrays of these keys, shape [len(keys), d], and which of them are there, shape [len(keys)]."""
        model = self._model(kind, fingerprint)
        found = {} if model is None else dict(self._rows(model, keys))
        width = max((len(data) for data in found.values()), default=0) // 4
        out = np.zeros((len(keys), width), dtype=np.float32)
        there = np.zeros(len(keys), dtype=bool)
        for i, key in enumerate(keys):
            if (data := found.get(key)) is not None:
                out[i], there[i] = np.frombuffer(data, dtype="<f4"), True
        return out, there

    def missing(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> list[int]:
        """Positions of the keys that are not there."""
        model = self._model(kind, fingerprint)
        have = set() if model is None else {key for key, _ in self._rows(model, keys)}
        return [i for i, key in enumerate(keys) if key not in have]

    def _rows(self, model: int, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        damaged = 0
        for start in range(0, len(keys), 500):
            some = keys[start : start + 500]
            marks = ",".join("?" * len(some))
            sql = f"SELECT key, data, crc FROM row WHERE model = ? AND key IN ({marks})"  # noqa: S608 - marks only
            for key, data, crc in self._read(sql, (model, *some)):
                if zlib.crc32(data) == crc:
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

    def file_hash(self, path: Path) -> str:
        """SHA-256 of a file, computed again only when its size, inode or time of change has changed."""
        path = path.resolve()
        stat = path.stat()
        identity = f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
        known = self._read("SELECT sha256 FROM file WHERE path = ? AND identity = ?", (str(path), identity))
        if known:
            return str(known[0][0])
        digest = file_sha256(path)
        self._write([("INSERT OR REPLACE INTO file VALUES (?, ?, ?)", (str(path), identity, digest))])
        return digest

    def contents(self) -> list[Stored]:
        """What the store holds, the model used last first."""
        sql = """SELECT kind, name, fingerprint, COUNT(key), COALESCE(SUM(LENGTH(data)), 0), used
                 FROM model LEFT JOIN row ON row.model = model.id GROUP BY model.id ORDER BY used DESC"""
        return [Stored(*row) for row in self._read(sql)]

    def size(self) -> int:
        """Bytes on disk."""
        return sum(Path(f"{self.path}{s}").stat().st_size for s in ("", "-wal") if Path(f"{self.path}{s}").exists())

    def remove(self, fingerprint: str) -> None:
        """Forget one model."""
        models = "SELECT id FROM model WHERE fingerprint = ?"
        self._write(
            [
                (f"DELETE FROM row WHERE model IN ({models})", (fingerprint,)),  # noqa: S608 - a constant
                ("DELETE FROM model WHERE fingerprint = ?", (fingerprint,)),
            ]
        )

    def prune(self, *, limit: int | None = None, keep: Iterable[str] = ()) -> list[Stored]:
        """Forget the models used longest ago until the file is within `limit` bytes; say which went."""
        limit, gone, kept = self.limit if limit is None else limit, [], set(keep)
        candidates = [stored for stored in reversed(self.contents()) if stored.fingerprint not in kept]
        while candidates and self.size() > limit:
            gone.append(candidates.pop(0))
            self.remove(gone[-1].fingerprint)
            self.compact()
        return gone

    def compact(self) -> None:
        """Give the room of deleted rows back to the disk; left for another time while others read."""
        with suppress(sqlite3.OperationalError):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

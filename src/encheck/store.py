"""The embedding store: each distinct text is encoded only once per model.

One SQLite file in WAL mode holds rows (kind, fingerprint, content hash) -> array. Processes share it; a batch is
one transaction, so a killed run keeps the batches it finished; a row that does not match its checksum is
encoded again; a file that SQLite cannot read is set aside with a warning and a new one begun.

It is fast with millions of rows. The table `held` counts the rows of each model, and triggers keep it right, also when
an earlier encheck writes. A look-up first finds where its rows lie, then reads them in that order. SQLite does not map
the file into memory: a process that has mapped a file dies when another one shortens it.
"""

from __future__ import annotations

import hashlib
import itertools
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
from encheck.system.half import halves, rounded_to_half

Kind = Literal["vector", "token", "pair", "parse", "tags", "text"]
Dtype = Literal["float32", "float16"]
HALF = "vector16"  # the kind of vectors in 16 bits: no key of theirs is one of a vector in 32
VERSION = 1
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
"""
# Later additions, which an earlier encheck neither needs nor breaks. They are made in its files too.
_COUNTS = """
CREATE TABLE held (model INTEGER PRIMARY KEY, rows INTEGER, bytes INTEGER)
CREATE TRIGGER model_begins AFTER INSERT ON model BEGIN
    INSERT OR REPLACE INTO held VALUES (NEW.id, 0, 0); END
CREATE TRIGGER model_ends AFTER DELETE ON model BEGIN
    DELETE FROM held WHERE model = OLD.id; END
CREATE TRIGGER row_begins BEFORE INSERT ON row BEGIN
    UPDATE held SET (rows, bytes) = (
        SELECT held.rows + 1 - COUNT(*), held.bytes + LENGTH(NEW.data) - COALESCE(SUM(LENGTH(data)), 0)
        FROM row WHERE model = NEW.model AND key = NEW.key) WHERE model = NEW.model; END
"""
# A new VERSION changes the schema too: tables as these under another number are a damaged header.
_STATEMENTS = tuple(statement.rstrip(";") for statement in _SCHEMA.strip().split(";\n"))
_ADDED = tuple(f"CREATE {statement.strip()}" for statement in _COUNTS.split("CREATE ")[1:])
_PRINT = "COALESCE(CAST(fingerprint AS TEXT), '')"  # a model may have given None
_TABLES = {"model", "row", "file", "held"}
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
    """Open or create the store at `path`; `limit` bounds its size in bytes.

    With the dtype float16 it writes vectors in 16 bits, and gives every vector rounded to 16 bits, also one that it
    has in 32: what comes back does not depend on what was stored before. A vector that would move by more than one part
    in 2,048 of its length stays in 32 bits. With float32 the store neither reads nor writes vectors in 16 bits. The
    other kinds of rows are the same with both.
    """

    def __init__(self, path: Path, *, limit: int = DEFAULT_LIMIT, dtype: Dtype = "float32") -> None:
        self.path, self.limit, self.dtype = path, limit, dtype
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
        self._most_values = min(self._db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) - 1, ROWS_AT_ONCE)
        try:
            self._begin()
        except BaseException:
            self._db.close()
            raise

    def _begin(self) -> None:
        self._db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        self._db.execute(f"PRAGMA cache_size = {-CACHE_KB}")
        with self._transaction() as db:
            if not self._has_begun():
                for statement in _STATEMENTS:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
            if not self._counts():
                for statement in _ADDED:
                    db.execute(statement)
                self._count()
        self._log_ahead()

    def _counts(self) -> bool:
        """Whether the rows of each model are counted; in a file of an earlier encheck they are not."""
        return bool(self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'held'").fetchone())

    def _count(self) -> None:
        """Count what is there. Arrays of a model have one length, so the index is enough; other rows are read."""
        self._db.execute("""
            INSERT INTO held SELECT id, rows, CASE WHEN dim > 0 THEN 4 * dim * rows
                ELSE (SELECT COALESCE(SUM(LENGTH(data)), 0) FROM row WHERE model = id) END
            FROM (SELECT id, dim, (SELECT COUNT(*) FROM row WHERE model = id) AS rows FROM model)""")

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
            if set(tables.values()) - {_ADDED[0]} == set(_STATEMENTS):
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

    def _model(self, kind: str, fingerprint: str) -> int | None:
        rows = self._read("SELECT id FROM model WHERE kind = ? AND fingerprint = ?", (kind, fingerprint))
        return int(rows[0][0]) if rows else None

    def put(
        self, kind: Kind, fingerprint: str, keys: Sequence[bytes], arrays: NDArray[np.float32], *, name: str
    ) -> None:
        """Store one array per key, all in one transaction; shape [len(keys), d]."""
        arrays = np.ascontiguousarray(arrays, dtype="<f4")
        rows = dict(zip(keys, (array.tobytes() for array in arrays), strict=True))
        short = self._in_16_bits(keys, arrays) if self._is_halved(kind) else {}
        long = {key: blob for key, blob in rows.items() if key not in short}
        how: dict[str, Any] = {"name": name, "dim": arrays.shape[1]}
        statements = list(_insertions(HALF, fingerprint, short, **how)) if short else []
        if long or not short:
            statements += _insertions(kind, fingerprint, long, **how)
        self._write(statements)

    def as_kept(self, kind: Kind, arrays: NDArray[np.float32]) -> NDArray[np.float32]:
        """What `get` will give for these arrays once they are stored; shape [n, d]."""
        return rounded_to_half(arrays) if self._is_halved(kind) else arrays

    def _is_halved(self, kind: Kind) -> bool:
        return kind == "vector" and self.dtype == "float16"

    @staticmethod
    def _in_16_bits(keys: Sequence[bytes], arrays: NDArray[np.float32]) -> dict[bytes, bytes]:
        """The rows that half precision hardly moves; the last one of a key that comes twice."""
        rounded, close = halves(arrays)
        return {key: rounded[i].tobytes() for key, i in {key: i for i, key in enumerate(keys)}.items() if close[i]}

    def put_blobs(self, kind: Kind, fingerprint: str, blobs: Mapping[bytes, bytes], *, name: str, dim: int = 0) -> None:
        """Store some bytes per key, all in one transaction."""
        self._write(_insertions(kind, fingerprint, blobs, name=name, dim=dim))

    def blobs(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The bytes of the keys that are stored."""
        return {key: data for rows in self._rows(kind, fingerprint, keys) for key, data in rows}

    def get(self, kind: Kind, fingerprint: str, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The arrays of these keys, shape [len(keys), d], and which of them are stored, shape [len(keys)]."""
        if not self._is_halved(kind):
            return self._arrays(kind, fingerprint, keys, "<f4")
        found, there = self._arrays(HALF, fingerprint, keys, "<f2")
        if there.all():
            return found, there
        lacking = np.flatnonzero(~there).tolist()
        long, has_long = self._arrays(kind, fingerprint, [keys[i] for i in lacking], "<f4")
        if has_long.any():
            found = found if found.shape[1] else np.zeros((len(keys), long.shape[1]), np.float32)
            found[lacking], there[lacking] = rounded_to_half(long), has_long
        return found, there

    def _arrays(
        self, kind: str, fingerprint: str, keys: Sequence[bytes], dtype: str
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """As `get`, of the rows of one kind."""
        out, there = np.zeros((len(keys), 0), np.float32), np.zeros(len(keys), bool)
        position = {key: i for i, key in enumerate(keys)}
        for rows in self._rows(kind, fingerprint, keys):
            if rows:
                some = np.stack([np.frombuffer(data, dtype=dtype) for _, data in rows])
                out = out if out.shape[1] else np.zeros((len(keys), some.shape[1]), np.float32)
                at = [position[key] for key, _ in rows]
                out[at], there[at] = some, True
        if len(position) < len(keys):
            same = [position[key] for key in keys]
            out, there = out[same], there[same]
        return out, there

    def _rows(self, kind: str, fingerprint: str, keys: Sequence[bytes]) -> Iterator[list[tuple[bytes, bytes]]]:
        """(key, data) of the keys that are stored, some at a time: those that match their checksum."""
        damaged, seal, model = 0, _seal(kind, fingerprint), self._model(kind, fingerprint)
        known = set(keys) if model is not None else set()
        # Rows lie in the order in which they were written, and are read in that order.
        places = sorted(place for (place,) in self._among("rowid", "key", model, sorted(known)))
        for start in range(0, len(places), ROWS_AT_ONCE):
            read = list(self._among("key, data, crc", "rowid", model, places[start : start + ROWS_AT_ONCE]))
            mine = [(k, data, crc) for k, data, crc in read if k in known and isinstance(data, bytes)]
            sound = [(k, data) for k, data, crc in mine if seal(k, data) == crc]
            damaged += len(read) - len(sound)
            yield sound
        if damaged:
            log.warning(
                "%d rows of the store %s do not match their checksum; they are encoded again", damaged, self.path
            )

    def _among(self, columns: str, column: str, model: int | None, values: Sequence[Any]) -> Iterator[Any]:
        """These columns of the model's rows whose `column`, key or rowid, is one of the values."""
        of_model = "model" if column == "key" else "+model"  # with the plus SQLite does not use the index for it
        for start in range(0, len(values), self._most_values):
            some = values[start : start + self._most_values]
            marks = ",".join("?" * len(some))
            sql = f"SELECT {columns} FROM row WHERE {of_model} = ? AND {column} IN ({marks})"  # noqa: S608 - marks only
            yield from self._read(sql, (model, *some))

    def touch(self, kind: Kind, fingerprint: str) -> None:
        """Note that this model is in use, so that it is the last to be evicted."""
        sql = "UPDATE model SET used = ? WHERE kind IN (?, ?) AND fingerprint = ?"
        self._write([(sql, (time.time(), kind, HALF if self._is_halved(kind) else kind, fingerprint))])

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
        counts = "CAST(COALESCE(rows, 0) AS INTEGER), CAST(COALESCE(bytes, 0) AS INTEGER)"
        sql = f"""SELECT kind, name, {_PRINT}, {counts}, used FROM model LEFT JOIN held ON held.model = model.id
                  ORDER BY used DESC"""  # noqa: S608 - constants
        return [Stored(*row) for row in self._read(sql)]

    def size(self) -> int:
        """Bytes on disk."""
        return sum(Path(f"{self.path}{s}").stat().st_size for s in ("", "-wal") if Path(f"{self.path}{s}").exists())

    def remove(self, fingerprint: str) -> None:
        """Delete one model."""
        models = [one for (one,) in self._read(f"SELECT id FROM model WHERE {_PRINT} = ?", (fingerprint,))]  # noqa: S608 - a constant
        self._write(itertools.chain(*map(self._removals, models)))

    def _removals(self, model: int) -> Iterator[tuple[str, Sequence[Any]]]:
        """What deletes a model: its rows in the order in which they lie, since in any other each page is read often."""
        rows = self._db.execute("SELECT rowid FROM row WHERE model = ?", (model,))
        places = np.sort(np.fromiter((place for (place,) in rows), np.int64))
        for start in range(0, len(places), self._most_values):
            some = places[start : start + self._most_values].tolist()
            yield f"DELETE FROM row WHERE rowid IN ({','.join('?' * len(some))})", some  # noqa: S608 - marks only
        yield "DELETE FROM model WHERE id = ?", (model,)

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


def _insertions(
    kind: str, fingerprint: str, blobs: Mapping[bytes, bytes], *, name: str, dim: int
) -> Iterator[tuple[str, Sequence[Any]]]:
    begin = """INSERT INTO model (kind, fingerprint, name, dim, used) VALUES (?, ?, ?, ?, ?)
               ON CONFLICT (kind, fingerprint) DO UPDATE SET used = excluded.used"""
    insert = "INSERT OR REPLACE INTO row SELECT id, ?, ?, ? FROM model WHERE kind = ? AND fingerprint = ?"
    seal = _seal(kind, fingerprint)
    yield begin, (kind, fingerprint, name, dim, time.time())
    for key, blob in sorted(blobs.items()):  # in the order of the index, of which each page is then changed once
        yield insert, (key, blob, seal(key, blob), kind, fingerprint)


def _seal(kind: str, fingerprint: str) -> Callable[[bytes, bytes], int]:
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

"""Paths as people type them, files that are written whole or not at all, and temporary folders.

A full disk, a signal or a power cut never leaves a half-written file. The bytes go to a file in the same folder, under
a name that only encheck uses. Once they are on the disk, the file is renamed. A killed process leaves a file with such
a name, and the next write removes it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO

PARTIAL = ".encheck-partial-"
OWN = re.compile(re.escape(PARTIAL) + "([0-9a-f]{8})-[0-9a-f]{8}")
OLDER = r"\.{name}\.\d+"  # an earlier naming scheme: the name and the process number
PATIENCE = 10.0  # seconds that another process may take to write a baseline
PREFIX, ALIVE = "encheck-", ".alive"
OLD = 3600  # seconds, after which a folder without a lock may be removed


def expand_home(name: str | Path) -> Path:
    """Return the path, with `~` as the home folder. A path with an unknown user stays as typed.

    >>> expand_home("~nobody-of-this-name/model").parts[0]
    '~nobody-of-this-name'
    """
    return Path(os.path.expanduser(name))  # noqa: PTH111 - pathlib's raises RuntimeError for an unknown user


def exists(path: Path | str) -> bool:
    """Return whether the file or folder exists.

    >>> exists("x" * 4_000)
    False
    """
    return os.path.exists(path)  # noqa: PTH110 - pathlib's raises OSError for a name that is too long


def is_file(path: Path | str) -> bool:
    """Return whether the file exists."""
    return os.path.isfile(path)  # noqa: PTH113 - as in `exists`


def is_folder(path: Path | str) -> bool:
    """Return whether the folder exists."""
    return os.path.isdir(path)  # noqa: PTH112 - as in `exists`


def files_under(folder: Path) -> list[Path]:
    """Return the files under a folder in the order of their paths, without hidden folders (`.x`).

    Linked folders are read too. A folder that is reached in several ways is read once, if possible by its own name.
    """
    found: list[Path] = []
    known: set[str] = set()
    roots = [folder]
    for root in roots:  # which grows
        for place, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            if (real := os.path.realpath(place)) in known:
                folders.clear()
                continue
            known.add(real)
            found += [file for name in names if (file := Path(place, name)).is_file()]
            roots += [link for name in folders if (link := Path(place, name)).is_symlink()]
    return sorted(found)


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def partial_path(path: Path) -> Path:
    """Return a new name, next to `path`, for the file that will replace `path`."""
    return path.with_name(f"{PARTIAL}{_name_hash(path)}-{secrets.token_hex(4)}")


def _name_hash(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]


def leftover_files(folder: Path, *, names: tuple[str, ...]) -> list[Path]:
    """Return the files in this folder that interrupted writes of these names left."""
    if not folder.is_dir():
        return []
    marks = {_name_hash(Path(name)) for name in names}
    older = re.compile("|".join(OLDER.format(name=re.escape(name)) for name in names))
    left = []
    for path in folder.iterdir():
        own = OWN.fullmatch(path.name)
        named = own[1] in marks if own else older.fullmatch(path.name) is not None
        if named and path.is_file() and not path.is_symlink():
            left.append(path)
    return sorted(left)


def remove_leftovers(folder: Path, *, names: tuple[str, ...]) -> None:
    """Remove the files in this folder that interrupted writes of these names left."""
    for path in leftover_files(folder, names=names):
        path.unlink(missing_ok=True)


@contextmanager
def open_flushed(path: Path, *, to: Path) -> Iterator[BinaryIO]:
    """Open a new file at `path`, which is on the disk when the block ends.

    An OSError names `to`, the file that it will replace.
    """
    try:
        with path.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(to)
        raise


def move_into_place(path: Path, to: Path) -> None:
    """Give a finished file its name, replacing any existing file, and sync the folder."""
    path.replace(to)
    sync_folder(to.parent)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, if the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` if the block succeeds. Otherwise `path` is unchanged, and no other file is left.

    Pipes and devices are written directly. If the disk refuses the file, an OSError names `path`.
    """
    if is_special(path):
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()  # a link stays one
    remove_leftovers(path.parent, names=(path.name,))
    beside = partial_path(path)
    try:
        with open_flushed(beside, to=path) as file:
            yield file
        move_into_place(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Return whether this is a pipe or a device, which no file may replace."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


def write_text(path: Path, text: str) -> None:
    r"""Write a text file whole or not at all; half of a surrogate pair, as in names that are not UTF-8, as `\udcff`."""
    with write_whole(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep out other processes that lock this folder. The system releases the lock if this process is killed.

    Raise OSError if another process holds the lock for ten seconds. If folders cannot be locked, no process is kept
    out.
    """
    if fcntl is None:
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise OSError(errno.EAGAIN, "another process is writing there") from None
                time.sleep(0.05)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(number)


def describe_os_error(error: OSError, *, folder: Path) -> str:
    """Return what is wrong. The text begins with the file's name if the file is in `folder`."""
    reason = error.strerror or ", ".join(map(str, error.args))
    path = Path(error.filename) if isinstance(error.filename, str) else None
    return f"{path.name}: {reason}" if path and path.parent.resolve() == folder.resolve() else reason


class Scratch(tempfile.TemporaryDirectory[str]):
    """A temporary folder that is locked as long as its process lives."""

    def __init__(self) -> None:
        from filelock import FileLock, Timeout

        mine = getattr(os, "getuid", lambda: 0)()
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):  # of processes that were killed
            with suppress(OSError, Timeout):
                # in a shared folder, other users may have set a trap
                status, lock = folder.lstat(), (folder / ALIVE).lstat()
                is_own = S_ISDIR(status.st_mode) and S_ISREG(lock.st_mode) and status.st_uid == lock.st_uid == mine
                if is_own and time.time() - status.st_mtime >= OLD:
                    with FileLock(folder / ALIVE, timeout=0):
                        shutil.rmtree(folder)
        super().__init__(prefix=PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self.name)
        self._lock = FileLock(Path(self.name) / ALIVE)
        self._lock.acquire()

    def cleanup(self) -> None:
        """Remove the folder."""
        self._lock.release()
        super().cleanup()

"""Paths as people type them, files that are written whole or not at all, and folders for what is thrown away.

A file is written whole whatever ends the writing: a full disk, a signal, a power cut. The bytes go to a file beside,
under a name that is encheck's own; when they are on the disk, it is renamed. What a killed process leaves has such a
name, and the next writing removes it.
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
OLDER = r"\.{name}\.\d+"  # as encheck named them at first: the name and the number of the process
PATIENCE = 10.0  # seconds that another process may take to write a baseline
PREFIX, ALIVE = "encheck-", ".alive"
OLD = 3600  # seconds, after which a folder that nobody holds is nobody's


def expand_home(name: str | Path) -> Path:
    """The path, with `~` as the home folder; a user that there is not stays as it was typed.

    >>> expand_home("~nobody-of-this-name/model").parts[0]
    '~nobody-of-this-name'
    """
    return Path(os.path.expanduser(name))  # noqa: PTH111 - pathlib's raises RuntimeError for an unknown user


def exists(path: Path | str) -> bool:
    """Whether there is such a file or folder.

    >>> exists("x" * 4_000)
    False
    """
    return os.path.exists(path)  # noqa: PTH110 - pathlib's raises OSError for a name that is too long


def is_file(path: Path | str) -> bool:
    """Whether there is such a file."""
    return os.path.isfile(path)  # noqa: PTH113 - as in `exists`


def is_folder(path: Path | str) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(path)  # noqa: PTH112 - as in `exists`


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def partial_path(path: Path) -> Path:
    """A new name beside `path` for what will take its place."""
    return path.with_name(f"{PARTIAL}{_mark(path)}-{secrets.token_hex(4)}")


def _mark(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]


def leftover_files(folder: Path, *, names: tuple[str, ...]) -> list[Path]:
    """What writings of these names that were cut off have left in this folder."""
    if not folder.is_dir():
        return []
    marks = {_mark(Path(name)) for name in names}
    older = re.compile("|".join(OLDER.format(name=re.escape(name)) for name in names))
    left = []
    for path in folder.iterdir():
        own = OWN.fullmatch(path.name)
        named = own[1] in marks if own else older.fullmatch(path.name) is not None
        if named and path.is_file() and not path.is_symlink():
            left.append(path)
    return sorted(left)


def remove_leftovers(folder: Path, *, names: tuple[str, ...]) -> None:
    """Remove what writings of these names that were cut off have left in this folder."""
    for path in leftover_files(folder, names=names):
        path.unlink(missing_ok=True)


@contextmanager
def flushed(path: Path, *, to: Path) -> Iterator[BinaryIO]:
    """A new file at `path`, on the disk when the block ends; an OSError names `to`, whose place it is to take."""
    try:
        with path.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(to)
        raise


def move_into_place(path: Path, to: Path) -> None:
    """Give a finished file its name, in the place of what has it; known on the disk too."""
    path.replace(to)
    sync_folder(to.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def write_whole(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends well; else `path` stays as it was, and nothing is left.

    Pipes and devices are written straight. OSError if the disk does not take it: it names `path`.
    """
    if is_special(path):
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()  # a link stays one
    remove_leftovers(path.parent, names=(path.name,))
    beside = partial_path(path)
    try:
        with flushed(beside, to=path) as file:
            yield file
        move_into_place(beside, path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Whether this is a pipe or a device, whose place no file may take."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


def write_text(path: Path, text: str) -> None:
    r"""Write a text file whole or not at all; half of a surrogate pair, as in names that are no UTF-8, as `\udcff`."""
    with write_whole(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other processes that ask for this folder out of it; the system lets go of it when this one is killed.

    OSError if another one stays in it for ten seconds. Where folders cannot be locked, nobody is kept out.
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
    """What went wrong, after the name of the file in `folder` that it is about."""
    reason = error.strerror or ", ".join(map(str, error.args))
    path = Path(error.filename) if isinstance(error.filename, str) else None
    return f"{path.name}: {reason}" if path and path.parent.resolve() == folder.resolve() else reason


class Scratch(tempfile.TemporaryDirectory[str]):
    """A temporary folder, held by a lock as long as its process lives."""

    def __init__(self) -> None:
        from filelock import FileLock, Timeout

        mine = getattr(os, "getuid", lambda: 0)()
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):  # of processes that were killed
            with suppress(OSError, Timeout):
                # in a folder for all, others may have laid a trap
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
        """Remove it."""
        self._lock.release()
        super().cleanup()

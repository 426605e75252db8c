"""Folders for what is thrown away: a process removes its own, and those that killed processes left."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG

PREFIX, ALIVE = "encheck-", ".alive"
OLD = 3600  # seconds, after which a folder that nobody holds is nobody's


class Scratch(tempfile.TemporaryDirectory[str]):
    """A temporary folder, held by a lock as long as its process lives."""

    def __init__(self) -> None:
        _sweep()
        super().__init__(prefix=PREFIX, ignore_cleanup_errors=True)
        from filelock import FileLock

        self._lock = FileLock(Path(self.name) / ALIVE)
        self._lock.acquire()

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.name)

    def cleanup(self) -> None:
        """Remove it."""
        self._lock.release()
        super().cleanup()


def _sweep() -> None:
    """Remove the folders of processes that were killed: old ones of ours whose lock is free."""
    from filelock import FileLock, Timeout

    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            found, lock = folder.lstat(), (folder / ALIVE).lstat()  # in a folder for all, others may have laid a trap
            mine = getattr(os, "getuid", lambda: 0)()
            if not (S_ISDIR(found.st_mode) and S_ISREG(lock.st_mode) and found.st_uid == lock.st_uid == mine):
                continue
            if time.time() - found.st_mtime < OLD:
                continue
            with FileLock(folder / ALIVE, timeout=0):
                shutil.rmtree(folder)

"""Folders for what is thrown away: a process removes its own, and those that killed processes left."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

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
            if folder.is_symlink() or time.time() - folder.stat().st_mtime < OLD or not (folder / ALIVE).exists():
                continue
            with FileLock(folder / ALIVE, timeout=0):
                shutil.rmtree(folder)

"""Disks that fill and processes that die, at each step of a writing."""

import errno
import io
import os
from contextlib import contextmanager
from pathlib import Path
from unittest import mock


class Killed(BaseException):
    """Stands in for SIGKILL: from then on the process does nothing to the disk."""


class Disk:
    """Counts what is done to the disk; from step `at` on, everything fails (`Killed`), or every write does.

    `error` is what writes fail with; `only` names what counts, of replace, unlink and fsync, and fails with it.
    """

    def __init__(self, at, *, full=False, error=errno.ENOSPC, only=()):
        self.at, self.full, self.error, self.only, self.done = at, full, error, only, 0

    def step(self, *, writes, name="write"):
        counts = name in self.only if self.only else writes or not self.full
        self.done += counts
        if self.done > self.at and counts:
            raise OSError(self.error, os.strerror(self.error)) if self.full or self.only else Killed

    def does(self, real, *, writes=False):
        def doing(*args, **named):
            self.step(writes=writes, name=real.__name__)
            return real(*args, **named)

        return doing

    def open(self, real):
        def opening(path, mode="r", *args, **named):
            if "r" in mode:
                return real(path, mode, *args, **named)
            self.step(writes=True)
            raw = Raw(path, mode.replace("b", ""))
            raw.step = lambda: self.step(writes=True)
            return raw if "b" in mode else io.TextIOWrapper(raw, "utf-8", newline=named.get("newline"))

        return opening


class Raw(io.FileIO):
    """A file that asks the disk before each write, and then writes half, asks again, and writes the rest."""

    def write(self, data):
        data = bytes(data)
        for part in (data[: len(data) // 2], data[len(data) // 2 :]):
            self.step()
            super().write(part)
        return len(data)


@contextmanager
def failing(at, **how):
    """The disk fails from step `at` on; gives the `Disk`, whose `done` tells the steps taken."""
    disk = Disk(at, **how)
    patches = [mock.patch.object(Path, name, disk.does(getattr(Path, name))) for name in ("replace", "unlink")]
    patches += [mock.patch.object(Path, "open", disk.open(Path.open))]
    patches += [mock.patch.object(os, "fsync", disk.does(os.fsync, writes=True))]
    for patch in patches:
        patch.start()
    try:
        yield disk
    finally:
        for patch in patches:
            patch.stop()


def steps(work, *, between=lambda: None, **how):
    """Do `work` again and again, failing one step later each time, until it fails no more; what each time raised."""
    for at in range(1_000):
        between()
        try:
            with failing(at, **how):
                work()
        except (Exception, Killed) as error:
            yield error
        else:
            assert at > 3 or how.get("only")  # made, two halves written, flushed
            return

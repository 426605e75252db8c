"""One encoding process a device and one parsing process a store; of a run's workers, one that encodes at all.

Who holds a lock signs a file beside it, so that who waits can say for whom. Nobody waits for a remote model of another
run: a server serves several.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from encheck.encoders.protocol import devices_of
from encheck.running.labels import label_of
from encheck.system.lock import WorkClock

log = logging.getLogger("encheck")


PATIENCE = 5.0  # seconds that a run waits for another in silence


@dataclass(frozen=True)
class Holder:
    """Who holds a lock: the process, since when, and the run that it is a part of."""

    pid: int = 0
    since: str = ""
    run: str = ""

    @classmethod
    def of(cls, lock: str) -> Holder:
        """Who signed beside the lock; nobody where that cannot be read."""
        try:
            said = json.loads(_signed(lock).read_text("utf-8"))
            return cls(int(said["pid"]), str(said["since"])[:40], str(said["run"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return cls()

    def __str__(self) -> str:
        return f": pid {self.pid}, since {self.since}" if self.pid else ""


class Locks:
    """The locks of one process of a run, beside its store; `clock` stands still while it waits for one.

    `run` is the lock that the workers of one run share; None if there is one process.
    """

    def __init__(self, store: Path, clock: WorkClock, *, run: str | None = None) -> None:
        self._store, self._clock, self._run = store, clock, run
        self._name = run or f"pid {os.getpid()}"

    def encoding(self, model: object) -> Iterator[AbstractContextManager[object]]:
        """The locks to take before this model encodes, in this order: that of the run, then those of its devices.

        They are made one by one, as they are asked for: to know the devices can cost an import of torch.
        """
        if self._run is not None:
            yield self._held(self._run, "encodes")
        for device in places(devices_of(model)):
            yield self._held(self._path(device), f"encodes on {device}")

    def if_free(self, model: object) -> Iterator[AbstractContextManager[bool]]:
        """The locks of the model's devices, each of which gives False if another process has it."""
        for device in places(devices_of(model)):
            yield self._held_if_free(self._path(device))

    def run_if_free(self) -> AbstractContextManager[bool]:
        """The lock of the run; it gives False if another of its workers has it."""
        return nullcontext(True) if self._run is None else self._held_if_free(self._run)

    def parsing(self) -> AbstractContextManager[object]:
        """One parsing process at a time: the others wait, then find the parses in the store."""
        return self._held(self._path("parse"), "parses for the same store")

    def _path(self, what: str) -> str:
        return f"{self._store}.{label_of(what)}.lock"

    @contextmanager
    def _held(self, path: str, does: str) -> Iterator[None]:
        """Hold this lock; where that takes long, say for whom this process waits."""
        from filelock import FileLock, Timeout

        lock = FileLock(path, is_singleton=True)  # so that who holds it may take it again
        try:
            lock.acquire(blocking=False)
        except Timeout:
            self._wait(lock, path, does)
        try:
            with _signing(path, self._name):
                yield
        finally:
            lock.release()

    @contextmanager
    def _held_if_free(self, path: str) -> Iterator[bool]:
        """Hold this lock where nobody else does; say whether."""
        from filelock import FileLock, Timeout

        lock = FileLock(path, is_singleton=True)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            yield False
            return
        try:
            with _signing(path, self._name):
                yield True
        finally:
            lock.release()

    def _wait(self, lock: Any, path: str, does: str) -> None:
        """Another worker of the same run is waited for in silence: that is how a run goes."""
        from filelock import Timeout

        said = None
        while True:
            holder = Holder.of(path)
            with self._clock.standing(for_others=not self._is_ours(path, holder)), suppress(Timeout):
                lock.acquire(timeout=PATIENCE)
                return
            if not self._is_ours(path, holder := Holder.of(path)) and holder != said:
                log.warning("waiting for another run that %s%s", does, holder)
                said = holder

    def _is_ours(self, path: str, holder: Holder) -> bool:
        return path == self._run or holder.run == self._name


def places(devices: tuple[str, ...]) -> list[str]:
    """The devices as the machine knows them, sorted, so that no two processes wait for each other's second one.

    >>> places(("cuda", "cpu", "cuda:0"))
    ['cpu', 'cuda:0']
    """
    return sorted(set(map(_place, devices)))


def _place(device: str) -> str:
    """The GPU behind a number: CUDA_VISIBLE_DEVICES counts those that it names from 0."""
    kind, _, number = device.partition(":")
    if kind != "cuda":
        return device
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    at = int(number or 0)
    return f"cuda:{visible[at] if at < len(visible) else at}"


@contextmanager
def _signing(lock: str, run: str) -> Iterator[None]:
    """Say for the block who holds the lock; a disk that takes no signature is no reason not to work."""
    since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
    with suppress(OSError):
        _signed(lock).write_text(json.dumps(asdict(Holder(os.getpid(), since, run))), "utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            _signed(lock).unlink(missing_ok=True)


def _signed(lock: str) -> Path:
    return Path(f"{lock}.by")

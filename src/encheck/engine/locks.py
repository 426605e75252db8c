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
            signed = json.loads(Path(f"{lock}.by").read_text("utf-8"))
            return cls(int(signed["pid"]), str(signed["since"])[:40], str(signed["run"]))
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
            yield self._held(self._path(device))

    def run_if_free(self) -> AbstractContextManager[bool]:
        """The lock of the run; it gives False if another of its workers has it."""
        return nullcontext(True) if self._run is None else self._held(self._run)

    def parsing(self) -> AbstractContextManager[object]:
        """One parsing process at a time: the others wait, then find the parses in the store."""
        return self._held(self._path("parse"), "parses for the same store")

    def _path(self, what: str) -> str:
        return f"{self._store}.{label_of(what)}.lock"

    @contextmanager
    def _held(self, path: str, does: str = "") -> Iterator[bool]:
        """Hold this lock and sign beside it; False where another process has it and does what needs no waiting for.

        `does` is what who has it does: then it is waited for. Where that takes long, it is said for whom this process
        waits; another worker of the same run is waited for in silence: that is how a run goes.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(path, is_singleton=True)  # so that who holds it may take it again
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if not does:
                yield False
                return
            told = None
            while not lock.is_locked:
                holder = Holder.of(path)
                is_ours = path == self._run or holder.run == self._name
                with self._clock.standing(for_others=not is_ours), suppress(Timeout):
                    lock.acquire(timeout=PATIENCE)
                    break
                holder = Holder.of(path)
                if path != self._run and holder.run != self._name and holder != told:
                    log.warning("waiting for another run that %s%s", does, holder)
                    told = holder
        since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        signature = Path(f"{path}.by")
        try:
            with suppress(OSError):  # a disk that takes no signature is no reason not to work
                signature.write_text(json.dumps(asdict(Holder(os.getpid(), since, self._name))), "utf-8")
            yield True
        finally:
            with suppress(OSError):
                signature.unlink(missing_ok=True)
            lock.release()


def places(devices: tuple[str, ...]) -> list[str]:
    """The devices as the machine knows them, sorted, so that no two processes wait for each other's second one.

    >>> places(("cuda", "cpu", "cuda:0"))
    ['cpu', 'cuda:0']
    """
    names = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    found = set()
    for device in devices:
        kind, _, number = device.partition(":")
        at = int(number or 0) if kind == "cuda" else 0  # CUDA_VISIBLE_DEVICES counts those that it names from 0
        found.add(f"cuda:{names[at] if at < len(names) else at}" if kind == "cuda" else device)
    return sorted(found)

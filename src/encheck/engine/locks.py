"""Locks: one encoding process per device, one parsing process per store, and one encoding worker per run.

The holder of a lock signs a file next to the lock, so that waiting processes can name the holder. Remote models need
no lock, since a server can serve several runs.
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

from encheck.encoders.protocol import model_devices
from encheck.running.labels import safe_label
from encheck.system.lock import WorkClock

log = logging.getLogger("encheck")


PATIENCE = 5.0  # seconds that a run waits for another before it says so


@dataclass(frozen=True)
class LockHolder:
    """The holder of a lock: its process, start time, and run."""

    pid: int = 0
    since: str = ""
    run: str = ""

    @classmethod
    def read_signature(cls, lock: str) -> LockHolder:
        """Read the signature next to the lock; return an empty holder if that fails."""
        try:
            signed = json.loads(Path(f"{lock}.by").read_text("utf-8"))
            return cls(int(signed["pid"]), str(signed["since"])[:40], str(signed["run"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return cls()

    def __str__(self) -> str:
        return f": pid {self.pid}, since {self.since}" if self.pid else ""


class Locks:
    """The locks of one process of a run, next to its store. `clock` pauses while the process waits.

    `run` is the lock that the workers of one run share; None if there is only one process.
    """

    def __init__(self, store: Path, clock: WorkClock, *, run: str | None = None) -> None:
        self._store, self._clock, self._run = store, clock, run
        self._name = run or f"pid {os.getpid()}"

    def locks_for_encoding(self, model: object) -> Iterator[AbstractContextManager[object]]:
        """Yield the locks to take before this model encodes: the lock of the run, then the locks of the model's
        devices.

        The locks are created one by one, since finding the devices can import torch.
        """
        if self._run is not None:
            yield self._hold(self._run, "encodes")
        for device in device_names(model_devices(model)):
            yield self._hold(self._path(device), f"encodes on {device}")

    def locks_if_free(self, model: object) -> Iterator[AbstractContextManager[bool]]:
        """Yield the locks of the model's devices. Entering one returns False if another process has it."""
        for device in device_names(model_devices(model)):
            yield self._hold(self._path(device))

    def run_lock_if_free(self) -> AbstractContextManager[bool]:
        """Return the lock of the run. Entering it returns False if another worker has it."""
        return nullcontext(True) if self._run is None else self._hold(self._run)

    def lock_for_parsing(self) -> AbstractContextManager[object]:
        """Return the lock for parsing. Other processes wait, then find the parses in the store."""
        return self._hold(self._path("parse"), "parses for the same store")

    def _path(self, what: str) -> str:
        return f"{self._store}.{safe_label(what)}.lock"

    @contextmanager
    def _hold(self, path: str, does: str = "") -> Iterator[bool]:
        """Hold this lock, and sign the file next to it.

        Without `does`, yield False if another process has the lock; otherwise wait for it. `does` describes what the
        holder does. A long wait is logged with the holder, except for a worker of the same run.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(path, is_singleton=True)  # so that the holder may take it again
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if not does:
                yield False
                return
            told = None
            while not lock.is_locked:
                holder = LockHolder.read_signature(path)
                is_ours = path == self._run or holder.run == self._name
                with self._clock.paused(for_others=not is_ours), suppress(Timeout):
                    lock.acquire(timeout=PATIENCE)
                    break
                holder = LockHolder.read_signature(path)
                if path != self._run and holder.run != self._name and holder != told:
                    log.warning("waiting for another run that %s%s", does, holder)
                    told = holder
        since = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S")
        signature = Path(f"{path}.by")
        try:
            with suppress(OSError):  # the signature is optional
                signature.write_text(json.dumps(asdict(LockHolder(os.getpid(), since, self._name))), "utf-8")
            yield True
        finally:
            with suppress(OSError):
                signature.unlink(missing_ok=True)
            lock.release()


def device_names(devices: tuple[str, ...]) -> list[str]:
    """Return the machine's names of the devices, sorted, so that processes take locks in the same order.

    >>> device_names(("cuda", "cpu", "cuda:0"))
    ['cpu', 'cuda:0']
    """
    names = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    found = set()
    for device in devices:
        kind, _, number = device.partition(":")
        at = int(number or 0) if kind == "cuda" else 0  # CUDA_VISIBLE_DEVICES renumbers its devices from 0
        found.add(f"cuda:{names[at] if at < len(names) else at}" if kind == "cuda" else device)
    return sorted(found)

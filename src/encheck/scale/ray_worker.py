"""What runs in the actors of a Ray cluster: the worker that does shards, and the ledger that counts their tries."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import encheck
from encheck.errors import DataError, EncheckError, EncoderError, UsageError
from encheck.scale.shards import Done, Shard, Work

TRIES = 3  # of a shard whose worker dies, and of loading the model


class Ledger:
    """How often each shard was begun, and how often workers began without doing any shard since."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.tries: Counter[int] = Counter()
        self.begins = 0

    def begin(self) -> bool:
        """Whether a worker is to load the model; False where too many died of it."""
        self.begins += 1
        return self.begins <= self.most

    def take(self, number: int) -> int:
        """The number of this try of a shard, from 1."""
        self.begins = 0
        self.tries[number] += 1
        return self.tries[number]


class Worker:
    """An actor: it loads the model when it starts, and answers in plain values, its errors too."""

    def __init__(self, work: Work, ledger: Any, version: str) -> None:
        self.work, self.ledger = work, ledger
        self.do: Callable[[Shard], Done] | None = None
        self.error: dict[str, str] = {}
        here = f"{socket.gethostname()}:{os.getpid()}"
        self.name = here
        if version != encheck.__version__:
            self.error = _told(UsageError(other_encheck(here, encheck.__version__, version)))
        elif not _get(ledger.begin.remote()):
            said = f"worker processes died {TRIES} times each while they loaded the model: not enough memory?"
            self.error = _told(EncoderError(f"{said} {_memory_remedy()}"))
        else:
            self._begin()

    def _begin(self) -> None:
        try:
            self.do = self.work.begin()
        except MemoryError:
            os._exit(1)  # Ray starts another, and the ledger counts
        except Exception as error:
            self.error = _told(error, f"worker {self.name}")

    def __call__(self, row: Mapping[str, str]) -> dict[str, str]:
        """Do the shard of a row."""
        answer = self._answer(Shard(**json.loads(row["shard"])))
        return {"answer": json.dumps(answer | {"worker": self.name} | _spent())}

    def _answer(self, shard: Shard) -> dict[str, Any]:
        if self.error or not self.do:
            return {"error": self.error}
        tries = _get(self.ledger.take.remote(shard.number))
        done = self.work.found(shard) if tries > 1 else None
        if done is None and tries > TRIES:
            said = f"{shard}: worker processes died at it {TRIES} times: not enough memory, or a row that crashes"
            return {"error": _told(DataError(f"{said}. {_memory_remedy()}"))}
        try:
            done = done or self.do(shard)
        except MemoryError:
            os._exit(1)
        except Exception as error:
            return {"error": _told(error, str(shard))}
        return {
            "number": shard.number,
            "path": done.path,
            "counts": dict(done.counts),
            "seconds": done.seconds,
            "notes": list(done.notes),
        }


def _memory_remedy() -> str:
    return "Give each worker more memory (fewer workers), or write the file with smaller row groups"


def _get(promise: Any) -> Any:
    import ray

    return ray.get(promise)


def _spent() -> dict[str, float]:
    """The most memory that this process had, MB, and its processor seconds."""
    most = 0
    with suppress(ImportError):  # Windows
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"peak": most / (2**20 if sys.platform == "darwin" else 2**10), "cpu": time.process_time()}


def _told(error: Exception, where: str = "") -> dict[str, str]:
    """An error as plain values; what is none of encheck's says where it came from."""
    if isinstance(error, EncheckError):
        return {"kind": type(error).__name__, "message": str(error)}
    return {"kind": "EncoderError", "message": f"{where}: {type(error).__name__}: {error}"}


def other_encheck(place: str, theirs: str, here: str) -> str:
    """That versions differ, and what to do."""
    return f"{place} has encheck {theirs}, but the run has {here}: install the same version on both"

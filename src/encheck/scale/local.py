"""The shards done on this machine: in this process, or in some processes of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from encheck.errors import EncheckError
from encheck.scale.shards import Done, Shard, Work


class LocalEngine:
    """Does shards one after the other in this process; with `workers` above 1, in so many processes at once."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, work: Work, shards: Sequence[Shard]) -> Iterator[Done]:
        """Do all shards, each once; one that has its file is not done again."""
        left = []
        for shard in shards:
            done = work.found(shard)
            if done is None:
                left.append(shard)
            else:
                yield done
        if self.workers > 1 and len(left) > 1:
            yield from _in_processes(work, left, min(self.workers, len(left)))
        elif left:
            yield from map(work.begin(), left)

    def about(self) -> dict[str, Any]:
        """What results.json says of it."""
        return {"kind": "local", "workers": self.workers}


_do: list[Callable[[Shard], Done]] = []  # of a worker process: what it began with


def _in_processes(work: Work, shards: Sequence[Shard], workers: int) -> Iterator[Done]:
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (work,)) as pool:
        tasks = [pool.submit(_done, shard) for shard in shards]
        try:
            for task in as_completed(tasks):
                yield task.result()
        finally:
            for task in tasks:
                task.cancel()


def _begin(work: Work) -> None:
    """Begin in a worker process; an error waits for the first shard, which can say it."""
    try:
        _do.append(work.begin())
    except EncheckError as error:
        _do.append(_failing(error))


def _failing(error: EncheckError) -> Callable[[Shard], Done]:
    def fail(_shard: Shard) -> Done:
        raise error

    return fail


def _done(shard: Shard) -> Done:
    return _do[-1](shard)

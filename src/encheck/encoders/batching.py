"""Make batches of texts: group texts by length, halve a batch when memory runs out, distribute batches over devices."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.encoders.protocol import Batch
from encheck.errors import UsageError

Ints = NDArray[np.intp]
Replica = TypeVar("Replica")
TOKENS_PER_BATCH = {"cpu": 1_536, "mps": 16_384, "cuda": 65_536}
PAIRS_PER_BATCH = 1_024  # scored at once by a model that scores pairs
OUT_OF_MEMORY = (
    *("out of memory", "can't allocate memory", "bad allocation", "failed to allocate memory", "oom when allocating"),
    *("could not allocate", "alloc_failed", "bad_alloc"),
)
log = logging.getLogger("encheck")


_padded: ContextVar[bool] = ContextVar("padded", default=False)


def batch_equal_lengths(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Yield batches of positions. A batch has texts of one length and at most `budget` tokens; the longest texts come
    first.

    Texts of equal length keep their order. A batch needs no padding, so a text's vector depends on the other texts of
    the run by rounding alone: with MiniLM on a CPU by 2e-7 at most, as kernels of another size sum in another order.
    Within `allow_mixed_lengths`, a batch holds texts of several lengths.

    >>> [b.tolist() for b in batch_equal_lengths(np.array([3, 9, 3, 4]), 9)]
    [[1], [3], [0, 2]]
    """
    order = np.argsort(-lengths, kind="stable")
    ordered = lengths[order]
    start = 0
    while start < len(order):
        longest = int(ordered[start])
        end = start + max(1, budget // max(1, longest))
        if not _padded.get():
            end = min(end, int(np.searchsorted(-ordered, -longest, side="right")))
        yield order[start:end]
        start = end


@contextmanager
def allow_mixed_lengths() -> Iterator[None]:
    """Put texts of several lengths into one batch, as most programs do.

    Checks use this to test that padding does not change vectors.

    >>> with allow_mixed_lengths():
    ...     [b.tolist() for b in batch_equal_lengths(np.array([3, 9, 3, 4]), 9)]
    [[1], [3, 0], [2]]
    """
    token = _padded.set(True)
    try:
        yield
    finally:
        _padded.reset(token)


def slice_positions(count: int, slice_size: int) -> Iterator[Ints]:
    """Yield the positions in their order, `slice_size` at a time.

    >>> [b.tolist() for b in slice_positions(3, 2)]
    [[0, 1], [2]]
    """
    return (np.arange(start, min(start + slice_size, count)) for start in range(0, count, slice_size))


def run_or_halve_batch(run: Callable[[Ints], NDArray[np.float32]], positions: Ints) -> Iterator[Batch]:
    """Run the batch. If memory runs out, run its halves, and raise the error if a single text does not fit."""
    try:
        vectors = run(positions)
    except Exception as error:
        if len(positions) < 2 or not is_out_of_memory(error):
            raise
    else:
        yield positions, vectors
        return
    middle = len(positions) // 2  # outside of `except`, so that the failed attempt's tensors are freed
    log.warning("out of memory with %d texts in a batch: continuing with %d", len(positions), middle)
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_available():
        sys.modules["torch"].cuda.empty_cache()
    yield from run_or_halve_batch(run, positions[:middle])
    yield from run_or_halve_batch(run, positions[middle:])


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether the error means that a device or the machine ran out of memory."""
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in OUT_OF_MEMORY)


def run_on_replicas(
    replicas: Sequence[Replica], batches: Iterable[Ints], run: Callable[[Replica, Ints], NDArray[np.float32]]
) -> Iterator[Batch]:
    """Run each batch on a free replica, and yield the results in the order of the batches."""
    if len(replicas) == 1:
        for positions in batches:
            yield from run_or_halve_batch(partial(run, replicas[0]), positions)
        return
    from concurrent.futures import ThreadPoolExecutor
    from queue import SimpleQueue

    free: SimpleQueue[Replica] = SimpleQueue()
    for replica in replicas:
        free.put(replica)

    def work(positions: Ints) -> list[Batch]:
        replica = free.get()
        try:
            return list(run_or_halve_batch(partial(run, replica), positions))
        finally:
            free.put(replica)

    with ThreadPoolExecutor(len(replicas)) as pool:
        for done in pool.map(work, batches):
            yield from done


def pick_devices(name: str) -> list[str]:
    """Return the devices to compute on.

    `auto` prefers cuda, then mps, then cpu. `cuda:all` means every GPU. Several names are separated by commas. If a
    device is missing, raise a UsageError that lists the available ones.
    """
    import torch

    limit_torch_threads()
    gpus = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    there = ["cuda"] * bool(gpus) + ["mps"] * torch.backends.mps.is_available() + ["cpu"]
    if name == "auto":
        return there[:1]
    wanted = gpus or ["cuda"] if name == "cuda:all" else name.split(",")
    if missing := next((device for device in wanted if device not in (*there, *gpus)), None):
        raise UsageError(
            f"--device={name}: torch {torch.__version__} sees no {missing} here. Available: "
            f"{', '.join([*there, *gpus])}. Remedy: use one of these, or install the device's driver and a torch "
            f"built for it"
        )
    return wanted


def limit_torch_threads() -> None:
    """Limit torch's threads to the cores that this process may use.

    By default, torch counts all cores of the machine, even if a container may use fewer.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ and torch.get_num_threads() > (share := usable_cores()):
        torch.set_num_threads(share)


def thread_count() -> int:
    """Return how many threads an engine other than torch should start: $OMP_NUM_THREADS, or else the usable cores."""
    variable = os.environ.get("OMP_NUM_THREADS", "")
    return int(variable) if variable.isdigit() and int(variable) else usable_cores()


def usable_cores(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the number of cores that this process may use.

    A container's quota limits it, in cgroups v1 and v2.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            limit, period = map(int, " ".join((cgroup / name).read_text() for name in names).split())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if limit > 0:  # the older version says -1 where there is no limit
            return max(1, min(cores, limit // period))
    return cores


def select_rows(features: dict[str, list[Any]], positions: Ints) -> dict[str, list[Any]]:
    """Return the features of the texts at these positions."""
    return {name: [column[i] for i in positions] for name, column in features.items()}

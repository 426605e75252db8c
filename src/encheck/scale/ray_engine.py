"""The shards done by the actors of a Ray cluster: each loads the model once and takes a shard whenever it is free.

Ray Data hands shards out, restarts actors that die, and does again what they were at. A shard counts once all the same,
for its file is written whole, and one that is there is not done again. What Ray does not know is when to give up: a
small actor beside, the ledger, counts how often a shard was begun, so that one which kills its worker is named.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import encheck
from encheck import errors
from encheck.errors import EncheckError, EncoderError, UsageError
from encheck.scale import storage
from encheck.scale.ray_cluster import check_nodes, connect, imported
from encheck.scale.ray_worker import TRIES, Ledger, Worker
from encheck.scale.shards import Done, Shard, Work

log = logging.getLogger("encheck")
QUEUED = 2  # shards that an actor has at hand, one of them in work
LOOKS_AT_ONCE = 16


class RayEngine:
    """Does shards by actors, one a GPU of the cluster, or else one a CPU.

    `address` is None for a cluster of this machine alone, which ends with `close`; "auto", "host:port" or
    "ray://host:port" for one that runs. `workers` is how many actors there are at most. `folder` is where the files of
    the shards go: every node must see it.
    """

    def __init__(self, folder: str, *, address: str | None = None, workers: int | None = None) -> None:
        self.folder, self.address, self.workers = folder, address, workers
        self._peak: dict[str, float] = {}  # MB, of each worker process
        self._cpu: dict[str, float] = {}  # seconds, likewise
        self._cluster: dict[str, Any] = {}
        self._own = False

    def run(self, work: Work, shards: Sequence[Shard]) -> Iterator[Done]:
        """Do all shards, each once; one that has its file is not done again.

        Raises:
            UsageError: Ray is missing, no cluster is at the address, or a node does not fit: it has other versions, or
                does not see the folder.
            DataError: a shard cannot be read, or its workers died three times; the message names it.
            EncoderError: the model failed.
        """
        with ThreadPoolExecutor(LOOKS_AT_ONCE) as threads:
            seen = list(zip(shards, threads.map(work.found, shards), strict=True))
        yield from (done for _, done in seen if done)
        left = [shard for shard, done in seen if not done]
        if left:
            ray = self._joined(left[0])
            with _said():
                yield from self._by_actors(ray, work, left)
            log.info("Ray did %d shards: %s", len(left), self.spent())

    def about(self) -> dict[str, Any]:
        """What results.json says of it: nothing that differs from one run to the next."""
        return {"kind": "ray", "workers": self.workers or "one a device"}

    def spent(self) -> dict[str, Any]:
        """What it took: workers and their devices, MB of the largest worker process, processor seconds of all."""
        peak, cpu = max(self._peak.values(), default=0.0), sum(self._cpu.values())
        return self._cluster | {"peak_mb": round(peak), "cpu_seconds": round(cpu)}

    def close(self) -> None:
        """End the cluster that this engine started, or leave the one it joined."""
        if self._own:
            imported().shutdown()
            self._own = False

    def _joined(self, shard: Shard) -> Any:
        """Ray, connected; the nodes are looked at once."""
        for place in (self.folder, shard.url):
            if place.startswith(f"{storage.IN_PROCESS}://"):
                raise UsageError(f"{place} is in this process, where workers do not see it: use a path or an s3:// URL")
        ray = imported()
        if not ray.is_initialized():
            connect(ray, self.address, self.workers)
            self._own = True
        if not self._cluster:
            nodes = check_nodes(ray, self.folder, shard.url) if self.address else 1
            self._cluster = {"version": ray.__version__, "nodes": nodes}
        return ray

    def _by_actors(self, ray: Any, work: Work, shards: Sequence[Shard]) -> Iterator[Done]:
        gpus, actors = self._devices(ray, work, len(shards))
        self._cluster |= {"workers": actors, "devices": "gpu" if gpus else "cpu"}
        ledger = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(Ledger).remote(TRIES * actors)
        rows = [{"shard": json.dumps(asdict(shard))} for shard in shards]
        told = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
            Worker,
            fn_constructor_kwargs={"work": work, "ledger": ledger, "version": encheck.__version__},
            compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=QUEUED),
            num_cpus=0 if gpus else 1,
            num_gpus=gpus,
        )
        known = {shard.number: shard for shard in shards}
        for row in told.iter_rows():
            answer = json.loads(row["answer"])
            self._peak[answer["worker"]], self._cpu[answer["worker"]] = answer["peak"], answer["cpu"]
            if "error" in answer:
                raise _error(**answer["error"])
            yield Done(
                known[answer["number"]], answer["path"], answer["counts"], answer["seconds"], (*answer["notes"],)
            )

    def _devices(self, ray: Any, work: Work, shards: int) -> tuple[int, int]:
        """GPUs of each actor, and the number of actors. Work without a model, or on `--device cpu`, takes CPUs."""
        has = ray.cluster_resources()
        device = getattr(work, "device", None)
        gpus = int(has.get("GPU", 0)) if device is not None and not device.name.startswith("cpu") else 0
        most = gpus or max(1, int(has.get("CPU", 1)))
        return int(bool(gpus)), max(1, min(self.workers or most, most, shards))


def _error(kind: str, message: str) -> EncheckError:
    made = getattr(errors, kind, EncheckError)(message)
    assert isinstance(made, EncheckError)
    return made


@contextmanager
def _said() -> Iterator[None]:
    """Turn what Ray itself raises into one message."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise EncoderError(
            f"Ray stopped: {lines[-1]:.300}. Finished shards are kept: run the same command again"
        ) from error

"""The actors of a Ray cluster do the shards: each actor loads the model once and takes a shard whenever it is free.

Ray Data assigns shards, restarts actors that die, and repeats their shards. A shard still counts once, because its file
is written as a whole, and shards with a file are not repeated. Ray never gives up by itself. So a small additional
actor, the ledger, counts how often a shard was begun, to name a shard that kills its workers.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import socket
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypedDict
from uuid import uuid4

import encheck
from encheck import errors
from encheck.errors import DataError, EncheckError, EncoderError, UsageError
from encheck.scale import storage
from encheck.scale.shards import Shard, ShardResult, ShardWork

MEMORY_REMEDY = "Give each worker more memory (fewer workers), or write the file with smaller row groups"
TRIES = 3  # tries for a shard whose worker dies, and for loading the model


class TryLedger:
    """Counts how often each shard was begun, and how often workers began since a shard was last finished."""

    def __init__(self, max_loads: int) -> None:
        self.most = max_loads
        self.tries: Counter[int] = Counter()
        self.begins = 0

    def may_load_model(self) -> bool:
        """Return whether a worker should load the model: False if too many workers died while loading it."""
        self.begins += 1
        return self.begins <= self.most

    def count_try(self, number: int) -> int:
        """Count and return the number of this try of a shard, from 1."""
        self.begins = 0
        self.tries[number] += 1
        return self.tries[number]


@dataclass(frozen=True)
class WorkerError:
    """An error in a worker process: the name of a class of `encheck.errors`, and the message."""

    kind: str
    message: str

    @classmethod
    def of(cls, error: Exception, where: str = "") -> WorkerError:
        """Describe an error, with its origin if encheck did not raise it."""
        if isinstance(error, EncheckError):
            return cls(type(error).__name__, str(error))
        return cls("EncoderError", f"{where}: {type(error).__name__}: {error}")


class RayWorker:
    """A Ray actor that loads the model when it starts. It returns JSON, and returns errors as values."""

    def __init__(self, work: ShardWork, ledger: Any, version: str) -> None:
        self.work, self.ledger = work, ledger
        self.do: Callable[[Shard], ShardResult] | WorkerError
        here = f"{socket.gethostname()}:{os.getpid()}"
        self.name = here
        if version != encheck.__version__:
            self.do = WorkerError.of(UsageError(version_mismatch(here, encheck.__version__, version)))
        elif not _ray_get(ledger.may_load_model.remote()):
            said = f"worker processes died {TRIES} times each while they loaded the model: not enough memory?"
            self.do = WorkerError.of(EncoderError(f"{said} {MEMORY_REMEDY}"))
        else:
            try:
                self.do = self.work.make_shard_function()
            except MemoryError:
                os._exit(1)  # Ray starts a new one, and the ledger counts
            except Exception as error:
                self.do = WorkerError.of(error, f"worker {self.name}")

    def __call__(self, row: Mapping[str, str]) -> dict[str, str]:
        """Do the shard that a row describes."""
        done = self._do_shard(Shard(**json.loads(row["shard"])))
        most = 0
        with suppress(ImportError):  # Windows
            import resource

            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = most / (2**20 if sys.platform == "darwin" else 2**10)  # MB
        answer = {"error" if isinstance(done, WorkerError) else "result": asdict(done)}
        used = {"worker": self.name, "peak": peak, "cpu": time.process_time()}
        return {"answer": json.dumps(used | answer)}

    def _do_shard(self, shard: Shard) -> ShardResult | WorkerError:
        if isinstance(self.do, WorkerError):
            return self.do
        tries = _ray_get(self.ledger.count_try.remote(shard.number))
        done = self.work.stored_result(shard) if tries > 1 else None
        if done is None and tries > TRIES:
            said = f"{shard}: worker processes died at it {TRIES} times: not enough memory, or a row that crashes"
            return WorkerError.of(DataError(f"{said}. {MEMORY_REMEDY}"))
        try:
            return done or self.do(shard)
        except MemoryError:
            os._exit(1)
        except Exception as error:
            return WorkerError.of(error, str(shard))


def _ray_get(promise: Any) -> Any:
    import ray

    return ray.get(promise)


def version_mismatch(place: str, theirs: str, here: str) -> str:
    """Return the message that versions differ, with the remedy."""
    return f"{place} has encheck {theirs}, but the run has {here}: install the same version on both"


PATIENCE = 120.0  # seconds for a node to answer
ANSWERS = 10.0  # seconds for a port
OBJECT_STORE = 100 * 2**20  # bytes: only names of shards and counts pass through it
MISSING = "--engine=ray needs Ray: pip install 'encheck[ray]'"
RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}
OTHER_VERSION = re.compile(r"ray:\s*([\w.+]+)\s*python:\s*([\w.+]+)", re.IGNORECASE)
CLUSTER_REMEDY = "Start one with `ray start --head`, or leave --address out to use only this machine"


def import_ray() -> Any:
    """Import Ray without its telemetry and return it."""
    for name, value in RAY_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
            import ray.data

            context = ray.data.DataContext.get_current()
    except ImportError as error:
        raise UsageError(f"{MISSING} ({error})") from error
    context.enable_progress_bars = context.print_on_execution_start = False
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return ray


def connect_ray(ray: Any, address: str | None, workers: int | None) -> None:
    """Join the cluster at the address, or start a cluster on this machine."""
    start = partial(ray.init, log_to_driver=False, logging_level="ERROR", configure_logging=True)
    if address is None:
        cpus = workers or os.cpu_count() or 1
        start = partial(
            start, address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=OBJECT_STORE
        )
    else:
        _refuse_closed_port(address)
        start = partial(start, address=address)
    try:
        with warnings.catch_warnings(), _silence_stderr():
            warnings.simplefilter("ignore")
            start()
    except Exception as error:  # Ray's exceptions here have no common base class
        raise UsageError(_connection_problem(ray, address, str(error))) from error


def _refuse_closed_port(address: str) -> None:
    """Raise UsageError if nothing listens at host:port, which Ray would notice only after minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not (host and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=ANSWERS).close()
    except OSError as error:
        raise UsageError(f"--address={address}: nothing listens there ({error}). {CLUSTER_REMEDY}") from error


@contextmanager
def _silence_stderr() -> Iterator[None]:
    """Suppress the message of Ray's C++ core that its log was redirected."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _connection_problem(ray: Any, address: str | None, said: str) -> str:
    """Return why there is no connection, and the remedy."""
    versions = OTHER_VERSION.findall(said)
    if "ersion mismatch" in said and versions:
        theirs, here = versions[0], f"{ray.__version__} and Python {platform.python_version()}"
        return (
            f"--address={address}: the cluster has Ray {theirs[0]} and Python {theirs[1]}, this machine has "
            f"Ray {here}. Install the same versions on both"
        )
    first = (said.splitlines() or ["no reason given"])[0]
    if address is None:
        return f"Ray did not start on this machine: {first}"
    locked = ". If it asks for a token, as newer ones do, set RAY_AUTH_MODE=token"
    return f"--address={address}: no Ray cluster answers there ({first:.200}). {CLUSTER_REMEDY}{locked}"


class NodeAnswer(TypedDict, total=False):
    """What a node answers: encheck's version there, and whether the node sees the folder of shards and the data.

    `missing` is why encheck cannot be imported there, `problem` what else went wrong.
    """

    missing: str
    version: str
    sees: bool
    reads: bool
    problem: str


def check_nodes(ray: Any, folder: str, data: str) -> int:
    """Ask each node for its versions, and whether it sees the folder and the data. Return the number of nodes."""
    token = uuid4().hex
    mark = storage.join(folder, f"_probe-{token}")
    storage.write_whole(mark, b"driver")
    nodes = [node for node in ray.nodes() if node["Alive"]]
    made = [mark]
    try:
        asked = [(node, storage.join(folder, f"_probe-{token}-{i}")) for i, node in enumerate(nodes)]
        made += [own for _, own in asked]
        answers = [_ask_node(ray, node["NodeID"], mark, own, data) for node, own in asked]
        for (node, own), answer in zip(asked, answers, strict=True):
            check_node(node["NodeManagerHostname"], _await_answer(ray, answer), own, folder, data)
    finally:
        for place in made:
            with suppress(DataError):
                storage.remove(place)
    return len(nodes)


def _ask_node(ray: Any, node: str, mark: str, own: str, data: str) -> Any:
    """Return the future of a node's answer. The function is sent by value, because a node may lack encheck."""

    def describe_node() -> NodeAnswer:
        try:
            import encheck
            from encheck.scale import storage
        except ImportError as error:
            return {"missing": str(error)}
        answer: NodeAnswer = {"version": encheck.__version__}
        try:
            answer["sees"] = storage.exists(mark)
            answer["reads"] = storage.exists(data)
            storage.write_whole(own, b"node")
        except Exception as error:
            answer["problem"] = str(error)
        return answer

    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(num_cpus=0, max_retries=TRIES, scheduling_strategy=there)(describe_node).remote()


def _await_answer(ray: Any, answer: Any) -> NodeAnswer:
    try:
        found: NodeAnswer = ray.get(answer, timeout=PATIENCE)
    except ray.exceptions.GetTimeoutError:
        return {"problem": f"it does not answer in {PATIENCE:.0f} seconds"}
    except ray.exceptions.RayError as error:
        return {"problem": (str(error).splitlines() or [type(error).__name__])[0]}
    return found


def check_node(name: str, answer: NodeAnswer, own: str, folder: str, data: str) -> None:
    """Raise UsageError if this node cannot do the work."""
    shared = "give --shards-dir a folder that all nodes mount, or an s3:// URL"
    if "missing" in answer:
        raise UsageError(f"Ray node {name}: encheck cannot be imported there ({answer['missing']}): install it")
    if "version" in answer and answer["version"] != encheck.__version__:
        raise UsageError(version_mismatch(f"Ray node {name}", answer["version"], encheck.__version__))
    if "problem" in answer:
        raise UsageError(f"Ray node {name}: {answer['problem']}")
    if not answer["sees"] or not storage.exists(own):
        raise UsageError(f"Ray node {name} does not see the folder of finished shards, {folder}: {shared}")
    if not answer["reads"]:
        raise UsageError(
            f"Ray node {name} does not see the data, {data}: put them where all nodes can read them, or at an s3:// URL"
        )


log = logging.getLogger("encheck")
QUEUED = 2  # shards assigned to an actor, including the current one
LOOKS_AT_ONCE = 16


class RayEngine:
    """Does shards with actors, one per GPU of the cluster, or one per CPU if it has no GPU.

    `address` is None for a cluster on this machine alone, which `close` ends, or "auto", "host:port" or
    "ray://host:port" for a running cluster. `workers` is the maximum number of actors. `folder` is the folder for the
    files of the shards. Every node must see it.
    """

    def __init__(self, folder: str, *, address: str | None = None, workers: int | None = None) -> None:
        self.folder, self.address, self.workers = folder, address, workers
        self._nodes = 0  # 0 until they are checked
        self._own = False

    def run(self, work: ShardWork, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        """Do all shards, each once; a shard with a file is not repeated.

        Raises:
            UsageError: Ray is missing, no cluster is at the address, or a node does not fit: it has other versions, or
                does not see the folder.
            DataError: a shard cannot be read, or its workers died three times; the message names it.
            EncoderError: the model failed.
        """
        with ThreadPoolExecutor(LOOKS_AT_ONCE) as threads:
            seen = list(zip(shards, threads.map(work.stored_result, shards), strict=True))
        yield from (done for _, done in seen if done)
        left = [shard for shard, done in seen if not done]
        if left:
            ray = self._connect(left[0])
            with _translate_ray_errors():
                yield from self._run_actors(ray, work, left)

    def about(self) -> dict[str, int | str]:
        """Return the description in results.json, without anything that differs between runs."""
        return {"kind": "ray", "workers": self.workers or "one a device"}

    def close(self) -> None:
        """End the cluster that this engine started, or leave the one that it joined."""
        if self._own:
            import_ray().shutdown()
            self._own = False

    def _connect(self, shard: Shard) -> Any:
        """Return Ray after connecting, and check the nodes once."""
        for place in (self.folder, shard.url):
            if place.startswith(f"{storage.IN_PROCESS}://"):
                raise UsageError(f"{place} is in this process, which workers cannot see: use a path or an s3:// URL")
        ray = import_ray()
        if not ray.is_initialized():
            connect_ray(ray, self.address, self.workers)
            self._own = True
        if not self._nodes:
            self._nodes = check_nodes(ray, self.folder, shard.url) if self.address else 1
        return ray

    def _run_actors(self, ray: Any, work: ShardWork, shards: Sequence[Shard]) -> Iterator[ShardResult]:
        has, device = ray.cluster_resources(), getattr(work, "device", None)
        is_cpu_work = device is None or device.name.startswith("cpu")  # work without a model, or on `--device cpu`
        devices = 0 if is_cpu_work else int(has.get("GPU", 0))
        gpus, most = int(bool(devices)), devices or max(1, int(has.get("CPU", 1)))
        actors = max(1, min(self.workers or most, most, len(shards)))
        ledger = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(TryLedger).remote(TRIES * actors)
        rows = [{"shard": json.dumps(asdict(shard))} for shard in shards]
        told = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
            RayWorker,
            fn_constructor_kwargs={"work": work, "ledger": ledger, "version": encheck.__version__},
            compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=QUEUED),
            num_cpus=0 if gpus else 1,
            num_gpus=gpus,
        )
        peak: dict[str, float] = {}  # MB, of each worker process
        cpu: dict[str, float] = {}  # seconds, likewise
        for row in told.iter_rows():
            answer = json.loads(row["answer"])
            peak[answer["worker"]], cpu[answer["worker"]] = answer["peak"], answer["cpu"]
            if "error" in answer:
                raise getattr(errors, answer["error"]["kind"], EncheckError)(answer["error"]["message"])
            done = answer["result"]
            yield ShardResult(
                Shard(**done["shard"]), done["path"], done["counts"], done["seconds"], tuple(done["notes"])
            )
        log.info(
            "Ray %s measured %d shards on %d nodes: %d workers on %s, the largest with %.0f MB, %.0f processor seconds",
            ray.__version__, len(shards), self._nodes, actors, "GPUs" if gpus else "CPUs", max(peak.values()),
            sum(cpu.values()),
        )  # fmt: skip


@contextmanager
def _translate_ray_errors() -> Iterator[None]:
    """Turn the exceptions of Ray into one message."""
    import ray

    try:
        yield
    except ray.exceptions.RayError as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise EncoderError(
            f"Ray stopped: {lines[-1]:.300}. Finished shards are kept: run the same command again"
        ) from error

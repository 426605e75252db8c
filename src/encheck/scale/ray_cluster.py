"""Ray, imported only when asked for; the cluster that is joined or started, and whether its nodes fit."""

from __future__ import annotations

import logging
import os
import platform
import re
import socket
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import encheck
from encheck.errors import DataError, UsageError
from encheck.scale import storage
from encheck.scale.ray_worker import TRIES, other_encheck

PATIENCE = 120.0  # seconds for a node to answer
ANSWERS = 10.0  # seconds for a port
OBJECT_STORE = 100 * 2**20  # bytes: only names of shards and counts pass through it
MISSING = "--engine=ray needs Ray: pip install 'encheck[ray]'"
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}
OTHER_VERSION = re.compile(r"ray:\s*([\w.+]+)\s*python:\s*([\w.+]+)", re.IGNORECASE)
ABOUT_CLUSTERS = "Start one with `ray start --head`, or leave --address out to use this machine alone"


def imported() -> Any:
    """Ray, imported without its telemetry."""
    for name, value in QUIET.items():
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


def connect(ray: Any, address: str | None, workers: int | None) -> None:
    """Join the cluster at the address, or start one of this machine."""
    more: dict[str, Any] = {"address": address}
    if address:
        _refuse_deaf(address)
    if address is None:
        cpus = workers or os.cpu_count() or 1
        more = {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": OBJECT_STORE, "address": "local"}
    try:
        with warnings.catch_warnings(), _hushed():
            warnings.simplefilter("ignore")
            ray.init(**more, log_to_driver=False, logging_level="ERROR", configure_logging=True)
    except Exception as error:  # Ray has no common base for what goes wrong here
        raise UsageError(_not_connected(ray, address, str(error))) from error


def _refuse_deaf(address: str) -> None:
    """UsageError where nothing listens at host:port, which Ray would find out after minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not (host and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=ANSWERS).close()
    except OSError as error:
        raise UsageError(f"--address={address}: nothing listens there ({error}). {ABOUT_CLUSTERS}") from error


@contextmanager
def _hushed() -> Iterator[None]:
    """Nothing on the terminal from Ray's C++ core, which says there that it was told to be quiet."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _not_connected(ray: Any, address: str | None, said: str) -> str:
    """Why there is no connection, and what to do."""
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
    return f"--address={address}: no Ray cluster answers there ({first:.200}). {ABOUT_CLUSTERS}{locked}"


def check_nodes(ray: Any, folder: str, data: str) -> int:
    """Ask every node for its versions, and whether it sees the folder and the data; how many there are."""
    token = uuid4().hex
    mark = storage.join(folder, f"_probe-{token}")
    storage.write_whole(mark, b"driver")
    nodes = [node for node in ray.nodes() if node["Alive"]]
    made = [mark]
    try:
        asked = [(node, storage.join(folder, f"_probe-{token}-{i}")) for i, node in enumerate(nodes)]
        made += [own for _, own in asked]
        answers = [_asked(ray, node["NodeID"], mark, own, data) for node, own in asked]
        for (node, own), answer in zip(asked, answers, strict=True):
            check_node(node["NodeManagerHostname"], _answered(ray, answer), own, folder, data)
    finally:
        for place in made:
            with suppress(DataError):
                storage.remove(place)
    return len(nodes)


def _asked(ray: Any, node: str, mark: str, own: str, data: str) -> Any:
    """The promise of a node's answer. The function travels whole, for a node may lack encheck."""

    def probe() -> dict[str, Any]:
        try:
            import encheck
            from encheck.scale import storage
        except ImportError as error:
            return {"missing": str(error)}
        answer: dict[str, Any] = {"version": encheck.__version__}
        try:
            answer["sees"] = storage.exists(mark)
            answer["reads"] = storage.exists(data)
            storage.write_whole(own, b"node")
        except Exception as error:
            answer["problem"] = str(error)
        return answer

    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    return ray.remote(num_cpus=0, max_retries=TRIES, scheduling_strategy=there)(probe).remote()


def _answered(ray: Any, answer: Any) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = ray.get(answer, timeout=PATIENCE)
    except ray.exceptions.GetTimeoutError:
        return {"problem": f"it does not answer in {PATIENCE:.0f} seconds"}
    except ray.exceptions.RayError as error:
        return {"problem": (str(error).splitlines() or [type(error).__name__])[0]}
    return found


def check_node(name: str, answer: Mapping[str, Any], own: str, folder: str, data: str) -> None:
    """UsageError if this node cannot do the work."""
    shared = "give --shards-dir a folder that all nodes mount, or an s3:// URL"
    if "missing" in answer:
        raise UsageError(f"Ray node {name}: encheck cannot be imported there ({answer['missing']}): install it")
    if "version" in answer and answer["version"] != encheck.__version__:
        raise UsageError(other_encheck(f"Ray node {name}", answer["version"], encheck.__version__))
    if "problem" in answer:
        raise UsageError(f"Ray node {name}: {answer['problem']}")
    if not answer["sees"] or not storage.exists(own):
        raise UsageError(f"Ray node {name} does not see the folder of finished shards, {folder}: {shared}")
    if not answer["reads"]:
        raise UsageError(
            f"Ray node {name} does not see the data, {data}: put them where all nodes read, or at an s3:// URL"
        )

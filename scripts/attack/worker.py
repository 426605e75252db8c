"""One process that makes tries: each in an empty folder, watched for time, memory, and what it runs."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import canary
from attacks import MEGABYTES, Attack, Failed

SHARED = "ENCHECK_ATTACK_SHARED"  # the variable that names the folder of `once_for_all`
SLACK = 2.0  # seconds beyond its own that a try has until it is stopped
HERE = {"folder": Path()}  # of this process; what is made once for all tries goes there


class TooLong(BaseException):
    """Raised in a try that takes longer than it may, past whatever catches exceptions."""


def serve(made: Attack, seeds: Sequence[int], pipe: int) -> int:
    """Make the tries; write [seed, what was wrong] as a line of JSON into the pipe after each."""
    with _place(made), os.fdopen(pipe, "w", buffering=1) as told:
        told.write(json.dumps([None, ""]) + "\n")  # ready
        for seed in seeds:
            why = outcome(made, seed)
            told.write(json.dumps([seed, why]) + "\n")
    return 0


def once(chosen: Sequence[Attack], seed: int) -> int:
    """One try of each attack, with its traceback."""
    failed = 0
    for made in chosen:
        with _place(made):
            try:
                _attempt(made, seed)
            except (Exception, TooLong):
                failed = 1
                traceback.print_exc()
            else:
                print(f"{made.id} --seed {seed}: survived")
    return failed


@contextmanager
def _place(made: Attack) -> Iterator[None]:
    """A folder for the process, its own store, no network, and what the first try would wait for."""
    with tempfile.TemporaryDirectory(prefix="encheck-attack-", ignore_cleanup_errors=True) as name:
        HERE["folder"] = Path(name)
        os.environ |= {"ENCHECK_STORE": f"{name}/store.sqlite", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        os.environ |= {"HF_HOME": f"{name}/hub", "COLUMNS": "200", "TF_CPP_MIN_LOG_LEVEL": "3"}
        os.environ.pop("PYTEST_XDIST_WORKER", None)
        os.chdir(name)
        if made.ready:
            made.ready()
        yield
        os.chdir("/")


def common(name: str) -> Path:
    """A folder that the tries of this process share, made when it is first asked for."""
    path = HERE["folder"] / "common" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def once_for_all(name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the processes of all attacks share, made by the first that asks for it."""
    from filelock import FileLock

    shared = Path(os.environ.get(SHARED) or HERE["folder"])
    path, unfinished = shared / name, shared / f"{name}.unfinished"
    with FileLock(shared / f"{name}.being-made"):
        if not path.exists():
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(path)
    return path


def outcome(made: Attack, seed: int) -> str:
    """What was wrong with a try; empty where nothing was."""
    before, begun = _megabytes(), time.monotonic()
    try:
        _attempt(made, seed)
    except Failed as failed:
        return str(failed)
    except TooLong:
        return f"took longer than {made.seconds:g} s: {traceback.format_exc(limit=-3)}"
    except BaseException as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"traceback: {type(error).__name__}: {str(error)[:300]} ({at.filename}:{at.lineno})"
    if (took := time.monotonic() - begun) > made.seconds:
        return f"took {took:.1f} s"
    if (more := _megabytes() - before) > MEGABYTES:
        return f"took {more} MB"
    return ""


def _attempt(made: Attack, seed: int) -> None:
    folder = HERE["folder"] / f"try-{seed}"
    folder.mkdir()
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, made.seconds + SLACK, SLACK)
    try:
        with canary.watching(folder):
            made.work(seed, made.random(seed), folder)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.chdir(HERE["folder"])
        shutil.rmtree(folder, ignore_errors=True)


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


def _megabytes() -> int:
    """The largest size that the process has had."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size // (1_024 if sys.platform != "darwin" else 1_048_576)

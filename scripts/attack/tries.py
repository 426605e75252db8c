"""Tries run in processes of their own, so that one that dies, or never ends, is counted and the next one begins."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attacks import Attack

AT_ONCE = 500  # tries a process
READY = 240.0  # seconds that a process may take before its first try
LATE = 30.0  # seconds beyond its own limit until a try is given up


@dataclass(frozen=True, slots=True)
class Tally:
    """How an attack went; `failed` says why, by seed."""

    name: str
    tries: int
    failed: Mapping[Any, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def survived(self) -> int:
        return self.tries - len(self.failed)


def run_all(made: Attack, seeds: Sequence[int]) -> Tally:
    """Try these seeds, in as many processes as it takes."""
    left, failed, begun = list(seeds), {}, time.monotonic()
    while left:
        ended, why = _some(made, left[:AT_ONCE])
        failed |= {seed: said for seed, said in why.items() if said}
        left = left[len(ended) :]
    return Tally(made.id, len(seeds), failed, time.monotonic() - begun)


def _some(made: Attack, seeds: Sequence[int]) -> tuple[list[int], dict[int, str]]:
    """The seeds that came to an end in one process, and what was wrong with each (empty: nothing)."""
    reading, writing = os.pipe()
    command = [sys.executable, str(Path(__file__).parent), made.id, "--worker", str(writing), "--seeds"]
    process = subprocess.Popen(
        [*command, *map(str, seeds)], pass_fds=[writing], start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        told = dict(_lines(pipe, made.seconds))
    _end(process)
    is_ready = told.pop(None, None) is not None
    lost = seeds[len(told)] if len(told) < len(seeds) else None
    if lost is not None and process.returncode != -signal.SIGKILL:
        why = f"the process ended with {process.returncode}: {_last(process)}"
    else:
        why = f"no end within {made.seconds + LATE:g} s"
    if not is_ready:
        return list(seeds), dict.fromkeys(seeds, f"it did not begin: {why}")
    ended = {seed: said for seed, said in told.items() if seed is not None}
    ended |= {lost: why} if lost is not None else {}
    return list(ended), ended


def _lines(pipe: Any, seconds: float) -> Iterator[tuple[int | None, str]]:
    """(seed, what was wrong) as they come, first (None, ""), until the process ends or is silent for too long."""
    waiting, kept = READY + seconds, b""
    while select.select([pipe], [], [], waiting)[0]:
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            return
        *lines, kept = (kept + piece).split(b"\n")
        waiting = seconds + LATE
        yield from (tuple(json.loads(line)) for line in lines)


def _end(process: subprocess.Popen[bytes]) -> None:
    """What is left of it ends; its exit code stays as it was where it had ended."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last(process: subprocess.Popen[bytes]) -> str:
    """The last lines that it wrote."""
    assert process.stderr
    said = process.stderr.read().decode("utf-8", "replace").strip().splitlines()
    return " | ".join(said[-3:])[-600:]

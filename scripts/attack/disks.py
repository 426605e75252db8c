"""Disks that fill, fail, forbid, or do not rename, at every step of every writing; and disks that are small.

What was there before is as it was, or it is the new one; nothing half is left; the error is encheck's own and names
the file. What is computed although it cannot be kept is right.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import canary
from attacks import Attack, Failed, add, add_cases, attack
from kills import PROGRAM, RUN, content, refuse_broken_baseline, template
from mutated import baseline, filled, refuse_wrong, runs
from reading import command


@dataclass(frozen=True, slots=True)
class Writing:
    """`make` lays out what is there before; `write` replaces it, another time with other content."""

    name: str
    make: Callable[[Path], object]
    write: Callable[[Path], object]


def of_baseline(folder: Path) -> None:
    from gate_fakes import CASE, columns, results, scores

    from encheck.gating.baseline import model_tables, save_baseline

    found = {f"{CASE}/m-d-1": columns(*scores(seed=3))}
    save_baseline(folder / "base", results(), model_tables(results(), found, "m"), model="m")


def done(*args: object) -> None:
    """Give a command; UsageError with what it says where it refuses."""
    from encheck.errors import UsageError

    code, text = command(*args)
    if code:
        raise UsageError(text)


def of_export(folder: Path) -> None:
    done("export", folder / "a", "--to=csv", "--out", folder / "exports")


def of_report(folder: Path) -> None:
    done("export", folder / "a")


def of_compare(folder: Path) -> None:
    args = ("compare", folder / "a", folder / "b", "--out", folder / "both.html", "--json", folder / "both.json")
    done(*args)


def of_run(folder: Path) -> None:
    from test_reporting import items, results, row

    from encheck.engine.folder import write_report
    from encheck.scoring.frame import RunItems, item_table

    write_report(folder / "run", results(row()), RunItems.from_tables(map(item_table, items().values())))


def made(*works: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        for work in works:
            work(folder)

    return make


WRITINGS = (
    Writing("a baseline", baseline, of_baseline),
    Writing("exports", made(runs, of_export), of_export),
    Writing("a report", made(runs, of_report), of_report),
    Writing("a comparison", made(runs, of_compare), of_compare),
    Writing("the results of a run", of_run, of_run),
)
FAULTS: dict[str, dict[str, Any]] = {
    "a full disk": {"full": True},
    "an I/O error": {"full": True, "error": errno.EIO},
    "a disk that may only be read": {"full": True, "error": errno.EROFS},
    "a quota": {"full": True, "error": errno.EDQUOT},
    "no renaming": {"error": errno.EACCES, "only": ("replace",)},
    "no renaming across disks": {"error": errno.EXDEV, "only": ("replace",)},
    "no removing": {"error": errno.EPERM, "only": ("unlink",)},
    "no flushing": {"error": errno.EIO, "only": ("fsync",)},
    "a kill": {},
}


def at_every_step(writing: Writing, fault: dict[str, Any], folder: Path) -> None:
    """Fail one step later each time, on what the times before have left."""
    from faults import Killed, steps

    from encheck.errors import EncheckError

    fast = contextlib.ExitStack()
    with fast:
        fast.callback(setattr, os, "fsync", os.fsync)
        os.fsync = lambda number: None  # type: ignore[assignment]
        writing.make(folder)
        before = contents(folder)
        shutil.copytree(folder, folder / "after")  # fingerprints name the folder that runs were made in
        writing.write(folder / "after")
        after = contents(folder / "after")
        shutil.rmtree(folder / "after")
        for error in steps(partial(writing.write, folder), **fault):
            if not isinstance(error, EncheckError | Killed):
                raise Failed(f"{writing.name}: {type(error).__name__}: {error}") from error
            refuse_half(writing, folder, before, after, was_killed=isinstance(error, Killed))
        if contents(folder) != after:
            raise Failed(f"{writing.name}: in the end it is another than without a fault")


def refuse_half(writing: Writing, folder: Path, before: Any, after: Any, *, was_killed: bool) -> None:
    """Failed where a file is neither the old nor the new one; in a process that lives on, where something is left."""
    now = contents(folder)
    if (folder / "base").is_dir():
        refuse_broken_baseline(folder / "base")
    for name, value in before.items():
        if name.startswith("base/"):
            continue
        if now.get(name) not in (value, after.get(name)):
            raise Failed(f"{writing.name}: {name} is neither the old nor the new one")
    known = ("base/", *before, *after)  # of a baseline, the items may still have the name that they were written under
    left = [name for name in now if not name.startswith(known)]
    if left and not was_killed:
        raise Failed(f"{writing.name}: {left[0]} is left")


def contents(folder: Path) -> dict[str, Any]:
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: seen(path) for name, path in found.items()}


def seen(path: Path) -> Any:
    """What a file holds but for its times; of a file that is half, the bytes."""
    try:
        return content(path)
    except Exception:
        return path.read_bytes()


def cases() -> Iterator[Callable[[Path], None]]:
    for fault in FAULTS.values():
        yield from (partial(at_every_step, writing, fault) for writing in WRITINGS)


def ready() -> None:
    import encheck.comparing  # noqa: F401
    from encheck.cli import app

    assert app


add_cases("disks", "at-every-step", list(cases()), default=21, ready=ready, seconds=60.0)


# the store


@attack("disks", default=20, full=200, ready=filled)
def store_on_a_small_disk(seed: int, rng: random.Random, folder: Path) -> None:
    """The store may not grow beyond some size: what does not fit is not there, what is there is right."""
    from test_store import KEYS

    from encheck.store import Store

    _, vectors = filled()
    opened = Store(folder / "store.sqlite")
    try:
        opened._db.execute(f"PRAGMA max_page_count = {rng.randrange(4, 60)}")
        at = 0
        while at < len(KEYS):
            size = rng.choice((1, 7, 50))
            opened.put("vector", "f", KEYS[at : at + size], vectors[at : at + size], name="f")
            at += size
        got, there = opened.get("vector", "f", KEYS)
        refuse_wrong(got, there, vectors)
        if there.all() and opened._full:
            raise Failed("it says that it is full, and holds all")
    finally:
        opened.close()


def run_on_a_small_disk(seed: int, rng: random.Random, folder: Path) -> None:
    """A whole run in which no file may be larger than some size, over an older baseline."""
    canary.may_start_processes()
    copy = folder / "copy"
    shutil.copytree(template(), copy)
    for path in copy.glob("store.sqlite*") if seed % 2 else ():
        path.unlink()
    limit = int(10 ** rng.uniform(2, 6))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *RUN, "--save-baseline=base"], cwd=copy, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(copy), "ENCHECK_STORE": str(copy / "store.sqlite")}, timeout=110,
        preexec_fn=partial(small, limit), check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    if done.returncode < 0 or "Traceback" in said or "INTERNALERROR" in said:
        raise Failed(f"files of at most {limit} bytes: exit code {done.returncode}: {said[-400:]}")
    refuse_broken_baseline(copy / "base")
    if left := [path.name for path in copy.rglob(".encheck-partial-*")]:
        raise Failed(f"files of at most {limit} bytes: {left[0]} is left")


def small(limit: int) -> None:
    """No file grows beyond this; a process that tries gets an error, as on a full disk, instead of a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


add(Attack("disks", "run-on-a-small-disk", run_on_a_small_disk, 4, 60, template, 150.0))

"""Commands killed at random moments, then given again: they end as if nothing had happened.

Half of the kills come at a step on the disk (killing/sitecustomize.py), half at a moment of the clock; both are drawn
from the seed, the latter as a share of the time that the command takes when nobody kills it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import canary
from attacks import Attack, Failed, add
from worker import common, once_for_all

HERE = Path(__file__).parent
STORE = "store.sqlite"
SECONDS = 240.0  # that a try may take: a run, the run again, and now and then both once more
DATA = ("--data=probes:probes.jsonl", "-m", "synonym")
RUN = ("run", "--model=slow", *DATA, "--report-dir=out", "-q")
PROGRAM = "import sys; from encheck.cli import main; main(sys.argv[1:])"


@dataclass(frozen=True, slots=True)
class Command:
    """A command, given in a folder that holds what earlier commands wrote.

    `keeps` are the files of before of which nothing may be lost: each is as it was, or as it is afterwards.
    `late`: killed in the last quarter of its time and steps alone. `cold`: without what earlier runs encoded.
    """

    name: str
    args: tuple[str, ...]
    keeps: tuple[str, ...] = ()
    late: bool = False
    cold: bool = True
    may_differ: bool = False


COMMANDS = (
    Command("run", RUN),
    Command("run-in-workers", (*RUN, "-n", "2")),
    Command("page", RUN, late=True, cold=False),
    Command("save-baseline", (*RUN, "--save-baseline=base"), ("base/baseline.json", "base/items.parquet")),
    Command("save-baseline-at-the-end", (*RUN, "--save-baseline=base"), ("base/baseline.json", "base/items.parquet"),
            late=True, cold=False),
    Command("gate", ("gate", "slow", "./base", *DATA, "--report-dir=gated", "-q"),
            ("base/baseline.json", "base/items.parquet", "out/results.json")),
    Command("gate-of-a-model", ("gate", "slow", "bag-of-words", *DATA, "--report-dir=gated", "-q"),
            ("out/results.json",)),
    Command("export", ("export", "out"), ("out/results.json", "out/items.parquet", "out/report.html")),
    Command("export-to-csv", ("export", "out", "--to=csv"),
            ("out/results.json", "out/items.parquet", "out/exports/figures.csv")),
    Command("compare", ("compare", "out", "other", "--out", "both.html", "--json", "both.json"),
            ("out/results.json", "other/results.json", "both.json", "both.html")),
    Command("predictions", ("run", "--data", "pairs:pairs.csv", "--predictions", "theirs.csv", "--json", "scored.json"),
            ("scored.json", "theirs.csv")),
    Command("store", ("store", "prune", "--limit-mb", "0.1"), ("out/results.json",), cold=False, may_differ=True),
)  # fmt: skip
BEFORE = (
    (*RUN, "--save-baseline=base"),
    ("run", "--model=bag-of-words", *DATA, "--report-dir=other", "-q"),
    ("export", "out", "--to=csv"),
    ("compare", "out", "other", "--out", "both.html", "--json", "both.json"),
    ("run", "--data", "pairs:pairs.csv", "--predictions", "theirs.csv", "--seed", "3", "--json", "scored.json"),
)


def template() -> Path:
    """A folder in which all of BEFORE was done; made once for all attacks."""
    return once_for_all("kills", _begin)


def _begin(folder: Path) -> None:
    from test_interruptions import ADAPTER
    from test_pairs import write

    (folder / "slow.py").write_text(ADAPTER)
    (folder / "models.yaml").write_text("slow: {adapter: 'slow:Slow'}\n")
    lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
    (folder / "probes.jsonl").write_text("\n".join(lines[::3]), "utf-8")
    texts = [json.loads(line)["sentence"] for line in lines[:80] if line]
    write(folder / "pairs.csv", [(texts[i], texts[i + 40], i % 2) for i in range(40)])
    (folder / "theirs.csv").write_text("prediction,score\n" + "".join(f"{i % 2},{i / 40}\n" for i in range(40)))
    for args in BEFORE:
        if (code := finish(begin(folder, args))) not in (0, 1):
            raise Failed(f"{' '.join(args)}: exit code {code}")
    (folder / "encoders.log").unlink(missing_ok=True)
    (folder / f"{STORE}.auto-all.lock").unlink(missing_ok=True)


def begin(folder: Path, args: tuple[str, ...], **counting: str) -> subprocess.Popen[str]:
    """Start a command in a folder, with a store of its own there."""
    found = os.pathsep.join(filter(None, (str(folder), str(HERE / "killing"), os.environ.get("PYTHONPATH"))))
    mine = {"PYTHONPATH": found, "ENCHECK_STORE": str(folder / STORE), "SLOWNESS": "0.02", "OMP_NUM_THREADS": "1"}
    mine |= {f"ENCHECK_ATTACK_{name}": value for name, value in counting.items()}
    with (folder / "said").open("w") as said:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *args], cwd=folder, env=os.environ | mine, stdin=subprocess.DEVNULL,
            stdout=said, stderr=said, text=True, start_new_session=True,
        )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> int:
    """The exit code; Failed where the process does not end."""
    try:
        return process.wait(timeout=SECONDS / 2)
    except subprocess.TimeoutExpired:
        kill(process)
        raise Failed("the command did not end") from None


def kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass(frozen=True, slots=True)
class Reference:
    """How a command ends that nobody kills."""

    code: int
    state: Mapping[str, Any]
    before: Mapping[str, Any]
    steps: int
    seconds: float


@cache
def reference(command: Command) -> Reference:
    """The command in a copy of the template, uninterrupted."""
    folder = fresh(command, common(f"reference-{command.name}") / "copy")
    before, begun = state(folder), time.monotonic()
    code = finish(begin(folder, command.args, FOLDER=str(folder), STEPS=str(folder / "steps")))
    took = time.monotonic() - begun
    steps = int((folder / "steps").read_text())
    (folder / "steps").unlink()
    if code not in (0, 1, 10) or not steps:  # 10: a gate of a part of the checks never passes
        said = (folder / "said").read_text("utf-8", "replace")
        raise Failed(f"uninterrupted, it ends with {code} after {steps} steps on the disk: {said[-400:]}")
    return Reference(code, state(folder), before, steps, took)


def fresh(command: Command, folder: Path) -> Path:
    shutil.copytree(template(), folder)
    if command.cold:
        for path in folder.glob(f"{STORE}*"):
            path.unlink()
    return folder


OF_STORE = (".sqlite-wal", ".sqlite-shm", ".lock", "encoders.log", "said")


def state(folder: Path) -> dict[str, Any]:
    """What lies in the folder: each file by its path, with what of its content does not depend on the clock."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and "__pycache__" not in name and not name.endswith(OF_STORE):
            found[name] = content(path)
    return found


def content(path: Path) -> Any:
    if path.name == "results.json":
        told = json.loads(path.read_text("utf-8"))
        told.pop("run")
        return told
    if path.suffix == ".parquet":
        import pyarrow.parquet

        return str(pyarrow.parquet.read_table(path).to_pydict())
    if path.suffix == ".html":
        return path.read_text("utf-8").rstrip().endswith("</html>")
    if path.suffix in (".sqlite", ".md") or "exports" in path.parts:  # times; the store is compared by its rows
        return rows_of(path) if path.suffix == ".sqlite" else path.stat().st_size > 0
    if path.name == "sheet-ann.csv":
        return [line.rpartition(",")[0] for line in path.read_text("utf-8").splitlines()]
    return path.read_bytes()


def rows_of(path: Path) -> dict[str, int]:
    from encheck.store import Store

    opened = Store(path)
    try:
        return {f"{s.kind} {s.name} {s.fingerprint}": s.rows for s in opened.list_models()}
    finally:
        opened.close()


def attempt(command: Command, seed: int, rng: random.Random, folder: Path) -> None:
    """Kill, look, and give the command again."""
    canary.may_start_processes()
    expected = reference(command)
    copy = killed(command, expected, seed, rng, folder)
    look(command, expected, copy)
    code = finish(begin(copy, command.args))
    said = (copy / "said").read_text("utf-8", "replace")
    if "Traceback" in said or "INTERNALERROR" in said:
        raise Failed(f"a traceback: {said[-400:]}")
    if code != expected.code and not command.may_differ:
        raise Failed(f"given again, it ended with {code}, not {expected.code}: {said[-400:]}")
    refuse_other(state(copy), expected.state)


def killed(command: Command, expected: Reference, seed: int, rng: random.Random, folder: Path) -> Path:
    """A copy in which the command was killed; by the clock, at most four times, each time earlier."""
    share = rng.uniform(0.75 if command.late else 0.02, 1.0)
    for number in range(4 if seed % 2 else 0):
        copy = fresh(command, folder / f"clock-{number}")
        process = begin(copy, command.args)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=expected.seconds * share * 0.9**number)
        was_alive = process.poll() is None
        kill(process)
        if was_alive:
            return copy
    at = max(1, round(expected.steps * share))
    while True:  # workers share the steps as it comes: there can be fewer than the last time
        copy = fresh(command, folder / f"step-{at}")
        process = begin(copy, command.args, FOLDER=str(copy), KILL_AT=str(at))
        if finish(process) == -signal.SIGKILL:
            return copy
        if at == 1:
            raise Failed("it takes no step on the disk")
        at //= 2


def look(command: Command, expected: Reference, copy: Path) -> None:
    """Failed where something of before is neither as it was nor as it will be."""
    for name in command.keeps:
        path = copy / name
        if name.startswith("base/"):
            refuse_broken_baseline(copy / "base")
        elif not path.exists():
            raise Failed(f"after the kill, {name} is gone")
        elif content(path) not in (expected.before.get(name), expected.state.get(name)):
            raise Failed(f"after the kill, {name} is neither the old nor the new one")


def refuse_broken_baseline(folder: Path) -> None:
    from encheck.errors import EncheckError
    from encheck.gating.baseline import read_baseline

    try:
        read_baseline(folder)
    except EncheckError as error:
        raise Failed(f"after the kill, the baseline cannot be read: {error}") from error


def refuse_other(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Failed where there are other files than expected, or one of other content; a store may hold more rows."""
    if odd := sorted({*found} ^ {*expected}):
        raise Failed(f"given again, these files are left or missing: {odd[:6]}")
    for name, value in expected.items():
        if name != STORE and found[name] != value:
            raise Failed(f"given again, {name} is another than that of the uninterrupted run")
    fewer = [k for k, rows in expected.get(STORE, {}).items() if found[STORE].get(k, 0) < rows]
    if fewer:
        raise Failed(f"given again, the store has fewer rows of {fewer[0]}")


PER_COMMAND: Callable[[Command], int] = lambda command: 20 if command.name in ("run", "save-baseline") else 13  # noqa: E731

for command in COMMANDS:
    work, ready = partial(attempt, command), partial(reference, command)
    add(Attack("kills", command.name, work, 2, PER_COMMAND(command), ready, SECONDS))

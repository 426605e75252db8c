"""Commands that are given odd names and odd places, that are stopped, or whose output nobody takes.

Nothing of others is replaced, no gate ends with 0 without a decision, no ending is taken for a verdict, and no
spreadsheet finds a formula.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import canary
from attacks import Attack, Failed, add, attack
from kills import COMMANDS, PROGRAM, STORE, fresh, kill, reference, refuse_other, state
from mutated import runs
from reading import command

STOPPED, BLOCKED = 130, 1
TRACES = ("Traceback", "INTERNALERROR")
ENDINGS = ("SIGTERM", "SIGINT", "closed stdout", "full stdout", "full stderr")


# commands that are stopped, or whose output nobody takes


def ended(seed: int, rng: random.Random, folder: Path) -> None:
    """A command that is stopped ends with 130, and again as if nothing was; one that is not heard ends as ever.

    Before its first line and after its last, Python ends by the signal itself.
    """
    canary.may_start_processes()
    made = rng.choice([one for one in COMMANDS if not one.may_differ])
    expected, how = reference(made), ENDINGS[seed % len(ENDINGS)]
    copy, scratch = fresh(made, folder / "copy"), folder / "scratch"
    scratch.mkdir()
    code, said = give(made.args, copy, scratch, how, expected.seconds * rng.uniform(0.05, 0.9))
    if any(trace in said for trace in TRACES):
        raise Failed(f"{how}: a traceback: {said[-400:]}")
    if code != expected.code and not (how.startswith("SIG") and code in (STOPPED, -getattr(signal, how))):
        raise Failed(f"{how}: exit code {code}, not {expected.code}: {said[-400:]}")
    if left := sorted(path.name for path in scratch.iterdir() if path.name.startswith("encheck-")):
        raise Failed(f"{how}: {left[0]} is left in the folder for temporary files")
    if code != expected.code:
        code, said = give(made.args, copy, scratch)
    if code != expected.code:
        raise Failed(f"given again, it ended with {code}, not {expected.code}: {said[-400:]}")
    refuse_other(state(copy), expected.state)


def give(args: tuple[str, ...], copy: Path, scratch: Path, how: str = "", after: float = 0.0) -> tuple[int, str]:
    """Give a command that ends so; (exit code, what it said)."""
    found = os.pathsep.join(filter(None, (str(copy), os.environ.get("PYTHONPATH"))))
    mine = {"PYTHONPATH": found, "ENCHECK_STORE": str(copy / STORE), "TMPDIR": str(scratch), "SLOWNESS": "0.02"}
    with (copy / "said").open("w+") as heard, Path("/dev/full").open("w") as full:
        closed = subprocess.PIPE if how == "closed stdout" else heard
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *args], cwd=copy, env=os.environ | mine, stdin=subprocess.DEVNULL,
            stdout=full if how == "full stdout" else closed, stderr=full if how == "full stderr" else heard,
            start_new_session=True, preexec_fn=heeding,
        )  # fmt: skip
        if process.stdout:
            process.stdout.close()
        if how.startswith("SIG"):
            with suppress(subprocess.TimeoutExpired):
                process.wait(after)
            process.send_signal(getattr(signal, how))
        try:
            code = process.wait(120)
        except subprocess.TimeoutExpired:
            kill(process)
            raise Failed(f"{how}: the command did not end") from None
        heard.seek(0)
        return code, heard.read()


def heeding() -> None:
    """What a shell starts in the background would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


add(Attack("commands", "ended", ended, 10, 100, None, 240.0))


# gates with odd names


ODD = (
    "-x",
    "--help",
    "--version",
    "-m",
    "--",
    "-",
    "--model=sbert",
    "a\nb",
    "a\r\nb",
    "",
    " ",
    "\x1b[31m",
    "$(touch was_run)",
)
ADDOPTS = (
    "--collect-only",
    "-k nothing",
    "-x --co",
    "--deselect=.",
    "-p no:encheck",
    "--help",
    "--version",
    "\0"[:0],
    "'",
)


@attack("commands", default=40, full=400, ready=lambda: reads(), seconds=60.0)
def gates(seed: int, rng: random.Random, folder: Path) -> None:
    """Whatever a model is called, and whatever PYTEST_ADDOPTS holds: no exit code 0 without a decision."""
    os.chdir(folder)
    names = [rng.choice((*ODD, "jaccard", "bigrams", "none-such", f"./{rng.choice(ODD)}")) for _ in range(2)]
    separated = ["--"] if rng.random() < 0.5 else []
    args = ["gate", "--data", f"probes:{probes()}", "--report-dir=out", "-q", *separated, *names]
    os.environ["PYTEST_ADDOPTS"] = rng.choice(ADDOPTS)
    try:
        code, text = command(*args)
    finally:
        del os.environ["PYTEST_ADDOPTS"]
    asks = any(name in ("--help", "--version") for name in names) and not separated
    if code == 0 and not asks:
        outcome = json.loads((folder / "out/results.json").read_text("utf-8"))["gate"]["outcome"]
        if outcome != "pass":
            raise Failed(f"{args}: exit code 0, but the gate says {outcome}")
    if code == BLOCKED and "Error" in text:
        raise Failed(f"{args}: an error ends as a gate that blocks: {text[-300:]}")


def probes() -> Path:
    """Forty groups of the probes, in a file that all tries share."""
    from importlib import resources

    from worker import common

    path = common("gates") / "probes.jsonl"
    if not path.exists():
        lines = (resources.files("encheck.datasets") / "probes.jsonl").read_text("utf-8").split("\n")
        path.write_text("\n".join(lines[:40]) + "\n", "utf-8")
    return path


def reads() -> None:
    """Import what a gate imports."""
    command("gate", "jaccard", "bigrams", "--data", f"probes:{probes()}", "--report-dir", probes().parent / "out", "-q")


# places that hold something of others


def places() -> dict[str, Callable[[Path], Any]]:
    """What a user may name by mistake."""
    return {
        "a text": lambda path: path.write_text("# My thesis\n" * 9),
        "data": lambda path: path.write_text("first,second,label\na,b,1\n"),
        "a database": database,
        "a folder with a thesis": lambda path: (path.mkdir(), (path / "thesis.md").write_text("mine")),
        "a folder whose report is another's": lambda path: (path.mkdir(), (path / "report.html").write_text("mine")),
        "a folder with other results": lambda path: (path.mkdir(), (path / "results.json").write_text('{"mine": 1}')),
        "a folder with another baseline": lambda path: (path.mkdir(), (path / "baseline.json").write_text("[1]")),
        "a link to a text": lambda path: (path.with_name("far.md").write_text("mine"), path.symlink_to("far.md")),
        "a link to nothing": lambda path: path.symlink_to("nothing/there"),
        "a device": lambda path: path.symlink_to("/dev/full"),
    }


def database(path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE thesis (line TEXT)")
    connection.commit()
    connection.close()


RUN = ("run", "--model=jaccard", "--data", "probes:PROBES", "-m", "number", "-q")
WRITERS = (
    (*RUN, "--report-dir=PLACE"),
    (*RUN, "--report-dir=out", "--store=PLACE"),
    (*RUN, "--report-dir=out", "--save-baseline=PLACE"),
    ("gate", "jaccard", "bigrams", "--data", "probes:PROBES", "-q", "--report-dir=PLACE"),
    ("gate", "jaccard", "bigrams", "--data", "probes:PROBES", "-q", "--report-dir=out", "--save-baseline=PLACE"),
    ("export", "runs/a", "--out=PLACE"),
    ("export", "runs/a", "--to=card", "--out=PLACE"),
    ("export", "runs/a", "--to=csv", "--out=PLACE"),
    ("compare", "runs/a", "runs/b", "--out=PLACE"),
    ("compare", "runs/a", "runs/b", "--format=latex", "--out=PLACE"),
)


@attack("commands", default=60, full=600, ready=reads, seconds=60.0)
def placed(seed: int, rng: random.Random, folder: Path) -> None:
    """A command that is to write where something of others is: that is as it was, whatever the command says."""
    os.chdir(folder)
    (folder / "runs").mkdir()
    runs(folder / "runs")
    name, make = rng.choice([*places().items()])
    place = folder / rng.choice(("place", "place.md", "place.csv", "place.sqlite"))
    make(place)
    before = content([place, *place.glob("*"), folder / "far.md"])
    args = [arg.replace("PLACE", place.name).replace("PROBES", str(probes())) for arg in rng.choice(WRITERS)]
    code, text = command(*args)
    if content(map(Path, before)) != before:
        raise Failed(f"{' '.join(args)} over {name}: it is not as it was (exit code {code}): {text[-200:]}")
    if code == 4 and place.name not in text:
        raise Failed(f"{' '.join(args)} over {name}: the message does not name it: {text[-300:]}")


def content(paths: Iterable[Path]) -> dict[str, Any]:
    """Of what is there, files by their bytes and links by where they lead."""
    there = [path for path in paths if path.is_symlink() or path.is_file()]
    return {str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes() for path in there}


# cells


@attack("commands", default=50, full=500, seconds=30.0)
def cells(seed: int, rng: random.Random, folder: Path) -> None:
    """A model, a property and data that are called as formulas: no cell of a table of encheck's begins as one does."""
    name = rng.choice(("=", "+", "-", "@", "\t=", "\r=", "\n=", " =", "\uff1d", "'=")) + rng.choice(
        ("1+1", "cmd|' /C calc'!A0", "SUM(A1)")
    )
    os.chdir(folder)
    runs(folder)
    for run in ("a", "b"):
        rename(folder / run, f"{name}{run}")
    for args in (("export", "a", "--to=csv", "--out=csv"), ("compare", "a", "b", "--format=csv", "--out=t.csv")):
        code, text = command(*args)
        if code:
            raise Failed(f"{args[0]}: exit code {code}: {text[-300:]}")
    for path in (*folder.glob("csv/*.csv"), *folder.glob("*.csv")):
        for cell in (cell for line in csv.reader(io.StringIO(path.read_text("utf-8"))) for cell in line):
            if cell.startswith(tuple("=+@\t\r\n\uff1d")) or (cell.startswith("-") and not number(cell)):
                raise Failed(f"{path.name} has the cell {cell!r}")


def rename(run: Path, model: str) -> None:
    """Call the model of a run otherwise, in both of its files."""
    import pyarrow
    import pyarrow.parquet

    path, items = run / "results.json", pyarrow.parquet.read_table(run / "items.parquet").to_pydict()
    made = json.loads(path.read_text("utf-8"))
    old, made["models"][0]["label"] = made["models"][0]["label"], model
    made["models"][0]["fingerprint"] = model
    for row in made["checks"]:
        row |= {"model": model, "id": row["id"].replace(f"/{old}-", f"/{model}-"), "reason": model}
    path.write_text(json.dumps(made), "utf-8")
    items["case"] = [case.replace(f"/{old}-", f"/{model}-") for case in items["case"]]
    pyarrow.parquet.write_table(pyarrow.table(items), run / "items.parquet")


def number(text: str) -> bool:
    with suppress(ValueError):
        float(text)
        return True
    return False

"""A large embedding store: how fast it is filled, looked up and listed, side by side with another version.

    python lab/benchmarks/store.py --folder build/store  # 5 million vectors of 384 dimensions
    python lab/benchmarks/store.py --folder build/store --beside PYTHON  # PYTHON has another version of encheck
    python lab/benchmarks/store.py --folder build/store --dtype float16

The vectors are made up. A store that is already in the folder is used again. Each step is a process of its own, and
the versions take turns. Seconds are wall time, then processor time. Before a cold look-up or listing, the system drops
the file from its cache (`posix_fadvise`, Linux). A second listing, or a look-up of other keys, follows in the same
process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOOKED_UP = 100_000
COMMON = """
import json, os, random, resource, sys, time
from pathlib import Path
import numpy as np
from encheck.store import Store, text_key
path, rows, dim, wanted, more = Path(sys.argv[1]), *map(int, sys.argv[2:5]), json.loads(sys.argv[5])
def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, [round(time.perf_counter() - wall, 2), round(time.process_time() - cpu, 2)]
def forget():
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
def open_():
    return Store(path, limit=1024**4, **more)
took = {}
"""
FILL = """
per = 20_000
block = np.random.default_rng(0).standard_normal((per, dim)).astype(np.float32)
block /= np.linalg.norm(block, axis=1, keepdims=True)
def fill():
    store = open_()
    for start in range(0, rows, per):
        some = range(start, min(start + per, rows))
        vectors = np.roll(block, start // per, axis=1)[: len(some)]
        store.put("vector", "static", [text_key(f"text {i}") for i in some], vectors, name="static")
    store.close()
took["fill"] = timed(fill)[1]
"""
LOOK_UP = """
rng = random.Random(1)
def keys():
    return [text_key(f"text {i}") for i in rng.sample(range(rows), min(wanted, rows))]
forget()
first, others = keys(), keys()
store, took["open, cold"] = timed(open_)
for name, some in (("look up, cold", first), ("look up others", others), ("look up again, warm", first)):
    found, took[name] = timed(lambda: store.get("vector", "static", some))
    assert found[1].all()
"""
LIST = """
forget()
store, took["open, cold"] = timed(open_)
for name in ("list, cold", "list, warm"):
    found, took[name] = timed(store.list_models)
assert found[0].rows == rows, found
"""
END = """
took["peak MB"] = [round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024), None]
print(json.dumps(took))
"""
STEPS = {"fill": FILL, "look up": LOOK_UP, "list": LIST}


def step(python: str, name: str, path: Path, options: argparse.Namespace, more: dict[str, str]) -> dict[str, Any]:
    """What a step took, in a process of its own."""
    arguments = (path, options.rows, options.dim, LOOKED_UP, json.dumps(more))
    command = [python, "-c", COMMON + STEPS[name] + END, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    took: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return took


def told(name: str, figures: list[list[float]]) -> str:
    """A line of the table: each side, and the ratio of the processor times."""
    (wall, cpu), *others = figures
    sides = [f"{one[0]:8.2f}" + (f" ({one[1]:.2f})" if one[1] is not None else "") for one in figures]
    at = 0 if cpu is None else 1
    ratio = f"   {(wall, cpu)[at] / others[0][at]:.2f}" if others and others[0][at] else ""
    return f"  {name:22}" + "".join(f"{side:>20}" for side in sides) + ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("build/store"))
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--dtype", choices=("float32", "float16"), default="float32")
    parser.add_argument("--only", choices=[name for name in STEPS if name != "fill"])
    parser.add_argument("--beside", metavar="PYTHON", help="the interpreter of another version")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    shape = f"{options.rows}x{options.dim}"
    more = {} if options.dtype == "float32" else {"dtype": options.dtype}
    sides = [(sys.executable, options.folder / f"{shape}-{options.dtype}.sqlite", more)]
    if options.beside:
        sides.append((options.beside, options.folder / f"{shape}-other-version.sqlite", {}))
    new = [not path.exists() for _, path, _ in sides]
    for name in STEPS if options.only is None else ("fill", options.only):
        if name == "fill" and not all(new):
            continue
        took = [step(python, name, path, options, more) for python, path, more in sides]
        print(f"{name}, seconds (processor time)")
        for line in took[0]:
            print(told(line, [one[line] for one in took]), flush=True)
    print("on disk, MB:", *(f"{path.stat().st_size / 1e6:,.0f}" for _, path, _ in sides))


if __name__ == "__main__":
    main()

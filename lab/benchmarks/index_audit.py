"""The audit of a large index: seconds and memory, from fresh vectors in a file.

    python lab/benchmarks/index_audit.py --folder build/index-audit  # a million vectors of 384 dimensions

The vectors are made up. The index has a batch that was shifted by one, rows of another model, and zero vectors; the
fresh vectors are those of 1,000 rows drawn at random, and of all rows. Each audit is a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

ROWS_AT_ONCE = 50_000
AUDIT = """
import resource, sys, time
from encheck.cli import app
begun, used = time.perf_counter(), time.process_time()
try:
    app(sys.argv[1:])
except SystemExit as end:
    taken, used = time.perf_counter() - begun, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{taken:.1f} s ({used:.1f} s of processor time), {peak:.2f} GB at most, exit code {end.code}", flush=True)
"""
Damage = Callable[[np.ndarray, np.ndarray], np.ndarray]


def made(numbers: np.ndarray, dimension: int, salt: int = 0) -> np.ndarray:
    """Vectors of length 1, the same for a row whenever they are made."""
    blocks = numbers // ROWS_AT_ONCE
    vectors = np.empty((len(numbers), dimension), np.float32)
    for block in np.unique(blocks):
        whole = np.random.default_rng([salt, int(block)]).standard_normal((ROWS_AT_ONCE, dimension), np.float32)
        mine = blocks == block
        vectors[mine] = whole[numbers[mine] % ROWS_AT_ONCE]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write(path: Path, numbers: np.ndarray, dimension: int, damage: Damage | None = None) -> None:
    """A file of vectors, block by block."""
    writer = None
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        some = numbers[start : start + ROWS_AT_ONCE]
        vectors = made(some, dimension)
        if damage:
            vectors = damage(some, vectors)
        offsets = pyarrow.array(np.arange(0, len(some) * dimension + 1, dimension, dtype=np.int32))
        lists = pyarrow.ListArray.from_arrays(offsets, pyarrow.array(vectors.ravel()))
        table = pyarrow.table({"text": [f"text {n} of the list" for n in some.tolist()], "vector": lists})
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def damaged(rows: int, dimension: int) -> Damage:
    """A tenth of the rows shifted by one, a tenth another model's, and each 1,000th vector zero."""

    def damage(numbers: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        tenth = 10 * numbers // rows
        shifted, other = tenth == 3, tenth == 7
        if shifted.any():
            vectors[shifted] = made(numbers[shifted] - 1, dimension)
        if other.any():
            vectors[other] = made(numbers[other], dimension, salt=1)
        vectors[numbers % 1_000 == 999] = 0
        return vectors

    return damage


def main() -> None:
    """Write the files that are missing, and audit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--sample", type=int, default=1_000)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    every = np.arange(given.rows)
    drawn = np.sort(np.random.default_rng(0).choice(every, given.sample, replace=False))
    files = {"right": (every, None), "damaged": (every, damaged(given.rows, given.dimension)), "fresh": (drawn, None),
             "wrong": (drawn, lambda numbers, _: made(numbers, given.dimension, salt=2))}  # fmt: skip
    for name, (numbers, damage) in files.items():
        if not (path := given.folder / f"{name}.parquet").exists():
            write(path, numbers, given.dimension, damage)
    sample = f"--sample={given.sample}"
    runs = {
        "nothing wrong, fresh vectors of the sample": ("fresh", "right"),
        "damaged, fresh vectors of the sample": ("fresh", "damaged"),
        "damaged, fresh vectors of all rows": ("right", "damaged", sample),
        "nothing is the model's": ("wrong", "right"),
    }
    for said, (fresh, index, *more) in runs.items():
        print(f"\n{said}", flush=True)
        specs = [f"vectors:{given.folder / name}.parquet" for name in (fresh, index)]
        subprocess.run([sys.executable, "-c", AUDIT, "index", *specs, *more], check=True)


if __name__ == "__main__":
    main()

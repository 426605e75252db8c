"""Seconds and memory of loading Quora Question Pairs in full, on a file of its shape that this script makes.

    python benchmarks/loading.py [--rounds 5]

404,290 rows with 537,933 distinct questions, as in the published file, of 11 words in the middle; the words are made
up. Each round is a process of its own; "load" is from the path to a sampled data set with its clusters, imports apart.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS, DISTINCT, REPEATED = 404_290, 537_933, 111_780
HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
TIMED = """
import resource, sys, time
import scipy.sparse.csgraph
from encheck.datasets.load import load
from encheck.datasets import qqp
start = time.perf_counter()
data = load("qqp:" + sys.argv[1])
took = time.perf_counter() - start
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, data.rows)
"""


def write(path: Path) -> None:
    """A file of that many rows and distinct questions; a fifth of the questions come more than once."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(2, 9))) for _ in range(30_000)]
    questions = [" ".join(rng.choices(words, k=rng.randint(6, 16))).capitalize() + "?" for _ in range(DISTINCT)]
    asked = questions + rng.choices(questions[:REPEATED], k=2 * ROWS - DISTINCT)
    rng.shuffle(asked)
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for number in range(ROWS):
            first, second = asked[2 * number : 2 * number + 2]
            file.write(f'{number}\t{2 * number}\t{2 * number + 1}\t"{first}"\t"{second}"\t{rng.random() < 0.37:d}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quora_duplicate_questions.tsv")
        write(path)
        size = path.stat().st_size / 1e6
        runs = [
            subprocess.run([sys.executable, "-c", TIMED, folder], capture_output=True, text=True, check=True).stdout
            for _ in range(options.rounds)
        ]
    seconds, peaks, rows = zip(*(map(float, run.split()) for run in runs), strict=True)
    print(f"{rows[0]:,.0f} rows, {size:.0f} MB: loaded in {statistics.median(seconds):.2f} s ", end="")
    print(f"(middle of {len(runs)}), peak memory {max(peaks):.0f} MB")


if __name__ == "__main__":
    main()

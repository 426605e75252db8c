"""Seconds and memory of loading large data, on files that this script makes; the words are made up.

    python lab/benchmarks/loading.py [--rounds 5] [--only NAME]

qqp: Quora Question Pairs in full, 404,290 rows with 537,933 distinct questions, as in the published file, of 11 words
in the middle. corpus: 1,000,000 documents of 18 words with 1,000 queries, in the layout of BEIR.
pairs: 1,000,000 labelled pairs of 9 words a text in the middle. Each round is a process of its own; "load" is from the
path to a sampled data set with its clusters, imports apart.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS, DISTINCT, REPEATED = 404_290, 537_933, 111_780
DOCUMENTS, QUERIES, WORDS = 1_000_000, 1_000, 18
PAIRS = 1_000_000
NAMES = ("qqp", "corpus.jsonl", "corpus.parquet", "pairs.parquet", "pairs.csv", "pairs.jsonl")
HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
TIMED = """
import pathlib, sys, time
import scipy.sparse.csgraph
from encheck.datasets.load import load
from encheck.datasets import qqp, retrieval
start, begun = time.perf_counter(), time.process_time()
data = load(sys.argv[1])
took, used = time.perf_counter() - start, time.process_time() - begun
status = pathlib.Path("/proc/self/status").read_text()  # getrusage counts the parent's memory too
print(took, used, int(status.partition("VmHWM:")[2].split()[0]) / 1024, data.rows)
"""


def made_up(rng: random.Random) -> list[str]:
    """30,000 words."""
    return ["".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(2, 9))) for _ in range(30_000)]


def write(path: Path) -> None:
    """A file of that many rows and distinct questions; a fifth of the questions come more than once."""
    rng = random.Random(0)
    words = made_up(rng)
    questions = [" ".join(rng.choices(words, k=rng.randint(6, 16))).capitalize() + "?" for _ in range(DISTINCT)]
    asked = questions + rng.choices(questions[:REPEATED], k=2 * ROWS - DISTINCT)
    rng.shuffle(asked)
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for number in range(ROWS):
            first, second = asked[2 * number : 2 * number + 2]
            file.write(f'{number}\t{2 * number}\t{2 * number + 1}\t"{first}"\t"{second}"\t{rng.random() < 0.37:d}\n')


def write_corpus(folder: Path, ending: str) -> None:
    """A collection whose corpus has that ending; each query has one right document."""
    rng = random.Random(0)
    words = made_up(rng)
    rows = ({"_id": f"d{i}", "title": "", "text": " ".join(rng.choices(words, k=WORDS))} for i in range(DOCUMENTS))
    if ending == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), folder / "corpus.parquet")
    else:
        with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    queries = [{"_id": f"q{i}", "text": " ".join(rng.choices(words, k=6))} for i in range(QUERIES)]
    judged = [{"query-id": f"q{i}", "corpus-id": f"d{i * 997}", "score": 1} for i in range(QUERIES)]
    for name, some in (("queries", queries), ("qrels", judged)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some), "utf-8")


def write_pairs(path: Path) -> None:
    """A file of that many labelled pairs, in the format of its ending; half of the words of a pair are shared."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    rng = random.Random(0)
    words = made_up(rng)
    rows = []
    for _ in range(PAIRS):
        shared = rng.choices(words, k=rng.randint(3, 6))
        first, second = (" ".join(shared + rng.choices(words, k=rng.randint(3, 6))) for _ in range(2))
        rows.append({"first": first, "second": second, "label": rng.randint(0, 1)})
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return
    writer = pyarrow.csv.write_csv if path.suffix == ".csv" else pyarrow.parquet.write_table
    writer(pyarrow.Table.from_pylist(rows), path)


def measured(name: str, rounds: int) -> str:
    """Make the data of this name and load them; what it took."""
    with tempfile.TemporaryDirectory() as folder:
        if name == "qqp":
            write(Path(folder, "quora_duplicate_questions.tsv"))
        elif name.startswith("pairs"):
            write_pairs(Path(folder, name))
        else:
            write_corpus(Path(folder), Path(name).suffix)
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        kind = {"qqp": "qqp", "pairs": "pairs"}.get(name.partition(".")[0], "retrieval")
        place = Path(folder, name) if kind == "pairs" else folder
        command = [sys.executable, "-c", TIMED, f"{kind}:{place}"]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(rounds)]
    seconds, used, peaks, rows = zip(*(map(float, run.split()) for run in runs), strict=True)
    return (
        f"{name}: {rows[0]:,.0f} rows or queries, {size:.0f} MB: loaded in {statistics.median(seconds):.2f} s, "
        f"{statistics.median(used):.2f} s of processor time (middle of {rounds}), peak memory {max(peaks):.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=NAMES)
    options = parser.parse_args()
    for name in NAMES if options.only is None else [options.only]:
        print(measured(name, options.rounds), flush=True)


if __name__ == "__main__":
    main()

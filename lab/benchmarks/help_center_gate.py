"""Times a gate without labels, cold: 400 Markdown articles, 3,000 logged queries, damaged copies of MiniLM against it.

    python lab/benchmarks/help_center_gate.py --folder build/help-center [--articles 400] [--queries 3000]

Articles and queries are of the templates of help_center.py, with more things to ask about. Each gate has a store of its
own, so that nothing is encoded before. MiniLM's scores on the built-in sentences ship with encheck. Processor time is
that of all threads.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from damage import damaged
from help_center import ACTS, THINGS, article, asked

SORTS = ("", "family", "business", "student", "gift", "monthly", "old")  # of each thing
DAMAGES = ("last layer dropped", "cls for mean pooling")


def things() -> Iterator[str]:
    """The shop's things, then each sort of them."""
    return (f"{sort} {thing}".strip() for sort in SORTS for thing in THINGS)


def make(folder: Path, log: Path, *, articles: int, queries: int) -> None:
    """Write the articles and the log, a query a line, some more than once; the same on every machine."""
    rng = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    about = itertools.islice(itertools.product(things(), ACTS), articles)
    for number, (thing, act) in enumerate(about, 1):
        name = f"{number:03d}-{act}-{thing.replace(' ', '-')}.md"
        (folder / name).write_text(article(rng, act, thing), "utf-8")
        lines += asked(rng, act, thing)
    rng.shuffle(lines)
    log.write_text("\n".join(lines[:queries]) + "\n", "utf-8")


def gated(folder: Path, name: str) -> None:
    """One gate, cold; its time, and what it said."""
    candidate = damaged(folder, name)
    store = folder / f"{candidate.name}.sqlite"
    store.unlink(missing_ok=True)
    command = [
        sys.executable, "-m", "encheck", "gate", str(candidate), "sbert", "--data",
        str(folder / "articles"), "--queries", str(folder / "log.txt"), f"--store={store}",
        f"--report-dir={folder / f'{candidate.name}-report'}",
    ]  # fmt: skip
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"\n{name}: exit {done.returncode}, {wall:.0f} s, processor {processor:.0f} s on {os.cpu_count()} cores")
    print(done.stdout.strip(), done.stderr.strip(), sep="\n", flush=True)


def main() -> None:
    """Make the data where the folder says, and time a gate of each damage."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--articles", type=int, default=400)
    parser.add_argument("--queries", type=int, default=3_000)
    options = parser.parse_args()
    folder = options.folder.resolve()
    make(folder / "articles", folder / "log.txt", articles=options.articles, queries=options.queries)
    for name in DAMAGES:
        gated(folder, name)


if __name__ == "__main__":
    main()

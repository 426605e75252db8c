"""Measure the models whose figures stand beside every other model's on the embedded probes.

    python lab/real_models.py
    python lab/peers.py [--real build/real-models] [--work build/peers]

It makes `src/encheck/reporting/peers.json` of full runs of MiniLM, e5-small, USE and static vectors. Runs that are in
the work folder are not made again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from real_models import LAB, served

from encheck.options.settings import select_settings
from encheck.reporting.profile import is_profile_share
from encheck.reporting.reference import PeerFigure, Peers, PeerSettings, figure_key
from encheck.reporting.results import read_results
from encheck.reporting.view import judged_rows
from encheck.run_file import RunFile
from encheck.system.typed_files import as_json

FILE = LAB.parent / "src/encheck/reporting/peers.json"
PEERS = {
    "MiniLM": ("sbert", "all-MiniLM-L6-v2"),
    "e5-small": ("e5-small-4bit", "multilingual-e5-small in 4 bits, each sentence as a query"),
    "USE": ("use-multilingual", "Universal Sentence Encoder, multilingual, version 3, in 8 bits"),
    "static": ("wordllama", "WordLlama l2_supercat, 256 dimensions: vectors of tokens, averaged"),
}


def main() -> None:
    """Run what has not run, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, default=LAB.parent / "build/real-models")
    parser.add_argument("--work", type=Path, default=LAB.parent / "build/peers")
    asked = parser.parse_args()
    work = asked.work.resolve()
    with served(asked.real):
        for model, _ in PEERS.values():
            if not (work / model / "results.json").exists():
                how = ["run", "--full", f"--model={model}", f"--report-dir={work / model}"]
                subprocess.run([sys.executable, "-m", "encheck", *how], cwd=asked.real, check=False)
    FILE.write_text(as_json(peers([read_results(work / model) for model, _ in PEERS.values()])), "utf-8")


def peers(runs: Sequence[RunFile]) -> Peers:
    """What the runs of `PEERS` gave; SystemExit where they differ in data, settings or items."""
    made = [
        (run.data[0].version, run.data[0].fingerprint, select_settings(PeerSettings, run.run.settings)) for run in runs
    ]
    if any(one != made[0] for one in made) or any(run.first_look or len(run.data) > 1 for run in runs):
        raise SystemExit("the runs should be full ones, on the same probes and with the same settings")
    rows = [
        {figure_key(r): r for r in judged_rows(run) if is_profile_share(r, run.declarations[r.check])} for run in runs
    ]
    figures = {}
    for name, first in rows[0].items():
        some = [of_model[name] for of_model in rows if name in of_model]
        if any(row.n != first.n for row in some):
            raise SystemExit(f"{name} has other items in some of the models")
        if len(some) == len(rows):
            figures[name] = PeerFigure(first.n, {p: round(r.numbers[0], 4) for p, r in zip(PEERS, some, strict=True)})
    return Peers("python lab/peers.py", *made[0], {name: text for name, (_, text) in PEERS.items()}, figures)


if __name__ == "__main__":
    main()

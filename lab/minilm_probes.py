"""MiniLM's figures on two editions of the probes side by side: 3.0.2, whose constructions gave answers away, and 4.0.0.

    git show 7dee5a4f:docs/figures.json > before.json
    python lab/minilm_probes.py before.json docs/figures.json > lab/minilm_probes.csv

The items of 3.0.2 are `git show 7dee5a4f:src/encheck/datasets/probes.jsonl`.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

COLUMNS = ("value", "low", "high", "n")


def main() -> None:
    before, now = (json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:])
    table = csv.writer(sys.stdout, lineterminator="\n")
    ends = [f"{column}_{edition}" for edition in ("3.0.2", "4.0.0") for column in COLUMNS]
    table.writerow([*"check data level metric".split(), *ends])
    for name in sorted(before.keys() | now.keys()):
        check, case, metric = name.split("/")
        _, data, level = case.split("-", 2)
        rows = (before.get(name, {}), now.get(name, {}))
        table.writerow([check, data, level, metric, *(row.get(column, "") for row in rows for column in COLUMNS)])


if __name__ == "__main__":
    main()

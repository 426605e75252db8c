"""MiniLM's figures on three editions of the probes side by side.

The constructions of 3.0.2 gave answers away. In 4.0.0 a rule that learns still told four properties, whose groups 4.1.0
rewrites.

    git show 7dee5a4f:docs/figures.json > first.json
    git show a3257abf:docs/figures.json > second.json
    python lab/minilm_probes.py first.json second.json docs/figures.json > lab/minilm_probes.csv

The items of an edition are `git show COMMIT:src/encheck/datasets/probes.jsonl`.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

EDITIONS = ("3.0.2", "4.0.0", "4.1.0")
COLUMNS = ("value", "low", "high", "n")


def main() -> None:
    figures = [json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:]]
    table = csv.writer(sys.stdout, lineterminator="\n")
    ends = [f"{column}_{edition}" for edition in EDITIONS for column in COLUMNS]
    table.writerow([*"check data level metric".split(), *ends])
    for name in sorted({name for of_edition in figures for name in of_edition}):
        check, case, metric = name.split("/")
        _, data, level = case.split("-", 2)
        rows = [of_edition.get(name, {}) for of_edition in figures]
        table.writerow([check, data, level, metric, *(row.get(column, "") for row in rows for column in COLUMNS)])


if __name__ == "__main__":
    main()

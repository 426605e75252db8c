"""MiniLM's figures on the probes, with the intervals of two records of them side by side.

    git show 26518f51:docs/figures.json > before.json
    python lab/minilm_intervals.py before.json docs/figures.json > lab/minilm_intervals.csv

Before, intervals were percentiles of a bootstrap over clusters; now they follow what items share. Items and values are
the same, and are compared.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

SAME = 2e-3  # as in scripts/figures.py


def main() -> None:
    before, now = (json.loads(Path(name).read_text("utf-8")) for name in sys.argv[1:])
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow("check data level metric value low_before high_before low_now high_now".split())
    for name, row in now.items():
        old = before[name]
        if abs(old["value"] - row["value"]) > SAME or old["n"] != row["n"]:
            raise SystemExit(f"{name}: {old['value']} on {old['n']} items before, {row['value']} on {row['n']} now")
        check, case, metric = name.split("/")
        _, data, level = case.split("-", 2)
        ends = (one.get(end, "") for one in (old, row) for end in ("low", "high"))
        table.writerow([check, data, level, metric, row["value"], *ends])


if __name__ == "__main__":
    main()

"""The figures of the default run, which README and docs quote: recorded in docs/figures.json, compared with a run.

    encheck run --report-dir reports/figures
    python scripts/figures.py record reports/figures
    python scripts/figures.py compare reports/figures

`make docs` compares them with the run of the README's first command, tests/project/test_figures.py compares them
with the sentences. `record` draws docs/card.svg too. The fourth decimal may differ: processors and numbers of threads
sum in other orders.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from encheck.reporting.rebuild import write_picture

RECORD = Path(__file__).resolve().parents[1] / "docs/figures.json"
NUMBERS = ("value", "low", "high", "n")
STRATA = ("kept_rate", "kept_n", "changed_rate", "changed_n")  # of an adjusted rate
TOLERANCE = 2e-3  # of a share or a cosine; of a larger figure in proportion: processors round otherwise


def figures(run: Path) -> dict[str, dict[str, float]]:
    """Every figure of a run by its id: value, interval and number of items; strata and surface scorers."""
    rows = json.loads((run / "results.json").read_text("utf-8"))["checks"]
    return {row["id"]: _numbers(row) for row in rows if row["value"] is not None}


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    strata = {name: row["params"][name] for name in STRATA if name in row["params"]}
    surface = {name: found["value"] for name, found in (row.get("surface") or {}).items()}
    numbers = {**{name: row[name] for name in NUMBERS}, **strata, **surface}
    return {name: round(number, 4) for name, number in numbers.items() if number is not None}


def differences(recorded: Mapping[str, Mapping[str, Any]], found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What a run says otherwise than the record, a line each."""
    for name in sorted({*recorded, *found}):
        if name not in recorded or name not in found:
            yield f"{name}: only {'recorded' if name in recorded else 'in the run'}"
        elif recorded[name]["n"] != found[name]["n"] or any(
            abs(recorded[name][n] - found[name][n]) > TOLERANCE * max(1, abs(recorded[name][n])) for n in NUMBERS
        ):
            yield f"{name}: recorded {recorded[name]}, the run has {found[name]}"


def read() -> dict[str, dict[str, float]]:
    """The recorded figures."""
    return dict(json.loads(RECORD.read_text("utf-8")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("run", type=Path, help="a report directory")
    asked = parser.parse_args()
    if asked.what == "compare":
        problems = list(differences(read(), figures(asked.run)))
        raise SystemExit("\n".join(problems) or 0)
    lines = (f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(figures(asked.run).items()))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    write_picture(asked.run, "card", RECORD.with_name("card.svg"), model=None, data=None)


if __name__ == "__main__":
    main()

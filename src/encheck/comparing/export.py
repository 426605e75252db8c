"""A comparison as JSON, for other tools."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from encheck.comparing.comparison import Comparison
from encheck.reporting.results import write_named


def write_json(path: Path, found: Comparison) -> None:
    """The differences as JSON, for other tools; UsageError where the disk does not take it."""
    differences = {name: [asdict(d) for d in some] for name, some in found.differences.items()}
    matrix = [
        asdict(line)
        | {"cells": {m.name: cell and asdict(cell) for m, cell in zip(found.models, line.cells, strict=True)}}
        for line in found.matrix
    ]
    whole = {
        "against": found.first.name,
        "matrix": matrix,
        "differences": differences,
        "dilemma": found.dilemma and asdict(found.dilemma) | {"correlation": found.dilemma.correlation},
        "contamination": [asdict(one) for one in found.contamination],
    }
    write_named(path, json.dumps(whole, indent=1) + "\n")

"""Every figure of the models as a tidy table: a row a model, case and figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from encheck.comparing.comparison import Comparison
from encheck.comparing.models import Model
from encheck.metrics import named
from encheck.run_file import Result
from encheck.system.terminal import safe_cell

PAIRED = ("difference", "difference_low", "difference_high", "compared")
COLUMNS = (
    "model", "reference", "data", "property", "family", "check", "level", "figure", "value", "low", "high", "n",
    "clusters", "chance", *PAIRED,
)  # fmt: skip


def rows(found: Comparison) -> Iterator[dict[str, Any]]:
    """The rows: `low` and `high` end the 95% interval, `chance` is what guessing gets, empty where there is none.

    The columns of PAIRED are there for the figure that stands for a property: the difference from the reference on the
    same items, and what the matrix says of it.
    """
    cells = {
        (model.name, line.data, line.check, line.level, line.figure): cell
        for line in found.matrix
        for model, cell in zip(found.models, line.cells, strict=True)
    }
    for model in found.models:
        for row in model.rows:
            if row.value is not None:
                cell = cells.get((model.name, row.data, row.check, str(row.level), row.metric or ""))
                yield _row(found, model, row) | dict(zip(PAIRED, _paired(cell), strict=True))


def _row(found: Comparison, model: Model, row: Result) -> dict[str, Any]:
    declared = model.declared[row.check]
    own = {
        name: getattr(row, name)
        for name in ("data", "property", "check", "level", "value", "low", "high", "n", "clusters")
    }
    chance = declared.chance if row.metric == declared.metric else _chance(row.metric or "")
    names = {"model": model.name, "reference": found.first.name, "family": declared.family}
    return names | own | {"figure": row.metric, "chance": chance}


def _chance(metric: str) -> float | None:
    try:
        return named(metric).chance
    except KeyError:
        return None


def _paired(cell: Any) -> tuple[Any, ...]:
    if cell is None or cell.change is None:
        return "", "", "", "" if cell is None else cell.said
    return cell.change.difference, cell.change.low, cell.change.high, cell.said


def as_csv(found: Comparison) -> str:
    """The rows as CSV with a header."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({name: safe_cell(value) for name, value in row.items()} for row in rows(found))
    return out.getvalue()

"""The results of a run, as Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from encheck.types import Verdict

NAMES = (
    "id", "check", "property", "level", "model", "data", "metric", "value", "low", "high", "n", "clusters", "floor",
    "aim", "verdict", "reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """One metric of one case, with its verdict if it has one.

    A case is a check x model x data x level. `property` is what the check tests (antonym, number, ...). `low` and
    `high` bound the 95% interval; `n` counts items, `clusters` the independent groups of items. Below its `floor` a
    metric fails, at or above its `aim` it passes; one that is only reported has neither, and no verdict. A check that
    measured nothing has a reason instead of a metric.
    """

    id: str
    check: str
    property: str
    level: str
    model: str
    data: str
    metric: str | None
    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    floor: float | None
    aim: float | None
    verdict: Verdict | None
    reason: str


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a run.

    `rows` are in the order of their ids. `exit_code` is that of `encheck run`: 0 passed, 1 a check failed or the gate
    blocks, 5 nothing was measured, 10 the gate could not decide. `raw` is all of results.json; `items` has the columns
    of items.parquet by case.
    """

    rows: tuple[Result, ...]
    exit_code: int
    raw: Mapping[str, Any]
    items: Mapping[str, Mapping[str, Sequence[Any]]]

    @classmethod
    def of(cls, raw: Mapping[str, Any], items: Mapping[str, Mapping[str, Sequence[Any]]]) -> Self:
        """From what results.json and items.parquet hold."""
        return cls(tuple(map(_result, raw["checks"])), raw["run"]["exit_status"], raw, items)

    @property
    def judged(self) -> tuple[Result, ...]:
        """The rows that have a verdict."""
        return tuple(row for row in self.rows if row.verdict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the run notes about models, data and files."""
        return tuple(self.raw["run"]["notes"])


def read(folder: Path) -> Results:
    """Read the results in a run's folder; UsageError if it is not a run or is damaged."""
    from encheck.reporting.rebuild import as_written
    from encheck.reporting.results import read_items, read_results

    raw, items = read_results(folder), read_items(folder)
    with as_written(folder):
        return Results.of(raw, items)


def _result(row: Mapping[str, Any]) -> Result:
    """From a row of results.json."""
    return Result(**{name: row[name] for name in NAMES})

"""Checkpoints that differ in their seed alone: each figure's mean and standard error over them.

How papers report fine-tuning (RISE; "Predicate-Argument Based Bi-Encoder ..."): the spread over seeds, which no
interval of a single checkpoint can show.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encheck.errors import UsageError
from encheck.reporting.results import read_results
from encheck.reporting.terminal import table
from encheck.reporting.view import sentence


@dataclass(frozen=True)
class Spread:
    """One figure over `k` checkpoints: mean, its standard error (sample deviation / root k), least, greatest."""

    claim: str
    level: str
    data: str
    metric: str
    k: int
    mean: float
    error: float
    least: float
    greatest: float


def over_seeds(folders: Sequence[Path], *, everything: bool = False) -> list[Spread]:
    """Every figure that decides (or all of them) over all models of the runs; UsageError for fewer than two models."""
    values: dict[tuple[str, str, str, str], list[float]] = {}
    models: set[tuple[str, str]] = set()
    for folder in folders:
        results = read_results(folder)
        models |= {(str(folder), m["label"]) for m in results["models"] if not m["error"]}
        for row in results["checks"]:
            if row["value"] is not None and (everything or row["threshold"] is not None):
                values.setdefault(_key(row), []).append(row["value"])
    if len(models) < 2:
        raise UsageError(f"the runs hold {len(models)} model: give those of several seeds")
    return [_spread(key, found) for key, found in values.items() if len(found) > 1]


def _key(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return row["claim"], row["level"], row["data"], row["id"].rpartition("/")[2]


def _spread(key: tuple[str, str, str, str], found: Sequence[float]) -> Spread:
    error = statistics.stdev(found) / len(found) ** 0.5
    return Spread(*key, len(found), statistics.mean(found), error, min(found), max(found))


def lines(found: Sequence[Spread]) -> Iterator[str]:
    """The table on the terminal."""
    head = ("claim", "level", "data", "figure", "mean \u00b1 SE", "least", "greatest", "checkpoints")
    rows = [
        (sentence(s.claim), s.level, s.data, s.metric.replace("_", " "), f"{s.mean:.4f} \u00b1 {s.error:.4f}",
         f"{s.least:.4f}", f"{s.greatest:.4f}", str(s.k))
        for s in found
    ]  # fmt: skip
    yield from table([head, *rows])

"""Mean and standard error of each figure over checkpoints that differ only in their seed.

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
from encheck.ids import figure_name
from encheck.reporting.results import read_results
from encheck.reporting.text import table
from encheck.reporting.view import sentence


@dataclass(frozen=True)
class Spread:
    """One figure over `k` checkpoints: mean, its standard error (sample deviation / root k), least, greatest."""

    check: str
    level: str
    data: str
    metric: str
    k: int
    mean: float
    error: float
    least: float
    greatest: float


def over_seeds(folders: Sequence[Path], *, everything: bool = False) -> list[Spread]:
    """Every figure that decides (or all of them) over all models of the runs.

    UsageError for fewer than two models, a model that is there twice, and other data under the same name.
    """
    values: dict[tuple[str, str, str, str], dict[str, tuple[float, str]]] = {}
    prints: set[str] = set()
    runs = [(folder, read_results(folder)) for folder in folders]
    _refuse_other_data(runs)
    for folder, results in runs:
        models = {m["label"]: m["fingerprint"] for m in results["models"] if not m["error"]}
        prints |= set(models.values())
        for row in results["checks"]:
            decides = everything or row["aim"] is not None
            if decides and row["value"] is not None and row["model"] in models:
                found, place = values.setdefault(_key(row), {}), f"{row['model']} of {folder}"
                _add(found, models[row["model"]], row["value"], place)
    if len(prints) < 2:
        raise UsageError(f"the runs hold {len(prints)} model: give those of several seeds")
    return [_spread(key, [value for value, _ in found.values()]) for key, found in values.items() if len(found) > 1]


def _add(found: dict[str, tuple[float, str]], fingerprint: str, value: float, place: str) -> None:
    """Take the value of a model; UsageError for one that has been counted."""
    if fingerprint in found:
        raise UsageError(f"{place} is {found[fingerprint][1]} again (same fingerprint): each checkpoint counts once")
    found[fingerprint] = value, place


def _refuse_other_data(runs: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
    """UsageError if two runs call different data by one name."""
    known: dict[str, tuple[str, Path]] = {}
    for folder, results in runs:
        for data in results["data"]:
            fingerprint, first = known.setdefault(data["name"], (data["fingerprint"], folder))
            if data["fingerprint"] != fingerprint:
                raise UsageError(
                    f"{data['name']} is one data set in {first} and another in {folder} (fingerprints {fingerprint} "
                    f"and {data['fingerprint']}): give runs on the same file, sample and seed"
                )


def _key(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return row["check"], row["level"], row["data"], figure_name(row)


def _spread(key: tuple[str, str, str, str], found: Sequence[float]) -> Spread:
    error = statistics.stdev(found) / len(found) ** 0.5
    return Spread(*key, len(found), statistics.mean(found), error, min(found), max(found))


def lines(found: Sequence[Spread]) -> Iterator[str]:
    """The table on the terminal."""
    head = ("check", "level", "data", "figure", "mean \u00b1 SE", "least", "greatest", "checkpoints")
    rows = [
        (sentence(s.check), s.level, s.data, s.metric.replace("_", " "), f"{s.mean:.4f} \u00b1 {s.error:.4f}",
         f"{s.least:.4f}", f"{s.greatest:.4f}", str(s.k))
        for s in found
    ]  # fmt: skip
    yield from table([head, *rows])

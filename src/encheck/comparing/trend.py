"""The same model over dated runs: each property's figure from run to run, and which changes are certain.

A change is paired on the items that both runs have. It is certain, and is evidence, by the rule of `matrix`, corrected
for all changes of the model (Holm 1979). Changes from run to run are one family of hypotheses, those since the first
run another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from encheck.claims import FAMILIES
from encheck.comparing.comparison import epsilons_of
from encheck.comparing.matrix import Said, change_of, row_like, verdicts
from encheck.comparing.models import Model, model_of
from encheck.comparing.paired import Change
from encheck.errors import UsageError
from encheck.reporting.profile import headlines
from encheck.reporting.results import RESULTS, read_items, read_results

Raw = Mapping[str, Any]
Key = tuple[str, str]  # data, property


@dataclass(frozen=True, slots=True)
class Point:
    """A figure in the run that is `place`-th by date, with its 95% interval, and how it changed since the one before.

    `is_other_data` says that the data are not those of the point before: then the change is of the items both have.
    """

    place: int
    value: float
    low: float
    high: float
    n: int
    said: Said = "not compared"
    change: Change | None = None
    is_other_data: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """One property of a model: its points by date, and how the last differs from the first."""

    property: str
    family: str
    data: str
    check: str
    figure: str
    chance: float | None
    points: tuple[Point, ...]
    said: Said = "not compared"
    since: Change | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """One model; `runs` has (folder, start in ISO 8601) by date, `series` the properties that two runs or more have."""

    model: str
    runs: tuple[tuple[str, str], ...]
    series: tuple[Series, ...]


def trends(folders: Sequence[Path], *, seed: int = 0) -> list[Trend]:
    """A trend for each model that two runs or more in these folders have; UsageError where there is none.

    A folder is a run, or holds runs.
    """
    runs = sorted(((read_results(run), run) for run in _runs(folders)), key=lambda one: one[0]["run"]["started"])
    labels = dict.fromkeys(m["label"] for results, _ in runs for m in results["models"])
    dated = {name: [(results, run) for results, run in runs if _has(results, name)] for name in labels}
    found = [_trend(name, some, seed) for name, some in dated.items() if len(some) > 1]
    if not found:
        named = ", ".join(map(str, folders))
        raise UsageError(f"no model is in two runs of {named}: a trend takes two dated runs of the same model or more")
    return found


def _runs(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        if (folder / RESULTS).exists():
            yield folder
        elif some := sorted(file.parent for file in folder.glob(f"*/{RESULTS}")):
            yield from some
        else:
            raise UsageError(f"{folder} holds no run: no directory in it has a {RESULTS}")


def _has(results: Raw, label: str) -> bool:
    return any(m["label"] == label and not m["error"] for m in results["models"])


def _trend(label: str, runs: Sequence[tuple[Raw, Path]], seed: int) -> Trend:
    walk = _Walk(_rows(label, [results for results, _ in runs]), seed)
    for place, (results, folder) in enumerate(runs):
        walk.add(place, model_of(label, label, results, read_items(folder)))
    dates = tuple((folder.name, results["run"]["started"]) for results, folder in runs)
    return Trend(label, dates, tuple(walk.series()))


def _rows(label: str, runs: Sequence[Raw]) -> dict[Key, Raw]:
    """By (data, property) the row that stands for it: that of the latest run that has one."""
    found: dict[Key, Raw] = {}
    for results in reversed(runs):
        for data in results["data"]:
            for name, row in headlines(results, model=label, data=data["name"]).items():
                found.setdefault((data["name"], name), row)
    return found


class _Walk:
    """What the runs of one model say, taken in by date: it keeps the first and the latest run of each property."""

    def __init__(self, rows: Mapping[Key, Raw], seed: int) -> None:
        self.rows, self.seed = rows, seed
        self.points: dict[Key, list[Point]] = {}
        self.first: dict[Key, Model] = {}
        self.last: dict[Key, Model] = {}
        self.steps: dict[tuple[Key, int], Change] = {}
        self.since: dict[Key, Change] = {}

    def add(self, place: int, model: Model) -> None:
        """Take in the next run."""
        for key, row in self.rows.items():
            if own := row_like(row, model.rows):
                self._compare(key, place, model)
                before = self.last.get(key, model)
                ends = (own["value"], own["low"], own["high"], own["n"])
                point = Point(place, *ends, is_other_data=before.data[key[0]] != model.data[key[0]])
                self.points.setdefault(key, []).append(point)
                self.first.setdefault(key, model)
                self.last[key] = model

    def _compare(self, key: Key, place: int, model: Model) -> None:
        """Pair the run with the one before, and with the first."""
        if key not in self.last:
            return
        if found := self._change(key, self.last[key], model):
            self.steps[key, place] = found
        self.since.pop(key, None)
        if found := self._change(key, self.first[key], model):
            self.since[key] = found

    def _change(self, key: Key, before: Model, after: Model) -> Change | None:
        return change_of(self.rows[key], before, after, epsilons_of([before, after]), self.seed)

    def series(self) -> list[Series]:
        """The properties that two runs or more have, by data, family and name."""
        said, since = verdicts(self.steps), verdicts(self.since)
        found = [self._series(key, said, since) for key, points in self.points.items() if len(points) > 1]
        return sorted(found, key=lambda one: (one.data, FAMILIES.index(one.family), one.property))

    def _series(self, key: Key, said: Mapping[tuple[Key, int], Said], since: Mapping[Key, Said]) -> Series:
        row = self.rows[key]
        declared = self.last[key].declared[row["check"]]
        points = tuple(
            replace(one, said=said.get((key, one.place), "not compared"), change=self.steps.get((key, one.place)))
            for one in self.points[key]
        )
        return Series(
            row["property"], declared.family, row["data"], row["check"], row["metric"], declared.chance, points,
            since.get(key, "not compared"), self.since.get(key),
        )  # fmt: skip


def as_dict(found: Sequence[Trend]) -> dict[str, Any]:
    """The trends as plain data, for other tools."""
    return {"trends": [asdict(one) for one in found]}

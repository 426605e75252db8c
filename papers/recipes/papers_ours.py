"""Our figures beside the published ones: how they are recorded in published/ours.json, and read back.

A measurement is one command on one model. It has figures, each at a table, a row and a column. A row or column of ours
has a name of its own; `labels` says which published ones it stands for, and in what it differs ("model", "data").
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from papers_published import FOLDER, Address

import encheck

RECORD = FOLDER / "ours.json"
DIGITS = 6
NEAR = {"rel_tol": 5e-4, "abs_tol": 2e-3}  # processors sum in other orders
COMPARED = ("value", "low", "high", "n")
THEN = "; "  # between the commands of one measurement
SHOWN = {"sbert": "all-MiniLM-L6-v2"}


@dataclass(frozen=True)
class Figure:
    """A figure with its 95% interval if it has one; `n` items, or seeds where `error` is a standard error of seeds."""

    table: str
    row: str
    column: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    error: float | None = None
    is_tuned: bool = False
    is_recorded: bool = False  # on a page with figures that were measured just now

    @property
    def address(self) -> Address:
        """Where it stands."""
        return self.table, self.row, self.column


@dataclass(frozen=True)
class Label:
    """A row or column of ours: the published ones that it stands for, and what is another (nothing: the same)."""

    stands_for: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measured:
    """What a command gave, or several with THEN between. `data` maps data sets to the fingerprints of what was read."""

    paper: str
    what: str
    model: str
    command: str
    figures: tuple[Figure, ...]
    labels: Mapping[str, Label] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    version: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """A later measurement with the same key takes its place."""
        return self.paper, self.what, self.model

    def dated(self) -> Measured:
        """With today's date and the version of encheck."""
        return replace(self, date=datetime.now(UTC).date().isoformat(), version=encheck.__version__)

    def recorded(self) -> Measured:
        """The same beside figures that were measured just now."""
        return replace(self, figures=tuple(replace(one, is_recorded=True) for one in self.figures))

    def tables(self) -> list[str]:
        """The tables that it has figures for."""
        return list(dict.fromkeys(figure.table for figure in self.figures))


def shown(model: str) -> str:
    """The name of a model in the tables."""
    return SHOWN.get(model, model)


def read(path: Path = RECORD) -> list[Measured]:
    """All recorded measurements; none if there is no record."""
    return [_measured(one) for one in json.loads(path.read_text("utf-8"))] if path.exists() else []


def merged(old: Iterable[Measured], new: Iterable[Measured]) -> list[Measured]:
    """The old ones, each replaced by a new one of the same key, in the order of their keys."""
    found = {one.key: one for one in (*old, *new)}
    return [found[key] for key in sorted(found)]


def beside(recorded: Sequence[Measured], new: Iterable[Measured]) -> list[Measured]:
    """The new ones, with the recorded figures that they lack, which are marked as such."""
    old = {one.key: one.recorded() for one in recorded}
    left = lost(recorded, new)
    kept = [replace(one, figures=(*one.figures, *(f for f in old[one.key].figures if f.address in left[one.key])))
            if one.key in left else one for one in new]  # fmt: skip
    return merged(old.values(), kept)


def lost(recorded: Iterable[Measured], new: Iterable[Measured]) -> dict[tuple[str, str, str], set[Address]]:
    """Of each measurement that was made again, where recorded figures stand that the new one lacks."""
    found = {one.key: {figure.address for figure in one.figures} for one in new}
    left = {one.key: {f.address for f in one.figures} - found[one.key] for one in recorded if one.key in found}
    return {key: addresses for key, addresses in left.items() if addresses}


def differences(recorded: Sequence[Measured], new: Sequence[Measured]) -> Iterator[str]:
    """What was measured otherwise than recorded, is not recorded or was not found again, a line each."""
    old = {(*one.key, *figure.address): figure for one in recorded for figure in one.figures}
    for (paper, *_), addresses in lost(recorded, new).items():
        yield from (f"{' | '.join((paper, *address))}: recorded, but not measured" for address in sorted(addresses))
    for one in new:
        for figure in one.figures:
            before, where = old.get((*one.key, *figure.address)), " | ".join((one.paper, *figure.address))
            if before is None:
                yield f"{where}: not recorded, measured {_short(asdict(figure))}"
            elif any(not _is_near(getattr(before, name), getattr(figure, name)) for name in COMPARED):
                yield f"{where}: recorded {_short(asdict(before))}, measured {_short(asdict(figure))}"


def _is_near(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    are_counts = float(first).is_integer() and float(second).is_integer()
    return first == second if are_counts else math.isclose(first, second, **NEAR)


def write(measured: Sequence[Measured], path: Path = RECORD) -> None:
    """Keep the measurements, one figure a line."""
    path.write_text("[\n" + ",\n".join(_lines(one) for one in measured) + "\n]\n", "utf-8")


def _lines(one: Measured) -> str:
    whole = asdict(one)
    figures = ",\n  ".join(json.dumps(_short(figure)) for figure in whole.pop("figures"))
    return f'{{{json.dumps(whole, ensure_ascii=False)[1:-1]}, "figures": [\n  {figures}]}}'


def _short(figure: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {k: round(v, DIGITS) if isinstance(v, float) else v for k, v in figure.items()}
    return {k: v for k, v in numbers.items() if v is not None and v is not False}


def _measured(raw: dict[str, Any]) -> Measured:
    labels = {k: Label(tuple(v["stands_for"]), tuple(v["differs"])) for k, v in raw.pop("labels").items()}
    return Measured(**{**raw, "figures": tuple(Figure(**one) for one in raw["figures"]), "labels": labels})


@dataclass(frozen=True)
class Ours:
    """The figures of ours on one table, whatever command they came from."""

    figures: Mapping[tuple[str, str], Figure]  # row, column
    labels: Mapping[str, Label]
    sources: tuple[Measured, ...]

    def of(self, row: str, column: str) -> Figure | None:
        """The figure at a published row and column: under these names, or under one that stands for them."""
        for (r, c), figure in self.figures.items():
            if self._is(r, row) and self._is(c, column):
                return figure
        return None

    def _is(self, own: str, wanted: str) -> bool:
        return own == wanted or wanted in self.labels.get(own, Label()).stands_for

    def differs(self, row: str, column: str) -> tuple[str, ...]:
        """In what the figure at our own row and column is of another kind than the published one."""
        found = (kind for name in (row, column) for kind in self.labels.get(name, Label()).differs)
        return tuple(dict.fromkeys(found))


def on_table(measured: Iterable[Measured], paper: str, table: str) -> Ours:
    """What stands beside a table."""
    sources = [one for one in measured if one.paper == paper and table in one.tables()]
    figures = {(f.row, f.column): f for one in sources for f in one.figures if f.table == table}
    labels = {name: label for one in sources for name, label in one.labels.items()}
    return Ours(figures, labels, tuple(sources))

"""Models by properties: of each property the figure that stands for it, and which models differ for certain.

A difference is certain if its 95% interval excludes zero and it holds at 5% after correction for all cells of the
matrix (Holm 1979). A certain rise is no evidence where the model is not shown to beat guessing, as in the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from encheck.claims import FAMILIES
from encheck.comparing.models import Model
from encheck.comparing.paired import Change, change
from encheck.metrics import mean_margin, mean_similarity, named
from encheck.reporting.view import best_surface
from encheck.run_file import Result
from encheck.statistics.paired import holm

Said = Literal["better", "worse", "cannot tell", "no evidence", "not compared"]
SIGNS: Mapping[Said, str] = {
    "better": "\u25b2", "worse": "\u25bc", "cannot tell": "~", "no evidence": "*", "not compared": "",
}  # fmt: skip
NO_EVIDENCE = "the figure rose, but the model is not shown to beat guessing, and damage raises such figures too"
CERTAIN = 0.05  # of all cells together
RISE_WITH_DAMAGE = (mean_similarity.name, mean_margin.name)


@dataclass(frozen=True, slots=True)
class Cell:
    """One model's figure of a property with its 95% interval, and how it differs from the reference.

    `said` is "not compared" of the reference itself, and of figures that cannot be paired or have no better side;
    `change` is None where nothing is paired.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int
    said: Said = "not compared"
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One property on one data set: the check and figure that stand for it, and a cell a model (None: not measured).

    `chance` and the best surface scorer's figure are None where there is none.
    """

    property: str
    family: str
    data: str
    check: str
    level: str
    figure: str
    source: str
    chance: float | None
    surface: float | None
    surface_of: str
    cells: tuple[Cell | None, ...]


def matrix(models: Sequence[Model], *, epsilons: Mapping[str, float]) -> list[Line]:
    """A line for each property and data set of the models, by data, family and name; the first is the reference."""
    rows = _rows(models)
    changes = {
        (key, m.name): found
        for key, row in rows.items()
        for m in models[1:]
        if (found := change_of(row, models[0], m, epsilons))
    }
    said = verdicts(changes)
    order = {name: place for place, name in enumerate(dict.fromkeys(data for data, _ in rows))}
    lines = [_line(row, models, changes, said, key) for key, row in rows.items()]
    return sorted(lines, key=lambda one: (order[one.data], FAMILIES.index(one.family), one.property))


def verdicts(changes: Mapping[Any, Change]) -> dict[Any, Said]:
    """What each change says, all of them held to `CERTAIN` together."""
    adjusted = holm([one.p for one in changes.values()])
    return {key: _said(one, float(p)) for (key, one), p in zip(changes.items(), adjusted, strict=True)}


def _said(one: Change, p: float) -> Said:
    if p > CERTAIN or one.low <= 0 <= one.high:
        return "cannot tell"
    if one.difference < 0:
        return "worse"
    return "better" if one.beats_chance else "no evidence"


def _rows(models: Sequence[Model]) -> dict[tuple[str, str], Result]:
    """By (data, property) the row that stands for it: the reference's, else that of the first model that has one."""
    found: dict[tuple[str, str], Result] = {}
    for model in models:
        for key, row in model.headlines.items():
            found.setdefault(key, row)
    return found


def change_of(row: Result, first: Model, other: Model, epsilons: Mapping[str, float]) -> Change | None:
    """How a model differs from the first in a row's figure; None where it cannot be paired, or has no better side."""
    if not has_better_side(row.metric or ""):
        return None
    return change(row, first, other, epsilon=epsilons.get(row.case.of_any_model, 0.0))


def has_better_side(figure: str) -> bool:
    """Whether more of a figure is better, so that a difference in it says something: not so of raw similarities."""
    try:
        return named(figure).base not in RISE_WITH_DAMAGE
    except KeyError:
        return False


def _line(
    row: Result, models: Sequence[Model], changes: Mapping[Any, Change], said: Mapping[Any, Said], key: tuple[str, str]
) -> Line:
    declared = next(m.declared[row.check] for m in models if row.check in m.declared)
    scorer, rival, _ = best_surface(row) or ("", None, None)
    cells = tuple(_cell(row, m, changes.get((key, m.name)), said.get((key, m.name), "not compared")) for m in models)
    return Line(
        row.property, declared.family, row.data, row.check, row.level, row.metric or "", declared.source,
        declared.chance, rival, scorer, cells,
    )  # fmt: skip


def _cell(row: Result, model: Model, change: Change | None, said: Said) -> Cell | None:
    own = row_like(row, model.rows)
    if own is None:
        return None
    return Cell(*own.numbers, own.n, own.clusters, said, change)


def row_like(row: Result, rows: Sequence[Result]) -> Result | None:
    """The row of the same check, data, level and figure; None where it has no value with an interval."""
    own = next((r for r in rows if r.case.of_any_model == row.case.of_any_model and r.metric == row.metric), None)
    return own if own and own.value is not None and own.low is not None else None


def tallies(lines: Sequence[Line], models: Sequence[Model]) -> Iterator[tuple[str, dict[Said, int]]]:
    """Of each model but the reference, in how many lines each thing is said of it."""
    for place, model in enumerate(models[1:], 1):
        cells = [line.cells[place] for line in lines]
        yield model.name, {said: sum(cell is not None and cell.said == said for cell in cells) for said in SIGNS}

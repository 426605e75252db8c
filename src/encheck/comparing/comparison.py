"""Compare a reference model with other models, property by property.

A difference is certain if its 95% interval excludes zero and it is still significant at 5% after correction for all
properties of the two models on the data set (Holm 1979), as in a run's profile. A certain rise is no evidence unless
the model is shown to beat guessing, as in the gate.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.claims import FAMILIES
from encheck.comparing.benchmark_plot import BenchmarkPlot, benchmark_plot
from encheck.comparing.differences import CaseDifference, case_differences, common_tables
from encheck.comparing.models import ComparedModel, read_models
from encheck.errors import UsageError
from encheck.gating.contamination import estimate_contaminations
from encheck.gating.pairing import NO_CALIBRATION, metric_for_item_comparison
from encheck.gating.reference import beats_chance, metric_values, property_differences, select_measured_items
from encheck.ids import CaseId
from encheck.metrics import find_metric
from encheck.metrics.metric import CALIBRATED
from encheck.reporting.profile import ADJUSTED, chance_of
from encheck.reporting.text import plain_name
from encheck.reporting.view import best_surface, claim_sentence, figure_text, format_figure, surface_text
from encheck.run_file import ChangeVerdict, Contamination, Difference, Result
from encheck.scoring.frame import CaseScores
from encheck.types import Declaration

Compared = ChangeVerdict | Literal["not compared"]
SIGNS: Mapping[Compared, str] = {
    "better": "\u25b2", "worse": "\u25bc", "cannot tell": "~", "no evidence": "*", "not compared": "",
}  # fmt: skip
NO_EVIDENCE = "the figure rose, but is not shown to be 4 points above guessing, and damage raises such figures too"
Pair = tuple[str, str]
Key = tuple[str, str]  # data, property


@dataclass(frozen=True, slots=True)
class PropertyCell:
    """A model's figure for a property with its 95% interval, and how it differs from the reference.

    `said` is "not compared" for the reference itself, and for a figure that cannot be paired or has no better
    direction. `change` is None if nothing is paired. `adjusted` is the rate after weighting items so that surface cues
    balance. `figure` is the value as printed.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int
    said: Compared = "not compared"
    change: Difference | None = None
    adjusted: float | None = None
    figure: str = ""


@dataclass(frozen=True, slots=True)
class PropertyLine:
    """A property on one data set: its main check and figure, and a cell per model (None if the model lacks it).

    `chance` and `surface` (the figure of the best surface scorer) are None if there is none.
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
    cells: tuple[PropertyCell | None, ...]

    @builtins.property
    def title(self) -> str:
        """The property's plain name."""
        return plain_name(self.property)

    @builtins.property
    def printed_chance(self) -> str:
        """What guessing reaches, in the figure's unit; "-" if that is unknown."""
        return "-" if self.chance is None else format_figure(self.figure, self.chance)


def property_matrix(models: Sequence[ComparedModel]) -> list[PropertyLine]:
    """Return one line per property and data set, sorted by data, family and name. The first model is the reference.

    The reference's main row represents the property, or that of the first model which has one. A model gets a cell only
    if it has a value with an interval for the same check, data, level and figure.
    """
    rows = _headline_rows(models)
    changes = {(m.name, one.data, one.property): one
               for m in models[1:] for one in property_differences(rows.values(), models[0].side, m.side)}  # fmt: skip
    lines = []
    for key, row in rows.items():
        cells: list[PropertyCell | None] = []
        for m in models:
            own = {r.metric: r for r in m.rows if r.case.of_any_model == row.case.of_any_model}
            found, change = own.get(row.metric), changes.get((m.name, *key))
            if found is None or found.value is None or found.low is None:
                cells.append(None)
                continue
            adjusted = own.get(ADJUSTED + CALIBRATED) or own.get(ADJUSTED)
            cells.append(PropertyCell(
                *found.numbers, found.n, found.clusters, change.said if change else "not compared", change,
                adjusted.value if adjusted else None, format_figure(found.metric, found.numbers[0]),
            ))  # fmt: skip
        declared = next(m.declared[row.check] for m in models if row.check in m.declared)
        scorer, rival, _ = best_surface(row) or ("", None, None)
        lines.append(PropertyLine(
            row.property, declared.family, row.data, row.check, row.level, row.metric or "", declared.source,
            chance_of(row, declared), rival, scorer, tuple(cells),
        ))  # fmt: skip
    order = {name: place for place, name in enumerate(dict.fromkeys(data for data, _ in rows))}
    return sorted(lines, key=lambda one: (order[one.data], FAMILIES.index(one.family), one.property))


def _headline_rows(models: Sequence[ComparedModel]) -> dict[Key, Result]:
    rows: dict[Key, Result] = {}
    for model in models:
        for key, row in model.headlines.items():
            rows.setdefault(key, row)
    return rows


def pairwise_differences(models: Sequence[ComparedModel]) -> dict[Pair, tuple[Difference, ...]]:
    """Return the differences of every two models, second minus first. Each pair is corrected for multiple tests
    separately.
    """
    rows = _headline_rows(models).values()
    return {(one.name, two.name): property_differences(rows, one.side, two.side)
            for one, two in combinations(models, 2)}  # fmt: skip


def count_verdicts(
    lines: Sequence[PropertyLine], models: Sequence[ComparedModel]
) -> Iterator[tuple[str, dict[Compared, int]]]:
    """Yield, for each model except the reference, the number of lines with each verdict."""
    for place, model in enumerate(models[1:], 1):
        cells = [line.cells[place] for line in lines]
        yield model.name, {said: sum(cell is not None and cell.said == said for cell in cells) for said in SIGNS}


Floats = NDArray[np.float64]
HALF = 0.5  # the score of a tie


@dataclass(frozen=True, slots=True)
class Flip:
    """An item of a case that the models in `wrong` lose and the models in `right` win.

    `margins` maps a model's name to sim(near) - sim(far). `row` maps it to the item's index among the items of its
    case.
    """

    item: str
    check: str
    property: str
    data: str
    level: str
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    margins: Mapping[str, float]

    @builtins.property
    def only_wrong_model(self) -> str:
        """The only model that gets the item wrong, or "" if there are several."""
        return self.wrong[0] if len(self.wrong) == 1 else ""

    def case(self, model: ComparedModel) -> str:
        """Return the id of the item's case under a model, as in items.parquet."""
        return str(CaseId(self.check, model.label, self.data, self.level))


def find_flips(models: Sequence[ComparedModel], *, epsilons: Mapping[str, float]) -> list[Flip]:
    """Return the items that some models win and others lose. Items that most models lose come first, then by margin.

    Only items that every model scored count. Ties are left out, and an item whose texts occur twice is listed once. A
    check in which no model is shown to beat guessing is left out, because there luck decides who wins an item.
    """
    tables = common_tables([m.side.tables for m in models])
    found: dict[tuple[str, str], Flip] = {}
    for case in tables[0]:
        for text, flip in _flips_in_case(models, [cut[case] for cut in tables], epsilons.get(case, 0.0)):
            found.setdefault((flip.data, text), flip)
    return sorted(found.values(), key=lambda one: (len(one.wrong), min(one.margins[name] for name in one.wrong)))


def _flips_in_case(
    models: Sequence[ComparedModel], tables: Sequence[CaseScores], epsilon: float
) -> Iterator[tuple[str, Flip]]:
    """Yield the flips of one case, each with the hash of its texts."""
    metric = metric_for_item_comparison(tables[0])
    if metric is None or metric.kind != "rate" or metric.unit != "item" or not len(tables[0].items):
        return
    cut = [select_measured_items(table) for table in tables]
    scales = [m.side.scales.get(table.data, NO_CALIBRATION) for m, table in zip(models, cut, strict=True)]
    won = np.array([
        metric_values(metric, table, scale, epsilon=epsilon)
        for table, scale in zip(cut, scales, strict=True)
    ])  # fmt: skip
    first = cut[0]
    if not any(beats_chance(metric.value_rows(first), metric, own, own) for own in won):
        return
    for i in np.flatnonzero((won != HALF).all(axis=0) & (won.min(axis=0) < HALF) & (won.max(axis=0) > HALF)):
        wrong, right = (
            tuple(m.name for m, w in zip(models, won[:, i], strict=True) if (w < HALF) == is_wrong)
            for is_wrong in (True, False)
        )
        margins = {
            m.name: float(np.nan_to_num(table.margins(scale)[i]))
            for m, table, scale in zip(models, cut, scales, strict=True)
        }
        named = (first.items[i], first.check, first.property, first.data, first.level)
        yield first.texts[i], Flip(*named, wrong, right, margins)


@dataclass(frozen=True)
class ModelComparison:
    """The reference, which is the first of `models`, and how the other models differ from it.

    `matrix` has one line per property, with a cell per model. `whole` has one line per figure of a whole data set; such
    a figure is not computed from items, so it is not paired. `benchmark_plot` has a point per model; None unless two
    models have both a benchmark and a behaviour figure. `flips` are the items that some models win and others lose.
    `contamination` has a row for each other model that ran, like the reference, on both the written and fresh probes.
    """

    models: Sequence[ComparedModel]
    differences: Mapping[str, Sequence[CaseDifference]]
    whole: Sequence[Sequence[str]]
    benchmark_plot: BenchmarkPlot | None = None
    matrix: Sequence[PropertyLine] = ()
    flips: Sequence[Flip] = ()
    contamination: Sequence[Contamination] = ()

    def surface_of(self, difference: CaseDifference) -> str:
        """Return the best surface scorer of a case and its figure, or a dash if none was measured."""
        names = (difference.figure, f"{difference.figure}_calibrated")
        for row in self.first.rows:
            if row.case.of_any_model == difference.case and row.metric in names and row.surface:
                return surface_text(row)
        return "-"

    @property
    def looks(self) -> Sequence[str]:
        """Warnings about models that stopped after a first look: few of their checks and items can be paired."""
        return [f"{m.name} is {m.look}: only its measured cases are compared" for m in self.models if m.look]

    @property
    def first(self) -> ComparedModel:
        """The reference."""
        return self.models[0]


def compare(
    folders: Sequence[Path], *, reference: str | None = None, behaviour: str | None = None, seed: int = 0
) -> ModelComparison:
    """Compare every model of the runs with `reference`, by default the first model.

    `behaviour` names the property to plot against a benchmark; by default, the mean over meaning and order. Raise
    UsageError if the models share no items.
    """
    models = read_models(folders, reference=reference)
    first = models[0]
    epsilons = shared_epsilons(models)
    criteria: dict[str, int] = {}
    for declared in first.declared.values():
        criteria[declared.property] = max(declared.criterion, criteria.get(declared.property, 0))
    # the four criteria first, each with the controls of its property
    differences = {
        m.name: sorted(
            case_differences(first.side, m.side, epsilons=epsilons),
            key=lambda d: (not (of := criteria.get(d.property, 0)), of, d.property, d.check, d.level),
        )
        for m in models[1:]
    }
    whole = _whole_set_rows(models)
    if not any(differences.values()) and not whole:
        named = ", ".join(map(str, folders))
        raise UsageError(f"the runs share no items ({named}): compare runs on the same data, seed and generators")
    lines = property_matrix(models)
    rows = [  # the reference counts as the older model
        row
        for m in models[1:]
        for row in estimate_contaminations(first.side, m.side, first.editions, names=(first.name, m.name), seed=seed)
    ]
    return ModelComparison(
        models, differences, whole, benchmark_plot(models, behaviour=behaviour, seed=seed), lines,
        find_flips(models, epsilons=epsilons), rows,
    )  # fmt: skip


def shared_epsilons(models: Sequence[ComparedModel]) -> dict[str, float]:
    """Return the margin above which an item counts as won, by case. Raise UsageError if the runs used different
    --epsilon.
    """
    found: dict[str, float] = {}
    for model in models:
        for row in model.rows:
            if "epsilon" in row.params:
                epsilon = float(row.params["epsilon"])
                if found.setdefault(row.case.of_any_model, epsilon) != epsilon:
                    several = f"--epsilon {found[row.case.of_any_model]} and {epsilon}"
                    raise UsageError(f"the runs were made with {several}: compare runs with the same --epsilon")
    return found


def _whole_set_rows(models: Sequence[ComparedModel]) -> list[list[str]]:
    """Return a row for each check judged on a whole data set: check, level, data, figure, and each model's value."""
    rows = {
        (row.case.of_any_model, row.metric or ""): row
        for model in models
        for row in model.rows
        if _is_of_whole_set(model.declared[row.check]) and row.verdict is not None and row.value is not None
    }
    lines = []
    for (case, metric), row in rows.items():
        values = [
            next((r for r in model.rows if (r.case.of_any_model, r.metric) == (case, metric)), None) for model in models
        ]
        shown = ["-" if r is None or r.value is None else figure_text(r) for r in values]
        lines.append([claim_sentence(row.check), row.level, row.data, metric, *shown])
    return lines


def _is_of_whole_set(declared: Declaration) -> bool:
    """Return whether the check's deciding metric is computed from the whole data set instead of items."""
    try:
        return bool(declared.metric) and not declared.gates and find_metric(declared.metric).values is None
    except UsageError:
        return True

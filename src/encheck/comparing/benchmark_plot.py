"""A plot of benchmark against behaviour, one point per model: the dilemma of Mahajan et al. 2023, section 6."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from encheck.comparing.differences import common_tables
from encheck.comparing.models import ComparedModel
from encheck.errors import UsageError, unknown_name_message
from encheck.gating.balance import (
    PropertyWins,
    property_families,
    property_wins,
    rate_and_chance_replicates,
    score_part_of_family,
)
from encheck.metrics.classification import task_accuracy
from encheck.reporting.html.charts import Axis, round_step
from encheck.reporting.text import plain_name
from encheck.run_file import Result
from encheck.statistics.bootstrap import Figure, percentile_interval

Key = tuple[str, str, str]  # data, case, and the data's fingerprint, since names may be reused
BENCHMARKS = (  # the check's metric, its family if that matters, the row's metric, and the words for it
    ("spearman", "", "spearman_all", "Spearman with people's scores, all sets"),
    ("spearman", "", "spearman", "Spearman with people's scores"),
    ("recall_at_1", "retrieval", "recall_at_1", "recall@1 of plain retrieval"),
)
FEWEST_TO_DRAW, FEWEST_TO_CORRELATE = 2, 5  # models


@dataclass(frozen=True, slots=True)
class BenchmarkPoint:
    """A model with its figures on the benchmark and in behaviour."""

    model: str
    benchmark: Figure
    behaviour: Figure


@dataclass(frozen=True, slots=True)
class BenchmarkPlot:
    """One point per model, with the names of the two figures that the axes show."""

    points: Sequence[BenchmarkPoint]
    benchmark: str
    behaviour: str

    @property
    def correlation(self) -> float | None:
        """Spearman's correlation of the two figures. None for fewer than five models, or if all models have the same
        figure.
        """
        if len(self.points) < FEWEST_TO_CORRELATE:
            return None
        from scipy.stats import rankdata

        ranks = [rankdata([getattr(p, side).value for p in self.points]) for side in ("benchmark", "behaviour")]
        if any(np.ptp(one) == 0 for one in ranks):
            return None
        return float(np.corrcoef(*ranks)[0, 1])

    @property
    def words(self) -> str:
        """The caption of the plot."""
        count = len(self.points)
        if self.correlation is not None:
            return f"Spearman's correlation of the two figures over these {count} models is {self.correlation:+.2f}."
        if count < FEWEST_TO_CORRELATE:
            return f"{count} models are too few to say whether the two figures go together."
        return "All models have the same rank in one of the figures, so there is no correlation."


def benchmark_plot(
    models: Sequence[ComparedModel], *, behaviour: str | None = None, seed: int = 0
) -> BenchmarkPlot | None:
    """Return the models' points on the benchmark that most of them share, or None if fewer than two models have both
    figures.

    The benchmark is the mean accuracy over the downstream tasks if there are any, otherwise one of `BENCHMARKS`.
    Behaviour is the share of items that a model wins, on the items that all models share: in the property `behaviour`,
    or averaged over the properties of meaning and order. Raise UsageError if the property was not measured.
    """
    words, scores = _benchmark_values(models)
    some = [model for model in models if model.name in scores]
    tables = common_tables([model.side.tables for model in some]) if some else []
    wins = [property_wins(one, model.side.scales) for model, one in zip(some, tables, strict=True)]
    families = {name: family for one in tables for name, family in property_families(one).items()}
    said, figures = _behaviour_figures(wins, families, behaviour, seed)
    points = [
        BenchmarkPoint(m.name, scores[m.name], found)
        for m, found in zip(some, figures, strict=True)
        if found is not None
    ]
    return BenchmarkPlot(points, words, said) if len(points) >= FEWEST_TO_DRAW else None


def _benchmark_values(models: Sequence[ComparedModel]) -> tuple[str, dict[str, Figure]]:
    """Return the name of the benchmark figure, and its value for each model that has one."""
    if len((found := _downstream_accuracies(models))[1]) >= FEWEST_TO_DRAW:
        return found
    for judged_by, family, metric, words in BENCHMARKS:
        figures = {m.name: _rows_with_metric(m, judged_by, family, metric) for m in models}
        keys = dict.fromkeys(key for own in figures.values() for key in own)
        sharing = {key: [name for name, own in figures.items() if key in own] for key in keys}
        best = max(sharing, key=lambda key: len(sharing[key]), default=None)
        if best and len(sharing[best]) >= FEWEST_TO_DRAW:
            return f"{words} ({best[0]})", {name: _figure_of(figures[name][best]) for name in sharing[best]}
    return "", {}


def _downstream_accuracies(models: Sequence[ComparedModel]) -> tuple[str, dict[str, Figure]]:
    """Return the mean accuracy over the tasks that all models share. Its interval treats the tasks as independent."""
    rows = {m.name: own for m in models if (own := _rows_with_metric(m, task_accuracy.name, "", task_accuracy.name))}
    shared = sorted(set.intersection(*(set(own) for own in rows.values()))) if rows else []
    if not shared:
        return "", {}
    tasks = [str(next(iter(rows.values()))[key].level) for key in shared]
    words = f"mean accuracy of {', '.join(tasks)}" if len(tasks) > 1 else f"accuracy of {tasks[0]}"
    return words, {name: _mean_figure([_figure_of(own[key]) for key in shared]) for name, own in rows.items()}


def _mean_figure(figures: Sequence[Figure]) -> Figure:
    value = float(np.mean([one.value for one in figures]))
    below, above = (
        float(np.sqrt(sum((one.value - getattr(one, end)) ** 2 for one in figures))) / len(figures)
        for end in ("low", "high")
    )
    return Figure(value, value - below, value + above)


def _rows_with_metric(model: ComparedModel, judged_by: str, family: str, metric: str) -> dict[Key, Result]:
    """Return the rows of checks that this metric judges, if they have a value."""
    own = {
        name
        for name, declared in model.declared.items()
        if declared.metric == judged_by and declared.family in (family or declared.family,)
    }
    rows = [r for r in model.rows if r.check in own and r.metric == metric and r.value is not None]
    return {(r.data, r.case.of_any_model, model.data[r.data]): r for r in rows}


def _figure_of(row: Result) -> Figure:
    assert row.value is not None
    return Figure(row.value, *(row.value if end is None else end for end in (row.low, row.high)))


def _behaviour_figures(
    several: Sequence[Mapping[str, PropertyWins]], families: Mapping[str, str], wanted: str | None, seed: int
) -> tuple[str, list[Figure | None]]:
    """Return the name of the behaviour figure, and for each model the share of items that it wins.

    Without a property, the share is averaged over the properties of meaning and order that all models have.
    """
    if wanted is not None:
        there = sorted({name for own in several for name in own})
        if several and wanted not in there:
            raise UsageError(
                unknown_name_message("property", wanted, there) if there else f"no share of {wanted} was measured"
            )
        names, words = [wanted], f"{plain_name(wanted)}, share right"
    else:
        shared = set.intersection(*map(set, several)) if several else set()
        names = sorted(name for name in shared if score_part_of_family(families[name]) == "sensitivity")
        words = f"mean share right over properties of meaning and order ({len(names)})"
    figures: list[Figure | None] = []
    for own in several:
        some = {name: own[name] for name in names if name in own}
        if not some:
            figures.append(None)
            continue
        drawn = np.mean([rate for rate, _ in rate_and_chance_replicates(some, seed).values()], axis=0)
        low, high = (float(end) for end in percentile_interval(drawn))
        figures.append(Figure(float(np.mean([one.rate for one in some.values()])), low, high))
    return words, figures


# The layout of the plot in pixels; labels avoid points and each other.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 300, 40, 350, 24, 256
RADIUS, LINE, LETTER = 3.5, 13, 6.2  # radius of a mark; height of a label and width of a letter
LONGEST = 20  # letters of a label; the whole name is in its title
NARROWEST = 0.01  # range of an axis
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class ScatterMark:
    """A model in the plot: its position, the ends of its error bars, its label with a position, and a description.

    `line` is the end of the line that links the mark to its label; None if the label is next to the mark.
    """

    x: float
    y: float
    across: tuple[float, float]
    along: tuple[float, float]
    label: str
    label_x: float
    label_y: float
    line: tuple[float, float] | None
    words: str


@dataclass(frozen=True, slots=True)
class ScatterLayout:
    """The axes, and one mark per model, starting with the reference."""

    x: Axis
    y: Axis
    marks: Sequence[ScatterMark]


def scatter_layout(plot: BenchmarkPlot) -> ScatterLayout:
    """Lay out these points with axes and labels that do not overlap."""
    x = _rounded_axis([p.benchmark for p in plot.points], LEFT, RIGHT)
    y = _rounded_axis([p.behaviour for p in plot.points], BOTTOM, TOP)
    places = [(x.at(p.benchmark.value), y.at(p.behaviour.value)) for p in plot.points]
    taken = [(px - RADIUS, py - RADIUS, px + RADIUS, py + RADIUS) for px, py in places]
    marks = []
    for point, place in zip(plot.points, places, strict=True):
        label = point.model if len(point.model) <= LONGEST else f"{point.model[: LONGEST - 1]}\u2026"
        box, is_far = _free_label_box(place, LETTER * len(label), taken)
        taken.append(box)
        end = (round(min(max(place[0], box[0]), box[2]), 1), round(min(max(place[1], box[1]), box[3]), 1))
        benchmark, behaviour = (
            f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in (point.benchmark, point.behaviour)
        )
        marks.append(ScatterMark(
            *place, (x.at(point.benchmark.low), x.at(point.benchmark.high)),
            (y.at(point.behaviour.low), y.at(point.behaviour.high)), label, round(box[0], 1), round(box[3] - 3, 1),
            end if is_far else None, f"{point.model}: benchmark {benchmark}, behaviour {behaviour}",
        ))  # fmt: skip
    return ScatterLayout(x, y, marks)


def _rounded_axis(figures: Sequence[Figure], start: float, end: float) -> Axis:
    """Return an axis whose ends are round values outside all intervals."""
    low, high = min(one.low for one in figures), max(one.high for one in figures)
    step = round_step(max(high - low, NARROWEST))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return Axis(first * step, max(last, first + 1) * step, start, end)


def _free_label_box(place: tuple[float, float], width: float, taken: Sequence[Box]) -> tuple[Box, bool]:
    """Return the first free position for a label, and whether it is too far from its mark to do without a line."""
    for distance in range(0, HEIGHT, LINE):
        for box in _label_boxes(place, width, distance):
            inside = box[0] >= 0 and box[2] <= WIDTH and box[1] >= 0 and box[3] <= BOTTOM
            if inside and not any(
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken
            ):
                return box, distance > 0
    return next(_label_boxes(place, width, 0)), False


def _label_boxes(place: tuple[float, float], width: float, distance: float) -> Iterator[Box]:
    """Yield the boxes to the right, to the left, above and below a mark, at the given distance."""
    x, y = place
    for dx, dy in ((1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1)):
        middle = x + dx * (RADIUS + 3 + width / 2 + (distance if dy == 0 else 0))
        centre = y + dy * (RADIUS + LINE / 2 + distance)
        yield middle - width / 2, centre - LINE / 2, middle + width / 2, centre + LINE / 2

"""Compare models by quality, behaviour, speed, size and price, and find the Pareto front.

A model is not on the front if another model is better in one respect and not worse in any. In quality and behaviour
"better" means that the 95% interval of the paired difference leaves 0 out (one bootstrap over clusters, the same draws
for all models); in speed, a tenth faster; in size and price, less. Behaviour is rescaled so that guessing is 0. A
property in which neither of two models is shown to beat guessing does not separate them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.differences import in_common
from encheck.comparing.models import ComparedModel
from encheck.gating.balance import score_part
from encheck.gating.pairing import NO_CALIBRATION, chance_level, declaration_of, gating_metric, primary_metric
from encheck.gating.reference import beats_chance
from encheck.running.speed import BYTES_A_NUMBER, Speed, bytes_per_million_vectors
from encheck.scoring.frame import CaseScores
from encheck.statistics.bootstrap import Figure, Resampler, percentile_interval
from encheck.system.typed_files import Count

Floats = NDArray[np.float64]
Tables = Mapping[str, CaseScores]
Pairs = tuple[tuple[str, str], ...]
Criterion = Literal["quality", "behaviour", "texts per second", "bytes", "price"]
FASTER = 1.1


@dataclass(frozen=True)
class BootstrapFigure:
    """A figure with its bootstrap replicates, shape [r], from the same draws for all models."""

    value: float
    replicates: Floats

    @property
    def figure(self) -> Figure:
        """The figure with its 95% interval."""
        low, high = percentile_interval(self.replicates)
        return Figure(self.value, float(low), float(high))

    def beats(self, other: BootstrapFigure) -> bool:
        """Whether the 95% interval of the difference lies above 0."""
        return float(percentile_interval(self.replicates - other.replicates)[0]) > 0


@dataclass(frozen=True)
class Cost:
    """The costs of a model: dimension, speed (None if it cannot be timed), and dollars per million tokens.

    `is_stored`: it is a file of vectors, without a model to time.
    """

    dimension: int
    speed: Speed | None
    price: float | None = None
    is_stored: bool = False


@dataclass(frozen=True)
class CheckShare:
    """A model's rate in a case, rescaled from 0 (guessing or worse) to 1 (all won).

    `beats_chance` says whether the model is shown to beat guessing, by the gate's rule for headroom.
    """

    case: str
    property: str
    family: str
    measured: BootstrapFigure
    beats_chance: bool


@dataclass(frozen=True)
class CostRow:
    """A model: quality on the user's data (None without such data), its shares in behaviour checks, and its cost."""

    name: str
    quality: BootstrapFigure | None
    checks: tuple[CheckShare, ...]
    cost: Cost

    @cached_property
    def families(self) -> Mapping[str, BootstrapFigure]:
        """Behaviour by family."""
        return families(self.checks)

    @property
    def behaviour(self) -> BootstrapFigure | None:
        """The mean of the families; None if no check was measured."""
        return _mean(self.families.values())

    def behaves_better(self, other: CostRow) -> bool:
        """Whether behaviour is certainly better on the shared cases.

        A case counts as unchanged if neither model is shown to beat guessing: damage moves such a rate either way.
        """
        theirs = {one.case: one for one in other.checks}
        moved = []
        for mine in self.checks:
            if (its := theirs.get(mine.case)) is not None:
                counts, here, there = float(mine.beats_chance or its.beats_chance), mine.measured, its.measured
                change = BootstrapFigure(
                    counts * (here.value - there.value), counts * (here.replicates - there.replicates)
                )
                moved.append(replace(mine, measured=change))
        found = _mean(families(moved).values())
        return found is not None and float(percentile_interval(found.replicates)[0]) > 0


@dataclass(frozen=True, slots=True)
class ModelCost:
    """A model in the JSON of costs.

    `families` are rates rescaled from 0 (guessing) to 1 (all won), averaged by family, and `behaviour` is their
    mean. `bytes_per_million` are those of vectors in fp32, `index_bytes` of the documents of the data. `p50` and `p95`
    are milliseconds per query, `price` is dollars per million tokens. `stored`: it is a file of vectors,
    without a model that can be timed.
    """

    name: str
    quality: Figure | None
    behaviour: Figure | None
    families: Mapping[str, Figure]
    dimension: Count
    bytes_per_million: Count
    index_bytes: Count
    texts_a_second: float | None
    p50: float | None
    p95: float | None
    price: float | None
    stored: bool

    @classmethod
    def of(cls, row: CostRow, documents: int) -> Self:
        """The row of a model, with an index of this many documents."""
        speed, dimension = row.cost.speed, row.cost.dimension
        return cls(
            row.name, row.quality.figure if row.quality else None, row.behaviour.figure if row.behaviour else None,
            {family: one.figure for family, one in row.families.items()}, dimension,
            bytes_per_million_vectors(dimension), documents * BYTES_A_NUMBER * dimension,
            speed.texts_a_second if speed else None, speed.p50 if speed else None,
            speed.p95 if speed else None, row.cost.price, row.cost.is_stored,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CostReport:
    """The JSON of `encheck compare --cost --json`: shares are proportions, intervals are 95%.

    `figure` names the figure of quality, empty without data. `beaten` maps each model that is not on the `front` to one
    that is better in one respect and worse in none. `inseparable` has the pairs of models that quality or behaviour
    does not tell apart. `at_chance` names the properties in which no model is shown to beat guessing: no difference in
    them counts.
    """

    schema_version: Literal[1] = field(default=1, kw_only=True)
    figure: str
    documents: Count
    models: tuple[ModelCost, ...]
    front: tuple[str, ...]
    beaten: Mapping[str, str]
    inseparable: Mapping[Literal["quality", "behaviour"], Pairs]
    at_chance: tuple[str, ...]


@dataclass(frozen=True)
class CostComparison:
    """The models, the figure of `quality`, the front, and the pairs that cannot be told apart.

    `at_chance` names the properties in which no model is shown to beat guessing: no difference in them counts.
    """

    rows: tuple[CostRow, ...]
    figure: str
    documents: int
    front: tuple[str, ...]
    beaten: Mapping[str, str]
    inseparable: Mapping[Literal["quality", "behaviour"], Pairs]
    at_chance: tuple[str, ...] = ()

    @property
    def report(self) -> CostReport:
        """The report for JSON, without replicates."""
        models = tuple(ModelCost.of(row, self.documents) for row in self.rows)
        return CostReport(
            self.figure, self.documents, models, self.front, self.beaten, self.inseparable, self.at_chance
        )


def cost_comparison(
    models: Sequence[ComparedModel], cost: Mapping[str, Cost], *, data: str | None, documents: int = 0, seed: int = 0
) -> CostComparison:
    """Compare the models of one run; `data` labels the search with labels that measures quality."""
    cut = in_common([model.side.tables for model in models])
    quality = [_quality(tables, data, seed) if data else None for tables in cut]
    behaviour = [check_shares(tables, seed, but=data) for tables in _behaving(models, cost)]
    rows = tuple(
        CostRow(model.label, one and one[1], checks, cost[model.label])
        for model, one, checks in zip(models, quality, behaviour, strict=True)
    )
    beaten = {row.name: by for row in rows if (by := beaten_by(row, rows))}
    front = tuple(row.name for row in rows if row.name not in beaten)
    figure = next((one[0] for one in quality if one), "")
    names: tuple[Literal["quality", "behaviour"], ...] = ("quality", "behaviour")
    open_ = {name: tuple(inseparable_pairs(rows, name)) for name in names}
    every = [one for row in rows for one in row.checks]
    seen = {one.property for one in every if one.beats_chance}
    at_chance = tuple(sorted({one.property for one in every} - seen))
    return CostComparison(rows, figure, documents, front, beaten, open_, at_chance)


def _behaving(models: Sequence[ComparedModel], cost: Mapping[str, Cost]) -> list[Tables]:
    """Each model's tables on the shared items; empty for a file of vectors that lacks texts of these items."""
    every = [model.side.tables for model in models]
    computed = [tables for tables, model in zip(every, models, strict=True) if not cost[model.label].is_stored]
    wanted = set.intersection(*(set(tables) for tables in computed or every))
    known = [wanted <= set(tables) for tables in every]
    cut = iter(in_common([tables for tables, has_all in zip(every, known, strict=True) if has_all]))
    return [next(cut) if has_all else {} for has_all in known]


def _quality(tables: Tables, data: str, seed: int) -> tuple[str, BootstrapFigure] | None:
    """The primary endpoint of the search, by the gate's name."""
    for table in tables.values():
        if table.data == data and (metric := primary_metric(table)):
            values = metric.item_values(table, NO_CALIBRATION)
            return metric.label, _resampled(values, Resampler(table.clusters, seed=seed))
    return None


def check_shares(tables: Tables, seed: int, *, but: str | None) -> tuple[CheckShare, ...]:
    """The share of each case that gates by a rate and counts in the balanced score, with shared bootstrap draws."""
    known = [
        (table, metric) for table in tables.values()
        if table.data != but and table.items and score_part(declaration_of(table).family)
        and (metric := gating_metric(table)[0]) and metric.kind == "rate"
    ]  # fmt: skip
    universe = sorted({cluster for table, metric in known for cluster in metric.value_rows(table).clusters})
    shares = []
    for table, metric in known:
        heads, values, chance = (
            metric.value_rows(table),
            metric.item_values(table, NO_CALIBRATION),
            chance_level(table, metric) or 0.0,
        )
        rate = _resampled(values, Resampler(heads.clusters, universe=universe, seed=seed))
        value, replicates = (np.maximum(one - chance, 0.0) / (1 - chance) for one in (rate.value, rate.replicates))
        shares.append(CheckShare(
            table.case, table.property, declaration_of(table).family, BootstrapFigure(float(value), replicates),
            beats_chance(heads, metric, values, values),
        ))  # fmt: skip
    return tuple(shares)


def families(checks: Iterable[CheckShare]) -> dict[str, BootstrapFigure]:
    """Behaviour by family: the mean of its properties, each the mean of its cases."""
    grouped: dict[str, dict[str, list[BootstrapFigure]]] = {}
    for one in checks:
        grouped.setdefault(one.family, {}).setdefault(one.property, []).append(one.measured)
    means = {family: _mean(map(_mean, properties.values())) for family, properties in sorted(grouped.items())}
    return {family: measured for family, measured in means.items() if measured}


def _resampled(values: Floats, resampler: Resampler) -> BootstrapFigure:
    totals = resampler.replicate_totals(np.column_stack([values, np.ones(len(values))]))
    with np.errstate(invalid="ignore", divide="ignore"):
        return BootstrapFigure(float(values.mean()), totals[:, 0] / totals[:, 1])


def _mean(some: Iterable[BootstrapFigure | None]) -> BootstrapFigure | None:
    """The mean of figures with the same draws; None if there are none."""
    found = [one for one in some if one is not None]
    if not found:
        return None
    least = min(len(one.replicates) for one in found)
    replicates = np.mean([one.replicates[:least] for one in found], axis=0)
    return BootstrapFigure(float(np.mean([one.value for one in found])), replicates)


def beaten_by(row: CostRow, rows: Sequence[CostRow]) -> str:
    """The first model that is better in one respect and not worse in any; empty if there is no such model.

    A model with unknown quality, behaviour or speed never beats one with a known value.
    """
    known = [[one.quality is not None, one.behaviour is not None, one.cost.speed is not None] for one in (row, *rows)]
    for other, its in zip(rows, known[1:], strict=True):
        is_known = all(other_has or not own_has for own_has, other_has in zip(known[0], its, strict=True))
        if other is not row and is_known and any(_better(other, row)) and not any(_better(row, other)):
            return other.name
    return ""


def _better(one: CostRow, other: CostRow) -> Iterator[Criterion]:
    """The criteria in which one model is better than another, if known for both."""
    if one.quality and other.quality and one.quality.beats(other.quality):
        yield "quality"
    if one.behaves_better(other):
        yield "behaviour"
    speeds = one.cost.speed, other.cost.speed
    if speeds[0] and speeds[1] and speeds[0].texts_a_second > FASTER * speeds[1].texts_a_second:
        yield "texts per second"
    if one.cost.dimension < other.cost.dimension:
        yield "bytes"
    prices = one.cost.price, other.cost.price
    if prices[0] is not None and prices[1] is not None and prices[0] < prices[1]:
        yield "price"


def inseparable_pairs(rows: Sequence[CostRow], name: Literal["quality", "behaviour"]) -> Iterator[tuple[str, str]]:
    """Pairs of models that a figure does not separate."""
    for one, other in combinations(rows, 2):
        if getattr(one, name) and getattr(other, name) and name not in {*_better(one, other), *_better(other, one)}:
            yield one.name, other.name

"""Compare models by quality, behaviour, speed, size and price, and find the Pareto front.

A model is not on the front if another model is better in one criterion and not worse in any. A model is better in
quality or behaviour if the 95% interval of the paired difference lies above 0. It is better in speed if it is 10%
faster, and in size and price if it needs less. The difference in quality counts on enough clusters of queries. The
difference in behaviour is that of the items won, averaged by family; one bootstrap over clusters uses the same
resamples for all models. A property counts as unchanged if neither of two models is shown to beat guessing in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.differences import common_tables
from encheck.comparing.models import ComparedModel
from encheck.gating.balance import score_part_of_family
from encheck.gating.pairing import NO_CALIBRATION, declaration_of, gating_metric, primary_metric
from encheck.gating.reference import beats_chance, effective_clusters
from encheck.reporting.decisions import NextStep, VerdictBanner
from encheck.reporting.html.page import render_template
from encheck.reporting.profile import chance_of
from encheck.reporting.text import percent, percent_interval, plain_name, table
from encheck.reporting.view import is_rate
from encheck.running.model_under_test import BYTES_A_NUMBER, Speed, bytes_per_million_vectors
from encheck.scoring.frame import CaseScores
from encheck.statistics.bootstrap import Figure, Resampler, percentile_interval
from encheck.statistics.sharing import Sharing, cached_sharing, mean_interval, number_units
from encheck.system.typed_files import Count
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]
Tables = Mapping[str, CaseScores]
Pairs = tuple[tuple[str, str], ...]
Criterion = Literal["quality", "behaviour", "texts per second", "bytes", "price"]
FASTER = 1.1


@dataclass(frozen=True, eq=False)
class SearchQuality:
    """The value of each query's primary endpoint, shape [n]; all models have the same queries.

    `is_rate` says that a value is 0 or 1, `sharing` what the queries share.
    """

    values: Floats
    is_rate: bool
    sharing: Sharing

    @property
    def figure(self) -> Figure:
        """The mean with its 95% interval, which is 0 to 1 if no interval is reliable."""
        low, high = self.sharing.rate_interval(self.values)
        return Figure(float(self.values.mean()), float(low[0]), float(high[0]))

    def beats(self, other: SearchQuality) -> bool:
        """Return whether the 95% interval of self - other lies above 0, on enough clusters for a verdict."""
        moved, sharing = self.values - other.values, self.sharing
        ends = sharing.change_interval(moved) if self.is_rate else mean_interval(sharing.estimate_errors(moved))
        return effective_clusters(sharing) >= MIN_CLUSTERS and float(ends[0][0]) > 0


@dataclass(frozen=True)
class Cost:
    """A model's costs: the dimension of its vectors, its speed, and its price in dollars per million tokens.

    `speed` is None if the model cannot be timed. `is_stored` says that the vectors come from a file, without a model.
    """

    dimension: int
    speed: Speed | None
    price: float | None = None
    is_stored: bool = False


@dataclass(frozen=True)
class CheckShare:
    """The share of a case's items that a model wins, in each bootstrap replicate; shape [r].

    `beats_chance` says whether the model is shown to beat guessing, which the gate demands before a rise counts.
    """

    case: str
    property: str
    family: str
    replicates: Floats
    beats_chance: bool


@dataclass(frozen=True, slots=True)
class PropertyShare:
    """The share of a property's items or groups that a model gets right, its 95% interval, and chance."""

    value: float
    low: float
    high: float
    chance: float | None


@dataclass(frozen=True)
class CostRow:
    """A model with its quality on the user's data, its shares in behaviour checks, and its cost.

    `quality` is None without labelled data. `properties` has the printed figure of each property that is a share of
    items.
    """

    name: str
    full_name: str
    quality: SearchQuality | None
    checks: tuple[CheckShare, ...]
    cost: Cost
    properties: Mapping[str, PropertyShare] = field(default_factory=dict)

    @property
    def behaviour(self) -> float | None:
        """The mean of the properties' printed figures. None if no behaviour check was measured."""
        return float(np.mean([one.value for one in self.properties.values()])) if self.properties else None

    def behaves_better(self, other: CostRow) -> bool:
        """Return whether this model certainly behaves better on the cases that both models have.

        A case counts as unchanged if neither model is shown to beat guessing, because damage moves such a rate up as
        easily as down.
        """
        theirs = {one.case: one for one in other.checks}
        moved = []
        for mine in self.checks:
            if (its := theirs.get(mine.case)) is not None:
                counts = float(mine.beats_chance or its.beats_chance)
                moved.append(replace(mine, replicates=counts * (mine.replicates - its.replicates)))
        return bool(moved) and float(percentile_interval(_mean_of_families(moved))[0]) > 0


@dataclass(frozen=True, slots=True)
class ModelCost:
    """A model in the JSON of costs. `name` is its label.

    `properties` has each property's figure that a run's page prints as a share, and `behaviour` is their mean.
    `bytes_per_million` is the size of a million vectors in fp32, `index_bytes` the size of the vectors of all
    documents. `p50` and `p95` are milliseconds per query. `price` is in dollars per million tokens. `stored` says that
    the vectors come from a file, so no model was timed.
    """

    name: str
    full_name: str
    quality: Figure | None
    behaviour: float | None
    properties: Mapping[str, PropertyShare]
    dimension: Count
    bytes_per_million: Count
    index_bytes: Count
    texts_a_second: float | None
    p50: float | None
    p95: float | None
    price: float | None
    stored: bool


@dataclass(frozen=True, slots=True)
class CostReport:
    """The JSON of `encheck compare --cost --json`. Shares are proportions, intervals are 95%.

    `figure` names the quality figure; "" without data. `clusters` is the effective number of clusters of the queries, 0
    without data. `front` lists the models on the Pareto front. `beaten` maps each other model to a model that is better
    in one criterion and worse in none. `inseparable` lists the pairs of models that do not differ certainly in quality
    or in behaviour. `at_chance` names the properties in which no model is shown to beat guessing. Differences in these
    do not count. `guessing` lists the models that are shown to beat guessing in no property; on the front, they are
    faster, smaller or cheaper at most.
    """

    schema_version: Literal[1] = field(default=1, kw_only=True)
    figure: str
    clusters: Count
    documents: Count
    models: tuple[ModelCost, ...]
    front: tuple[str, ...]
    beaten: Mapping[str, str]
    inseparable: Mapping[Literal["quality", "behaviour"], Pairs]
    at_chance: tuple[str, ...]
    guessing: tuple[str, ...]


@dataclass(frozen=True)
class CostComparison:
    """The models, the quality figure, the Pareto front, and the pairs of models that do not differ certainly.

    `at_chance` names the properties in which no model is shown to beat guessing. Differences in these do not count.
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
        """The JSON report, which leaves out the bootstrap replicates."""
        models = []
        for row in self.rows:
            speed, dimension = row.cost.speed, row.cost.dimension
            models.append(ModelCost(
                row.name, row.full_name, row.quality.figure if row.quality else None, row.behaviour, row.properties,
                dimension, bytes_per_million_vectors(dimension), self.documents * BYTES_A_NUMBER * dimension,
                speed.texts_a_second if speed else None, speed.p50 if speed else None, speed.p95 if speed else None,
                row.cost.price, row.cost.is_stored,
            ))  # fmt: skip
        clusters = max((effective_clusters(row.quality.sharing) for row in self.rows if row.quality), default=0)
        return CostReport(
            self.figure, clusters, self.documents, tuple(models), self.front, self.beaten, self.inseparable,
            self.at_chance,
            tuple(row.name for row in self.rows if row.checks and not any(one.beats_chance for one in row.checks)),
        )  # fmt: skip


def cost_comparison(
    models: Sequence[ComparedModel], cost: Mapping[str, Cost], *, data: str | None, documents: int = 0, seed: int = 0
) -> CostComparison:
    """Compare the models of one run. `data` is the label of the labelled search data that measure quality."""
    cut = common_tables([model.side.tables for model in models])
    quality = [_search_quality(tables, data) if data else None for tables in cut]
    behaviour = [check_shares(tables, seed, but=data) for tables in _behaviour_tables(models, cost)]
    printed = [_property_shares(model, but=data) if checks else {}
               for model, checks in zip(models, behaviour, strict=True)]  # fmt: skip
    shared = set.intersection(*(set(one) for one in printed if one)) if any(printed) else set()
    rows = tuple(
        CostRow(
            model.label, model.full_name, one and one[1], checks, cost[model.label],
            {name: share for name, share in sorted(shares.items()) if name in shared},
        )
        for model, one, checks, shares in zip(models, quality, behaviour, printed, strict=True)
    )  # fmt: skip
    beaten = {row.name: by for row in rows if (by := beaten_by(row, rows))}
    front = tuple(row.name for row in rows if row.name not in beaten)
    figure = next((one[0] for one in quality if one), "")
    names: tuple[Literal["quality", "behaviour"], ...] = ("quality", "behaviour")
    open_ = {name: tuple(inseparable_pairs(rows, name)) for name in names}
    every = [one for row in rows for one in row.checks]
    seen = {one.property for one in every if one.beats_chance}
    at_chance = tuple(sorted({one.property for one in every} - seen))
    return CostComparison(rows, figure, documents, front, beaten, open_, at_chance)


def _property_shares(model: ComparedModel, *, but: str | None) -> dict[str, PropertyShare]:
    """Return the figures that a run's page prints as a share of items, by property, on all data except `but`."""
    return {
        name: PropertyShare(*row.numbers, chance_of(row, model.declared[row.check]))
        for (data, name), row in model.headlines.items()
        if data != but and is_rate(row.metric)
    }


def _behaviour_tables(models: Sequence[ComparedModel], cost: Mapping[str, Cost]) -> list[Tables]:
    """Return each model's tables, cut to the items that the models share.

    A file of vectors that lacks some of these items' texts gets an empty dict.
    """
    every = [model.side.tables for model in models]
    computed = [tables for tables, model in zip(every, models, strict=True) if not cost[model.label].is_stored]
    wanted = set.intersection(*(set(tables) for tables in computed or every))
    known = [wanted <= set(tables) for tables in every]
    cut = iter(common_tables([tables for tables, has_all in zip(every, known, strict=True) if has_all]))
    return [next(cut) if has_all else {} for has_all in known]


def _search_quality(tables: Tables, data: str) -> tuple[str, SearchQuality] | None:
    """Return the name of the search data's primary endpoint and its values, or None if these data were not searched."""
    for case in tables.values():
        if case.data == data and (metric := primary_metric(case)):
            sharing = cached_sharing(number_units(case.shared_units))
            values = metric.item_values(case, NO_CALIBRATION)
            return metric.label, SearchQuality(values, metric.kind == "rate", sharing)
    return None


def check_shares(tables: Tables, seed: int, *, but: str | None) -> tuple[CheckShare, ...]:
    """Return the share of items that a model wins in each case that tests behaviour and that the gate judges by a rate.

    All shares use the same bootstrap resamples.
    """
    known = [
        (case, metric) for case in tables.values()
        if case.data != but and case.items and score_part_of_family(declaration_of(case).family)
        and (metric := gating_metric(case)[0]) and metric.kind == "rate"
    ]  # fmt: skip
    universe = sorted({cluster for case, metric in known for cluster in metric.value_rows(case).clusters})
    shares = []
    for case, metric in known:
        heads, values = metric.value_rows(case), metric.item_values(case, NO_CALIBRATION)
        resampler = Resampler(heads.clusters, universe=universe, seed=seed)
        totals = resampler.replicate_totals(np.column_stack([values, np.ones(len(values))]))
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = totals[:, 0] / totals[:, 1]
        is_better = beats_chance(heads, metric, values, values)
        shares.append(CheckShare(case.case, case.property, declaration_of(case).family, rate, is_better))
    return tuple(shares)


def _mean_of_families(checks: Iterable[CheckShare]) -> Floats:
    """Average cases within each property, then properties within each family, then families; shape [r]."""
    grouped: dict[str, dict[str, list[Floats]]] = {}
    for one in checks:
        grouped.setdefault(one.family, {}).setdefault(one.property, []).append(one.replicates)
    families = [
        np.mean([np.mean(cases, axis=0) for cases in properties.values()], axis=0)
        for _, properties in sorted(grouped.items())
    ]
    mean: Floats = np.mean(families, axis=0)
    return mean


def beaten_by(row: CostRow, rows: Sequence[CostRow]) -> str:
    """Return the first model that is better than `row` in one criterion and worse in none, or "" if there is no such
    model.

    A model with unknown quality, behaviour or speed never beats one whose value is known. With too few clusters for a
    verdict on quality, it never beats one whose quality is higher.
    """
    known = [[one.quality is not None, bool(one.checks), one.cost.speed is not None] for one in (row, *rows)]
    for other, its in zip(rows, known[1:], strict=True):
        is_known = all(other_has or not own_has for own_has, other_has in zip(known[0], its, strict=True))
        if row.quality and other.quality and effective_clusters(row.quality.sharing) < MIN_CLUSTERS:
            is_known &= bool(row.quality.values.mean() <= other.quality.values.mean())
        if (
            other is not row
            and is_known
            and any(_better_criteria(other, row))
            and not any(_better_criteria(row, other))
        ):
            return other.name
    return ""


def _better_criteria(one: CostRow, other: CostRow) -> Iterator[Criterion]:
    """Yield the criteria in which `one` is better than `other`; skip criteria that are not known for both."""
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
    """Yield the pairs of models whose difference in this figure is not certain."""
    known = [row for row in rows if (row.quality if name == "quality" else row.checks)]
    for one, other in combinations(known, 2):
        if name not in {*_better_criteria(one, other), *_better_criteria(other, one)}:
            yield one.name, other.name


FRONT = "FRONT"


def cost_lines(report: CostReport) -> Iterator[str]:
    """Yield the lines of the table, the front, and the pairs of models that do not differ certainly."""
    yield from table(_model_table(report))
    yield ""
    yield from table(_property_rows(report))
    yield ""
    yield from _cost_remarks(report)


def _model_table(report: CostReport) -> list[tuple[str, ...]]:
    """Return a heading and one row per model, starting with the models on the front."""
    head = (
        "model", "front", report.figure or "quality", "behaviour", "texts/s", "query p50 / p95", "dimension",
        "GB per million", "index", "$ per million tokens",
    )  # fmt: skip
    names = _full_names(report)
    lines = [
        (
            one.full_name, "yes" if one.name in report.front else f"no: {names[report.beaten[one.name]]}",
            "-" if one.quality is None else one.quality.says,
            "-" if one.behaviour is None else percent(one.behaviour),
            "-" if one.texts_a_second is None else f"{one.texts_a_second:,.0f}",
            "-" if one.p50 is None or one.p95 is None else f"{one.p50:.1f} / {one.p95:.1f} ms",
            str(one.dimension), f"{one.bytes_per_million / 1e9:.2f}",
            f"{one.index_bytes / 1e6:,.1f} MB" if report.documents else "-",
            "-" if one.price is None else f"{one.price:g}",
        )
        for one in sorted(report.models, key=lambda one: one.name not in report.front)
    ]  # fmt: skip
    return [head, *lines]


def _property_rows(report: CostReport) -> list[tuple[str, ...]]:
    """Return one row per property with the models' figures, as a run's page prints them.

    Models without behaviour checks are left out.
    """
    some = [one for one in report.models if one.properties]
    names = sorted({(plain_name(name), name) for one in some for name in one.properties})
    lines = [("property", "chance", *(one.full_name for one in some))]
    for plain, name in names:
        shares = [one.properties[name] for one in some]
        chance = shares[0].chance
        figures = (f"{percent(one.value)} ({percent_interval(one.low, one.high)})" for one in shares)
        lines.append((plain, "-" if chance is None else percent(chance), *figures))
    return lines


def _full_names(report: CostReport) -> dict[str, str]:
    """Return the full name of each model by its label."""
    return {one.name: one.full_name for one in report.models}


def _cost_remarks(report: CostReport) -> Iterator[str]:
    """Yield sentences that name the front and what could not be measured."""
    names = _full_names(report)
    for one in report.models:
        if one.stored:
            known = "" if one.behaviour else "; it lacks texts of the checks, so its behaviour is unknown"
            yield f"{one.full_name} is a file of vectors: it has no speed{known}"
    for name, by in report.beaten.items():
        yield f"{names[name]} is not on the Pareto front: {names[by]} is better in one respect and worse in none"
    for what, pairs in report.inseparable.items():
        if pairs:
            yield f"not separable in {what}: {', '.join(f'{names[one]} and {names[other]}' for one, other in pairs)}"
    if report.figure and report.clusters < MIN_CLUSTERS:
        yield f"no difference in {report.figure} counts: the queries have fewer than {MIN_CLUSTERS} clusters"
    if report.at_chance:
        guessed = ", ".join(map(plain_name, report.at_chance))
        yield f"no evidence of {guessed}: no model is shown to beat guessing, so no difference counts"
    for name in report.guessing:
        if name in report.front:
            yield f"no evidence for {names[name]}: it is on the front, but not shown to beat guessing in any property"
    yield f"{FRONT}: {', '.join(names[name] for name in report.front)}"


def render_costs(report: CostReport) -> str:
    """Return the HTML page. The template escapes every text."""
    names, beaten = _full_names(report), len(report.beaten)
    front = [names[name] for name in report.front if name not in report.guessing]
    others = [names[name] for name in report.front if name in report.guessing] if front else []
    front = front or [names[name] for name in report.front]
    choice = " and ".join(filter(None, (", ".join(front[:-1]), front[-1])))
    why = "No model is better than another in one respect and worse in none."
    if beaten:
        are = f"{beaten} of {len(report.models)} models {'is' if beaten == 1 else 'are'} beaten"
        why = f"{are}: another model is better in one respect and worse in none."
    if others:
        why += f" Not shown to beat guessing, and so not advised: {', '.join(others)}."
    banner = VerdictBanner(
        "", "COMPARED", f"Take {choice}" if len(front) == 1 else f"Choose among {choice}",
        why,
        NextStep("Gate it against the model in use before you ship it." if len(front) == 1
                 else "Weigh speed, size and price against quality on your data."),
    )  # fmt: skip
    return render_template(
        "costs.html", names=", ".join(one.full_name for one in report.models), verdict=banner,
        remarks=[line for line in _cost_remarks(report) if not line.startswith(FRONT)],
        models=_model_table(report), properties=_property_rows(report),
    )  # fmt: skip

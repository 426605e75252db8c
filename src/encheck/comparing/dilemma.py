"""Benchmark against behaviour, one point per model: the dilemma of Mahajan et al. 2023, section 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.comparing.differences import in_common
from encheck.comparing.models import ComparedModel
from encheck.errors import UsageError, unknown_name_message
from encheck.gating.balance import (
    PropertyWins,
    balanced_score,
    bootstrap_rates,
    bootstrap_scores,
    part_means,
    property_families,
    property_wins,
    score_part,
)
from encheck.metrics.classification import task_accuracy
from encheck.run_file import Result
from encheck.statistics.bootstrap import Figure, percentile_interval

Floats = NDArray[np.float64]
Key = tuple[str, str, str]  # data, case, and the data's fingerprint, since names may be reused
BENCHMARKS = (  # the check's metric, its family if that matters, the row's metric, and the words for it
    ("spearman", "", "spearman_all", "Spearman with people's scores, all sets"),
    ("spearman", "", "spearman", "Spearman with people's scores"),
    ("recall_at_1", "retrieval", "recall_at_1", "recall@1 of plain retrieval"),
)
BALANCED, SENSITIVITY = "balanced score", "sensitivity to meaning and order"
FEWEST_TO_DRAW, FEWEST_TO_CORRELATE = 2, 5  # models


@dataclass(frozen=True, slots=True)
class DilemmaPoint:
    """A model with its two figures."""

    model: str
    benchmark: Figure
    behaviour: Figure


@dataclass(frozen=True, slots=True)
class Dilemma:
    """The points of all models with both figures, and the figures in words."""

    points: Sequence[DilemmaPoint]
    benchmark: str
    behaviour: str

    @property
    def correlation(self) -> float | None:
        """Spearman's correlation of the two figures; None for fewer than five models or if all have the same figure."""
        if len(self.points) < FEWEST_TO_CORRELATE:
            return None
        from scipy.stats import rankdata

        ranks = [rankdata([getattr(p, side).value for p in self.points]) for side in ("benchmark", "behaviour")]
        if any(np.ptp(one) == 0 for one in ranks):
            return None
        return float(np.corrcoef(*ranks)[0, 1])

    @property
    def words(self) -> str:
        """The sentence under the picture."""
        count = len(self.points)
        if self.correlation is not None:
            return f"Spearman's correlation of the two figures over these {count} models is {self.correlation:+.2f}."
        if count < FEWEST_TO_CORRELATE:
            return f"{count} models are too few to say whether the two figures go together."
        return "All models have the same rank in one of the figures, so there is no correlation."


def dilemma(models: Sequence[ComparedModel], *, behaviour: str | None = None, seed: int = 0) -> Dilemma | None:
    """The points of the models, on the benchmark that most of them share; None if fewer than two have both figures.

    The benchmark is the mean accuracy of the downstream tasks, else one of `BENCHMARKS`. The behaviour is that of the
    named property, else the balanced score, else its sensitivity part; on the items that
    the models share. UsageError for a property that was not measured.
    """
    words, scores = _benchmark(models)
    some = [model for model in models if model.name in scores]
    tables = in_common([model.side.tables for model in some]) if some else []
    wins = [property_wins(one, model.side.scales) for model, one in zip(some, tables, strict=True)]
    families = {name: family for one in tables for name, family in property_families(one).items()}
    said, figures = _behaviour(wins, families, behaviour, seed)
    points = [
        DilemmaPoint(m.name, scores[m.name], found) for m, found in zip(some, figures, strict=True) if found is not None
    ]
    return Dilemma(points, words, said) if len(points) >= FEWEST_TO_DRAW else None


def _benchmark(models: Sequence[ComparedModel]) -> tuple[str, dict[str, Figure]]:
    """The benchmark figure in words, and its value for each model that has it."""
    if len((found := _downstream(models))[1]) >= FEWEST_TO_DRAW:
        return found
    for judged_by, family, metric, words in BENCHMARKS:
        figures = {m.name: _figures(m, judged_by, family, metric) for m in models}
        keys = dict.fromkeys(key for own in figures.values() for key in own)
        sharing = {key: [name for name, own in figures.items() if key in own] for key in keys}
        best = max(sharing, key=lambda key: len(sharing[key]), default=None)
        if best and len(sharing[best]) >= FEWEST_TO_DRAW:
            return f"{words} ({best[0]})", {name: _figure(figures[name][best]) for name in sharing[best]}
    return "", {}


def _downstream(models: Sequence[ComparedModel]) -> tuple[str, dict[str, Figure]]:
    """The mean accuracy of the tasks shared by all models with tasks; intervals are combined as independent."""
    rows = {m.name: own for m in models if (own := _figures(m, task_accuracy.name, "", task_accuracy.name))}
    shared = sorted(set.intersection(*(set(own) for own in rows.values()))) if rows else []
    if not shared:
        return "", {}
    tasks = [str(next(iter(rows.values()))[key].level) for key in shared]
    words = f"mean accuracy of {', '.join(tasks)}" if len(tasks) > 1 else f"accuracy of {tasks[0]}"
    return words, {name: _mean([_figure(own[key]) for key in shared]) for name, own in rows.items()}


def _mean(figures: Sequence[Figure]) -> Figure:
    value = float(np.mean([one.value for one in figures]))
    below, above = (
        float(np.sqrt(sum((one.value - getattr(one, end)) ** 2 for one in figures))) / len(figures)
        for end in ("low", "high")
    )
    return Figure(value, value - below, value + above)


def _figures(model: ComparedModel, judged_by: str, family: str, metric: str) -> dict[Key, Result]:
    """The rows of a figure with a value, in checks judged by this metric."""
    own = {
        name
        for name, declared in model.declared.items()
        if declared.metric == judged_by and declared.family in (family or declared.family,)
    }
    rows = [r for r in model.rows if r.check in own and r.metric == metric and r.value is not None]
    return {(r.data, r.case.of_any_model, model.data[r.data]): r for r in rows}


def _figure(row: Result) -> Figure:
    assert row.value is not None
    return Figure(row.value, *(row.value if end is None else end for end in (row.low, row.high)))


def _behaviour(
    several: Sequence[Mapping[str, PropertyWins]], families: Mapping[str, str], wanted: str | None, seed: int
) -> tuple[str, list[Figure | None]]:
    """The behaviour figure in words, and its value for each model.

    Without a property it is the balanced score, else the mean of the properties for sensitivity to meaning and
    order, each counted from chance.
    """
    if wanted is not None:
        there = sorted({name for own in several for name in own})
        if several and wanted not in there:
            raise UsageError(
                unknown_name_message("property", wanted, there) if there else f"no share of {wanted} was measured"
            )
        return f"{wanted}, share won", [
            _with_interval(own[wanted].rate, bootstrap_rates({"": own[wanted]}, seed)[""][0]) if wanted in own else None
            for own in several
        ]
    shares = [{name: one.share for name, one in own.items()} for own in several]
    whole = [balanced_score(one, families) for one in shares]
    if whole and all(score is not None for score in whole):
        return BALANCED, [
            None if score is None else _with_interval(score, bootstrap_scores(own, families, seed))
            for score, own in zip(whole, several, strict=True)
        ]
    figures: list[Figure | None] = []
    for own in several:
        some = {name: one for name, one in own.items() if score_part(families[name]) == "sensitivity"}
        value = part_means({name: one.share for name, one in some.items()}, families).get("sensitivity")
        figures.append(None if value is None else _with_interval(value, bootstrap_scores(some, families, seed)))
    return SENSITIVITY, figures


def _with_interval(value: float, replicates: Floats) -> Figure:
    low, high = (float(end) for end in percentile_interval(replicates))
    return Figure(value, low, high)

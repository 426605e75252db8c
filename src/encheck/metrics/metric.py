"""Define a metric: its value per item, its aggregate with interval, its chance, and the loss that matters to a gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.statistics.bootstrap import Resampler, percentile_interval, widen_share_interval
from encheck.types import Estimate

Floats = NDArray[np.float64]
Kind = Literal["rate", "mean"]
P = ParamSpec("P")
R = TypeVar("R")
CALIBRATED = "_calibrated"


@dataclass(frozen=True)
class Metric(Generic[P]):
    """A metric; larger values are better. Call it with scores to estimate it for the model and for the surface scorers.

    `values(table, scale)` returns each item's value, shape [n], on the calibrated scale unless the metric is a rate.
    It is None for a metric of a whole set; `whole` then has the reason. `contrast` turns values into contributions to a
    figure of all items, such as a difference between labels or a correlation. If `unit` is "chain", there is one value
    per chain. With `sides`, there is one per surface direction of each crossed group. `reported` is the reason why a
    gate never uses the metric although every item has a value. `delta` is the loss that matters to a gate, if it is not
    the default of the metric's kind. `references(table)` is the number of times that the calibration's reference counts
    in the numerator of the mean value; None for a metric without a calibrated scale.
    """

    name: str
    estimate: Callable[Concatenate[Any, P], Estimate]
    values: Callable[..., Floats] | None = None
    kind: Kind = "mean"
    chance: float | None = None
    delta: float | None = None
    label: str = ""
    whole: str = ""
    reported: str = ""
    unit: Literal["item", "chain"] = "item"
    contrast: Callable[[CaseScores, Floats], Floats] | None = None
    references: Callable[[CaseScores], float] | None = None
    sides: bool = False

    def __call__(self, scores: Any, /, *args: P.args, **options: P.kwargs) -> Estimate:
        """Return the aggregate over these scores, with its 95% interval."""
        return self.estimate(scores, *args, **options)

    @property
    def base(self) -> str:
        """The metric's name on the scorer's own scale."""
        return self.name.removesuffix(CALIBRATED)

    @property
    def calibrated(self) -> Metric[P]:
        """The metric on the calibrated scale."""
        if self.name != self.base:
            return self
        return replace(self, name=self.base + CALIBRATED, estimate=on_calibrated_scale(self.estimate))

    @property
    def why_reported(self) -> str:
        """The reason why a gate never uses the metric; empty if a gate may use it."""
        return self.reported or ("" if self.values else self.whole or "it has no value per item")

    def item_values(self, table: CaseScores, scale: Scale) -> Floats:
        """Return each item's value, shape [n], or each chain's. A metric of a whole set has no item values."""
        assert self.values is not None
        result = self.values(table, scale)
        return result if self.contrast is None else self.contrast(table, result)

    def value_rows(self, table: CaseScores) -> CaseScores:
        """Return the table with one row for each entry of `values`. For a chain, it is the row of its first member."""
        return table if self.unit == "item" else table.select(np.array([rows[0] for rows in table.chain_rows], np.intp))


def with_surface_figures(
    function: Callable[Concatenate[Any, P], Estimate], *, surface: Sequence[str] | None = None
) -> Callable[Concatenate[Any, P], Estimate]:
    """Make a function compute its figure for the model's scores and for those of the surface scorers in `surface`, or
    of all.
    """

    @wraps(function)
    def estimate_with_surface(scores: Any, /, *args: P.args, **kwargs: P.kwargs) -> Estimate:
        estimate = function(scores, *args, **kwargs)
        names = scores.surface if surface is None else [name for name in surface if name in scores.surface]
        beside = {name: function(scores.surface[name], *args, **kwargs) for name in names}
        return replace(estimate, metric=estimate.metric + scores.suffix, surface=beside)

    return estimate_with_surface


def on_calibrated_scale(function: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a function of scores use the scale on which 0 is a random pair and 1 is identical text."""

    @wraps(function)
    def on_the_scale(scores: Any, /, *args: P.args, **options: P.kwargs) -> R:
        return function(scores.calibrated, *args, **options)

    return on_the_scale


def metric(
    *, surface: Sequence[str] | None = None, **declared: Any
) -> Callable[[Callable[Concatenate[Any, P], Estimate]], Metric[P]]:
    """Return a decorator that makes a `Metric` from a function that estimates it. The metric has the function's name.

    The estimate includes the estimates of the surface scorers in `surface`, by default of all.
    """

    def make_metric(function: Callable[Concatenate[Any, P], Estimate]) -> Metric[P]:
        result = Metric(function.__name__, with_surface_figures(function, surface=surface), **declared)
        object.__setattr__(result, "__doc__", function.__doc__)
        return result

    return make_metric


def estimate_from_replicates(
    name: str, scores: Any, value: float, replicates: Floats, *, among: NDArray[np.bool_] | None = None, **more: Any
) -> Estimate:
    """Return the estimate of a figure over these scores, with the interval of the replicates, shape [replicates].

    `among`, shape [n], marks the items that the figure is based on. Default: all items.
    """
    low, high = percentile_interval(replicates)
    draws = scores.resampler if among is None else scores.resampler.select(np.flatnonzero(among))
    estimate = Estimate(name, float(value), float(low), float(high), len(draws.columns), draws.clusters, **more)
    return _withhold_unreliable_interval(estimate, draws, math.nan, math.nan) if draws.overlaps else estimate


def estimate_share(name: str, draws: Resampler, values: Floats, **more: Any) -> Estimate:
    """Return the estimate of a mean of values from 0 to 1, shape [n], over the items of `draws`.

    The interval accounts for what items share. If no interval is reliable, it is 0 to 1, and the params have the
    reason.
    """
    low, high = (float(end[0]) for end in draws.share_interval(values))
    estimate = Estimate(name, float(values.mean()), low, high, len(values), draws.clusters, **more)
    return estimate if draws.is_grouped else _withhold_unreliable_interval(estimate, draws, 0.0, 1.0)


def _withhold_unreliable_interval(estimate: Estimate, draws: Resampler, low: float, high: float) -> Estimate:
    """Return the estimate with these ends, or 0 to 1 and the reason if its items share too much for an interval."""
    why = draws.sharing.why_no_interval
    return replace(estimate, low=low, high=high, params={**estimate.params, "withheld": why}) if why else estimate


def widen_near_0_and_1(estimate: Estimate) -> Estimate:
    """Return the estimate of a share; near 0 or 1, its interval is no narrower than Clopper-Pearson's."""
    low, high = widen_share_interval(
        estimate.value, estimate.low, estimate.high, n=estimate.n, clusters=estimate.clusters
    )
    return replace(estimate, low=low, high=high)


def near_scores(table: CaseScores, _scale: Scale) -> Floats:
    """Return the near scores, for a metric whose items have one value each on the scorer's own scale."""
    return table.near


def no_references(_table: CaseScores) -> float:
    """Return 0, for a metric on the calibrated scale whose numerator does not contain the reference."""
    return 0.0


def safe_ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return the ratio element by element; NaN if the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = numerator / denominator
    return result

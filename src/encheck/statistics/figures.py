"""Means and ratios over the queries of a log, by how often each was asked, with intervals over clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.statistics.bootstrap import Resampler, interval, widened

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with the ends of its 95% interval."""

    value: float
    low: float
    high: float

    @property
    def says(self) -> str:
        """As a share in percent.

        >>> Figure(0.981, 0.972, 0.989).says
        '98.1% [97.2, 98.9]'
        """
        return f"{100 * self.value:.1f}% [{100 * self.low:.1f}, {100 * self.high:.1f}]"


@dataclass(frozen=True)
class Log:
    """The queries of a log: how often each was asked, and its cluster; both of shape [n].

    All figures of a log are of the same draws of clusters.
    """

    weights: Floats
    clusters: tuple[str, ...]
    resampler: Resampler

    @classmethod
    def of(cls, weights: Sequence[int], clusters: Sequence[str], *, seed: int) -> Log:
        """With the draws of a seed."""
        return cls(np.array(weights, np.float64), tuple(clusters), Resampler(clusters, seed=seed))

    @property
    def worth(self) -> int:
        """How many clusters of the same weight would say as much (Kish 1965, section 11.7)."""
        sizes = np.bincount(self.resampler.columns, weights=self.weights)
        return int(sizes.sum() ** 2 / (sizes**2).sum())

    def mean(self, values: Floats) -> Figure:
        """The mean of values from 0 to 1, shape [n]."""
        return self.ratio(values, np.ones(len(values)))

    def ratio(self, part: Floats, whole: Floats) -> Figure:
        """The sum of `part` over that of `whole`, shape [n] each; NaN if the whole is 0.

        The interval is no narrower than Clopper-Pearson's over clusters where the ratio is nearly 0 or 1.
        """
        both = np.column_stack([part, whole]) * self.weights[:, None]
        total = both.sum(axis=0)
        if not total[1]:
            return Figure(np.nan, np.nan, np.nan)
        value, sums = float(total[0] / total[1]), self.resampler.totals(both)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = map(float, interval(sums[:, 0] / sums[:, 1]))
        ends = widened(min(value, 1.0), low, high, n=len(part), clusters=self.worth)
        return Figure(value, min(low, ends[0]), max(high, ends[1]))

    def change(self, before: Floats, after: Floats) -> Figure:
        """The mean of `after` less `before`, shape [n] each."""
        both = np.column_stack([after - before, np.ones(len(before))]) * self.weights[:, None]
        sums = self.resampler.totals(both)
        low, high = interval(sums[:, 0] / sums[:, 1])
        return Figure(float(both[:, 0].sum() / both[:, 1].sum()), float(low), float(high))

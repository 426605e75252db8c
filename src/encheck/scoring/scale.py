"""Calibrate scores by a scorer's scores of unrelated and of identical text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.system.typed_files import Count, NonNegative

Floats = NDArray[np.float64]
TIE = 1e-5  # as a share of the way from unrelated to identical text: smaller differences are a tie


@dataclass(frozen=True)
class Scale:
    """The calibration of a scorer. The mean score of random cross-topic pairs becomes 0, that of identical text 1.

    `pairs` is the number of random pairs behind `reference`, and `spread` their standard deviation.
    """

    reference: float
    identity: float = 1.0
    pairs: Count = 0
    spread: NonNegative = 0.0

    def error_from_random_pairs(self, mean: float) -> float:
        """Return what the random pairs add to the standard error of a value that moves with the reference by `mean`
        (delta).
        """
        return abs(mean) * self.spread / self.unit / float(np.sqrt(self.pairs)) if self.pairs else 0.0

    @property
    def tie(self) -> float:
        """The largest difference of two raw scores that counts as a tie."""
        return TIE * (self.unit if self.unit == self.unit else 1.0)

    def margins(self, near: Floats, far: Floats) -> Floats:
        """Return near minus far of raw scores of the same shape; 0 for a tie."""
        found = near - far
        return np.where(np.abs(found) <= self.tie, 0.0, found)

    def calibrate(self, values: Floats) -> Floats:
        """Return (x - reference) / (identity - reference); NaN for a scorer for which both are equal."""
        return (values - self.reference) / self.unit

    def calibrate_margins(self, values: Floats) -> Floats:
        """Return x / (identity - reference), for differences, which have no offset."""
        return values / self.unit

    @property
    def unit(self) -> float:
        """The distance between identical and unrelated text; NaN for a scorer for which both are equal."""
        unit = self.identity - self.reference
        return unit if unit > 1e-9 else float("nan")

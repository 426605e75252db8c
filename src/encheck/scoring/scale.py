"""Calibration: where unrelated and where identical text lie on a scorer's scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from encheck.system.typed_files import Count, NonNegative

Floats = NDArray[np.float64]
TIE = 1e-5  # of the way from unrelated to identical text: two scores that lie nearer are a tie


@dataclass(frozen=True)
class Scale:
    """What calibrates a scorer: its mean over random cross-topic pairs is 0, identical text is 1.

    `pairs` is the number of random pairs behind `reference`, `spread` their standard deviation.
    """

    reference: float
    identity: float = 1.0
    pairs: Count = 0
    spread: NonNegative = 0.0

    def error(self, mean: float) -> float:
        """What the finite pool adds to the standard error of what moves with the reference by `mean` (delta method)."""
        return abs(mean) * self.spread / self.unit / float(np.sqrt(self.pairs)) if self.pairs else 0.0

    @property
    def tie(self) -> float:
        """How far apart two raw scores may lie and still be a tie."""
        return TIE * (self.unit if self.unit == self.unit else 1.0)

    def apart(self, near: Floats, far: Floats) -> Floats:
        """Near less far, of raw scores of one shape; 0 where they are a tie."""
        found = near - far
        return np.where(np.abs(found) <= self.tie, 0.0, found)

    def similarity(self, values: Floats) -> Floats:
        """(x - reference) / (identity - reference). A scorer that gives both the same value has no scale: NaN."""
        return (values - self.reference) / self.unit

    def margin(self, values: Floats) -> Floats:
        """x / (identity - reference): differences lose the offset."""
        return values / self.unit

    @property
    def unit(self) -> float:
        """How far identical text is from unrelated text; NaN if the scorer cannot tell them apart."""
        unit = self.identity - self.reference
        return unit if unit > 1e-9 else float("nan")

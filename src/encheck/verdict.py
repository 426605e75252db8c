"""The one place where a figure is compared with a threshold."""

from __future__ import annotations

import math

from encheck.types import Estimate, Verdict

MIN_CLUSTERS = 20


def judge(estimate: Estimate, threshold: float, *, known_failure: str | None = None) -> tuple[Verdict, str]:
    """Pass, fail or neither, with the reason where there is one.

    The whole interval has to be on one side of the threshold; otherwise the data cannot tell, which is
    `inconclusive`, as is anything measured on fewer than 20 independent clusters (of either label, where a figure
    compares two). A figure that is not a number could not be measured: `error`.
    """
    if not all(map(math.isfinite, (estimate.value, estimate.low, estimate.high))):
        return "error", f"{estimate.metric} is {estimate.value}: the model's scores do not vary, or are not finite"
    if estimate.clusters < MIN_CLUSTERS:
        return "inconclusive", f"only {estimate.clusters} independent clusters; a verdict needs {MIN_CLUSTERS}"
    if estimate.low >= threshold:
        return ("stale_known_failure", known_failure) if known_failure else ("pass", "")
    if estimate.high < threshold:
        return ("known_failure", known_failure) if known_failure else ("fail", "")
    return "inconclusive", "the interval holds the threshold"

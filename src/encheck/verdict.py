"""The one place where a figure is compared with a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

from encheck.types import Estimate, Verdict

MIN_CLUSTERS = 20


def judge(estimate: Estimate, threshold: float, *, known_failure: str | None = None) -> tuple[Verdict, str]:
    """Pass, fail or neither, with the reason where there is one.

    The whole interval has to be on one side of the threshold; otherwise the data cannot tell, which is
    `inconclusive`, as is anything measured on fewer than 20 independent clusters (of either label, where a figure
    compares two), and what could not be estimated for what is `missing`. Any other figure that is not a number could
    not be measured: `error`.
    """
    if estimate.missing:
        return "inconclusive", estimate.missing
    if not all(map(math.isfinite, (estimate.value, estimate.low, estimate.high))):
        return "error", f"{estimate.metric} is {estimate.value}: the model's scores do not vary, or are not finite"
    if estimate.clusters < MIN_CLUSTERS:
        return "inconclusive", f"only {estimate.clusters} independent clusters; a verdict needs {MIN_CLUSTERS}"
    if estimate.low >= threshold:
        return ("stale_known_failure", known_failure) if known_failure else ("pass", "")
    if estimate.high < threshold:
        return ("known_failure", known_failure) if known_failure else ("fail", "")
    return "inconclusive", "the interval holds the threshold"


def known_failure(
    check: str,
    data: str,
    level: str,
    entries: Mapping[str, str] | None,
    *,
    declared: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """The reason why this failure is known, or None.

    `entries` are a model's own, with `check` or patterns of `check/data/level` for keys. A model without any has what
    the check itself has `declared`, with patterns of `data/level`. The longest pattern that matches wins.

    >>> known_failure("antonym_is_farther_than_paraphrase", "mrpc", "1", {"antonym_*/mrpc/*": "old"})
    'old'
    >>> known_failure("jumble_is_farther_than_reorder", "mrpc", "1", None, declared={"*/1": "the papers"})
    'the papers'
    """
    table = {f"{check}/{key}": reason for key, reason in declared.items()} if entries is None else entries
    name = f"{check}/{data}/{level}"
    patterns = {key: key if "/" in key else f"{key}/*" for key in table}
    keys = [key for key, pattern in patterns.items() if fnmatchcase(name, pattern)]
    return table[max(keys, key=len)] if keys else None

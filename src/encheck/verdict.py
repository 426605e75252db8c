"""The one place where a figure is compared with its lines: the floor and the aim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fnmatch import fnmatchcase

from encheck.types import Estimate, Floor, Lines, Verdict

MIN_CLUSTERS = 20


def lines(estimate: Estimate, *, floor: Floor, aim: float) -> Lines:
    """The lines of a figure; the floor "surface" is the best surface baseline's figure on the same items.

    If no surface baseline was measured, there is no such floor.
    """
    if not isinstance(floor, str):
        return Lines(aim, floor)
    best = estimate.best_surface
    return Lines(aim, best[1].value, best[0]) if best else Lines(aim)


def judge(
    estimate: Estimate, held: Lines, *, known_failure: str | None = None, strict: bool = False
) -> tuple[Verdict, str]:
    """The verdict on a figure, and its reason if there is one.

    The whole interval under the floor fails; the whole of it at or above the aim passes; the whole of it under the aim,
    and not under the floor, is `below_aim`, which `strict` makes a failure. Otherwise the data cannot tell, which is
    `inconclusive`, as is anything measured on fewer than 20 independent clusters (of either label, where a figure
    compares two), and what could not be estimated for what is `missing`. Any other figure that is not a number could
    not be measured: `error`. A known failure excuses a failure and nothing else; where the figure passes, it is stale.

    >>> judge(Estimate("margin_rate", 0.6, 0.55, 0.65, n=400, clusters=400), Lines(aim=0.8, floor=0.5))
    ('below_aim', 'above the floor')
    """
    if estimate.missing:
        return "inconclusive", estimate.missing
    if not all(map(math.isfinite, (estimate.value, estimate.low, estimate.high))):
        return "error", f"{estimate.metric} is {estimate.value}: the model's scores do not vary, or are not finite"
    if estimate.clusters < MIN_CLUSTERS:
        return "inconclusive", f"only {estimate.clusters} independent clusters; a verdict needs {MIN_CLUSTERS}"
    if held.floor is not None and estimate.high < held.floor:
        return _failed("", known_failure)
    if estimate.low >= held.aim:
        return ("stale_known_failure", known_failure) if known_failure else ("pass", "")
    if estimate.high >= held.aim:
        return "inconclusive", "the interval includes the aim"
    if strict:
        return _failed("below the aim: a failure with --strict", known_failure)
    return "below_aim", _standing(estimate, held)


def with_meaning(reason: str, estimate: Estimate) -> str:
    """The reason, what broke a contract, and what the figure says of whether the model sees meaning at all.

    >>> with_meaning("above the floor", Estimate("m", 0.6, 0.55, 0.65, n=9, clusters=9, params={"meaning": "detected"}))
    'above the floor; meaning: detected'
    """
    said, cause = (estimate.params.get(name) for name in ("meaning", "cause"))
    return "; ".join(filter(None, (reason, str(cause or ""), f"meaning: {said}" if said else "")))


def _failed(reason: str, known: str | None) -> tuple[Verdict, str]:
    return ("known_failure", known) if known else ("fail", reason)


def _standing(estimate: Estimate, held: Lines) -> str:
    """Where a figure below its aim stands with its floor."""
    if held.floor is None:
        return "this check has no floor"
    floor = f"what {held.rival} gets" if held.rival else "the floor"
    return f"above {floor}" if estimate.low > held.floor else f"not shown to be above {floor}"


def known_failure(check: str, data: str, level: str, entries: Mapping[str, str] | None) -> str | None:
    """The reason why this failure of a model is known, or None.

    `entries` are the model's, with `check` or patterns of `check/data/level` for keys. The longest pattern that matches
    wins.

    >>> known_failure("antonym_is_farther_than_paraphrase", "mrpc", "1", {"antonym_*/mrpc/*": "old"})
    'old'
    """
    name, table = f"{check}/{data}/{level}", entries or {}
    patterns = {key: key if "/" in key else f"{key}/*" for key in table}
    keys = [key for key, pattern in patterns.items() if fnmatchcase(name, pattern)]
    return table[max(keys, key=len)] if keys else None

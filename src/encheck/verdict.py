"""Decide verdicts: compare a figure with its floor and aim, and apply exceptions. No other module decides verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from encheck.types import Estimate, Floor, FloorAndAim, Validity, Verdict

MIN_CLUSTERS = 20
REPEATED = "contract_kept"  # one text breaks this contract, however few there are; the others compare calibrated scores


@dataclass(frozen=True, kw_only=True)
class JudgingTerms:
    """The rules by which the figure of one check is judged.

    `declared` is the floor and the aim of the check, or None. `own` is the user's threshold, which replaces both: a
    lower figure fails. `unjudged` is the reason why a check without floor and aim has no verdict. `validity` is the
    validity of generated items. `known_failure` is the reason why this model's failure is known. `trained_on` names the
    data if the model was trained on them. If `only_shown`, a gate decides and not the check's floor and aim.
    """

    declared: tuple[Floor, float] | None = None
    own: float | None = None
    unjudged: str = ""
    validity: Validity | None = None
    known_failure: str | None = None
    trained_on: str = ""
    strict: bool = False
    only_shown: bool = False

    @property
    def decides(self) -> bool:
        """Whether the figure is compared with a threshold, or with a floor and an aim."""
        return self.own is not None or self.declared is not None


@dataclass(frozen=True)
class JudgedFigure:
    """The verdict of one row, or None; the floor and aim that were applied; and the reason."""

    verdict: Verdict | None
    lines: FloorAndAim | None
    reason: str


def judge_by_terms(estimate: Estimate, terms: JudgingTerms) -> JudgedFigure:
    """Judge the deciding figure of a check.

    >>> judge_by_terms(Estimate("m", 0.6, 0.55, 0.65, n=400, clusters=400), JudgingTerms(own=0.7)).verdict
    'fail'
    """
    own, unjudged = terms.own, str(estimate.params.get("unjudged", ""))
    if unjudged and own is None and math.isfinite(estimate.value):
        return JudgedFigure(None, None, unjudged)
    if own is not None:
        held, unfit = resolve_floor_and_aim(estimate, floor=own, aim=own), ""
    elif terms.declared is not None:
        floor, aim = terms.declared
        held, unfit = _limit_aim_to_validity(resolve_floor_and_aim(estimate, floor=floor, aim=aim), terms.validity)
    else:
        return JudgedFigure(None, None, terms.unjudged)
    verdict, reason = decide_verdict(estimate, held, known_failure=terms.known_failure, strict=terms.strict)
    if verdict in ("pass", "stale_known_failure") and terms.trained_on:
        reason = f"{reason}; trained on {terms.trained_on}".removeprefix("; ")
    reason = add_causes(reason, estimate)
    if unfit and verdict != "error":
        verdict, reason = "inconclusive", unfit
    if terms.only_shown and own is None and verdict != "error":
        return JudgedFigure(None, held, "")
    return JudgedFigure(verdict, held, reason)


def _limit_aim_to_validity(held: FloorAndAim, validity: Validity | None) -> tuple[FloorAndAim, str]:
    """Limit the aim for generated items to the share of the items that is right.

    If that share is below the floor, even a perfect model fails. Then also return the reason why the items cannot be
    judged.
    """
    if validity is None or validity.rate is None:
        return held, ""
    if held.floor is not None and validity.rate < held.floor:
        right = f"{validity.rate:.1%} of {validity.read} such items"
        return held, f"not judged: blind readers found {right} right, below the floor of {held.floor:.2g}"
    ceiling = max(math.floor(1_000 * validity.rate) / 1_000, held.floor or 0.0)
    return replace(held, aim=min(held.aim, ceiling)), ""


def resolve_floor_and_aim(estimate: Estimate, *, floor: Floor, aim: float) -> FloorAndAim:
    """Return the floor and the aim as numbers. For the floor "surface", use the best surface baseline on the same
    items.

    If no surface baseline was measured, there is no such floor. An aim below the floor is raised to the floor, since an
    encoder should do at least as well as a word count.

    >>> words = Estimate("m", 0.7, 0.6, 0.8, n=9, clusters=9)
    >>> estimate = Estimate("m", 0.9, 0.8, 1.0, n=9, clusters=9, surface={"jaccard": words})
    >>> resolve_floor_and_aim(estimate, floor="surface", aim=0.5)
    FloorAndAim(aim=0.7, floor=0.7, rival='jaccard')
    """
    if not isinstance(floor, str):
        return FloorAndAim(aim, floor)
    best = estimate.best_surface
    return FloorAndAim(max(aim, best[1].value), best[1].value, best[0]) if best else FloorAndAim(aim)


def decide_verdict(
    estimate: Estimate, held: FloorAndAim, *, known_failure: str | None = None, strict: bool = False
) -> tuple[Verdict, str]:
    """Return the verdict on a figure, and the reason for it or "".

    - `fail`: the whole interval is below the floor; with `strict`, below the aim.
    - `pass`: the whole interval is at or above the aim.
    - `below_aim`: the whole interval is below the aim, but not below the floor.
    - `inconclusive`: the interval includes the aim, there are fewer than 20 independent clusters (of either label, if a
      figure compares two), or the estimate lacks what `missing` names. A text that gets two answers fails with any
      number of clusters.
    - `error`: any other figure that is not finite.

    A known failure excuses only `fail`. If the figure passes, the entry in the list of known failures is stale.

    >>> decide_verdict(Estimate("margin_rate", 0.6, 0.55, 0.65, n=400, clusters=400), FloorAndAim(aim=0.8, floor=0.5))
    ('below_aim', 'above the floor')
    """
    if estimate.missing:
        return "inconclusive", estimate.missing
    if not all(map(math.isfinite, (estimate.value, estimate.low, estimate.high))):
        return "error", f"{estimate.metric} is {estimate.value}: the model's scores do not vary, or are not finite"
    is_below = held.floor is not None and estimate.high < held.floor
    if estimate.clusters < MIN_CLUSTERS and not (is_below and estimate.metric == REPEATED):
        return "inconclusive", f"only {estimate.clusters} independent clusters; a verdict needs {MIN_CLUSTERS}"
    if is_below:
        return _failure_or_known_failure("", known_failure)
    if estimate.low >= held.aim:
        return ("stale_known_failure", known_failure) if known_failure else ("pass", "")
    if estimate.high >= held.aim:
        return "inconclusive", "the interval includes the aim"
    if strict:
        return _failure_or_known_failure("below the aim: a failure with --strict", known_failure)
    if held.floor is None:
        return "below_aim", "this check has no floor"
    floor = f"what {held.rival} gets" if held.rival else "the floor"
    return "below_aim", f"above {floor}" if estimate.low > held.floor else f"not shown to be above {floor}"


def add_causes(reason: str, estimate: Estimate) -> str:
    """Append to `reason` why a contract is broken, why there is no interval, and whether meaning is detected.

    >>> add_causes("above the floor", Estimate("m", 0.6, 0.55, 0.65, n=9, clusters=9, params={"meaning": "detected"}))
    'above the floor; meaning: detected'
    """
    said, *causes = (str(estimate.params.get(name) or "") for name in ("meaning", "cause", "withheld"))
    return "; ".join(filter(None, (reason, *causes, f"meaning: {said}" if said else "")))


def _failure_or_known_failure(reason: str, known: str | None) -> tuple[Verdict, str]:
    return ("known_failure", known) if known else ("fail", reason)


def known_failure_reason(check: str, data: str, level: str, entries: Mapping[str, str] | None) -> str | None:
    """Return the listed reason for this known failure of a model, or None.

    The keys of `entries`, the model's list, are checks or patterns of check/data/level. The longest matching key wins.

    >>> known_failure_reason("antonym_is_farther_than_paraphrase", "mrpc", "1", {"antonym_*/mrpc/*": "old"})
    'old'
    """
    name, table = f"{check}/{data}/{level}", entries or {}
    patterns = {key: key if "/" in key else f"{key}/*" for key in table}
    keys = [key for key, pattern in patterns.items() if fnmatchcase(name, pattern)]
    return table[max(keys, key=len)] if keys else None

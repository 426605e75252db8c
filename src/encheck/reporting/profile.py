"""Compute a model's profile: the main figure of each property, its interval, chance, and the best surface scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from encheck.claims import FAMILIES
from encheck.metrics import adjusted_rate, auc, find_metric, margin_rate, similarity_gap
from encheck.metrics.metric import CALIBRATED
from encheck.reporting.text import plain_name
from encheck.reporting.view import best_surface, format_figure, format_interval, judged_rows
from encheck.run_file import ChangeVerdict, Result, RunFile
from encheck.types import Declaration

Standing = Literal["above chance", "below chance", "at chance", ""]
ADJUSTED = adjusted_rate.name
RIVALS = ("parent", "reference")  # roles to pair a profile with, by preference
NO_PROPERTY = ("health", "contract", "downstream")  # families of a space, a contract or a benchmark


@dataclass(frozen=True, slots=True)
class AgainstReference:
    """How a property's figure differs from another model's, on the same items."""

    name: str
    change: float
    said: ChangeVerdict


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A property with its figures, each from 0 to 1. `chance` and `surface` are None if there is none.

    `surface` is the figure of the best surface scorer. `adjusted` is the rate after weighting items so that surface
    cues balance; None if it was not computed.
    """

    name: str
    family: str
    check: str
    case: str
    metric: str
    value: float
    low: float
    high: float
    n: int
    chance: float | None
    surface: float | None
    surface_of: str
    adjusted: float | None = None
    against: AgainstReference | None = None

    @property
    def title(self) -> str:
        """The property's plain name."""
        return plain_name(self.name)

    @property
    def figure(self) -> str:
        """The figure as printed."""
        return format_figure(self.metric, self.value)

    @property
    def interval(self) -> str:
        """The 95% interval as printed."""
        return format_interval(self.metric, self.low, self.high)

    @property
    def standing(self) -> Standing:
        """Where the whole interval lies relative to chance; "" if chance is unknown."""
        if self.chance is None:
            return ""
        if self.low > self.chance:
            return "above chance"
        return "below chance" if self.high < self.chance else "at chance"


def profile(results: RunFile, *, model: str, data: str) -> list[ProfileLine]:
    """Return the measured properties, sorted by family, each with its figure from `headline_rows`.

    Health checks, contracts, and figures that are not shares (a correlation, a gap between means) are left out.
    """
    declared, best = results.declarations, headline_rows(results, model=model, data=data)
    mine = [one for one in results.references if one.model == model and one.role in RIVALS]
    others = {  # the change from the model's parent, else from the shipped reference
        (row.property, row.data): AgainstReference(one.against, row.difference, row.said)
        for one in sorted(mine, key=lambda one: RIVALS.index(one.role))[:1]
        for row in one.properties
    }
    rates = {(str(row.case), row.metric): row.value for row in results.checks if row.model == model}
    lines = []
    for row in best.values():
        scorer, rival, _ = best_surface(row) or ("", None, None)
        its, suffix = declared[row.check], CALIBRATED * str(row.metric).endswith(CALIBRATED)
        lines.append(ProfileLine(
            row.property, its.family, row.check, str(row.case), str(row.metric), *row.numbers, row.n,
            chance_of(row, its), rival, scorer,
            rates.get((str(row.case), ADJUSTED + suffix)), others.get((row.property, data)),
        ))  # fmt: skip
    return sorted(lines, key=lambda one: (FAMILIES.index(one.family), one.name))


def headline_rows(results: RunFile, *, model: str, data: str) -> dict[str, Result]:
    """Return, for each property, the row of results.json whose figure represents it in all outputs.

    This is the share of groups won in both directions. Without such a figure, it is the figure of the check that
    declares `headline`. If a rescaled figure judges that check, its plain figure is used: the rate of the same items,
    or the AUC of the same pairs.
    """
    declared = results.declarations
    here = [row for row in results.checks if (row.model, row.data) == (model, data)]
    rows = {(row.case, row.metric): row for row in here}

    best: dict[str, Result] = {}
    judged = [(declared[row.check], row) for row in judged_rows(results) if (row.model, row.data) == (model, data)]
    judged.sort(key=lambda one: (not one[0].is_in_both_directions, not one[0].headline, bool(one[0].unjudged)))
    for its, row in judged:
        metric = str(row.metric)
        plain = auc.name if metric.startswith(similarity_gap.name) else metric.replace(ADJUSTED, margin_rate.name)
        found = rows.get((row.case, plain), row)
        if is_profile_share(found, its):
            best.setdefault(row.property, found)
    return best


def chance_of(row: Result, its: Declaration) -> float | None:
    """Return the value of the row's figure that guessing reaches, or None if it is unknown."""
    return its.chance if row.metric == its.metric or not its.metric else find_metric(row.metric or "").chance


def all_headline_rows(results: RunFile, model: str) -> list[Result]:
    """Return a model's `headline_rows` on all data."""
    return [row for data in results.data for row in headline_rows(results, model=model, data=data.name).values()]


def is_profile_share(row: Result, its: Declaration) -> bool:
    """Return whether a figure is a share and belongs in a profile."""
    if row.value is None or its.family in NO_PROPERTY or chance_of(row, its) == 0:
        return False
    return all(end is not None and 0 <= end <= 1 for end in (row.value, row.low, row.high))


def weakest_first(lines: Sequence[ProfileLine]) -> list[ProfileLine]:
    """Return the properties worse than the reference first, then the others by how far their interval reaches above
    chance.
    """

    def strength(line: ProfileLine) -> tuple[bool, bool, float]:
        is_worse = line.against is not None and line.against.said == "worse"
        return (not is_worse, line.chance is None, line.high - (line.chance or 0))

    return sorted(lines, key=strength)


def profile_summary(lines: Sequence[ProfileLine]) -> list[tuple[str, str]]:
    """Return up to three (figure, words) that sum up a profile, the last for the weakest property."""
    known = [one for one in weakest_first(lines) if one.standing]
    if not known:
        return []
    found = [(f"{sum(one.standing == 'above chance' for one in known)} of {len(known)}", "properties above chance")]
    if rivalled := [one for one in known if one.surface is not None]:
        above = sum(one.low > (one.surface or 0) for one in rivalled)
        found.append((f"{above} of {len(rivalled)}", "above the best surface scorer"))
    found.append((known[0].figure, f"weakest: {known[0].title}"))
    return found

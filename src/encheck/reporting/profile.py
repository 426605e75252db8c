"""A model's profile: of each property the one figure that stands for it, with its interval, chance and surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from encheck.claims import FAMILIES
from encheck.reporting.view import best_surface, judged_rows
from encheck.run_file import Result, RunFile
from encheck.types import Declaration

Standing = Literal["above chance", "below chance", "at chance", ""]
SURFACE_SLACK = 0.1  # below chance, that still counts as chance
RIVALS = ("parent", "reference")  # who a profile is paired with, the first that there is
NO_PROPERTY = ("health", "contract", "downstream")  # families that describe a space, a promise or a benchmark


@dataclass(frozen=True, slots=True)
class AgainstReference:
    """How the model stands to another one in the property, on the same items: the change of the share won."""

    name: str
    change: float
    is_certain: bool

    @property
    def said(self) -> str:
        """In a word: better or worse where the change is no chance, at 5% for all properties together (Holm)."""
        if not self.is_certain:
            return "cannot tell"
        return "better" if self.change > 0 else "worse"


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One property; figures from 0 to 1, `chance` and the best surface scorer's figure None where there is none."""

    name: str
    family: str
    check: str
    case: str
    value: float
    low: float
    high: float
    n: int
    chance: float | None
    surface: float | None
    surface_of: str
    against: AgainstReference | None = None

    @property
    def standing(self) -> Standing:
        """Where the whole interval lies; empty where nobody knows what guessing gets."""
        if self.chance is None:
            return ""
        if self.low > self.chance:
            return "above chance"
        return "below chance" if self.high < self.chance else "at chance"


def profile(results: RunFile, *, model: str, data: str) -> list[ProfileLine]:
    """The properties that were measured, by family; of each the check declared as its headline, else the first.

    Figures that are no share of anything (a correlation, a gap between means) stay out; so do health and contracts.
    """
    declared, best = results.declarations, headlines(results, model=model, data=data)
    others = _reference_changes(results, model)
    lines = [_profile_line(row, declared[row.check], others.get(f"{row.check}/{data}")) for row in best.values()]
    return sorted(lines, key=lambda one: (FAMILIES.index(one.family), one.name))


def headlines(results: RunFile, *, model: str, data: str) -> dict[str, Result]:
    """Of each property the row of results.json that stands for it in a profile."""
    declared = results.declarations
    rows = [row for row in judged_rows(results) if (row.model, row.data) == (model, data) and is_drawn(row, declared)]
    best: dict[str, Result] = {}
    for row in sorted(rows, key=lambda one: not declared[one.check].headline):
        best.setdefault(row.property, row)
    return best


def is_drawn(row: Result, declared: Mapping[str, Declaration]) -> bool:
    """Whether a figure is a share that a profile draws."""
    its, ends = declared[row.check], (row.value, row.low, row.high)
    is_share = its.chance != 0 and all(end is not None and 0 <= end <= 1 for end in ends)
    return is_share and its.family not in NO_PROPERTY


def _reference_changes(results: RunFile, model: str) -> dict[str, AgainstReference]:
    """By check/data, how the model stands to its parent, else to the reference that ships."""
    mine = [one for one in results.references if one.model == model and one.role in RIVALS]
    ordered = sorted(mine, key=lambda one: RIVALS.index(one.role))
    rows = ordered[0].properties if ordered else ()
    return {row.row: AgainstReference(ordered[0].against, row.change, row.certain) for row in rows}


def _profile_line(row: Result, declared: Declaration, against: AgainstReference | None) -> ProfileLine:
    scorer, rival, _ = best_surface(row) or ("", None, None)
    return ProfileLine(
        row.property, declared.family, row.check, str(row.case),
        *row.numbers, row.n, declared.chance, rival, scorer, against,
    )  # fmt: skip


def weakest_first(lines: Sequence[ProfileLine]) -> list[ProfileLine]:
    """Those that are worse than the reference first, then by how far the interval reaches above chance."""
    return sorted(lines, key=_strength)


def _strength(line: ProfileLine) -> tuple[bool, bool, float]:
    is_worse = line.against is not None and line.against.said == "worse"
    return (not is_worse, line.chance is None, line.high - (line.chance or 0))


def profile_summary(lines: Sequence[ProfileLine]) -> list[tuple[str, str]]:
    """Three figures that sum a profile up, each with what it counts; fewer where nothing can be said.

    The weakest is sought where the surface does no worse than chance: elsewhere a low figure may be the surface's.
    """
    known = [one for one in lines if one.standing]
    found = [(f"{sum(one.standing == 'above chance' for one in known)} of {len(known)}", "properties above chance")]
    if rivalled := [one for one in known if one.surface is not None]:
        above = sum(one.low > (one.surface or 0) for one in rivalled)
        found.append((f"{above} of {len(rivalled)}", "above the best surface scorer"))
    if fair := [one for one in known if one.surface is None or one.surface > (one.chance or 0) - SURFACE_SLACK]:
        weakest = min(fair, key=lambda one: one.high - (one.chance or 0))
        found.append((f"{weakest.value:.2f}", f"weakest: {weakest.name}"))
    return found if known else []

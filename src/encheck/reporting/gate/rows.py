"""The rows of a gate as cells of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from encheck.gating.types import FamilyRow, GateAgainst, GateRow

NEARLY_ANYTHING = 10  # deltas: 20 points of a rate
CHANGE = "change [95% interval]"
HEAD = ("gate", "family", "gate row", "baseline", "candidate", CHANGE, "lost", "gained", "could see")
FAMILY_HEAD = ("family", "gate rows", "change in deltas", "lower end of its 95% interval", "state")
MEANING = {
    "kept": "did not block, and is no evidence for passing: little to lose there, or a slice",
    "not seen": "decides nothing: the baseline is not shown to do better than guessing here",
    "lost": "as kept, but both ends are a loss, though too small a one to block",
    "reported": "too few items or clusters: does not gate",
    "part": "a property, level or surface direction of a row: can block by itself, and decides nothing else",
}


def weighed_rows(against: GateAgainst) -> list[GateRow]:
    """The rows that a verdict rests on, parts that block, and a primary endpoint where it has too few queries."""
    return [row for row in against.rows if row.gates or row.outcome == "block" or row.budget == "primary"]


def reported_rows(against: GateAgainst) -> list[GateRow]:
    """The rows that decide nothing."""
    weighed = {id(row) for row in weighed_rows(against)}
    return [row for row in against.rows if id(row) not in weighed]


def folded(against: GateAgainst) -> Iterator[str]:
    """How much is reported and decided nothing; nothing where all did."""
    rows = reported_rows(against)
    parts = [row for row in rows if row.part_of]
    counts = {"parts": len(parts), "rows": len(rows) - len(parts), "cases": len(against.reported_only)}
    named = [f"{count} {name[:-1] if count == 1 else name}" for name, count in counts.items() if count]
    if named:
        told = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        yield f"{told} {'is' if sum(counts.values()) == 1 else 'are'} reported and decided nothing"


def cells(row: GateRow) -> tuple[str, ...]:
    """One row as the tables show it; rates in percent and points."""
    outcome, numbers = state_of(row), (row.change, row.low, row.high)
    if row.kind == "rate":
        figures = [f"{100 * side:.1f}%" for side in (row.baseline, row.candidate)]
        change = "-" if says_nothing(row) else _with_ends([100 * number for number in numbers], 1)
        seen = f"{100 * row.detectable:.1f} points" if isfinite(row.detectable) else "-"
        return (outcome, row.family, row.name, *figures, change, str(row.lost), str(row.gained), seen)
    figures = [f"{side:.3f}" if isfinite(side) else "-" for side in (row.baseline, row.candidate)]
    change = "-" if says_nothing(row) else _with_ends(numbers, 3)
    seen = f"{row.detectable:.3f}" if isfinite(row.detectable) else "-"
    return (outcome, row.family, row.name, *figures, change, "-", "-", seen)


def _with_ends(numbers: Sequence[float], digits: int) -> str:
    """A change with its interval, or alone where that is withheld."""
    change, low, high = (f"{number:+.{digits}f}" if isfinite(number) else "-" for number in numbers)
    return change if "-" in (low, high) else f"{change} [{low}, {high}]"


def state_of(row: GateRow) -> str:
    """What the first column says of a row."""
    if row.outcome == "block":
        return "block"
    if not row.gates:
        return "part" if row.part_of else "reported"
    if row.evidence:
        return row.outcome
    return "lost" if row.high < 0 else "not seen" if row.unseen else "kept"


def says_nothing(row: GateRow) -> bool:
    """Whether the change is no finding: a row too small to gate, or an interval around 0 that holds nearly anything.

    That is one that reaches further than `NEARLY_ANYTHING` deltas.
    """
    if not row.gates and not row.part_of:
        return True
    if not isfinite(row.low) or not isfinite(row.high):
        return False
    return row.low < 0 < row.high and max(-row.low, row.high) > NEARLY_ANYTHING * row.delta


def family_cells(family: FamilyRow) -> tuple[str, ...]:
    """One family as the tables show it; changes in deltas."""
    change, low = (f"{number:+.2f}" if isfinite(number) else "-" for number in (family.change, family.low))
    return (family.family, str(family.rows), change, low, "" if family.passes else "open")


def meanings(against: GateAgainst) -> Iterator[str]:
    """What the words of the first column say that are not plain, of those that are in the table."""
    found = set(map(state_of, against.rows))
    yield from (f"{word}: {text}" for word, text in MEANING.items() if word in found)

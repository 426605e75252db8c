"""The rows of a gate as cells of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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


def weighed_rows(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows that a verdict rests on, parts that block, and a primary endpoint where it has too few queries."""
    return [r for r in against["rows"] if r["gates"] or r["outcome"] == "block" or r.get("budget") == "primary"]


def reported_rows(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows that decide nothing."""
    weighed = weighed_rows(against)
    return [row for row in against["rows"] if row not in weighed]


def folded(against: Mapping[str, Any]) -> Iterator[str]:
    """How much is reported and decided nothing; nothing where all did."""
    rows = reported_rows(against)
    parts = [row for row in rows if row.get("part_of")]
    counts = {"parts": len(parts), "rows": len(rows) - len(parts), "cases": len(against["reported_only"])}
    named = [f"{count} {name[:-1] if count == 1 else name}" for name, count in counts.items() if count]
    if named:
        told = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        yield f"{told} {'is' if sum(counts.values()) == 1 else 'are'} reported and decided nothing"


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """One row as the tables show it; rates in percent and points."""
    outcome = state_of(row)
    if row["kind"] == "rate":
        figures = [f"{100 * row[side]:.1f}%" for side in ("baseline", "candidate")]
        numbers = [None if row[k] is None else 100 * row[k] for k in ("change", "low", "high")]
        change = "-" if says_nothing(row) else _with_ends(numbers, 1)
        seen = "-" if row["detectable"] is None else f"{100 * row['detectable']:.1f} points"
        return (outcome, row["family"], row["row"], *figures, change, str(row["lost"]), str(row["gained"]), seen)
    figures = ["-" if row[side] is None else f"{row[side]:.3f}" for side in ("baseline", "candidate")]
    numbers = [row[k] for k in ("change", "low", "high")]
    change = "-" if says_nothing(row) else _with_ends(numbers, 3)
    seen = "-" if row["detectable"] is None else f"{row['detectable']:.3f}"
    return (outcome, row["family"], row["row"], *figures, change, "-", "-", seen)


def _with_ends(numbers: Sequence[float | None], digits: int) -> str:
    """A change with its interval, or alone where that is withheld."""
    change, low, high = ("-" if number is None else f"{number:+.{digits}f}" for number in numbers)
    return change if "-" in (low, high) else f"{change} [{low}, {high}]"


def state_of(row: Mapping[str, Any]) -> str:
    """What the first column says of a row."""
    if row["outcome"] == "block":
        return "block"
    if not row["gates"]:
        return "part" if row.get("part_of") else "reported"
    return _without_evidence(row) if _kept(row) else str(row["outcome"])


def says_nothing(row: Mapping[str, Any]) -> bool:
    """Whether the change is no finding: a row too small to gate, or an interval around 0 that holds nearly anything.

    That is one that reaches further than `NEARLY_ANYTHING` deltas.
    """
    if not row["gates"] and not row.get("part_of"):
        return True
    delta, low, high = (row.get(name) for name in ("delta", "low", "high"))
    if delta is None or low is None or high is None:
        return False
    return bool(low < 0 < high and max(-low, high) > NEARLY_ANYTHING * delta)


def family_cells(family: Mapping[str, Any]) -> tuple[str, ...]:
    """One family as the tables show it; changes in deltas."""
    change, low = ("-" if family[k] is None else f"{family[k]:+.2f}" for k in ("change", "low"))
    return (family["family"], str(family["rows"]), change, low, "" if family["passes"] else "open")


def meanings(against: Mapping[str, Any]) -> Iterator[str]:
    """What the words of the first column say that are not plain, of those that are in the table."""
    found = {cells(row)[0] for row in against["rows"]}
    yield from (f"{word}: {text}" for word, text in MEANING.items() if word in found)


def _kept(row: Mapping[str, Any]) -> bool:
    """Whether the row could have blocked, has not, and is no evidence."""
    return not row["evidence"] and row["outcome"] != "block"


def _without_evidence(row: Mapping[str, Any]) -> str:
    if row["high"] is not None and row["high"] < 0:
        return "lost"
    return "not seen" if row.get("unseen") else "kept"


def with_lost_queries(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows, then the searches without labels, that may show lost queries."""
    return [*against["rows"], *against.get("searches", ())]

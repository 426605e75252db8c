"""Show the rows of a gate: as table cells, and as lines with name, change, verdict and all figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from encheck.gating.types import FamilyRow, GateAgainst, GateRow, PurposeName
from encheck.reporting.gate.words import Tone, gate_row_name, have_several_data_sets
from encheck.reporting.text import plain_name
from encheck.reporting.view import format_figure

NEARLY_ANYTHING = 10  # deltas: 20 points of a rate
CHANGE = "change [95% interval]"
HEAD = ("gate", "family", "gate row", "baseline", "candidate", CHANGE, "lost", "gained", "could see")
FAMILY_HEAD = ("family", "gate rows", "change in deltas", "lower end of its 95% interval", "state")


def weighed_rows(against: GateAgainst) -> list[GateRow]:
    """Return the rows behind the verdict: those that gate, parts that block, and primary endpoints with too few
    queries.
    """
    return [row for row in against.rows if row.gates or row.outcome == "block" or row.budget == "primary"]


def reported_rows(against: GateAgainst) -> list[GateRow]:
    """Return the rows that do not affect the decision."""
    weighed = {id(row) for row in weighed_rows(against)}
    return [row for row in against.rows if id(row) not in weighed]


def reported_only_counts(against: GateAgainst) -> Iterator[str]:
    """Yield a line that counts the parts, rows and cases that are only reported, or nothing if there are none."""
    rows = reported_rows(against)
    parts = [row for row in rows if row.part_of]
    counts = {"parts": len(parts), "rows": len(rows) - len(parts), "cases": len(against.reported_only)}
    named = [f"{count} {name[:-1] if count == 1 else name}" for name, count in counts.items() if count]
    if named:
        told = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        yield f"{told} {'is' if sum(counts.values()) == 1 else 'are'} reported only"


def row_cells(row: GateRow, purpose: PurposeName) -> tuple[str, ...]:
    """Return a gate row as table cells.

    They include the verdict as the page words it for this purpose, the printed figures of the row's properties, and the
    change over all its items.
    """
    verdict = VERDICTS[_verdict_key(row, purpose)][0]
    names = [f"{plain_name(one.property)} " * (len(row.figures) > 1) for one in row.figures]
    sides = [
        "; ".join(name + format_figure(one.metric, getattr(one, side))
                  for name, one in zip(names, row.figures, strict=True))
        for side in ("before", "now")
    ]  # fmt: skip
    if row.kind == "rate":
        figures = [f"{100 * side:.1f}%" for side in (row.baseline, row.candidate)]
        seen = f"{100 * row.detectable:.1f} points" if isfinite(row.detectable) else "-"
        counts = (str(row.lost), str(row.gained))
    else:
        figures = [f"{side:.3f}" if isfinite(side) else "-" for side in (row.baseline, row.candidate)]
        seen = f"{row.detectable:.3f}" if isfinite(row.detectable) else "-"
        counts = ("-", "-")
    return (verdict, row.family, row.name, *(sides if row.figures else figures), _change_text(row), *counts, seen)


def _change_text(row: GateRow) -> str:
    """Return the change with its 95% interval, in points for a rate.

    Return a dash if the change means nothing. Leave the interval out if it is withheld.
    """
    if is_too_uncertain(row):
        return "-"
    scale, digits = (100, 1) if row.kind == "rate" else (1, 3)
    numbers = (row.change, row.low, row.high)
    change, low, high = (f"{scale * number:+.{digits}f}" if isfinite(number) else "-" for number in numbers)
    return change if "-" in (low, high) else f"{change} [{low}, {high}]"


def is_too_uncertain(row: GateRow) -> bool:
    """Return whether the change is too uncertain to report.

    It is if the row is too small to gate, or if its interval reaches further than `NEARLY_ANYTHING` deltas on both
    sides of 0.
    """
    if not row.gates and not row.part_of:
        return True
    if not isfinite(row.low) or not isfinite(row.high):
        return False
    return row.low < 0 < row.high and max(-row.low, row.high) > NEARLY_ANYTHING * row.delta


def family_cells(family: FamilyRow) -> tuple[str, ...]:
    """Return a family as table cells. Changes are in deltas."""
    change, low = (f"{number:+.2f}" if isfinite(number) else "-" for number in (family.change, family.low))
    return (family.family, str(family.rows), change, low, "" if family.passes else "open")


REACH = 4.0  # deltas on either side of 0 in a bar
NOTICED = 0.25  # deltas: a smaller change counts as none
VERDICTS: Mapping[str, tuple[str, Tone | None]] = {
    "block": ("worse", "bad"),
    "open": ("cannot tell", "open"),
    "lost": ("a little worse", "open"),
    "better": ("better", "good"),
    "pass": ("as good", "good"),
    "beside-lost": ("worse, not decisive", "open"),
    "beside-better": ("better, not decisive", "good"),
    "kept": ("decides nothing", None),
    "few": ("decides nothing", None),
    "part": ("decides nothing", None),
    "beside-kept": ("decides nothing", None),
}
ORDER = tuple(VERDICTS)
EXPLAINED: Mapping[str, str] = {
    "cannot tell": "a loss that matters is neither shown nor ruled out, or is certain but the old model is not "
    "shown to beat guessing; the row keeps the gate from passing",
    "a little worse": "both bounds are a loss, but it is too small to block",
    "decides nothing": "it did not block and is no evidence for passing: part of a row, too few items, or the "
    "old model is not shown to beat guessing in it",
    "worse, not decisive": "certainly worse, but not decisive for another model",
    "better, not decisive": "certainly better, but not decisive for another model",
}


@dataclass(frozen=True)
class IntervalBar:
    """A change and its interval on a scale from -`REACH` to +`REACH` deltas, in percent of the scale's length."""

    low: float
    width: float
    value: float


@dataclass(frozen=True)
class GateLine:
    """A row with its name, its change and interval, its verdict, and all other figures as (name, value)."""

    name: str
    change: str
    verdict: str
    tone: Tone | None
    bar: IntervalBar | None
    figures: Sequence[tuple[str, str]]
    parts: Sequence[GateLine]


def gate_overview(against: GateAgainst) -> list[GateLine]:
    """Return the rows, worst verdict first, each with its parts."""
    rows = against.rows
    is_several, purpose = have_several_data_sets(rows), against.purpose
    whole = sorted((row for row in rows if not row.part_of), key=lambda row: ORDER.index(_verdict_key(row, purpose)))
    found = [_gate_line(row, rows, purpose, is_several=is_several) for row in whole]
    for search in against.searches:  # without labels: how many first answers changed
        verdict, tone = VERDICTS["pass" if search.passes else "block" if search.blocks else "open"]
        figures = [("gate row", search.name), ("why", search.says)]
        change = f"{search.shares[0].queries:,} of {search.queries:,} answers"
        found.append(GateLine("Search, logged queries", change, verdict, tone, None, figures, ()))
    names = {row.name for row in whole}
    lost = [row for row in rows if row.part_of and row.part_of not in names]
    return [*found, *(_gate_line(row, (), purpose, is_several=is_several) for row in lost)]


def _gate_line(row: GateRow, rows: Sequence[GateRow], purpose: PurposeName, *, is_several: bool) -> GateLine:
    parts = [_gate_line(one, (), purpose, is_several=is_several) for one in rows if one.part_of == row.name]
    verdict, tone = VERDICTS[_verdict_key(row, purpose)]
    name, text = gate_row_name(row, with_data=is_several), _change_text(row)
    change = "not known" if text == "-" else text.replace(" [", " points [") if row.kind == "rate" else text
    return GateLine(name, change, verdict, tone, _interval_bar(row), list(_row_figures(row, purpose)), parts)


def verdict_explanations(lines: Sequence[GateLine]) -> list[str]:
    """Return explanations of the verdicts in these lines and their parts, for verdicts that need one."""
    found = {one.verdict for line in lines for one in (line, *line.parts)}
    return [f"{verdict}: {text}" for verdict, text in EXPLAINED.items() if verdict in found]


def _verdict_key(row: GateRow, purpose: PurposeName) -> str:
    """Return the row's key in `VERDICTS`.

    If the candidate is another model, a row that is not evidence does not affect the decision.
    """
    if row.outcome == "block":
        return "block"
    if purpose != "change" and row.gates and not row.evidence:
        return f"beside-{_certain_move(row) or 'kept'}"
    if not row.gates:
        return "part" if row.part_of else "few"
    if row.doubtful or (row.outcome != "pass" and row.evidence):
        return "open"
    return _certain_move(row) or ("pass" if row.evidence else "kept")


def _certain_move(row: GateRow) -> str:
    """Return "lost" or "better" if the row certainly moved by a noticeable amount, otherwise ""."""
    if not isfinite(row.low) or not isfinite(row.high) or abs(row.change) <= NOTICED * row.delta:
        return ""
    return "lost" if row.high < 0 else "better" if row.low > 0 else ""


def _interval_bar(row: GateRow) -> IntervalBar | None:
    numbers = (row.low, row.high, row.change)
    if not row.delta or not all(map(isfinite, numbers)) or is_too_uncertain(row):
        return None
    low, high, value = (50 + 50 * max(-1.0, min(1.0, number / row.delta / REACH)) for number in numbers)
    return IntervalBar(round(low, 1), round(max(high - low, 0.8), 1), round(value, 1))


def _row_figures(row: GateRow, purpose: PurposeName) -> Iterator[tuple[str, str]]:
    """Yield all figures of a row as (name, value)."""
    _, family, name, before, now, _, lost, won, seen = row_cells(row, purpose)
    yield from (("gate row", name), ("family", family), ("before, now", f"{before}, {now}"))
    if row.kind == "rate":
        yield "lost, won", f"{lost}, {won}"
    yield "items, independent clusters", f"{row.n:,}, {row.clusters:,}"
    # The loss that matters, and the test of it.
    matters = f"{100 * row.delta:.1f} points" if row.kind == "rate" else f"{row.delta:.3f}"
    widened = f", widened {row.widened:.2f} times by seed noise" if row.widened > 1 else ""
    yield "loss that matters (delta)", matters + widened
    for words, number in (
        ("standard error", row.error), ("p of a loss beyond half of delta", row.p),
        ("p after Holm's correction", row.adjusted), ("p by McNemar", row.mcnemar),
    ):  # fmt: skip
        if number is not None and isfinite(number):
            yield words, f"{number:.3g}"
    yield "tested at", f"{100 * row.alpha:g}% ({row.budget})"
    yield "smallest loss that is found in 80% of cases", seen
    if row.needed:
        yield "items that would decide", f"{row.needed:,}"
    for one in row.beside:
        yield f"{one.metric} (not tested)", f"{one.baseline:.3f} to {one.candidate:.3f}"
    if row.why:
        yield "why", row.why

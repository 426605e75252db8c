"""The rows of a gate as a reader takes them in: name, change, verdict, and all figures one level down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from encheck.gating.types import GateAgainst, GateRow, UnjudgedSearch
from encheck.reporting.gate.names import name_of, with_data
from encheck.reporting.gate.rows import cells, says_nothing
from encheck.reporting.gate.story import Tone

REACH = 4.0  # deltas to either side of 0 that a bar shows
NOTICED = 0.25  # deltas: a change below them is called none
VERDICTS: Mapping[str, tuple[str, Tone | None]] = {
    "block": ("worse", "bad"),
    "open": ("cannot tell", "open"),
    "lost": ("a little worse", "open"),
    "better": ("better", "good"),
    "pass": ("as good", "good"),
    "kept": ("no loss shown", None),
    "few": ("too few to tell", None),
    "part": ("not tested alone", None),
    "beside-lost": ("worse, beside", "open"),
    "beside-better": ("better, beside", "good"),
    "beside-kept": ("beside", None),
}
ORDER = tuple(VERDICTS)
EXPLAINED: Mapping[str, str] = {
    "cannot tell": "a loss that matters is neither shown nor ruled out, so the row keeps the gate from passing",
    "a little worse": "both bounds are a loss, but too small a one to block",
    "no loss shown": "did not block, and is no evidence for passing",
    "too few to tell": "too few items or clusters to gate",
    "worse, beside": "certainly worse, and decides nothing for another model",
    "better, beside": "certainly better, and decides nothing for another model",
    "beside": "no change is certain, and it decides nothing for another model",
    "not tested alone": "a part of a row; it can block by itself, and decides nothing else",
}


@dataclass(frozen=True)
class Bar:
    """The bounds of a change along a line from -`REACH` to +`REACH` deltas, in percent of the line."""

    low: float
    width: float
    value: float


@dataclass(frozen=True)
class Line:
    """A row: its name, its change with its bounds, its verdict, and (name, value) of every other figure."""

    name: str
    change: str
    verdict: str
    tone: Tone | None
    bar: Bar | None
    figures: Sequence[tuple[str, str]]
    parts: Sequence[Line]


def overview(against: GateAgainst) -> list[Line]:
    """The rows, the worst verdict first, each with its parts."""
    rows = against.rows
    is_several, beside = with_data(rows), against.purpose != "change"
    whole = sorted((row for row in rows if not row.part_of), key=lambda row: ORDER.index(_state(row, beside)))
    found = [_line(row, rows, is_several=is_several, beside=beside) for row in whole]
    found += map(_searched, against.searches)
    names = {row.name for row in whole}
    lost = [row for row in rows if row.part_of and row.part_of not in names]
    return [*found, *(_line(row, (), is_several=is_several) for row in lost)]


def _line(row: GateRow, rows: Sequence[GateRow], *, is_several: bool, beside: bool = False) -> Line:
    parts = [_line(one, (), is_several=is_several) for one in rows if one.part_of == row.name]
    verdict, tone = VERDICTS[_state(row, beside)]
    name = name_of(row, with_data=is_several)
    return Line(name, change_of(row), verdict, tone, _bar(row), list(_figures(row)), parts)


def explanations(lines: Sequence[Line]) -> list[str]:
    """What the verdicts that are not plain say, of those that rows and their parts have."""
    found = {one.verdict for line in lines for one in (line, *line.parts)}
    return [f"{verdict}: {text}" for verdict, text in EXPLAINED.items() if verdict in found]


def _searched(search: UnjudgedSearch) -> Line:
    """A search that nobody labelled: how many first answers changed."""
    verdict, tone = VERDICTS["pass" if search.passes else "block" if search.blocks else "open"]
    figures = [("gate row", search.name), ("why", search.says)]
    change = f"{search.shares[0].queries:,} of {search.queries:,} answers"
    return Line("Search, logged queries", change, verdict, tone, None, figures, ())


def _state(row: GateRow, beside: bool = False) -> str:
    """The key of `VERDICTS`; `beside` says that what is no evidence decides nothing."""
    if row.outcome == "block":
        return "block"
    if beside and row.gates and not row.evidence:
        return f"beside-{_moved(row) or 'kept'}"
    if not row.gates:
        return "part" if row.part_of else "few"
    if row.outcome != "pass" and row.evidence:
        return "open"
    return _moved(row) or ("pass" if row.evidence else "kept")


def _moved(row: GateRow) -> str:
    """Whether it is certain that the row moved, by an amount that somebody would notice; "" where it is not."""
    if not isfinite(row.low) or not isfinite(row.high) or abs(row.change) <= NOTICED * row.delta:
        return ""
    return "lost" if row.high < 0 else "better" if row.low > 0 else ""


def change_of(row: GateRow) -> str:
    """The change with its 95% interval; of a rate in points."""
    text = cells(row)[5]
    return "not known" if text == "-" else text.replace(" [", " points [") if row.kind == "rate" else text


def _bar(row: GateRow) -> Bar | None:
    numbers = (row.low, row.high, row.change)
    if not row.delta or not all(map(isfinite, numbers)) or says_nothing(row):
        return None
    low, high, value = (50 + 50 * max(-1.0, min(1.0, number / row.delta / REACH)) for number in numbers)
    return Bar(round(low, 1), round(max(high - low, 0.8), 1), round(value, 1))


def _figures(row: GateRow) -> Iterator[tuple[str, str]]:
    """All that was computed of a row and is no number."""
    _, family, name, before, now, _, lost, won, seen = cells(row)
    yield from (("gate row", name), ("family", family), ("before, now", f"{before}, {now}"))
    if row.kind == "rate":
        yield "lost, won", f"{lost}, {won}"
    yield "items, independent clusters", f"{row.n:,}, {row.clusters:,}"
    yield from _tested(row)
    yield "smallest loss that is found in 80% of cases", seen
    if row.needed:
        yield "items that would decide", f"{row.needed:,}"
    for one in row.beside:
        yield f"{one.metric} (not tested)", f"{one.baseline:.3f} to {one.candidate:.3f}"
    if row.why:
        yield "why", row.why


def _tested(row: GateRow) -> Iterator[tuple[str, str]]:
    """The loss that matters, and what the test says of it."""
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

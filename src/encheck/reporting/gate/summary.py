"""The section of summary.md about a gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from encheck.gating.types import Gate, GateAgainst, GateRow, UnjudgedSearch
from encheck.reporting import lost
from encheck.reporting.gate.overview import overview
from encheck.reporting.gate.rows import (
    CHANGE,
    FAMILY_HEAD,
    HEAD,
    cells,
    family_cells,
    folded,
    meanings,
    reported_rows,
    weighed_rows,
)
from encheck.reporting.gate.steps import UNKNOWN, Commands, steps
from encheck.reporting.gate.story import NEW, story
from encheck.reporting.gate.words import explained, part, title, undecided, what_has_to_change
from encheck.reporting.text import code, escape, joined, marked
from encheck.scoring.frame import edits_of

MAX_FLIPS_IN_SUMMARY = 3  # of these


def markdown(
    gate: Gate,
    items: Mapping[str, Mapping[str, Sequence[Any]]],
    *,
    most: int,
    candidate: str = NEW,
    to_type: Commands = UNKNOWN,
) -> Iterator[str]:
    """The section of summary.md: the answer, what to do, what got worse, then each row; statistics are folded."""
    texts = {name: (columns, i) for columns in items.values() for i, name in enumerate(columns["item"])}
    for line in undecided(gate):
        yield from (f"- {line}", "")
    for against in gate.against:
        yield from (f"## Gate against {escape(against.baseline + part(against))}: {title(against)}", "")
        yield from _told(against, candidate, to_type, most)
        yield from (*_overview(against, most), "")
        yield from (f"- {escape(text)}" for text in list(explained(against, remedies=False))[:most])
        yield ""
        yield from _folded("Statistics of each row", _statistics(against, most))
        yield from _folded("What else was lost and won", _flips_elsewhere(against.rows[:most], texts))
        yield from (line for text in folded(against) for line in _folded(text, _reported(against, most)))


def _told(against: GateAgainst, candidate: str, to_type: Commands, most: int) -> Iterator[str]:
    """The answer, what to do, and what got worse with its examples."""
    told = story(against, candidate=candidate)
    yield from (f"**{escape(told.answer)}.** {escape(told.lead)}".rstrip(), "")
    if changes := what_has_to_change(against):
        yield from ("What has to change:", "", *(f"- {escape(change)}" for change in changes), "")
    for number, step in enumerate(steps(against, candidate=candidate, to_type=to_type), start=1):
        yield f"{number}. {escape(step.says)}{f' {code(step.command)}' if step.command else ''}"
        yield from (f"   - {escape(way)}" for way in step.ways)
    yield ""
    for loss in told.losses[:most]:
        yield from (f"**{escape(loss.title)}.** {escape(f'{loss.figures} {loss.means}'.strip())}", "")
        if loss.row:
            yield from _lost(loss.row)


def _overview(against: GateAgainst, most: int) -> Iterator[str]:
    """Name, change and verdict of each row."""
    yield from (f"| what | {CHANGE} | verdict |", "| --- | --- | --- |")
    for line in overview(against)[:most]:
        yield f"| {' | '.join(map(escape, (line.name, line.change, line.verdict)))} |"


def _statistics(against: GateAgainst, most: int) -> Iterator[str]:
    """All figures of the rows that decide, and of the families."""
    yield from (*_table(weighed_rows(against)[:most]), "")
    yield from (f"- {text}" for text in meanings(against))
    yield from ("", f"| {' | '.join(FAMILY_HEAD)} |", "| " + " | ".join(["---"] * len(FAMILY_HEAD)) + " |")
    yield from (f"| {' | '.join(map(escape, family_cells(f)))} |" for f in against.families)


def _table(rows: Sequence[GateRow]) -> Iterator[str]:
    yield from (f"| {' | '.join(HEAD)} |", "| " + " | ".join(["---"] * len(HEAD)) + " |")
    yield from (f"| {' | '.join(map(escape, cells(row)))} |" for row in rows)


def _folded(summary: str, body: Iterable[str]) -> Iterator[str]:
    """Lines that are shown on demand; nothing where there are none."""
    if found := list(body):
        yield from (f"<details><summary>{escape(summary)}</summary>", "", *found, "", "</details>", "")


def _flips_elsewhere(
    rows: Sequence[GateRow], texts: Mapping[str, tuple[Mapping[str, Sequence[Any]], int]]
) -> Iterator[str]:
    """What flipped in the rows that do not block."""
    for row in rows:
        if row.outcome != "block" and not row.endpoint:
            yield from _flipped(row, texts)


def _reported(against: GateAgainst, most: int) -> Iterator[str]:
    """The rows and cases that do not gate."""
    if rows := reported_rows(against)[:most]:
        yield from (*_table(rows), "")
    yield from (f"- {escape(name)}: {escape(why)}" for name, why in against.reported_only.items())


def _flipped(row: GateRow, texts: Mapping[str, tuple[Mapping[str, Sequence[Any]], int]]) -> Iterator[str]:
    shown = [("lost", i) for i in row.lost_items[:MAX_FLIPS_IN_SUMMARY]] + [
        ("won", i) for i in row.gained_items[:MAX_FLIPS_IN_SUMMARY]
    ]
    if not shown:
        return
    yield f"{escape(row.name)}: {row.lost} lost, {row.gained} won"
    yield ""
    for what, name in shown:
        if name in texts:
            columns, i = texts[name]
            source = columns["source"][i]
            near, far = (
                marked(source, columns[s][i] or "", edits_of(columns[f"{s}_edits"][i])) for s in ("near", "far")
            )
            yield f"- {what}: near *{escape(near)}*, far *{escape(far)}* (of *{escape(source)}*)"
    yield ""


def _lost(row: GateRow | UnjudgedSearch) -> Iterator[str]:
    """Items that were lost, with their edits marked; queries that were lost, or whose first answer changed."""
    examples = row.lost_examples if isinstance(row, GateRow) else ()
    for example in examples:
        texts = "; ".join(
            f"{lost.SIDES[text.side]} ({lost.scores_of(text)}): *{escape(joined(text.pieces))}*"
            for text in example.texts
        )
        yield f"- lost in {escape(row.name)}: *{escape(example.source)}*; {texts}"
    if examples:
        yield ""
    changed = row.changed_queries if isinstance(row, UnjudgedSearch) else ()
    for what, queries in (("lost", row.lost_queries), ("changed", changed)):
        for one in queries:
            query, before, now = map(escape, (one.query, one.before, one.now))
            yield f"- {what} in {escape(row.name)}: *{query}*; first before: *{before}*; first now: *{now}*"
        if queries:
            yield ""

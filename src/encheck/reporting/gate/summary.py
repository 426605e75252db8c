"""The section of summary.md about a gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from encheck.reporting import lost
from encheck.reporting.gate.rows import (
    FAMILY_HEAD,
    HEAD,
    cells,
    family_cells,
    folded,
    meanings,
    reported_rows,
    weighed_rows,
    with_lost_queries,
)
from encheck.reporting.gate.words import explained, part, title, undecided
from encheck.reporting.text import escape, marked
from encheck.scoring.frame import edits_of

MAX_FLIPS_IN_SUMMARY = 3  # of these


def markdown(gate: Mapping[str, Any], items: Mapping[str, Mapping[str, Sequence[Any]]], *, most: int) -> Iterator[str]:
    """The section of summary.md: verdict, table, reasons, and the first flips with what was edited in them."""
    texts = {name: (columns, i) for columns in items.values() for i, name in enumerate(columns["item"])}
    for line in undecided(gate):
        yield from (f"- {line}", "")
    for against in gate["against"]:
        yield from (f"## Gate against {escape(against['baseline'] + part(against))}: {title(against)}", "")
        yield from (f"- {escape(text)}" for text in list(explained(against))[:most])
        yield from ("", *_table(weighed_rows(against)[:most]), "")
        for row in with_lost_queries(against)[:most]:
            yield from _blocked(row)
            yield from _lost(row)
        yield from (f"- {text}" for text in meanings(against))
        yield from ("", f"| {' | '.join(FAMILY_HEAD)} |", "| " + " | ".join(["---"] * len(FAMILY_HEAD)) + " |")
        yield from (f"| {' | '.join(map(escape, family_cells(f)))} |" for f in against["families"])
        yield ""
        yield from _folded("what else was lost and won", _flips_elsewhere(against["rows"][:most], texts))
        yield from (line for text in folded(against) for line in _folded(text, _reported(against, most)))


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"| {' | '.join(HEAD)} |", "| " + " | ".join(["---"] * len(HEAD)) + " |")
    yield from (f"| {' | '.join(map(escape, cells(row)))} |" for row in rows)


def _blocked(row: Mapping[str, Any]) -> Iterator[str]:
    """Of a row that blocks: what that means, and three lost items with their edits marked."""
    if row.get("means") and row["outcome"] == "block":
        yield from (f"**{escape(row['row'])}**: {escape(row['means'])}", "")
    for one in row.get("lost_examples", ()):
        texts = "; ".join(
            f"{lost.SIDES[t['side']]} ({lost.scores_of(t)}): *{escape(lost.text_of(t))}*" for t in one["texts"]
        )
        yield f"- lost in {escape(row['row'])}: *{escape(one['source'])}*; {texts}"
    if row.get("lost_examples"):
        yield ""


def _folded(summary: str, body: Iterable[str]) -> Iterator[str]:
    """Lines that are shown on demand; nothing where there are none."""
    if found := list(body):
        yield from (f"<details><summary>{escape(summary)}</summary>", "", *found, "", "</details>", "")


def _flips_elsewhere(
    rows: Sequence[Mapping[str, Any]], texts: Mapping[str, tuple[Mapping[str, Sequence[Any]], int]]
) -> Iterator[str]:
    """What flipped in the rows that do not block."""
    for row in rows:
        if row["outcome"] != "block" and not row.get("endpoint"):
            yield from _flipped(row, texts)


def _reported(against: Mapping[str, Any], most: int) -> Iterator[str]:
    """The rows and cases that do not gate."""
    if rows := reported_rows(against)[:most]:
        yield from (*_table(rows), "")
    yield from (f"- {escape(name)}: {escape(why)}" for name, why in against["reported_only"].items())


def _flipped(row: Mapping[str, Any], texts: Mapping[str, tuple[Mapping[str, Sequence[Any]], int]]) -> Iterator[str]:
    shown = [("lost", i) for i in row["lost_items"][:MAX_FLIPS_IN_SUMMARY]] + [
        ("won", i) for i in row["gained_items"][:MAX_FLIPS_IN_SUMMARY]
    ]
    if not shown:
        return
    yield f"{escape(row['row'])}: {row['lost']} lost, {row['gained']} won"
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


def _lost(row: Mapping[str, Any]) -> Iterator[str]:
    for one in row.get("lost_queries", ()):
        query, before, now = (escape(one[name]) for name in ("query", "before", "now"))
        yield f"- lost in {escape(row['row'])}: *{query}*; first before: *{before}*; first now: *{now}*"
    if row.get("lost_queries"):
        yield ""

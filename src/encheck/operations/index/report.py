"""The audit of a stored index: on the terminal, and its rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from encheck.gating.required_changes import spans
from encheck.indexes.audit import AuditedRow, IndexAudit
from encheck.reporting.results import write_named
from encheck.reporting.text import one_line, table
from encheck.system.terminal import safe_cell

FIRST = 5  # rows of a kind that the terminal names
MOST_ID = 40
COLUMNS = (
    "row", "id", "kind", "cosine", "length", "text_of", "stored_at", "words", "characters", "cause"
)  # fmt: skip


def terminal(audit: IndexAudit) -> Iterator[str]:
    """What the terminal shows; the last line is the outcome."""
    yield f"{audit.file}: {audit.rows:,} rows, {audit.compared:,} compared with {audit.model}"
    yield from table(
        [("", "rows", "the first of them"),
         *((count.kind, f"{count.rows:,}", _first(audit, count.kind)) for count in audit.counts)]
    )  # fmt: skip
    for group in audit.groups:
        yield f"  rows {spans(group.rows)}: {group.says} ({group.evidence})"
    yield from (f"  {note}" for note in audit.notes)
    yield headline(audit)


def headline(audit: IndexAudit) -> str:
    """The outcome with its reason."""
    return f"INDEX: {audit.outcome.upper()}. {audit.reason}"


def _first(audit: IndexAudit, kind: str) -> str:
    rows = [row for row in audit.faults if row.kind == kind]
    more = f", and {len(rows) - FIRST:,} more" if len(rows) > FIRST else ""
    return ", ".join(map(_row, rows[:FIRST])) + more


def _row(row: AuditedRow) -> str:
    name = one_line(row.id, MOST_ID)
    if row.text_of is not None:
        return f"{name} (has the vector of {one_line(row.text_of, MOST_ID)})"
    if row.stored_at is not None:
        return f"{name} (its own is at {one_line(row.stored_at, MOST_ID)})"
    if row.beginning is not None:
        return f"{name} (its first {row.beginning.words} words)"
    if row.kind == "not normalised" and row.length is not None:
        return f"{name} ({row.length:.3g} times)"
    return name if row.cosine is None else f"{name} ({row.cosine:.2f})"


def write_rows(path: Path, audit: IndexAudit) -> None:
    """Write every row that is not this model's as CSV; UsageError if no file can be there."""
    causes = {row: group.cause for group in audit.groups for row in group.rows}
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in audit.faults:
        part = (row.beginning.words, row.beginning.characters) if row.beginning else (None, None)
        cells = (row.number, row.id, row.kind, row.cosine, row.length, row.text_of, row.stored_at, *part)
        writer.writerow([safe_cell(cell) for cell in (*cells, causes.get(row.number))])
    write_named(path, out.getvalue())

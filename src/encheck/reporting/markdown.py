"""summary.md: the verdicts as a table that code hosts render."""

from __future__ import annotations

from collections.abc import Iterator

from encheck.gating import contamination
from encheck.reporting import reference, rivals, similarity_threshold, validity
from encheck.reporting.gate import summary
from encheck.reporting.gate.steps import commands
from encheck.reporting.text import escape
from encheck.reporting.view import (
    CRITERIA,
    WORDS,
    Items,
    MatrixCell,
    figure,
    headline,
    judged,
    matrix,
    not_run,
    ran,
    sentence,
    surface,
    wants,
)
from encheck.run_file import Result, RunFile

ENDED = (0, 1, 5, 10)  # exit codes of runs that came to their end: of the others, the notes say first what is missing
MAX_SUMMARY_BYTES = 1_000_000  # code hosts take a summary of up to 1 MiB


def render(results: RunFile, items: Items | None = None) -> str:
    """The whole file, cut where it would be longer than code hosts take; with a gate, that goes first."""
    whole = _whole(results, list(_gate(results, items or {})))
    if len(whole.encode("utf-8")) <= MAX_SUMMARY_BYTES:
        return whole
    cut = whole.encode("utf-8")[:MAX_SUMMARY_BYTES].decode("utf-8", "ignore").rpartition("\n")[0]
    return f"{cut}\n\nThe rest is in report.html.\n"


def _gate(results: RunFile, items: Items) -> Iterator[str]:
    if results.gate is not None:
        candidate, to_type = results.models[0].label, commands(results.run)
        yield from summary.markdown(results.gate, items, most=200, candidate=candidate, to_type=to_type)


def _whole(results: RunFile, first: list[str]) -> str:
    notes = ["", *(f"- note: {escape(n)}" for n in results.run.notes)] if results.run.notes else []
    ended = results.run.exit_status in ENDED
    lines = ["# encheck", *([] if ended else notes), "", *first]
    said = (
        *headline(results),
        *similarity_threshold.lines(results),
        *contamination.lines(results.contamination),
    )
    lines += [f"- {escape(line)}" for line in said]
    lines += ["", *reference.markdown(results.references), ""]
    lines += _table(["model", "data", *CRITERIA.values(), "all four"], [_matrix_row(c) for c in matrix(results)])
    head = [
        "verdict",
        "check",
        "level",
        "model",
        "data",
        "figure [95% CI]",
        "floor / aim",
        "best surface scorer",
        "n",
        "clusters",
    ]
    lines += ["", *_table([*head, "reason"], [_row(row) for row in ran(judged(results))])]
    lines += ["", *(f"- {escape(place)}: skipped: {escape('; '.join(why))}" for place, why in not_run(results).items())]
    lines += [f"- {escape(line)}" for line in (*rivals.lines(results.checks), *validity.lines(results))]
    lines += ["", "Seconds a property, all models together:", ""]
    lines += _table(
        ["property", "distinct texts", "encoding alone", "measuring"],
        [
            [name, str(one.texts), f"{one.encode_seconds:.2f}", f"{one.measure_seconds:.2f}"]
            for name, one in results.run.properties.items()
        ],
    )
    return "\n".join([*lines, *(notes if ended else []), ""])


def _matrix_row(cell: MatrixCell) -> list[str]:
    return [cell.model, cell.data, *cell.words.values(), cell.all]


def _row(row: Result) -> list[str]:
    return [
        WORDS[row.verdict], sentence(row.check), row.level, row.model, row.data,
        f"{row.metric or ''} {figure(row)}".strip(), wants(row, name=True), surface(row),
        str(row.n), str(row.clusters), row.reason,
    ]  # fmt: skip


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [_line(head), _line(["---"] * len(head)), *(_line([escape(cell) for cell in row]) for row in rows)]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"

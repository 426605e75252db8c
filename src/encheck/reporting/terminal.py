"""The table at the end of a run on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from encheck.reporting import contamination, cut_offs, gate, reference, validity
from encheck.reporting.text import table
from encheck.reporting.view import WORDS, figure, headline, judged, matrix, ran, sentence, skipped, surface, wants
from encheck.system.terminal import LINES, visible

COLUMNS = ("verdict", "check", "level", "figure [95% CI]", "floor / aim", "best surface", "n", "clusters")


def lines(results: Mapping[str, Any]) -> Iterator[str]:
    """The summary, line by line; plain text, at most about 120 columns, what nobody sees made visible."""
    yield from (visible(line, keep=LINES) for line in _lines(results))


def _lines(results: Mapping[str, Any]) -> Iterator[str]:
    if "gate" in results:
        yield from gate.lines(results["gate"])
    for cell in matrix(results):
        rows = [r for r in judged(results) if (r["model"], r["data"]) == (cell["model"], cell["data"])]
        yield f"{cell['model']} on {cell['data']}"
        if run := ran(rows):
            yield from table([COLUMNS, *(_cells(row) for row in run)])
        if why := skipped(rows):
            yield f"  skipped: {'; '.join(why)}"
        told = ", ".join(f"{n}: {WORDS[v]}" for n, v in _criteria(cell))
        if told:
            yield f"  all four criteria: {cell['all']} ({told})"
        yield ""
    yield from reference.lines(results.get("references", ()))
    yield from headline(results)
    yield from cut_offs.lines(results)
    yield from (f"  {line}" for line in validity.lines(results))
    yield from contamination.lines(results.get("contamination", ()))
    reasons = sorted(
        {(r["reason"], WORDS[r["verdict"]]) for r in ran(judged(results)) if r["reason"] and r["verdict"] != "fail"}
    )
    for reason, verdict in reasons:
        yield f"  {verdict}: {reason}"


def _criteria(cell: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for number, verdict in cell["verdicts"].items():
        if verdict:
            yield cell["properties"][number], verdict


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    counts = (str(row["n"] or "-"), str(row["clusters"] or "-"))
    return (WORDS[row["verdict"]], sentence(row["check"]), row["level"], figure(row), wants(row), surface(row), *counts)

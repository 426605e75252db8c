"""The user's own threshold (`--threshold`) in a report: recall and false accepts, for each model and data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from encheck.reporting.view import figure
from encheck.run_file import Result, RunFile

RECALL, FALSE_ACCEPTS = "recall", "false_positive_rate"
WHICH = "encheck threshold says which threshold keeps a budget of false accepts, and what it costs"


def lines(results: RunFile) -> Iterator[str]:
    """A sentence for each model and data set; nothing if no threshold was given."""
    found: dict[tuple[str, str, float], dict[str, Result]] = {}
    for row in filter(_answers, results.checks):
        found.setdefault((row.model, row.data, float(row.params["threshold"])), {})[str(row.metric)] = row
    for (model, data, cut), rows in found.items():
        parts = [f"{name} {figure(rows[metric])} of {rows[metric].n:,} pairs with label {label}"
                 for metric, name, label in ((RECALL, "recall", 1), (FALSE_ACCEPTS, "false accepts", 0))
                 if metric in rows]  # fmt: skip
        yield f"{model} on {data} at the threshold {cut:g}: {', '.join(parts)}"
    if found:
        yield WHICH


def unanswered(threshold: float | None, rows: Iterable[Result]) -> list[str]:
    """What to note where a threshold was given, and no check had labelled pairs to hold it against."""
    if threshold is None or any(map(_answers, rows)):
        return []
    return [f"--threshold={threshold:g} was not used: no check of labelled pairs (property paraphrase) ran"]


def _answers(row: Result) -> bool:
    return row.metric in (RECALL, FALSE_ACCEPTS) and "threshold" in row.params and row.value is not None

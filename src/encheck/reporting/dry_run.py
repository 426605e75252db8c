"""What is said of a dry run: a short table for each model, the whole run's costs, and the command that runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from encheck.reporting.first_look import duration
from encheck.reporting.text import table

Cost = Mapping[str, Any]


def cost_lines(cost: Cost, *, processes: int = 1, command: str = "") -> Iterator[str]:
    """The lines of a dry run, from the estimate as --json has it; `processes` are those that -n asks for."""
    yield from table([_HEADING, *map(_row, cost["models"])])
    for one in cost["models"]:
        yield from _unknown(one)
    yield from _whole(cost, processes)
    yield _basis(cost)
    yield from (f"Left out: {note}." for note in cost["notes"])
    if command:
        yield f"Run it: {command}"


_HEADING = ("model", "texts asked", "distinct", "to compute", "tokens", "encoding", "price")


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    share = one["distinct"] / max(one["asked"], 1)
    return (
        one["model"],
        f"{one['asked']:,}",
        f"{one['distinct']:,} ({share:.0%})",
        f"{one['to_compute']:,}",
        f"{'' if one['tokens_are_counted'] else 'about '}{one['tokens']:,}",
        "unknown" if one["seconds"] is None else duration(one["seconds"]["wall"]),
        _price(one["dollars"]),
    )


def _price(dollars: float | None) -> str:
    return "unknown" if dollars is None else f"${dollars:,.2f}" if dollars else "-"


def _unknown(one: Mapping[str, Any]) -> Iterator[str]:
    """What is not known of a model, and how to know it."""
    if one["seconds"] is None:
        yield f"{one['model']} was not asked, because {one['why_unknown']}: its speed is unknown."
    if one["dollars"] is None:
        yield f"The price of {one['model']} is unknown: set `price` in models.yaml, in dollars for a million tokens."


def _whole(cost: Cost, processes: int) -> Iterator[str]:
    total = cost["seconds"]["total"]
    parts = {name: one["wall"] for name, one in cost["seconds"].items() if name != "total"}
    parts["encoding"] = sum(one["seconds"]["wall"] for one in cost["models"] if one["seconds"])
    unknown = (
        ", and the encoding whose speed is unknown" if any(one["seconds"] is None for one in cost["models"]) else ""
    )
    said = ", ".join(f"{name} {duration(seconds)}" for name, seconds in parts.items())
    processor = f"{duration(total['processor'])} of processor time"
    yield f"time: {duration(total['wall'])}{unknown} ({said}); {processor}"
    if cost["memory_bytes"] is not None:
        each = f"; with -n {processes} up to {processes} times as much" if processes > 1 else ""
        yield f"memory: {size(cost['memory_bytes'])} at the peak{each}"
    yield f"disk: the store grows by {size(cost['store_bytes'])}, the report takes {size(cost['report_bytes'])}"


def _basis(cost: Cost) -> str:
    """What the estimate rests on."""
    samples = max((one["sample"] for one in cost["models"]), default=0)
    encoded = f"{samples} encoded texts" if samples else "no encoded text"
    if cost["clusters"] == cost["of_clusters"]:
        return f"Estimated from all {cost['of_clusters']:,} clusters and {encoded}. Nothing was kept."
    return f"Estimated from {cost['clusters']:,} of {cost['of_clusters']:,} clusters and {encoded}. Nothing was kept."


def size(count: float) -> str:
    """Bytes for people.

    >>> size(900), size(2_500_000), size(3_210_000_000)
    ('1 kB', '2.5 MB', '3.21 GB')
    """
    if count < 1e6:
        return f"{max(1, round(count / 1e3))} kB" if count else "0 kB"
    return f"{count / 1e6:.3g} MB" if count < 1e9 else f"{count / 1e9:.3g} GB"

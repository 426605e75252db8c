"""The gate on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from encheck.reporting import lost
from encheck.reporting.gate.overview import change_of
from encheck.reporting.gate.rows import CHANGE, HEAD, cells, folded, state_of, weighed_rows
from encheck.reporting.gate.steps import UNKNOWN, Commands, commands, steps
from encheck.reporting.gate.story import NEW, Loss, story
from encheck.reporting.gate.words import explained, part, title, undecided
from encheck.reporting.text import table

SHORT = ("gate", "gate row", CHANGE, "lost", "won")
TOLD = 3  # losses with examples


def told(results: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    """The gate of results.json."""
    (candidate, *_) = [model["label"] for model in results["models"]]
    yield from lines(results["gate"], candidate=candidate, to_type=commands(results["run"]), verbose=verbose)


def lines(
    gate: Mapping[str, Any], *, candidate: str = NEW, to_type: Commands = UNKNOWN, verbose: bool = False
) -> Iterator[str]:
    """The gate on the terminal: what got worse, what to do, then the rows; `verbose` shows all their figures."""
    for against in gate["against"]:
        yield f"gate against {against['baseline']}{part(against)}: {title(against)}"
        yield from _told(against, candidate)
        yield "  what to do:"
        for number, step in enumerate(steps(against, candidate=candidate, to_type=to_type), start=1):
            yield f"    {number}. {step.says}"
            yield from (f"       - {way}" for way in step.ways)
            yield from [f"       {step.command}"] * bool(step.command)
        yield from _rows(against, verbose=verbose)
        yield from (f"  - {text}" for text in explained(against, commands=False, remedies=False))
        yield from (f"  - {text}: see the page" for text in folded(against))
    yield from undecided(gate)
    yield ""


def _told(against: Mapping[str, Any], candidate: str) -> Iterator[str]:
    """The answer, then what got worse, the first few with their examples."""
    told = story(against, candidate=candidate)
    yield f"  {told.answer}. {'' if told.losses else told.lead}".rstrip()
    for i, loss in enumerate(told.losses):
        yield f"  {loss.title}"
        yield from (f"  {text}" for text in _evidence(loss) if i < TOLD)
    yield from [f"  {told.legend}"] * bool(told.legend)


def _evidence(loss: Loss) -> Iterator[str]:
    """What a loss means to users of the model, and what was lost."""
    yield from [f"  {loss.means}"] * bool(loss.means)
    yield from lost.example_lines(loss.row)
    yield from lost.lines(loss.row)


def _rows(against: Mapping[str, Any], *, verbose: bool) -> Iterator[str]:
    """The rows that a verdict rests on."""
    shown = weighed_rows(against)
    if shown and verbose:
        yield from table([HEAD, *(cells(row) for row in shown)])
    elif shown:
        yield from table([SHORT, *(_short(row) for row in shown)])


def _short(row: Mapping[str, Any]) -> tuple[str, ...]:
    *_, lost_, won, _ = cells(row)
    return (state_of(row), row["row"], change_of(row), lost_, won)

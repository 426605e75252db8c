"""The gate on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from encheck.gating.gate import Gate, GateAgainst
from encheck.gating.types import GateRow
from encheck.reporting import lost
from encheck.reporting.gate.overview import change_of
from encheck.reporting.gate.rows import CHANGE, HEAD, cells, folded, state_of, weighed_rows
from encheck.reporting.gate.steps import UNKNOWN, Commands, commands, steps
from encheck.reporting.gate.story import NEW, Loss, listed, story
from encheck.reporting.gate.words import explained, made_for, part, title, undecided, what_has_to_change
from encheck.reporting.text import table
from encheck.run_file import RunFile

SHORT = ("gate", "gate row", CHANGE, "lost", "won")
TOLD = 3  # losses with examples
WORST_FIRST = ("block", "inconclusive", "pass")
SHORTEST = 20  # lines of a gate that is not told in full


def told(results: RunFile, *, verbose: bool) -> Iterator[str]:
    """The gate of results.json; nothing of a run without one."""
    if gate := results.gate:
        candidate = results.models[0].label
        yield from lines(gate, candidate=candidate, to_type=commands(results.run), verbose=verbose)


def lines(gate: Gate, *, candidate: str = NEW, to_type: Commands = UNKNOWN, verbose: bool = False) -> Iterator[str]:
    """The gate on the terminal: the answer, why, what to do, what else has to change, and what else moved.

    `verbose` adds all rows with their figures.
    """
    for against in gate.against:
        if not verbose:
            yield from _shortened(list(_short_lines(against, candidate, to_type)))
            continue
        yield from _head(against)
        yield from _told(against, candidate)
        yield from _changes(against)
        yield "  what to do:"
        for number, step in enumerate(steps(against, candidate=candidate, to_type=to_type), start=1):
            yield f"    {number}. {step.says}"
            yield from (f"       - {way}" for way in step.ways)
            yield from [f"       {step.command}"] * bool(step.command)
        yield from _rows(against)
        yield from (f"  - {text}" for text in explained(against, commands=False, remedies=False))
        yield from (f"  - {text}: see the page" for text in folded(against))
    yield from undecided(gate)
    yield ""


def _head(against: GateAgainst) -> Iterator[str]:
    """What was decided and for what, and the languages of the texts where few are English."""
    yield f"gate against {against.baseline}{part(against)}{made_for(against)}: {title(against)}"
    if against.languages:
        yield f"  {against.languages}"


def _short_lines(against: GateAgainst, candidate: str, to_type: Commands) -> Iterator[str]:
    yield from _head(against)
    told = story(against, candidate=candidate)
    yield f"  {told.answer}. {'' if told.losses else told.lead}".rstrip()
    for i, loss in enumerate(told.losses[:TOLD]):
        yield f"  {loss.title}"
        yield from (f"  {text}" for text in _first_example(loss) if i == 0)
    if more := len(told.losses) - TOLD:
        yield from [f"  and {more} more: {listed([loss.name for loss in told.losses[TOLD:]])}"] * (more > 0)
    yield from _changes(against)
    yield "  what to do:"
    for number, step in enumerate(steps(against, candidate=candidate, to_type=to_type), start=1):
        yield f"    {number}. {step.says}"
        yield from (f"       - {way}" for way in step.ways)
        yield from [f"       {step.command}"] * bool(step.command)
    shown = set(against.reasons) if against.outcome == "pass" else set()
    said = explained(against, commands=False, remedies=False)
    yield from (f"  - {text}" for text in said if not _is_shown(text, told.losses, shown))
    decides = [row for row in weighed_rows(against) if row.evidence or row.outcome == "block"]
    if decides:
        decides.sort(key=lambda row: WORST_FIRST.index(row.outcome))
        yield from table([SHORT, *(_short(row) for row in decides)])


def _changes(against: GateAgainst) -> Iterator[str]:
    if changes := what_has_to_change(against):
        yield "  what has to change:"
        yield from (f"    - {change}" for change in changes)


def _is_shown(text: str, losses: Sequence[Loss], reasons: Collection[str]) -> bool:
    """Whether the answer, or a loss, has said this already."""
    return text in reasons or any(text.startswith(f"{loss.place or 'contract broken'}: ") for loss in losses)


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """The first lines, and how many more there are."""
    kept = lines if len(lines) <= SHORTEST else lines[: SHORTEST - 1]
    yield from kept
    if left := len(lines) - len(kept):
        yield f"  ({left} more lines: -v, or the page)"


def _told(against: GateAgainst, candidate: str) -> Iterator[str]:
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
    yield from lost.lines(loss.row) if loss.row else ()


def _first_example(loss: Loss) -> list[str]:
    """What a loss means, and one item or query with all its texts."""
    evidence = list(_evidence(loss))
    starts = [i for i, text in enumerate(evidence) if text.startswith(("lost in ", "changed in "))]
    return evidence[: starts[1]] if len(starts) > 1 else evidence


def _rows(against: GateAgainst) -> Iterator[str]:
    """The rows that a verdict rests on."""
    if shown := weighed_rows(against):
        yield from table([HEAD, *(cells(row) for row in shown)])


def _short(row: GateRow) -> tuple[str, ...]:
    *_, lost_, won, _ = cells(row)
    return (state_of(row), row.name, change_of(row), lost_, won)

"""The table at the end of a run on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from textwrap import wrap
from typing import Any

from encheck.gating import contamination
from encheck.gating.reference import SHIPPED
from encheck.reporting import reference, rivals, similarity_threshold, validity
from encheck.reporting.decided import gate_command
from encheck.reporting.failures import rounded
from encheck.reporting.gate import terminal as gate
from encheck.reporting.lost import in_a_line
from encheck.reporting.peers import peers_on
from encheck.reporting.profile import Line, headlines, profile, weakest_first
from encheck.reporting.text import joined, shortened, table
from encheck.reporting.view import (
    WORDS,
    Items,
    MatrixCell,
    figure,
    frames,
    headline,
    judged,
    matrix,
    ran,
    sentence,
    skipped,
    surface,
    wants,
    worst_items,
)  # fmt: skip
from encheck.run_file import Result, RunFile, listed
from encheck.scoring.frame import Frame
from encheck.system.terminal import LINES, visible

MOST, WORST = 12, 3
FEW = 12  # figures a model and data set: so many are shown one by one
STALE = "stale_known_failure"
TRIED = 20  # items: of a crossed group one side may be right
CONTEXT, WIDTH = 40, 110  # characters beside an edit, and of a line
SKIPPED = 3  # lines of reasons in the short form
COLUMNS = ("verdict", "check", "level", "figure [95% CI]", "floor / aim", "best surface", "n", "clusters")


def lines(results: RunFile, items: Items | None = None, *, verbose: bool = True) -> Iterator[str]:
    """The summary, line by line; plain text, at most about 120 columns, what nobody sees made visible.

    Unless `verbose`, a run of many checks without a gate is summed up by the profile of each model, with the worst of
    its `items`.
    """
    is_short = not verbose and results.gate is None and len(ran(judged(results))) > FEW * len(matrix(results))
    found = _short(results, items or {}) if is_short else _lines(results, verbose=verbose)
    yield from (visible(line, keep=LINES) for line in found)


def _short(results: RunFile, items: Items) -> Iterator[str]:
    rows = judged(results)
    for cell in matrix(results):
        here = [r for r in rows if (r.model, r.data) == (cell.model, cell.data)]
        found = weakest_first(profile(results, model=cell.model, data=cell.data))
        yield f"{cell.model} on {cell.data}"
        yield from profiled(found)
        if why := skipped(here):
            yield from _skipped(why, most=SKIPPED)
        yield from _all_four(cell)
        yield from _worst(found, frames(results, items))
        yield ""
    yield from (same for one in results.references if (same := reference.sameness(one)))
    yield from _ended(results)
    yield from sorted({f"  {WORDS[STALE]}: {row.reason}" for row in rows if row.verdict == STALE})
    yield f"  all {len(ran(rows))} figures: -v, or the page"
    yield from _next(results)


def _ended(results: RunFile) -> Iterator[str]:
    """What both forms of the summary say of the whole run."""
    yield from headline(results)
    yield from similarity_threshold.lines(results)
    for line in (*rivals.lines(results.checks), *validity.lines(results)):
        yield from wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ")
    yield from contamination.lines(results.contamination)


def _skipped(why: Sequence[str], *, most: int = 0) -> Iterator[str]:
    """Why checks were skipped, whole reasons on wrapped lines; with `most`, so many lines and how many reasons remain.

    >>> list(_skipped(["2 properties need probes", "sts needs scores"]))
    ['  skipped: 2 properties need probes; sts needs scores']
    """
    for shown in range(len(why), 0, -1):
        left = f"; and {len(why) - shown} more: -v" if shown < len(why) else ""
        text = f"skipped: {'; '.join(why[:shown])}{left}"
        found = wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        if not most or len(found) <= most or shown == 1:
            yield from found
            return


def _all_four(cell: MatrixCell) -> Iterator[str]:
    if told := ", ".join(f"{n}: {WORDS[v]}" for n, v in _criteria(cell)):
        yield f"  all four criteria: {cell.all} ({told})"


def _next(results: RunFile) -> Iterator[str]:
    """What to type next, where one model was run and is none of those that it would be weighed against."""
    models = listed(results.run.settings, "models")
    if len(models) == 1 and models[0] not in SHIPPED and (command := gate_command(results)):
        yield f"Next: {command}"


def profiled(found: Sequence[Line]) -> Iterator[str]:
    """The properties as a table, the weakest first, each paired with the reference where there is one."""
    others = sorted({line.against.name for line in found if line.against})
    heads = ("property", "figure [95% CI]", "chance", "", "best surface", *others)
    if found:
        yield from table([heads, *(_told(line, is_paired=bool(others)) for line in found[:MOST])])
    if left := len(found[MOST:]):
        yield f"  and {left} more: -v"


def _told(line: Line, *, is_paired: bool) -> tuple[str, ...]:
    value, low, high = rounded(line.value, line.low, line.high)
    chance = "-" if line.chance is None else f"{line.chance:.2f}"
    surface = "-" if line.surface is None else f"{line.surface_of} {line.surface + 0.0:.2f}"
    against = f"{100 * line.against.change:+.1f} points, {line.against.said}" if line.against else "-"
    return (line.name, f"{value} [{low}, {high}]", chance, line.standing or "-", surface, *([against] * is_paired))


def _worst(found: Sequence[Line], there: Mapping[str, Frame]) -> Iterator[str]:
    """The worst item of each of the weakest properties: what the model takes for nearer, and what is."""
    examples = ((line.name, _mistake(there.get(line.case))) for line in found)
    for name, item in islice(((name, item) for name, item in examples if item), WORST):
        yield f"  worst in {name}: the first text scores higher, but the second should"
        yield from (_text(item, side) for side in ("far", "near"))


def _mistake(frame: Frame | None) -> Mapping[str, Any] | None:
    """The worst item of a case, where its far text is the nearer one."""
    found = worst_items(frame, TRIED) if frame and frame.far is not None else ()
    return next((item for item in found if item["far_score"] > item["near_score"]), None)


def _text(item: Mapping[str, Any], side: str) -> str:
    text = joined(shortened(item[f"{side}_pieces"], context=CONTEXT))
    return f"    {item[f'{side}_score']:.2f} {in_a_line(text, WIDTH)}"


def _lines(results: RunFile, *, verbose: bool) -> Iterator[str]:
    yield from gate.told(results, verbose=verbose)
    for cell in matrix(results):
        rows = [r for r in judged(results) if (r.model, r.data) == (cell.model, cell.data)]
        yield f"{cell.model} on {cell.data}"
        if run := ran(rows):
            yield from table([COLUMNS, *(_cells(row) for row in run)])
        if why := skipped(rows):
            yield from _skipped(why)
        yield from _all_four(cell)
        yield from _peers(results, cell)
        yield ""
    yield from reference.lines(results.references)
    yield from _ended(results)
    yield from _reasons([row for row in ran(judged(results)) if row.reason and row.verdict != "fail"])


def _peers(results: RunFile, cell: MatrixCell) -> Iterator[str]:
    """The profile with the figures of known models, on the probes that those were measured on."""
    known = peers_on(results, cell.data)
    rows = headlines(results, model=cell.model, data=cell.data)
    beside = [(row, known.beside(row)) for row in rows.values() if known and known.beside(row)]
    if known and beside:
        yield f"  beside models that are known, on all of probes {known.version}:"
        head = ("property", cell.model, *known.models)
        yield from table([head, *((r.property, *map("{:.2f}".format, (r.value, *s.values()))) for r, s in beside)])


def _reasons(rows: Sequence[Result]) -> Iterator[str]:
    """Each reason of a verdict once, with the properties that have it."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        found.setdefault((row.reason, WORDS[row.verdict]), set()).add(row.property)
    for (reason, verdict), properties in sorted(found.items()):
        yield f"  {verdict} ({', '.join(sorted(properties))}): {reason}"


def _criteria(cell: MatrixCell) -> Iterator[tuple[str, str]]:
    for number, verdict in cell.verdicts.items():
        if verdict:
            yield cell.properties[number], verdict


def _cells(row: Result) -> tuple[str, ...]:
    counts = (str(row.n or "-"), str(row.clusters or "-"))
    return (WORDS[row.verdict], sentence(row.check), row.level, figure(row), wants(row), surface(row), *counts)

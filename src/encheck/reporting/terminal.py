"""What a run says on the terminal: the gate, the table at its end, a first look, and what a run has left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from textwrap import wrap
from typing import Any

from encheck.claims import CONTRACT
from encheck.gating import contamination
from encheck.gating.reference import SHIPPED
from encheck.gating.types import Gate, GateAgainst, GateRow
from encheck.reporting import reference, view
from encheck.reporting.decisions import NO_COMMANDS, GateCommands, gate_command, gate_commands, next_steps
from encheck.reporting.failures import rounded
from encheck.reporting.gate import record
from encheck.reporting.gate.record import in_a_line
from encheck.reporting.gate.rows import CHANGE, HEAD, change_of, folded_rows, row_cells, state_of, weighed_rows
from encheck.reporting.gate.words import (
    NEW,
    GateLoss,
    explained,
    gate_story,
    listed_names,
    made_for,
    part,
    title,
    undecided,
    what_has_to_change,
)
from encheck.reporting.peers import peers_on
from encheck.reporting.profile import ProfileLine, headlines, profile, weakest_first
from encheck.reporting.text import joined, shortened, table
from encheck.reporting.view import (
    WORDS,
    Items,
    MatrixCell,
    criteria_matrix,
    figure,
    floor_and_aim,
    frames_of,
    judged_rows,
    rows_that_ran,
    run_headlines,
    sentence,
    skip_reasons,
    surface,
    worst_items,
)
from encheck.run_file import ModelRest, Result, RunFile, listed
from encheck.scoring.frame import ItemFrame
from encheck.system.terminal import LINES, visible

SHORT_HEAD = ("gate", "gate row", CHANGE, "lost", "won")
LOSSES_TOLD = 3  # losses with examples
WORST_FIRST = ("block", "inconclusive", "pass")
SHORTEST = 20  # lines of a gate that is not told in full


def run_gate_lines(results: RunFile, *, verbose: bool) -> Iterator[str]:
    """The gate of results.json; nothing of a run without one."""
    if gate := results.gate:
        candidate = results.models[0].label
        yield from gate_lines(gate, candidate=candidate, to_type=gate_commands(results.run), verbose=verbose)


def gate_lines(
    gate: Gate, *, candidate: str = NEW, to_type: GateCommands = NO_COMMANDS, verbose: bool = False
) -> Iterator[str]:
    """The gate on the terminal: the answer, why, what to do, what else has to change, and what else moved.

    `verbose` adds all rows with their figures.
    """
    for against in gate.against:
        if not verbose:
            # The first lines, and how many more there are.
            lines = list(_short_gate_lines(against, candidate, to_type))
            kept = lines if len(lines) <= SHORTEST else lines[: SHORTEST - 1]
            yield from kept
            if left := len(lines) - len(kept):
                yield f"  ({left} more lines: -v, or the page)"
            continue
        yield from _gate_head(against)
        yield from _answer_lines(against, candidate)
        yield from _changes(against)
        yield "  what to do:"
        for number, step in enumerate(next_steps(against, candidate=candidate, to_type=to_type), start=1):
            yield f"    {number}. {step.says}"
            yield from (f"       - {way}" for way in step.ways)
            yield from [f"       {step.command}"] * bool(step.command)
        if shown := weighed_rows(against):
            yield from table([HEAD, *(row_cells(row) for row in shown)])
        yield from (f"  - {text}" for text in explained(against, commands=False, remedies=False))
        yield from (f"  - {text}: see the page" for text in folded_rows(against))
    yield from undecided(gate)
    yield ""


def _gate_head(against: GateAgainst) -> Iterator[str]:
    """What was decided and for what, and the languages of the texts where few are English."""
    yield f"gate against {against.baseline}{part(against)}{made_for(against)}: {title(against)}"
    if against.languages:
        yield f"  {against.languages}"


def _short_gate_lines(against: GateAgainst, candidate: str, to_type: GateCommands) -> Iterator[str]:
    yield from _gate_head(against)
    told = gate_story(against, candidate=candidate)
    yield f"  {told.answer}. {'' if told.losses else told.lead}".rstrip()
    for i, loss in enumerate(told.losses[:LOSSES_TOLD]):
        yield f"  {loss.title}"
        yield from (f"  {text}" for text in _first_example(loss) if i == 0)
    if more := len(told.losses) - LOSSES_TOLD:
        yield from [f"  and {more} more: {listed_names([loss.name for loss in told.losses[LOSSES_TOLD:]])}"] * (
            more > 0
        )
    yield from _changes(against)
    yield "  what to do:"
    for number, step in enumerate(next_steps(against, candidate=candidate, to_type=to_type), start=1):
        yield f"    {number}. {step.says}"
        yield from (f"       - {way}" for way in step.ways)
        yield from [f"       {step.command}"] * bool(step.command)
    shown = set(against.reasons) if against.outcome == "pass" else set()
    said = explained(against, commands=False, remedies=False)
    yield from (
        f"  - {text}"
        for text in said
        if not (text in shown or any(text.startswith(f"{loss.place or 'contract broken'}: ") for loss in told.losses))
    )
    decides = [row for row in weighed_rows(against) if row.evidence or row.outcome == "block"]
    if decides:
        decides.sort(key=lambda row: WORST_FIRST.index(row.outcome))
        yield from table([SHORT_HEAD, *(_short_row(row) for row in decides)])


def _changes(against: GateAgainst) -> Iterator[str]:
    if changes := what_has_to_change(against):
        yield "  what has to change:"
        yield from (f"    - {change}" for change in changes)


def _answer_lines(against: GateAgainst, candidate: str) -> Iterator[str]:
    """The answer, then what got worse, the first few with their examples."""
    told = gate_story(against, candidate=candidate)
    yield f"  {told.answer}. {'' if told.losses else told.lead}".rstrip()
    for i, loss in enumerate(told.losses):
        yield f"  {loss.title}"
        yield from (f"  {text}" for text in _evidence(loss) if i < LOSSES_TOLD)
    yield from [f"  {told.legend}"] * bool(told.legend)


def _first_example(loss: GateLoss) -> list[str]:
    """What a loss means, and one item or query with all its texts."""
    evidence = list(_evidence(loss))
    starts = [i for i, text in enumerate(evidence) if text.startswith(("lost in ", "changed in "))]
    return evidence[: starts[1]] if len(starts) > 1 else evidence


def _evidence(loss: GateLoss) -> Iterator[str]:
    """What a loss means to users of the model, and what was lost."""
    yield from [f"  {loss.means}"] * bool(loss.means)
    yield from record.lost_lines(loss.row) if loss.row else ()


def _short_row(row: GateRow) -> tuple[str, ...]:
    *_, lost_, won, _ = row_cells(row)
    return (state_of(row), row.name, change_of(row), lost_, won)


MOST, WORST = 12, 3
FEW = 12  # figures a model and data set: so many are shown one by one
STALE = "stale_known_failure"
TRIED = 20  # items: of a crossed group one side may be right
CONTEXT, WIDTH = 40, 110  # characters beside an edit, and of a line
SKIPPED = 3  # lines of reasons in the short form
COLUMNS = ("verdict", "check", "level", "figure [95% CI]", "floor / aim", "best surface", "n", "clusters")


def run_lines(results: RunFile, items: Items | None = None, *, verbose: bool = True) -> Iterator[str]:
    """The summary, line by line; plain text, at most about 120 columns, what nobody sees made visible.

    Unless `verbose`, a run of many checks without a gate is summed up by the profile of each model, with the worst of
    its `items`.
    """
    is_short = (
        not verbose
        and results.gate is None
        and len(rows_that_ran(judged_rows(results))) > FEW * len(criteria_matrix(results))
    )
    found = _short_summary(results, items or {}) if is_short else _full_summary(results, verbose=verbose)
    yield from (visible(line, keep=LINES) for line in found)


def _short_summary(results: RunFile, items: Items) -> Iterator[str]:
    rows = judged_rows(results)
    for cell in criteria_matrix(results):
        here = [r for r in rows if (r.model, r.data) == (cell.model, cell.data)]
        found = weakest_first(profile(results, model=cell.model, data=cell.data))
        yield f"{cell.model} on {cell.data}"
        yield from profile_lines(found)
        if why := skip_reasons(here):
            yield from _skipped(why, most=SKIPPED)
        yield from _all_four(cell)
        there = frames_of(results, items)
        examples = ((line.name, _mistake(there.get(line.case))) for line in found)
        for name, item in islice(((name, item) for name, item in examples if item), WORST):
            yield f"  worst in {name}: the first text scores higher, but the second should"
            yield from (_item_line(item, side) for side in ("far", "near"))
        yield ""
    yield from (same for one in results.references if (same := reference.sameness(one)))
    yield from _whole_run_lines(results)
    yield from sorted({f"  {WORDS[STALE]}: {row.reason}" for row in rows if row.verdict == STALE})
    yield f"  all {len(rows_that_ran(rows))} figures: -v, or the page"
    models = listed(results.run.settings, "models")
    if len(models) == 1 and models[0] not in SHIPPED and (command := gate_command(results)):
        yield f"Next: {command}"


def _whole_run_lines(results: RunFile) -> Iterator[str]:
    """What both forms of the summary say of the whole run."""
    yield from run_headlines(results)
    yield from view.threshold_lines(results)
    for line in (*view.rival_lines(results.checks), *view.validity_lines(results)):
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


def profile_lines(found: Sequence[ProfileLine]) -> Iterator[str]:
    """The properties as a table, the weakest first, each paired with the reference where there is one."""
    others = sorted({line.against.name for line in found if line.against})
    heads = ("property", "figure [95% CI]", "chance", "", "best surface", *others)
    if found:
        yield from table([heads, *(_profile_row(line, is_paired=bool(others)) for line in found[:MOST])])
    if left := len(found[MOST:]):
        yield f"  and {left} more: -v"


def _profile_row(line: ProfileLine, *, is_paired: bool) -> tuple[str, ...]:
    value, low, high = rounded(line.value, line.low, line.high)
    chance = "-" if line.chance is None else f"{line.chance:.2f}"
    surface = "-" if line.surface is None else f"{line.surface_of} {line.surface + 0.0:.2f}"
    against = f"{100 * line.against.change:+.1f} points, {line.against.said}" if line.against else "-"
    return (line.name, f"{value} [{low}, {high}]", chance, line.standing or "-", surface, *([against] * is_paired))


def _mistake(frame: ItemFrame | None) -> Mapping[str, Any] | None:
    """The worst item of a case, where its far text is the nearer one."""
    found = worst_items(frame, TRIED) if frame and frame.far is not None else ()
    return next((item for item in found if item["far_score"] > item["near_score"]), None)


def _item_line(item: Mapping[str, Any], side: str) -> str:
    text = joined(shortened(item[f"{side}_pieces"], context=CONTEXT))
    return f"    {item[f'{side}_score']:.2f} {in_a_line(text, WIDTH)}"


def _full_summary(results: RunFile, *, verbose: bool) -> Iterator[str]:
    yield from run_gate_lines(results, verbose=verbose)
    for cell in criteria_matrix(results):
        rows = [r for r in judged_rows(results) if (r.model, r.data) == (cell.model, cell.data)]
        yield f"{cell.model} on {cell.data}"
        if run := rows_that_ran(rows):
            yield from table([COLUMNS, *(_result_row(row) for row in run)])
        if why := skip_reasons(rows):
            yield from _skipped(why)
        yield from _all_four(cell)
        yield from _peers(results, cell)
        yield ""
    yield from reference.reference_lines(results.references)
    yield from _whole_run_lines(results)
    yield from _reasons([row for row in rows_that_ran(judged_rows(results)) if row.reason and row.verdict != "fail"])


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


def _result_row(row: Result) -> tuple[str, ...]:
    counts = (str(row.n or "-"), str(row.clusters or "-"))
    return (WORDS[row.verdict], sentence(row.check), row.level, figure(row), floor_and_aim(row), surface(row), *counts)


def first_profile(results: RunFile) -> Iterator[str]:
    """The profile of each model and data set, with how little it comes from, and the contracts that are broken."""
    look = results.first_look
    assert look is not None
    for cell in criteria_matrix(results):
        name = f"{cell.model} on {cell.data}"
        yield visible(f"{name}, first look, from {look.texts:,} of about {look.of_texts:,} texts; it sharpens")
        found = weakest_first(profile(results, model=cell.model, data=cell.data))
        yield from (visible(line, keep=LINES) for line in profile_lines(found))
        for row in results.checks:
            if row.property == CONTRACT and (row.model, row.data, row.verdict) == (cell.model, cell.data, "fail"):
                yield visible(f"contract broken: {sentence(row.check)}: {row.reason}")


def rest_lines(results: RunFile) -> Iterator[str]:
    """Why the run stopped, what is left for each model, and last the command for it; nothing of another run."""
    rest = results.run.rest
    if not rest:
        return
    yield f"Stopped after the first look: {rest.why}."
    yield from map(_rest_line, rest.models)
    if rest.command:
        yield rest.command


def _rest_line(one: ModelRest) -> str:
    about = "" if one.is_counted else " of 4 characters"
    seconds = "time unknown" if one.seconds is None else duration(one.seconds)
    dollars = one.dollars
    price = "; price unknown: models.yaml gives none" if dollars is None else f"; ${dollars:,.2f}" if dollars else ""
    size = f"about {one.texts:,} texts, {one.tokens:,} tokens{about}"
    return f"The rest for {one.model}: {size}; {seconds}{price}"


def duration(seconds: float) -> str:
    """Seconds, or minutes, or hours.

    >>> duration(42.3), duration(400), duration(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"

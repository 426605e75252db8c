"""Show a run on the terminal: the gate, the final table, or a first look and what remains after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from textwrap import wrap

from encheck.claims import CONTRACT
from encheck.errors import NOT_IN_FIRST_LOOK
from encheck.gating import contamination
from encheck.gating.types import Gate, GateAgainst
from encheck.reporting import reference, view
from encheck.reporting.decisions import (
    NEW_PLACEHOLDER,
    NO_COMMANDS,
    GateCommands,
    gate_command,
    gate_commands,
    next_steps,
    run_verdict,
)
from encheck.reporting.gate import record
from encheck.reporting.gate.record import on_one_line
from encheck.reporting.gate.rows import HEAD, gate_overview, reported_only_counts, row_cells, weighed_rows
from encheck.reporting.gate.words import (
    NEW,
    GateLoss,
    gate_story,
    gate_title,
    inconclusive_lines,
    list_names,
    partial_suffix,
    purpose_phrase,
    reason_lines,
    what_has_to_change,
)
from encheck.reporting.profile import ProfileLine, headline_rows, profile, weakest_first
from encheck.reporting.reference import matching_peers
from encheck.reporting.text import SENTENCES, data_name, join_pieces, percent, plain_name, shorten_pieces, table
from encheck.reporting.view import (
    WORDS,
    Items,
    MatrixCell,
    claim_sentence,
    criteria_matrix,
    failed_models,
    figure_text,
    floor_and_aim,
    format_figure,
    item_frames,
    judged_rows,
    rows_that_ran,
    run_headlines,
    skip_reasons,
    surface_text,
    worst_items,
)
from encheck.run_file import Result, RunFile
from encheck.system.terminal import LINES, make_visible

LOSSES_TOLD = 3  # losses with examples
SHORTEST = 20  # lines of a gate in short form


def run_gate_lines(results: RunFile, *, verbose: bool) -> Iterator[str]:
    """Yield the lines of the gate in results.json. For a run without a gate, yield nothing."""
    if gate := results.gate:
        candidate = results.models[0].label
        yield from gate_lines(gate, candidate=candidate, to_type=gate_commands(results.run), verbose=verbose)


def gate_lines(
    gate: Gate, *, candidate: str = NEW, to_type: GateCommands = NO_COMMANDS, verbose: bool = False
) -> Iterator[str]:
    """Yield the lines of a gate: the answer, the reasons, what to do, what has to change, and other changes.

    `verbose` adds all rows with their figures.
    """
    for against in gate.against:
        if not verbose:
            yield from _short_gate_lines(against, candidate, to_type, most=SHORTEST // len(gate.against))
            continue
        yield from _gate_head(against)
        told = gate_story(against, candidate=candidate)
        yield f"  {told.answer}. {'' if told.losses else told.lead}".rstrip()
        for number, loss in enumerate(told.losses):
            yield f"  {loss.title}"
            yield from (f"  {text}" for text in _loss_evidence(loss) if number < LOSSES_TOLD)
        yield from [f"  {told.legend}"] * bool(told.legend)
        yield from _change_lines(against)
        if shown := weighed_rows(against):
            yield from table([HEAD, *(row_cells(row, against.purpose) for row in shown)])
        yield from (f"  - {text}" for text in reason_lines(against, commands=False, remedies=False))
        yield from (f"  - {text}: see the page" for text in reported_only_counts(against))
        yield from _step_lines(against, candidate, to_type)
    yield from inconclusive_lines(gate)


def _gate_head(against: GateAgainst) -> Iterator[str]:
    """Yield the verdict and its purpose. If few of the texts are English, also yield their languages."""
    yield f"gate against {against.baseline}{partial_suffix(against)}{purpose_phrase(against)}: {gate_title(against)}"
    if against.languages:
        yield f"  {against.languages}"


def _short_gate_lines(against: GateAgainst, candidate: str, to_type: GateCommands, *, most: int) -> Iterator[str]:
    """Yield the answer and the losses first, what to do last, and between them as much as fits into `most` lines."""
    head, steps = [*_gate_head(against)], [*_step_lines(against, candidate, to_type)]
    told = gate_story(against, candidate=candidate)
    head.append(f"  {told.answer}. {'' if told.losses else told.lead}".rstrip())
    body: list[str] = []
    for i, loss in enumerate(told.losses[:LOSSES_TOLD]):
        body.append(f"  {loss.title}")
        body += [f"  {text}" for text in _first_example(loss) if i == 0]
    if more := told.losses[LOSSES_TOLD:]:
        body.append(f"  and {len(more)} more: {list_names([loss.name for loss in more])}")
    body += _change_lines(against)
    counts = Counter(line.verdict for line in gate_overview(against))
    body += [f"  rows: {', '.join(f'{verdict} ({count})' for verdict, count in counts.items())}"] * bool(counts)
    shown = set(against.reasons) if against.outcome == "pass" else set()
    rows = tuple(f"{row.name}: " for row in against.rows)
    said = reason_lines(against, commands=False, remedies=False)
    body += [
        f"  - {text}" for text in said
        if not (text in shown or text.startswith(rows)
                or any(text.startswith(f"{loss.place or 'contract broken'}: ") for loss in told.losses))
    ]  # fmt: skip
    room = most - len(head) - len(steps)
    kept = body if len(body) <= room else body[: max(room - 1, 1)]
    yield from (*head, *kept)
    if left := len(body) - len(kept):
        yield f"  ({left} more lines: see -v or the page)"
    yield from steps


def _step_lines(against: GateAgainst, candidate: str, to_type: GateCommands) -> Iterator[str]:
    yield "  what to do:"
    for number, step in enumerate(next_steps(against, candidate=candidate, to_type=to_type), start=1):
        yield f"    {number}. {step.says}"
        yield from (f"       - {way}" for way in step.ways)
        yield from [f"       {step.command}"] * bool(step.command)


def _change_lines(against: GateAgainst) -> Iterator[str]:
    if changes := what_has_to_change(against):
        yield "  what has to change:"
        yield from (f"    - {change}" for change in changes)


def _first_example(loss: GateLoss) -> list[str]:
    """Return what a loss means, and one lost item or query with all its texts."""
    evidence = list(_loss_evidence(loss))
    starts = [i for i, text in enumerate(evidence) if text.startswith(("lost: ", "changed: "))]
    return evidence[: starts[1]] if len(starts) > 1 else evidence


def _loss_evidence(loss: GateLoss) -> Iterator[str]:
    """Yield what a loss means for users of the model, and the lost items."""
    yield from (f"  {text}" for text in (loss.figures, loss.means) if text)
    yield from record.loss_lines(loss.row) if loss.row else ()


FEW = 12  # figures per model and data set that are still shown one by one
STALE = "stale_known_failure"
TRIED = 20  # worst items searched for a mistake, since one side of a crossed group may be right
CONTEXT, WIDTH = 40, 110  # characters around an edit, and in a line
SHORT_RUN = 15  # lines of `encheck run`
LEAST, MOST = 1, 12  # properties in a profile
WEAKEST = 2  # properties named in a first look
COLUMNS = ("verdict", "check", "level", "figure [95% CI]", "floor / aim", "best surface", "n", "clusters")


def run_lines(results: RunFile, items: Items | None = None, *, verbose: bool = True) -> Iterator[str]:
    """Yield the summary of a run: plain text, up to about 120 columns wide, with invisible characters made visible.

    For many checks without a gate, and unless `verbose`, the summary is each model's profile, with the worst of its
    `items`.
    """
    is_short = (
        not verbose
        and results.gate is None
        and len(rows_that_ran(judged_rows(results))) > FEW * len(criteria_matrix(results))
    )
    found = _short_summary(results, items or {}) if is_short else _full_summary(results, verbose=verbose)
    yield from (make_visible(line, keep=LINES) for line in found)
    yield from (make_visible(line, keep=LINES) for line in run_headlines(results) if is_short)


def short_run_lines(results: RunFile, items: Items, *, others: int = 0) -> Iterator[str]:
    """Yield the summary of `encheck run`: at most 15 lines for one model, with the `others` that are printed too."""
    yield from (make_visible(line, keep=LINES) for line in _short_summary(results, items, lines=SHORT_RUN - others))


def _short_summary(results: RunFile, items: Items, *, lines: int | None = None) -> Iterator[str]:
    """Yield a table and the worst mistake for each model and data set, with as many properties as fit into `lines`."""
    rows, there, failed = judged_rows(results), item_frames(results, items), failed_models(results)
    cells = [cell for cell in criteria_matrix(results) if cell.model not in failed]
    notes = [same for one in results.references if (same := reference.sameness_note(one))]
    notes += view.threshold_lines(results)
    profiles: list[list[ProfileLine]] = []
    below: list[list[str]] = []  # what follows each table
    for cell in cells:
        here = [r for r in rows if (r.model, r.data) == (cell.model, cell.data)]
        profiles.append(weakest_first(profile(results, model=cell.model, data=cell.data)))
        mistakes = (
            (line.title, item)
            for line in profiles[-1] if (frame := there.get(line.case)) and frame.far is not None
            for item in worst_items(frame, TRIED) if item.far_score > item.near_score
        )  # fmt: skip
        below.append([])
        for name, item in islice(mistakes, int(len(cells) == 1)):
            for score, found_pieces, what in ((item.far_score, item.far_pieces, f"in {name}, the nearer text"),
                                              (item.near_score, item.near_pieces, "should be nearer")):  # fmt: skip
                text = join_pieces(shorten_pieces(found_pieces, context=CONTEXT))
                below[-1].append("  " + on_one_line(f"{score:.2f} {what}: {text}", WIDTH))
        if why := skip_reasons(row for row in here if row.reason != NOT_IN_FIRST_LOOK):
            below[-1].append(on_one_line(f"  skipped: {'; '.join(why)}", WIDTH))
    heads = 3 * len(cells)  # a title, the table's head, and how many rows are left out
    room = MOST if lines is None else (lines - heads - len(notes) - sum(map(len, below))) // max(len(cells), 1)
    most = max(room, LEAST)
    for cell, found, after in zip(cells, profiles, below, strict=True):
        yield f"{cell.model} on {data_name(cell.data)}, weakest first"
        run = rows_that_ran(r for r in rows if (r.model, r.data) == (cell.model, cell.data))
        shown = most + (len(found or run) == most + 1)  # the last row takes the place of "and 1 more"
        if found:
            yield from profile_lines(found, most=shown)
        elif run:
            yield from table([COLUMNS[:4], *(_result_row(row)[:4] for row in run[:shown])])
            yield from [f"  and {len(run) - shown} more: see -v"] * (len(run) > shown)
        yield from after
    yield from notes


def verdict_lines(results: RunFile) -> Iterator[str]:
    """Yield the last lines of a run: its verdict in a sentence, and the next command."""
    yield make_visible(run_verdict(results), keep=LINES)
    rest, command = results.run.rest, gate_command(results)
    if rest and rest.command:
        yield make_visible(f"Next: {rest.command}", keep=LINES)
    elif command:
        new = " (NEW_MODEL is the model that you want to ship)" * (NEW_PLACEHOLDER in command)
        yield make_visible(f"Next: {command}{new}", keep=LINES)


def profile_lines(found: Sequence[ProfileLine], *, most: int = MOST) -> Iterator[str]:
    """Yield a table of the properties, weakest first. If there is a reference, each property is compared with it."""
    others = sorted({line.against.name for line in found if line.against})
    heads = ("property", "figure (95% interval)", "chance", "", "best surface", *others)
    if found:
        rows = [heads]
        for line in found[:most]:
            adjusted = "" if line.adjusted is None else f", adjusted {percent(line.adjusted)}"
            chance = "-" if line.chance is None else format_figure(line.metric, line.chance)
            scorer = "-" if line.surface is None else f"{line.surface_of} {format_figure(line.metric, line.surface)}"
            against = f"{100 * line.against.change:+.1f} points, {line.against.said}" if line.against else "-"
            told = f"{line.figure} ({line.interval}){adjusted}"
            rows.append((line.title, told, chance, line.standing or "-", scorer, *[against] * bool(others)))
        yield from table(rows)
    if left := len(found[most:]):
        yield f"  and {left} more: see -v or the page"


def _full_summary(results: RunFile, *, verbose: bool) -> Iterator[str]:
    yield from run_gate_lines(results, verbose=verbose)
    for cell in criteria_matrix(results):
        rows = [r for r in judged_rows(results) if (r.model, r.data) == (cell.model, cell.data)]
        yield f"{cell.model} on {data_name(cell.data)}"
        if run := rows_that_ran(rows):
            yield from table([COLUMNS, *(_result_row(row) for row in run)])
        if why := skip_reasons(rows):
            skipped = f"skipped: {'; '.join(why)}"
            yield from wrap(skipped, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        if told := ", ".join(f"{cell.properties[n]}: {WORDS[one]}" for n, one in cell.verdicts.items() if one):
            yield f"  all four criteria: {cell.all} ({told})"
        yield from _peer_lines(results, cell)
        yield ""
    yield from reference.reference_lines(results.references)
    yield from run_headlines(results)
    yield from view.threshold_lines(results)
    for line in (*view.rival_lines(results.checks), *view.validity_lines(results)):
        yield from wrap(line, WIDTH, initial_indent="  ", subsequent_indent="    ")
    yield from contamination.contamination_lines(results.contamination)
    reasons: dict[tuple[str, str], set[str]] = {}  # each reason of a verdict once, with its properties
    for row in rows_that_ran(judged_rows(results)):
        if row.reason and row.verdict != "fail":
            reasons.setdefault((row.reason, WORDS[row.verdict]), set()).add(plain_name(row.property))
    for (reason, verdict), properties in sorted(reasons.items()):
        yield f"  {verdict} ({', '.join(sorted(properties))}): {reason}"


def _peer_lines(results: RunFile, cell: MatrixCell) -> Iterator[str]:
    """Yield the profile next to known models' figures on the same sentences."""
    known = matching_peers(results, cell.data)
    rows = headline_rows(results, model=cell.model, data=cell.data)
    beside = [(row, known.beside(row)) for row in rows.values() if known and known.beside(row)]
    if known and beside:
        yield f"  compared with known models, on all {SENTENCES} (probes {known.version}):"
        head = ("property", cell.model, *known.models)
        lines = [
            (plain_name(row.property), *(format_figure(row.metric, one) for one in (row.numbers[0], *found.values())))
            for row, found in beside
        ]
        yield from table([head, *lines])


def _result_row(row: Result) -> tuple[str, ...]:
    counts = (str(row.n or "-"), str(row.clusters or "-"))
    return (
        WORDS[row.verdict],
        claim_sentence(row.check),
        row.level,
        figure_text(row),
        floor_and_aim(row),
        surface_text(row),
        *counts,
    )


def first_profile(results: RunFile) -> Iterator[str]:
    """Yield a first look: for each model and data set its weakest properties, then its broken contracts."""
    look = results.first_look
    assert look is not None
    for cell in criteria_matrix(results):
        found = weakest_first(profile(results, model=cell.model, data=cell.data))
        weak = ", ".join(f"{line.title} {line.figure}" for line in found[:WEAKEST])
        start = f"First look at {cell.model} on {cell.data} ({look.clusters:,} of {look.of_clusters:,} clusters)"
        yield make_visible(on_one_line(f"{start}: {weak or 'nothing'}; the run goes on", WIDTH), keep=LINES)
        for row in results.checks:
            if row.property == CONTRACT and (row.model, row.data, row.verdict) == (cell.model, cell.data, "fail"):
                yield make_visible(f"contract broken: {claim_sentence(row.check)}: {row.reason}")


def rest_lines(results: RunFile) -> Iterator[str]:
    """Yield why the run stopped after its first look, and what remains for each model.

    For other runs, yield nothing.
    """
    if not (rest := results.run.rest):
        return
    left = []
    for one in rest.models:
        about = "" if one.is_counted else " of 4 characters"
        seconds = "time unknown" if one.seconds is None else duration(one.seconds)
        price = f"; ${one.dollars:,.2f}" if one.dollars else ""
        price = "; price unknown: models.yaml gives none" if one.dollars is None else price
        size = f"about {one.texts:,} texts, {one.tokens:,} tokens{about}"
        left.append(f"The rest for {one.model}: {size}; {seconds}{price}")
    out = sum(row.reason == NOT_IN_FIRST_LOOK for row in results.checks)
    without = f", which leaves out {out:,} check{'s' if out > 1 else ''}" if out else ""
    yield f"Stopped after the first look ({rest.why}){without}. {'. '.join(left)}".rstrip()


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    >>> duration(42.3), duration(400), duration(9000)
    ('42 s', '7 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"

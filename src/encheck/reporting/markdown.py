"""Write summary.md: the verdicts of the gate and of the checks, as tables that code hosts render."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from encheck.gating import contamination
from encheck.gating.types import Gate, GateRow, PurposeName, UnjudgedSearch
from encheck.reporting import reference, view
from encheck.reporting.decisions import NO_COMMANDS, GateCommands, gate_commands, next_steps
from encheck.reporting.gate import record
from encheck.reporting.gate.rows import (
    CHANGE,
    FAMILY_HEAD,
    HEAD,
    family_cells,
    gate_overview,
    reported_only_counts,
    reported_rows,
    row_cells,
    verdict_explanations,
    weighed_rows,
)
from encheck.reporting.gate.words import (
    NEW,
    gate_story,
    gate_title,
    inconclusive_lines,
    partial_suffix,
    reason_lines,
    what_has_to_change,
)
from encheck.reporting.text import escape_markdown, inline_code, join_pieces, mark_edits
from encheck.reporting.view import (
    CRITERIA,
    WORDS,
    Items,
    claim_sentence,
    criteria_matrix,
    figure_text,
    floor_and_aim,
    judged_rows,
    rows_that_ran,
    run_headlines,
    skip_reasons_by_place,
    surface_text,
)
from encheck.run_file import Result, RunFile
from encheck.scoring.item import ItemFrame

MAX_FLIPS_IN_SUMMARY = 3  # of these


def gate_markdown(
    gate: Gate,
    items: Items,
    *,
    most: int,
    candidate: str = NEW,
    to_type: GateCommands = NO_COMMANDS,
) -> Iterator[str]:
    """Yield the gate's section of summary.md: the answer, what to do, the losses, each row, and folded statistics."""
    places = {name: (frame, i) for frame in items.values() for i, name in enumerate(frame.ids)}
    for line in inconclusive_lines(gate):
        yield from (f"- {line}", "")
    for against in gate.against:
        yield from (
            f"## Gate against {escape_markdown(against.baseline + partial_suffix(against))}: {gate_title(against)}",
            "",
        )
        # The answer, what to do, and the losses with examples.
        told = gate_story(against, candidate=candidate)
        yield from (f"**{escape_markdown(told.answer)}.** {escape_markdown(told.lead)}".rstrip(), "")
        if changes := what_has_to_change(against):
            yield from ("What has to change:", "", *(f"- {escape_markdown(change)}" for change in changes), "")
        for number, step in enumerate(next_steps(against, candidate=candidate, to_type=to_type), start=1):
            yield f"{number}. {escape_markdown(step.says)}{f' {inline_code(step.command)}' if step.command else ''}"
            yield from (f"   - {escape_markdown(way)}" for way in step.ways)
        yield ""
        for loss in told.losses[:most]:
            yield from (
                f"**{escape_markdown(loss.title)}.** {escape_markdown(f'{loss.figures} {loss.means}'.strip())}",
                "",
            )
            if loss.row:
                yield from _loss_bullets(loss.row)
        lines = gate_overview(against)
        yield from _table(["what", CHANGE, "verdict"], [(one.name, one.change, one.verdict) for one in lines[:most]])
        yield ""
        yield from (f"- {escape_markdown(text)}" for text in list(reason_lines(against, remedies=False))[:most])
        yield ""
        statistics = [*_rows_table(weighed_rows(against)[:most], against.purpose), ""]
        statistics += [f"- {text}" for text in verdict_explanations(lines)]
        statistics += ["", *_table(FAMILY_HEAD, [family_cells(family) for family in against.families])]
        yield from _details_block("Statistics of each row", statistics)
        passing = [row for row in against.rows[:most] if row.outcome != "block" and not row.endpoint]
        flips = [line for row in passing for line in _flipped_items(row, places)]
        yield from _details_block("What else was lost and won", flips)
        rows = reported_rows(against)[:most]
        reported = [*_rows_table(rows, against.purpose), ""] if rows else []
        reported += [
            f"- {escape_markdown(name)}: {escape_markdown(why)}" for name, why in against.reported_only.items()
        ]
        for text in reported_only_counts(against):
            yield from _details_block(text, reported)


def _rows_table(rows: Sequence[GateRow], purpose: PurposeName) -> list[str]:
    return _table(HEAD, [row_cells(row, purpose) for row in rows])


def _details_block(summary: str, body: Iterable[str]) -> Iterator[str]:
    """Yield lines that a reader can unfold, or nothing if `body` is empty."""
    if found := list(body):
        yield from (f"<details><summary>{escape_markdown(summary)}</summary>", "", *found, "", "</details>", "")


def _flipped_items(row: GateRow, places: Mapping[str, tuple[ItemFrame, int]]) -> Iterator[str]:
    shown = [("lost", i) for i in row.lost_items[:MAX_FLIPS_IN_SUMMARY]] + [
        ("won", i) for i in row.gained_items[:MAX_FLIPS_IN_SUMMARY]
    ]
    if not shown:
        return
    yield f"{escape_markdown(row.name)}: {row.lost} lost, {row.gained} won"
    yield ""
    for what, name in shown:
        if name in places:
            frame, i = places[name]
            item = frame.row(i)
            near, far = (mark_edits(item.source, side.text or "", side.edits) for side in (item.near, item.far))
            near, far, of = map(escape_markdown, (near, far, item.source))
            yield f"- {what}: near *{near}*, far *{far}* (of *{of}*)"
    yield ""


def _loss_bullets(row: GateRow | UnjudgedSearch) -> Iterator[str]:
    """Yield a list of lost items with their edits marked, and of queries that were lost or have a new first answer."""
    examples = row.lost_examples if isinstance(row, GateRow) else ()
    for example in examples:
        texts = "; ".join(
            f"{record.SIDES[text.side]} ({record.scores_of(text)}): *{escape_markdown(join_pieces(text.pieces))}*"
            for text in example.texts
        )
        yield f"- lost in {escape_markdown(row.name)}: *{escape_markdown(example.source)}*; {texts}"
    if examples:
        yield ""
    changed = row.changed_queries if isinstance(row, UnjudgedSearch) else ()
    for what, queries in (("lost", row.lost_queries), ("changed", changed)):
        for one in queries:
            query, before, now = map(escape_markdown, (one.query, one.before, one.now))
            yield f"- {what} in {escape_markdown(row.name)}: *{query}*; first before: *{before}*; first now: *{now}*"
        if queries:
            yield ""


ENDED = (0, 1, 5, 10)  # exit codes of complete runs; for others, the notes come first and say what is missing
MAX_SUMMARY_BYTES = 1_000_000  # code hosts take a summary of up to 1 MiB


def render_summary(results: RunFile, items: Items | None = None) -> str:
    """Return the content of summary.md, cut to the length that code hosts accept. A gate comes first."""
    first: list[str] = []
    if results.gate:
        candidate, to_type = results.models[0].label, gate_commands(results.run)
        first += gate_markdown(results.gate, items or {}, most=200, candidate=candidate, to_type=to_type)
    notes = ["", *(f"- note: {escape_markdown(n)}" for n in results.run.notes)] if results.run.notes else []
    ended = results.run.exit_status in ENDED
    lines = ["# encheck", *([] if ended else notes), "", *first]
    said = (
        *run_headlines(results),
        *view.threshold_lines(results),
        *contamination.contamination_lines(results.contamination),
    )
    lines += [f"- {escape_markdown(line)}" for line in said]
    lines += ["", *reference.reference_markdown(results.references), ""]
    lines += _table(
        ["model", "data", *CRITERIA.values(), "all four"],
        [[c.model, c.data, *c.words.values(), c.all] for c in criteria_matrix(results)],
    )
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
    lines += ["", *_table([*head, "reason"], [_result_cells(row) for row in rows_that_ran(judged_rows(results))])]
    lines += [
        "",
        *(
            f"- {escape_markdown(place)}: skipped: {escape_markdown('; '.join(why))}"
            for place, why in skip_reasons_by_place(results).items()
        ),
    ]
    lines += [
        f"- {escape_markdown(line)}" for line in (*view.rival_lines(results.checks), *view.validity_lines(results))
    ]
    lines += ["", "Seconds per property, all models together:", ""]
    lines += _table(
        ["property", "distinct texts", "encoding alone", "measuring"],
        [
            [name, str(one.texts), f"{one.encode_seconds:.2f}", f"{one.measure_seconds:.2f}"]
            for name, one in results.run.properties.items()
        ],
    )
    whole = "\n".join([*lines, *(notes if ended else []), ""])
    if len(whole.encode("utf-8")) <= MAX_SUMMARY_BYTES:
        return whole
    cut = whole.encode("utf-8")[:MAX_SUMMARY_BYTES].decode("utf-8", "ignore").rpartition("\n")[0]
    return f"{cut}\n\nThe rest is in report.html.\n"


def _result_cells(row: Result) -> list[str]:
    return [
        WORDS[row.verdict], claim_sentence(row.check), row.level, row.model, row.data,
        f"{row.metric or ''} {figure_text(row)}".strip(), floor_and_aim(row, name=True), surface_text(row),
        str(row.n), str(row.clusters), row.reason,
    ]  # fmt: skip


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_line(head), _line(["---"] * len(head)), *(_line([escape_markdown(cell) for cell in row]) for row in rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

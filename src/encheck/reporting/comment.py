"""Write a gate as a comment for a pull or merge request: Markdown within the length limit of code hosts.

Each section stands alone, so that any section can be left out if the comment is too long. Texts that others wrote are
escaped or set as code, so that they mention nobody and make no link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from encheck.gating.types import Gate
from encheck.reporting.gate import record
from encheck.reporting.gate.rows import CHANGE, gate_overview
from encheck.reporting.gate.words import (
    NEW,
    GateLoss,
    GateStory,
    deciding_judgements,
    gate_headlines,
    gate_story,
    remedies_in_words,
    what_has_to_change,
)
from encheck.reporting.markdown import ENDED
from encheck.reporting.text import cut_line, escape_markdown, inline_code, longest_backticks, one_line
from encheck.run_file import RunEntry, RunFile
from encheck.system.terminal import make_visible

LIMIT = 64_000  # UTF-16 units: GitHub takes 65,536, and posting adds a marker and a last line
MOST = 300  # characters of one text from others
WHERE = "All rows, texts and pictures are in `summary.md` and `report.html` among the job's files."
TO_DO = {
    "pass": "The gate found no loss that matters. After the merge, make the baseline of the new model.",
    "block": "Do not merge as it is. Fix what blocks. If you accept the loss, make the new model the baseline.",
    "inconclusive": "The data neither show nor rule out a loss that matters.",
}
BLOCK = re.compile(r"^(\d*)([-+=.)\[])")  # the start of a list, a checkbox or a heading
FAILS = "The gate passes, but the run does not: a check fails its own threshold. `summary.md` names it."
OPEN = {"pass": "What is known", "block": "What blocks", "inconclusive": "What is open"}
HEAD = ("what", CHANGE, "verdict")


@dataclass(frozen=True)
class CommentPart:
    """A section of the comment: its start, as many of its parts as fit, and its end."""

    start: str
    parts: Sequence[str] = ()
    end: str = ""
    between: str = "\n"


def gate_comment(results: RunFile | None, *, made: str = "") -> str:
    """Return the comment, with the verdict first. It has at most `LIMIT` UTF-16 units.

    `results` is None if the run wrote no results. `made` names the folder of a baseline that the run had to make first.
    """
    if results is None or results.gate is None:
        return fit_parts(list(_parts_without_gate(results, made)))
    (candidate, *_) = [*(model.label for model in results.models), NEW]
    told = [gate_story(one, candidate=candidate) for one in results.gate.against]
    run = results.run
    return fit_parts(
        [*_verdict_parts(results.gate, run, told), *_baseline_parts(results.gate, told), CommentPart(_run_line(run))]
    )


def fit_parts(sections: Sequence[CommentPart], *, limit: int = LIMIT) -> str:
    """Return the sections that fit, in order. If some do not fit, the last line says how many entries are missing.

    >>> fit_parts([CommentPart("a"), CommentPart("b", ["c", "d" * 200])], limit=150)
    'a\\n\\nb\\nc\\n\\nToo long for a comment: 1 more entry is left out here.\\n'
    """
    room, out, dropped = limit - len(_omission_note(10**9)), list[str](), 0
    for section in sections:
        text, left = _fit_part(section, room)
        dropped += left
        if text:
            out.append(text)
            room -= utf16_length(text) + 2
    return "\n\n".join([*out, *([_omission_note(dropped)] if dropped else [])]) + "\n"


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, in which an emoji counts as two, as code hosts may count."""
    return len(text.encode("utf-16-le")) // 2


def _fit_part(section: CommentPart, room: int) -> tuple[str, int]:
    """Return what fits of a section into this many units ("" if nothing does), and how many parts are left out."""
    taken: list[str] = []
    room -= utf16_length(section.start) + utf16_length(section.end) + 2 * len(section.between)
    for part in section.parts:
        room -= utf16_length(part) + len(section.between)
        if room < 0:
            break
        taken.append(part)
    left = len(section.parts) - len(taken)
    if room < 0 and not taken:
        return "", max(1, left)
    return section.between.join(filter(None, [section.start, *taken, section.end])), left


def _omission_note(count: int) -> str:
    more = "1 more entry is" if count == 1 else f"{count} more entries are"
    return f"Too long for a comment: {more} left out here."


def markdown_line(text: str, *, most: int = MOST) -> str:
    """Return a text that others wrote as one line of Markdown, shortened if necessary.

    >>> markdown_line("@you see https://example.org, GH-12")
    '<span>@</span>you see https<span>:</span>//example.org, GH<span>-</span>12'
    """
    return escape_markdown(one_line(text, most))


def fenced(lines: Iterable[str], *, most: int = MOST) -> str:
    """Return texts as a code block, one per line. Leading spaces stay."""
    found = [cut_line(make_visible(line), most) for line in lines]
    fence = "`" * max(3, longest_backticks("\n".join(found)) + 1)
    return "\n".join([f"{fence}text", *found, fence])


def _bullet(text: str, *, most: int = MOST) -> str:
    """Return a list entry. Its text cannot start another kind of block."""
    return "- " + BLOCK.sub(r"\g<1>\\\g<2>", markdown_line(text, most=most))


def _parts_without_gate(results: RunFile | None, made: str) -> Iterator[CommentPart]:
    """Yield the sections for a run without a gate."""
    if made:
        yield CommentPart("## GATE: NO VERDICT. There was no baseline")
        yield CommentPart(
            f"This run made one in {inline_code(made)}. It is among the job's files. Commit it there and run the job "
            "again. The model of this run should be the one that you use today."
        )
    elif results is None:
        yield CommentPart("## GATE: NO VERDICT. The run wrote no results")
        yield CommentPart("The job's log says why.")
    else:
        yield CommentPart(f"## GATE: NO VERDICT. Exit code {results.run.exit_status}")
        yield CommentPart("Nothing was compared with a baseline. Notes of the run:")
    if results is not None:
        notes = [_bullet(note) for note in results.run.notes]
        yield from [CommentPart("", notes)] if notes else []
        yield CommentPart(_run_line(results.run))


def _verdict_parts(gate: Gate, run: RunEntry, told: Sequence[GateStory]) -> Iterator[CommentPart]:
    """Yield the sections with the verdict, the answer, what to do, and other facts that decide."""
    first, *more = gate_headlines(gate)
    word, _, reason = first.partition(". ")
    answers = [markdown_line(f"{one.answer}. {one.lead}".strip(), most=2 * MOST) for one in told]
    reasons = [] if gate.outcome == "block" else [markdown_line(reason), *map(markdown_line, more)]
    yield CommentPart(f"## {markdown_line(word)}", [*answers, *filter(None, reasons)], between="\n\n")
    fails = gate.outcome == "pass" and run.exit_status
    yield CommentPart(f"**What to do.** {FAILS if fails else TO_DO[gate.outcome]}", list(_remedy_lines(gate)))
    if partial := gate.partial:
        named = ", ".join(map(markdown_line, partial.weighed[:20])) or "none"
        why = markdown_line(partial.why)
        yield CommentPart(f"**Partial gate.** It can block but never passes: {why}. Properties used: {named}.")
    yield from _change_parts(gate)
    if run.exit_status not in ENDED:
        notes = [_bullet(note) for note in run.notes]
        yield CommentPart(f"The run ended with an error (exit code {run.exit_status}):", notes)


def _remedy_lines(gate: Gate) -> Iterator[str]:
    """Yield what to do about an inconclusive gate."""
    if gate.outcome != "inconclusive":
        return
    for against in gate.against:
        yield from (_bullet(f"to decide: {text}", most=2 * MOST) for text in remedies_in_words(against))
        yield from (_bullet(deciding_judgements(one), most=2 * MOST) for one in against.searches if one.asks)
    counts = "a partial gate never passes" if gate.partial else "`--inconclusive` says what it counts as"
    yield f"- It counts as exit code {gate.exit_code}: {counts}."


def _change_parts(gate: Gate) -> Iterator[CommentPart]:
    """Yield the sections about stored vectors, thresholds in use, and other things that have to change."""
    for against in gate.against:
        told = against.reindex.says if against.reindex else ""
        thresholds = [_bullet(one.says) for one in against.thresholds]
        if told or thresholds:
            yield CommentPart(
                f"**Re-index:** {markdown_line(told.removeprefix('re-index: ') or 'not known')}", thresholds
            )
        if changes := what_has_to_change(against):
            yield CommentPart("**What has to change.**", [_bullet(text, most=2 * MOST) for text in changes])


def _baseline_parts(gate: Gate, told: Sequence[GateStory]) -> Iterator[CommentPart]:
    """Yield the losses against each baseline, then a folded table of all rows behind the decision."""
    several = len(gate.against) > 1
    for one, found in zip(gate.against, told, strict=True):
        beside = f", against {markdown_line(one.baseline)}" if several else ""
        blocking = tuple(f"{row.name}: " for row in one.rows if row.outcome == "block")
        if one.reasons:
            bullets = [_bullet(text) for text in one.reasons if not text.startswith(blocking)]
            yield CommentPart(f"### {OPEN[one.outcome]}{beside}", bullets)
        yield CommentPart("", list(map(_loss_markdown, found.losses)), between="\n\n")
    for one in gate.against:
        yield from [CommentPart("Notes:", [_bullet(text) for text in one.notes])] if one.notes else []
        if rows := gate_overview(one):
            summary = f"All {len(rows)} rows" if len(rows) > 1 else "The row"
            head = [f"| {' | '.join(HEAD)} |", "| " + " | ".join(["---"] * len(HEAD)) + " |"]
            start = "\n".join([f"<details><summary>{summary} against {markdown_line(one.baseline)}</summary>\n", *head])
            cells = ((row.name, row.change, row.verdict) for row in rows)
            lines = [f"| {' | '.join(markdown_line(text, most=MOST // 3) for text in one)} |" for one in cells]
            yield CommentPart(start, lines, "\n</details>")


def _loss_markdown(loss: GateLoss) -> str:
    """Return a loss: how much was lost, what that means for users, and three examples."""
    means = f"{loss.figures} {loss.means}".strip()
    lines = list(record.loss_lines(loss.row)) if loss.row else []
    parts = [f"**{markdown_line(loss.title)}.** {markdown_line(means, most=2 * MOST)}".rstrip()]
    if shown := [line.removeprefix("lost: ").removeprefix("changed: ") for line in lines]:
        items = sum(not line.startswith(" ") for line in shown)
        summary = "one of them" if items == 1 else f"{items} of them"
        parts.append(f"<details><summary>{summary}</summary>\n\n{fenced(shown)}\n\n</details>")
    return "\n\n".join(parts)


def _run_line(run: RunEntry) -> str:
    version = markdown_line(run.versions.get("encheck", "?"))
    return f"{WHERE} The run, with encheck {version}: {inline_code(run.command, most=2 * MOST)}"

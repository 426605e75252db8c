"""Record a gate as results.json stores it, with the texts of lost items and queries."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Literal, cast

from encheck.gating.baseline import Baseline
from encheck.gating.comparison import GateComparison, LogAnswers
from encheck.gating.gate_rows import DIRECTION, LOST_SHOWN, LostItem, LostQuery
from encheck.gating.types import (
    EXIT_CODES,
    ChangedQuery,
    ExampleText,
    ExitCode,
    Gate,
    GateAgainst,
    GateRow,
    LostExample,
    Outcome,
    PropertyFigure,
    UnjudgedAnswer,
    UnjudgedSearch,
)
from encheck.gating.unlabelled_search import advise_on_open_search
from encheck.ids import GateRowId
from encheck.reporting.profile import chance_of
from encheck.reporting.text import Piece, join_pieces, pieces, shorten_pieces
from encheck.run_file import Result
from encheck.scoring.documents import Answers
from encheck.scoring.item import ItemFrame, ItemRow, ItemSide
from encheck.types import Declaration, content_hash

SIDES = {"near": "should be nearer", "far": "should be farther", "pair": "compared with"}
SHOWN = 160  # characters of a text
UNKNOWN = "not kept: the baseline is older or holds other documents"


def changed_queries_of(
    lost: Sequence[LostQuery],
    items: Mapping[str, ItemFrame],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> tuple[ChangedQuery, ...]:
    """Return each query with its first answer before and now. `documents` maps case -> row -> (id, text)."""
    texts, found = query_texts(items), []
    for one in lost:
        if one.item in texts:
            rows = documents.get(one.case, {})
            before, now = (
                on_one_line(rows[row][1]) if row is not None and row in rows else UNKNOWN
                for row in (one.before, one.now)
            )
            found.append(ChangedQuery(on_one_line(texts[one.item]), before, now))
    return tuple(found)


def query_texts(items: Mapping[str, ItemFrame]) -> dict[str, str]:
    """Return the text of each query by its item's id."""
    return {name: text for frame in items.values() for name, text in zip(frame.ids, frame.sources, strict=True)}


def unjudged_answers_of(
    found: Sequence[LostQuery],
    items: Mapping[str, ItemFrame],
    documents: Mapping[str, Mapping[int, tuple[str, str]]],
) -> tuple[UnjudgedAnswer, ...]:
    """Return the queries' first answers that have no judgement. `documents` is as in `changed_queries_of`."""
    texts = query_texts(items) if found else {}
    pairs = ((one, documents.get(one.case, {}).get(row)) for one in found for row in (one.before, one.now)
             if row is not None and one.item in texts)  # fmt: skip
    return tuple(
        UnjudgedAnswer(" ".join(texts[one.item].split()), named[0], " ".join(named[1].split()))
        for one, named in pairs if named
    )  # fmt: skip


def lost_examples_of(found: Sequence[LostItem], items: Mapping[str, ItemFrame]) -> tuple[LostExample, ...]:
    """Return the lost items, each with its source, and each text with its edits and both models' scores.

    Items whose texts the run does not have are left out.
    """
    wanted, rows = {one.item for one in found}, dict[str, list[ItemRow]]()
    for frame in items.values() if found else ():
        for i, name in enumerate(frame.ids):
            if name in wanted:
                rows.setdefault(name, []).append(frame.row(i))
    pairs = ((one, _row_with_texts(one, rows.get(one.item, ()))) for one in found)
    return tuple(_lost_example(one, row) for one, row in pairs if row)


def _row_with_texts(one: LostItem, rows: Sequence[ItemRow]) -> ItemRow | None:
    """Return the row with the item's texts, or None. Items of a chain or a crossed group may share an id."""
    for row in rows:
        given = [text for text in (row.source, row.near.text, row.far.text) if text is not None]
        if one.texts in (content_hash(*given), content_hash(*given[:2])):
            return row
    return None


def _lost_example(one: LostItem, row: ItemRow) -> LostExample:
    is_contest = row.far.text is not None
    sides: tuple[tuple[Literal["near", "far"], ItemSide], ...] = (("near", row.near), ("far", row.far))
    texts = []
    for (name, side), before, now in zip(sides, one.before, one.now, strict=True):
        if side.text is not None:
            found = pieces(row.source, side.text, side.edits)
            line: Sequence[Piece] = [("same", on_one_line(found[0][1]))] if len(found) == 1 else shorten_pieces(found)
            texts.append(ExampleText(name if is_contest else "pair", tuple(line), before, now))
    return LostExample(on_one_line(row.source), tuple(texts))


def scores_of(one: ExampleText) -> str:
    """Return a text's score under the new and the old model, as printed. NaN is printed as a dash."""
    now, before = (f"{score:.3f}" if isfinite(score) else "-" for score in (one.now, one.before))
    return f"{now}, was {before}"


def on_one_line(text: str, width: int = SHOWN) -> str:
    """Return the text on one line, shortened if necessary.

    >>> on_one_line("a  b" + chr(10) + "c")
    'a b c'
    """
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def loss_lines(row: GateRow | UnjudgedSearch) -> Iterator[str]:
    """Yield lines for what a gate row lost: one line per text of an item, and three lines per query.

    For a search without labels, also yield the queries whose first answer changed.
    """
    for example in row.lost_examples if isinstance(row, GateRow) else ():
        yield f"lost: {example.source}"
        yield from (f"  {SIDES[text.side]:17} {scores_of(text)}  {join_pieces(text.pieces)}" for text in example.texts)
    for what, some in (
        ("lost", row.lost_queries),
        ("changed", row.changed_queries if isinstance(row, UnjudgedSearch) else ()),
    ):
        for one in some:
            yield f"{what}: {one.query}"
            yield f"  first before: {one.before}"
            yield f"  first now:    {one.now}"


def outcome_of_all(decisions: Sequence[GateAgainst], inconclusive: str | None) -> tuple[Outcome, ExitCode]:
    """Return the worst outcome against any baseline, and the exit code.

    `inconclusive` says what an inconclusive gate counts as. A partial gate never counts as passed.
    """
    outcomes: list[Outcome] = [one.outcome for one in decisions]
    worst: Outcome = next(o for o in ("block", "inconclusive", "pass") if o in outcomes)
    counts_as = cast("Outcome", inconclusive) if worst == "inconclusive" and inconclusive else worst
    is_partial = any(one.partial for one in decisions)
    return worst, EXIT_CODES["inconclusive" if is_partial and counts_as == "pass" else counts_as]


@dataclass(frozen=True)
class GateEvidence:
    """What is needed to show single queries and items of a gate.

    `items` are the candidate's items by case. `documents` are the retrieved documents by case and row. `folder` is the
    run's folder, and `qrels` the file with judgements; "" if not known.
    """

    items: Mapping[str, ItemFrame] = field(default_factory=dict)
    documents: Mapping[str, Mapping[int, tuple[str, str]]] = field(default_factory=dict)
    folder: str = ""
    qrels: str = ""


def gate_with_texts(
    weighed: Sequence[GateComparison], inconclusive: str | None, shown: GateEvidence = GateEvidence()
) -> Gate:
    """Return the gate against all baselines, and add the texts of what was lost against each."""
    decisions = []
    for number, one in enumerate(weighed):
        evidence = replace(shown, folder="") if number else shown  # the folder has answers for the first baseline only
        rows = tuple(_row_with_losses(one, row, evidence) for row in one.decision.rows)
        searches = tuple(_search_with_queries(one, search, evidence) for search in one.decision.searches)
        decisions.append(replace(one.decision, rows=rows, searches=searches))
    outcome, code = outcome_of_all(decisions, inconclusive)
    return Gate(outcome, code, next((one.partial for one in decisions if one.partial), None), tuple(decisions))


def add_printed_figures(
    against: GateAgainst, rows: Sequence[Result], baseline: Baseline, declared: Mapping[str, Declaration]
) -> GateAgainst:
    """Add the printed figures of their properties to the gate rows. `rows` are the candidate's results."""
    found: dict[tuple[str, str], list[PropertyFigure]] = {}
    for row in rows:
        before, its = baseline.figure(row.case.of_any_model, row.figure), declared[row.check]
        if before and before.value is not None:
            one = PropertyFigure(row.property, row.metric or "", before.value, row.numbers[0], chance_of(row, its))
            for name in dict.fromkeys((row.property, its.capability)):
                found.setdefault((name, row.data), []).append(one)

    rows_of_gate = []
    for gate_row in against.rows:
        place = GateRowId(gate_row.name)
        is_direction = any(part.startswith(DIRECTION.format("")) for part in place.below_data)
        known = () if gate_row.endpoint or is_direction else found.get((place.property, place.data), ())
        rows_of_gate.append(replace(gate_row, figures=tuple(known)))
    return replace(against, rows=tuple(rows_of_gate))


def _row_with_losses(w: GateComparison, row: GateRow, shown: GateEvidence) -> GateRow:
    """Return the row with the queries to judge and, if the row blocks or is open, with its losses."""
    unjudged = unjudged_answers_of(w.unjudged.get(row.name, ()), shown.items, shown.documents)
    if row.outcome != "block" and not (row.evidence and row.outcome == "inconclusive"):
        return replace(row, unjudged_answers=unjudged)
    return replace(
        row, unjudged_answers=unjudged,
        lost_queries=changed_queries_of(w.lost_queries.get(row.name, ()), shown.items, shown.documents),
        lost_examples=lost_examples_of(w.lost_items.get(row.name, ()), shown.items),
    )  # fmt: skip


def _search_with_queries(w: GateComparison, one: UnjudgedSearch, shown: GateEvidence) -> UnjudgedSearch:
    """Return the search with its judgements, and three queries that were judged worse or have a new first answer."""
    left = one.judged.left if one.judged else one.shares[0].queries
    is_open = not one.passes and not one.blocks
    needs = is_open and left > 0 and not w.decision.partial
    command = f"encheck judge {shlex.quote(shown.folder)}" if needs and shown.folder else None
    search = next((s for s in w.searched if str(s.after.gate_row) == one.name), None)
    lost = one.judged.lost if one.judged and one.blocks else ()
    changed = _most_asked_changes(search) if search and is_open else ()
    return replace(
        one, judge=command, asks="" if w.decision.partial else advise_on_open_search(one, command or ""), left=left,
        qrels=shown.qrels or None,
        lost_queries=_changed_queries(search, lost, shown) if search else (),
        changed_queries=_changed_queries(search, changed, shown) if search else (),
    )  # fmt: skip


def _most_asked_changes(search: LogAnswers) -> list[str]:
    """Return the three most frequent queries whose first answer changed."""
    sides = zip(search.before.answers, search.after.answers, search.after.weights, search.after.items, strict=True)
    moved = [
        (-weight, i, item)
        for i, (before, now, weight, item) in enumerate(sides)
        if _first_answer(before) != _first_answer(now)
    ]
    return [item for *_, item in sorted(moved)[:LOST_SHOWN]]


def _changed_queries(search: LogAnswers, items: Sequence[str], shown: GateEvidence) -> tuple[ChangedQuery, ...]:
    """Return these queries, each with its first answer before and now."""
    at = {item: i for i, item in enumerate(search.after.items)}
    rows = {item: [_first_answer(side.answers[at[item]]) for side in (search.before, search.after)] for item in items}
    found = [LostQuery(item, search.after.case, before, now) for item, (before, now) in rows.items()]
    return changed_queries_of(found, shown.items, shown.documents)


def _first_answer(answers: str) -> int:
    return Answers.parse(answers).first[0]

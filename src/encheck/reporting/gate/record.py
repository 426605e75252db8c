"""A gate with the texts of what was lost: what results.json keeps of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from encheck.gating.answers import asks
from encheck.gating.gate import Gate, GateAgainst
from encheck.gating.lost import LOST_SHOWN, LostQuery
from encheck.gating.types import EXIT_CODES, ChangedQuery, ExitCode, GateRow, Outcome, UnjudgedSearch
from encheck.gating.weighing import Searched, Weighed
from encheck.reporting import lost
from encheck.scoring.documents import Answers


def verdict(decisions: Sequence[GateAgainst], inconclusive: str | None) -> tuple[Outcome, ExitCode]:
    """The worst outcome against any baseline, and the exit code.

    `inconclusive` is what one counts as; a partial gate never counts as passed.
    """
    outcomes: list[Outcome] = [one.outcome for one in decisions]
    worst: Outcome = next(o for o in ("block", "inconclusive", "pass") if o in outcomes)
    counts_as = cast("Outcome", inconclusive) if worst == "inconclusive" and inconclusive else worst
    is_partial = any(one.partial for one in decisions)
    return worst, EXIT_CODES["inconclusive" if is_partial and counts_as == "pass" else counts_as]


@dataclass(frozen=True)
class Shown:
    """What a gate shows of single queries: the candidate's items, and the documents that were found, by case and row.

    `folder` is where the run is written, and `qrels` where judgements are kept; "" where that is not known.
    """

    items: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    documents: Mapping[str, Mapping[int, tuple[str, str]]] = field(default_factory=dict)
    folder: str = ""
    qrels: str = ""


def with_texts(weighed: Sequence[Weighed], inconclusive: str | None, shown: Shown = Shown()) -> Gate:
    """The gate against all baselines, with the texts of what was lost against each."""
    beside = replace(shown, folder="")  # the folder keeps answers for the first baseline alone
    against = tuple(_against(w, shown if i == 0 else beside) for i, w in enumerate(weighed))
    outcome, code = verdict(against, inconclusive)
    return Gate(outcome, code, next((one.partial for one in against if one.partial), None), against)


def _against(w: Weighed, shown: Shown) -> GateAgainst:
    rows = tuple(_row(w, row, shown) for row in w.decision.rows)
    return replace(w.decision, rows=rows, searches=tuple(_search(w, one, shown) for one in w.decision.searches))


def _row(w: Weighed, row: GateRow, shown: Shown) -> GateRow:
    """The row with what it lost where it blocks or is open, and with what to judge."""
    unjudged = lost.unjudged(w.unjudged.get(row.name, ()), shown.items, shown.documents)
    if row.outcome != "block" and not (row.evidence and row.outcome == "inconclusive"):
        return replace(row, unjudged_answers=unjudged)
    return replace(
        row, unjudged_answers=unjudged,
        lost_queries=lost.queries(w.lost_queries.get(row.name, ()), shown.items, shown.documents),
        lost_examples=lost.examples(w.lost_items.get(row.name, ()), shown.items),
    )  # fmt: skip


def _search(w: Weighed, one: UnjudgedSearch, shown: Shown) -> UnjudgedSearch:
    """The search with what decides it, and three queries: those that people find worse, or that changed."""
    left = one.judged.left if one.judged else one.shares[0].queries
    needs = not one.passes and not one.blocks and left > 0 and not w.decision.partial
    command = f"encheck judge {shlex.quote(shown.folder)}" if needs and shown.folder else None
    search = next((s for s in w.searched if str(s.after.gate_row) == one.name), None)
    return replace(
        one, judge=command, asks="" if w.decision.partial else asks(one, command or ""), left=left,
        qrels=shown.qrels or None,
        lost_queries=_queries(search, one.judged.lost, shown) if search and one.judged and one.blocks else (),
        changed_queries=_queries(search, _changed(search), shown) if search and not one.passes and not one.blocks
        else (),
    )  # fmt: skip


def _changed(search: Searched) -> list[str]:
    """Three queries whose first answer changed, the most frequent first."""
    sides = zip(search.before.answers, search.after.answers, search.after.weights, search.after.items, strict=True)
    moved = [(-weight, i, item) for i, (before, now, weight, item) in enumerate(sides) if _first(before) != _first(now)]
    return [item for *_, item in sorted(moved)[:LOST_SHOWN]]


def _queries(search: Searched, items: Sequence[str], shown: Shown) -> tuple[ChangedQuery, ...]:
    """These queries with what came first before and what comes first now."""
    at = {item: i for i, item in enumerate(search.after.items)}
    rows = {item: [_first(side.answers[at[item]]) for side in (search.before, search.after)] for item in items}
    found = [LostQuery(item, search.after.case, before, now) for item, (before, now) in rows.items()]
    return lost.queries(found, shown.items, shown.documents)


def _first(answers: str) -> int:
    return Answers.of(answers).first[0]

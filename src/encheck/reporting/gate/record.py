"""What results.json keeps of a gate."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from encheck.gating.answers import asks
from encheck.gating.index_space import OldIndex
from encheck.gating.lost import LOST_SHOWN, LostQuery
from encheck.gating.required_changes import ADAPTER
from encheck.gating.types import EXIT_CODES, GateRow, Moved, Outcome, Share
from encheck.gating.weighing import Searched, Weighed
from encheck.reporting import lost
from encheck.scoring.answers import Answers

MAX_FLIPS_KEPT = 10  # of each direction and row, in results.json


def verdict(weighed: Sequence[Weighed], inconclusive: str | None) -> tuple[Outcome, int]:
    """The worst outcome against any baseline, and the exit code.

    `inconclusive` is what one counts as; a partial gate never counts as passed.
    """
    outcomes: list[Outcome] = [w.decision.outcome for w in weighed]
    worst: Outcome = next(o for o in ("block", "inconclusive", "pass") if o in outcomes)
    is_partial = any(w.decision.partial for w in weighed)
    return worst, exit_code(worst, inconclusive, is_partial=is_partial)


def exit_code(outcome: Outcome, inconclusive: str | None, *, is_partial: bool) -> int:
    """The exit code of a gate, where an inconclusive one counts as `inconclusive`; never 0 of a partial one."""
    counts_as: Any = inconclusive if outcome == "inconclusive" and inconclusive else outcome
    return EXIT_CODES["inconclusive" if is_partial and counts_as == "pass" else counts_as]


@dataclass(frozen=True)
class Shown:
    """What a gate shows of single queries: the candidate's items, and the documents that were found, by case and row.

    `folder` is where the run is written, and `qrels` where judgements are kept; "" where that is not known.
    """

    items: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    documents: Mapping[str, Mapping[int, tuple[str, str]]] = field(default_factory=dict)
    folder: str = ""
    qrels: str = ""


def as_dict(weighed: Sequence[Weighed], inconclusive: str | None, shown: Shown = Shown()) -> dict[str, Any]:
    """The `gate` of results.json."""
    outcome, code = verdict(weighed, inconclusive)
    beside = replace(shown, folder="")  # the folder keeps answers for the first baseline alone
    against = [_against(w, shown if i == 0 else beside) for i, w in enumerate(weighed)]
    partial = next((one["partial"] for one in against if one["partial"]), None)
    return {"outcome": outcome, "exit_code": code, "partial": partial, "against": against}


def _against(w: Weighed, shown: Shown) -> dict[str, Any]:
    before, after = w.balanced
    return {
        "baseline": w.baseline,
        "purpose": w.decision.purpose,
        "margin": w.decision.margin,
        "yours": list(w.decision.yours),
        "languages": w.languages,
        "outcome": w.decision.outcome,
        "reasons": list(w.decision.reasons),
        "rows": [_row(w, row, shown) for row in w.decision.rows],
        "searches": [_search(w, one, shown) for one in w.decision.moved],
        "families": [_finite(asdict(f)) for f in w.decision.families],
        "seed_noise": w.decision.seed_noise.pooled,
        "replicates": w.decision.seed_noise.replicates,
        "balanced": {"baseline": before, "candidate": after},
        "partial": asdict(w.decision.partial) if w.decision.partial else None,
        "contracts": list(w.decision.contracts),
        "remedies": list(w.remedies),
        "reported_only": dict(w.reported),
        "notes": list(w.notes),
        "required_changes": list(w.required_changes),
        "index_faults": asdict(w.index.faults) if w.index and w.index.faults else None,
        "adapter": _adapter(w.index) if w.index else None,
        "reindex": asdict(w.reindex) | {"says": w.reindex.says} if w.reindex else None,
        "scales": [asdict(one) | {"says": one.says} for one in w.scales if one.has_moved],
        "thresholds": [asdict(one) | {"says": one.says} for one in w.thresholds],
    }


def _adapter(index: OldIndex) -> dict[str, Any] | None:
    """The linear map that is written beside the results; None where there is none."""
    one = index.adapter
    if one is None or index.mapped is None:
        return None
    about = {"kind": one.kind, "how": one.how, "unit": one.unit, "texts": one.texts}
    return {"file": ADAPTER, **about, "says": index.mapped.says}


def _finite(found: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not -1e300 < v < 1e300 else v for k, v in found.items()}


def _row(w: Weighed, row: GateRow, shown: Shown) -> dict[str, Any]:
    said = _finite(asdict(row))
    shows = row.outcome == "block" or (row.evidence and row.outcome == "inconclusive")
    more = {
        "means": w.means.get(row.name, ""),
        "lost_queries": lost.as_dicts(w.lost.get(row.name, ()) if shows else (), shown.items, shown.documents),
        "lost_examples": lost.examples(w.lost_items.get(row.name, ()) if shows else (), shown.items),
        "beside": [_finite(asdict(one)) for one in w.beside.get(row.name, ())],
    }
    if row.name in w.answered:
        worse, better = w.answered[row.name]
        said |= {"worse_queries": worse, "better_queries": better}
    if row.remedy:
        said["remedy"] |= {"says": row.remedy.says}
    if row.name in w.unjudged:
        more["unjudged_answers"] = lost.unjudged(w.unjudged[row.name], shown.items, shown.documents)
    return {"row": said.pop("name"), **said, **_flips(w, row), **more}


def _search(w: Weighed, one: Moved, shown: Shown) -> dict[str, Any]:
    """A search without labels; `judge` is what to type to decide the gate, None where that is decided or would not."""
    left = one.judged.left if one.judged else one.shares[0].queries
    needs = not one.passes and not one.blocks and left > 0 and not w.decision.partial
    found = asdict(one)
    command = f"encheck judge {shlex.quote(shown.folder)}" if needs and shown.folder else None
    return {
        "row": found.pop("name"), **found, "passes": one.passes, "says": f"{one.said}; {one.why}",
        "judge": command, "asks": "" if w.decision.partial else asks(one, command or ""),
        "left": left, "qrels": shown.qrels or None, "lost_queries": _judged_worse(w, one, shown),
        "changed_queries": _changed(w, one, shown),
    }  # fmt: skip


def moved_of(search: Mapping[str, Any]) -> Moved:
    """What `_search` made a dictionary of, without what people said."""
    names = ("queries", "asked", "clusters", "delta", "same", "least", "alpha")
    shares = tuple(Share(**one) for one in search["shares"])
    return Moved(search["row"], shares=shares, **{name: search[name] for name in names})


def _judged_worse(w: Weighed, one: Moved, shown: Shown) -> list[dict[str, str]]:
    """Three queries of a search that people's answers block, with both answers."""
    search = _search_of(w, one)
    if search is None or one.judged is None or not one.blocks:
        return []
    return _queries(search, one.judged.lost, shown)


def _changed(w: Weighed, one: Moved, shown: Shown) -> list[dict[str, str]]:
    """Three queries of a search that is open whose first answer changed, the most frequent first."""
    search = _search_of(w, one)
    if search is None or one.passes or one.blocks:
        return []
    sides = zip(search.before.answers, search.after.answers, search.after.weights, search.after.items, strict=True)
    moved = [(-weight, i, item) for i, (before, now, weight, item) in enumerate(sides) if _first(before) != _first(now)]
    return _queries(search, [item for *_, item in sorted(moved)[:LOST_SHOWN]], shown)


def _search_of(w: Weighed, one: Moved) -> Searched | None:
    return next((s for s in w.searched if str(s.after.gate_row) == one.name), None)


def _queries(search: Searched, items: Sequence[str], shown: Shown) -> list[dict[str, str]]:
    """These queries with what came first before and what comes first now."""
    at = {item: i for i, item in enumerate(search.after.items)}
    rows = {item: [_first(side.answers[at[item]]) for side in (search.before, search.after)] for item in items}
    found = [LostQuery(item, search.after.case, before, now) for item, (before, now) in rows.items()]
    return lost.as_dicts(found, shown.items, shown.documents)


def _first(answers: str) -> int:
    return Answers.of(answers).first[0]


def _flips(w: Weighed, row: GateRow) -> dict[str, list[str]]:
    lost, gained = w.flips.get(row.name, ([], []))
    return {"lost_items": lost[:MAX_FLIPS_KEPT], "gained_items": gained[:MAX_FLIPS_KEPT]}

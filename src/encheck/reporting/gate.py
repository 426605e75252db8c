"""What results.json, the terminal, summary.md and JUnit say of a gate."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from encheck.gating.lost import LostQuery
from encheck.gating.types import EXIT_CODES, GateRow, Judged, Moved, Outcome, Share
from encheck.gating.weighing import Weighed
from encheck.reporting import endpoint, lost
from encheck.reporting.text import escape, marked, table
from encheck.scoring.answers import Answers
from encheck.scoring.frame import edits_of

WORDS = {"pass": "PASSED", "block": "BLOCKED", "inconclusive": "INCONCLUSIVE"}
NOT_YET = "CANNOT TELL YET"
MAX_FLIPS_KEPT = 10  # of each direction and row, in results.json
MAX_FLIPS_IN_SUMMARY = 3  # of these
MAX_PROPERTIES_NAMED = 3
NEARLY_ANYTHING = 10  # deltas: 20 points of a rate
HEAD = ("gate", "family", "gate row", "baseline", "candidate", "change [95% bounds]", "lost", "gained", "could see")
FAMILY_HEAD = ("family", "gate rows", "change in deltas", "95% lower bound", "state")
MEANING = {
    "kept": "did not block, and is no evidence for passing: little to lose there, a slice, or a whole of parts",
    "at chance": "did not block, and is no evidence: the baseline is not shown to be above chance by 2 deltas",
    "lost": "as kept, but the whole interval is a loss, though too small a one to block",
    "reported": "too few items or clusters: does not gate",
    "part": "a property, level or surface direction of a row: can block by itself, and decides nothing else",
}


def verdict(weighed: Sequence[Weighed], inconclusive: str | None) -> tuple[Outcome, int]:
    """The worst outcome against any baseline, and the exit code; `inconclusive` is what one counts as."""
    outcomes: list[Outcome] = [w.decision.outcome for w in weighed]
    worst: Outcome = next(o for o in ("block", "inconclusive", "pass") if o in outcomes)
    counts_as: Any = inconclusive if worst == "inconclusive" and inconclusive else worst
    return worst, EXIT_CODES[counts_as]


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
    partial = sorted({name for w in weighed for name in w.partial})
    return {"outcome": outcome, "exit_code": code, "partial": partial, "against": against}


def word(against: Mapping[str, Any]) -> str:
    """The outcome as it is shown: a search that judging would decide is not inconclusive, but cannot be told yet."""
    waits = any(search["judge"] for search in against.get("searches", ()))
    return NOT_YET if against["outcome"] == "inconclusive" and waits else WORDS[against["outcome"]]


def part(said: Mapping[str, Any]) -> str:
    """Which part of the baseline's checks was weighed, as it stands beside a verdict; empty where all were.

    >>> part({"partial": ["antonym", "number"]}), part({"partial": []})
    (' (partial: antonym, number)', '')
    """
    names = said.get("partial", ())
    more = len(names) - MAX_PROPERTIES_NAMED
    named = ", ".join(names[:MAX_PROPERTIES_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f" (partial: {named})" if names else ""


def title(against: Mapping[str, Any]) -> str:
    """The outcome as it is shown, what seed noise widened, and which further queries would decide an open search."""
    return ". ".join(text for text in (word(against), widened(against), endpoint.remedy(against)) if text)


def widened(against: Mapping[str, Any]) -> str:
    """By how much seed noise widened the loss that matters, of the gate rows; empty where it did not."""
    wider = [row for row in against["rows"] if row["gates"] and row.get("widened", 1.0) > 1]
    if not wider:
        return ""
    most = {row["kind"]: row for row in sorted(wider, key=lambda row: row["delta"])}
    shown = {"rate": lambda delta: f"{100 * delta:.1f} points", "mean": lambda delta: f"{delta:.3f}"}
    told = " and ".join(shown[kind](most[kind]["delta"]) for kind in shown if kind in most)
    gates = sum(row["gates"] for row in against["rows"])
    return f"Deltas widened to {told} by seed noise in {len(wider)} of {gates} gate rows"


def _against(w: Weighed, shown: Shown) -> dict[str, Any]:
    before, after = w.balanced
    return {
        "baseline": w.baseline,
        "outcome": w.decision.outcome,
        "reasons": list(w.decision.reasons),
        "rows": [_row(w, row, shown) for row in w.decision.rows],
        "searches": [_search(w, one, shown) for one in w.decision.moved],
        "families": [_finite(asdict(f)) for f in w.decision.families],
        "seed_noise": w.decision.seed_noise.pooled,
        "replicates": w.decision.seed_noise.replicates,
        "balanced": {"baseline": before, "candidate": after},
        "not_selected": w.not_selected,
        "partial": list(w.partial),
        "contracts": list(w.decision.contracts),
        "remedies": list(w.remedies),
        "reported_only": dict(w.reported),
        "notes": list(w.notes),
        "reindex": asdict(w.reindex) | {"says": w.reindex.says} if w.reindex else None,
        "cutoffs": [asdict(one) | {"says": one.says} for one in w.cutoffs],
    }


def _finite(found: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not -1e300 < v < 1e300 else v for k, v in found.items()}


def _row(w: Weighed, row: GateRow, shown: Shown) -> dict[str, Any]:
    said = _finite(asdict(row))
    blocks = row.outcome == "block"
    more = {
        "means": w.means.get(row.name, ""),
        "lost_queries": lost.as_dicts(w.lost.get(row.name, ()) if blocks else (), shown.items, shown.documents),
        "lost_examples": lost.examples(w.lost_items.get(row.name, ()) if blocks else (), shown.items),
        "beside": [_finite(asdict(one)) for one in w.beside.get(row.name, ())],
    }
    if row.remedy:
        said["remedy"] |= {"says": row.remedy.says}
    return {"row": said.pop("name"), **said, **_flips(w, row), **more}


def _search(w: Weighed, one: Moved, shown: Shown) -> dict[str, Any]:
    """A search without labels; `judge` is what to type to decide it, None where that is decided or would not."""
    left = one.judged.left if one.judged else one.shares[0].queries
    needs = not one.passes and not one.blocks and left > 0
    found = asdict(one)
    return {
        "row": found.pop("name"), **found, "passes": one.passes, "says": f"{one.said}; {one.why}",
        "judge": f"encheck data judge {shlex.quote(shown.folder)}" if needs and shown.folder else None,
        "left": left, "qrels": shown.qrels or None, "lost_queries": _judged_worse(w, one, shown),
    }  # fmt: skip


def moved_of(search: Mapping[str, Any]) -> Moved:
    """What `_search` made a dictionary of, without what people said."""
    names = ("queries", "asked", "clusters", "delta", "same")
    shares = tuple(Share(**one) for one in search["shares"])
    return Moved(search["row"], shares=shares, **{name: search[name] for name in names})


def _judged_worse(w: Weighed, one: Moved, shown: Shown) -> list[dict[str, str]]:
    """Three queries of a search that people's answers block, with both answers."""
    search = next((s for s in w.searched if str(s.after.gate_row) == one.name), None)
    if search is None or one.judged is None or not one.blocks:
        return []
    at = {item: i for i, item in enumerate(search.after.items)}
    sides = (search.before, search.after)
    rows = {item: [Answers.of(side.answers[at[item]]).first[0] for side in sides] for item in one.judged.lost}
    found = [LostQuery(item, search.after.case, before, now) for item, (before, now) in rows.items()]
    return lost.as_dicts(found, shown.items, shown.documents)


def _flips(w: Weighed, row: GateRow) -> dict[str, list[str]]:
    lost, gained = w.flips.get(row.name, ([], []))
    return {"lost_items": lost[:MAX_FLIPS_KEPT], "gained_items": gained[:MAX_FLIPS_KEPT]}


def lines(gate: Mapping[str, Any]) -> Iterator[str]:
    """The gate on the terminal."""
    for against in gate["against"]:
        yield f"gate against {against['baseline']}{part(against)}: {title(against)}"
        if shown := weighed_rows(against):
            yield from table([HEAD, *(cells(row) for row in shown)])
        yield from (f"  - {text}" for text in explained(against, commands=False))
        yield from (f"  {text}" for row in _with_lost_queries(against) for text in _evidence(row))
        yield from (f"  - {text}: see summary.md or the page" for text in folded(against))
    yield from undecided(gate)
    yield ""


def _evidence(row: Mapping[str, Any]) -> Iterator[str]:
    """What the loss of a row means to users of the model, and what it lost."""
    if row.get("means") and row["outcome"] == "block":
        yield f"{row['row']}: {row['means']}"
    yield from lost.example_lines(row)
    yield from lost.lines(row)


def weighed_rows(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows that a verdict rests on, parts that block, and a primary endpoint where it has too few queries."""
    return [r for r in against["rows"] if r["gates"] or r["outcome"] == "block" or r.get("budget") == "primary"]


def reported_rows(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows that decide nothing."""
    weighed = weighed_rows(against)
    return [row for row in against["rows"] if row not in weighed]


def folded(against: Mapping[str, Any]) -> Iterator[str]:
    """How much is reported and decided nothing; nothing where all did."""
    rows = reported_rows(against)
    parts = [row for row in rows if row.get("part_of")]
    counts = {"parts": len(parts), "rows": len(rows) - len(parts), "cases": len(against["reported_only"])}
    named = [f"{count} {name[:-1] if count == 1 else name}" for name, count in counts.items() if count]
    if named:
        told = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        yield f"{told} {'is' if sum(counts.values()) == 1 else 'are'} reported and decided nothing"


def _with_lost_queries(against: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows, then the searches without labels, that may show lost queries."""
    return [*against["rows"], *against.get("searches", ())]


def headline(gate: Mapping[str, Any]) -> Iterator[str]:
    """The gate in a line: the verdict and its weightiest reason, or how people's answers have decided or would.

    A search without labels has a line of its own.
    """
    against = next((one for one in gate["against"] if one["outcome"] == gate["outcome"]), gate["against"][0])
    start = f"GATE{part(gate)}"
    said = []
    for search in against.get("searches", ()):
        if word(against) == NOT_YET and search["judge"]:
            said.append(f"{start}: {NOT_YET}. {at_most(search)}{_also_open(against, search)}")
        elif search.get("judged") and search["judged"]["asked"]:
            said.append(f"{start}: {WORDS[gate['outcome']]}. {_decisive(search, gate['outcome'], against['reasons'])}")
    yield from said or [". ".join([f"{start}: {WORDS[gate['outcome']]}", *_weightiest(gate, against)])]


def _weightiest(gate: Mapping[str, Any], against: Mapping[str, Any]) -> Iterator[str]:
    """What seed noise widened and the first reason, or that the run fails although the gate passes."""
    yield from filter(None, [widened(against)])
    yield from against["reasons"][:1]
    if gate["outcome"] == "pass" and gate["exit_code"]:
        yield f"The run fails all the same (exit code {gate['exit_code']})"
    if gate["outcome"] == "pass" and (against.get("reindex") or {}).get("needed"):
        said = against["reindex"]["says"]
        yield said[0].upper() + said[1:]


def _also_open(against: Mapping[str, Any], search: Mapping[str, Any]) -> str:
    """How many doubts are left once a search is decided, after its command; nothing where none are."""
    others = [text for text in against["reasons"] if text != f"{search['row']}: {search['says']}"]
    return f" ({len(others)} other doubts stay)" if len(others) > 1 else " (another doubt stays)" if others else ""


def at_most(search: Mapping[str, Any]) -> str:
    """How many answers decide a search without labels, and what to type."""
    more = "more " if (search.get("judged") or {}).get("answered") else ""
    left = search.get("left", search["shares"][0]["queries"])
    return f"At most {left:,} {more}answers decide: {search['judge']}"


def _decisive(search: Mapping[str, Any], outcome: Outcome, reasons: Sequence[str]) -> str:
    """What decided: people's answers, unless something else did."""
    judged = Judged(**search["judged"])
    if outcome == judged.outcome:
        return judged.favoured if outcome == "block" else f"{judged.said}; {judged.why}"
    return reasons[0] if reasons else judged.said


def undecided(gate: Mapping[str, Any]) -> list[str]:
    """What an inconclusive gate counts as, in a line; none for one that decided."""
    if gate["outcome"] != "inconclusive":
        return []
    return [f"the gate is inconclusive, which counts as exit code {gate['exit_code']} (--inconclusive pass|block)"]


def explained(against: Mapping[str, Any], *, commands: bool = True) -> Iterator[str]:
    """What decided, and what to know beside the table, line by line; `commands` says what to type to decide."""
    yield from against["reasons"]
    yield from dropped_in(against)
    yield from (f"to decide: {text}" for text in against.get("remedies", ()))
    yield from endpoint.lines(against)
    for search in against.get("searches", ()):
        yield from _of_search(search, against, commands=commands)
    yield from _score(against)
    if against["not_selected"]:
        left = against["not_selected"]
        yield f"the gate is partial: -m or -k left out {left} cases of the baseline, which were not weighed"
    if against["seed_noise"]:
        yield f"seeds alone move a gate row by {against['seed_noise']:.2f} deltas{_measured_on(against)}"
    yield from against["notes"]


def dropped_in(against: Mapping[str, Any]) -> Iterator[str]:
    """Whether stored vectors stay, and what becomes of a cut-off in use; no outcome says either."""
    if against.get("reindex"):
        yield against["reindex"]["says"]
    yield from (one["says"] for one in against.get("cutoffs", ()))


def _score(against: Mapping[str, Any]) -> Iterator[str]:
    """The balanced score before and now; a dash for a blocked candidate, which nobody should select."""
    before, after = against["balanced"]["baseline"], against["balanced"]["candidate"]
    head = "balanced score (sensitivity, invariance, retrieval)"
    if before is not None and against["outcome"] == "block":
        yield f"{head}: {before:.3f} before, - now (a blocked model has none)"
    elif before is not None and after is not None:
        yield f"{head}: {before:.3f} before, {after:.3f} now"


def _measured_on(against: Mapping[str, Any]) -> str:
    return f", as {against['replicates']} seed replicates show" if against.get("replicates") else ""


def _of_search(search: Mapping[str, Any], against: Mapping[str, Any], *, commands: bool) -> Iterator[str]:
    """What changed in the answers to queries without labels, and what to type where judging them would decide."""
    said = f"{search['row']}: {search['says']}"
    if said not in against["reasons"]:
        yield said
    if commands and search["judge"] and against["outcome"] == "inconclusive":
        yield at_most(search)
    yield from (_beside(search["row"], share) for share in search["shares"][1:])


def _beside(row: str, share: Mapping[str, Any]) -> str:
    ends = f"[{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
    return f"{row}: {share['what']} for {100 * share['value']:.1f}% {ends}, which bounds {share['figure']}"


def cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    """One row as the tables show it; rates in percent and points."""
    outcome = _state(row)
    if row["kind"] == "rate":
        figures = [f"{100 * row[side]:.1f}%" for side in ("baseline", "candidate")]
        change = f"{100 * row['change']:+.1f} [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
        change = "-" if says_nothing(row) else change
        seen = "-" if row["detectable"] is None else f"{100 * row['detectable']:.1f} points"
        return (outcome, row["family"], row["row"], *figures, change, str(row["lost"]), str(row["gained"]), seen)
    figures = ["-" if row[side] is None else f"{row[side]:.3f}" for side in ("baseline", "candidate")]
    numbers = [row[k] for k in ("change", "low", "high")]
    change = "-" if None in numbers or says_nothing(row) else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*numbers)
    seen = "-" if row["detectable"] is None else f"{row['detectable']:.3f}"
    return (outcome, row["family"], row["row"], *figures, change, "-", "-", seen)


def _state(row: Mapping[str, Any]) -> str:
    """What the first column says of a row."""
    if row["outcome"] == "block":
        return "block"
    if not row["gates"]:
        return "part" if row.get("part_of") else "reported"
    return _without_evidence(row) if _kept(row) else str(row["outcome"])


def says_nothing(row: Mapping[str, Any]) -> bool:
    """Whether the change is no finding: a row too small to gate, or an interval around 0 that holds nearly anything.

    That is one that reaches further than `NEARLY_ANYTHING` deltas.
    """
    if not row["gates"] and not row.get("part_of"):
        return True
    delta, low, high = (row.get(name) for name in ("delta", "low", "high"))
    if delta is None or low is None or high is None:
        return False
    return bool(low < 0 < high and max(-low, high) > NEARLY_ANYTHING * delta)


def family_cells(family: Mapping[str, Any]) -> tuple[str, ...]:
    """One family as the tables show it; changes in deltas."""
    change, low = ("-" if family[k] is None else f"{family[k]:+.2f}" for k in ("change", "low"))
    return (family["family"], str(family["rows"]), change, low, "" if family["passes"] else "open")


def meanings(against: Mapping[str, Any]) -> Iterator[str]:
    """What the words of the first column say that are not plain, of those that are in the table."""
    found = {cells(row)[0] for row in against["rows"]}
    yield from (f"{word}: {text}" for word, text in MEANING.items() if word in found)


def _kept(row: Mapping[str, Any]) -> bool:
    """Whether the row could have blocked, has not, and is no evidence."""
    return not row["evidence"] and row["outcome"] != "block"


def _without_evidence(row: Mapping[str, Any]) -> str:
    if row["high"] is not None and row["high"] < 0:
        return "lost"
    return "at chance" if row.get("at_chance") else "kept"


def markdown(gate: Mapping[str, Any], items: Mapping[str, Mapping[str, Sequence[Any]]], *, most: int) -> Iterator[str]:
    """The section of summary.md: verdict, table, reasons, and the first flips with what was edited in them."""
    texts = {name: (columns, i) for columns in items.values() for i, name in enumerate(columns["item"])}
    for line in undecided(gate):
        yield from (f"- {line}", "")
    for against in gate["against"]:
        yield from (f"## Gate against {escape(against['baseline'] + part(against))}: {title(against)}", "")
        yield from (f"- {escape(text)}" for text in list(explained(against))[:most])
        yield from ("", *_table(weighed_rows(against)[:most]), "")
        for row in _with_lost_queries(against)[:most]:
            yield from _blocked(row)
            yield from _lost(row)
        yield from (f"- {text}" for text in meanings(against))
        yield from ("", f"| {' | '.join(FAMILY_HEAD)} |", "| " + " | ".join(["---"] * len(FAMILY_HEAD)) + " |")
        yield from (f"| {' | '.join(map(escape, family_cells(f)))} |" for f in against["families"])
        yield ""
        yield from _folded("what else was lost and won", _flips_elsewhere(against["rows"][:most], texts))
        yield from (line for text in folded(against) for line in _folded(text, _reported(against, most)))


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"| {' | '.join(HEAD)} |", "| " + " | ".join(["---"] * len(HEAD)) + " |")
    yield from (f"| {' | '.join(map(escape, cells(row)))} |" for row in rows)


def _blocked(row: Mapping[str, Any]) -> Iterator[str]:
    """Of a row that blocks: what that means, and three lost items with their edits marked."""
    if row.get("means") and row["outcome"] == "block":
        yield from (f"**{escape(row['row'])}**: {escape(row['means'])}", "")
    for one in row.get("lost_examples", ()):
        texts = "; ".join(
            f"{lost.SIDES[t['side']]} ({lost.scores_of(t)}): *{escape(lost.text_of(t))}*" for t in one["texts"]
        )
        yield f"- lost in {escape(row['row'])}: *{escape(one['source'])}*; {texts}"
    if row.get("lost_examples"):
        yield ""


def _folded(summary: str, body: Iterable[str]) -> Iterator[str]:
    """Lines that are shown on demand; nothing where there are none."""
    if found := list(body):
        yield from (f"<details><summary>{escape(summary)}</summary>", "", *found, "", "</details>", "")


def _flips_elsewhere(
    rows: Sequence[Mapping[str, Any]], texts: Mapping[str, tuple[Mapping[str, Sequence[Any]], int]]
) -> Iterator[str]:
    """What flipped in the rows that do not block."""
    for row in rows:
        if row["outcome"] != "block" and not row.get("endpoint"):
            yield from _flipped(row, texts)


def _reported(against: Mapping[str, Any], most: int) -> Iterator[str]:
    """The rows and cases that do not gate."""
    if rows := reported_rows(against)[:most]:
        yield from (*_table(rows), "")
    yield from (f"- {escape(name)}: {escape(why)}" for name, why in against["reported_only"].items())


def _flipped(row: Mapping[str, Any], texts: Mapping[str, tuple[Mapping[str, Sequence[Any]], int]]) -> Iterator[str]:
    shown = [("lost", i) for i in row["lost_items"][:MAX_FLIPS_IN_SUMMARY]] + [
        ("won", i) for i in row["gained_items"][:MAX_FLIPS_IN_SUMMARY]
    ]
    if not shown:
        return
    yield f"{escape(row['row'])}: {row['lost']} lost, {row['gained']} won"
    yield ""
    for what, name in shown:
        if name in texts:
            columns, i = texts[name]
            source = columns["source"][i]
            near, far = (
                marked(source, columns[s][i] or "", edits_of(columns[f"{s}_edits"][i])) for s in ("near", "far")
            )
            yield f"- {what}: near *{escape(near)}*, far *{escape(far)}* (of *{escape(source)}*)"
    yield ""


def _lost(row: Mapping[str, Any]) -> Iterator[str]:
    for one in row.get("lost_queries", ()):
        query, before, now = (escape(one[name]) for name in ("query", "before", "now"))
        yield f"- lost in {escape(row['row'])}: *{query}*; first before: *{before}*; first now: *{now}*"
    if row.get("lost_queries"):
        yield ""

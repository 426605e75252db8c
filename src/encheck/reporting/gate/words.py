"""The verdict of a gate in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from encheck.gating.types import (
    DEFAULT,
    ChangedShare,
    Gate,
    GateAgainst,
    GateDecision,
    GateRow,
    Judged,
    Outcome,
    PartialGate,
    SecondaryMetric,
    UnjudgedSearch,
)
from encheck.ids import GateRowId
from encheck.reporting.gate.names import name_of, with_data

WORDS = {"pass": "PASSED", "block": "BLOCKED", "inconclusive": "INCONCLUSIVE"}
NOT_YET = "CANNOT TELL YET"
YOURS = "YOUR DECISION"
AFTER = ", AFTER RE-ENCODING"
SAME_MODEL = "The candidate is the same model: no vector moved"
MAX_PROPERTIES_NAMED = 3


def word(against: GateAgainst) -> str:
    """The outcome as it is shown: a search that judging would decide is not inconclusive, but cannot be told yet."""
    waits = any(search.judge for search in against.searches)
    if against.yours:
        return YOURS
    if against.outcome == "pass" and is_after_encoding(against):
        return WORDS["pass"] + AFTER
    return NOT_YET if against.outcome == "inconclusive" and waits else WORDS[against.outcome]


def is_after_encoding(against: GateAgainst) -> bool:
    """Whether documents have to be encoded again before the candidate can search them."""
    return bool(against.reindex and against.reindex.needed)


def what_has_to_change(against: GateAgainst) -> list[str]:
    """What has to change with the model, a sentence each; of a candidate that is blocked, faults of the old index."""
    found = list(against.required_changes)
    return found[: bool(against.index_faults)] if against.outcome == "block" else found


def part(said: Gate | GateDecision) -> str:
    """Which part of the checks was weighed, as it stands beside a verdict; empty where all were."""
    if not said.partial:
        return ""
    named = weighed_in(said.partial)
    return f" (partial: {named})" if named else " (partial)"


def made_for(against: GateDecision) -> str:
    """What the gate decided for, and the margin.

    >>> made_for(Decision("pass", (), (), purpose="search", margin=0.04))
    ', for another model of this search (a loss of 4 points has to be ruled out)'
    """
    if against.purpose == "change" or against.margin is None:
        return ", for the same model, changed (no behaviour may be lost)"
    what = {"search": "this search", "pairs": "these pairs", "similarity": "these graded pairs"}[against.purpose]
    return f", for another model of {what} (a loss of {100 * against.margin:g} points has to be ruled out)"


def weighed_in(partial: PartialGate) -> str:
    """The properties that a partial gate weighed, the first few by name.

    >>> weighed_in(PartialGate(("antonym", "number"), ("roles",), "-m left out roles"))
    'antonym, number'
    """
    names = partial.weighed
    more = len(names) - MAX_PROPERTIES_NAMED
    return ", ".join(names[:MAX_PROPERTIES_NAMED]) + (f" and {more} more" if more > 0 else "")


def title(against: GateAgainst) -> str:
    """The outcome as it is shown, what seed noise widened, and which judgements or queries would decide a search."""
    told = [word(against), widened(against), endpoint_remedy(against)]
    if against.outcome == "inconclusive":
        told += map(asked_for, against.searches)
    return ". ".join(filter(None, told))


def widened(against: GateAgainst) -> str:
    """By how much seed noise widened the loss that matters, of the gate rows; empty where it did not."""
    wider = [row for row in against.rows if row.gates and row.widened > 1]
    if not wider:
        return ""
    most = {row.kind: row.delta for row in sorted(wider, key=lambda row: row.delta)}
    shown = [f"{100 * most['rate']:.1f} points"] if "rate" in most else []
    told = " and ".join([*shown, *([f"{most['mean']:.3f}"] if "mean" in most else [])])
    gates = sum(row.gates for row in against.rows)
    return f"Deltas widened to {told} by seed noise in {len(wider)} of {gates} gate rows"


def headline(gate: Gate) -> Iterator[str]:
    """The gate in a line: the verdict and its weightiest reason, or how people's answers have decided or would.

    A search without labels has a line of its own.
    """
    against = next((one for one in gate.against if one.outcome == gate.outcome), gate.against[0])
    start = f"GATE{part(gate)}"
    said = []
    for search in against.searches:
        if word(against) == NOT_YET and search.judge:
            said.append(f"{start}: {NOT_YET}. {asked_for(search)}{_also_open(against, search)}")
        elif (judged := search.judged) and judged.asked:
            decisive = _decisive(judged, gate.outcome, against.reasons)
            said.append(f"{start}: {word(against)}. {decisive}; {judged.here}")
    yield from said or [". ".join([f"{start}: {word(against)}", *_weightiest(gate, against)])]


def ruled_out(against: GateAgainst) -> str:
    """What a pass shows of its rows of rates; empty where it has none that are evidence."""
    if against.purpose != "change":
        return ""  # the reasons of a yes say so, component by component
    deltas = [row.delta for row in against.rows if row.kind == "rate" and row.gates and row.evidence]
    if not deltas:
        return ""
    most, estimate = (f"{round(100 * share * max(deltas), 1):g} points" for share in (DEFAULT.row, DEFAULT.estimate))
    return f"This rules out a loss of {most} in a row, and none is estimated at {estimate}"


def _weightiest(gate: Gate, against: GateAgainst) -> Iterator[str]:
    """What seed noise widened and the first reason, or that the run fails although the gate passes."""
    yield from filter(None, [widened(against)])
    yield from against.reasons[:1]
    if gate.outcome == "pass":
        yield from filter(None, [ruled_out(against)])
    if gate.outcome == "pass" and gate.exit_code:
        yield f"The run fails all the same (exit code {gate.exit_code})"
    index = against.reindex
    if index and index.same_model:
        yield SAME_MODEL
    elif index and gate.outcome == "pass" and (index.needed or (index.texts and index.needed is None)):
        yield index.says[0].upper() + index.says[1:]


def _also_open(against: GateAgainst, search: UnjudgedSearch) -> str:
    """How many doubts are left once a search is decided, after its command; nothing where none are."""
    others = [text for text in against.reasons if text != f"{search.name}: {search.says}"]
    return f" ({len(others)} other doubts stay)" if len(others) > 1 else " (another doubt stays)" if others else ""


def asked_for(search: UnjudgedSearch) -> str:
    """What decides a search without labels, as a sentence begins; empty where it is decided."""
    return search.asks[:1].upper() + search.asks[1:]


def _decisive(judged: Judged, outcome: Outcome, reasons: Sequence[str]) -> str:
    """What decided: people's answers, unless something else did."""
    if outcome == judged.outcome:
        return judged.favoured if outcome == "block" else f"{judged.said}; {judged.why}"
    return reasons[0] if reasons else judged.said


def undecided(gate: Gate) -> list[str]:
    """What an inconclusive gate counts as, in a line; none for one that decided."""
    if gate.outcome != "inconclusive":
        return []
    if gate.partial:
        return [
            f"the gate is partial: it counts as exit code {gate.exit_code}, since a part of the checks never passes"
        ]
    return [f"the gate is inconclusive, which counts as exit code {gate.exit_code} (--inconclusive pass|block)"]


def explained(against: GateAgainst, *, commands: bool = True, remedies: bool = True) -> Iterator[str]:
    """What decided, and what to know beside the table, line by line.

    `commands` says what to type to decide, `remedies` what else can be done.
    """
    yield from against.reasons
    yield from dropped_in(against)
    yield from traded(against)
    yield from (f"to decide: {text}" for text in against.remedies if remedies)
    yield from _of_endpoint(against)
    for search in against.searches:
        yield from _of_search(search, against, commands=commands)
    yield from _score(against)
    if (partial := against.partial) and not any(partial.why in text for text in against.reasons):
        yield f"the gate is partial: {partial.why}"
    if against.seed_noise:
        measured_on = f", as {against.replicates} seed replicates show" if against.replicates else ""
        yield f"seeds alone move a gate row by {against.seed_noise:.2f} deltas{measured_on}"
    yield from against.notes


def _primary_rows(against: GateDecision) -> list[GateRow]:
    """The rows of primary endpoints."""
    return [row for row in against.rows if row.budget == "primary"]


def endpoint_remedy(against: GateDecision) -> str:
    """Which judgements or further queries would decide; empty if nothing is open, or no number of them would."""
    found = [
        f"{row.unjudged:,} queries have a first answer that nobody judged: add judgements of these (unjudged.tsv)"
        for row in _primary_rows(against)
        if row.unjudged
    ]
    found += [row.remedy.says for row in _primary_rows(against) if row.remedy]
    return found[0] if found and against.outcome == "inconclusive" else ""


def _of_endpoint(against: GateDecision) -> Iterator[str]:
    """Of a primary endpoint: the figure that decides, the alpha of it and the others, and what stands beside it."""
    rows, decides = _primary_rows(against), against.purpose != "change"
    shares = {row.budget: row.alpha for row in reversed(against.rows) if row.gates}
    others = [
        f"{name} at {100 * alpha:g}% together" for name, alpha in shares.items() if name != "primary" and not decides
    ]
    for row in rows:
        first = "tested" if decides else "tested first"
        tested = f"{first}, at {100 * row.alpha:.2g}%" if row.gates else "reported only"
        yield f"{row.name}: the primary endpoint is {', '.join([row.endpoint, tested, *others])}"
        if row.beside:
            beside = [_other_metric(one, told=row.gates) for one in row.beside]
            yield f"{row.name}, beside it and not tested: {'; '.join(beside)}"


def _other_metric(one: SecondaryMetric, *, told: bool) -> str:
    """Both figures, and the change where there are queries enough for one."""
    change = f", {one.change:+.3f} [{one.low:+.3f}, {one.high:+.3f}]" if told else ""
    return f"{one.metric} {one.baseline:.3f} to {one.candidate:.3f}{change}"


def traded(against: GateAgainst) -> Iterator[str]:
    """What else moved for certain and by a loss or gain that matters, for another model: it decides nothing."""
    if against.purpose == "change":
        return
    decides = {*against.yours, *(row.name for row in against.rows if row.evidence)}
    beside = [
        row for row in against.rows
        if row.gates and not row.evidence and not row.part_of
        and not {row.name, GateRowId(row.name).property} & decides
    ]  # fmt: skip
    of_several = with_data(against.rows)
    for word_, sign in (("better", 1), ("worse", -1)):
        moved = [row for row in beside
                 if sign * (row.low if sign > 0 else row.high) > 0 and sign * row.change >= row.delta]  # fmt: skip
        if moved:
            names = ", ".join(
                _with_change(row, of_several=of_several) for row in sorted(moved, key=lambda row: -sign * row.change)
            )
            yield f"{word_}, and decides nothing: {names}"


def _with_change(row: GateRow, *, of_several: bool) -> str:
    change = f"{100 * row.change:+.1f} points" if row.kind == "rate" else f"{row.change:+.3f}"
    return f"{name_of(row, with_data=of_several)} ({change})"


def dropped_in(against: GateAgainst) -> Iterator[str]:
    """Whether stored vectors stay, and what becomes of a threshold in use; no outcome says either."""
    if against.reindex:
        yield against.reindex.says
    yield from (one.says for one in against.scales)
    yield from (one.says for one in against.thresholds)


def _score(against: GateAgainst) -> Iterator[str]:
    """The balanced score before and now; a dash for a blocked candidate, which nobody should select."""
    before, after = against.balanced.baseline, against.balanced.candidate
    head = "balanced score (sensitivity, invariance, retrieval)"
    if before is not None and against.outcome == "block":
        yield f"{head}: {before:.3f} before, - now (a blocked model has none)"
    elif before is not None and after is not None:
        yield f"{head}: {before:.3f} before, {after:.3f} now"


def _of_search(search: UnjudgedSearch, against: GateAgainst, *, commands: bool) -> Iterator[str]:
    """What changed in the answers to queries without labels, and what to type where judging them would decide."""
    said = f"{search.name}: {search.says}"
    if said not in against.reasons:
        yield said
    if search.judged and search.judged.answered:
        yield search.judged.here
    if commands and search.asks and against.outcome == "inconclusive":
        yield asked_for(search)
    yield from (_beside(search.name, share) for share in search.shares[1:])


def _beside(row: str, share: ChangedShare) -> str:
    ends = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{row}: {share.what} for {100 * share.value:.1f}% {ends}, which bounds {share.figure}"

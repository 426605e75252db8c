"""The verdict of a gate in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.gating.types import DEFAULT, Judged, Outcome
from encheck.ids import GateRowId
from encheck.reporting import endpoint
from encheck.reporting.gate.names import name_of, with_data

WORDS = {"pass": "PASSED", "block": "BLOCKED", "inconclusive": "INCONCLUSIVE"}
NOT_YET = "CANNOT TELL YET"
YOURS = "YOUR DECISION"
AFTER = ", AFTER RE-ENCODING"
SAME_MODEL = "The candidate is the same model: no vector moved"
MAX_PROPERTIES_NAMED = 3


def word(against: Mapping[str, Any]) -> str:
    """The outcome as it is shown: a search that judging would decide is not inconclusive, but cannot be told yet."""
    waits = any(search["judge"] for search in against.get("searches", ()))
    if against.get("yours"):
        return YOURS
    if against["outcome"] == "pass" and is_after_encoding(against):
        return WORDS["pass"] + AFTER
    return NOT_YET if against["outcome"] == "inconclusive" and waits else WORDS[against["outcome"]]


def is_after_encoding(against: Mapping[str, Any]) -> bool:
    """Whether documents have to be encoded again before the candidate can search them."""
    return bool((against.get("reindex") or {}).get("needed"))


def what_has_to_change(against: Mapping[str, Any]) -> list[str]:
    """What has to change with the model, a sentence each; of a candidate that is blocked, the faults of the old index.

    >>> what_has_to_change({"outcome": "block", "required_changes": ["Encode all documents again."]})
    []
    """
    found: list[str] = list(against.get("required_changes", ()))
    return found[: bool(against.get("index_faults"))] if against["outcome"] == "block" else found


def part(said: Mapping[str, Any]) -> str:
    """Which part of the checks was weighed, as it stands beside a verdict; empty where all were.

    >>> part({"partial": {"weighed": ["antonym", "number"]}}), part({"partial": None})
    (' (partial: antonym, number)', '')
    """
    if not said.get("partial"):
        return ""
    named = weighed_in(said["partial"])
    return f" (partial: {named})" if named else " (partial)"


def made_for(against: Mapping[str, Any]) -> str:
    """What the gate decided for, and the margin.

    >>> made_for({"purpose": "search", "margin": 0.04})
    ', for another model of this search (a loss of 4 points has to be ruled out)'
    """
    if (purpose := against.get("purpose", "change")) == "change":
        return ", for the same model, changed (no behaviour may be lost)"
    what = {"search": "this search", "pairs": "these pairs", "similarity": "these graded pairs"}[purpose]
    return f", for another model of {what} (a loss of {100 * against['margin']:g} points has to be ruled out)"


def weighed_in(partial: Mapping[str, Any]) -> str:
    """The properties that a partial gate weighed, the first few by name."""
    names = partial["weighed"]
    more = len(names) - MAX_PROPERTIES_NAMED
    return ", ".join(names[:MAX_PROPERTIES_NAMED]) + (f" and {more} more" if more > 0 else "")


def title(against: Mapping[str, Any]) -> str:
    """The outcome as it is shown, what seed noise widened, and which judgements or queries would decide a search."""
    told = [word(against), widened(against), endpoint.remedy(against)]
    if against["outcome"] == "inconclusive":
        told += map(asked_for, against.get("searches", ()))
    return ". ".join(filter(None, told))


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


def headline(gate: Mapping[str, Any]) -> Iterator[str]:
    """The gate in a line: the verdict and its weightiest reason, or how people's answers have decided or would.

    A search without labels has a line of its own.
    """
    against = next((one for one in gate["against"] if one["outcome"] == gate["outcome"]), gate["against"][0])
    start = f"GATE{part(gate)}"
    said = []
    for search in against.get("searches", ()):
        if word(against) == NOT_YET and search["judge"]:
            said.append(f"{start}: {NOT_YET}. {asked_for(search)}{_also_open(against, search)}")
        elif search.get("judged") and search["judged"]["asked"]:
            said.append(f"{start}: {word(against)}. {_decisive(search, gate['outcome'], against['reasons'])}"
                        f"; {Judged(**search['judged']).here}")  # fmt: skip
    yield from said or [". ".join([f"{start}: {word(against)}", *_weightiest(gate, against)])]


def ruled_out(against: Mapping[str, Any]) -> str:
    """What a pass shows of its rows of rates; empty where it has none that are evidence.

    >>> ruled_out({"rows": [{"kind": "rate", "gates": True, "evidence": True, "delta": 0.02}]})
    'This rules out a loss of 4 points in a row, and none is estimated at 2 points'
    """
    if against.get("purpose", "change") != "change":
        return ""  # the reasons of a yes say so, component by component
    deltas = [row["delta"] for row in against["rows"] if row["kind"] == "rate" and row["gates"] and row["evidence"]]
    if not deltas:
        return ""
    most, estimate = (f"{round(100 * share * max(deltas), 1):g} points" for share in (DEFAULT.row, DEFAULT.estimate))
    return f"This rules out a loss of {most} in a row, and none is estimated at {estimate}"


def _weightiest(gate: Mapping[str, Any], against: Mapping[str, Any]) -> Iterator[str]:
    """What seed noise widened and the first reason, or that the run fails although the gate passes."""
    yield from filter(None, [widened(against)])
    yield from against["reasons"][:1]
    if gate["outcome"] == "pass":
        yield from filter(None, [ruled_out(against)])
    if gate["outcome"] == "pass" and gate["exit_code"]:
        yield f"The run fails all the same (exit code {gate['exit_code']})"
    index = against.get("reindex") or {}
    if index.get("same_model"):
        yield SAME_MODEL
    elif gate["outcome"] == "pass" and (index.get("needed") or (index.get("texts") and index["needed"] is None)):
        yield index["says"][0].upper() + index["says"][1:]


def _also_open(against: Mapping[str, Any], search: Mapping[str, Any]) -> str:
    """How many doubts are left once a search is decided, after its command; nothing where none are."""
    others = [text for text in against["reasons"] if text != f"{search['row']}: {search['says']}"]
    return f" ({len(others)} other doubts stay)" if len(others) > 1 else " (another doubt stays)" if others else ""


def asked_for(search: Mapping[str, Any]) -> str:
    """What decides a search without labels, as a sentence begins; empty where it is decided."""
    return str(search["asks"][:1].upper() + search["asks"][1:])


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
    if gate.get("partial"):
        return [
            f"the gate is partial: it counts as exit code {gate['exit_code']}, since a part of the checks never passes"
        ]
    return [f"the gate is inconclusive, which counts as exit code {gate['exit_code']} (--inconclusive pass|block)"]


def explained(against: Mapping[str, Any], *, commands: bool = True, remedies: bool = True) -> Iterator[str]:
    """What decided, and what to know beside the table, line by line.

    `commands` says what to type to decide, `remedies` what else can be done.
    """
    yield from against["reasons"]
    yield from dropped_in(against)
    yield from traded(against)
    yield from (f"to decide: {text}" for text in against.get("remedies", ()) if remedies)
    yield from endpoint.lines(against)
    for search in against.get("searches", ()):
        yield from _of_search(search, against, commands=commands)
    yield from _score(against)
    if (partial := against.get("partial")) and not any(partial["why"] in text for text in against["reasons"]):
        yield f"the gate is partial: {partial['why']}"
    if against["seed_noise"]:
        yield f"seeds alone move a gate row by {against['seed_noise']:.2f} deltas{_measured_on(against)}"
    yield from against["notes"]


def traded(against: Mapping[str, Any]) -> Iterator[str]:
    """What else moved for certain and by a loss or gain that matters, for another model: it decides nothing."""
    if against.get("purpose", "change") == "change":
        return
    decides = {*against.get("yours", ()), *(row["row"] for row in against["rows"] if row["evidence"])}
    beside = [
        row for row in against["rows"]
        if row["gates"] and not row["evidence"] and not row.get("part_of")
        and not {row["row"], GateRowId(row["row"]).property} & decides
    ]  # fmt: skip
    of_several = with_data(against["rows"])
    for word_, sign in (("better", 1), ("worse", -1)):
        moved = [row for row in beside if (ends := row["low" if sign > 0 else "high"]) is not None
                 and sign * ends > 0 and sign * row["change"] >= row["delta"]]  # fmt: skip
        if moved:
            names = ", ".join(
                _with_change(row, of_several=of_several) for row in sorted(moved, key=lambda row: -sign * row["change"])
            )
            yield f"{word_}, and decides nothing: {names}"


def _with_change(row: Mapping[str, Any], *, of_several: bool) -> str:
    change = f"{100 * row['change']:+.1f} points" if row["kind"] == "rate" else f"{row['change']:+.3f}"
    return f"{name_of(row, with_data=of_several)} ({change})"


def dropped_in(against: Mapping[str, Any]) -> Iterator[str]:
    """Whether stored vectors stay, and what becomes of a threshold in use; no outcome says either."""
    if against.get("reindex"):
        yield against["reindex"]["says"]
    yield from (one["says"] for one in (*against.get("scales", ()), *against.get("thresholds", ())))


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
    if (search.get("judged") or {}).get("answered"):
        yield Judged(**search["judged"]).here
    if commands and search["asks"] and against["outcome"] == "inconclusive":
        yield asked_for(search)
    yield from (_beside(search["row"], share) for share in search["shares"][1:])


def _beside(row: str, share: Mapping[str, Any]) -> str:
    ends = f"[{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
    return f"{row}: {share['what']} for {100 * share['value']:.1f}% {ends}, which bounds {share['figure']}"

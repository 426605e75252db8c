"""Advice after a gate: how to resolve an inconclusive one, and what has to change when the model is replaced."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from encheck.gating.baseline import STORED
from encheck.gating.old_index import OldIndex
from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ThresholdShift
from encheck.gating.types import GateDecision
from encheck.ids import GateRowId
from encheck.run_file import ModelEntry

MAX_DATA_FACTOR = 5.0  # times the items: collecting more than that is unrealistic
MAX_NAMED = 3  # rows listed by name
Wanted = tuple[str, str, float | None]  # the open row or family, its data, how many times its items would decide


def suggest_remedies(decision: GateDecision, *, sampled: Collection[str] = ()) -> tuple[str, ...]:
    """Ways to resolve an inconclusive gate, one a line; empty if the gate decided or no row or family is open.

    `sampled` names the data sets that were sampled. Primary endpoints are left out: they have their own remedy.
    """
    if decision.outcome != "inconclusive":
        return ()
    rows = [row for row in decision.rows if row.evidence and row.outcome == "inconclusive" and not row.endpoint]
    wanted: list[Wanted] = [
        (row.name, GateRowId(row.name).data, row.needed / row.n if row.needed else None) for row in rows
    ]
    for one in decision.families:
        if not one.passes:
            data = {GateRowId(row.name).data for row in decision.rows if row.family == one.family and row.evidence}
            wanted.append((f"family {one.family}", data.pop() if len(data) == 1 else "", one.more))
    if not wanted:
        return ()
    said = [*_more_data_remedies(wanted, sampled)]
    if rates := [row for row in rows if row.kind == "rate" and row.needed and row.gained + row.lost]:
        worst = max(rates, key=lambda row: (row.needed or 0) / row.n)
        now = (worst.gained + worst.lost) / worst.n
        enough = now * worst.n / (worst.needed or worst.n)
        said.append(
            f"a candidate that changes less: {now:.1%} of the items of {worst.name} flip, and the same change would be "
            f"decided with {enough:.1%} (train less far, or average the weights with the baseline's)"
        )
    if not decision.seed_noise and decision.replicates is None:  # seed noise was not measured
        said.append(
            "other seeds: train the candidate again and gate it; three --twin models show how much the baseline "
            "varies by seed"
        )
    return tuple(said)


def _more_data_remedies(wanted: Sequence[Wanted], sampled: Collection[str]) -> Iterator[str]:
    """How many more items would decide, and where to get them."""
    near = [one for one in wanted if one[2] is not None and one[2] <= MAX_DATA_FACTOR]
    if near:
        most = max(more for *_, more in near if more is not None)
        named = _name_first([one[0] for one in near])
        data = {one[1] for one in near}
        more_of = ["--sample all"] * bool(data & set(sampled)) + ["--data probes:fresh=SEED"] * ("probes" in data)
        options = " or ".join([*more_of, "pairs or triplets of your own"])
        yield f"more data: {most:.1f} times the items would decide {named} ({options}, in a new baseline too)"
    far = [name for name, _, more in wanted if more is None or more > MAX_DATA_FACTOR]
    if far:
        yield (
            f"more data alone will hardly decide {_name_first(far)}: the loss is close to what matters, or too many "
            "items flip both ways"
        )


def _name_first(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


BUILT_IN = "probes"
UNCHANGED_SHARE = 0.01  # of the pairs: a threshold stays if the share it accepts changes by no more
ADAPTER_FILE = "adapter.npz"


def row_spans(rows: Sequence[int], most: int = 6) -> str:
    """Ascending row numbers as spans.

    >>> row_spans([1, 2, 3, 7])
    '1-3, 7'
    """
    ends: list[list[int]] = []
    for row in rows:
        if ends and row == ends[-1][1] + 1:
            ends[-1][1] = row
        else:
            ends.append([row, row])
    said = [str(first) if first == last else f"{first}-{last}" for first, last in ends[:most]]
    return ", ".join(said) + (f" and {len(ends) - most:,} more" if len(ends) > most else "")


def list_required_changes(
    old: ModelEntry,
    new: ModelEntry,
    *,
    reindex: Reindex | None,
    index: OldIndex | None,
    thresholds: Sequence[ThresholdShift],
) -> Iterator[str]:
    """The steps to replace the old model, one sentence each, in order; empty if the vectors are the same.

    `old` and `new` are models as results.json describes them; `index` describes the index of the old model's vectors.
    """
    if index and index.faults:
        yield f"Repair these rows of the old index, or rebuild the index: {row_spans(index.faults.rows)}."
    if reindex and reindex.same_model:
        return
    yield from _index_changes(new.label, reindex, index) if reindex else ()
    sizes = old.dimension, new.dimension
    if None not in sizes and sizes[0] != sizes[1]:
        yield f"Create the index with {sizes[1]} dimensions instead of {sizes[0]}."
    prompts = [one.prompts_used for one in (old, new)]
    for role in ("query", "document"):
        before, after = (prompt.get(role, "") for prompt in prompts)
        if role in prompts[1] and before != after:
            name = {"query": "queries", "document": "documents"}[role]
            instead = f" instead of {before!r}" if before else ""
            yield f"Put {repr(after) if after else 'nothing'} before {name}{instead}."
    yield from _threshold_changes(thresholds)
    licences = [one.licence or "not stated" for one in (old, new)]
    if licences[0] != licences[1] and old.adapter != STORED:
        yield f"Check the licence: {licences[1]} instead of {licences[0]}."


def _threshold_changes(thresholds: Sequence[ThresholdShift]) -> Iterator[str]:
    """The new value of each threshold, mapped on the user's data if possible, else on the built-in sentences."""
    for threshold in dict.fromkeys(one.threshold for one in thresholds):
        shifts = [one for one in thresholds if one.threshold == threshold]
        mapped = [one for one in shifts if one.same is not None]
        for one in [one for one in mapped if one.data != BUILT_IN] or mapped:
            if abs(one.now - one.before) > UNCHANGED_SHARE:
                yield f"Move the threshold {threshold:g} to {one.same:.3g}, which accepts the same share of {one.data}."
        if not mapped and any(one.accepted < one.pairs for one in shifts):
            yield f"Choose a new value for the threshold {threshold:g}: too few pairs here reach it to map it."


def _index_changes(new: str, reindex: Reindex, index: OldIndex | None) -> Iterator[str]:
    """Which stored vectors have to be replaced; empty if all stay valid."""
    if reindex.needed and reindex.up_to:
        count = f"{reindex.longer:,} of {index.documents:,} documents" if index and reindex.longer else "the documents"
        yield (
            f"Encode {count} again with {new}: those of more than {reindex.up_to:,} {reindex.unit}. The other vectors "
            "stay valid."
        )
    elif reindex.needed:
        every = f"all {index.documents:,} documents" if index else "all documents"
        instead = ""
        if index and index.direct and index.direct.is_as_good:
            instead = f" Until then, its queries find as much in the old index ({index.direct.says})."
        elif index and index.adapter and index.mapped:
            instead = (
                f" Until then, its queries find as much in the old index after {ADAPTER_FILE} ({index.mapped.says})."
            )
        yield f"Encode {every} again with {new}: old and new vectors do not mix.{instead}"
    elif reindex.only_by_cosine:
        yield f"Compare by cosine in your index, or encode all documents again with {new}: vector lengths differ."
    elif reindex.needed is None and reindex.texts:
        yield f"Find out whether stored vectors stay valid: {reindex.answer}."

"""What a gate says besides its verdict: the checks that it left out, remedies, and what a replacement has to change.

A gate that left out checks although its data allow them is partial: it can block, but it never passes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import ceil

from encheck.claims import CONTRACT
from encheck.gating.baseline import STORED, Baseline
from encheck.gating.old_index import OldIndex
from encheck.gating.pairing import is_used_by_gate
from encheck.gating.reindex import Reindex
from encheck.gating.scale_shift import ThresholdShift
from encheck.gating.types import GateDecision, PartialGate
from encheck.ids import GateRowId
from encheck.run_file import ModelEntry, RunFile
from encheck.statistics.sharing import FEW


def unselected_cases(baseline: Baseline, results: RunFile) -> set[str]:
    """Return the cases (check/data/level) that the run did not select, and those on data that the run lacks."""
    names = set(results.selection.unselected if results.selection else ())
    checks = {name.partition("/")[0] for name in names}
    data = {one.name for one in results.data}
    return names | {name for name, case in baseline.cases.items() if case.data not in data and case.check in checks}


def find_left_out_checks(
    baseline: Baseline,
    results: RunFile,
    *,
    model: str,
    weighed: Sequence[str],
    uncompared: Sequence[str] = (),
    missing: Sequence[str] = (),
    compares_quality: bool = True,
) -> PartialGate | None:
    """Return which checks the gate left out, or None if it used every check that its data allow.

    `weighed` are the properties that both models were measured on, `uncompared` those that only the candidate was
    measured on. `missing` are the cases that only one model has. `compares_quality` is true if behaviour, a search with
    labels, or a query log with a loaded old model was compared. With stored vectors, a log only shows how many answers
    change. Checks that no gate uses, and checks without an item in the data, do not count as left out.
    """
    about = next(one for one in results.models if one.label == model)
    selected_out = results.selection.left_out if results.selection else ()
    lacking = {
        baseline.model.label: _cases_without_vectors(baseline.model.lacks, results),
        model: _cases_without_vectors(about.lacks, results),
    }
    why = []
    if selected_out:
        why.append(f"the selection left out checks that these data allow, such as {_join_first_names(selected_out)}")
    data = {one.name for one in results.data}
    if any(
        baseline.cases[name].data not in data for name in unselected_cases(baseline, results) & baseline.cases.keys()
    ):
        why.append("no check was run on some of the baseline's data")
    then, now = ({*one.check_packages} for one in (baseline.summary.settings, results.run.settings))
    for names, side in ((then - now, "the baseline"), (now - then, "the candidate")):
        if names:
            why.append(
                f"only {side} was run with checks of the package {', '.join(sorted(names))}. Remedy: list the packages "
                "in check-packages of [tool.encheck], and make the baseline again with --save-baseline"
            )
    if uncompared:
        why.append(f"the baseline lacks cases ({', '.join(uncompared)})")
    if missing and not about.error:  # a model that cannot encode has no case at all, and is blocked
        why.append(f"only one side has {len(missing)} case{'s' * (len(missing) > 1)}")
    why += [f"{label} is a file of vectors and lacks texts of {len(some)} case{'s' * (len(some) > 1)}"
            for label, some in lacking.items() if some]  # fmt: skip
    if not compares_quality and not why and not about.error:
        why.append(
            "neither behaviour nor a search with labels was compared. Remedy: name the old model, not its vectors, or "
            "give labels (--data retrieval:PATH)"
        )
    if results.first_look is not None:
        why.append("the run stopped after its first look")
    left_out = {*selected_out, *uncompared, *(name for some in lacking.values() for name in some.values())}
    return PartialGate(tuple(weighed), tuple(sorted(left_out)), "; ".join(why)) if why else None


def _cases_without_vectors(cases: Sequence[str], results: RunFile) -> dict[str, str]:
    """Return the properties of cases that a gate uses but that have no vectors, by case.

    Contracts are left out, because they do not apply to stored vectors.
    """
    properties = {row.check: row.property for row in results.checks}
    lacking = {}
    for case in cases:
        check = case.partition("/")[0]
        declared = results.declarations.get(check)
        if declared is None or (declared.family != CONTRACT and is_used_by_gate(declared)):
            lacking[case] = properties.get(check, check)
    return lacking


def apply_partial(decision: GateDecision, partial: PartialGate | None) -> GateDecision:
    """Return the decision of a partial gate. A pass becomes inconclusive: left-out checks may have got worse."""
    if partial is None or decision.outcome != "pass":
        return replace(decision, partial=partial, yours=() if partial else decision.yours)
    return replace(decision, outcome="inconclusive", reasons=(partial_gate_reason(partial.why),), partial=partial)


def partial_gate_reason(why: str) -> str:
    """Return the reason why a gate that would pass is inconclusive; `why` says why checks were left out."""
    return f"no loss that matters was found in this part, but only a gate of all checks can pass: {why}"


MAX_DATA_FACTOR = 5.0  # times the items: collecting more than that is unrealistic
MAX_NAMED = 3  # rows listed by name
Wanted = tuple[str, str, float | None]  # the open row or family, its data, how many times its items would decide


def suggest_remedies(decision: GateDecision, *, sampled: Collection[str] = ()) -> tuple[str, ...]:
    """Return ways to resolve an inconclusive gate, one per line; empty if the gate decided or no row or family is open.

    `sampled` names the data sets that were sampled. Primary endpoints, and families of these alone, are skipped,
    because they have their own remedy.
    """
    if decision.outcome != "inconclusive":
        return ()
    rows = [row for row in decision.rows if row.evidence and row.outcome == "inconclusive" and not row.endpoint]
    wanted: list[Wanted] = [
        (row.name, GateRowId(row.name).data, row.needed / row.n if row.needed else None) for row in rows
    ]
    for one in decision.families:
        its = [row for row in decision.rows if row.family == one.family and row.evidence]
        if not one.passes and not all(row.remedy for row in its):
            data = {GateRowId(row.name).data for row in its}
            wanted.append((f"family {one.family}", data.pop() if len(data) == 1 else "", one.more))
    if not wanted:
        return ()
    said = [*_more_data_remedies(wanted, sampled)]
    # With few flips, the number of items is the limit, not the flips.
    if rates := [row for row in rows if row.kind == "rate" and row.needed and
                 (row.gained + row.lost) * row.n >= FEW * row.needed]:  # fmt: skip
        worst = max(rates, key=lambda row: (row.needed or 0) / row.n)
        now = (worst.gained + worst.lost) / worst.n
        enough = now * worst.n / (worst.needed or worst.n)
        said.append(
            f"a candidate that changes less: {now:.1%} of the items of {worst.name} flip; if {enough:.1%} did, these "
            f"data would decide the same change (train for fewer steps, or average the weights with the baseline's)"
        )
    if not decision.seed_noise and decision.replicates is None:  # seed noise was not measured
        said.append(
            "other seeds: train the candidate again and gate it; three --twin models show how much the baseline "
            "varies by seed"
        )
    return tuple(said)


def _more_data_remedies(wanted: Sequence[Wanted], sampled: Collection[str]) -> Iterator[str]:
    """Yield how many more items would decide the gate, and where to get them."""
    near = [one for one in wanted if one[2] is not None and one[2] <= MAX_DATA_FACTOR]
    if near:
        most = ceil(10 * max(more for *_, more in near if more is not None)) / 10
        named = _join_first_names([one[0] for one in near])
        data = {one[1] for one in near}
        more_of = ["--sample all"] * bool(data & set(sampled)) + ["--data probes:fresh=SEED"] * ("probes" in data)
        options = " or ".join([*more_of, "pairs or triplets of your own"])
        yield f"more data: {most:.1f} times the items would decide {named} ({options}, also for a new baseline)"
    far = [name for name, _, more in wanted if more is None or more > MAX_DATA_FACTOR]
    if far:
        yield (
            f"more data alone will hardly decide {_join_first_names(far)}: the loss is close to what matters, or too "
            "many items flip both ways"
        )


def _join_first_names(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


BUILT_IN = "probes"
UNCHANGED_SHARE = 0.01  # of the pairs: a threshold stays if the share it accepts changes by no more
ADAPTER_FILE = "adapter.npz"


def row_numbers_in_words(rows: Sequence[int], max_spans: int = 6) -> str:
    """Return ascending row numbers as text, with consecutive numbers joined to spans.

    >>> row_numbers_in_words([1, 2, 3, 7])
    '1-3, 7'
    """
    ends: list[list[int]] = []
    for row in rows:
        if ends and row == ends[-1][1] + 1:
            ends[-1][1] = row
        else:
            ends.append([row, row])
    said = [str(first) if first == last else f"{first}-{last}" for first, last in ends[:max_spans]]
    return ", ".join(said) + (f" and {len(ends) - max_spans:,} more" if len(ends) > max_spans else "")


def list_required_changes(
    old: ModelEntry,
    new: ModelEntry,
    *,
    reindex: Reindex | None,
    index: OldIndex | None,
    thresholds: Sequence[ThresholdShift],
) -> Iterator[str]:
    """Yield the steps to replace the old model, in order, one sentence each; none if the vectors are the same.

    `old` and `new` are the models' entries in results.json. `index` is the check of the index of the old model's
    vectors.
    """
    if index and index.faults:
        yield f"Repair these rows of the old index, or rebuild the index: {row_numbers_in_words(index.faults.rows)}."
    if reindex and reindex.same_model:
        return
    yield from _vectors_to_encode_again(new.label, reindex, index) if reindex else ()
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
    # The new value of each threshold, mapped on the user's data if possible, else on the built-in sentences.
    for threshold in dict.fromkeys(one.threshold for one in thresholds):
        shifts = [one for one in thresholds if one.threshold == threshold]
        mapped = [one for one in shifts if one.same is not None]
        for one in [one for one in mapped if one.data != BUILT_IN] or mapped:
            accepts = one.accepts or 0.0
            if abs(one.now - one.before) > max(UNCHANGED_SHARE, abs(accepts - one.before)):
                share = "the same share" if accepts == one.before else f"{100 * accepts:.1f}%"
                yield f"Move the threshold {threshold:g} to {one.same:.12g}, which accepts {share} of {one.data}."
        if not mapped and any(one.accepted < one.pairs for one in shifts):
            yield f"Choose a new value for the threshold {threshold:g}: too few pairs score that high to derive one."
    licences = [one.licence or "not stated" for one in (old, new)]
    if licences[0] != licences[1] and old.adapter != STORED:
        yield f"Check the licence: {licences[1]} instead of {licences[0]}."


def _vectors_to_encode_again(new: str, reindex: Reindex, index: OldIndex | None) -> Iterator[str]:
    """Yield which stored vectors have to be replaced; none if all stay valid."""
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
            instead = f" Until then, the old index answers the queries of {new} as well ({index.direct.says})."
        elif index and index.adapter and index.mapped:
            instead = (
                f" Until then, with {ADAPTER_FILE} the old index answers the queries of {new} as well "
                f"({index.mapped.says})."
            )
        yield f"Encode {every} again with {new}: old and new vectors do not mix.{instead}"
    elif reindex.only_by_cosine:
        yield f"Compare by cosine in your index, or encode all documents again with {new}: vector lengths differ."
    elif reindex.needed is None and reindex.texts:
        yield f"Find out whether stored vectors stay valid: {reindex.answer}."

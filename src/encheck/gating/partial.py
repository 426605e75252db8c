"""A gate of a part of the checks: what it left out of all that its data allow to weigh, and that it never passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from encheck.claims import CONTRACT
from encheck.gating.baseline import Baseline
from encheck.gating.pairing import is_weighed
from encheck.gating.types import GateDecision, PartialGate
from encheck.run_file import RunFile

MOST_NAMED = 3  # properties


def unselected(baseline: Baseline, results: RunFile) -> set[str]:
    """The cases that the run left out, by name (check/data/level); of data that it lacks, those of such checks."""
    names = set(results.selection.unselected if results.selection else ())
    checks = {name.partition("/")[0] for name in names}
    data = {one.name for one in results.data}
    return names | {name for name, case in baseline.cases.items() if case.data not in data and case.check in checks}


def partial_gate(
    baseline: Baseline,
    results: RunFile,
    *,
    model: str,
    weighed: Sequence[str],
    uncompared: Sequence[str] = (),
    missing: Sequence[str] = (),
    has_behaviour: bool = True,
) -> PartialGate | None:
    """What a gate left out; None where it weighed all that its data allow.

    `weighed` and `uncompared` are properties: those that both sides have, and those of the candidate that its baseline
    was not asked for. `missing` are the cases that only one side has. `has_behaviour` says whether behaviour or a
    search with labels was compared, or a log with a model in use: of vectors, a log says only how many answers change.
    What no gate weighs, and checks without an item in the data, are not left out.
    """
    about = next(one for one in results.models if one.label == model)
    selected_out = results.selection.left_out if results.selection else ()
    lacking = {
        baseline.model.label: _lacking(baseline.model.lacks, results),
        model: _lacking(about.lacks, results),
    }
    why = []
    if selected_out:
        more = len(selected_out) - MOST_NAMED
        named = ", ".join(selected_out[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        why.append(f"the selection left out checks that these data allow, such as {named}")
    data = {one.name for one in results.data}
    if any(baseline.cases[name].data not in data for name in unselected(baseline, results) & baseline.cases.keys()):
        why.append("the baseline has other data, of which no check was run")
    then, now = ({*one.check_packages} for one in (baseline.summary.settings, results.run.settings))
    for names, side in ((then - now, "the baseline"), (now - then, "the candidate")):
        if names:
            why.append(
                f"only {side} was run with checks of the package {', '.join(sorted(names))}. Remedy: check-packages "
                "of [tool.encheck] names those that take part, and --save-baseline makes the baseline again"
            )
    if uncompared:
        why.append(f"the baseline lacks cases ({', '.join(uncompared)})")
    if missing and not about.error:  # a model that cannot encode lacks them all, and is blocked
        why.append(f"only one side has {_cases(len(missing))}")
    why += [f"{label} is a file of vectors and lacks texts of {_cases(len(some))}"
            for label, some in lacking.items() if some]  # fmt: skip
    if not has_behaviour and not why:
        why.append(
            "neither behaviour nor a search with labels was compared. Remedy: name the old model, not its vectors, or "
            "give labels (--data retrieval:PATH)"
        )
    if results.first_look is not None:
        why.append("the run stopped after its first look")
    left_out = {*selected_out, *uncompared, *(name for some in lacking.values() for name in some.values())}
    return PartialGate(tuple(weighed), tuple(sorted(left_out)), "; ".join(why)) if why else None


def _lacking(cases: Sequence[str], results: RunFile) -> dict[str, str]:
    """Of cases without vectors those that a gate weighs, with their properties; stored vectors keep no contract."""
    properties = {row.check: row.property for row in results.checks}
    lacking = {}
    for case in cases:
        check = case.partition("/")[0]
        declared = results.declarations.get(check)
        if declared is None or (declared.family != CONTRACT and is_weighed(declared)):
            lacking[case] = properties.get(check, check)
    return lacking


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def with_partial(decision: GateDecision, partial: PartialGate | None) -> GateDecision:
    """The decision of a gate of this part: what it would pass is open, since what was left out may have got worse."""
    if partial is None or decision.outcome != "pass":
        return replace(decision, partial=partial, yours=() if partial else decision.yours)
    return replace(decision, outcome="inconclusive", reasons=(partial_reason(partial.why),), partial=partial)


def partial_reason(why: str) -> str:
    """Why a gate that would pass is open where `why` left out checks."""
    return f"no loss that matters was found in this part, but only a gate of all checks can pass: {why}"

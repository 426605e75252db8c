"""A partial gate: the checks that it left out although its data allow them, and why it never passes."""

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
    """The cases (check/data/level) that the run's selection left out, or that are on data that the run lacks."""
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
    """What a gate left out; None if it used every check that its data allow.

    `weighed` are the properties that both sides have, `uncompared` those that only the candidate was measured on.
    `missing` are the cases that only one side has. `has_behaviour`: behaviour, a search with labels, or a query log
    with a loaded old model was compared. With stored vectors, a log only shows how many answers change.
    Checks that no gate uses, and checks without an item in the data, do not count as left out.
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
        why.append("the baseline has data on which no check was run")
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
        why.append(f"only one side has {_cases(len(missing))}")
    why += [f"{label} is a file of vectors and lacks texts of {_cases(len(some))}"
            for label, some in lacking.items() if some]  # fmt: skip
    if not has_behaviour and not why and not about.error:
        why.append(
            "neither behaviour nor a search with labels was compared. Remedy: name the old model, not its vectors, or "
            "give labels (--data retrieval:PATH)"
        )
    if results.first_look is not None:
        why.append("the run stopped after its first look")
    left_out = {*selected_out, *uncompared, *(name for some in lacking.values() for name in some.values())}
    return PartialGate(tuple(weighed), tuple(sorted(left_out)), "; ".join(why)) if why else None


def _lacking(cases: Sequence[str], results: RunFile) -> dict[str, str]:
    """The cases without vectors that a gate uses, with their properties; contracts do not apply to stored vectors."""
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
    """The decision of a partial gate: a pass becomes inconclusive, since left-out checks may have got worse."""
    if partial is None or decision.outcome != "pass":
        return replace(decision, partial=partial, yours=() if partial else decision.yours)
    return replace(decision, outcome="inconclusive", reasons=(partial_reason(partial.why),), partial=partial)


def partial_reason(why: str) -> str:
    """The reason why a gate that would pass is inconclusive; `why` says why checks were left out."""
    return f"no loss that matters was found in this part, but only a gate of all checks can pass: {why}"

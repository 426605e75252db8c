"""How the models of a run compare with those whose item scores ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from encheck.engine.recorder import Conclusion, Recorder
from encheck.gating.baseline import Baseline, tables_of
from encheck.gating.reference import SHIPPED, Role, differences, of_properties, shipped
from encheck.gating.weighing import Side, side_of, side_of_baseline
from encheck.options import Settings, described
from encheck.reporting.reference import as_dict
from encheck.scoring.scores import Scale

Results = Mapping[str, Any]


def references_of(recorder: Recorder, settings: Settings) -> list[dict[str, Any]]:
    """The `references` of results.json; none on data that none of them was measured on."""
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    baselines = list(shipped(results))
    if not baselines:
        return []
    sides = {model["label"]: (model, side_of(results, recorder.items, model["label"])) for model in results["models"]}
    return [
        one
        for name, (model, side) in sides.items()
        for one in (*_with_parent(recorder, results, model, side), *_against_all(baselines, recorder, model, side))
    ]


def for_profile(recorder: Recorder, settings: Settings) -> list[dict[str, Any]]:
    """What a profile is paired with: of each model the properties against the reference, and no capabilities."""
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    references = [one for one in shipped(results) if SHIPPED[one.model.label] == "reference"]
    found = []
    for model in results["models"]:
        side = side_of(results, recorder.items, model["label"])
        for baseline in references:
            if model["fingerprint"] != baseline.model.fingerprint:
                before = side_of_baseline(baseline, side, recorder.parts)
                properties = of_properties(before, side, is_look=recorder.first_look is not None)
                name = baseline.model.label
                found.append(as_dict(model["label"], name, "reference", (), properties))
    return found


def _against_all(
    baselines: Sequence[Baseline], recorder: Recorder, model: Mapping[str, Any], side: Side
) -> Iterator[dict[str, Any]]:
    """One model against each reference but itself; a reference that is its parent is called so."""
    parent = recorder.parent(model["label"]) or {}
    is_look = recorder.first_look is not None
    for baseline in baselines:
        name, is_same = baseline.model.label, _is_same(model, baseline.model.weights)
        is_itself = model["fingerprint"] == baseline.model.fingerprint
        both = (side_of_baseline(baseline, side, recorder.parts), side)
        rows, properties = ((), ()) if is_itself else (differences(*both), of_properties(*both, is_look=is_look))
        is_parent = parent.get("label") == name
        role: Role = "parent" if is_parent else SHIPPED[name]
        by = parent["named_by"] if is_parent else ""
        if rows or (is_same and model["label"] != name):
            is_other = is_same and not is_itself
            yield as_dict(model["label"], name, role, rows, properties, same_weights=is_other, named_by=by)


def _with_parent(
    recorder: Recorder, results: Results, model: Mapping[str, Any], side: Side
) -> Iterator[dict[str, Any]]:
    """One model against a parent that is none of the references; without a row where the store lacks its vectors."""
    parent = recorder.parent(model["label"])
    if parent is None or parent["label"] in SHIPPED:
        return
    items = {case: {**recorder.items[case], **scores} for case, scores in recorder.parents_scores.items()}
    scales = {name: Scale(**scale) for name, scale in parent["calibration"].items()}
    both = (Side(tables_of(results, items, model["label"]), scales), side)
    yield as_dict(model["label"], parent["label"], "parent", differences(*both), of_properties(*both),
                  same_weights=_is_same(model, parent.get("weights")), named_by=parent["named_by"])  # fmt: skip


def _is_same(model: Mapping[str, Any], weights: str | None) -> bool:
    return weights is not None and model.get("weights") == weights

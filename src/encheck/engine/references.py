"""How the models of a run compare with those whose item scores ship."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from encheck.engine.recorder import Conclusion, Recorder
from encheck.gating.baseline import Baseline, tables_of
from encheck.gating.pairing import ModelScores
from encheck.gating.reference import SHIPPED, capability_differences, property_differences, shipped
from encheck.gating.weighing import scores_of_baseline, scores_of_run
from encheck.options import Settings, described
from encheck.run_file import ModelEntry, Reference, Role, RunFile


def references_of(recorder: Recorder, settings: Settings) -> tuple[Reference, ...]:
    """The `references` of results.json; none on data that none of them was measured on."""
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    baselines = list(shipped(results))
    if not baselines:
        return ()
    sides = [(model, scores_of_run(results, recorder.items, model.label)) for model in results.models]
    return tuple(
        one
        for model, side in sides
        for one in (*_with_parent(recorder, results, model, side), *_against_all(baselines, recorder, model, side))
    )


def for_profile(recorder: Recorder, settings: Settings) -> tuple[Reference, ...]:
    """What a profile is paired with: of each model the properties against the reference, and no capabilities."""
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    references = [one for one in shipped(results) if SHIPPED[one.model.label] == "reference"]
    found = []
    for model in results.models:
        side = scores_of_run(results, recorder.items, model.label)
        for baseline in references:
            if model.fingerprint != baseline.model.fingerprint:
                before = scores_of_baseline(baseline, side, recorder.parts)
                properties = property_differences(before, side, is_look=recorder.first_look is not None)
                name = baseline.model.label
                found.append(Reference(model.label, name, "reference", same_weights=False, properties=properties))
    return tuple(found)


def _against_all(
    baselines: Sequence[Baseline], recorder: Recorder, model: ModelEntry, side: ModelScores
) -> Iterator[Reference]:
    """One model against each reference but itself; a reference that is its parent is called so."""
    parent = recorder.parent(model.label)
    is_look = recorder.first_look is not None
    for baseline in baselines:
        name, is_same = baseline.model.label, _is_same(model, baseline.model.weights)
        is_itself = model.fingerprint == baseline.model.fingerprint
        both = (scores_of_baseline(baseline, side, recorder.parts), side)
        rows, properties = (
            ((), ()) if is_itself else (capability_differences(*both), property_differences(*both, is_look=is_look))
        )
        is_parent = parent is not None and parent.label == name
        role: Role = "parent" if is_parent else SHIPPED[name]
        by = parent.named_by if parent and is_parent else ""
        if rows or (is_same and model.label != name):
            is_other = is_same and not is_itself
            yield Reference(model.label, name, role, is_other, rows, properties, by)


def _with_parent(recorder: Recorder, results: RunFile, model: ModelEntry, side: ModelScores) -> Iterator[Reference]:
    """One model against a parent that is none of the references; without a row where the store lacks its vectors."""
    parent = recorder.parent(model.label)
    if parent is None or parent.label in SHIPPED:
        return
    items = {case: {**recorder.items[case], **scores} for case, scores in recorder.parents_scores.items()}
    both = (ModelScores(tables_of(results, items, model.label), parent.scales), side)
    is_same = _is_same(model, parent.weights)
    rows, properties = capability_differences(*both), property_differences(*both)
    yield Reference(model.label, parent.label, "parent", is_same, rows, properties, parent.named_by)


def _is_same(model: ModelEntry, weights: str | None) -> bool:
    return model.weights is not None and model.weights == weights

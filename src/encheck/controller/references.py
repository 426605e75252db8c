"""How the models of a run without a gate compare with those whose item scores ship."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from encheck.controller.recorder import Conclusion, Recorder
from encheck.gating.baseline import Baseline
from encheck.gating.reference import SHIPPED, of_baseline, shipped
from encheck.gating.weighing import Side, side_of
from encheck.options import Settings, described
from encheck.reporting.reference import as_dict

Results = Mapping[str, Any]


def references_of(recorder: Recorder, settings: Settings) -> list[dict[str, Any]]:
    """The `references` of results.json; none where a baseline was named, or on data that none was measured on."""
    if settings.baseline:
        return []
    results = recorder.results(settings=described(settings), end=Conclusion(0))
    baselines = list(shipped(results))
    if not baselines:
        return []
    sides = {model["label"]: (model, side_of(results, recorder.items, model["label"])) for model in results["models"]}
    found = (_against(one, model, side) for model, side in sides.values() for one in baselines)
    return [one for one in found if one["rows"] or one["same_weights"]]


def _against(baseline: Baseline, model: Mapping[str, Any], side: Side) -> dict[str, Any]:
    """One model against one reference; no row where it is that reference itself."""
    name, weights = baseline.model["label"], model.get("weights")
    is_same = weights is not None and weights == baseline.model.get("weights")
    rows = () if model["fingerprint"] == baseline.model["fingerprint"] else of_baseline(baseline, side)
    return as_dict(model["label"], name, SHIPPED[name], rows, same_weights=is_same and model["label"] != name)

"""The pictures of a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from encheck.operations.threshold.decision import ThresholdReport
from encheck.operations.threshold.rates import BASES, Point
from encheck.operations.threshold.text import at
from encheck.reporting.html.vega_lite import Spec, colour, field, rule, short, spec

SHARE: Spec = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}


def sweep(found: ThresholdReport) -> Spec:
    """What every threshold accepts, with 95% bands; dotted where the thresholds of the answers are."""
    values = [one for base in BASES for one in _rates(found.sweep, base)]
    x = {"field": "threshold", "type": "quantitative", "title": "threshold", "scale": {"zero": False}}
    marks = {found.at: found.why}
    if found.old:
        marks.setdefault(found.old.threshold, "the old number")
    if found.kept:
        marks.setdefault(found.kept.threshold, "keeps the budget")
    return spec(
        "Share accepted at every threshold, with 95% bands",
        [
            *_banded(x, "accepted", ("series", "threshold", "value", "low", "high")),
            *(rule("x", cut, f"{at(cut)}: {note}") for cut, note in marks.items()),
        ],
        values,
    )


def trade(found: ThresholdReport) -> Spec | None:
    """What each false accept buys: the model with its band, surface scorers, and chance on the diagonal."""
    gain = "recall" if any(point.recall for point in found.sweep) else "hits"
    curves = {found.model: found.sweep, **{one.name: one.curve for one in found.rivals}}
    values = [
        {"series": name, "false accepts": short(point.false_accepts.value), "threshold": point.threshold,
         **{k: short(getattr(getattr(point, gain), k)) for k in ("value", "low", "high")}}
        for name, points in curves.items() for point in points if point.false_accepts and getattr(point, gain)
    ]  # fmt: skip
    if not values:
        return None
    values += [{"series": "chance", "false accepts": p, "value": p, "low": p, "high": p} for p in (0.0, 1.0)]
    x = {"field": "false accepts", "title": "false accepts", **SHARE}
    layers = _banded(x, gain, ("series", "threshold", "false accepts", "value", "low", "high"))
    for layer in layers[1:]:
        layer["encoding"]["order"] = {"field": "false accepts"}
    budget = [rule("x", found.promise.budget, "the budget")] if found.promise else []
    return spec(f"{gain} against false accepts, with 95% bands", [*layers, *budget], values)


def behaviours(found: ThresholdReport) -> Spec | None:
    """How many probes of each kind the threshold accepts, with 95% intervals."""
    values = [
        {"kind": one.name, "series": "should get through" if one.kept else "should not", "n": one.n,
         **{k: short(getattr(one.accepted, k)) for k in ("value", "low", "high")}}
        for one in found.behaviours
    ]  # fmt: skip
    if not values:
        return None
    y = {"field": "kind", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 320}}
    return spec(
        f"Probes accepted at {at(found.at)}, by kind",
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"y": y, "x": {"field": "low", "title": "accepted", **SHARE}, "x2": {"field": "high"},
                          "color": colour()}},
            {"mark": {"type": "point", "filled": True, "size": 55},
             "encoding": {"y": y, "x": {"field": "value", **SHARE}, "color": colour(),
                          "tooltip": [field(f) for f in ("kind", "series", "value", "low", "high", "n")]}},
        ],
        values,
        height=20 + 16 * len(values),
    )  # fmt: skip


def _rates(points: tuple[Point, ...], base: str) -> Iterator[dict[str, Any]]:
    for point in points:
        if rate := getattr(point, base):
            yield {"series": base.replace("_", " "), "threshold": point.threshold,
                   **{k: short(getattr(rate, k)) for k in ("value", "low", "high")}}  # fmt: skip


def _banded(x: Spec, title: str, told: tuple[str, ...]) -> list[Spec]:
    return [
        {"mark": {"type": "area", "opacity": 0.2},
         "encoding": {"x": x, "y": {"field": "low", "title": title, **SHARE}, "y2": {"field": "high"},
                      "color": colour()}},
        {"mark": {"type": "line", "strokeWidth": 2.5},
         "encoding": {"x": x, "y": {"field": "value", **SHARE}, "color": colour()}},
        {"mark": {"type": "point", "opacity": 0, "size": 60},
         "encoding": {"x": x, "y": {"field": "value", **SHARE}, "color": colour(),
                      "tooltip": [field(f) for f in told]}},
    ]  # fmt: skip

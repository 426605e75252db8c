"""The pictures of the report: the papers' own figures, drawn from a run's results, in the language of Vega-Lite.

Colours are those of Okabe and Ito, which readers who see no red or no green can tell apart; what a colour says, a
dash or a mark says too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from encheck.reporting.view import best_surface, surface_curve
from encheck.run_file import Result
from encheck.scoring.frame import ItemFrame

Spec = dict[str, Any]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def layered_spec(description: str, layer: list[Spec], values: list[Any] | None = None, **more: Any) -> Spec:
    """A specification of layers, as wide as its place; `values` are the data of those layers that have none."""
    data = {"data": {"values": values}} if values is not None else {}
    size: Spec = {"width": "container", "height": 220, "autosize": {"type": "fit-x", "contains": "padding"}}
    return {"$schema": SCHEMA, "description": description, **size, **more, **data, "layer": layer}


def panel_spec(description: str, values: list[Any], unit: Spec) -> Spec:
    """One picture a `panel` of the values, side by side; a plain one where there is one panel alone."""
    names = list(dict.fromkeys(v["panel"] for v in values))
    if len(names) == 1:
        return layered_spec(description, [unit], values)
    facet = {"field": "panel", "type": "nominal", "title": None, "sort": names}
    return {"$schema": SCHEMA, "description": description, "data": {"values": values}, "facet": facet, "columns": 3,
            "spec": {"width": 240, "height": 150, **unit}}  # fmt: skip


def dotted_rule(axis: str, at: float, note: str) -> Spec:
    """A dotted line across at one place, with what it says when pointed at."""
    return {"data": {"values": [{"at": at, "note": note}]}, "mark": {"type": "rule", "strokeDash": [2, 3]},
            "encoding": {axis: {"field": "at", "type": "quantitative"}, "tooltip": nominal_field("note")}}  # fmt: skip


def series_colour() -> Spec:
    """Colour by series."""
    return {"field": "series", "type": "nominal", "title": None, "scale": {"range": list(COLOURS)},
            "legend": {"orient": "top", "columns": 3, "labelLimit": 320, "symbolOpacity": 1}}  # fmt: skip


def nominal_field(name: str) -> Spec:
    """A field as it is."""
    return {"field": name, "type": "nominal"}


def four_decimals(value: Any) -> float | None:
    """Four decimals are more than a picture shows."""
    return None if value is None else round(float(value), 4)


SeriesRow = tuple[str, Result]  # the name of a line, and its figure
BINS = 40


def margin_curve_chart(lines: Sequence[SeriesRow], *, calibrated: bool) -> Spec | None:
    """The share of items with a margin above epsilon (Mahajan et al. 2023, Figures 1 to 6), with a 95% band.

    One line a series (level, and model where there are several), that of word overlap dashed.
    """
    name = "margin_rate_calibrated" if calibrated else "margin_rate"
    found = [(series, row) for series, row in lines if row.metric == name and row.curve]
    if not found:
        return None
    chosen = {float(row.params.get("epsilon", 0.0)) for _, row in found}
    ends = _epsilon_range(found, chosen)
    x = {"field": "epsilon", "type": "quantitative", "title": "epsilon", "scale": {"domain": ends, "nice": False}}
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}
    kind = "calibrated" if calibrated else "raw"
    surface = list(_surface_values(found))
    dashed = {
        "data": {"values": surface},
        "mark": {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.5, "opacity": 0.7, "clip": True},
        "encoding": {
            "x": x,
            "y": {"field": "value", **share},
            "color": series_colour(),
            "detail": nominal_field("series"),
        },
    }
    data = {"values": list(_curve_values(found))}
    y = {"field": "value", "title": "share of items", **share}
    band = {
        "data": data,
        "encoding": {"x": x, "color": series_colour()},
        "layer": [
            {"mark": {"type": "area", "opacity": 0.2, "clip": True},
             "encoding": {"y": {"field": "low", **share}, "y2": {"field": "high"}}},
            {"mark": {"type": "line", "strokeWidth": 2.5, "clip": True}, "encoding": {"y": y}},
            {"mark": {"type": "point", "opacity": 0, "size": 60, "clip": True},
             "encoding": {"y": y, "tooltip": [nominal_field(f) for f in ("series", "epsilon", "value", "count")]}},
        ],
    }  # fmt: skip
    return layered_spec(
        f"Share of items with a {kind} margin above epsilon",
        [
            band,
            *([dashed] if surface else []),
            *(dotted_rule("x", epsilon, "epsilon asked for") for epsilon in sorted(chosen)),
        ],
    )


def _epsilon_range(lines: Iterable[SeriesRow], chosen: Iterable[float]) -> list[float]:
    """From where the first curve leaves all items to where the last one has none left, with what was asked for."""
    points = [point for _, row in lines for point in row.curve]
    bends = [point.epsilon for point in points if 0.01 < point.value < 0.99]
    found = [*bends, *chosen] if bends else [point.epsilon for point in points]
    low, high = min(found), max(found)
    return [round(low - 0.02, 3), round(high + 0.02, 3)]


def _curve_values(lines: Iterable[SeriesRow]) -> Iterable[dict[str, Any]]:
    for series, row in lines:
        for p in row.curve:
            yield {"series": series, "epsilon": round(p.epsilon, 3), "count": p.count, "value": four_decimals(p.value),
                   "low": four_decimals(p.low), "high": four_decimals(p.high)}  # fmt: skip


def _surface_values(lines: Iterable[SeriesRow]) -> Iterable[dict[str, Any]]:
    for series, row in lines:
        for p in surface_curve(row):
            yield {"series": series, "epsilon": round(p.epsilon, 3), "value": four_decimals(p.value)}


def margin_chart(cases: Mapping[str, ItemFrame], scales: Mapping[str, float] | None = None) -> Spec | None:
    """How much nearer the near text is than the far one, item by item: wrong left of zero, right on its other side.

    In the unit of each case's calibrated scale where `scales` has it, else raw. One line a case; where there is one
    case, bars in two colours. The axis ends where 99% of the items lie.
    """
    found = {name: _margins(frame) / (scales or {}).get(name, 1.0) for name, frame in cases.items() if frame.is_contest}
    every = np.concatenate([*found.values(), np.zeros(0)])
    if not len(every):
        return None
    ends = np.array([min(0.0, np.quantile(every, 0.005)), max(0.0, np.quantile(every, 0.995))])
    step = max(float(ends[1] - ends[0]), 1e-6) / BINS
    edges = step * np.arange(np.floor(ends[0] / step), np.ceil(ends[1] / step) + 1)  # zero is an edge
    values = [v for name, one in found.items() for v in _shares(name, np.clip(one, edges[0], edges[-1] - 1e-12), edges)]
    unit = "calibrated" if scales else "raw"
    x = {"field": "margin", "type": "quantitative", "title": f"margin ({unit})", "axis": {"labelOverlap": True},
         "scale": {"domain": [four_decimals(edges[0]), four_decimals(edges[-1])], "nice": False}}  # fmt: skip
    y = {"field": "share", "type": "quantitative", "axis": {"format": "%"}, "title": "share of items"}
    tip = {"tooltip": [nominal_field(f) for f in ("series", "margin", "share")]}
    title = f"How much nearer the right text is, {unit}"
    if len(found) > 1:
        line = {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "color": series_colour(), **tip}}  # fmt: skip
        return layered_spec(title, [line, dotted_rule("x", 0.0, "as near as each other")], values)
    bars = {"mark": {"type": "bar", "binSpacing": 0.5},
            "encoding": {"x": {**x, "bin": {"binned": True}}, "x2": {"field": "end"}, "y": y, **tip,
                         "color": {"field": "side", "type": "nominal", "title": None,
                                   "scale": {"domain": ["wrong", "right"], "range": [COLOURS[1], COLOURS[0]]},
                                   "legend": {"orient": "top"}}}}  # fmt: skip
    return layered_spec(title, [bars, dotted_rule("x", 0.0, "as near as each other")], values)


def _margins(frame: ItemFrame) -> Any:
    near, far = frame.near_and_far()
    found = near - far
    return found[np.isfinite(found)]


def _shares(name: str, found: Any, edges: Any) -> Iterable[dict[str, Any]]:
    for start, end, count in zip(edges, edges[1:], np.histogram(found, edges)[0], strict=False):
        side = "wrong" if start < 0 and end <= 1e-9 else "right"
        yield {"series": name, "margin": four_decimals(start), "end": four_decimals(end), "side": side,
               "share": four_decimals(count / max(len(found), 1))}  # fmt: skip


def similarity_chart(cases: Mapping[str, ItemFrame]) -> Spec | None:
    """Similarities of what should be near and of what should be far: histograms of one case, ranges of several."""
    values = [v for name, frame in cases.items() for v in _histogram(name, frame)]
    if not values:
        return None
    title = "Similarity of what should be near and what should be far"
    side = {"field": "side", "type": "nominal", "title": None, "legend": {"orient": "top"},
            "scale": {"domain": ["near", "far"], "range": list(COLOURS[:2])}}  # fmt: skip
    if len(cases) > 1:
        return _ranges(title, [v for name, frame in cases.items() for v in _spread(name, frame)], side)
    unit = {
        "mark": {"type": "area", "interpolate": "step", "opacity": 0.45, "line": {"strokeWidth": 2}},
        "encoding": {
            "x": {"field": "similarity", "type": "quantitative", "title": "similarity", "scale": {"zero": False}},
            "y": {"field": "share", "type": "quantitative", "stack": None, "axis": {"format": "%"},
                  "title": "share of items"},
            "color": side, "tooltip": [nominal_field(f) for f in ("side", "similarity", "share")],
        },
    }  # fmt: skip
    return layered_spec(title, [unit], values)


def _ranges(title: str, values: list[Any], side: Spec) -> Spec:
    """A line from the 5th to the 95th percentile of each side of each case, with its median."""
    y = {"field": "series", "type": "nominal", "title": None, "sort": None}
    x = {
        "type": "quantitative",
        "title": "similarity, 5th to 95th percentile with the median",
        "scale": {"zero": False},
    }
    offset = {"yOffset": {"field": "side"}, "color": side}
    tip = {"tooltip": [nominal_field(f) for f in ("series", "side", "low", "middle", "high")]}
    layer = [
        {"mark": {"type": "rule", "strokeWidth": 3},
         "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}, **offset, **tip}},
        {"mark": {"type": "point", "filled": True, "size": 70},
         "encoding": {"y": y, "x": {"field": "middle", **x}, **offset, **tip}},
    ]  # fmt: skip
    return layered_spec(title, layer, values, height={"step": 18})


def _spread(name: str, frame: ItemFrame) -> Iterable[dict[str, Any]]:
    for side, scores in zip(("near", "far"), frame.near_and_far(), strict=True):
        if len(kept := scores[np.isfinite(scores)]):
            low, middle, high = (four_decimals(q) for q in np.quantile(kept, (0.05, 0.5, 0.95)))
            yield {"series": name, "side": side, "low": low, "middle": middle, "high": high}


def _histogram(name: str, frame: ItemFrame) -> Iterable[dict[str, Any]]:
    both = zip(("near", "far"), frame.near_and_far(), strict=True)
    sides = {side: scores[np.isfinite(scores)] for side, scores in both}
    every = np.concatenate([*sides.values(), np.zeros(0)])
    if not len(every):
        return
    edges = np.linspace(float(every.min()), float(every.max()) + 1e-9, BINS + 1)
    for side, scores in sides.items():
        for edge, count in zip(edges, np.histogram(scores, edges)[0], strict=False):
            yield {
                "panel": name,
                "side": side,
                "similarity": four_decimals(edge),
                "share": four_decimals(count / max(len(scores), 1)),
            }


def step_chart(lines: Sequence[SeriesRow], *, title: str, axis: str) -> Spec | None:
    """Accuracy at each step of a chain (Peng, Weir and Weeds 2023, Figures 1 and 3), with intervals."""
    values = [
        {"series": series, "step": int(row.metric.rpartition("_")[2]), "value": four_decimals(row.value),
         "low": four_decimals(row.low), "high": four_decimals(row.high),
         "surface": four_decimals((best_surface(row) or (None, None))[1])}
        for series, row in lines if row.metric and row.metric.startswith("accuracy_") and row.value is not None
    ]  # fmt: skip
    if not values:
        return None
    x = {"field": "step", "type": "ordinal", "title": axis, "axis": {"labelAngle": 0}}
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}, "title": "right"}
    return layered_spec(
        title,
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x, "y": {"field": "low", **share}, "y2": {"field": "high"}, "color": series_colour()}},
            {"mark": {"type": "line", "point": {"size": 50}},
             "encoding": {"x": x, "y": {"field": "value", **share}, "color": series_colour(),
                          "tooltip": [nominal_field(f) for f in ("series", "step", "value", "low", "high")]}},
            {"mark": {"type": "line", "strokeDash": [5, 4], "opacity": 0.7},
             "encoding": {"x": x, "y": {"field": "surface", **share}, "color": series_colour(),
                          "detail": nominal_field("series")}},
        ],
        values,
    )  # fmt: skip


def chain_chart(cases: Mapping[str, ItemFrame], *, axis: str) -> Spec | None:
    """Mean similarity of the exact paraphrase (0) and of each further member of the chains, with a 95% band."""
    values = [v for name, frame in cases.items() for v in _profile(name, frame)]
    if not values:
        return None
    x = {"field": "step", "type": "ordinal", "title": axis, "axis": {"labelAngle": 0}}
    y = {"type": "quantitative", "scale": {"zero": False}, "title": "similarity"}
    return layered_spec(
        "Similarity down the chain",
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}, "color": series_colour()}},
            {"mark": {"type": "line", "point": {"size": 50}},
             "encoding": {"x": x, "y": {"field": "value", **y}, "color": series_colour(),
                          "tooltip": [nominal_field(f) for f in ("series", "step", "value", "n")]}},
        ],
        values,
    )  # fmt: skip


def _profile(name: str, frame: ItemFrame) -> Iterable[dict[str, Any]]:
    step, (near, far) = np.array(frame.steps, int), frame.near_and_far()
    for k in (0, *sorted(set(step.tolist()))):
        scores = far[step == k] if k else near[step == 1]
        half = 1.96 * float(scores.std()) / max(len(scores), 1) ** 0.5
        mean = float(scores.mean())
        yield {"series": name, "step": k, "value": four_decimals(mean), "low": four_decimals(mean - half),
               "high": four_decimals(mean + half), "n": len(scores)}  # fmt: skip


def divergence_chart(frame: ItemFrame) -> Spec | None:
    """How far paraphrases and others are in words (Peinelt et al. 2019, Figures 1 and 2); one panel a split."""
    from encheck.language.divergence import jsd

    labels = np.array([-1 if label is None else label for label in frame.labels])
    if not {0, 1} <= set(labels.tolist()):
        return None
    found = jsd(frame.sources, frame.near.texts)
    splits = np.array([split or "all" for split in frame.splits])
    values = [v for split in sorted(set(splits)) for v in _divergences(split, found, labels, splits)]
    return panel_spec(
        "Lexical divergence of the pairs by label",
        values,
        {
            "mark": {"type": "area", "interpolate": "step", "opacity": 0.45, "line": {"strokeWidth": 2}},
            "encoding": {
                "x": {"field": "divergence", "type": "quantitative", "title": "Jensen-Shannon divergence"},
                "y": {"field": "share", "type": "quantitative", "stack": None, "axis": {"format": "%"},
                      "title": "share of pairs"},
                "color": {"field": "side", "type": "nominal", "title": None,
                          "scale": {"domain": ["paraphrases", "others"], "range": list(COLOURS[:2])}},
                "tooltip": [nominal_field(f) for f in ("panel", "side", "divergence", "share")],
            },
        },
    )  # fmt: skip


def _divergences(split: str, found: Any, labels: Any, splits: Any) -> Iterable[dict[str, Any]]:
    edges = np.linspace(0, 1, BINS // 2 + 1)
    for label, side in ((1, "paraphrases"), (0, "others")):
        here = found[(labels == label) & (splits == split)]
        for edge, count in zip(edges, np.histogram(here, edges)[0], strict=False):
            yield {
                "panel": split,
                "side": side,
                "divergence": four_decimals(edge),
                "share": four_decimals(count / max(len(here), 1)),
            }

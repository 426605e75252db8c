"""The pictures of the report, as Vega-Lite specifications: the papers' own figures, drawn from a run's results.

A specification is plain data. The page draws it; colours are those of Okabe and Ito, which readers who see no red or no
green can tell apart, and what a colour says a dash or a mark says too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Row = Mapping[str, Any]
Spec = dict[str, Any]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
OVERLAP = "#7f7f7f"
BINS = 40
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def margin_curves(rows: Sequence[Row], *, calibrated: bool) -> Spec | None:
    """The share of items with a margin above epsilon (Mahajan et al. 2023, Figures 1 to 6), with a 95% band.

    One line a series (level, and model where there are several), its word overlap dashed.
    """
    name = "margin_rate_calibrated" if calibrated else "margin_rate"
    found = [row for row in rows if row["metric"] == name and row.get("curve")]
    if not found:
        return None
    chosen = {float(row["params"].get("epsilon", 0.0)) for row in found}
    x = {"field": "epsilon", "type": "quantitative", "title": "epsilon"}
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}
    kind = "calibrated" if calibrated else "raw"
    overlap = list(_overlap_values(found))
    dashed = {
        "data": {"values": overlap},
        "mark": {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.5, "opacity": 0.7},
        "encoding": {"x": x, "y": {"field": "value", **share}, "color": _colour(), "detail": _field("series")},
    }
    return _spec(
        f"Share of items with a {kind} margin above epsilon",
        [
            _band({"values": list(_curve_values(found))}, x, share),
            *([dashed] if overlap else []),
            *(_rule("x", epsilon, "epsilon asked for") for epsilon in sorted(chosen)),
        ],
    )


def _band(data: Spec, x: Spec, share: Spec) -> Spec:
    y = {"field": "value", "title": "share of items", **share}
    return {
        "data": data,
        "encoding": {"x": x, "color": _colour()},
        "layer": [
            {"mark": {"type": "area", "opacity": 0.2},
             "encoding": {"y": {"field": "low", **share}, "y2": {"field": "high"}}},
            {"mark": {"type": "line", "strokeWidth": 2.5}, "encoding": {"y": y}},
            {"mark": {"type": "point", "opacity": 0, "size": 60},
             "encoding": {"y": y, "tooltip": [_field(f) for f in ("series", "epsilon", "value", "count")]}},
        ],
    }  # fmt: skip


def _curve_values(rows: Iterable[Row]) -> Iterable[dict[str, Any]]:
    for row in rows:
        for p in row["curve"]:
            yield {"series": series(row), "epsilon": round(p["epsilon"], 3), "count": p["count"],
                   **{k: _short(p[k]) for k in ("value", "low", "high")}}  # fmt: skip


def _overlap_values(rows: Iterable[Row]) -> Iterable[dict[str, Any]]:
    for row in rows:
        for p in (row["lexical"] or {}).get("curve") or []:
            yield {"series": series(row), "epsilon": round(p["epsilon"], 3), "value": _short(p["value"])}


def similarities(cases: Mapping[str, Mapping[str, Sequence[Any]]]) -> Spec | None:
    """Histograms of the similarities of what should be near and of what should be far, one panel a case."""
    values = [v for name, columns in cases.items() for v in _histogram(name, columns)]
    if not values:
        return None
    return _panels(
        "Similarity of what should be near and what should be far",
        values,
        {
            "mark": {"type": "area", "interpolate": "step", "opacity": 0.45, "line": {"strokeWidth": 2}},
            "encoding": {
                "x": {"field": "similarity", "type": "quantitative", "title": "similarity", "scale": {"zero": False}},
                "y": {"field": "share", "type": "quantitative", "stack": None, "axis": {"format": "%"},
                      "title": "share of items"},
                "color": {"field": "side", "type": "nominal", "title": None,
                          "scale": {"domain": ["near", "far"], "range": list(COLOURS[:2])}},
                "tooltip": [_field(f) for f in ("panel", "side", "similarity", "share")],
            },
        },
    )  # fmt: skip


def _histogram(name: str, columns: Mapping[str, Sequence[Any]]) -> Iterable[dict[str, Any]]:
    sides = near_and_far(columns)
    every = np.concatenate([*sides.values(), np.zeros(0)])
    if not len(every):
        return
    edges = np.linspace(float(every.min()), float(every.max()) + 1e-9, BINS + 1)
    for side, scores in sides.items():
        for edge, count in zip(edges, np.histogram(scores, edges)[0], strict=False):
            yield {
                "panel": name,
                "side": side,
                "similarity": _short(edge),
                "share": _short(count / max(len(scores), 1)),
            }


def near_and_far(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The scores of the two sides: near and far texts of triplets, or positive and negative pairs; shape [n] each."""
    near = np.array(columns["near_score"], float)
    far = np.array([np.nan if v is None else v for v in columns["far_score"]], float)
    if not np.isnan(far).all():
        found = {"near": near, "far": far[[text is not None for text in columns["far"]]]}
    else:
        negative = np.array([label == 0 for label in columns["label"]], bool)
        found = {"near": near[~negative], "far": near[negative]}
    return {side: scores[np.isfinite(scores)] for side, scores in found.items()}


def steps(rows: Sequence[Row], *, title: str, axis: str) -> Spec | None:
    """Accuracy at each step of a chain (Peng, Weir and Weeds 2023, Figures 1 and 3), with intervals."""
    values = [
        {"series": series(row), "step": int(row["metric"].rpartition("_")[2]),
         **{k: _short(row[k]) for k in ("value", "low", "high")},
         "overlap": _short((row["lexical"] or {}).get("value"))}
        for row in rows if row["metric"] and row["metric"].startswith("accuracy_") and row["value"] is not None
    ]  # fmt: skip
    if not values:
        return None
    x = {"field": "step", "type": "ordinal", "title": axis, "axis": {"labelAngle": 0}}
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}, "title": "right"}
    return _spec(
        title,
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x, "y": {"field": "low", **share}, "y2": {"field": "high"}, "color": _colour()}},
            {"mark": {"type": "line", "point": {"size": 50}},
             "encoding": {"x": x, "y": {"field": "value", **share}, "color": _colour(),
                          "tooltip": [_field(f) for f in ("series", "step", "value", "low", "high")]}},
            {"mark": {"type": "line", "strokeDash": [5, 4], "opacity": 0.7},
             "encoding": {"x": x, "y": {"field": "overlap", **share}, "color": _colour(), "detail": _field("series")}},
        ],
        values,
    )  # fmt: skip


def profile(cases: Mapping[str, Mapping[str, Sequence[Any]]], *, axis: str) -> Spec | None:
    """Mean similarity of the exact paraphrase (0) and of each further member of the chains, with a 95% band."""
    values = [v for name, columns in cases.items() for v in _profile(name, columns)]
    if not values:
        return None
    x = {"field": "step", "type": "ordinal", "title": axis, "axis": {"labelAngle": 0}}
    y = {"type": "quantitative", "scale": {"zero": False}, "title": "similarity"}
    return _spec(
        "Similarity down the chain",
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}, "color": _colour()}},
            {"mark": {"type": "line", "point": {"size": 50}},
             "encoding": {"x": x, "y": {"field": "value", **y}, "color": _colour(),
                          "tooltip": [_field(f) for f in ("series", "step", "value", "n")]}},
        ],
        values,
    )  # fmt: skip


def _profile(name: str, columns: Mapping[str, Sequence[Any]]) -> Iterable[dict[str, Any]]:
    step = np.array([int(item.rpartition("/")[2]) for item in columns["item"]])
    near, far = (np.array(columns[f"{side}_score"], float) for side in ("near", "far"))
    for k in (0, *sorted(set(step.tolist()))):
        scores = far[step == k] if k else near[step == 1]
        half = 1.96 * float(scores.std()) / max(len(scores), 1) ** 0.5
        mean = float(scores.mean())
        yield {"series": name, "step": k, "value": _short(mean), "low": _short(mean - half),
               "high": _short(mean + half), "n": len(scores)}  # fmt: skip


def divergence(columns: Mapping[str, Sequence[Any]]) -> Spec | None:
    """How far paraphrases and others are in words (Peinelt et al. 2019, Figures 1 and 2); one panel a split."""
    from encheck.language.divergence import jsd

    labels = np.array([-1 if label is None else label for label in columns["label"]])
    if not {0, 1} <= set(labels.tolist()):
        return None
    found = jsd(columns["source"], columns["near"])
    splits = np.array([split or "all" for split in columns["split"]])
    values = [v for split in sorted(set(splits)) for v in _divergences(split, found, labels, splits)]
    return _panels(
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
                "tooltip": [_field(f) for f in ("panel", "side", "divergence", "share")],
            },
        },
    )  # fmt: skip


def _divergences(split: str, found: Any, labels: Any, splits: Any) -> Iterable[dict[str, Any]]:
    edges = np.linspace(0, 1, BINS // 2 + 1)
    for label, side in ((1, "paraphrases"), (0, "others")):
        here = found[(labels == label) & (splits == split)]
        for edge, count in zip(edges, np.histogram(here, edges)[0], strict=False):
            yield {"panel": split, "side": side, "divergence": _short(edge), "share": _short(count / max(len(here), 1))}


def differences(rows: Sequence[Mapping[str, Any]], *, against: str) -> Spec | None:
    """Paired differences of runs from the first, with 95% intervals; one line a claim, one colour a run."""
    values = [
        {"claim": f"{row['claim'].replace('_', ' ')} {row['level']}", "series": row["run"],
         **{k: _short(row[k]) for k in ("difference", "low", "high")}}
        for row in rows if row["difference"] is not None
    ]  # fmt: skip
    if not values:
        return None
    y = {"field": "claim", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 480}}
    offset = {"yOffset": {"field": "series"}}
    x = {"type": "quantitative", "title": f"difference from {against}"}
    return _spec(
        f"Differences from {against} on the same items, with 95% intervals",
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}, "color": _colour(), **offset}},
            {"mark": {"type": "point", "filled": True, "size": 55},
             "encoding": {"y": y, "x": {"field": "difference", **x}, "color": _colour(), **offset,
                          "tooltip": [_field(f) for f in ("series", "claim", "difference", "low", "high")]}},
            _rule("x", 0.0, "no difference"),
        ],
        values,
        height=20 + 16 * len(values),
    )  # fmt: skip


def dilemma(points: Sequence[Mapping[str, Any]], *, benchmark: str) -> Spec | None:
    """Benchmark score against behavioural score, one point a model (the dilemma of Mahajan et al. 2023, section 6)."""
    values = [dict(p) for p in points if p["benchmark"] is not None and p["behaviour"] is not None]
    if not values:
        return None
    x = {"field": "benchmark", "type": "quantitative", "title": benchmark, "scale": {"zero": False, "padding": 30}}
    y = {
        "field": "behaviour",
        "type": "quantitative",
        "title": "behavioural score",
        "scale": {"zero": False, "padding": 15},
    }
    return _spec(
        "Benchmark score against behavioural score",
        [
            {"mark": {"type": "point", "filled": True, "size": 90}, "encoding": {"x": x, "y": y, "color": _colour(),
             "tooltip": [_field(f) for f in ("series", "benchmark", "behaviour")]}},
            {"mark": {"type": "text", "align": "left", "dx": 9},
             "encoding": {"x": x, "y": y, "text": _field("series")}},
        ],
        values,
    )  # fmt: skip


def series(row: Row) -> str:
    """The name of a row's line: its model and its level."""
    return f"{row['model']}, {row['level']}"


def _spec(description: str, layer: list[Spec], values: list[Any] | None = None, **more: Any) -> Spec:
    data = {"data": {"values": values}} if values is not None else {}
    size: Spec = {"width": "container", "height": 220, "autosize": {"type": "fit-x", "contains": "padding"}}
    return {"$schema": SCHEMA, "description": description, **size, **more, **data, "layer": layer}


def _panels(description: str, values: list[Any], unit: Spec) -> Spec:
    panels = list(dict.fromkeys(v["panel"] for v in values))
    if len(panels) == 1:
        return _spec(description, [unit], values)
    facet = {"field": "panel", "type": "nominal", "title": None, "sort": panels}
    return {"$schema": SCHEMA, "description": description, "data": {"values": values}, "facet": facet, "columns": 3,
            "spec": {"width": 240, "height": 150, **unit}}  # fmt: skip


def _rule(axis: str, at: float, told: str) -> Spec:
    return {"data": {"values": [{"at": at, "told": told}]}, "mark": {"type": "rule", "strokeDash": [2, 3]},
            "encoding": {axis: {"field": "at", "type": "quantitative"}, "tooltip": _field("told")}}  # fmt: skip


def _colour() -> Spec:
    return {"field": "series", "type": "nominal", "title": None, "scale": {"range": list(COLOURS)},
            "legend": {"orient": "bottom", "columns": 3, "labelLimit": 320, "symbolOpacity": 1}}  # fmt: skip


def _field(name: str) -> Spec:
    return {"field": name, "type": "nominal"}


def _short(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)

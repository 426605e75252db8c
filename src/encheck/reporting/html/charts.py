"""The pictures of the report: the papers' own figures, drawn from a run's results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from encheck.reporting.html.vega_lite import COLOURS, Row, Spec, colour, field, panels, rule, series, short, spec
from encheck.reporting.view import best_surface, surface_curve
from encheck.scoring.frame import Frame

BINS = 40


def margin_curves(rows: Sequence[Row], *, calibrated: bool) -> Spec | None:
    """The share of items with a margin above epsilon (Mahajan et al. 2023, Figures 1 to 6), with a 95% band.

    One line a series (level, and model where there are several), that of word overlap dashed.
    """
    name = "margin_rate_calibrated" if calibrated else "margin_rate"
    found = [row for row in rows if row["metric"] == name and row.get("curve")]
    if not found:
        return None
    chosen = {float(row["params"].get("epsilon", 0.0)) for row in found}
    x = {"field": "epsilon", "type": "quantitative", "title": "epsilon"}
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}}
    kind = "calibrated" if calibrated else "raw"
    surface = list(_surface_values(found))
    dashed = {
        "data": {"values": surface},
        "mark": {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.5, "opacity": 0.7},
        "encoding": {"x": x, "y": {"field": "value", **share}, "color": colour(), "detail": field("series")},
    }
    return spec(
        f"Share of items with a {kind} margin above epsilon",
        [
            _band({"values": list(_curve_values(found))}, x, share),
            *([dashed] if surface else []),
            *(rule("x", epsilon, "epsilon asked for") for epsilon in sorted(chosen)),
        ],
    )


def _band(data: Spec, x: Spec, share: Spec) -> Spec:
    y = {"field": "value", "title": "share of items", **share}
    return {
        "data": data,
        "encoding": {"x": x, "color": colour()},
        "layer": [
            {"mark": {"type": "area", "opacity": 0.2},
             "encoding": {"y": {"field": "low", **share}, "y2": {"field": "high"}}},
            {"mark": {"type": "line", "strokeWidth": 2.5}, "encoding": {"y": y}},
            {"mark": {"type": "point", "opacity": 0, "size": 60},
             "encoding": {"y": y, "tooltip": [field(f) for f in ("series", "epsilon", "value", "count")]}},
        ],
    }  # fmt: skip


def _curve_values(rows: Iterable[Row]) -> Iterable[dict[str, Any]]:
    for row in rows:
        for p in row["curve"]:
            yield {"series": series(row), "epsilon": round(p["epsilon"], 3), "count": p["count"],
                   **{k: short(p[k]) for k in ("value", "low", "high")}}  # fmt: skip


def _surface_values(rows: Iterable[Row]) -> Iterable[dict[str, Any]]:
    for row in rows:
        for p in surface_curve(row):
            yield {"series": series(row), "epsilon": round(p["epsilon"], 3), "value": short(p["value"])}


def _surface_value(row: Row) -> float | None:
    best = best_surface(row)
    return best[1]["value"] if best else None


def similarities(cases: Mapping[str, Frame]) -> Spec | None:
    """Histograms of the similarities of what should be near and of what should be far, one panel a case."""
    values = [v for name, frame in cases.items() for v in _histogram(name, frame)]
    if not values:
        return None
    return panels(
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
                "tooltip": [field(f) for f in ("panel", "side", "similarity", "share")],
            },
        },
    )  # fmt: skip


def _histogram(name: str, frame: Frame) -> Iterable[dict[str, Any]]:
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
                "similarity": short(edge),
                "share": short(count / max(len(scores), 1)),
            }


def steps(rows: Sequence[Row], *, title: str, axis: str) -> Spec | None:
    """Accuracy at each step of a chain (Peng, Weir and Weeds 2023, Figures 1 and 3), with intervals."""
    values = [
        {"series": series(row), "step": int(row["metric"].rpartition("_")[2]),
         **{k: short(row[k]) for k in ("value", "low", "high")},
         "surface": short(_surface_value(row))}
        for row in rows if row["metric"] and row["metric"].startswith("accuracy_") and row["value"] is not None
    ]  # fmt: skip
    if not values:
        return None
    x = {"field": "step", "type": "ordinal", "title": axis, "axis": {"labelAngle": 0}}
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": "%"}, "title": "right"}
    return spec(
        title,
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x, "y": {"field": "low", **share}, "y2": {"field": "high"}, "color": colour()}},
            {"mark": {"type": "line", "point": {"size": 50}},
             "encoding": {"x": x, "y": {"field": "value", **share}, "color": colour(),
                          "tooltip": [field(f) for f in ("series", "step", "value", "low", "high")]}},
            {"mark": {"type": "line", "strokeDash": [5, 4], "opacity": 0.7},
             "encoding": {"x": x, "y": {"field": "surface", **share}, "color": colour(), "detail": field("series")}},
        ],
        values,
    )  # fmt: skip


def profile(cases: Mapping[str, Frame], *, axis: str) -> Spec | None:
    """Mean similarity of the exact paraphrase (0) and of each further member of the chains, with a 95% band."""
    values = [v for name, frame in cases.items() for v in _profile(name, frame)]
    if not values:
        return None
    x = {"field": "step", "type": "ordinal", "title": axis, "axis": {"labelAngle": 0}}
    y = {"type": "quantitative", "scale": {"zero": False}, "title": "similarity"}
    return spec(
        "Similarity down the chain",
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"x": x, "y": {"field": "low", **y}, "y2": {"field": "high"}, "color": colour()}},
            {"mark": {"type": "line", "point": {"size": 50}},
             "encoding": {"x": x, "y": {"field": "value", **y}, "color": colour(),
                          "tooltip": [field(f) for f in ("series", "step", "value", "n")]}},
        ],
        values,
    )  # fmt: skip


def _profile(name: str, frame: Frame) -> Iterable[dict[str, Any]]:
    step, (near, far) = np.array(frame.steps, int), frame.near_and_far()
    for k in (0, *sorted(set(step.tolist()))):
        scores = far[step == k] if k else near[step == 1]
        half = 1.96 * float(scores.std()) / max(len(scores), 1) ** 0.5
        mean = float(scores.mean())
        yield {"series": name, "step": k, "value": short(mean), "low": short(mean - half),
               "high": short(mean + half), "n": len(scores)}  # fmt: skip


def divergence(frame: Frame) -> Spec | None:
    """How far paraphrases and others are in words (Peinelt et al. 2019, Figures 1 and 2); one panel a split."""
    from encheck.language.divergence import jsd

    labels = np.array([-1 if label is None else label for label in frame.labels])
    if not {0, 1} <= set(labels.tolist()):
        return None
    found = jsd(frame.sources, frame.near.texts)
    splits = np.array([split or "all" for split in frame.splits])
    values = [v for split in sorted(set(splits)) for v in _divergences(split, found, labels, splits)]
    return panels(
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
                "tooltip": [field(f) for f in ("panel", "side", "divergence", "share")],
            },
        },
    )  # fmt: skip


def _divergences(split: str, found: Any, labels: Any, splits: Any) -> Iterable[dict[str, Any]]:
    edges = np.linspace(0, 1, BINS // 2 + 1)
    for label, side in ((1, "paraphrases"), (0, "others")):
        here = found[(labels == label) & (splits == split)]
        for edge, count in zip(edges, np.histogram(here, edges)[0], strict=False):
            yield {"panel": split, "side": side, "divergence": short(edge), "share": short(count / max(len(here), 1))}

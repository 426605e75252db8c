"""The pictures of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from encheck.reporting.html.vega_lite import Spec, colour, field, rule, short, spec


def differences(rows: Sequence[Mapping[str, Any]], *, against: str) -> Spec | None:
    """Paired differences of runs from the first, with 95% intervals; one line a case, one colour a run.

    A case is named by check and level, and by its data where there are several.
    """
    several = len({row["data"] for row in rows}) > 1
    values = [
        {"check": f"{row['check'].replace('_', ' ')} {row['level']}" + (f", {row['data']}" if several else ""),
         "series": row["run"],
         **{k: short(row[k]) for k in ("difference", "low", "high")}}
        for row in rows if row["difference"] is not None
    ]  # fmt: skip
    if not values:
        return None
    y = {"field": "check", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 480}}
    offset = {"yOffset": {"field": "series"}}
    x = {"type": "quantitative", "title": f"difference from {against}"}
    return spec(
        f"Differences from {against} on the same items, with 95% intervals",
        [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}, "color": colour(), **offset}},
            {"mark": {"type": "point", "filled": True, "size": 55},
             "encoding": {"y": y, "x": {"field": "difference", **x}, "color": colour(), **offset,
                          "tooltip": [field(f) for f in ("series", "check", "difference", "low", "high")]}},
            rule("x", 0.0, "no difference"),
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
    return spec(
        "Benchmark score against behavioural score",
        [
            {"mark": {"type": "point", "filled": True, "size": 90}, "encoding": {"x": x, "y": y, "color": colour(),
             "tooltip": [field(f) for f in ("series", "benchmark", "behaviour")]}},
            {"mark": {"type": "text", "align": "left", "dx": 9},
             "encoding": {"x": x, "y": y, "text": field("series")}},
        ],
        values,
    )  # fmt: skip

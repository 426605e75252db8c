"""The pictures of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from encheck.reporting.html.vega_lite import Spec, colour, field, spec


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

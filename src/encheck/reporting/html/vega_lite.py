"""What every chart is built of: plain data in the language of Vega-Lite.

Colours are those of Okabe and Ito, which readers who see no red or no green can tell apart; what a colour says, a dash
or a mark says too.
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def spec(description: str, layer: list[Spec], values: list[Any] | None = None, **more: Any) -> Spec:
    """A specification of layers, as wide as its place; `values` are the data of those layers that have none."""
    data = {"data": {"values": values}} if values is not None else {}
    size: Spec = {"width": "container", "height": 220, "autosize": {"type": "fit-x", "contains": "padding"}}
    return {"$schema": SCHEMA, "description": description, **size, **more, **data, "layer": layer}


def panels(description: str, values: list[Any], unit: Spec) -> Spec:
    """One picture a `panel` of the values, side by side; a plain one where there is one panel alone."""
    names = list(dict.fromkeys(v["panel"] for v in values))
    if len(names) == 1:
        return spec(description, [unit], values)
    facet = {"field": "panel", "type": "nominal", "title": None, "sort": names}
    return {"$schema": SCHEMA, "description": description, "data": {"values": values}, "facet": facet, "columns": 3,
            "spec": {"width": 240, "height": 150, **unit}}  # fmt: skip


def rule(axis: str, at: float, note: str) -> Spec:
    """A dotted line across at one place, with what it says when pointed at."""
    return {"data": {"values": [{"at": at, "note": note}]}, "mark": {"type": "rule", "strokeDash": [2, 3]},
            "encoding": {axis: {"field": "at", "type": "quantitative"}, "tooltip": field("note")}}  # fmt: skip


def colour() -> Spec:
    """Colour by series."""
    return {"field": "series", "type": "nominal", "title": None, "scale": {"range": list(COLOURS)},
            "legend": {"orient": "top", "columns": 3, "labelLimit": 320, "symbolOpacity": 1}}  # fmt: skip


def field(name: str) -> Spec:
    """A field as it is."""
    return {"field": name, "type": "nominal"}


def short(value: Any) -> float | None:
    """Four decimals are more than a picture shows."""
    return None if value is None else round(float(value), 4)

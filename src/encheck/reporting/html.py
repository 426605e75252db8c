"""report.html: one file without scripts or network, made from results.json and the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from encheck.reporting import divergence, gate, view

WIDTH, HEIGHT, LEFT, BOTTOM = 420, 200, 36, 26
EXAMPLES = 5


def render(results: Mapping[str, Any], items: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
    """The whole page; every text in it is escaped by the template."""
    import jinja2

    loader = jinja2.FunctionLoader(lambda name: (resources.files("encheck.reporting") / name).read_text("utf-8"))
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.get_template("report.html").render(
        results=results,
        headlines=view.headline(results),
        matrix=view.matrix(results),
        criteria=view.CRITERIA,
        words=view.WORDS,
        sections=[_section(row, results, items) for row in view.judged(results)],
        sentence=view.sentence,
        figure=view.figure,
        gate=results.get("gate"),
        gate_head=gate.HEAD,
        gate_cells=gate.cells,
        gate_words=gate.WORDS,
        lexical=view.lexical,
        style=(resources.files("encheck.reporting") / "report.css").read_text("utf-8"),
    )


def _section(row: Mapping[str, Any], results: Mapping[str, Any], items: Mapping[str, Any]) -> dict[str, Any]:
    case = row["id"].rpartition("/")[0]
    others = [r for r in results["checks"] if r["id"].rpartition("/")[0] == case]
    columns = items.get(case, {})
    return {
        "row": row,
        "anchor": "".join(c if c.isalnum() else "-" for c in case),
        "figures": [r for r in others if r["metric"]],
        "charts": [_chart(r) for r in others if r.get("curve")],
        "divergence": divergence.picture(columns) if columns and row["check"] == "nonobvious" else None,
        "bar": _bar(row),
        "examples": view.worst_items(columns, EXAMPLES) if columns else [],
    }


def _bar(row: Mapping[str, Any]) -> dict[str, float] | None:
    """Percentages along a line from 0 to 1 for a figure that lies there."""
    if row["low"] is None or row["threshold"] is None or row["low"] < -0.5 or row["high"] > 1.5:
        return None
    low, high, value, wants = (max(0.0, min(1.0, row[k])) * 100 for k in ("low", "high", "value", "threshold"))
    return {"low": low, "width": max(high - low, 0.8), "value": value, "threshold": wants}


def _chart(row: Mapping[str, Any]) -> dict[str, Any]:
    """A margin curve as SVG paths: the model with its band, word overlap beside it."""
    curve = row["curve"]
    overlap = (row["lexical"] or {}).get("curve") or []
    band = [(p["epsilon"], p["high"]) for p in curve] + [(p["epsilon"], p["low"]) for p in reversed(curve)]
    return {
        "title": "calibrated margins" if row["metric"].endswith("_calibrated") else "raw margins",
        "line": _path((p["epsilon"], p["value"]) for p in curve),
        "band": _path(band),
        "overlap": _path((p["epsilon"], p["value"]) for p in overlap),
        "chosen": _x(row["params"].get("epsilon", 0.0)),
        "x_ticks": [(e, _x(e)) for e in (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)],
        "y_ticks": [(f"{share:.0%}", _y(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "points": [p for p in curve if round(p["epsilon"] * 100) % 5 == 0],
        "width": WIDTH, "height": HEIGHT, "left": LEFT, "bottom": BOTTOM,
    }  # fmt: skip


def _x(epsilon: float) -> float:
    return round(LEFT + (max(-0.3, min(0.3, epsilon)) + 0.3) / 0.6 * (WIDTH - LEFT - 10), 1)


def _y(share: float) -> float:
    return round(8 + (1 - share) * (HEIGHT - BOTTOM - 8), 1)


def _path(points: Any) -> str:
    return " ".join(f"{_x(e)},{_y(share)}" for e, share in points)

"""The result of a canary check: on the terminal, as JSON (canary_check.schema.json), as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from encheck.deciding.canary_file import Canary
from encheck.deciding.canary_rule import Answer
from encheck.deciding.canary_texts import texts
from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.html.vega_lite import COLOURS, Spec, field, spec
from encheck.reporting.results import write_named
from encheck.reporting.text import table

SCHEMA_VERSION = 1
HEADLINES = {
    "same": "{label} is the model of this canary",
    "another": "{label} is not the model of this canary",
    "cannot tell": "it is uncertain whether {label} is the model of this canary",
}
HEAD = ("texts", "number", "moved", "median drift", "largest", "own noise")


@dataclass(frozen=True, slots=True)
class Line:
    """The texts of one kind: how many, how many moved, and their drifts; no drift where none can be had."""

    kind: str
    texts: int
    moved: int
    median: float | None
    largest: float | None
    noise: float | None


def lines_of(canary: Canary, answer: Answer) -> list[Line]:
    """A line for each kind of text, in the order of the texts."""
    kinds = np.array([one.kind for one in texts()])
    return [_line(kind, kinds == kind, canary, answer) for kind in dict.fromkeys(kinds.tolist())]


def _line(kind: str, chosen: Any, canary: Canary, answer: Answer) -> Line:
    drift, noise = answer.drift[chosen], canary.noise[chosen]
    return Line(
        kind,
        int(chosen.sum()),
        int((drift > answer.limit[chosen]).sum()),
        _number(np.nanmedian(drift)) if np.isfinite(drift).any() else None,
        _number(np.nanmax(drift)) if np.isfinite(drift).any() else None,
        _number(np.nanmax(noise)) if np.isfinite(noise).any() else None,
    )


def _number(value: float) -> float:
    return float(f"{value:.3g}")


def headline(label: str, answer: Answer) -> str:
    """The answer in a sentence."""
    return HEADLINES[answer.outcome].format(label=label)


def terminal(label: str, canary: Canary, answer: Answer) -> Iterator[str]:
    """What the terminal shows."""
    yield f"{answer.outcome}: {headline(label, answer)}, saved on {canary.made_on} from {canary.label}"
    yield f"  {answer.reason}"
    yield from (f"  {note}" for note in answer.notes)
    if answer.outcome != "same" and np.isfinite(answer.drift).any():
        yield ""
        yield from (f"  {line}" for line in table([HEAD, *map(cells, lines_of(canary, answer))]))


def cells(line: Line) -> tuple[str, ...]:
    """A line as text."""
    figures = ("-" if value is None else f"{value:.2g}" for value in (line.median, line.largest, line.noise))
    return (line.kind, str(line.texts), str(line.moved), *figures)


def as_dict(label: str, canary: Canary, answer: Answer) -> dict[str, Any]:
    """What the JSON holds."""
    return {
        "encheck_canary_check": SCHEMA_VERSION,
        "outcome": answer.outcome,
        "exit_code": answer.exit_code,
        "cause": answer.cause,
        "reason": answer.reason,
        "notes": list(answer.notes),
        "model": label,
        "canary": {"label": canary.label, "on": canary.made_on, "by": canary.made_by, "calls": len(canary.batches)},
        "moved": answer.moved,
        "kinds": [
            {name: getattr(line, name) for name in ("kind", "texts", "moved", "median", "largest", "noise")}
            for line in lines_of(canary, answer)
        ],
        "texts": [_text(i, answer) for i in range(len(texts()))],
    }


def _text(row: int, answer: Answer) -> dict[str, Any]:
    drift = float(answer.drift[row])
    return {
        "id": texts()[row].id,
        "drift": _number(drift) if np.isfinite(drift) else None,
        "limit": _number(float(answer.limit[row])),
    }


def write_json(path: Path, label: str, canary: Canary, answer: Answer) -> None:
    """Write the JSON; UsageError if no file can be there."""
    write_named(path, json.dumps(as_dict(label, canary, answer), indent=1, allow_nan=False) + "\n")


def write_page(path: Path, label: str, canary: Canary, answer: Answer) -> None:
    """Write the page; UsageError if no file can be there."""
    write_named(path, render(label, canary, answer))


def render(label: str, canary: Canary, answer: Answer) -> str:
    """The page: the answer, the kinds of texts, a picture of every drift, the texts that moved most."""
    drawn = {"drift": _picture(answer)} if np.isfinite(answer.drift).any() else {}
    caption = (
        "How far each vector moved, as a share of its length, beside what the model's own noise explains (dashes)."
    )
    return page(
        "canary.html",
        pack({"charts": drawn, "cases": {}, "texts": []}),
        label=label,
        canary=canary,
        answer=answer,
        headline=headline(label, answer),
        calls=len(canary.batches),
        head=HEAD,
        lines=[cells(line) for line in lines_of(canary, answer)],
        pictures=[{"id": name, "caption": caption, "spec": drawing} for name, drawing in drawn.items()],
        worst=_worst(answer),
    )


def _worst(answer: Answer, most: int = 20) -> Sequence[tuple[str, str, str, str]]:
    """(id, drift, limit, beginning of the text) of the texts that moved most, beyond the model's noise."""
    order = np.argsort(-np.nan_to_num(answer.drift))[:most]
    return [
        (texts()[i].id, f"{answer.drift[i]:.2g}", f"{answer.limit[i]:.2g}", texts()[i].text[:160])
        for i in order
        if answer.drift[i] > answer.limit[i]
    ]


def _picture(answer: Answer) -> Spec:
    """A point a text, by kind, on a logarithmic axis; drifts below a millionth are drawn there."""
    rows = [(one, float(answer.drift[i]), float(answer.limit[i])) for i, one in enumerate(texts())]
    values = [
        {"kind": one.kind, "text": one.id, "drift": max(_number(drift), 1e-6), "limit": _number(limit)}
        for one, drift, limit in rows
        if np.isfinite(drift)
    ]
    y = {"field": "kind", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 480}}
    x = {"type": "quantitative", "scale": {"type": "log"}, "title": "drift, as a share of the vector's length"}
    seen = [field("text"), field("drift"), field("limit")]
    return spec(
        "How far each vector moved, by kind of text",
        [
            {"mark": {"type": "tick", "strokeDash": [2, 2], "color": COLOURS[6]},
             "encoding": {"y": y, "x": {"field": "limit", **x}}},
            {"mark": {"type": "point", "filled": True, "size": 40, "opacity": 0.7, "color": COLOURS[0]},
             "encoding": {"y": y, "x": {"field": "drift", **x}, "tooltip": seen}},
        ],
        values,
        height=340,
    )  # fmt: skip

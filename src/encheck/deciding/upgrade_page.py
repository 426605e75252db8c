"""upgrade.html: the whole upgrade on one page, from upgrade.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from encheck.deciding import upgrade_text as text
from encheck.deciding.score_ranges import PERCENTILES
from encheck.reporting.gate.view import View, view
from encheck.reporting.html.page import page
from encheck.reporting.html.payload import pack
from encheck.reporting.html.vega_lite import Spec, colour, field, short, spec

Raw = Mapping[str, Any]
TONE = {"do not ship": "bad", "cannot tell": "open", "ship with these changes": "good", "ship": "good"}
HEADLINE = {
    "faulty index": "No: repair the index of {old} before {new} takes its place",
    "do not ship": "No: keep {old}, do not ship {new}",
    "cannot tell": "Not yet: cannot tell whether {new} may take the place of {old}",
    "ship with these changes": "Yes: ship {new} in place of {old}, with these changes",
    "ship": "Yes: ship {new} in place of {old}",
}


def render(raw: Raw) -> str:
    """The page; every text in it is escaped, by the template or by being packed."""
    chart = _ranges(raw)
    headline = HEADLINE["faulty index" if raw["index_faults"] else raw["outcome"]]
    pictures = [{"id": "scores", "caption": CAPTION, "spec": chart}] if chart else []
    return page(
        "upgrade.html",
        pack({"charts": {one["id"]: one["spec"] for one in pictures}, "cases": {}, "texts": []}),
        raw=raw,
        text=text,
        pictures=pictures,
        tone=TONE[raw["outcome"]],
        headline=headline.format(new=raw["new"]["label"], old=raw["old"]["label"]),
        view=_gate(raw),
    )


def _gate(raw: Raw) -> View | None:
    """The gate as its own page shows it; None where it was not run."""
    against = raw["gate"].get("against")
    return view(against, candidate=raw["new"]["label"], old=raw["old"]["label"]) if against else None


CAPTION = (
    "Where scores lie: the band holds 90% of them, the mark is the median. First answers should lie right of random "
    "pairs; a threshold in use means something else where the bands have moved."
)


def _ranges(raw: Raw) -> Spec | None:
    """The middle 90% and the median of both models' scores."""
    low, middle, high = PERCENTILES.index(5), PERCENTILES.index(50), PERCENTILES.index(95)
    values = [
        {"series": raw[side]["label"] if raw["old"]["label"] != raw["new"]["label"] else side, "what": words,
         **{name: short(found[key][at]) for name, at in (("low", low), ("median", middle), ("high", high))}}
        for side in ("old", "new") if (found := raw["scores"][side])
        for key, words in (("first", "first answers"), ("random", "random pairs"))
    ]  # fmt: skip
    if not values:
        return None
    y: Spec = {"field": "what", "type": "nominal", "title": None, "sort": None}
    offset = {"yOffset": {"field": "series"}}
    x = {"type": "quantitative", "title": "score", "scale": {"zero": False}}
    return spec(
        "Scores of first answers and of random pairs under both models",
        [
            {"mark": {"type": "rule", "strokeWidth": 4, "opacity": 0.5},
             "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}, "color": colour(), **offset}},
            {"mark": {"type": "point", "filled": True, "size": 70},
             "encoding": {"y": y, "x": {"field": "median", **x}, "color": colour(), **offset,
                          "tooltip": [field(name) for name in ("series", "what", "low", "median", "high")]}},
        ],
        values,
        height=140,
    )  # fmt: skip

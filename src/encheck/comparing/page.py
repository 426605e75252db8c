"""compare.html: models side by side on one page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from encheck.comparing import charts
from encheck.comparing.comparison import Comparison
from encheck.comparing.runs import Difference, flips_count
from encheck.ids import CaseId
from encheck.metrics import named
from encheck.reporting import contamination
from encheck.reporting.html import page as html
from encheck.reporting.html.payload import pack
from encheck.reporting.text import pieces
from encheck.scoring.frame import edits_of
from encheck.system.terminal import visible
from encheck.verdict import MIN_CLUSTERS

MAX_FLIPS_SHOWN = 5  # of each direction and case


def render(found: Comparison) -> str:
    """The page: a table with every model, the differences as a picture, the dilemma, and the flips with their texts."""
    against = found.first.name
    rows = [{**asdict(d), "run": name} for name, some in found.differences.items() for d in some]
    specs = {
        "differences": charts.differences(rows, against=against),
        "dilemma": charts.dilemma(found.points, benchmark=found.benchmark),
    }
    captions = {
        "differences": f"Each model less {against} on the same items, with 95% intervals over clusters.",
        "dilemma": "High on a benchmark is not yet right about meaning: the dilemma of Mahajan et al. 2023.",
    }
    drawn = {name: spec for name, spec in specs.items() if spec}
    return html.page(
        "compare.html",
        pack({"charts": drawn, "cases": {}, "texts": []}),
        models=found.models,
        pictures=[{"id": name, "caption": captions[name], "spec": spec} for name, spec in drawn.items()],
        table=_table(found),
        flips=[f for name, some in found.differences.items() for f in _flips(found, name, some)],
        label=lambda d: named(d.figure).label,
        counts=flips_count,
        surface=found.surface_of,
        judges=lambda d: not named(d.figure).why_reported,
        whole=found.whole,
        contamination=list(contamination.lines(contamination.as_dicts(found.contamination))),
        clusters=MIN_CLUSTERS,
    )


def _table(found: Comparison) -> list[dict[str, Any]]:
    """A line a case: the first model's figure, and of each other its figure and difference (None where not shared)."""
    cases = {d.case: d for some in found.differences.values() for d in some}
    by_case = {name: {d.case: d for d in some} for name, some in found.differences.items()}
    return [{"case": d, "others": [some.get(case) for some in by_case.values()]} for case, d in cases.items()]


def _flips(found: Comparison, name: str, differences: Sequence[Difference]) -> Iterator[dict[str, Any]]:
    other = next(m for m in found.models if m.name == name)
    for d in differences:
        if d.lost or d.gained:
            columns = other.items[str(CaseId(d.check, other.label, d.data, d.level))]
            at = {item: i for i, item in enumerate(columns["item"])}
            some = [("lost", i) for i in d.lost[:MAX_FLIPS_SHOWN]] + [("gained", i) for i in d.gained[:MAX_FLIPS_SHOWN]]
            shown = [(what, item, _texts(columns, at[item])) for what, item in some]
            yield {"model": name, "case": d, "shown": shown}


def _texts(columns: Mapping[str, Sequence[Any]], at: int) -> dict[str, Any]:
    source = columns["source"][at]
    sides = {s: (visible(columns[s][at] or ""), edits_of(columns[f"{s}_edits"][at])) for s in ("near", "far")}
    return {"source": visible(source), **{s: pieces(visible(source), *both) for s, both in sides.items()}}

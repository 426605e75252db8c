"""compare.html: models side by side on one page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from encheck.comparing import forest, scatter
from encheck.comparing.comparison import Comparison
from encheck.comparing.flips import Flip
from encheck.comparing.matrix import SIGNS, Line, has_better_side, tallies
from encheck.comparing.models import Model
from encheck.comparing.runs import Difference, flips_count
from encheck.gating import contamination
from encheck.metrics import named
from encheck.reporting.html import page as html
from encheck.reporting.html.page import pack
from encheck.reporting.text import pieces
from encheck.reporting.view import sentence
from encheck.scoring.frame import edits_of
from encheck.system.terminal import visible
from encheck.verdict import MIN_CLUSTERS

MOST_ALONE, MOST_OF_PROPERTY, MOST_OTHERS = 10, 3, 10  # items that are shown: of a model, of one property of it, others
DILEMMA = "A high benchmark score does not mean that a model behaves well: the dilemma of Mahajan et al. 2023."


@dataclass(frozen=True, slots=True)
class Case:
    """One case with a row a model: its name, its figure, and its difference from the reference (None of its own)."""

    check: str
    level: str
    data: str
    figure: str
    n: int
    clusters: int
    surface: str
    rows: Sequence[tuple[str, float, Difference | None]]


def render(found: Comparison) -> str:
    """The page: the matrix, what stands behind each property, the pictures, and what flipped."""
    ids = {name: f"property-{i}" for i, name in enumerate(dict.fromkeys(_properties(found)))}
    return html.page(
        "compare.html",
        pack({"charts": {}, "cases": {}, "texts": []}),
        models=found.models,
        reference=found.first.name,
        groups=_groups(found.matrix),
        ids=ids,
        details=_details(found),
        shown={name: [line for line in found.matrix if line.property == name] for name in ids},
        figures=_label,
        tallies=list(tallies(found.matrix, found.models)),
        compared=sum(cell is not None and cell.change is not None for line in found.matrix for cell in line.cells),
        signs=SIGNS,
        panels=forest.panels(found),
        size=forest,
        dilemma=found.dilemma,
        scatter=scatter.scatter(found.dilemma) if found.dilemma else None,
        plot=scatter,
        caption=DILEMMA,
        alone=[one for model in found.models if (one := _alone(found, model))],
        others=[_card(found, flip) for flip in found.flips if not flip.alone][:MOST_OTHERS],
        count=len(found.flips),
        colour=_colour,
        counts=flips_count,
        whole=found.whole,
        looks=found.looks,
        contamination=list(contamination.lines(found.contamination)),
        clusters=MIN_CLUSTERS,
    )


def _properties(found: Comparison) -> Iterator[str]:
    """Those of the matrix first."""
    yield from (line.property for line in found.matrix)
    yield from (d.property for some in found.differences.values() for d in some)


def _groups(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """The lines of each family under its name, with the data where there are several."""
    several = len({line.data for line in lines}) > 1
    return [
        (f"{family}, {data}" if several else family, list(some))
        for (data, family), some in groupby(lines, key=lambda line: (line.data, line.family))
    ]


def _details(found: Comparison) -> dict[str, list[Case]]:
    """The cases of each property, in the order of the page."""
    cases: dict[str, list[Case]] = {name: [] for name in _properties(found)}
    first = {d.case: d for some in found.differences.values() for d in some}
    by_case = {name: {d.case: d for d in some} for name, some in found.differences.items()}
    for case, d in first.items():
        others = [(name, some[case]) for name, some in by_case.items() if case in some]
        rows = [(found.first.name, d.before, None), *((name, one.after, one) for name, one in others)]
        label = named(d.figure).label
        cases[d.property].append(Case(d.check, d.level, d.data, label, d.n, d.clusters, found.surface_of(d), rows))
    return cases


def _label(figure: str) -> str:
    """A metric in words; its name where it is no metric of encheck."""
    try:
        return named(figure).label or sentence(figure)
    except KeyError:
        return sentence(figure)


def _colour(d: Difference) -> str:
    """Whether a difference, by itself, is for the better or the worse; empty where that is not clear."""
    if not d.is_clear or not has_better_side(d.figure):
        return ""
    return "better" if d.difference > 0 else "worse"


def _alone(found: Comparison, model: Model) -> dict[str, Any] | None:
    """The items that this model alone gets wrong: how many, and the worst of each property."""
    mine = [flip for flip in found.flips if flip.alone == model.name]
    if not mine:
        return None
    shown: list[Flip] = []
    for flip in mine:
        if sum(one.property == flip.property for one in shown) < MOST_OF_PROPERTY and len(shown) < MOST_ALONE:
            shown.append(flip)
    counts = {name: sum(f.property == name for f in mine) for name in sorted({f.property for f in mine})}
    most = sorted(counts.items(), key=lambda one: -one[1])
    return {"model": model.name, "count": len(mine), "by": most, "cards": [_card(found, one) for one in shown]}


def _card(found: Comparison, flip: Flip) -> dict[str, Any]:
    """An item with its edits marked, and its similarities under a model that errs and one that does not."""
    models = {m.name: m for m in found.models}
    wrong, right = (_scored(flip, models[names[0]]) for names in (flip.wrong, flip.right))
    return {"flip": flip, "wrong": wrong, "right": right, "texts": wrong["texts"]}


def _scored(flip: Flip, model: Model) -> dict[str, Any]:
    columns = model.items[flip.case(model)]
    at = columns["item"].index(flip.item)
    scores = {side: columns[f"{side}_score"][at] for side in ("near", "far")}
    return {"model": model.name, "texts": _texts(columns, at), **scores}


def _texts(columns: Mapping[str, Sequence[Any]], at: int) -> dict[str, Any]:
    source = columns["source"][at]
    sides = {s: (visible(columns[s][at] or ""), edits_of(columns[f"{s}_edits"][at])) for s in ("near", "far")}
    return {"source": visible(source), **{s: pieces(visible(source), *both) for s, both in sides.items()}}

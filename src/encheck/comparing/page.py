"""compare.html: all models side by side on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from encheck.comparing import benchmark_plot, forest
from encheck.comparing.comparison import SIGNS, Flip, ModelComparison, PropertyCell, PropertyLine, count_verdicts
from encheck.comparing.differences import CaseDifference, has_item_flips
from encheck.comparing.models import ComparedModel
from encheck.errors import UsageError
from encheck.gating import contamination
from encheck.gating.reference import is_higher_better
from encheck.metrics import find_metric
from encheck.metrics.health import recall_at_1
from encheck.reporting.decisions import NextStep, VerdictBanner
from encheck.reporting.gate.words import OF_THE_SPACE
from encheck.reporting.html import page as html
from encheck.reporting.text import pieces
from encheck.reporting.view import claim_sentence, format_figure
from encheck.run_file import Result
from encheck.system.terminal import make_visible
from encheck.verdict import MIN_CLUSTERS

MOST_ALONE, MOST_OF_PROPERTY, MOST_OTHERS = 10, 3, 10  # items shown: per model, per property of a model, others
MOST_SAID = 3  # models compared in the first sentence
HEALTH = "health"  # the family of checks of the whole space
DILEMMA = "A high benchmark score does not mean that a model behaves well: the dilemma of Mahajan et al. 2023."


@dataclass(frozen=True, slots=True)
class CaseRows:
    """A case with a row per model: name, figure, and difference from the reference (None for the reference itself)."""

    check: str
    level: str
    data: str
    figure: str
    n: int
    clusters: int
    surface: str
    rows: Sequence[tuple[str, float, CaseDifference | None]]


@dataclass(frozen=True, slots=True)
class ItemScores:
    """A model's similarities for an item. None for a text that the item lacks."""

    model: str
    near: float | None
    far: float | None


@dataclass(frozen=True, slots=True)
class MarkedTexts:
    """An item's texts. The variants are in pieces that mark the edits."""

    source: str
    near: Sequence[tuple[str, str]]
    far: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FlipCard:
    """An item that one model loses and another wins."""

    flip: Flip
    wrong: ItemScores
    right: ItemScores
    texts: MarkedTexts


@dataclass(frozen=True, slots=True)
class WrongAlone:
    """The items that only one model gets wrong: how many, how many `by` property, and the worst of each property."""

    model: str
    count: int
    by: Sequence[tuple[str, int]]
    cards: Sequence[FlipCard]


def render_comparison(comparison: ModelComparison) -> str:
    """Return the HTML page with the matrix, the checks of each property, the pictures, and the flips."""
    names = [line.property for line in comparison.matrix]
    names += [d.property for some in comparison.differences.values() for d in some]
    ids = {name: f"property-{i}" for i, name in enumerate(dict.fromkeys(names))}
    several = len({line.data for line in comparison.matrix}) > 1
    groups = [
        (f"{family}, {data}" if several else family, list(some))
        for (data, family), some in groupby(comparison.matrix, key=lambda line: (line.data, line.family))
    ]
    # The cases of each property, in the order in which the page shows them.
    cases: dict[str, list[CaseRows]] = {name: [] for name in ids}
    first = {d.case: d for some in comparison.differences.values() for d in some}
    by_case = {name: {d.case: d for d in some} for name, some in comparison.differences.items()}
    for case, d in first.items():
        others = [(name, some[case]) for name, some in by_case.items() if case in some]
        rows = [(comparison.first.name, d.before, None), *((name, one.after, one) for name, one in others)]
        label = find_metric(d.figure).label
        cases[d.property].append(
            CaseRows(d.check, d.level, d.data, label, d.n, d.clusters, comparison.surface_of(d), rows)
        )
    return html.render_template(
        "compare.html",
        verdict=comparison_banner(comparison),
        models=comparison.models,
        reference=comparison.first.name,
        groups=groups + _health_lines(comparison.models),
        ids=ids,
        details=cases,
        shown={name: [line for line in comparison.matrix if line.property == name] for name in ids},
        figures=_metric_label,
        tallies=list(count_verdicts(comparison.matrix, comparison.models)),
        signs=SIGNS,
        panels=forest.forest_panels(comparison),
        size=forest,
        benchmarks=comparison.benchmark_plot,
        scatter=benchmark_plot.scatter_layout(comparison.benchmark_plot) if comparison.benchmark_plot else None,
        plot=benchmark_plot,
        caption=DILEMMA,
        alone=[one for model in comparison.models if (one := _wrong_alone(comparison, model))],
        others=[_flip_card(comparison, flip) for flip in comparison.flips if not flip.only_wrong_model][:MOST_OTHERS],
        count=len(comparison.flips),
        colour=_difference_class,
        counts=has_item_flips,
        whole=comparison.whole,
        looks=comparison.looks,
        contamination=list(contamination.contamination_lines(comparison.contamination)),
        clusters=MIN_CLUSTERS,
    )


def comparison_banner(comparison: ModelComparison) -> VerdictBanner:
    """Return how many properties are better or worse than the reference's, for each model or, if there are many, for
    the best.
    """
    every = list(count_verdicts(comparison.matrix, comparison.models))
    first = comparison.first.name
    of = f"{len(comparison.matrix)} {'property' if len(comparison.matrix) == 1 else 'properties'}"
    step = NextStep("A comparison decides nothing. Gate the model that you want to ship:", "encheck gate NEW OLD")
    if not comparison.matrix or not every:
        return VerdictBanner("", "COMPARED", f"No property could be compared with {first}", step=step)
    shown = every
    if len(every) > MOST_SAID:
        shown = sorted(every, key=lambda one: one[1]["worse"] - one[1]["better"])[:1]
    said = []
    for name, counts in shown:
        better, worse = counts["better"], counts["worse"]
        if better or worse:
            said.append(f"{name} is better than {first} in {better or 'none'} of {of} and worse in {worse or 'none'}")
        else:
            said.append(f"{name} is not shown to be better or worse than {first} in any of {of}")
    best = f"Of {len(every)} models, " if len(every) > MOST_SAID else ""
    return VerdictBanner("", "COMPARED", f"{best}{'; '.join(said)}", step=step)


def _health_lines(models: Sequence[ComparedModel]) -> list[tuple[str, list[PropertyLine]]]:
    """Return each model's figures in the checks of the embedding space.

    They have no sign, because they are not computed from items and cannot be paired.
    """
    rows: dict[tuple[str, str], Result] = {}
    for model in models:
        for row in model.rows:
            its = model.declared[row.check]
            if its.family == HEALTH and row.metric == its.metric and row.low is not None:
                rows.setdefault((row.case.of_any_model, row.metric or ""), row)
    several = len({row.data for row in rows.values()}) > 1
    lines = []
    for (case, metric), row in rows.items():
        own = [next((r for r in m.rows if (r.case.of_any_model, r.metric) == (case, metric)), None) for m in models]
        cells = tuple(
            PropertyCell(*one.numbers, one.n, one.clusters, figure=format_figure(metric, one.numbers[0]))
            if one and one.low is not None
            else None
            for one in own
        )
        kind = "rate" if metric == recall_at_1.name else metric
        plain = OF_THE_SPACE.get(kind, _metric_label(metric)).lower()
        name = f"{plain}, {row.data}" if several else plain
        lines.append(PropertyLine(name, HEALTH, row.data, row.check, row.level, metric, "", None, None, "", cells))
    return [("health of the space, each with its own interval", lines)] if lines else []


def _metric_label(figure: str) -> str:
    """Return a metric's plain name, or its id if encheck does not know the metric."""
    try:
        return find_metric(figure).label or claim_sentence(figure)
    except UsageError:
        return claim_sentence(figure)


def _difference_class(d: CaseDifference) -> str:
    """Return the CSS class that marks a difference as better or worse, or "" if it is not clear."""
    if not d.is_clear or not is_higher_better(d.figure):
        return ""
    return "better" if d.difference > 0 else "worse"


def _wrong_alone(comparison: ModelComparison, model: ComparedModel) -> WrongAlone | None:
    """Return the items that only this model gets wrong, with the worst of each property, or None if there are none."""
    mine = [flip for flip in comparison.flips if flip.only_wrong_model == model.name]
    if not mine:
        return None
    shown: list[Flip] = []
    for flip in mine:
        if sum(one.property == flip.property for one in shown) < MOST_OF_PROPERTY and len(shown) < MOST_ALONE:
            shown.append(flip)
    counts = {name: sum(f.property == name for f in mine) for name in sorted({f.property for f in mine})}
    most = sorted(counts.items(), key=lambda one: -one[1])
    return WrongAlone(model.name, len(mine), most, [_flip_card(comparison, one) for one in shown])


def _flip_card(comparison: ModelComparison, flip: Flip) -> FlipCard:
    """Return an item with its edits marked, and its similarities under a model that gets it wrong and one that gets it
    right.
    """
    models = {m.name: m for m in comparison.models}
    scored = []
    for model in (models[flip.wrong[0]], models[flip.right[0]]):
        frame = model.items[flip.case(model)]
        row = frame.row(frame.ids.index(flip.item))
        scored.append((ItemScores(model.name, row.near.score, row.far.score), row))
    (wrong, row), (right, _) = scored
    source = make_visible(row.source)
    near, far = (pieces(source, make_visible(side.text or ""), side.edits) for side in (row.near, row.far))
    return FlipCard(flip, wrong, right, MarkedTexts(source, near, far))

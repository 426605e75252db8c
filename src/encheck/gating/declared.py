"""What the checks of a run declare, as results.json keeps it."""

from __future__ import annotations

from encheck.claims import CONTRACT
from encheck.metrics import Metric, margin_rate, mean_similarity, named, similarity_gap
from encheck.metrics.symmetry import symmetry
from encheck.scoring.frame import CaseScores
from encheck.types import Declaration

BY_KIND: dict[str, Metric[...]] = {
    "triplet": margin_rate,
    "turned": symmetry,
    "labelled": similarity_gap,
    "pair": mean_similarity,
}
SEARCH = "retrieval"  # the family whose answers are weighed where no figure is
GRADED = "sts"  # the property whose pairs are weighed together


def declared_of(table: CaseScores) -> Declaration:
    """What the check of a table declares."""
    return table.declared or Declaration(property=table.property)


def is_weighed(declared: Declaration) -> bool:
    """Whether a gate goes by what the check finds: its figure, a contract, the answers of a search, graded pairs."""
    return not declared.reported or declared.family in (CONTRACT, SEARCH) or declared.property == GRADED


def may_be_protected(declared: Declaration) -> bool:
    """Whether a gate can compare how often the check is right: by a rate, of neither a search nor a contract."""
    if declared.reported or declared.proxy or declared.primary or declared.family == CONTRACT:
        return False
    return not declared.gates or named(declared.gates).kind == "rate"


def gating(table: CaseScores) -> tuple[Metric[...] | None, str]:
    """The metric that the gate weighs a case by, or None and why the case is only reported.

    A check that declares no metric gates by the figure of its kind of items.
    """
    declared = declared_of(table)
    if declared.reported:
        return None, declared.reported
    try:
        metric = named(declared.gates) if declared.gates else BY_KIND[table.kind]
    except KeyError as error:
        return None, str(error.args[0])
    return (None, metric.why_reported) if metric.why_reported else (metric, "")


def shown(table: CaseScores) -> Metric[...] | None:
    """The metric of a case that a comparison shows item by item; None for one of a whole set.

    What gates, else what the check is judged by.
    """
    declared = declared_of(table)
    try:
        names = [name for name in (declared.gates, declared.metric) if name]
        metric = named(names[0]) if names else BY_KIND[table.kind]
    except KeyError:
        return None
    return metric if metric.values else None


def chance_of(table: CaseScores, metric: Metric[...]) -> float | None:
    """What guessing gets: the check's own chance where it is judged by this metric, else the metric's."""
    declared = declared_of(table)
    is_own = declared.metric and declared.metric in (metric.name, metric.calibrated.name)
    return declared.chance if is_own and declared.chance is not None else metric.chance

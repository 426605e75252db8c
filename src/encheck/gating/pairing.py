"""The figures that a gate compares: one per item of each case, from two models' scores on the same items.

A check gates by the metric that it declares. Win rates and calibrated margins can gate; raw similarities, raw margins
and AUC never do, since they rise when a model is damaged. Graded pairs gate by Spearman's correlation with people's
scores. A search with labels gates by one rank metric: recall@1 if each query has one right document, else nDCG@10,
or the one that `--primary` names. The labels and the user choose it, never the scores. `gate_rows` pools the cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from encheck.claims import CONTRACT
from encheck.errors import UsageError
from encheck.gating.types import TOLERANCE, Budget, PairedRow, SecondaryMetric
from encheck.metrics import Metric, find_metric, margin_rate, mean_similarity, similarity_gap
from encheck.metrics.correlation import spearman
from encheck.metrics.search import (
    DELTA,
    document_recall_at_1,
    document_recall_at_10,
    document_recall_at_100,
    hard_negative_accuracy,
    mean_average_precision,
    mrr_at_10,
    ndcg_at_10,
)
from encheck.metrics.symmetry import symmetry
from encheck.scoring.documents import Answers
from encheck.scoring.frame import GATE_SPLIT, CaseScores
from encheck.scoring.pairs import NO_RANDOM_PAIRS
from encheck.scoring.scores import Scale
from encheck.statistics import hypothesis_tests as stats
from encheck.statistics.sharing import cached_sharing, number_units
from encheck.types import Declaration

Floats = NDArray[np.float64]
DEFAULT_METRICS: dict[str, Metric[...]] = {
    "triplet": margin_rate,
    "turned": symmetry,
    "labelled": similarity_gap,
    "pair": mean_similarity,
}
SEARCH = "retrieval"  # the family whose answers are compared if no figure is
GRADED = "sts"  # the property whose pairs are compared together


def declaration_of(table: CaseScores) -> Declaration:
    """Return the declaration of the table's check."""
    return table.declared or Declaration(property=table.property)


def is_used_by_gate(declared: Declaration) -> bool:
    """Return whether a gate uses the check's result: a figure, a contract, search answers, or graded pairs."""
    return not declared.reported or declared.family in (CONTRACT, SEARCH) or declared.property == GRADED


def can_be_protected(declared: Declaration) -> bool:
    """Return whether `--protect` accepts the check: it gates by a rate, and is neither a search nor a contract."""
    if declared.reported or declared.proxy or declared.primary or declared.family == CONTRACT:
        return False
    return not declared.gates or find_metric(declared.gates).kind == "rate"


def gating_metric(table: CaseScores) -> tuple[Metric[...] | None, str]:
    """Return the metric that a case gates by, or None and the reason why the case is only reported.

    A check that declares no metric gates by the default metric of its kind of items.
    """
    declared = declaration_of(table)
    if declared.reported:
        return None, declared.reported
    try:
        metric = find_metric(declared.gates) if declared.gates else DEFAULT_METRICS[table.kind]
    except (KeyError, UsageError) as error:
        return None, str(error.args[0])
    return (None, metric.why_reported) if metric.why_reported else (metric, "")


def metric_for_item_comparison(table: CaseScores) -> Metric[...] | None:
    """Return the metric that a comparison shows item by item: the gating metric, or else the check's own.

    Return None if that metric is unknown or has no value per item.
    """
    declared = declaration_of(table)
    try:
        names = [name for name in (declared.gates, declared.metric) if name]
        metric = find_metric(names[0]) if names else DEFAULT_METRICS[table.kind]
    except (KeyError, UsageError):
        return None
    return metric if metric.values else None


def chance_level(table: CaseScores, metric: Metric[...]) -> float | None:
    """Return the check's own chance level if the check is judged by this metric, else the metric's."""
    declared = declaration_of(table)
    is_own = declared.metric and declared.metric in (metric.name, metric.calibrated.name)
    return declared.chance if is_own and declared.chance is not None else metric.chance


NDCG, RECALL = "ndcg@10", "recall@1"
ENDPOINTS: Mapping[str, Metric[...]] = {
    NDCG: ndcg_at_10,
    RECALL: document_recall_at_1,
    "recall@10": document_recall_at_10,
    "recall@100": document_recall_at_100,
    "mrr@10": mrr_at_10,
    "map": mean_average_precision,
}
RECALL_METRICS = (
    document_recall_at_1,
    document_recall_at_10,
    document_recall_at_100,
)  # 0 or 1 if one document is right
NO_CALIBRATION = Scale(0.0)  # rank metrics need no calibration
CONFIDENCE = 0.975  # one-sided: both ends make a 95% interval


def primary_metric(table: CaseScores, wanted: str | None = None) -> Metric[...] | None:
    """Return the metric by which the gate tests these queries, or None if they are not a search with labels.

    `wanted` is one of `ENDPOINTS`.
    """
    if not declaration_of(table).primary or not table.answers:
        return None
    has_one = all(len(Answers.parse(text).right) == 1 for text in table.answers)
    found = ENDPOINTS[wanted or (RECALL if has_one else NDCG)]
    return replace(found, kind="rate" if has_one and found in RECALL_METRICS else "mean", delta=DELTA, reported="")


def graded_endpoint(before: CaseScores, after: CaseScores) -> PairedRow:
    """Return the endpoint of graded pairs: Spearman's correlation with human scores, before and after.

    Both tables have the same pairs in the same order. If the two scores of a pair differ only by the noise of batch
    sizes, both models get the same score.
    """
    near = np.where(np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE), before.near, after.near)
    old, new = (spearman.item_values(table, NO_CALIBRATION) for table in (before, replace(after, near=near)))
    same = bool((near == before.near).all())
    return PairedRow(
        str(before.gate_row), declaration_of(before).family, "mean", old, new, number_units(before.shared_units),
        same=same, budget="primary", endpoint=spearman.label,
    )  # fmt: skip


def secondary_metrics(before: CaseScores, after: CaseScores, endpoint: Metric[...]) -> tuple[SecondaryMetric, ...]:
    """Return the other rank metrics of the same queries, each over the queries for which it is defined.

    A metric that is defined for too few queries is left out.
    """
    found = []
    for metric in (*ENDPOINTS.values(), hard_negative_accuracy):
        if metric.name == endpoint.name:
            continue
        old, new = (metric.item_values(table, NO_CALIBRATION) for table in (before, after))
        there = ~(np.isnan(old) | np.isnan(new))
        sharing = cached_sharing(number_units(before.shared_units)[there])
        if sharing.why_no_interval:
            continue
        change = (new - old)[there]
        errors = sharing.estimate_errors(change)
        reach = float(stats.t_quantile(CONFIDENCE, errors.degrees_of_freedom) * errors.error[0])
        mean = float(change.mean())
        label = "accuracy against hard negatives" if metric is hard_negative_accuracy else metric.label
        ends = (mean - reach, mean + reach)
        found.append(SecondaryMetric(label, float(old[there].mean()), float(new[there].mean()), mean, *ends))
    return tuple(found)


@dataclass(frozen=True)
class ComparedCase:
    """A case under both models, with the value of its gating metric for each entry.

    `before` and `after` have one row per value of `old` and `new`; a chain has the row of its first member. `chance` is
    the chance level, None if unknown. `budget` is the part of the gate's alpha that tests the case. If entries are
    chains, `moved` has the member of each chain whose margin fell most. For crossed groups, `sides` has the surface
    direction of each entry, 1 or 2. `held_out` has the baseline's figures on held-out items, which show whether the
    baseline beats guessing; it is None without held-out items. `is_unchanged` is true if all scores agree within the
    noise tolerance.
    """

    before: CaseScores
    after: CaseScores
    scales: tuple[Scale, Scale]
    metric: Metric[...]
    old: Floats
    new: Floats
    is_unchanged: bool
    chance: float | None = None
    budget: Budget = "behaviour"
    moved: tuple[CaseScores, CaseScores] | None = None
    sides: NDArray[np.intp] | None = None
    held_out: ComparedCase | None = None

    def of(self, positions: NDArray[np.intp]) -> ComparedCase:
        """Return the case with only the entries at these positions."""
        moved = self.moved and (self.moved[0].select(positions), self.moved[1].select(positions))
        sides = None if self.sides is None else self.sides[positions]
        return replace(
            self, before=self.before.select(positions), after=self.after.select(positions), old=self.old[positions],
            new=self.new[positions], moved=moved, sides=sides,
        )  # fmt: skip

    def select_direction(self, side: int) -> ComparedCase:
        """Return the entries of one surface direction of crossed groups, held-out items included."""
        assert self.sides is not None
        found = self.of(np.flatnonzero(self.sides == side))
        return replace(found, held_out=self.held_out.select_direction(side)) if self.held_out else found

    def flipped_items(self, sign: int) -> list[str]:
        """Return the ids of the items that changed from won to lost (`sign` -1) or from lost to won (1)."""
        moved = np.flatnonzero(np.sign(self.new - self.old) == sign)
        return [self.before.items[i] for i in moved] if self.metric.kind == "rate" else []

    @property
    def kind(self) -> str:
        """The kind of figure, which decides what is pooled: rates, means, or each metric that has its own delta."""
        return self.metric.kind if self.metric.delta is None else self.metric.name

    @property
    def reference_slopes(self) -> tuple[float, float]:
        """The derivative of the mean by the reference under each model, in units of its scale; 0 if nothing changed.

        A calibrated mean similarity is (m - reference) / (identity - reference), so the reference is in the numerator
        and the denominator. The gap of two classes and the effect of word order have the reference in the denominator
        alone.
        """
        if self.is_unchanged or self.metric.references is None:
            return 0.0, 0.0
        above = self.metric.references(self.before)
        return float(self.old.mean()) - above, float(self.new.mean()) - above


def compare_case(
    before: CaseScores, after: CaseScores, scales: tuple[Scale, Scale], *, primary: str | None = None
) -> ComparedCase | None:
    """Return the gating metric of a case under both models on the same items, or None if the case is only reported.

    An item counts as unchanged if its scores agree within the noise tolerance. `primary` names the endpoint of a search
    with labels. If it is None, the labels determine the endpoint.
    """
    endpoint = primary_metric(before, primary)
    metric = endpoint or gating_metric(before)[0]
    if metric is None or metric.values is None:
        return None
    same = unchanged_items(before, after)
    if metric.unit != "item":
        same = np.array([bool(same[chain].all()) for chain in before.chain_rows])
    old, new = metric.values(before, scales[0]), metric.values(after, scales[1])
    new = np.where(same, old, new)
    if metric.contrast:
        old, new = metric.contrast(before, old), metric.contrast(after, new)
    heads, chance = (metric.value_rows(before), metric.value_rows(after)), chance_level(before, metric)
    budget: Budget = "primary" if endpoint else "behaviour"
    moved = sides = None
    if metric.unit == "chain":
        fell = np.nan_to_num(after.margins(scales[1]) - before.margins(scales[0]))
        rows = np.array([chain[int(np.argmin(fell[chain]))] for chain in before.chain_rows], np.intp)
        moved = before.select(rows), after.select(rows)
    if metric.sides:  # the surface direction of each row of crossed groups: its position in the group
        sides = np.zeros(len(before.items), np.intp)
        for group in before.chain_rows:
            sides[group] = np.arange(1, len(group) + 1)
    return ComparedCase(heads[0], heads[1], scales, metric, old, new, bool(same.all()), chance, budget, moved, sides)


def common_items(first: CaseScores, other: CaseScores) -> tuple[CaseScores, CaseScores]:
    """Return both tables on their common items (same id, texts and human score), in the order of the first."""
    mine, theirs = (
        list(zip(one.items, one.texts, one.gold or [None] * len(one.items), strict=True)) for one in (first, other)
    )
    at = {item: i for i, item in enumerate(theirs)}
    pairs = [(i, at[item]) for i, item in enumerate(mine) if item in at]
    ours, others = np.array(pairs, np.intp).reshape(-1, 2).T
    return first.select(ours), other.select(others)


def unchanged_items(before: CaseScores, after: CaseScores) -> NDArray[np.bool_]:
    """Return which items are unchanged: their scores agree within the noise of batch sizes and threads; shape [n].

    Items of searches are compared by rank.
    """
    if before.answers and after.answers:
        both = ([Answers.parse(text).without_first_rows for text in table.answers] for table in (before, after))
        return np.array([old == new for old, new in zip(*both, strict=True)], bool)
    near = np.isclose(before.near, after.near, rtol=0, atol=TOLERANCE)
    far = np.isnan(before.far) | np.isclose(before.far, after.far, rtol=0, atol=TOLERANCE)
    return np.asarray(near & far)


@dataclass(frozen=True)
class ModelScores:
    """One model's scores: its tables by case, and its calibration on each data set."""

    tables: Mapping[str, CaseScores]
    scales: Mapping[str, Scale]

    def select_split(self, split: str = GATE_SPLIT) -> ModelScores:
        """Return the scores on one split, for data that have dev and gate splits."""
        return ModelScores({name: table.select_split(split) for name, table in self.tables.items()}, self.scales)


def compare_cases(
    before: ModelScores,
    after: ModelScores,
    *,
    primary: str | None = None,
    held_out: Mapping[str, CaseScores] = MappingProxyType({}),
) -> tuple[list[ComparedCase], dict[str, str]]:
    """Return the gating figures of every case that both models have, and the reason why each other case is only
    reported.

    `held_out` has the held-out items by case, which show what the baseline sees. Without it, every case is compared.
    """
    compared, reported = [], {}
    for name, table in before.tables.items():
        if name in after.tables:
            scales = (before.scales.get(table.data, NO_CALIBRATION), after.scales.get(table.data, NO_CALIBRATION))
            found = compare_case(table, after.tables[name], scales, primary=primary)
            if found and found.metric.references and not {table.data} <= before.scales.keys() & after.scales.keys():
                reported[name] = f"{table.data} has {NO_RANDOM_PAIRS}"
            elif found:
                own = held_out.get(name)
                compared.append(replace(found, held_out=baseline_figures(own, before.scales)) if own else found)
            else:
                reported[name] = gating_metric(table)[1]
    return compared, reported


def baseline_figures(held_out: CaseScores, scales: Mapping[str, Scale]) -> ComparedCase:
    """Return the baseline's own figures on these items."""
    scale = scales.get(held_out.data, Scale(0.0))
    found = compare_case(held_out, held_out, (scale, scale))
    assert found is not None
    return found

"""Compare two models, property by property, on the same items.

Nothing is decided. A gate asks whether a loss that matters is excluded; this module reports significant differences.
A property is compared by its printed figure. A run's profile and `encheck compare` both use this module.
`lab/recipes/reference.py` makes the item scores that ship.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from encheck.errors import UsageError
from encheck.gating.baseline import SUMMARY, Baseline, read_baseline
from encheck.gating.decision import has_headroom, row_delta
from encheck.gating.pairing import (
    NO_CALIBRATION,
    ModelScores,
    chance_level,
    common_items,
    declaration_of,
    unchanged_items,
)
from encheck.gating.types import DEFAULT, PairedRow
from encheck.metrics import Metric, find_metric, mean_margin, mean_similarity
from encheck.run_file import ChangeVerdict, Difference, Result, Role, RunFile
from encheck.scoring.frame import CaseScores
from encheck.scoring.scores import Scale
from encheck.scoring.splits import TEST
from encheck.statistics.hypothesis_tests import holm_adjusted_p, t_cdf
from encheck.statistics.sharing import Sharing, cached_sharing, mean_interval, number_units
from encheck.system.documents import read_json
from encheck.verdict import MIN_CLUSTERS

Floats = NDArray[np.float64]
SHIPPED: Mapping[str, Role] = {"sbert": "reference", "bigrams": "surface"}
CERTAIN = 0.05  # error rate over all properties of a data set together
HALVINGS = 24  # p accurate to 1e-7
RISE_WITH_DAMAGE = (mean_similarity.name, mean_margin.name)


def shipped_baselines_on_same_data(results: RunFile) -> Iterator[Baseline]:
    """Yield the shipped references that were measured on this run's data: the same edition, complete."""
    here = {(data.name, data.fingerprint) for data in results.data}
    yield from (read_baseline(_shipped_folder(name)) for name in SHIPPED if here & _shipped_data(name))


def load_shipped_baseline(model: str) -> Baseline | None:
    """Return the shipped baseline of this model, or None if there is none, or for a surface scorer."""
    return read_baseline(_shipped_folder(model)) if SHIPPED.get(model) == "reference" else None


def has_shipped_baseline(data: str, fingerprint: str) -> bool:
    """Return whether a shipped reference was measured on this data."""
    return any((data, fingerprint) in _shipped_data(name) for name in SHIPPED)


@cache
def _shipped_data(name: str) -> frozenset[tuple[str, str]]:
    return frozenset((data["name"], data["fingerprint"]) for data in read_json(_shipped_folder(name) / SUMMARY)["data"])


def _shipped_folder(name: str) -> Path:
    return Path(str(resources.files("encheck.gating") / "shipped" / name))


def property_differences(rows: Iterable[Result], before: ModelScores, after: ModelScores) -> tuple[Difference, ...]:
    """Return how `after` differs from `before` in the figures of these rows, one difference per property and data set.

    The verdicts hold at 5% for all properties of a data set together (Holm 1979). Figures that cannot be paired item by
    item, or that have no better direction, are left out.
    """
    found = [
        one for row in rows if is_higher_better(row.metric or "") and (one := _paired_difference(row, before, after))
    ]
    judged: list[Difference] = []
    for _, of_data in groupby(sorted(found, key=lambda one: one.data), key=lambda one: one.data):
        some = list(of_data)
        for one, p in zip(some, holm_adjusted_p([one.p for one in some]), strict=True):
            said: ChangeVerdict = "better" if one.beats_chance else "no evidence"
            if p > CERTAIN or one.low <= 0 <= one.high:
                said = "cannot tell"
            elif one.difference < 0:
                said = "worse"
            judged.append(replace(one, p=float(p), said=said))
    return tuple(judged)


def is_higher_better(figure: str) -> bool:
    """Return whether a higher figure is better. For raw similarities it is not, so their differences mean nothing."""
    try:
        return find_metric(figure).base not in RISE_WITH_DAMAGE
    except UsageError:
        return False


def _paired_difference(row: Result, before: ModelScores, after: ModelScores) -> Difference | None:
    """Return how two models differ in a row's figure, on the items that both scored, with the uncorrected p.

    None if fewer than two items are shared, or the figure has no values per item.
    """
    case, metric = row.case.of_any_model, find_metric(row.metric or "")
    if metric.values is None or not (case in before.tables and case in after.tables):
        return None
    first, second = map(select_measured_items, common_items(before.tables[case], after.tables[case]))
    if len(first.items) < 2:
        return None
    epsilon = float(row.params.get("epsilon", 0.0))
    old, new = (
        metric_values(metric, table, side.scales.get(table.data, NO_CALIBRATION), epsilon=epsilon)
        for table, side in ((first, before), (second, after))
    )
    heads, same = metric.value_rows(first), unchanged_values(metric, first, second, old == new)
    moved = np.where(same, 0.0, new - old)
    sharing = cached_sharing(number_units(heads.shared_units))
    errors, clusters = sharing.estimate_errors(moved), effective_clusters(sharing)
    ends = sharing.change_interval(moved) if metric.kind == "rate" else mean_interval(errors)
    low, high = (0.0 if same.all() else float(end[0]) for end in ends)
    difference = float(moved.mean())
    p, error = 1.0, float(errors.error[0])  # two-sided, of H0: no difference
    if clusters >= MIN_CLUSTERS and difference and metric.kind == "rate":
        p = _rate_p_value(sharing, moved)
    elif clusters >= MIN_CLUSTERS and difference:
        p = float(2 * t_cdf(-abs(difference) / error, errors.degrees_of_freedom)) if error else 0.0
    return Difference(
        row.property, row.data, len(moved), clusters, float(old.mean()), float(old.mean()) + difference, difference,
        low, high, p, beats_chance(heads, metric, old, old + moved),
    )  # fmt: skip


def _rate_p_value(sharing: Sharing, moved: Floats) -> float:
    """Return the two-sided p of H0 "no difference": the level at which the interval of the change ends at 0."""
    least, most = 0.0, 1.0
    for _ in range(HALVINGS):
        p = (least + most) / 2
        low, high = (float(end[0]) for end in sharing.change_interval(moved, level=1 - p))
        least, most = (p, most) if low <= 0 <= high else (least, p)
    return most


def metric_values(metric: Metric[...], table: CaseScores, scale: Scale, *, epsilon: float = 0.0) -> Floats:
    """Return each item's value of a metric; shape [n]. An item counts as won only if it wins by more than `epsilon`."""
    if epsilon and metric.values and metric.kind == "rate":
        return metric.values(table, scale, epsilon=epsilon)
    return metric.item_values(table, scale)


def effective_clusters(sharing: Sharing) -> int:
    """Return the effective number of clusters of the items; below the minimum if their interval is withheld."""
    return (
        min(sharing.independent_clusters, MIN_CLUSTERS - 1) if sharing.why_no_interval else sharing.independent_clusters
    )


def beats_chance(heads: CaseScores, metric: Metric[...], before: Floats, after: Floats) -> bool:
    """Return whether a model is shown to beat guessing, by the gate's rule for headroom.

    `before` and `after` are the values of two models; `after`, shape [n], are those of the tested one. `heads` has a
    row for each value. If the chance level is unknown, a rate has to be above 0.
    """
    one = PairedRow(
        heads.case, declaration_of(heads).family, "rate" if metric.kind == "rate" else "mean", before, after,
        number_units(heads.shared_units),
        delta=metric.delta, chance=chance_level(heads, metric),
    )  # fmt: skip
    return has_headroom(replace(one, baseline=after), row_delta(one, DEFAULT))


def unchanged_values(
    metric: Metric[...], before: CaseScores, after: CaseScores, equal: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which items have not changed. If an item's value depends on other items, return all or none."""
    if metric.unit == "chain":
        return equal
    same = unchanged_items(before, after)
    return np.full(len(same), same.all()) if metric.contrast else same


def select_measured_items(table: CaseScores) -> CaseScores:
    """Return the items that the check measures: only the test part, if the check declares so and the data have one."""
    test = np.flatnonzero([split in TEST for split in table.splits])
    return table.select(test) if len(test) and declaration_of(table).part == "test" else table

"""Metrics. Each defines its value item by item, its aggregate and its interval."""

from encheck.errors import UsageError, unknown_name_message
from encheck.metrics import (
    adjusted,
    classification,
    correlation,
    crossed,
    health,
    nonobvious,
    pairs,
    ranking,
    search,
    symmetry,
)
from encheck.metrics.adjusted import adjusted_rate
from encheck.metrics.crossed import (
    both_directions,
    directions_mean,
    interaction,
    worse_direction,
)
from encheck.metrics.metric import CALIBRATED, Metric
from encheck.metrics.pairs import (
    auc,
    cohens_d,
    margin_rate,
    mean_margin,
    mean_of_label,
    mean_similarity,
    means_by_label,
    share_above,
    shares_above_by_label,
    similarity_gap,
)

__all__ = [
    "Metric",
    "adjusted_rate",
    "auc",
    "both_directions",
    "cohens_d",
    "directions_mean",
    "find_metric",
    "interaction",
    "margin_rate",
    "mean_margin",
    "mean_of_label",
    "mean_similarity",
    "means_by_label",
    "share_above",
    "shares_above_by_label",
    "similarity_gap",
    "worse_direction",
]
_MODULES = (
    adjusted, classification, correlation, crossed, health, nonobvious, pairs, ranking, search, symmetry,
)  # fmt: skip
_METRICS: dict[str, Metric[...]] = {
    found.name: found for module in _MODULES for found in vars(module).values() if isinstance(found, Metric)
}


def find_metric(name: str) -> Metric[...]:
    """Return the metric of this name; a name may end in the calibrated scale. Raise UsageError for an unknown metric.

    >>> find_metric("margin_rate_calibrated").label
    'share won'
    """
    base = name.removesuffix(CALIBRATED)
    if base not in _METRICS:
        raise UsageError(unknown_name_message("metric", name, _METRICS))
    return _METRICS[base].calibrated if name != base else _METRICS[base]

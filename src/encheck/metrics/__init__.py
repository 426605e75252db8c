"""Each metric once: its value item by item, its aggregate and its interval."""

from encheck.metrics.pairs import (
    auc,
    cohens_d,
    margin_rate,
    mean_margin,
    mean_of_label,
    mean_similarity,
    share_above,
    similarity_gap,
)

__all__ = [
    "auc",
    "cohens_d",
    "margin_rate",
    "mean_margin",
    "mean_of_label",
    "mean_similarity",
    "share_above",
    "similarity_gap",
]

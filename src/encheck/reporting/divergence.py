"""The divergence picture: how far paraphrases and others are in words (Peinelt et al. 2019, Figure 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 200, 36, 26, 8
BINS = 20


def picture(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any] | None:
    """SVG steps of the share of each label's pairs a bin of divergence; None where a label has no pair."""
    from encheck.language.divergence import jsd

    labels = np.array([-1 if label is None else label for label in columns["label"]])
    if not {0, 1} <= set(labels.tolist()):
        return None
    found = jsd(columns["source"], columns["near"])
    shares = {
        label: np.histogram(found[labels == label], BINS, (0, 1))[0] / (labels == label).sum() for label in (0, 1)
    }
    top = float(max(share.max() for share in shares.values()))
    return {
        "positive": _steps(shares[1] / top),
        "negative": _steps(shares[0] / top),
        "median": _x(float(np.median(found))),
        "x_ticks": [(f"{d:g}", _x(d)) for d in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "y_ticks": [(f"{part * top:.0%}", _y(part)) for part in (0.0, 0.5, 1.0)],
        "counts": {label: int((labels == label).sum()) for label in (1, 0)},
        "means": {label: float(found[labels == label].mean()) for label in (1, 0)},
        "width": WIDTH, "height": HEIGHT, "left": LEFT, "bottom": BOTTOM,
    }  # fmt: skip


def _steps(heights: Any) -> str:
    edges = np.linspace(0, 1, BINS + 1)
    corners = [(edges[i + side], height) for i, height in enumerate(heights) for side in (0, 1)]
    return " ".join(f"{_x(x)},{_y(y)}" for x, y in [(0.0, 0.0), *corners, (1.0, 0.0)])


def _x(divergence: float) -> float:
    return round(float(LEFT + divergence * (WIDTH - LEFT - 10)), 1)


def _y(part: float) -> float:
    return round(float(TOP + (1 - part) * (HEIGHT - BOTTOM - TOP)), 1)

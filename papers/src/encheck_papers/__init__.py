"""Reproductions of five papers on sentence encoders: their models, and the training in three of them.

Heads, pooling over spans, losses, weights and synthetic pairs are for sentence-transformers.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = [
    "BroughtFrames",
    "PairHead",
    "PairHeadLoss",
    "PairHeadTrainer",
    "ParsedSpans",
    "ReweightedCosineLoss",
    "SpanPooling",
    "load_with_spans",
    "with_span_pooling",
]
_MADE_WHEN_ASKED = {
    "PairHead": "head", "PairHeadLoss": "head", "PairHeadTrainer": "head", "ReweightedCosineLoss": "reweighted_loss",
    "BroughtFrames": "with_spans", "ParsedSpans": "with_spans", "SpanPooling": "with_spans",
    "load_with_spans": "with_spans", "with_span_pooling": "with_spans",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """The names that import torch, made on first use."""
    if name not in _MADE_WHEN_ASKED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MADE_WHEN_ASKED[name]}"), name)

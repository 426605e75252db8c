"""Behaviour inside a training loop, and what three papers train: heads, spans, losses, weights and synthetic pairs."""

from __future__ import annotations

import importlib
from typing import Any

from encheck.training.evaluator import behaviour

__all__ = [
    "BehaviourEvaluator",
    "BroughtFrames",
    "PairHead",
    "PairHeadLoss",
    "PairHeadTrainer",
    "ParsedSpans",
    "ReweightedCosineLoss",
    "SpanPooling",
    "behaviour",
    "load_with_spans",
    "with_span_pooling",
]
_MADE_WHEN_ASKED = {
    "BehaviourEvaluator": "evaluator", "PairHead": "head", "PairHeadLoss": "head", "PairHeadTrainer": "head",
    "ReweightedCosineLoss": "reweighted_loss", "BroughtFrames": "spans", "ParsedSpans": "spans", "SpanPooling": "spans",
    "load_with_spans": "spans", "with_span_pooling": "spans",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What brings torch along, made when it is asked for."""
    if name not in _MADE_WHEN_ASKED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"encheck.training.{_MADE_WHEN_ASKED[name]}"), name)

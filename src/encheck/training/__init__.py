"""Behaviour inside a training loop, and what is trained: heads over two vectors, pooling over spans."""

from __future__ import annotations

from typing import Any

from encheck.training.evaluator import behaviour

__all__ = [
    "BehaviourEvaluator",
    "BroughtFrames",
    "PairHead",
    "PairHeadLoss",
    "PairHeadTrainer",
    "ParsedSpans",
    "SpanPooling",
    "behaviour",
    "load_with_spans",
    "with_span_pooling",
]
SPANS = ("BroughtFrames", "ParsedSpans", "load_with_spans", "with_span_pooling")


def __getattr__(name: str) -> Any:
    """What brings torch along, made when it is asked for."""
    if name == "BehaviourEvaluator":
        from encheck.training import evaluator

        return evaluator.BehaviourEvaluator
    if name == "SpanPooling":
        from encheck.encoders.checkpoints import span_pooling

        return span_pooling.SpanPooling
    if name in SPANS:
        from encheck.training import spans

        return getattr(spans, name)
    if name in __all__:
        from encheck.training import head

        return getattr(head, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Behaviour inside a training loop, and what is trained: heads over two vectors."""

from __future__ import annotations

from typing import Any

from encheck.training.evaluator import behaviour

__all__ = ["BehaviourEvaluator", "PairHead", "PairHeadLoss", "PairHeadTrainer", "behaviour"]


def __getattr__(name: str) -> Any:
    """What brings torch along, made when it is asked for."""
    if name == "BehaviourEvaluator":
        from encheck.training import evaluator

        return evaluator.BehaviourEvaluator
    if name in __all__:
        from encheck.training import head

        return getattr(head, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

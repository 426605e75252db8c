"""Behaviour inside a training loop."""

from __future__ import annotations

from typing import Any

from encheck.training.evaluator import behaviour

__all__ = ["BehaviourEvaluator", "behaviour"]


def __getattr__(name: str) -> Any:
    """`BehaviourEvaluator`, made when it is asked for: its base class brings torch along."""
    if name != "BehaviourEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from encheck.training import evaluator

    return evaluator.BehaviourEvaluator

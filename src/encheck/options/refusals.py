"""Refuse wrong options of a run before anything is collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from encheck.errors import UsageError
from encheck.options.settings import OPTIONS


def refuse_wrong(option: Any) -> None:
    """UsageError for a value that an option does not take, and for options that contradict each other."""
    _refuse_empty(option)
    for one in OPTIONS.values():
        one.parse(getattr(option, one.dest))
    _refuse_contradictions(option)


def _refuse_empty(option: Any) -> None:
    """UsageError where an option was given without a value: an unset variable must not switch off what it asks for."""
    for one in OPTIONS.values():
        value = getattr(option, one.dest)
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and not text.strip() for text in texts):
            raise UsageError(
                f"the value of --{one.name} is empty (a variable that is not set?): give a value, or leave out "
                f"--{one.name}"
            )


def _refuse_contradictions(option: Any) -> None:
    """UsageError for a baseline of several models or of less than all items, and for an option that stands alone."""
    models = OPTIONS["models"].parse(option.encheck_model)
    replicates = option.encheck_twin or ()
    saves = bool(option.encheck_save_baseline)
    _refuse_named_twice(models, replicates)
    if saves and len(models) > 1:
        raise UsageError(f"--save-baseline is for one model, but there are {len(models)}: {', '.join(models)}")
    if replicates and not saves:
        raise UsageError("--twin requires --save-baseline=DIR, or encheck gate NEW OLD --twin=MODEL")
    if option.encheck_quick and option.encheck_full:
        raise UsageError("--quick stops after the first look and --full does not: give one of them")
    if option.encheck_quick and saves:
        raise UsageError(
            "--quick stops after a first look, and --save-baseline keeps all items: a first look is no baseline. Leave "
            "one out"
        )
    if option.encheck_engine and saves:
        raise UsageError(
            "--engine keeps no score of every item, and --save-baseline is for a gate, which pairs two models item by "
            "item: leave out --engine, and gate on --sample=N"
        )
    if option.encheck_address and not (option.encheck_engine or "").startswith("ray"):
        raise UsageError("--address is where a Ray cluster is: it needs --engine=ray")
    if option.encheck_quick and option.encheck_engine:
        raise UsageError("--quick stops after a first look, and --engine measures all pairs: leave one out")


def _refuse_named_twice(models: Sequence[str], replicates: Sequence[str]) -> None:
    """UsageError for a seed replicate that is one of the models, or is named twice."""
    named = [*models]
    for replicate in replicates:
        if replicate in named:
            raise UsageError(
                f"--twin={replicate} is named twice, or is the model under test: a seed replicate is a separate "
                f"checkpoint, trained with another seed"
            )
        named.append(replicate)

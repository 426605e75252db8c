"""Refuse wrong options of a run before anything is collected."""

from __future__ import annotations

from typing import Any

from encheck.errors import UsageError
from encheck.options.settings import OPTIONS

WHOLE_RUNS = {
    "baseline": "weighs all items",
    "save_baseline": "keeps all items: a first look is no baseline",
}  # by option: why a run with it never stops after a first look


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
    """UsageError where a gate has several models, one is its own seed replicate, or an option of it stands alone."""
    models = OPTIONS["models"].parse(option.encheck_model)
    _refuse_named_twice(models, option.encheck_twin or ())
    for name in ("baseline", "save_baseline"):
        if getattr(option, f"encheck_{name}") and len(models) > 1:
            option_name, listed = f"--{name.replace('_', '-')}", ", ".join(models)
            raise UsageError(f"{option_name} is for one model, but there are {len(models)}: {listed}")
    if option.encheck_anchor and not option.encheck_baseline:
        raise UsageError("--anchor requires --baseline=DIR: it is a second baseline")
    if option.encheck_strict and option.encheck_baseline:
        raise UsageError("--strict is for a run without --baseline: with a baseline, the gate decides, and aims do not")
    if option.encheck_inconclusive and not option.encheck_baseline:
        raise UsageError("--inconclusive requires --baseline=DIR: it says what an inconclusive gate counts as")
    if option.encheck_primary and not option.encheck_baseline:
        raise UsageError("--primary requires --baseline=DIR: it is the metric by which a gate weighs a search")
    _refuse_with_quick(option)
    _refuse_with_engine(option)
    if option.encheck_twin and not (option.encheck_baseline or option.encheck_save_baseline):
        raise UsageError("--twin requires --baseline=DIR or --save-baseline=DIR")


def _refuse_with_quick(option: Any) -> None:
    """UsageError for --quick beside what needs all items."""
    if not option.encheck_quick:
        return
    if option.encheck_full:
        raise UsageError("--quick stops after the first look and --full does not: give one of them")
    for name, why in WHOLE_RUNS.items():
        if getattr(option, f"encheck_{name}"):
            raise UsageError(f"--quick stops after a first look, and --{name.replace('_', '-')} {why}: leave one out")


def _refuse_with_engine(option: Any) -> None:
    """UsageError for a gate beside --engine, and for an option of it that stands alone."""
    for name in ("baseline", "save_baseline"):
        if option.encheck_engine and getattr(option, f"encheck_{name}"):
            raise UsageError(
                f"--engine keeps no score of every item, and --{name.replace('_', '-')} is for a gate, which pairs two "
                f"models item by item: leave out --engine, and gate on --sample=N"
            )
    if option.encheck_address and not (option.encheck_engine or "").startswith("ray"):
        raise UsageError("--address is where a Ray cluster is: it needs --engine=ray")
    if option.encheck_quick and option.encheck_engine:
        raise UsageError("--quick stops after a first look, and --engine measures all pairs: leave one out")


def _refuse_named_twice(models: tuple[str, ...], replicates: list[str] | tuple[()]) -> None:
    named = [*models]
    for replicate in replicates:
        if replicate in named:
            raise UsageError(
                f"--twin={replicate} is named twice, or is the model under test: a seed replicate is a separate "
                f"checkpoint, trained with another seed"
            )
        named.append(replicate)

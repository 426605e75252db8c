"""The options of a run as keyword arguments of a Python function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from encheck.errors import UsageError, unknown
from encheck.options.option import Option
from encheck.options.refusals import refuse_wrong
from encheck.options.settings import OPTIONS, Settings, from_options

Given = str | float | bool | Path | Sequence[str] | None


def from_keywords(
    models: Sequence[str], data: Sequence[str], options: Mapping[str, Given], *, root: Path | None = None
) -> Settings:
    """Settings of a run of these models on these data; `options` are named as on the command line, with underscores.

    None stands for the default, a sequence repeats an option. UsageError for an option that does not exist, and for a
    value that it does not take.

    >>> from_keywords(["sbert"], ["probes"], {"epsilon": 0.1, "sample": 500}).sample
    500
    """
    if "baseline" in options:
        raise UsageError("a run is compared with no baseline: that is a gate. Call encheck.gate(new, old)")
    known = {one.name.replace("-", "_"): one for one in OPTIONS.values()}
    for name in options:
        if name not in known:
            raise UsageError(unknown("option", name, known))
    given = {**options, "model": list(models), "data": list(data)}
    parsed = SimpleNamespace(**{one.dest: _value(one, given.get(name)) for name, one in known.items()})
    refuse_wrong(parsed)
    settings = from_options(parsed, root=root or Path.cwd())
    replicates = [one for one in settings.seed_replicates if one not in models]
    return replace(settings, models=(*models, *replicates))  # a model may stand twice, used in two ways


def _value(option: Option, given: Any) -> Any:
    """What a command line would have made of it."""
    if option.is_flag:
        return bool(given)
    if given is None:
        return option.default
    texts = [str(one) for one in (given if isinstance(given, list | tuple) else [given])]
    if option.choices and (wrong := [text for text in texts if text not in option.choices]):
        raise UsageError(unknown(option.name, wrong[0], option.choices))
    try:
        values = [option.convert(text) for text in texts]
    except ValueError as error:
        raise UsageError(f"{option.name} is {texts[0]!r}, but should be {option.metavar}: {error}") from error
    return values if option.repeatable else values[-1]

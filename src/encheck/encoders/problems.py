"""Find mistakes in an entry of models.yaml: fields that its adapter does not support, unknown names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from encheck.encoders.adapters import ADAPTERS, DTYPES, PAPERS, POOLINGS, Adapter, adapter_of
from encheck.encoders.model_config import ModelConfig
from encheck.errors import UsageError, unknown
from encheck.similarity import SIMILARITIES
from encheck.system import entry_points

_WEIGHTS = (
    *("revision", "package", "sha256", "prompt", "prompts", "pooling", "truncate_dim", "max_length", "dtype"),
    *("similarity", "trust_remote_code"),
)

WANTED: dict[type, str] = {
    str: "text: write it in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping of names to values",
}


def problems(config: ModelConfig) -> Iterator[tuple[str, str]]:
    """(field, what is wrong with it), where the fields do not go together or have a value that there is not."""
    try:
        known = adapter_of(config.adapter)
    except UsageError:
        return  # a package that cannot be imported: loading the model says so, and other models load
    if known is None and config.adapter in PAPERS:
        return  # loading it says what to install
    if known is None and ":" not in config.adapter:
        packaged = entry_points.offered(entry_points.ADAPTERS, ours=ADAPTERS)
        if config.adapter not in packaged:
            every = sorted({*ADAPTERS, *packaged, *PAPERS, "package.module:Class"})
            yield "adapter", unknown("adapter", config.adapter, every)
            return
    if known and not config.name and known.source != "optional":
        yield "", f"model {config.label!r} has no name: give a folder or a hub id"
    for name, there_are in (("dtype", DTYPES), ("similarity", SIMILARITIES), ("pooling", POOLINGS)):
        value = getattr(config, name)
        if value is not None and value not in there_are:
            yield name, unknown(name, value, there_are)
    yield from _adapter_problems(config, known) if known else _own_problems(config)


def _own_problems(config: ModelConfig) -> Iterator[tuple[str, str]]:
    for name in _WEIGHTS:
        if _is_set(config, name):
            yield name, f"adapter {config.adapter!r} does not support {name}: pass it in options"


def _is_set(config: ModelConfig, name: str) -> bool:
    value = getattr(config, name)
    return value is not None and value is not False and value != {}


def _adapter_problems(config: ModelConfig, adapter: Adapter) -> Iterator[tuple[str, str]]:
    """Fields that the adapter does not support, and options that it does not have."""
    for name in _WEIGHTS:
        if _is_set(config, name) and name not in adapter.takes:
            yield (
                name,
                f"adapter {config.adapter!r} does not support {name}. Supported fields: {', '.join(adapter.takes)}",
            )
    for name, value in config.options.items():
        if problem := _option_problem(config.adapter, adapter.options, name, value):
            yield "options", problem


def _option_problem(adapter: str, known: Mapping[str, type | tuple[str, ...]], name: str, value: object) -> str:
    if not known:
        return f"adapter {adapter!r} has no options"
    if name not in known:
        return unknown(f"option of {adapter}", name, known)
    wants = known[name]
    if isinstance(wants, tuple):
        return "" if value in wants else unknown(name, str(value), wants)
    fits = isinstance(value, int | float) if wants is float else isinstance(value, wants)
    if not fits or (isinstance(value, bool) and wants is not bool):
        return f"options.{name} is {value!r}, but should be {WANTED[wants]}"
    return ""

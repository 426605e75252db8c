"""Find mistakes in an entry of models.yaml: fields that its adapter does not support, unknown names."""

from __future__ import annotations

from collections.abc import Iterator

from encheck.encoders.adapters import ADAPTERS, DTYPES, POOLINGS
from encheck.encoders.model_config import ModelConfig
from encheck.errors import unknown
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
    own = config.adapter not in ADAPTERS
    if own and ":" not in config.adapter:
        packaged = entry_points.offered(entry_points.ADAPTERS, ours=ADAPTERS)
        if config.adapter not in packaged:
            yield "adapter", unknown("adapter", config.adapter, [*ADAPTERS, *packaged, "package.module:Class"])
            return
    if not own and not config.name and ADAPTERS[config.adapter].source != "optional":
        yield "", f"model {config.label!r} has no name: give a folder or a hub id"
    for name, known in (("dtype", DTYPES), ("similarity", SIMILARITIES), ("pooling", POOLINGS)):
        value = getattr(config, name)
        if value is not None and value not in known:
            yield name, unknown(name, value, known)
    yield from _own_problems(config) if own else _adapter_problems(config)


def _own_problems(config: ModelConfig) -> Iterator[tuple[str, str]]:
    for name in _WEIGHTS:
        if _is_set(config, name):
            yield name, f"adapter {config.adapter!r} does not support {name}: pass it in options"


def _is_set(config: ModelConfig, name: str) -> bool:
    value = getattr(config, name)
    return value is not None and value is not False and value != {}


def _adapter_problems(config: ModelConfig) -> Iterator[tuple[str, str]]:
    """Fields that the adapter does not support, and options that it does not have."""
    adapter = ADAPTERS[config.adapter]
    for name in _WEIGHTS:
        if _is_set(config, name) and name not in adapter.takes:
            yield (
                name,
                f"adapter {config.adapter!r} does not support {name}. Supported fields: {', '.join(adapter.takes)}",
            )
    for name, value in config.options.items():
        if problem := _option_problem(config.adapter, name, value):
            yield "options", problem


def _option_problem(adapter: str, name: str, value: object) -> str:
    known = ADAPTERS[adapter].options
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

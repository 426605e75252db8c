"""models.yaml: the names that `--model` takes, read safely, with line numbers in every complaint."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, cast

import yaml

from encheck.errors import ConfigError, unknown

ADAPTERS = {"sentence-transformers": "encheck.encoders.sentence_transformers:SentenceTransformerEncoder"}


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One entry of models.yaml.

    `adapter` is a name of `ADAPTERS` or `package.module:Class` of your own, called with `options`; `package` is an
    installed package that carries the weights, `sha256` what its model.safetensors must hash to.
    """

    label: str
    adapter: str = "sentence-transformers"
    name: str = ""
    revision: str | None = None
    package: str | None = None
    sha256: str | None = None
    prompt: str | None = None
    max_length: int | None = None
    dtype: str | None = None
    similarity: str | None = None
    licence: str = ""
    description: str = ""
    trained_on: tuple[str, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    known_failures: Mapping[str, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


_TYPES: dict[str, tuple[type, ...]] = {
    "max_length": (int,),
    "trained_on": (list,),
    "thresholds": (dict,),
    "known_failures": (dict,),
    "options": (dict,),
}


def read_models(path: Path) -> dict[str, ModelConfig]:
    """The entries of one models.yaml; ConfigError names the line of whatever is wrong."""
    try:
        text = path.read_text("utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: is not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not valid YAML: {error}") from error
    if root is None:
        return {}
    return {label: _entry(path, label, node) for label, node in _items(path, root, "the file")}


def _items(path: Path, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}:{node.start_mark.line + 1}: {what} should be a mapping of names to values")
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value in seen:
            raise ConfigError(f"{path}:{line}: {key.value!r} stands twice; first on line {seen[key.value]}")
        seen[key.value] = line
        yield key.value, value


def _entry(path: Path, label: str, node: yaml.Node) -> ModelConfig:
    fields = {f.name for f in dataclasses.fields(ModelConfig)} - {"label"}
    values: dict[str, Any] = {}
    for key, value_node in _items(path, node, f"model {label!r}"):
        line = value_node.start_mark.line + 1
        if key not in fields:
            raise ConfigError(f"{path}:{line}: {unknown('field', key, fields)}")
        values[key] = _value(path, line, key, value_node)
    config = ModelConfig(label, **values)
    _check(path, node.start_mark.line + 1, config)
    return config


def _value(path: Path, line: int, key: str, node: yaml.Node) -> Any:
    value: Any = yaml.SafeLoader("").construct_document(node)
    expected = _TYPES.get(key, (str,))
    if not isinstance(value, expected) or isinstance(value, bool):
        raise ConfigError(f"{path}:{line}: {key} is {value!r}, but should be of type {expected[0].__name__}")
    if key == "thresholds":
        _all(path, line, key, cast("dict[str, Any]", value), (int, float))
    if key == "known_failures":
        _all(path, line, key, cast("dict[str, Any]", value), (str,))
    return tuple(value) if isinstance(value, list) else value


def _all(path: Path, line: int, key: str, value: dict[str, Any], types: tuple[type, ...]) -> None:
    for name, entry in value.items():
        if not isinstance(entry, types) or isinstance(entry, bool):
            wants = "a number" if float in types else "a reason"
            raise ConfigError(f"{path}:{line}: {key}.{name} is {entry!r}, but should be {wants}")


def _check(path: Path, line: int, config: ModelConfig) -> None:
    if config.adapter not in ADAPTERS and ":" not in config.adapter:
        known = [*ADAPTERS, "package.module:Class"]
        raise ConfigError(f"{path}:{line}: {unknown('adapter', config.adapter, known)}")
    if config.adapter in ADAPTERS and not config.name:
        raise ConfigError(f"{path}:{line}: model {config.label!r} has no name: give a folder or a hub id")
    if config.max_length is not None and config.max_length < 1:
        raise ConfigError(f"{path}:{line}: max_length is {config.max_length}, but should be at least 1")


def packaged_models() -> Path:
    """The models.yaml that came with encheck."""
    return Path(str(resources.files("encheck") / "models.yaml"))


def known_models(own: Path | None = None) -> dict[str, ModelConfig]:
    """The packaged entries, with those of the user's own models.yaml over them."""
    entries = read_models(packaged_models())
    if own is not None and own.exists():
        entries |= read_models(own)
    return entries

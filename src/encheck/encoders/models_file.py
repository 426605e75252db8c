"""models.yaml: the names that `--model` takes, read safely, with line numbers in every complaint."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from encheck.encoders.adapters import ADAPTERS
from encheck.encoders.problems import problems
from encheck.errors import ConfigError, unknown


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One entry of models.yaml.

    `adapter` is a name of `ADAPTERS` or `package.module:Class` of your own, called with `options`; `package` is an
    installed package that carries the weights. `sha256` is what the file `name`, or the folder's model.safetensors,
    must hash to; or a mapping of options that name files, and of paths inside the folder, to their hashes. `prompt`
    stands before every text, `prompts` holds those of a role; `fetch` says where the files of `name` can be had.
    """

    label: str
    adapter: str = "sentence-transformers"
    name: str = ""
    revision: str | None = None
    package: str | None = None
    sha256: str | Mapping[str, str] | None = None
    prompt: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    pooling: str | None = None
    truncate_dim: int | None = None
    max_length: int | None = None
    dtype: str | None = None
    similarity: str | None = None
    trust_remote_code: bool = False
    fetch: str = ""
    licence: str = ""
    description: str = ""
    trained_on: tuple[str, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    known_failures: Mapping[str, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


_TYPES: dict[str, tuple[type, ...]] = {
    "max_length": (int,),
    "truncate_dim": (int,),
    "trust_remote_code": (bool,),
    "prompts": (dict,),
    "trained_on": (list,),
    "thresholds": (dict,),
    "known_failures": (dict,),
    "options": (dict,),
    "sha256": (str, dict),
}


def read_models(path: Path) -> dict[str, ModelConfig]:
    """The entries of one models.yaml; ConfigError names the line of whatever is wrong."""
    text = _text(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise ConfigError(f"{path}:{line}: is not valid YAML: {what}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{path}:{line}: is not valid YAML: {chr(error.character)!r} may not stand here") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: is nested too deep") from error
    if root is None:
        return {}
    return {label: _entry(path, line, label, node) for label, line, node in _items(path, root, "the file")}


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def _items(path: Path, node: yaml.Node, what: str) -> Iterator[tuple[str, int, yaml.Node]]:
    """(key, line, value) of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}:{node.start_mark.line + 1}: {what} should be a mapping of names to values")
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ConfigError(f"{path}:{line}: a name in {what} should be plain text")
        if key.value in seen:
            raise ConfigError(f"{path}:{line}: {key.value!r} stands twice; first on line {seen[key.value]}")
        seen[key.value] = line
        yield key.value, line, value


def _entry(path: Path, line: int, label: str, node: yaml.Node) -> ModelConfig:
    fields = {f.name for f in dataclasses.fields(ModelConfig)} - {"label"}
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, at, value_node in _items(path, node, f"model {label!r}"):
        if key not in fields:
            raise ConfigError(f"{path}:{at}: {unknown('field', key, fields)}")
        values[key], lines[key] = _value(path, at, key, value_node), at
    config = ModelConfig(label, **values)
    for field_name, problem in problems(config):
        raise ConfigError(f"{path}:{lines.get(field_name, line)}: {problem}")
    return config


def _value(path: Path, line: int, key: str, node: yaml.Node) -> Any:
    value = _construct(path, line, node)
    expected = _TYPES.get(key, (str,))
    if not isinstance(value, expected) or (isinstance(value, bool) and expected != (bool,)):
        raise ConfigError(f"{path}:{line}: {key} is {value!r}, but should be of type {expected[0].__name__}")
    wants, fits = _PARTS.get(key, ("", lambda _part: True))
    for name, at, part in _parts(path, line, key, node):
        if not fits(part):
            raise ConfigError(f"{path}:{at}: {name} is {part!r}, but should be {wants}")
    return tuple(value) if isinstance(value, list) else value


def _parts(path: Path, line: int, key: str, node: yaml.Node) -> Iterator[tuple[str, int, object]]:
    """(name, line, value) of what stands in a list or a mapping."""
    if isinstance(node, yaml.MappingNode):
        for name, at, part in _items(path, node, key):
            yield f"{key}.{name}", at, _construct(path, at, part)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            yield f"an entry of {key}", part.start_mark.line + 1, _construct(path, line, part)


def _construct(path: Path, line: int, node: yaml.Node) -> Any:
    """The plain value of a node; nothing but text, numbers, lists and mappings is ever made."""
    try:
        return yaml.SafeLoader("").construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{path}:{line}: {error.problem}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}:{line}: {error}") from error


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_PARTS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "thresholds": ("a number", _is_number),
    "known_failures": ("a reason", _is_text),
    "trained_on": ("the name of a data set", _is_text),
    "sha256": ("a SHA-256 in hexadecimal digits", _is_text),
    "prompts": ("text", lambda part: isinstance(part, str)),
}


def with_args(config: ModelConfig, args: Mapping[str, str]) -> ModelConfig:
    """The entry with what --model-arg key=value says over it: a field, or else an option of the adapter.

    Values are read as YAML, but for text, which is taken as it is: a class may be called 1. ConfigError for what an
    entry of models.yaml may not hold either.
    """
    fields = {f.name for f in dataclasses.fields(ModelConfig)} - {"label", "options", "thresholds", "known_failures"}
    changed: dict[str, Any] = {}
    adapter = args.get("adapter", config.adapter)
    options, texts = dict(config.options), _text_options(adapter)
    _refuse_unknown(args, adapter, fields)
    for key, text in args.items():
        if key not in fields:
            options[key] = text if key in texts else _argument(key, text)
        else:
            changed[key] = text if str in _TYPES.get(key, (str,)) else _argument(key, text)
            if not isinstance(changed[key], _TYPES.get(key, (str,))):
                raise ConfigError(f"--model-arg {key}={text}: should be of type {_TYPES[key][0].__name__}")
    made = dataclasses.replace(config, **changed, options=options)
    for _, problem in problems(made):
        raise ConfigError(f"--model-arg for {config.label}: {problem}")
    return made


def _refuse_unknown(args: Mapping[str, str], adapter: str, fields: set[str]) -> None:
    """ConfigError for a key that is neither a field nor an option of the adapter; one's own take any."""
    for key, text in args.items() if adapter in ADAPTERS else ():
        known = fields | ADAPTERS[adapter].options.keys()
        if key not in known:
            raise ConfigError(f"--model-arg {key}={text}: {unknown(f'field or option of {adapter}', key, known)}")


def _text_options(adapter: str) -> set[str]:
    """The options of an adapter that are text."""
    known = ADAPTERS[adapter].options if adapter in ADAPTERS else {}
    return {name for name, wants in known.items() if wants is str}


def _argument(key: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"--model-arg {key}={text}: is not valid YAML") from error


def packaged_models() -> Path:
    """The models.yaml that came with encheck."""
    return Path(str(resources.files("encheck") / "models.yaml"))


def known_models(own: Path | None = None) -> dict[str, ModelConfig]:
    """The packaged entries, with those of the user's own models.yaml over them."""
    entries = read_models(packaged_models())
    if own is not None and own.exists():
        entries |= read_models(own)
    return entries

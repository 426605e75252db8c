"""Read models.yaml, which holds the names that `--model` accepts. Every error has a line number."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import yaml

from encheck.encoders.adapters import ADAPTERS, DTYPES, PAPER_ADAPTERS, PINNING_FIELDS, POOLINGS, find_adapter
from encheck.encoders.model_config import ModelConfig
from encheck.errors import ConfigError, UsageError, unknown_name_message
from encheck.similarity import SIMILARITIES
from encheck.system import imports
from encheck.system.documents import read_config_text
from encheck.system.typed_files import Place, invalid_values

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_LENGTH = 1_000_000_000  # more tokens or dimensions than any model has
FIELD_WANTED = {
    "sha256": "a SHA-256, or a mapping of files to SHA-256 hashes",
    "sha256.*": "a SHA-256 in hexadecimal digits",
    "trained_on.*": "the name of a data set",
    "thresholds.*": "a number",
    "known_failures.*": "a reason",
}
_ADAPTER_FIELDS = (
    *("revision", "package", "sha256", "prompt", "prompts", "pooling", "truncate_dim", "max_length", "dtype"),
    *("similarity", "trust_remote_code"),
)
OPTION_WANTED: dict[type, str] = {
    str: "text: write it in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a mapping of names to values",
}
MAX_FILE_BYTES, MAX_NODES = 200_000, 100_000  # some two seconds; those that come with encheck have 20,000 bytes
__all__ = ["ModelConfig", "apply_model_args", "known_models", "packaged_models_path", "read_models"]


def invalid_field_values(values: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield (place, problem) for each unknown field, and for each value that its field does not accept."""
    return invalid_values(_entry_schema(), values, FIELD_WANTED, kind="field")


def text_fields() -> set[str]:
    """Return the fields that hold text. `--model-arg` does not parse their values."""
    return {f.name for f in dataclasses.fields(ModelConfig)} - _non_text_types().keys() | {"sha256"}


@cache
def _non_text_types() -> dict[str, Any]:
    """Return the types of the fields that hold something other than text."""
    from pydantic import Field

    length: Any = Annotated[int, Field(ge=1, le=MAX_LENGTH)]
    text: Any = Annotated[str, Field(pattern=r"\S")]
    return {
        "max_length": length,
        "truncate_dim": length,
        "price": Annotated[float, Field(ge=0)],
        "trust_remote_code": bool,
        "prompts": dict[str, str],
        "trained_on": list[text],
        "thresholds": dict[str, float],
        "known_failures": dict[str, text],
        "options": dict[str, Any],
        "sha256": str | dict[str, text],
    }


@cache
def _entry_schema() -> type[BaseModel]:
    from pydantic import ConfigDict, create_model

    names = (f.name for f in dataclasses.fields(ModelConfig) if f.name != "label")
    fields: dict[str, Any] = {name: (_non_text_types().get(name, str), None) for name in names}
    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    return create_model("Entry", __config__=strict, **fields)


def entry_problems(config: ModelConfig) -> Iterator[tuple[str, str]]:
    """Yield (field, problem) for fields that exclude each other or have an invalid value."""
    try:
        adapter = find_adapter(config.adapter)
    except UsageError:
        return  # a package that cannot be imported: loading the model reports it, and other models load
    is_papers = adapter is None and config.adapter in PAPER_ADAPTERS  # loading it reports what to install
    if adapter is None and not is_papers and ":" not in config.adapter:
        packaged = imports.entry_points_of(imports.ADAPTERS, ours=ADAPTERS)
        if config.adapter not in packaged:
            every = sorted({*ADAPTERS, *packaged, *PAPER_ADAPTERS, "package.module:Class"})
            said = unknown_name_message("adapter", config.adapter, every)
            yield "adapter", f"{said}. If a package has it: install the package here"
            return
    if adapter and not config.name and adapter.source != "optional":
        yield "", f"model {config.label!r} has no name: give a folder or a hub id"
    for name, choices in (("dtype", DTYPES), ("similarity", SIMILARITIES), ("pooling", POOLINGS)):
        value = getattr(config, name)
        if value is not None and value not in choices:
            yield name, unknown_name_message(name, value, choices)
    if is_papers:
        return  # its options are not known here
    for name in _ADAPTER_FIELDS:
        if getattr(config, name) in (None, False, {}) or (adapter and name in adapter.takes):
            continue
        remedy = f". Supported fields: {', '.join(adapter.takes)}" if adapter else ": pass it in options"
        yield name, f"adapter {config.adapter!r} does not support {name}{remedy}"
    if adapter:
        for name, value in config.options.items():
            if problem := _option_problem(config.adapter, adapter.options, name, value):
                yield "options", problem


def _option_problem(adapter: str, known: Mapping[str, type | tuple[str, ...]], name: str, value: object) -> str:
    if not known:
        return f"adapter {adapter!r} has no options"
    if name not in known:
        return unknown_name_message(f"option of {adapter}", name, known)
    wants = known[name]
    if isinstance(wants, tuple):
        return "" if value in wants else unknown_name_message(name, str(value), wants)
    fits = isinstance(value, int | float) if wants is float else isinstance(value, wants)
    if not fits or (isinstance(value, bool) and wants is not bool):
        return f"options.{name} is {value!r}, but should be {OPTION_WANTED[wants]}"
    return ""


def read_models(path: Path) -> dict[str, ModelConfig]:
    """Return the entries of one models.yaml. Raise a ConfigError with the line of an error."""
    return dict(_parse_models(path, read_config_text(path, max_bytes=MAX_FILE_BYTES)))


@lru_cache(maxsize=8)  # a run reads the same file several times
def _parse_models(path: Path, text: str) -> Mapping[str, ModelConfig]:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = ", ".join(part for part in (error.context, error.problem) if part)
        raise ConfigError(f"{path}:{line}: is not valid YAML: {what}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{path}:{line}: is not valid YAML: {chr(error.character)!r} is not allowed here") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: is nested too deeply") from error
    if root is None:
        return {}
    _refuse_alias_expansion(f"{path}:", root)
    return {label: _read_entry(path, line, label, node) for label, line, node in _read_mapping(path, root, "the file")}


def _refuse_alias_expansion(where: str, root: yaml.Node) -> None:
    """Raise ConfigError if aliases and merge keys expand to themselves, or to more nodes than the limit."""
    sizes: dict[int, int] = {}  # sizes of counted nodes; 0 during the count
    todo = [(root, False)]
    while todo:
        node, is_counted = todo.pop()
        inner = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
        inner = [] if isinstance(node, yaml.ScalarNode) else inner
        if is_counted:
            sizes[id(node)] = 1 + sum(sizes[id(part)] for part in inner)
        elif id(node) not in sizes:
            sizes[id(node)] = 0
            todo += [(node, True), *((part, False) for part in inner)]
        elif not sizes[id(node)]:
            raise ConfigError(f"{where}{node.start_mark.line + 1}: an alias refers to the value that contains it")
        if sizes.get(id(node), 0) > MAX_NODES:
            line = node.start_mark.line + 1
            raise ConfigError(f"{where}{line}: aliases expand to more than {MAX_NODES:,} values, which is the limit")


def _read_mapping(path: Path, node: yaml.Node, what: str) -> Iterator[tuple[str, int, yaml.Node]]:
    """Yield (key, line, value) for each item of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}:{node.start_mark.line + 1}: {what} should be a mapping of names to values")
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ConfigError(f"{path}:{line}: a name in {what} should be plain text")
        if key.value in seen:
            raise ConfigError(f"{path}:{line}: {key.value!r} appears twice; first on line {seen[key.value]}")
        seen[key.value] = line
        yield key.value, line, value


def _read_entry(path: Path, line: int, label: str, node: yaml.Node) -> ModelConfig:
    nodes = {key: (at, value) for key, at, value in _read_mapping(path, node, f"model {label!r}")}
    values = {}
    for key, (at, value) in nodes.items():
        if isinstance(value, yaml.MappingNode):
            list(_read_mapping(path, value, key))  # ConfigError if a name appears twice
        values[key] = _construct_value(path, at, value)
    for place, problem in invalid_field_values(values):
        place_line, inner = nodes[str(place[0])]  # of the value at this place, or of the nearest one around it
        for part in place[1:]:
            if isinstance(inner, yaml.SequenceNode) and isinstance(part, int):
                inner = inner.value[part]
                place_line = inner.start_mark.line + 1
            elif isinstance(inner, yaml.MappingNode):
                for name, value in inner.value:
                    if name.value == str(part):
                        place_line, inner = name.start_mark.line + 1, value
                        break
        raise ConfigError(f"{path}:{place_line}: {problem}")
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    config = ModelConfig(label, **fields)
    comes_along = (
        path == packaged_models_path() and config.adapter in PAPER_ADAPTERS
    )  # imported when the model is loaded
    for name, problem in () if comes_along else entry_problems(config):
        raise ConfigError(f"{path}:{nodes[name][0] if name in nodes else line}: {problem}")
    return config


def _construct_value(path: Path, line: int, node: yaml.Node) -> Any:
    """Return the value of a node as plain text, numbers, lists and mappings."""
    try:
        return yaml.SafeLoader("").construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{path}:{line}: {error.problem}") from error
    except RecursionError as error:
        raise ConfigError(f"{path}:{line}: is nested too deeply") from error
    except ValueError as error:
        raise ConfigError(f"{path}:{line}: {error}") from error


def apply_model_args(config: ModelConfig, args: Mapping[str, str]) -> ModelConfig:
    """Return the entry as changed by `--model-arg key=value`.

    A key is a field, or else an option of the adapter. Values are parsed as YAML, except those of text fields: a class
    may be called 1. Raise ConfigError for a value that an entry of models.yaml may not have.
    """
    fields = {f.name for f in dataclasses.fields(ModelConfig)} - {"label", "options", "thresholds", "known_failures"}
    changed: dict[str, Any] = {}
    name = args.get("adapter", config.adapter)
    options = dict(config.options)
    adapter = find_adapter(name)
    texts = {name for name, wants in adapter.options.items() if wants is str} if adapter else ()
    for key, text in args.items():
        if adapter and key not in (known := fields | adapter.options.keys()):
            raise ConfigError(
                f"--model-arg {key}={text}: {unknown_name_message(f'field or option of {name}', key, known)}"
            )
        if key not in fields:
            options[key] = text if key in texts else _parse_argument(key, text)
        else:
            changed[key] = text if key in text_fields() else _parse_argument(key, text)
            for _, problem in invalid_field_values({key: changed[key]}):
                raise ConfigError(f"--model-arg {key}={text}: {problem}")
    if adapter and adapter.source == "hub" and {"name", "revision"} & changed.keys():
        changed = dict.fromkeys(PINNING_FIELDS) | changed  # the entry's pins are those of its own checkpoint
    made = dataclasses.replace(config, **changed, options=options)
    for _, problem in entry_problems(made):
        raise ConfigError(f"--model-arg for {config.label}: {problem}")
    return made


def _parse_argument(key: str, text: str) -> Any:
    place = f"--model-arg {key}={text:.200}"
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{place}: is not valid YAML") from error
    if node is None:
        return None
    _refuse_alias_expansion(f"{place}:", node)
    return _construct_value(Path(place), 1, node)


def packaged_models_path() -> Path:
    """Return the path of the models.yaml that is part of encheck."""
    return Path(str(resources.files("encheck") / "models.yaml"))


def known_models(own: Path | None = None) -> dict[str, ModelConfig]:
    """Return the entries of encheck and the adapters of installed packages, overridden by those in the user's file.

    Raise UsageError if a package's adapter has the same name as a model or adapter of encheck.
    """
    entries = read_models(packaged_models_path())
    packaged = imports.entry_points_of(imports.ADAPTERS, ours={*entries, *ADAPTERS} - PAPER_ADAPTERS)
    entries |= {
        name: ModelConfig(name, adapter=name, description=f"from the package {imports.package_of(point)}")
        for name, point in packaged.items()
        if name not in PAPER_ADAPTERS
    }
    if own is not None and own.exists():
        entries |= read_models(own)
    return entries

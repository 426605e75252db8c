"""What a checkpoint of transformers or sentence-transformers would import, and where it points: told from its JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from encheck.encoders.checkpoints.folders import POINTING, listed_modules, model_files, numbered_folders, pointed_at
from encheck.encoders.checkpoints.known import ACTIVATIONS, ARGUMENTS, GROUPS, MODULES, TOKENIZERS
from encheck.encoders.files import COPY, read_json
from encheck.errors import ModelError

TRUST = "If you trust it: trust_remote_code: true in models.yaml, or --model-arg trust_remote_code=true"

PATTERNS = ("modules", "modules_to_save", "pattern", "parameters", "rank_pattern", "alpha_pattern")  # ends of keys
SIZES = (
    "r",
    "init_r",
    "target_r",
    "num_virtual_tokens",
    "num_layers",
    "token_dim",
    "encoder_hidden_size",
    "n_frequency",
)
MOST_RANK = 10_000  # and no more than an adapter's weights have bytes
MOST_STEPS = 1_000_000  # of one pattern and one name
LONGEST_NAME = 100  # characters of a module's name
PLAIN = re.compile(
    r"(?:(?:[\w.-]|\\[.\-_dw]|\[[\w.^-]*\])(?:[*+?]\??)?|\((?:\?:)?|\)(?![*+?{])|[|^$])*"
)  # no quantifier after a group

OWN = ": without that, transformers' own class of this type is loaded"


def confine(folder: Path) -> None:
    """ModelError if modules.json, a router or what names a file of weights points out of the folder."""
    for file in (p for p in model_files(folder) if any(map(p.match, POINTING))):
        for named in pointed_at(file):
            if named.is_absolute() or ".." in named.parts:
                raise ModelError(f"{file} points outside its folder ({named}), which is not followed. {COPY}")
            if _is_of_parts(file) and not (file.parent / named).is_file():
                raise ModelError(f"{file} names {named}, which does not exist: was it left out? {COPY}")


def _is_of_parts(file: Path) -> bool:
    """Whether this index is what the weights are read by: safetensors in parts, and not in one file as well."""
    return file.name.endswith(".safetensors.index.json") and not (file.parent / "model.safetensors").exists()


class Named(NamedTuple):
    """A module that modules.json or a router names: where, by which class, and the folder that holds it."""

    file: Path
    key: str
    kind: str
    folder: Path


def modules(folder: Path) -> Iterator[Named]:
    """Every module that is named at any depth of a checkpoint; routers of before 5.0 stand in a config.json. Of one
    that has lost its modules.json, those that the names of its folders tell.
    """
    if numbered_folders(folder):
        for module in listed_modules(folder):
            yield Named(folder, "type", module["type"], folder / module["path"])
    for file in model_files(folder):
        if file.name == "modules.json":
            for module in read_json(file, list):
                found = module if isinstance(module, dict) else {"type": module}
                yield Named(file, "type", str(found.get("type")), file.parent / str(found.get("path") or ""))
        elif file.name in ("router_config.json", "config.json"):
            found = read_json(file)
            types = found.get("types") if isinstance(found, dict) else None
            for name, kind in (types if isinstance(types, dict) else {}).items():
                yield Named(file, f"types.{name}", str(kind), file.parent / name)


def settings(module: Named) -> tuple[Path, Mapping[str, Any]]:
    """The config.json of a module, and what it holds; nothing if it has none."""
    file = module.folder / "config.json"
    found = read_json(file)
    return file, found if isinstance(found, dict) else {}


def refuse_code(folder: Path) -> None:
    """ModelError if a configuration would run what neither sentence-transformers, torch nor transformers has."""
    for file, key, named in _code_named(folder):
        own = OWN if key == "auto_map" and _is_built_in(file) else ""
        raise ModelError(
            f"{file} names its own code ({named}), which is not run. {TRUST}. It is named under {key}{own}"
        )
    _refuse_activations(folder)
    _refuse_arguments(folder)
    for file in (p for p in model_files(folder) if p.name == "adapter_config.json"):
        refuse_patterns(file)


def refuse_patterns(file: Path) -> None:
    """ModelError if an adapter_config.json has a name of modules that is a costly regular expression, which PEFT would
    match with each module's name, or sizes that its weights do not have.
    """
    room = max(MOST_RANK, sum(p.stat().st_size for p in file.parent.glob("adapter_model.*")))
    for key, value in read_json(file, dict).items():
        named = isinstance(value, dict) and key.endswith(PATTERNS)
        for text in (*_texts(value), *(value if named else ())) if key.endswith(PATTERNS) else ():
            if (cost := cost_of(text)) is None or cost > MOST_STEPS:
                why = "could take very long" if cost else "has more than names, '.*', '(a|b)' and [a-z] in it"
                raise ModelError(
                    f"{file}: {key} has the regular expression {text[:80]!r}, which {why}: it is not matched. Remedy: "
                    "write the names of the modules there, as a list"
                )
        for number in value.values() if named else (value,):
            if key in (*SIZES, "rank_pattern") and isinstance(number, int) and number > room:
                raise ModelError(f"{file}: {key} has {number:,}, but its weights have {room:,} bytes. {COPY}")


def cost_of(pattern: str) -> int | None:
    """About how many steps matching a pattern with a module's name takes at most; None for a pattern that is not made
    of names, classes, quantifiers after these, and groups without a quantifier.

    >>> cost_of("query"), cost_of(r".*\\.(q|v)_proj$"), cost_of("(a+)+$"), cost_of("(?:.|.)" * 30) > MOST_STEPS
    (1, 202, None, True)
    """
    if not PLAIN.fullmatch(pattern):
        return None
    steps, inside, open_groups = 1, re.sub(r"\\.|\[[^]]*\]", "x", pattern), [1]
    for mark in inside.replace("*?", "*").replace("+?", "+").replace("??", "?").replace("(?:", "("):
        if mark == "(":
            open_groups.append(1)
        elif mark == "|":
            open_groups[-1] += 1
        elif mark == ")" and len(open_groups) > 1:
            steps *= open_groups.pop()
        elif mark == "?":
            steps *= 2
    return (
        steps * math.prod(open_groups) * math.comb(LONGEST_NAME + inside.count("*") + inside.count("+"), LONGEST_NAME)
    )


def _code_named(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """(file, key, name) of whatever a loader would import that is not known, or fetch to run it."""
    yield from ((m.file, m.key, m.kind) for m in modules(folder) if m.kind not in MODULES)
    for file in (p for p in model_files(folder) if "config" in p.name and p.suffix == ".json"):
        found = read_json(file)
        if file.name == "wordembedding_config.json":
            named = str(found.get("tokenizer_class") if isinstance(found, dict) else found)
            yield from ((file, "tokenizer_class", named) for _ in range(named not in TOKENIZERS))
        for key, value in _pairs(found):
            if key == "auto_map" and value:
                yield file, key, ", ".join(_texts(value)) or str(value)
            elif key.endswith("_implementation") and "/" in str(value):  # a kernel of the hub
                yield file, key, str(value)
            elif key == "megatron_config" and value:  # peft imports what megatron_core names
                yield file, "megatron_core", str(found.get("megatron_core") if isinstance(found, dict) else value)


def _pairs(found: object) -> Iterator[tuple[str, Any]]:
    """Every (key, value) of the mappings in a JSON, at any depth."""
    waiting = [found]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield from part.items()
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _texts(found: object) -> Iterator[str]:
    """The texts in a JSON, the keys left out."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for part in found.values() if isinstance(found, dict) else found:
            yield from _texts(part)


def _refuse_activations(folder: Path) -> None:
    """ModelError if a Dense layer has an activation that is none of torch's: it would be run, or become Tanh."""
    for module in (m for m in modules(folder) if m.kind.endswith(".Dense")):
        file, found = settings(module)
        named = found.get("activation_function", "torch.nn.Tanh")  # the library's own default
        if not isinstance(named, str) or named not in ACTIVATIONS:
            raise ModelError(
                f"{file}: activation_function is {named!r}, which is not in torch.nn: it is not run, and a "
                f"substitute would give other vectors. {TRUST}"
            )


def _refuse_arguments(folder: Path) -> None:
    """ModelError if a Transformer module hands on what chooses code, files, or how weights are read."""
    for file in (p for p in model_files(folder) if p.match("sentence_*_config.json")):
        found = read_json(file, dict)
        for group in GROUPS:
            given = found.get(group)
            for key in sorted(set(given if isinstance(given, dict) else ()) - ARGUMENTS[GROUPS[group]]):
                raise ModelError(
                    f"{file}: {group} has {key} {given[key]!r}, which is not passed on: it can choose code, files, "
                    f"or how weights are read. Remedy: leave it out. {TRUST}"
                )
        for key in ("tokenizer_name_or_path", "processor_name", "path"):
            if found.get(key):
                raise ModelError(
                    f"{file} points elsewhere ({key} is {found[key]!r}), which is not followed. "
                    "Remedy: leave it out, with the tokenizer in the folder"
                )


def _is_built_in(config: Path) -> bool:
    """Whether transformers has a class of this configuration's type itself; told without importing it."""
    import importlib.util

    found = read_json(config)
    kind = str(found.get("model_type") if isinstance(found, dict) else None).replace("-", "_")
    spec = importlib.util.find_spec("transformers")
    roots = (spec.submodule_search_locations or []) if spec else []
    return any((Path(root) / "models" / kind).is_dir() for root in roots)

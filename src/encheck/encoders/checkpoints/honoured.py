"""Refuse settings of a checkpoint that sentence-transformers would ignore, which would measure another model."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from encheck.encoders.checkpoints.folders import model_files
from encheck.encoders.checkpoints.trust import modules, settings
from encheck.encoders.files import read_json
from encheck.encoders.pooling import OLDER
from encheck.errors import ModelError

REMEDY = "Remedy: leave it out, if the model was trained without"
OTHERS = {
    "CrossEncoder": "adapter=cross-encoder scores its pairs",
    "SparseEncoder": "adapter=transformers pools its states, with a pooling that you name",
    "MultiVectorEncoder": "adapter=transformers pools its states, with a pooling that you name",
}
DENSE = (
    *("activation_function", "bias", "in_features", "module_input_name", "module_output_name", "out_features"),
    "use_residual",
)
PROCESSING = frozenset({"audio", "chat_template", "common", "image", "text", "video"})
MODALITIES = frozenset({"audio", "image", "message", "text", "video"})


def refuse_kind(folder: Path) -> None:
    """ModelError if the checkpoint is of another family, which would be pooled by the mean without a word."""
    file = folder / "config_sentence_transformers.json"
    kind = read_json(file, dict).get("model_type") or "SentenceTransformer"
    if kind != "SentenceTransformer":
        other = OTHERS.get(str(kind), "an adapter for what it is")
        raise ModelError(
            f"{file}: model_type is {kind!r}, but a sentence encoder's is SentenceTransformer: sentence-transformers "
            f"would replace its modules with others. Remedy: {other}"
        )


def refuse_ignored(folder: Path) -> None:
    """ModelError if a module has a setting that the library drops, or replaces by its default, while it loads."""
    for file, key, value in (*_of_modules(folder), *_of_transformers(folder)):
        raise ModelError(f"{file}: {key} is {value!r}, which sentence-transformers ignores. {REMEDY}")


def _of_modules(folder: Path) -> Iterator[tuple[Path, str, Any]]:
    for module in modules(folder):
        (file, found), kind = settings(module), module.kind.rpartition(".")[2]
        if kind == "Dense":
            yield from _unknown(file, found, DENSE)
        elif kind == "Pooling":
            yield from _of_pooling(file, found)
        elif kind in ("Router", "Asym"):
            yield from _of_router(module.folder)
        elif kind == "SparseStaticEmbedding" and found.get("path"):
            yield file, "path", found["path"]


def _unknown(file: Path, found: Mapping[str, Any], known: Iterable[str], under: str = "") -> Iterator[Any]:
    yield from ((file, f"{under}{key}", found[key]) for key in sorted(set(found) - set(known)))


def _of_pooling(file: Path, found: Mapping[str, Any]) -> Iterator[tuple[Path, str, Any]]:
    """A pooling in two spellings that disagree, or in the older one with every mode off, which becomes the mean."""
    older = {key: OLDER[key] for key in OLDER if key in found}
    on = [name for key, name in older.items() if found[key]]
    said = found.get("pooling_mode", on)
    if older and (not on or sorted(map(str, said if isinstance(said, list) else [said])) != sorted(on)):
        yield file, next(iter(older)), found[next(iter(older))]


def _of_router(folder: Path) -> Iterator[tuple[Path, str, Any]]:
    """A route under a key that cannot be read."""
    official = folder / "router_config.json"
    file = official if official.exists() else folder / "config.json"
    parameters = read_json(file, dict).get("parameters")
    routes = parameters.get("route_mappings") if isinstance(parameters, dict) else None
    for key, route in (routes if isinstance(routes, dict) else {}).items():
        try:
            ast.literal_eval(key)
        except (ValueError, SyntaxError):
            yield file, f"route_mappings.{key}", route


def _of_transformers(folder: Path) -> Iterator[tuple[Path, str, Any]]:
    for file in (p for p in model_files(folder) if p.match("sentence_*_config.json")):
        found = read_json(file, dict)
        if isinstance(how := found.get("processing_kwargs"), dict):
            yield from _unknown(file, how, PROCESSING, "processing_kwargs.")
        if isinstance(how := found.get("modality_config"), dict):
            known = (key for key in how if set(key.split("+")) <= MODALITIES)
            yield from _unknown(file, how, known, "modality_config.")

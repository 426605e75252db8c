"""What a checkpoint of transformers or sentence-transformers would import, and where it points: told from its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.encoders.checkpoints.folders import POINTING, model_files, pointed_at
from encheck.encoders.files import COPY, read_json
from encheck.errors import ModelError

TRUST = "If you trust it: trust_remote_code: true in models.yaml, or --model-arg trust_remote_code=true"


def confine(folder: Path) -> None:
    """ModelError where modules.json, a router or the index of a weight file in parts points out of the folder."""
    for file in (p for p in model_files(folder) if any(map(p.match, POINTING))):
        for named in pointed_at(file):
            if named.is_absolute() or ".." in named.parts:
                raise ModelError(f"{file} points out of the folder ({named}), which is not followed. {COPY}")
            if _is_of_parts(file) and not (file.parent / named).is_file():
                raise ModelError(f"{file} names {named}, which is not there: was it left out? {COPY}")


def _is_of_parts(file: Path) -> bool:
    """Whether this index is what the weights are read by: safetensors in parts, and not in one file as well."""
    return file.name.endswith(".safetensors.index.json") and not (file.parent / "model.safetensors").exists()


def refuse_code(folder: Path) -> None:
    """ModelError where a configuration names classes that neither sentence-transformers nor transformers has."""
    for file, kind in _classes_named(folder):
        if not kind.startswith("sentence_transformers."):
            raise ModelError(f"{file} names code of its own ({kind}), which is not run. {TRUST}")
    for file in (p for p in model_files(folder) if p.name == "config.json"):
        config = read_json(file)
        if own := config.get("auto_map") if isinstance(config, dict) else None:
            named = ", ".join(map(str, own.values())) if isinstance(own, dict) else str(own)
            if not _is_built_in(str(config.get("model_type"))):
                raise ModelError(f"{file} names code of its own ({named}), which is not run. {TRUST}")


def _classes_named(folder: Path) -> Iterator[tuple[Path, str]]:
    """(file, class) of what modules.json, routers and modules of word vectors would import."""
    for module in read_json(folder / "modules.json", list):
        yield folder / "modules.json", str(module.get("type") if isinstance(module, dict) else module)
    for file in model_files(folder):
        if file.name == "router_config.json":
            types = read_json(file, dict).get("types")
            yield from ((file, str(kind)) for kind in (types.values() if isinstance(types, dict) else ()))
        elif file.name == "wordembedding_config.json":
            yield file, str(read_json(file, dict).get("tokenizer_class"))


def _is_built_in(kind: str) -> bool:
    """Whether transformers has this type itself, so that no code beside it is needed; told without importing it."""
    import importlib.util

    spec = importlib.util.find_spec("transformers")
    roots = (spec.submodule_search_locations or []) if spec else []
    return any((Path(root) / "models" / kind.replace("-", "_")).is_dir() for root in roots)

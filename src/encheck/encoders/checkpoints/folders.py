"""Find the files and modules of a checkpoint folder, and the pooling that it states.

A model consists of the files at the root of its folder, and of those that modules.json, a router or an index names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from encheck.encoders.files import (
    OTHER_VOCABULARY,
    check_tokenizer_rules,
    largest_token_id,
    read_model_json,
    refuse_device_or_pipe,
)
from encheck.errors import ModelError

INFERABLE_MODULES = (  # modules that stand after the first, in a folder of their own
    *("CNN", "Dense", "Dropout", "LSTM", "LayerNorm", "Normalize", "Pooling", "SpanPooling", "WeightedLayerPooling"),
    "WordWeights",
)
SPAN_POOLING = "encheck_papers.SpanPooling"  # of papers/, where checkpoints find it
PAIR_HEAD_FOLDER = "pair_head"  # the folder of a head over pairs
REFERENCING_FILES = ("modules.json", "router_config.json", "config.json", "*.index.json")
NUMBERED = re.compile(r"([1-9]\d*)_([A-Z]\w*)")  # how sentence-transformers names the folder of a module: 1_Pooling
TEMPLATES = "additional_chat_templates"  # where a tokenizer keeps its other templates

OLDER_POOLING_KEYS = {
    "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max", "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # fmt: skip


def model_files(folder: Path) -> list[Path]:
    """Return the files that loaders of transformers and sentence-transformers read, in their order.

    Broken links are included. Other folders that training leaves (checkpoint-500, eval, runs) are not part of the
    model. Raise ModelError for a folder that cannot be read.
    """
    try:
        root = sorted(refuse_device_or_pipe(p) for p in folder.iterdir() if not p.is_dir())
        pointing = [p for p in root if any(map(p.match, REFERENCING_FILES))]
        named = {TEMPLATES, *inferred_module_folders(folder)}
        named |= {
            path.parts[0]
            for file in pointing
            for path in referenced_paths(file)
            if path.parts and not path.is_absolute() and ".." not in path.parts
        }
        folders = [folder / name for name in sorted(named) if (folder / name).is_dir()]
        return [*root, *(path for part in folders for path in list_files_recursively(part))]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error


def inferred_module_folders(folder: Path) -> list[str]:
    """Return the module folders, in their order, of a sentence-transformers checkpoint that has lost its modules.json.

    Return [] if that file exists, or if encheck does not know the modules.
    """
    marks = {p.name for p in folder.iterdir()} if folder.is_dir() else set()
    if "modules.json" in marks or not marks & {"config.json", "adapter_config.json"}:
        return []
    matches = {name: match for name in marks if (match := NUMBERED.fullmatch(name)) and (folder / name).is_dir()}
    if not any(match[2].startswith(INFERABLE_MODULES) for match in matches.values()):
        return []
    return sorted(matches, key=lambda name: (int(matches[name][1]), name))


def list_modules(folder: Path) -> list[Any]:
    """Return the entries of modules.json. Without that file, infer them from the names of the modules' folders.

    A folder whose name does not identify a class has no entry (see `check_inferred_modules`).
    """
    if not (folders := inferred_module_folders(folder)):
        return list(read_model_json(folder / "modules.json", list))
    kinds = {name: f"sentence_transformers.models.{name}" for name in INFERABLE_MODULES} | {"SpanPooling": SPAN_POOLING}
    named = [(name, name.partition("_")[2]) for name in folders]
    first = {"path": "", "type": "sentence_transformers.models.Transformer"}
    return [first, *({"path": name, "type": kinds[kind]} for name, kind in named if kind in kinds)]


def check_inferred_modules(folder: Path) -> None:
    """Raise ModelError if modules.json is missing and the folders do not show the modules and their order."""
    if not (folders := inferred_module_folders(folder)):
        return
    numbers = [int(name.partition("_")[0]) for name in folders]
    unknown = [name for name in folders if name.partition("_")[2] not in INFERABLE_MODULES]
    why = ""
    if unknown:
        why = f"{unknown[0]} is not the name of a module"
    elif numbers != list(range(1, len(folders) + 1)):
        why = f"the numbers of {', '.join(folders)} have a gap or a duplicate"
    elif not any(name.endswith("Pooling") for name in folders):
        why = "none of them is a pooling"
    if why:
        raise ModelError(
            f"{folder} has no modules.json, and its folders do not show which modules the model has: {why}. Remedy: "
            "copy modules.json again, or pool only the transformer's output: --model-arg adapter=transformers "
            "--model-arg pooling=mean"
        )


def list_files_recursively(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield all files below a folder. Links to folders are followed, except a link back to a folder in `above`."""
    if (real := folder.resolve()) in above:
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from list_files_recursively(path, above | {real})
        else:
            yield refuse_device_or_pipe(path)


def referenced_paths(file: Path) -> list[Path]:
    """Return the files and folders that modules.json, a router, an index of weights or `transformers_weights` names."""
    content = read_model_json(file)
    if isinstance(content, list):
        return [Path(str(module.get("path") or "")) for module in content if isinstance(module, dict)]
    mapping = content if isinstance(content, dict) else {}
    parts, types = (mapping.get(key) for key in ("weight_map", "types"))
    named = [*(parts.values() if isinstance(parts, dict) else ()), *(types if isinstance(types, dict) else ())]
    named += [mapping["transformers_weights"]] if mapping.get("transformers_weights") else []
    return sorted({Path(str(name)) for name in named})


def check_vocabulary(folder: Path) -> None:
    """Raise ModelError if tokens have no row in the embedding, or if the tokenizer makes texts far longer.

    The tokens are those of each tokenizer.json, the embedding that of the config.json next to it.
    """
    for path in (p for p in model_files(folder) if p.name == "tokenizer.json"):
        check_tokenizer_rules(path)
    for config in (p for p in model_files(folder) if p.name == "config.json"):
        values, tokenizer = read_model_json(config), config.parent / "tokenizer.json"
        size = values.get("vocab_size") if isinstance(values, dict) else None
        if isinstance(size, int) and (largest := largest_token_id(tokenizer)) >= size:
            raise ModelError(
                f"{tokenizer} has token {largest}, but config.json says vocab_size {size}: {OTHER_VOCABULARY}"
            )


def pooling_config_path(folder: Path) -> Path:
    """Return the file in which a sentence-transformers folder defines its pooling, or None."""
    modules = [m for m in list_modules(folder) if isinstance(m, dict)]
    paths = [str(m.get("path")) for m in modules if str(m.get("type")).endswith("Pooling")]
    return folder / (paths[0] if paths else "1_Pooling") / "config.json"


def read_stored_pooling(folder: Path) -> str | None:
    """Return the pooling of a sentence-transformers folder in the words of models.yaml, or None if it states none."""
    stored = read_model_json(pooling_config_path(folder), dict)
    stated = stored.get("pooling_mode") or [name for key, name in OLDER_POOLING_KEYS.items() if stored.get(key)]
    named = "+".join(map(str, stated)) if isinstance(stated, list) else str(stated)
    return {"lasttoken": "last"}.get(named, named) or None


def describe_pooling(label: str, folder: Path) -> str:
    """Return a note on how a transformer alone is pooled, and which modules of its checkpoint are left out.

    The pooling is that of the sentence-transformers checkpoint. Vectors are compared by cosine unless the model says
    otherwise, so leaving `Normalize` out has no effect.
    """
    file = pooling_config_path(folder)
    kinds = [(str(m.get("path")), str(m.get("type")).rpartition(".")[2]) for m in list_modules(folder)]
    others = [path for path, kind in kinds if kind not in ("Transformer", "Pooling", "Normalize", "Dropout")]
    without = f"; left out: {', '.join(others)}" if others else ""
    return f"{label}: pooled by {read_stored_pooling(folder)}, as {file} says{without}"

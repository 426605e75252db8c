"""Which files of a folder are the model: at its root, and below the paths in modules.json, a router or an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from encheck.encoders.files import OTHER_VOCABULARY, largest_token, read_json, refuse_endless
from encheck.errors import ModelError

POINTING = ("modules.json", "router_config.json", "config.json", "*.index.json")
TEMPLATES = "additional_chat_templates"  # where a tokenizer keeps those that are not its default


def model_files(folder: Path) -> list[Path]:
    """The files that loaders of transformers and sentence-transformers read, in their order, links to nowhere among
    them; ModelError for a folder that cannot be read. What training leaves beside them (checkpoint-500, eval, runs) is
    no part of the model.
    """
    try:
        root = sorted(refuse_endless(p) for p in folder.iterdir() if not p.is_dir())
        pointing = [p for p in root if any(map(p.match, POINTING))]
        named = {TEMPLATES} | {path.parts[0] for file in pointing for path in pointed_at(file) if _inside(path)}
        folders = [folder / name for name in sorted(named) if (folder / name).is_dir()]
        return [*root, *(path for part in folders for path in below(part))]
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error


def below(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """All files below a folder, through folders that are links too; one that leads back `above` is not entered."""
    if (real := folder.resolve()) in above:
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            yield from below(path, above | {real})
        else:
            yield refuse_endless(path)


def pointed_at(file: Path) -> list[Path]:
    """The files and folders that modules.json, a router, an index of weights or `transformers_weights` names."""
    found = read_json(file)
    if isinstance(found, list):
        return [Path(str(module.get("path") or "")) for module in found if isinstance(module, dict)]
    told = found if isinstance(found, dict) else {}
    parts, types = (told.get(key) for key in ("weight_map", "types"))
    named = [*(parts.values() if isinstance(parts, dict) else ()), *(types if isinstance(types, dict) else ())]
    named += [told["transformers_weights"]] if told.get("transformers_weights") else []
    return sorted({Path(str(name)) for name in named})


def _inside(path: Path) -> bool:
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def check_vocabulary(folder: Path) -> None:
    """ModelError if a tokenizer.json has tokens that the embedding of the config.json beside it has no row for."""
    for config in (p for p in model_files(folder) if p.name == "config.json"):
        found, tokenizer = read_json(config), config.parent / "tokenizer.json"
        size = found.get("vocab_size") if isinstance(found, dict) else None
        if isinstance(size, int) and (largest := largest_token(tokenizer)) >= size:
            raise ModelError(
                f"{tokenizer} has token {largest}, but config.json says vocab_size {size}: {OTHER_VOCABULARY}"
            )

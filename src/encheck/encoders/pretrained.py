"""Checkpoint folders of transformers and sentence-transformers, checked before anything is loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path

from encheck.encoders.files import check_vocabulary, check_weights, read_json
from encheck.errors import EncoderError, ModelError

IGNORED = {"README.md", "LICENSE", "data_config.json"}
CONTENT = {".json", ".safetensors", ".bin", ".txt", ".model"}
PARSED = ("modules.json", "*config.json", "*config_*.json", "tokenizer*.json", "*tokens*.json")  # names they all use
TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "*.model",
    "sentencepiece.bpe.model",
    "vocab.bpe",
    "*.tiktoken",
)
FROM_TWO = {"roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl", "longformer"}  # positions begin at 2
LEARNED = FROM_TWO | {"bert", "distilbert", "albert", "electra", "ernie", "nystromformer", "deberta", "gpt2", "opt"}
TRUST = "If you trust it: trust_remote_code: true in models.yaml, or --model-arg trust_remote_code=true"


def files_of(folder: Path, *, code: bool = False) -> Mapping[str, Path]:
    """The files of a checkpoint that make its vectors, by their path inside it; with its code where that is run."""
    kinds = CONTENT | {".py"} if code else CONTENT
    found = (p for p in folder.rglob("*") if p.suffix in kinds and p.name not in IGNORED)
    return {p.relative_to(folder).as_posix(): p for p in sorted(found) if p.is_file()}


def check_folder(
    folder: Path, *, trusted: bool = False, marks: tuple[str, ...] = ("modules.json", "config.json")
) -> None:
    """ModelError unless the folder looks like a whole checkpoint, and brings no code that was not allowed to run."""
    try:
        names = {p.name for p in folder.iterdir()}
    except OSError as error:
        raise ModelError(f"cannot read the model: {error}") from error
    if not names & set(marks):
        held = ", ".join(sorted(names)[:8]) or "nothing"
        raise ModelError(f"{folder} is no checkpoint: it has neither {' nor '.join(marks)}. It holds: {held}")
    for path in sorted({p for pattern in PARSED for p in folder.rglob(pattern)}):
        read_json(path)
    _confine(folder)
    if not trusted:
        _refuse_code(folder)
    check_all_weights(folder)
    _check_tokenizer(folder)
    check_vocabulary(folder)


def _confine(folder: Path) -> None:
    """ModelError where modules.json points out of the folder."""
    for module in read_json(folder / "modules.json", list):
        path = Path(str(module.get("path") or "")) if isinstance(module, dict) else Path()
        if path.is_absolute() or ".." in path.parts:
            raise ModelError(f"{folder}/modules.json points out of the folder ({path}), which is not followed")


def _refuse_code(folder: Path) -> None:
    for module in read_json(folder / "modules.json", list):
        kind = module.get("type") if isinstance(module, dict) else module
        if not str(kind).startswith("sentence_transformers."):
            raise ModelError(f"{folder}/modules.json names code of its own ({kind}), which is not run. {TRUST}")
    config = read_json(folder / "config.json")
    if own := config.get("auto_map") if isinstance(config, dict) else None:
        named = ", ".join(map(str, own.values())) if isinstance(own, dict) else str(own)
        if not _is_built_in(str(config.get("model_type"))):
            raise ModelError(f"{folder}/config.json names code of its own ({named}), which is not run. {TRUST}")


def _is_built_in(kind: str) -> bool:
    """Whether transformers has this type itself, so that no code beside it is needed; told without importing it."""
    import importlib.util

    spec = importlib.util.find_spec("transformers")
    roots = (spec.submodule_search_locations or []) if spec else []
    return any((Path(root) / "models" / kind.replace("-", "_")).is_dir() for root in roots)


def check_all_weights(folder: Path) -> None:
    """ModelError where the folder has no weights, or some that are broken; safetensors go before pickles."""
    weights = [p for p in folder.rglob("*") if p.suffix in {".safetensors", ".bin"} and p.name != "training_args.bin"]
    if not weights:
        raise ModelError(f"{folder} has no weights: a checkpoint holds model.safetensors (or pytorch_model.bin)")
    safe = {p.parent for p in weights if p.suffix == ".safetensors"}
    for path in weights:
        if path.suffix == ".safetensors" or path.parent not in safe:
            check_weights(path)


def _check_tokenizer(folder: Path) -> None:
    """ModelError without a vocabulary: transformers would make up one in which every word is unknown."""
    if not any(True for name in TOKENIZERS for _ in folder.rglob(name)):
        raise ModelError(
            f"{folder} has no tokenizer: a checkpoint holds tokenizer.json, or the vocabulary of an older one"
        )


class Missing(logging.Handler):
    """While it is entered, takes from transformers' report which weights a checkpoint lacks."""

    LINE = re.compile(r"^(\S.*?) +\| MISSING", re.MULTILINE)

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.names: list[str] = []

    def __enter__(self) -> Missing:
        logging.getLogger("transformers").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("transformers").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take the names of one report."""
        self.names += self.LINE.findall(record.getMessage())

    def refuse(self, folder: Path) -> None:
        """EncoderError where a weight is missing; a pooler is not used by sentence-transformers' pooling."""
        missing = sorted(name for name in self.names if "pooler." not in name)
        if missing:
            raise EncoderError(
                f"{folder} lacks weights of the model, first {missing[0]}: they would be drawn at random. "
                "Remedy: a whole checkpoint, or, if it brings code of its own, trust_remote_code"
            )


def positions_of(folder: Path) -> int | None:
    """How many tokens a model with learned positions has room for; None where it has others."""
    config = read_json(folder / "config.json")
    if not isinstance(config, dict) or config.get("model_type") not in LEARNED:
        return None
    if not isinstance(positions := config.get("max_position_embeddings"), int):
        return None
    return positions - 2 if config["model_type"] in FROM_TWO else positions


def check_length(folder: Path, max_length: int | None) -> None:
    """ModelError where more tokens are asked for than the model has positions."""
    room = positions_of(folder)
    if max_length and room and max_length > room:
        raise ModelError(
            f"max_length is {max_length}, but {folder}/config.json has positions for {room} tokens. "
            f"Remedy: max_length of {room} or less"
        )
